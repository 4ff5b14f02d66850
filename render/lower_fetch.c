/* The places that a tile turned in registers will store to, asked for before it is loaded:
 *
 *     RANGE k<16 unroll; PREFETCH y[(r0+k)*3000 + v0]; PREFETCH y[(r0+k)*3000 + v0+15]; ENDRANGE
 *
 * Its rows lie apart, so nothing in the processor foresees them, and a store that has to wait for its
 * line holds up those behind it. Where stores go past the caches there is nothing to fetch. */
#include "render.h"
#include "ix.h"

/* Is the place a sum of ranges and sizes, with no value of the kernel in it? */
static bool plain_place(UOp *at)
{
	Sum s;
	sum_of(&s, at);
	for (int i = 0; i < s.n; i++)
		if (s.t[i].m->op != OP_RANGE)
			return false;
	return true;
}

static UOp *value_of(const Scope *s, int r)
{
	while (!(s->binds >> r & 1))
		s = s->parent;
	return s->at[r];
}

/* The store's place at element `row` of the tile along the turned range, `lane` along the others. */
static UOp *place_at(const Lowering *l, const Nest *n, const UOp *store, UOp *row, int lane)
{
	UOp *from[MAX_RANGES], *to[MAX_RANGES], *index = store->src[0];
	int k = 0;
	for (int r = 0; r < l->facts.nrange; r++) {
		if (!(l->facts.out >> r & 1))
			continue;
		from[k] = l->facts.range[r];
		if (!(n->lanes >> r & 1))
			to[k++] = value_of(n->at, r);
		else
			to[k++] = ix_add(scope_start(n->at, r)->first, n->along >> r & 1 ? row : ix_const(lane));
	}
	return NODE(OP_INDEX, index->dtype, VNIL, index->src[0], substitute(index->src[1], k, from, to));
}

void fetch_emit(Lowering *l, const Nest *n)
{
	const UOp *kernel = l->facts.kernel;
	int size = tile_size(&l->plan, __builtin_ctzll(n->along));
	UOp *row = scope_range(l, n->at, ix_const(size), "unroll");
	emit(l, row);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		if (!plain_place(kernel->src[i]->src[0]->src[1]))
			continue;
		emit(l, NODE(OP_PREFETCH, DT_NONE, VNIL, place_at(l, n, kernel->src[i], row, 0)));
		emit(l, NODE(OP_PREFETCH, DT_NONE, VNIL, place_at(l, n, kernel->src[i], row, size - 1)));
	}
	emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, row));
}
