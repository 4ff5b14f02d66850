/* What a pass asks of a kernel in open form. */
#include "index/index.h"
#include "fuse.h"
#include <stdlib.h>

Loops kernel_loops(UOp *kernel)
{
	Nodes all = walk_brief(kernel);
	return loops_among(&all, kernel);
}

Loops loops_among(const Nodes *all, UOp *kernel)
{
	uint64_t free_axes = range_mask(kernel);
	UOp *by_axis[64] = {0};
	Loops l;
	l.n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_RANGE && free_axes >> range_axis(all->at[i]) & 1)
			by_axis[range_axis(all->at[i])] = all->at[i];
	for (int a = 0; a < 64; a++)
		if (by_axis[a])
			l.at[l.n++] = by_axis[a];
	return l;
}

UOp *store_buffer(const UOp *store) { return store->src[0]->src[0]; }

Nodes kernel_loads(UOp *kernel)
{
	Nodes all = walk_brief(kernel), loads = {0};
	for (size_t i = 0; i < all.n; i++)
		loads.n += all.at[i]->op == OP_LOAD;
	loads.at = arena_alloc(loads.n * sizeof *loads.at);
	for (size_t i = 0, n = 0; n < loads.n; i++)
		if (all.at[i]->op == OP_LOAD)
			loads.at[n++] = all.at[i];
	return loads;
}

static bool covers(UOp *index, UOp *size)
{
	int64_t at, n;
	if (index->op == OP_RANGE)
		return index->src[0] == size;
	return ix_is_const(index, &at) && at == 0 && ix_is_const(size, &n) && n == 1;
}

bool store_is_plain(UOp *store)
{
	UOp *place = store->src[0];
	const Shape *s = place->src[0]->shape;
	uint64_t seen = 0;
	if (store->nsrc != 2 || (int)place->nsrc != s->rank + 1)
		return false;
	for (int i = 0; i < s->rank; i++) {
		UOp *e = place->src[i + 1];
		if (!covers(e, s->dim[i]))
			return false;
		if (e->op != OP_RANGE)
			continue;
		/* in order, each once */
		if (seen >> range_axis(e))
			return false;
		seen |= 1ull << range_axis(e);
	}
	return seen == range_mask(store);
}

bool has_op(UOp *root, Op op)
{
	Nodes all = walk_brief(root);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == op)
			return true;
	return false;
}

/* Whether u, a product, has a factor that moves with the fold but not with all of in. */
static bool part_factor(UOp *u, uint64_t in, uint64_t bound)
{
	UOp *stack[64];
	int n = 0;
	for (stack[n++] = u; n;) {
		u = stack[--n];
		uint64_t m = range_mask(u);
		if (u->op == OP_CAST)
			stack[n++] = u->src[0];
		else if (u->op == OP_MUL && n + 2 <= 64)
			for (int k = 0; k < 2; k++)
				stack[n++] = u->src[k];
		else if ((m & bound) && (m & in) != in)
			return true;
	}
	return false;
}

/* Another buffer at the very same place */
static bool beside(const UOp *a, const UOp *b)
{
	const UOp *i = a->src[0], *k = b->src[0];
	return i->src[0] != k->src[0] && i->nsrc == k->nsrc &&
		!memcmp(i->src + 1, k->src + 1, (i->nsrc - 1) * sizeof *i->src);
}

static bool reuses(UOp *fold)
{
	uint64_t around = range_mask(fold), in = range_mask(fold->src[0]);
	uint64_t bound = in & ~around;
	Nodes all = walk_brief(fold->src[0]);
	int full = 0, part = 0;
	UOp *whole = NULL;
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_LOAD)
			continue;
		uint64_t m = range_mask(all.at[i]);
		/* only what moves with the fold is an operand of it */
		if (!(m & bound))
			continue;
		/* two tensors of the fold's own shape, multiplied: a row of sums, however it is weighed */
		if ((m & in) == in && whole && beside(whole, all.at[i]))
			return false;
		if ((m & in) == in)
			whole = all.at[i];
		full += (m & in) == in;
		part += (m & in) != in;
	}
	if (full)       /* by a vector, as in a matrix product; a bias in the sum does not make one */
		return part > 0 && part_factor(fold->src[0], in, bound);
	return part > 1;
}

/* Some load moves with the fold, but not with all that its value moves with: else it reuses nothing.
 * A look at masks, before one at what stands in the fold. */
static bool may_reuse(UOp *fold, const Nodes *loads)
{
	uint64_t in = range_mask(fold->src[0]), bound = in & ~range_mask(fold);
	for (size_t i = 0; i < loads->n; i++) {
		uint64_t m = range_mask(loads->at[i]);
		if ((m & bound) && (m & in) != in)
			return true;
	}
	return false;
}

bool has_contraction(UOp *root)
{
	Nodes all = walk(root), loads = {arena_alloc(all.n * sizeof *loads.at), 0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			loads.at[loads.n++] = all.at[i];
	for (size_t i = 0; loads.n > 1 && i < all.n; i++)
		if (all.at[i]->op == OP_RREDUCE && may_reuse(all.at[i], &loads) && reuses(all.at[i]))
			return true;
	return false;
}

static UOp *gate_one(UOp *u, void *gate)
{
	if (u->op != OP_LOAD)
		return u;
	UOp *g = u->nsrc > 1 ? ix_and(gate, u->src[1]) : gate;
	return NODE(OP_LOAD, u->dtype, VNIL, u->src[0], g);
}

UOp *gate_loads(UOp *value, UOp *gate)
{
	return walk_replace(value, gate_one, gate);
}
