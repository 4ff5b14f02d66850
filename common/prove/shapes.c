/* What stands in a document beside its kernels: sizes as declared, buffers as kernels take them,
 * grids. */
#include "prove/places.h"

static bool declared(const Val *vars, const UOp *var)
{
	for (size_t i = 0; vars && vars->kind == VAL_MAP && i < vars->n; i++)
		if (vars->a[2 * i] == var->arg->a[0])
			return vars->a[2 * i + 1]->a[0] == var->arg->a[1] &&
				vars->a[2 * i + 1]->a[1] == var->arg->a[2];
	return false;
}

void check_vars(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_VAR && !declared(g->vars, u))
			die(MALFORMED, "VAR %.60s from %lld to %lld is not what vars declares",
				u->arg->a[0]->s, (long long)u->arg->a[1]->i,
				(long long)u->arg->a[2]->i);
	}
}

static void check_param(const ProvedCall *c, const UOp *p)
{
	int64_t slot = param_slot(p);
	if (slot < 0 || slot >= (int64_t)c->call->nsrc - 1)
		prove_fault(c, "PARAM of slot %lld, and the call has %u buffers", (long long)slot,
			c->call->nsrc - 1);
	const UOp *b = c->call->src[1 + slot];
	if (p->dtype != b->dtype)
		prove_fault(c, "slot %lld is %s, and its buffer %.60s is %s", (long long)slot,
			dtype_name(p->dtype), buffer_name(b), dtype_name(b->dtype));
	if (p->shape != b->shape)
		prove_fault(c, "slot %lld is %s, and its buffer %.60s is %s", (long long)slot,
			shape_text(p->shape), buffer_name(b), shape_text(b->shape));
}

void check_buffers(const ProvedCall *c)
{
	if (c->call->op == OP_MEMCPY && c->call->src[0]->shape != c->call->src[1]->shape)
		prove_fault(c, "%.60s is %s, and it is copied from %.60s, which is %s",
			buffer_name(c->call->src[0]), shape_text(c->call->src[0]->shape),
			buffer_name(c->call->src[1]), shape_text(c->call->src[1]->shape));
	if (!c->kernel)
		return;
	Nodes all = walk(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			check_param(c, all.at[i]);
}

static UOp *normal(UOp *u, void *ctx)
{
	return op_info[u->op].index && u->dtype == DT_I64 ? ix_remake(u, u->src) : u;
}

/* Whether a size of a grid, which is text, is this one. */
static bool same_size(UOp *a, UOp *b)
{
	return a == b || a == walk_replace(b, normal, NULL) ||
		(ix_prove_le(a, b) && ix_prove_le(b, a));
}

/* The number of work items along an axis is that of its SPECIAL. */
static void check_special(const ProvedCall *c, UOp *u)
{
	const char *name = u->arg->s, *err;
	bool group = name[0] == 'g';
	size_t n = strlen(name), d = n == 5 ? name[4] - '0' : 3;
	const Val *grid = val_get(c->kernel->arg, group ? "global_size" : "local_size");
	const Val *v = grid && grid->kind == VAL_ARRAY && d < grid->n ? grid->a[d] : val_int(1);
	UOp *size = size_from_val(v, &err);

	if (d > 2 || memcmp(name + 1, "idx", 3) || (!group && name[0] != 'l'))
		prove_fault(c, "a SPECIAL named %.20s", name);
	if (!size || !same_size(size, u->src[0])) {
		Buf b = {0};
		ix_print(&b, u->src[0], NULL, NULL);
		Buf have = {0};
		val_print(&have, v);
		prove_fault(c, "%s is below %.100s, and the grid has %.100s", name, buf_str(&b),
			buf_str(&have));
	}
}

void check_grid(const ProvedCall *c)
{
	Nodes all = walk(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_SPECIAL)
			check_special(c, all.at[i]);
}
