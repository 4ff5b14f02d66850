/* How a fold gets its values in the interpreter of kernels. Alone it would be run anew for each place
 * of the loops around it; when it moves with some of them only, a table of its values is made once,
 * and when it is a sum of products whose factors are read over and over, the table is a contraction
 * (contract.c) of tables of the factors.
 *
 *     y[r0, r1] = x[r0, r1] / RREDUCE ADD (x[r0, r2], r2)     a table over r0
 *     y[r0, r1] = RREDUCE ADD (a[r0, r2]·b[r2, r1], r2)       tables over r0 r2 and r1 r2, contracted
 *
 * Tables are made only right within the kernel, where nothing else is bound, and never of what the
 * kernel overwrites.
 */
#include <stdlib.h>
#include "interp/scope.h"

/* Reads of each element of a table, at least; elements of all of a table, at most. */
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
	for (int i = 0; i < m && n < 64; i++)           /* an axis that the fold binds is the fold's */
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

	if (!val_is_str(u->arg, "ADD") || u->dtype == DT_BOOL || x->op != OP_MUL)
		return false;
	products = places(p, factor_ranges(p, u, s, x, range), range);
	for (int k = 0; k < 2; k++) {
		double n = places(p, factor_ranges(p, u, s, x->src[k], range), range);
		factors += n;
		least = k && least < n ? least : n;
	}
	return factors <= products / REUSE && factors <= TABLE && least > 1;
}

FoldMode fold_mode(const KernelPlan *p, UOp *u, int s)
{
	const KernelScope *sc = &p->scope[s];
	UOp *range[64];
	double own;

	if (s == 0 || sc->parent != 0 || p->dirty[u->id])
		return FOLD_LANES;
	if (sc->kind != SCOPE_STORE && sc->kind != SCOPE_ROW)
		return FOLD_LANES;
	own = places(p, ranges_of(sc, u, range), range);
	if (own > TABLE)
		return FOLD_LANES;
	if (contracts(p, u, s))
		return FOLD_CONTRACT;
	return own <= places(p, sc->nrange, sc->range) / REUSE ? FOLD_TABLE : FOLD_LANES;
}
