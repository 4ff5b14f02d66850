/* What nodes hold in memory besides what a document lists: a SINK the BINDs, which other nodes
 * mention by name, and a LOOP the CARRYs of its states.
 *
 *     %4 BIND %3 ["n", 0, 8]   %5 ARANGE "n"   %6 SINK %5                 as a document has it
 *     %6 = SINK %5 %4 {binds: 1}                                          in memory
 *
 * A node that mentions a size has no edge to the BIND that names it, so that neither needs to be
 * made anew when the other changes. The SINK's edges keep both alive and rewrite both together;
 * mentions_of() gives the walk the order. A state may have a CARRY that nothing reads, whose init
 * is its value when there is no turn. */
#include "graph/graph.h"

size_t sink_outputs(const UOp *sink)
{
	const Val *n = val_get(sink->arg, "binds");
	return n ? sink->nsrc - (size_t)n->i : sink->nsrc;
}

const char *sink_output_name(const UOp *sink, size_t i)
{
	const Val *names = val_get(sink->arg, "names");
	bool named = names && names->kind == VAL_ARRAY && i < names->n &&
		names->a[i]->kind == VAL_STR;
	return named ? names->a[i]->s : arena_printf("out%zu", i);
}

UOp *sink_new(size_t n, UOp *const *output, size_t nbinds, UOp *const *bind, const Val *arg)
{
	UOp **src = arena_alloc((n + nbinds + 1) * sizeof *src);
	if (n)
		memcpy(src, output, n * sizeof *src);
	if (nbinds)
		memcpy(src + n, bind, nbinds * sizeof *src);
	arg = sink_plain_arg(arg);
	if (nbinds)
		arg = val_set(arg, "binds", val_int((int64_t)nbinds));
	return node_new(OP_SINK, DT_NONE, n + nbinds, src, arg);
}

UOp *sink_with(const UOp *sink, size_t n, UOp *const *output, const Val *arg)
{
	size_t k = sink_outputs(sink);
	return sink_new(n, output, sink->nsrc - k, sink->src + k, arg);
}

const Val *sink_plain_arg(const Val *arg)
{
	if (!val_get(arg, "binds"))
		return arg;
	arg = val_set(arg, "binds", NULL);
	return arg->n ? arg : VNIL;
}

size_t loop_sources(const Val *arg)
{
	int64_t n;
	bool limit = val_get(arg, "limit")->b, on = val_get(arg, "while")->b;
	if (!add_ok(val_get(arg, "states")->i, val_get(arg, "values")->i, &n) ||
		!add_ok(n, limit + 2 * on, &n))
		return SIZE_MAX / 2;
	return (size_t)n;
}

size_t node_sources(const UOp *u)
{
	if (u->op == OP_SINK)
		return sink_outputs(u);
	return u->op == OP_LOOP && !list_step(u) ? loop_sources(u->arg) : u->nsrc;
}

bool list_step(const UOp *u)
{
	return u->op == OP_BIND || u->op == OP_SWAP || u->op == OP_TAKE || u->op == OP_APPEND ||
		((u->op == OP_LOOP || u->op == OP_IF) && u->nsrc &&
			u->src[u->nsrc - 1]->op == OP_REGION);
}

bool list_entry(const UOp *u)
{
	return u->op == OP_CALL || u->op == OP_MEMCPY || list_step(u);
}

/* ---- names that an arg mentions */

static bool name_starts(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool name_goes_on(char c) { return name_starts(c) || (c >= '0' && c <= '9'); }

static void names_in_text(const Val *v, const Map *binds, NodeList *out)
{
	for (size_t i = 0, k; i < v->n; i = k + 1) {
		k = i;
		if (name_goes_on(v->s[i]))
			while (k < v->n && name_goes_on(v->s[k]))
				k++;
		UOp *bind = k == i || !name_starts(v->s[i]) ? NULL :
			map_get(binds, PKEY(val_strn(v->s + i, k - i)));
		for (size_t j = 0; bind && j < out->n; j++)
			bind = out->at[j] == bind ? NULL : bind;
		if (bind)
			vec_push(out, bind);
	}
}

static void names_in(const Val *v, size_t from, const Map *binds, NodeList *out)
{
	if (v->kind == VAL_STR)
		names_in_text(v, binds, out);
	for (size_t i = from; v->kind == VAL_ARRAY && i < v->n; i++)
		names_in(v->a[i], 0, binds, out);
}

void mentions_of(const UOp *u, const Map *binds, NodeList *out)
{
	static const char *const key[] = {"shape", "global_size", "local_size", "work"};
	out->n = 0;
	switch (binds->n ? op_info[u->op].sizes : SIZES_NONE) {
	case SIZES_NONE: break;
	case SIZES_ARG: names_in(u->arg, 0, binds, out); break;
	case SIZES_AFTER_NAME: names_in(u->arg, 1, binds, out); break;
	case SIZES_KEYS:
		for (size_t i = 0; i < sizeof key / sizeof *key; i++)
			if (val_get(u->arg, key[i]))
				names_in(val_get(u->arg, key[i]), 0, binds, out);
		break;
	}
}

/* From level schedule on BINDs are in the lists. */
static void binds_in_list(UOp *list, Map *binds)
{
	for (uint32_t k = 0; k < list->nsrc; k++) {
		UOp *u = list->src[k];
		if (u->op == OP_BIND)
			map_put(binds, PKEY(u->arg->a[0]), u);
		for (uint32_t i = 0; (u->op == OP_LOOP || u->op == OP_IF) && i < u->nsrc; i++)
			if (u->src[i]->op == OP_REGION)
				binds_in_list(u->src[i], binds);
	}
}

void binds_of(size_t nroots, UOp *const *roots, Map *binds)
{
	for (size_t i = 0; i < nroots; i++) {
		UOp *u = roots[i];
		if (u->op == OP_BIND)
			map_put(binds, PKEY(u->arg->a[0]), u);
		if (u->op == OP_SINK || u->op == OP_REGION)
			binds_in_list(u, binds);
	}
}
