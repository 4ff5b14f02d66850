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

/* Does the first cache hold all columns beside a tile of rows, whose elements follow one another?
 * Then rows are read once for nothing, and each thread reads its own: outside of two tiles of
 * columns each thread would read them all (24 channels of 56×56 of 144: 0.67). */
static bool panels_near(const Tiling *t, int m, const Traffic *o)
{
	bool next = true, several = false;
	Loads l = loads_in(t->heavy->src[0]);
	for (int i = 0; i < t->p->norder; i++) {
		int r = t->p->order[i];
		several |= o->columns >> r & 1 && loops_of(t, r) > 1;
	}
	for (size_t i = 0; i < l.n; i++)
		next &= !(free_of(l.at[i]) >> m & 1) ||
			movement_of(t->f, l.at[i], last_of(t)) == NEXT;
	vec_free(&l);
	return next && several && o->column_bytes <= target->machine.cache[0] / 2;
}

void order_rows(Tiling *t, int m, int apart, int vectors)
{
	Plan *p = t->p;
	Traffic o = traffic_of(t, m, apart);
	int c = apart >= 0 ? apart : t->v, order[MAX_RANGES], n = p->norder;
	int64_t room = (target->machine.cache[1] + 1) / 2, tiles = loops_of(t, c);
	if (!(o.columns >> c & 1) || t->f->in_place ||
		(o.row_bytes <= target->machine.cache[1] && !panels_near(t, m, &o) &&
			!keeps_rows(t, m, vectors, &o)))
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

/* Is this the kernel's only reduction, of which nothing else says how its loops stand? */
static bool is_alone(const Tiling *t)
{
	int slices[MAX_SLICE_AXES + 1];
	for (size_t i = 0; i < t->f->all.n; i++)
		if (t->f->all.at[i]->op == OP_RREDUCE && t->f->all.at[i] != t->heavy)
			return false;
	return !slice_ranges(t->f, slices) && slice_turn(t->f) < 0 && !t->p->nstage &&
		!t->p->nfolds && !t->f->in_place && t->f->nrange < MAX_RANGES;
}

/* The reduction's range that is outermost in a panel, or -1. */
static int outermost_in(const Tiling *t, const Panel *n)
{
	Sum s;
	sum_of(&s, n->load->src[0]->src[1]);
	for (int r = 0; r < t->f->nrange; r++) {
		int64_t all;
		if (bound_of(t->heavy) >> r & 1 &&
			mul_ok(sum_coef(&s, t->f->range[r]), range_size(t->f->range[r]), &all) &&
			all == n->step)
			return r;
	}
	return -1;
}

/* Bytes of the sums that the loops within that over panels are around; INT64_MAX: of no known
 * number. */
static int64_t sums_within(const Tiling *t, const Panel *n)
{
	int64_t all = n->size / n->step * dtype_size(t->heavy->dtype);
	bool inside = false;
	for (int i = 0; i < t->p->norder; i++) {
		int r = t->p->order[i];
		if (t->p->chunk[r] || (inside && (least_size(t->f, r) != most_size(t->f, r) ||
			!mul_ok(all, most_size(t->f, r), &all))))
			return INT64_MAX;
		inside |= r == n->r;
	}
	return all;
}

/* Items that are the loops down to that over panels. */
static int64_t items_of(const Tiling *t, const Panel *n)
{
	int64_t all = 1;
	for (int i = 0; i < t->p->grid; i++) {
		int r = t->p->order[i];
		if (!mul_ok(all, loops_of(t, r), &all))
			return 0;
		if (r == n->r)
			return all;
	}
	return 0;
}

/* Iterations of a block of r: as many as leave no rest, if more than half of those that fit do; 0:
 * a block is too short for its sums to be loaded and stored, or is all. */
static int64_t block_size(const Tiling *t, int r, int64_t blocks)
{
	enum { FEWEST = 64 };
	int64_t size = range_size(t->f->range[r]), most = (size + blocks - 1) / blocks,
		least = (FEWEST * size - 1) / length_of(t, t->heavy) + 1;
	for (int64_t n = most; n >= least && 2 * n > most; n--)
		if (size % n == 0)
			most = least = n;
	return most < least || most < 2 || most >= size ? 0 : most;
}

/* The loops of a reduction in blocks of so many iterations of r, just within that over panels. */
static void fold_in_blocks(Tiling *t, const Panel *n, int r, int64_t iterations)
{
	Plan *p = t->p;
	int grid = 0;
	p->piece[r] = (int)iterations;
	p->peeled |= 1ull << r;
	p->folds[p->nfolds++] = r;
	for (int i = 0; i < p->norder; i++) {
		p->listed[p->nlisted++] = p->order[i];
		if (p->order[i] != n->r)
			continue;
		p->listed[p->nlisted++] = r;
		grid = i + 1;
	}
	p->listed[p->nlisted++] = r + MAX_RANGES;
	for (int k = 0; k < t->f->nrange; k++)
		if (bound_of(t->heavy) >> k & 1 && k != r)
			p->listed[p->nlisted++] = k;
	p->grid = grid;
	p->partial = 0;
	p->parted = 0;
}

uint64_t block_panels(Tiling *t)
{
	enum { PANEL = 4, BLOCK = 16, ITEMS_EACH = 4 };
	const Machine *m = &target->machine;
	Panel n;
	if (!wants_panel(t->p, t->f, t->v, &n))
		return 0;
	if (n.bytes <= m->cache[1] / PANEL)
		return 1ull << n.r;
	int64_t room = m->cache[1] / BLOCK, each = 0;
	int r = outermost_in(t, &n);
	if (r >= 0 && is_alone(t) && n.between == 1 && !(t->p->unrolled >> r & 1) &&
		sums_within(t, &n) <= room && items_of(t, &n) >= ITEMS_EACH * m->cores)
		each = block_size(t, r, (n.bytes - 1) / room + 1);
	if (each) {
		fold_in_blocks(t, &n, r, each);
		return 1ull << r;
	}
	return n.bytes <= m->cache[1] ? 1ull << n.r : 0;
}
