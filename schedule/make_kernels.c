/* One kernel for each op: every node that gets a buffer becomes a CALL that writes it.
 *
 *     SINK(MAX(REDUCE(MUL …), 0))   →   SINK(CALL(KERNEL r, t0, a, b), CALL(KERNEL E, out0, t0))
 *
 * Calls are in the order of the nodes. A node that an output names writes into that output's
 * buffer; any other name for the same value (a second output, an output that is an input, a state)
 * is a MEMCPY at the end. */
#include "document/document.h"
#include "schedule.h"
#include "shape/regions.h"
#include <stdlib.h>

typedef struct {
	UOp **home;             /* by id of a graph node: its BUFFER */
	uint8_t *inside;
	Map taken;              /* names like t7 that a temporary must not have, by hash */
	int temps;
	const Val *key[3];      /* name, shape, role */
	const Val *unnamed;     /* arg of a kernel before it has a name */
	KernelNames names;
	VEC(UOp *) calls;
	VEC(const Val *) origin;        /* of meta.origin: names and rows */
	Map named;                      /* those names */
} Splitting;

/* ---- buffers */

static uint64_t name_key(const char *s) { return hash_bytes(s, strlen(s), 0) | 1; }

static UOp *buffer_new(const Splitting *s, const char *name, const char *role, DType dt,
	const Shape *shape)
{
	return LEAF(OP_BUFFER, dt, VMAP(s->key[0], val_str(name), s->key[1], shape_to_val(shape),
		s->key[2], val_str(role)));
}

static UOp *temp_new(Splitting *s, DType dt, const Shape *shape)
{
	char name[32];
	do
		snprintf(name, sizeof name, "t%d", s->temps++);
	while (s->taken.n && map_get(&s->taken, name_key(name)));
	return buffer_new(s, name, "temp", dt, shape);
}

static UOp *home_of(const Splitting *s, UOp *x) { return x->op == OP_BUFFER ? x : s->home[x->id]; }

/* ---- calls */

static Body body_new(const Splitting *s, UOp *to)
{
	Body b = {.home = s->home, .inside = s->inside};
	vec_push(&b.buffer, to);
	return b;
}

/* meta.origin (common/document/origins.c) */
static void origin_add(Splitting *s, const UOp *to, const UOp *of)
{
	const Val *name = val_get(of->note, "name"), *loc = val_get(of->note, "loc");
	const Val *buffer = val_str(buffer_name(to));
	/* a scatter writes its buffer twice */
	if ((!name && !loc) || map_get(&s->named, PKEY(buffer)))
		return;
	map_put(&s->named, PKEY(buffer), s);
	vec_push(&s->origin, buffer);
	vec_push(&s->origin,
		VARR(val_str(op_name(of->op)), name ? name : VNIL, loc ? loc : VNIL));
}

/* Adds the call of a kernel with that STORE over b's buffers; `of` is the graph node that it
 * computes. */
static void call_add(Splitting *s, Body *b, UOp *store, UOp *of)
{
	origin_add(s, b->buffer.at[0], of);
	UOp *kernel = kernel_named(&s->names, NODE(OP_KERNEL, DT_NONE, s->unnamed, store));
	VEC(UOp *) src = {0};
	node_note(kernel, of->note);
	if (of->op == OP_COPY)
		node_note(kernel, VMAP(val_str("device"), of->arg));
	vec_push(&src, kernel);
	for (size_t i = 0; i < b->buffer.n; i++)
		vec_push(&src, b->buffer.at[i]);
	vec_push(&s->calls, node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL));
	vec_free(&src);
	vec_free(&b->buffer);
}

static void copy_add(Splitting *s, UOp *to, UOp *x, UOp *of)
{
	Body b = body_new(s, to);
	call_add(s, &b, build_copy(&b, x), of);
}

/* x is copied, then v is combined into the copy; sums of f16 and bf16 are accumulated in an f32
 * buffer and rounded once. */
static void scatter_add(Splitting *s, UOp *u)
{
	UOp *home = s->home[u->id];
	bool sum = val_is_str(u->arg, "ADD") || val_is_str(u->arg, "MUL");
	DType dt = sum ? dtype_acc(u->dtype) : u->dtype;
	UOp *sums = dt == u->dtype ? home : temp_new(s, dt, u->shape);
	copy_add(s, sums, u->src[0], u);
	if (!shape_empty(u->src[u->nsrc - 1]->shape)) {
		Body b = body_new(s, sums);
		call_add(s, &b, build_scatter(&b, u), u);
	}
	if (sums != home) {
		s->home[u->id] = sums;
		copy_add(s, home, u, u);
		s->home[u->id] = home;
	}
}

/* The CUSTOM itself is called, over PARAMs in place of its sources: a slot for each, in order. */
static void custom_add(Splitting *s, UOp *u)
{
	VEC(UOp *) param = {0}, src = {0};
	const Val *arg = val_set(u->arg, "name", val_str(custom_name(u->arg)));
	vec_push(&src, NULL);
	vec_push(&src, s->home[u->id]);
	for (uint32_t k = 0; k < u->nsrc; k++) {
		vec_push(&src, home_of(s, content_flat(u->src[k])));
		vec_push(&param,
			LEAF(OP_PARAM, u->src[k]->dtype,
				VMAP(val_str("slot"), val_int(k + 1), s->key[1],
					shape_to_val(u->src[k]->shape))));
	}
	src.at[0] = node_new(OP_CUSTOM, u->dtype, param.n, param.at, arg);
	node_note(src.at[0], u->note);
	vec_push(&s->calls, node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL));
	vec_free(&param);
	vec_free(&src);
}

static void node_add(Splitting *s, UOp *u)
{
	if (!s->home[u->id])
		s->home[u->id] = temp_new(s, u->dtype, u->shape);
	if (shape_empty(u->shape))
		return;
	if (u->op == OP_CUSTOM) {
		custom_add(s, u);
		return;
	}
	if (u->op == OP_SCATTER) {
		scatter_add(s, u);
		return;
	}
	Body b = body_new(s, s->home[u->id]);
	if (u->op == OP_SORT)
		vec_push(&b.buffer, temp_new(s, DT_I64, u->shape));
	call_add(s, &b, build_store(&b, u), u);
}

/* ---- outputs and states */

static void memcpy_add(Splitting *s, UOp *to, UOp *from)
{
	if (to != from)
		vec_push(&s->calls, NODE(OP_MEMCPY, DT_NONE, VNIL, to, from));
}

static const char *output_name(const UOp *sink, uint32_t k)
{
	const Val *names = val_get(sink->arg, "names");
	bool named = names && names->kind == VAL_ARRAY && k < names->n;
	return named ? names->a[k]->s : arena_printf("out%u", k);
}

/* Each output's BUFFER; a node is computed into the first that names it. */
static UOp **outputs_new(Splitting *s, UOp *sink)
{
	UOp **out = arena_alloc(sink->nsrc * sizeof *out);
	for (uint32_t k = 0; k < sink->nsrc; k++) {
		UOp *x = content(sink->src[k]);
		out[k] = buffer_new(s, output_name(sink, k), "output", x->dtype, x->shape);
		if (x->op != OP_BUFFER && !s->home[x->id] && !shape_empty(x->shape))
			s->home[x->id] = out[k];
	}
	return out;
}

static const Val *sink_arg(const UOp *sink)
{
	VEC(const Val *) names = {0};
	for (uint32_t k = 0; k < sink->nsrc; k++)
		vec_push(&names, val_str(output_name(sink, k)));
	const Val *arg = VMAP(val_str("names"), val_array(names.n, names.at));
	vec_free(&names);
	return arg;
}

static void name_taken(Splitting *s, const char *name)
{
	if (name[0] == 't' && name[1] >= '0' && name[1] <= '9')
		map_put(&s->taken, name_key(name), s);
}

static Splitting split_new(const Nodes *all, const UOp *sink)
{
	Splitting s = {.home = arena_alloc(node_limit() * sizeof *s.home),
		.inside = find_inside(all),
		.key = {val_str("name"), val_str("shape"), val_str("role")},
		.unnamed = VMAP(val_str("name"), val_str(""))};
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_BUFFER)
			name_taken(&s, buffer_name(all->at[i]));
	for (uint32_t k = 0; k < sink->nsrc; k++)
		name_taken(&s, output_name(sink, k));
	return s;
}

Graph *make_kernels(Graph *g)
{
	if (steps_in(g))
		return list_steps(g);
	Nodes all = walk(g->sink);
	Splitting s = split_new(&all, g->sink);
	UOp **out = outputs_new(&s, g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (has_buffer(all.at[i]) && all.at[i]->op != OP_BUFFER && !s.inside[all.at[i]->id])
			node_add(&s, all.at[i]);
	/* outputs first: one that shows a state's old content must be copied before that changes */
	for (uint32_t k = 0; k < g->sink->nsrc; k++)
		memcpy_add(&s, out[k], home_of(&s, content(g->sink->src[k])));
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_ASSIGN)
			memcpy_add(&s, all.at[i]->src[0], home_of(&s, content(all.at[i]->src[1])));
	g->sink = node_like(g->sink, s.calls.n, s.calls.at, sink_arg(g->sink));
	g->level = LV_SCHEDULE;
	g->all = (Nodes){0};
	if (s.origin.n)
		g->meta = val_set(g->meta, "origin", val_map(s.origin.n / 2, s.origin.at));
	vec_free(&s.origin);
	map_free(&s.named);
	vec_free(&s.calls);
	map_free(&s.taken);
	kernel_names_free(&s.names);
	return g;
}
