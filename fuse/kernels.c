/* Properties of a kernel in open form, for the passes. */
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

typedef struct { UOp *gate; Map safe; } Gating;

static UOp *gate_one(UOp *u, void *ctx)
{
	Gating *g = ctx;
	if (u->op != OP_LOAD || map_get(&g->safe, PKEY(u)))
		return u;
	UOp *gate = u->nsrc > 1 ? ix_and(g->gate, u->src[1]) : g->gate;
	return NODE(OP_LOAD, u->dtype, VNIL, u->src[0], gate);
}

UOp *gate_loads(UOp *value, UOp *gate, UOp *place)
{
	Gating g = {.gate = gate};
	Nodes all = walk_brief(place);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			map_put(&g.safe, PKEY(all.at[i]), all.at[i]);
	value = walk_replace(value, gate_one, &g);
	map_free(&g.safe);
	return value;
}
