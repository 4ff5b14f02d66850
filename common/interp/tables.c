/* How the interpreter of kernels computes a reduction. In general it runs again in each iteration
 * of the loops around it. If it depends on only some of them, a table of its values is filled once;
 * if it is a sum of products whose factors are read many times, the table is a contraction
 * (contract.c) of tables of the factors.
 *
 *     y[r0, r1] = x[r0, r1] / RREDUCE ADD (x[r0, r2], r2)     a table over r0
 *     y[r0, r1] = RREDUCE ADD (a[r0, r2]·b[r2, r1], r2)   tables over r0 r2 and r1 r2, contracted
 *
 * Tables are used only at the outermost level of the kernel, where nothing else is bound, and never
 * for values that the kernel overwrites. */
#include <stdlib.h>
#include "interp/scope.h"

/* How often each element of a table is read at least; how many elements a table has at most. */
enum { REUSE = 4, TABLE = 1 << 28 };

int ranges_of(const KernelScope *s, UOp *u, UOp **range)
{
	uint64_t mask = range_mask(u);
	int n = 0;

	for (int k = 0; k < s->nrange; k++)
		if (mask >> range_axis(s->range[k]) & 1)
			range[n++] = s->range[k];
	return n;
}

int factor_ranges(const KernelPlan *p, UOp *u, int s, UOp *factor, UOp **range)
{
	uint64_t mask = range_mask(factor), bound = 0;
	UOp *around[64];
	int n = 0, m = ranges_of(&p->scope[s], factor, around);

	for (uint32_t i = 1; i < u->nsrc; i++) {
		bound |= 1ull << range_axis(u->src[i]);
		if (mask >> range_axis(u->src[i]) & 1)
			range[n++] = u->src[i];
	}
	for (int i = 0; i < m && n < 64; i++)           /* skip axes that the reduction binds */
		if (!(bound >> range_axis(around[i]) & 1))
			range[n++] = around[i];
	return n;
}

static double places(const KernelPlan *p, int n, UOp *const *range)
{
	double count = 1;

	for (int i = 0; i < n; i++)
		count *= (double)range_number(p, range[i]);
	return count;
}

static bool contracts(const KernelPlan *p, UOp *u, int s)
{
	UOp *x = u->src[0], *range[64];
	double products, factors = 0, least = 0;

	if (!val_is_str(u->arg, "ADD") || !contractible(u->dtype) || x->op != OP_MUL)
		return false;
	products = places(p, factor_ranges(p, u, s, x, range), range);
	for (int k = 0; k < 2; k++) {
		double n = places(p, factor_ranges(p, u, s, x->src[k], range), range);
		factors += n;
		least = k && least < n ? least : n;
	}
	return factors <= products / REUSE && factors <= TABLE && least > 1;
}

ReduceMode reduce_mode(const KernelPlan *p, UOp *u, int s)
{
	const KernelScope *sc = &p->scope[s];
	UOp *range[64];
	double own;

	if (s == 0 || sc->parent != 0 || p->dirty[u->id])
		return REDUCE_LANES;
	if (sc->kind != SCOPE_STORE && sc->kind != SCOPE_ROW)
		return REDUCE_LANES;
	own = places(p, ranges_of(sc, u, range), range);
	/* no table for no iterations: it would need one itself, without end */
	if (own > TABLE || own == 0)
		return REDUCE_LANES;
	if (contracts(p, u, s))
		return REDUCE_CONTRACT;
	return own <= places(p, sc->nrange, sc->range) / REUSE ? REDUCE_TABLE : REDUCE_LANES;
}
