/* What a kernel's function takes, in any language: buffers by slot with their names, size
 * variables, the items of a grid. */
#include "index/index.h"
#include "shape/shape.h"
#include "print/print.h"

static void find_storage(Printer *p, const Nodes *all)
{
	p->slots = (int)p->call->nsrc - 1;
	p->stored = arena_alloc((p->slots / 64 + 1) * sizeof *p->stored);
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op == OP_PARAM &&
			(param_slot(u) >= p->slots ||
				u->dtype != p->call->src[1 + param_slot(u)]->dtype))
			die(MALFORMED,
				"node %u PARAM: slot %d is not in the call, or of another dtype",
				u->id, (int)param_slot(u));
		if (u->op == OP_STORE && u->src[0]->src[0]->op == OP_PARAM)
			p->stored[param_slot(u->src[0]->src[0]) / 64] |= 1ull
				<< param_slot(u->src[0]->src[0]) % 64;
	}
}

static UOp *without_size(UOp *u, void *unused)
{
	return u->op == OP_SPECIAL ? NODE(u->op, u->dtype, u->arg, ix_const(1)) : u;
}

/* the size variables that are read; the number of items is not */
static void find_vars(Printer *p)
{
	Nodes all = walk(walk_replace(p->kernel, without_size, NULL));
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			vec_push(&p->vars, all.at[i]);
}

bool is_stored(const Printer *p, int slot) { return p->stored[slot / 64] >> slot % 64 & 1; }

void name_put(Printer *p, const UOp *u, const char *name)
{
	map_put(&p->names, PKEY(u), (void *)name);
}

/* A name of the function's own, as the language writes it. */
static const char *name_own(Printer *p, const char *name)
{
	const char *s = name_unique(&p->used, name), *sigil = p->d->sigil;
	return sigil ? arena_printf("%s%s", sigil, s) : s;
}

static void name_params(Printer *p, const Nodes *all)
{
	p->slot_name = arena_alloc((p->slots + 1) * sizeof *p->slot_name);
	for (int k = 0; k < p->slots; k++) {
		const char *s = buffer_name(p->call->src[1 + k]);
		p->slot_name[k] = name_own(p, name_safe(s, strlen(s)));
	}
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_PARAM)
			name_put(p, all->at[i], p->slot_name[param_slot(all->at[i])]);
}

static void name_vars(Printer *p)
{
	p->var_name = arena_alloc((p->vars.n + 1) * sizeof *p->var_name);
	for (size_t i = 0; i < p->vars.n; i++) {
		const Val *s = p->vars.at[i]->arg->a[0];
		p->var_name[i] = name_own(p, name_safe(s->s, s->n));
		name_put(p, p->vars.at[i], p->var_name[i]);
	}
}

/* On a CPU a grid is a row of items; NAME runs those from one number to another. */
static void name_items(Printer *p)
{
	const Val *global = val_get(p->kernel->arg, "global_size");
	const Val *local = val_get(p->kernel->arg, "local_size");
	if (!p->d->on_cpu || !global || global == VNIL)
		return;
	if (global->kind != VAL_ARRAY || global->n != 1 || (local && local != VNIL))
		die(MALFORMED,
			"node %u KERNEL: the grid of target %s is one size, without local_size",
			p->kernel->id, p->d->target);
	p->from = name_own(p, "from");
	p->to = name_own(p, "to");
}

UOp *name_item(Printer *p, const Nodes *all, const char *name)
{
	UOp *item = NULL;
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op != OP_SPECIAL)
			continue;
		if (!name || !val_is_str(u->arg, "gidx0"))
			die(MALFORMED, "node %u SPECIAL: is no place in the kernel's grid", u->id);
		name_put(p, u, name);
		item = u;
	}
	return item;
}

void signature_find(Printer *p, const Nodes *all, const char *name)
{
	find_storage(p, all);
	find_vars(p);
	name_unique(&p->used, name);
	name_params(p, all);
	name_vars(p);
	name_items(p);
}

const Val *signature_end(Printer *p)
{
	const Val **v = arena_alloc((p->vars.n + 1) * sizeof *v);
	for (size_t i = 0; i < p->vars.n; i++)
		v[i] = p->vars.at[i]->arg->a[0];
	const Val *vars = val_array(p->vars.n, v);
	buf_free(&p->helpers.text);
	vec_free(&p->helpers.names);
	map_free(&p->names);
	map_free(&p->used);
	map_free(&p->narrow);
	vec_free(&p->vars);
	vec_free(&p->open);
	vec_free(&p->blocks);
	return vars;
}

void print_origin(const Printer *p, Buf *out)
{
	static const char *const keys[] = {"name", "loc"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const Val *v = val_get(p->kernel->note, keys[i]);
		if (v && v->kind == VAL_STR)
			buf_printf(out, p->d->comment ? p->d->comment : "/* %s */\n",
				comment_safe(v->s, v->n));
	}
}

int64_t storage_elements(UOp *u)
{
	const char *err = NULL;
	int64_t lo, hi;
	UOp *n = size_from_val(u->arg->a[1], &err);
	if (!n)
		die(MALFORMED, "node %u %s: %s", u->id, op_name(u->op), err);
	ix_bounds(n, &lo, &hi);
	if (hi < 1 || hi > 1 << 20)
		die(hi < 1 ? MALFORMED : UNSUPPORTED, "node %u %s: %lld elements", u->id,
			op_name(u->op), (long long)hi);
	return hi;
}
