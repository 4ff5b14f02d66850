/* A bound range takes over a loop.
 *
 *     y[r0, r1] = x[r0, r1] - RREDUCE ADD (x[r0, r17], r17)
 *     →   y[r0, r1] = x[r0, r1] - RREDUCE ADD (x[r0, r1], r1)
 *
 * Binding is by scope, so the reduction's r1 is its own; but the value that the reduction and the
 * output share is now one node, which is kept from one to the other. */
#include "index/index.h"
#include "fuse.h"

/* A loop of r's size that neither the reduction's value nor its ranges use already. */
static UOp *loop_for(UOp *r, UOp *value, uint64_t taken, const Loops *loops)
{
	for (int i = loops->n; i--;) {
		UOp *l = loops->at[i];
		uint64_t bit = 1ull << range_axis(l);
		if (l->src[0] != r->src[0] || taken & bit || strcmp(range_kind(l), "loop"))
			continue;
		/* a reduction inside that binds the loop must not see r */
		Nodes all = walk_brief(value);
		bool captures = false;
		for (size_t k = 0; k < all.n; k++)
			for (uint32_t s = 1; all.at[k]->op == OP_RREDUCE && s < all.at[k]->nsrc;
				s++)
				captures |= all.at[k]->src[s] == l &&
					range_mask(all.at[k]) >> range_axis(r) & 1;
		if (!captures)
			return l;
	}
	return NULL;
}

static UOp *share_one(UOp *fold, void *ctx)
{
	if (fold->op != OP_RREDUCE)
		return fold;
	UOp *now[64];
	uint64_t taken = range_mask(fold->src[0]);
	now[0] = fold->src[0];
	/* from the innermost on, as loops are taken: of two of one size each gets its own */
	for (uint32_t i = fold->nsrc; --i;) {
		UOp *l = loop_for(fold->src[i], now[0], taken, ctx);
		now[i] = l ? l : fold->src[i];
		if (!l)
			continue;
		taken |= 1ull << range_axis(l);
		now[0] = substitute(now[0], 1, &fold->src[i], &l);
	}
	return node_with(fold, now);
}

UOp *share_loops(UOp *kernel)
{
	Nodes all = walk_brief(kernel);
	Loops loops = loops_among(&all, kernel);
	bool folds = false;
	for (size_t i = 0; i < all.n; i++)
		folds |= all.at[i]->op == OP_RREDUCE;
	return folds && loops.n ? walk_replace(kernel, share_one, &loops) : kernel;
}
