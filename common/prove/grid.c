/* The grid of a kernel of level loops: gidxD has as its size global_size[D], lidxD local_size[D], a
 * size that is not given being 1, and `work` is not negative; and size variables as declared. */
#include "prove/accesses.h"
#include "prove/places.h"
#include <stdlib.h>

UOp *grid_size(const UOp *kernel, bool local, int d)
{
	const char *err;
	const Val *v = val_get(kernel->arg, local ? "local_size" : "global_size");
	if (!v || v->kind != VAL_ARRAY || d >= (int)v->n)
		return ix_const(1);
	return size_from_val(v->a[d], &err);
}

bool special_axis(const UOp *special, bool *local, int *d)
{
	const char *s = special->arg->s;
	*local = s[0] == 'l';
	*d = strlen(s) == 5 ? s[4] - '0' : -1;
	return (!strncmp(s, "gidx", 4) || *local) && !strncmp(s + 1, "idx", 3) && *d >= 0 && *d < 3;
}

static void check_special(const ProvedCall *c, const UOp *special)
{
	bool local;
	int d;
	if (!special_axis(special, &local, &d))
		prove_fault(c, "SPECIAL %.20s is not gidx0 to gidx2 or lidx0 to lidx2",
			special->arg->s);
	UOp *size = index_plain(special->src[0]);
	UOp *grid = index_plain(grid_size(c->kernel, local, d));
	if (size != grid && !(ix_prove_le(size, grid) && ix_prove_le(grid, size)))
		prove_fault(c, "%s is below %s, and the grid has %s", special->arg->s,
			index_text(size), index_text(grid));
}

static int64_t greatest(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	return hi;
}

static void check_sizes(const ProvedCall *c)
{
	const char *err;
	const Val *work = val_get(c->kernel->arg, "work");
	for (int k = 0; k < 6; k++)
		if (greatest(grid_size(c->kernel, k / 3, k % 3)) < k / 3)
			prove_fault(c, "%s[%d] is %s, which is below %d",
				k / 3 ? "local_size" : "global_size", k % 3,
				index_text(grid_size(c->kernel, k / 3, k % 3)), k / 3);
	if (work && work != VNIL && greatest(size_from_val(work, &err)) < 0)
		prove_fault(c, "work is negative");
}

void prove_grid(const ProvedCall *c)
{
	if (!c->kernel || c->graph->level < LV_LOOPS ||
		proved_before(c, "grid"))
		return;
	check_sizes(c);
	Nodes all = walk_kept(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_SPECIAL)
			check_special(c, all.at[i]);
}

/* ---- sizes as declared */

static bool declared(const Val *vars, const UOp *var)
{
	for (size_t i = 0; vars && vars->kind == VAL_MAP && i < vars->n; i++)
		if (vars->a[2 * i] == var->arg->a[0])
			return vars->a[2 * i + 1]->a[0] == var->arg->a[1] &&
				vars->a[2 * i + 1]->a[1] == var->arg->a[2];
	return var_is_bound(var);
}

void check_vars(const Graph *g)
{
	Nodes all = walk_kept(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_VAR && !declared(g->vars, u))
			die(MALFORMED, "VAR %.60s from %lld to %lld is not what vars declares",
				u->arg->a[0]->s, (long long)u->arg->a[1]->i,
				(long long)u->arg->a[2]->i);
	}
}
