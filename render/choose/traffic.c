/* The order of a contraction's loops: which operand is read once, and which again and again. */
#include "target/target.h"
#include "choose/tiling.h"
#include <stdlib.h>

/* The two operands of a contraction: what moves with the vectors, and what moves with the rows; the
 * output's ranges of one and not of the other, and its bytes in an iteration of the others. */
typedef struct {
	uint64_t columns, rows;
	int64_t column_bytes, row_bytes;
} Traffic;

/* Those that a load reads, at most, where the ranges move its place: the windows of a convolution
 * overlap. */
static int64_t bytes_moved(const Tiling *t, const UOp *load, uint64_t ranges)
{
	int64_t all = bytes_of(t, load, ranges), span;
	Sum s;
	sum_of(&s, load->src[0]->src[1]);
	for (int i = 0; i < s.n; i++)
		if (s.t[i].m->op != OP_RANGE)
			return all;
	span = extent_along(t, &s, ranges, INT64_MAX, most_size(t->f, t->v));
	return mul_ok(span, dtype_size(load->dtype), &span) && span < all ? span : all;
}

static void add_bytes(int64_t *sum, int64_t bytes)
{
	if (!add_ok(*sum, bytes, sum))
		*sum = INT64_MAX;
}

static Traffic traffic_of(const Tiling *t, int m, int apart)
{
	Traffic o = {0};
	Loads l = loads_in(t->heavy->src[0]);
	uint64_t v = 1ull << t->v | (apart >= 0 ? 1ull << apart : 0);
	for (size_t i = 0; i < l.n; i++) {
		uint64_t free = free_of(l.at[i]) & t->f->out;
		o.rows |= free >> m & 1 ? free : 0;
		o.columns |= free & v ? free : 0;
	}
	uint64_t both = o.rows & o.columns;
	o.rows &= ~both;
	o.columns &= ~both;
	for (size_t i = 0; i < l.n; i++)
		add_bytes(free_of(l.at[i]) >> m & 1 ? &o.row_bytes : &o.column_bytes,
			bytes_moved(t, l.at[i], bound_of(t->heavy) | o.rows | o.columns));
	vec_free(&l);
	return o;
}

int64_t read_newly(const Tiling *t, int r)
{
	int64_t size = most_size(t->f, r), least = size;
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n; i++) {
		Sum s;
		sum_of(&s, l.at[i]->src[0]->src[1]);
		int64_t step = llabs(sum_coef(&s, t->f->range[r]));
		for (int k = 0; k < t->p->nlanes; k++) {
			int side = t->p->lanes[k];
			int64_t beside = llabs(sum_coef(&s, t->f->range[side]));
			if (step && beside && beside < least * step &&
				step < t->p->tile[side].unroll * beside)
				least = (beside + step - 1) / step;
		}
	}
	vec_free(&l);
	return least;
}

/* The stores and loads of an element of the output that differ from row to row, beside those of the
 * heavy reduction. */
static int moved_beside(const Tiling *t, int m)
{
	int n = (int)t->f->kernel->nsrc;
	for (size_t i = 0; i < t->f->all.n; i++) {
		const UOp *u = t->f->all.at[i];
		n += u->op == OP_LOAD && free_of(u) >> m & 1 && !(free_of(u) & bound_of(t->heavy));
	}
	return n;
}

/* Are rows better read once, and panels again and again? Where these are not in the first cache
 * anyway, but follow one another in the second, where the first one holds most of a tile of rows,
 * and where its elements lie in short runs: many more than runs of the output, which lie as far
 * apart. */
static bool keeps_rows(const Tiling *t, int m, int vectors, const Traffic *o)
{
	enum { FAR_RUNS = 4 };
	int64_t rows = tile_size(t->p, m), sum = 1;
	bool runs = false;
	for (int r = 0; r < t->f->nrange; r++)
		sum *= bound_of(t->heavy) >> r & 1 ? read_newly(t, r) : 1;
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n; i++)
		runs |= free_of(l.at[i]) >> m & 1 &&
			strides(t, l.at[i], tile_size(t->p, t->v), false);
	vec_free(&l);
	return runs && !holds_panels(t, 2, vectors) &&
		o->column_bytes <= target->machine.cache[1] / 2 &&
		sum <= target->machine.cache[0] / 3 / rows &&
		sum > FAR_RUNS * vectors * t->lanes * moved_beside(t, m);
}

void order_rows(Tiling *t, int m, int apart, int vectors)
{
	Plan *p = t->p;
	Traffic o = traffic_of(t, m, apart);
	int c = apart >= 0 ? apart : t->v, order[MAX_RANGES], n = p->norder;
	int64_t room = (target->machine.cache[1] + 1) / 2, tiles = loops_of(t, c);
	if (!(o.columns >> c & 1) || t->f->in_place ||
		(o.row_bytes <= target->machine.cache[1] && !keeps_rows(t, m, vectors, &o)))
		return;
	int64_t chunks = o.column_bytes / room + (o.column_bytes % room > 0);
	if (chunks > 1 && (2 * chunks > tiles || !tile_fixed(p, t->f, c) ||
		least_size(t->f, c) != most_size(t->f, c)))
		return;
	if (chunks > 1)
		p->chunk[c] = (int)((tiles + chunks - 1) / chunks);
	memcpy(order, p->order, sizeof order);
	for (int i = 0; i < n; i++)
		if (o.columns >> order[i] & 1)
			order_last(p, order[i]);
}
