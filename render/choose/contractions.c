/* Tiles of contractions: an element of a row meets several vectors, and a vector several rows.
 *
 *     y[m,n] = Σk a[m,k]*b[k,n]     tiles of m by vectors of n, as many as registers hold */
#include "target/target.h"
#include "choose/tiling.h"
#include "index/ix.h"
#include <stdlib.h>

/* tiles that must read a packed operand: one that is far, or whose rows share few sets of a cache;
 * one in runs, where these are slow; others */
enum { PACK_LEAST = 4, PACK_RUNS = 16, PACK_NEAR = 32 };
/* additions of vectors in a loop that is written out; times that it is run for an element */
enum { WRITTEN = 128, OFTEN = 4 };
enum { WIDEST = 4 };                    /* vectors of a block's row */
static const double BESIDE = 0.25;      /* of the time of loads is not hidden by arithmetic */
static const double SERIAL = 0.6;       /* the worth of a block that one thread computes alone */
static const double OPEN = 0.5;         /* of one along a symbolic size, which may be 1 */

bool reuses(const Tiling *t, int r, int vector)
{
	return contraction_reuses(&t->c, t->f->range[r], t->f->range[vector]);
}

/* What an iteration of the heavy reduction computes for a row of m, the same for all its vectors:
 * the operations, and those that make a mask of a bool. */
static int row_work(const Tiling *t, int m)
{
	enum { MASK_WORK = 3 };
	Map seen = {0};
	VEC(UOp *) look = {0};
	int work = 0;
	vec_push(&look, t->heavy->src[0]);
	while (look.n) {
		UOp *u = look.at[--look.n];
		if (!op_elementwise(u->op) || map_get(&seen, PKEY(u)))
			continue;
		map_put(&seen, PKEY(u), u);
		bool lanes = free_of(u) >> t->v & 1;
		work += !lanes && free_of(u) >> m & 1 ? op_cost(u->op) : 0;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			uint64_t free = free_of(u->src[k]);
			work += u->src[k]->dtype == DT_BOOL && lanes && free >> m & 1 &&
				!(free >> t->v & 1) ? MASK_WORK : 0;
			vec_push(&look, u->src[k]);
		}
	}
	map_free(&seen);
	vec_free(&look);
	return work;
}

/* Do registers hold the vectors that all rows of a block meet, besides the sums and an element of a
 * row? Of vectors one is free: compilers that have none left read them for each row anew. */
static bool holds_vectors(int rows, int vectors)
{
	return (rows + 1) * vectors + 1 + target->vectors <= target->registers;
}

/* Or else of vectors the sums alone? */
static bool holds_sums(int rows, int vectors)
{
	return holds_vectors(rows, vectors) ||
		(target->vectors && rows * vectors + 1 < target->registers);
}

/* The share of the arithmetic units' time that a block of rows by vectors uses, by how many
 * additions begin and loads end in a cycle, how many cycles an addition takes, and half as many
 * more, since none begins the moment it may, what of the loads is not hidden, and what else a row
 * takes. */
static double rate(int rows, int vectors, int row_work)
{
	const Machine *m = &target->machine;
	double adds = rows * vectors / (double)m->ops,
	       most = adds > 1.5 * m->latency ? adds : 1.5 * m->latency,
	       /* beside vectors of memory an element of a row takes half of a load */
	       loads = holds_vectors(rows, vectors) ? rows + vectors : rows * (vectors + 0.5);
	loads /= m->loads;
	most = (loads > most ? loads : most) + BESIDE * loads;
	double all = rows * vectors, others = row_work / (4.0 * vectors);
	return adds / most * (1 - 0.5 / all) / (1 + others);
}

/* The best block for a range m of rows and n elements in vectors. */
static TileBlock best_block(const Tiling *t, int m, int64_t n)
{
	TileBlock best = {m, 1, 1, 0};
	int64_t most = most_size(t->f, m), rows = usual_size(least_size(t->f, m), most);
	int work = row_work(t, m);
	for (int v = 1; v <= WIDEST && v * t->lanes <= n + t->lanes - 1; v++)
		for (int r = 1; r <= 28; r++) {
			if (!holds_sums(r, v) || (r > rows && rows == most) || v * t->lanes > n)
				continue;
			double s = rate(r, v, work) * fill_of(rows, r) * fill_of(n, v * t->lanes);
			/* a kernel that updates in place has no overlapping tiles: threads share
			 * whole ones only */
			if (t->f->in_place && n % (v * t->lanes))
				s *= SERIAL;
			if (s > best.score + 1e-9)
				best = (TileBlock){m, r, v, s};
		}
	return best;
}

/* The range whose rows reuse vectors, with the best block; rows is -1 when there is none. */
TileBlock find_rows(const Tiling *t, int64_t n)
{
	TileBlock best = {-1, 1, 1, 0};
	for (int i = t->p->norder; i-- > 0;) {
		int r = t->p->order[i];
		if (r == t->v || !(free_of(t->heavy) >> r & 1) || !reuses(t, r, t->v))
			continue;
		TileBlock b = best_block(t, r, n);
		b.score *= least_size(t->f, r) < b.rows ? OPEN : 1;
		if (b.score > best.score + 0.02)
			best = b;
	}
	return best;
}

/* A range of whole vectors that lie apart, such as blocks of channels: the vectors of a tile are
 * taken from it when the range in vectors holds only one. */
static int find_apart(const Tiling *t, int m)
{
	for (int i = t->p->norder; i-- > 0;) {
		int r = t->p->order[i];
		if (r != t->v && r != m && free_of(t->heavy) >> r & 1 && reuses(t, m, r))
			return r;
	}
	return -1;
}

static int64_t bytes_of(const Tiling *t, const UOp *load, uint64_t ranges)
{
	int64_t bytes;
	if (!mul_ok(count_of(t->f, free_of(load->src[0]) & ranges), dtype_size(load->dtype),
		    &bytes))
		return INT64_MAX;
	return bytes;
}

/* Elements from the first to the last that are read along ranges that move a place by less than
 * `most`; along that in vectors there are so many. */
static int64_t extent_along(
	const Tiling *t, const Sum *s, uint64_t ranges, int64_t most, int64_t vectors)
{
	int64_t n = 1, step;
	for (int r = 0; r < t->f->nrange; r++) {
		int64_t c = llabs(sum_coef(s, t->f->range[r]));
		int64_t size = r == t->v ? vectors : most_size(t->f, r);
		if (c < most && ranges >> r & 1 &&
			(!mul_ok(c, size - 1, &step) || !add_ok(n, step, &n)))
			return INT64_MAX;
	}
	return n;
}

/* How many places, a step apart, stay in the second cache: as many as its sets between two that are
 * the same, in each of the ways. */
static int64_t places_kept(int64_t step)
{
	const Machine *m = &target->machine;
	int64_t way = m->cache[1] / m->ways;
	return way / gcd(way, step) * m->ways;
}

/* Do the iterations of a reduction step through memory over what they do not read? Far: a page at a
 * time, or so that more values share a set of the second cache than it holds. */
static bool strides(const Tiling *t, const UOp *load, bool far)
{
	Sum s;
	uint64_t over = bound_of(t->heavy), moves = over | 1ull << t->v;
	sum_of(&s, load->src[0]->src[1]);
	for (int r = 0; r < t->f->nrange; r++) {
		int64_t step = over >> r & 1 ? llabs(sum_coef(&s, t->f->range[r])) : 0;
		int64_t bytes = step * dtype_size(load->dtype);
		if (step && extent_along(t, &s, moves, step, tile_size(t->p, t->v)) < step &&
			(!far || bytes % target->machine.page == 0 ||
				most_size(t->f, r) > places_kept(bytes)))
			return true;
	}
	return false;
}

/* Operands that every tile of rows reads are packed in the order in which they are read, where they
 * are too far apart for the caches, or lie in runs that the processor reads slowly, or are too
 * large, and read by so many tiles that it outweighs the copy. */
static void pack(Tiling *t, int m, int64_t tiles)
{
	Plan *p = t->p;
	uint64_t over = bound_of(t->heavy);
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n && p->nstage < MAX_STAGED; i++) {
		UOp *u = l.at[i];
		if (free_of(u) >> m & 1 || !(free_of(u) >> t->v & 1) || !(free_of(u) & over))
			continue;
		int64_t rows = tile_size(p, t->v) * count_of(t->f, over & free_of(u)) * 4;
		bool far = movement_of(t->f, u, t->v) == FAR || strides(t, u, true);
		bool runs = slow_in_runs() && strides(t, u, false);
		bool large = bytes_of(t, u, over | 1ull << t->v) > target->machine.cache[1];
		if (rows > target->local || reads_written(t->f, u) ||
			tiles < (far ? PACK_LEAST : runs ? PACK_RUNS : PACK_NEAR) ||
			!(far || runs || large))
			continue;
		p->stage[p->nstage].value = u;
		p->stage[p->nstage++].over = over & free_of(u);
	}
	vec_free(&l);
}

static bool packs(const Tiling *t) { return t->p->nstage > 0; }

/* Chunks of rows, when there are too few tiles of columns to give all threads even shares. */
static void choose_chunk(Tiling *t, int m)
{
	int64_t items = 1, tiles = loops_of(t, m);
	for (int i = 0; i < t->p->norder; i++)
		if (t->p->order[i] != m)
			items *= loops_of(t, t->p->order[i]) < 1 << 20 ?
				loops_of(t, t->p->order[i]) :
				1 << 20;
	if (items >= ITEMS || tiles < 8 || !tile_fixed(t->p, t->f, m))
		return;
	int64_t parts = (ITEMS + items - 1) / items, size = (tiles + parts - 1) / parts;
	int64_t least = (least_size(t->f, m) + tile_size(t->p, m) - 1) / tile_size(t->p, m);
	size = size < 4 ? 4 : size;
	t->p->chunk[m] = (int)(size < least ? size : least);
}

/* So many vectors that what a tile of rows reads of an operand leaves room for what the next one
 * reads of it: three panels of [16,512,3,3] take 0.52 ms of a 7×7 convolution, two 0.47. */
static int vectors_cached(const Tiling *t, int apart, int vectors)
{
	Loads l = loads_in(t->heavy->src[0]);
	uint64_t over = bound_of(t->heavy) | 1ull << t->v;
	for (size_t i = 0; i < l.n; i++) {
		int64_t bytes = free_of(l.at[i]) >> apart & 1 ? bytes_of(t, l.at[i], over) : 0;
		while (vectors > 2 && bytes > target->machine.cache[1] * 3 / 5 / vectors)
			vectors--;
	}
	vec_free(&l);
	return vectors;
}

/* Is something else summed along each row, as weights whose products are divided by their sum?
 * Tiles of the columns within rows compute it once; what they read is in the second cache. */
static bool sums_rows(const Tiling *t, int m)
{
	int64_t bytes = 0;
	bool sums = false;
	for (size_t i = 0; i < t->f->all.n; i++) {
		const UOp *u = t->f->all.at[i];
		sums |= u->op == OP_RREDUCE && free_of(u) >> m & 1 && !(free_of(u) >> t->v & 1);
	}
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; sums && i < l.n; i++)
		if (!(free_of(l.at[i]) >> m & 1) &&
			!add_ok(bytes, bytes_of(t, l.at[i], bound_of(t->heavy) | 1ull << t->v),
				&bytes))
			bytes = INT64_MAX;
	vec_free(&l);
	return sums && bytes <= target->machine.cache[1];
}

/* ---- the order of loops */

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

/* Where rows do not stay in the second cache until the next tile of columns reads them again, each
 * tile of rows meets all columns: as many of them as leave half of that cache to what passes, or in
 * chunks of so many, if these are fewer than the tiles. */
static void order_rows(Tiling *t, int m, int apart)
{
	Plan *p = t->p;
	Traffic o = traffic_of(t, m, apart);
	int c = apart >= 0 ? apart : t->v, order[MAX_RANGES], n = p->norder;
	int64_t room = (target->machine.cache[1] + 1) / 2, tiles = loops_of(t, c);
	if (o.row_bytes <= target->machine.cache[1] || !(o.columns >> c & 1) || t->f->in_place)
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

/* Does a tile read a place of an operand in several iterations of range r, as windows that overlap
 * do? */
static bool reads_again(const Tiling *t, int r)
{
	bool again = false;
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n; i++) {
		Sum s;
		sum_of(&s, l.at[i]->src[0]->src[1]);
		int64_t step = llabs(sum_coef(&s, t->f->range[r]));
		for (int k = 0; k < t->p->nlanes; k++) {
			int side = t->p->lanes[k];
			int64_t beside = llabs(sum_coef(&s, t->f->range[side]));
			again |= step && beside && beside < most_size(t->f, r) * step &&
				step < t->p->tile[side].unroll * beside;
		}
	}
	vec_free(&l);
	return again;
}

/* The innermost loop is written out where it is a short one of few additions in a longer one: each
 * of its ends is a guess of the processor, and its places are then parts of the instructions. Of
 * windows gcc would keep what is read again, beyond the registers that there are. */
static void write_out(Tiling *t)
{
	int r = last_fold(t);
	int64_t size = most_size(t->f, r), block = 1;
	for (int i = 0; i < t->p->nlanes; i++)
		block *= t->p->tile[t->p->lanes[i]].unroll;
	if (target->vectors && least_size(t->f, r) == size && size > 1 && size * block <= WRITTEN &&
		length_of(t, t->heavy) >= OFTEN * size && !reads_again(t, r))
		t->p->unrolled |= 1ull << r;
}

void tile_contraction(Tiling *t, TileBlock b, bool far)
{
	Plan *p = t->p;
	int apart = b.vectors == 1 && count_of(t->f, 1ull << t->v) < 2 * t->lanes ?
		find_apart(t, b.m) : -1;
	TileBlock two = b;
	if (apart >= 0) {
		two = best_block(t, b.m, count_of(t->f, 1ull << apart) * t->lanes);
		b.rows = two.rows;
		two.vectors = vectors_cached(t, apart, two.vectors);
	}
	/* the loop over tiles of rows is innermost: what they share stays in the cache; within a
	 * tile rows come first, so that an element of a row meets all vectors while it is in a
	 * register */
	order_last(p, b.m);
	if (b.rows > 1)
		tile(p, b.m, b.rows, 1);
	if (two.vectors > 1 && apart >= 0)
		tile(p, apart, two.vectors, 1);
	tile(p, t->v, b.vectors, t->lanes);
	/* without a vector the tile is summed in parts, as far as there are registers for them */
	while (t->lanes == 1 && p->partial * b.rows * b.vectors > 2 * target->registers)
		p->partial /= 2;
	int64_t tiles = count_of(t->f, 1ull << b.m) / b.rows;
	if (tiles >= PACK_LEAST)
		pack(t, b.m, tiles);
	if (packs(t) || far)
		choose_chunk(t, b.m);
	else if (sums_rows(t, b.m))
		order_last(p, t->v);
	else
		order_rows(t, b.m, apart);
	choose_items(t, packs(t) ? p->norder - 1 : p->norder);
	write_out(t);
}

void tile_dot(Tiling *t)
{
	int n = 0, lanes = kernel_lanes(t->f);
	uint64_t free = free_of(t->heavy);
	for (int i = t->p->norder; i-- > 0 && n < 2;) {
		int r = t->p->order[i];
		if (!(free >> r & 1) || most_size(t->f, r) < 2)
			continue;
		tile(t->p, r, most_size(t->f, r) >= 4 ? 4 : 2, 1);
		n++;
	}
	t->p->partial = n == 2 ? lanes : 4 * lanes;
	while (t->p->partial > 1 && 2 * t->p->partial > length_of(t, t->heavy))
		t->p->partial /= 2;
	choose_items(t, t->p->norder);
}
