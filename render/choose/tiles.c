/* Tiles, vectors, chunks and threads of a CPU kernel, chosen by the roles of its ranges: the
 * buffers in which each one moves the place, and how.
 *
 *     y[m,n] = Σk a[m,k]*b[k,n]     n is next to its neighbour in y and b: vectors of n
 *                                   b does not move in m: tiles of m use a vector of b again
 *     y[n] = Σk x[k]*b[n,k]         contiguous in k: the sum in vectors, 4 rows n at a time
 *     y[n] = Σk x[k,n]              nothing is used again: rows of n, accumulators in the cache
 *     y[k,n] = x[k,n] / Σk x[k,n]   the same, with k within the loop over rows of n
 *     y[i,j] = exp(x[i,j] - m[i])   no sum moves in j: vectors of j, sums in parts; where rows of j
 *                                   are shorter than half a vector: vectors of i
 *
 * Nothing here depends on where a kernel came from. */
#include "target/target.h"
#include "choose/choose.h"
#include "index/ix.h"
#include <stdlib.h>

enum {
	DOT_LEAST = 192,        /* iterations from which a sum in vectors outweighs its fold */
	ROWS_SCANNED = 4,       /* chains of additions side by side */
	ROWS_FOLDED = 4,        /* folds of rows side by side */
	PACK_LEAST = 4,         /* tiles that must read a packed operand */
	ITEMS = 16,             /* in a grid, so that threads get even shares */
	PLAIN_MOST = 1 << 21    /* ops that are computed once without vectors */
};
/* Elements of a row of accumulators: an eighth of the first cache, beside what is summed. */
static int row_tile(void) { return (int)(target->machine.cache[0] / 8 / sizeof(float)); }

static const double SERIAL = 0.6;       /* the worth of a block that one thread computes alone */
static const double OPEN = 0.5;         /* of one along a symbolic size, which may be 1 */

/* A kernel as it is tiled. */
typedef struct {
	Plan *p;
	const Facts *f;
	const Folds *k;
	int v;                  /* range in vectors, -1: none */
	int lanes;              /* elements of a vector */
	UOp *heavy;             /* the reduction that costs most, or NULL */
	Contraction c;          /* its operands */
	bool once;              /* the kernel only fills prepared buffers */
} Tiling;

/* ---- how a value moves */

typedef VEC(UOp *) Loads;

static Loads loads_in(UOp *u)
{
	Loads l = {0};
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			vec_push(&l, all.at[i]);
	return l;
}

/* Does each load of the body that moves with r go to its neighbour? */
static bool walks(const Tiling *t, UOp *body, int r)
{
	Loads l = loads_in(body);
	bool ok = true;
	for (size_t i = 0; i < l.n; i++)
		ok &= movement_of(t->f, l.at[i], r) != FAR;
	vec_free(&l);
	return ok;
}

static int64_t length_of(const Tiling *t, const UOp *u)
{
	return count_of(t->f, bound_of(u));
}

/* ---- what the kernel is like */

/* The reduction with most iterations over all the ranges that it depends on. */
static UOp *find_heavy(const Facts *f)
{
	UOp *best = NULL;
	int64_t most = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op != OP_RREDUCE)
			continue;
		int64_t n = count_of(f, free_of(u->src[0]));
		if (n > most) {
			most = n;
			best = u;
		}
	}
	return best;
}

/* The lanes of a vector, by the widest float that is computed, or where there is none by what is
 * stored; a wider one is a lane. */
static int kernel_lanes(const Facts *f)
{
	int size = 4, stored = dtype_size(f->kernel->src[0]->src[1]->dtype);
	bool floats = false;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		bool counts = u->op == OP_LOAD || u->op == OP_RREDUCE || op_elementwise(u->op);
		if (!counts || !dtype_float(u->dtype))
			continue;
		floats = true;
		if (dtype_size(u->dtype) > size)
			size = dtype_size(u->dtype);
	}
	if (!floats && stored > size)
		size = stored;
	return target->vector > size ? target->vector / size : 1;
}

/* The output range along which stores are contiguous, or -1. */
static int find_vector(const Tiling *t)
{
	const UOp *store = t->f->kernel->src[0];
	for (int i = t->p->norder; i-- > 0;) {
		int r = t->p->order[i];
		if (movement_of(t->f, store, r) == NEXT && most_size(t->f, r) > 1)
			return r;
	}
	return -1;
}

static int power_below(int64_t n)
{
	int v = 1;
	while (v * 2 <= n)
		v *= 2;
	return v;
}

/* ---- pieces of a plan */

/* Puts range r behind the others of the first n loops; does nothing when it is not among them. */
static void order_within(Plan *p, int r, int n)
{
	for (int i = 0; i + 1 < n; i++)
		if (p->order[i] == r) {
			p->order[i] = p->order[i + 1];
			p->order[i + 1] = r;
		}
}

static void tile(Plan *p, int r, int unroll, int vector)
{
	p->tile[r] = (Tile){unroll, vector};
	p->lanes[p->nlanes++] = r;
}

/* Puts range r last in the order. */
static void order_last(Plan *p, int r)
{
	p->order[order_without(p->order, p->norder, &r, 1)] = r;
}

/* Puts the range in vectors last, but outside of the loops on which the reduction does not depend:
 * within these it would be run over again. */
static void order_vector(Tiling *t)
{
	int order[MAX_RANGES], n = t->p->norder;
	order_last(t->p, t->v);
	memcpy(order, t->p->order, n * sizeof *order);
	for (int i = 0; i < n; i++)
		if (!(free_of(t->heavy) >> order[i] & 1))
			order_last(t->p, order[i]);
}

static int64_t loops_of(const Tiling *t, int r)
{
	int64_t n = count_of(t->f, 1ull << r);
	int size = tile_size(t->p, r);
	return size ? (n + size - 1) / size : n;
}

/* The loops in which a reduction is run over again. */
static uint64_t run_again(const Facts *f)
{
	uint64_t set = 0;
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RREDUCE)
			set |= bound_of(f->all.at[i]) & f->out;
	return set;
}

/* The grid consists of the outermost loops, at most `most` of them. A loop with a tail ends it; so
 * does a loop inside others that repeat a reduction, or each item would compute that reduction. */
static void choose_items(Tiling *t, int most)
{
	Plan *p = t->p;
	uint64_t again = run_again(t->f);
	p->grid = 0;
	for (int r = 0; r < t->f->nrange; r++)
		p->grid += p->chunk[r] > 0;
	most += p->grid;
	for (int i = 0; i < p->norder && p->grid < most; i++) {
		int r = p->order[i];
		bool tail = p->tile[r].unroll && !tile_fixed(p, t->f, r) && !tile_open(p, t->f, r);
		if (tail || (i && again >> r & 1))
			break;
		p->grid++;
	}
}

static int last_of(const Tiling *t) { return 63 - __builtin_clzll(bound_of(t->heavy)); }

/* The iterations of the longest loop of the heavy reduction. */
static int64_t longest_loop(const Tiling *t)
{
	int64_t best = 1;
	for (int r = 0; r < t->f->nrange; r++)
		if (bound_of(t->heavy) >> r & 1 && most_size(t->f, r) > best)
			best = most_size(t->f, r);
	return best;
}

/* The operations of an iteration of all reductions, and how many reductions there are. */
static int64_t work_in_sums(const Tiling *t, int *folds)
{
	int64_t work = 0;
	*folds = 0;
	for (size_t i = 0; i < t->f->all.n; i++) {
		UOp *u = t->f->all.at[i];
		if (u->op != OP_RREDUCE)
			continue;
		Nodes body = walk(u->src[0]);
		++*folds;
		for (size_t k = 0; k < body.n && stage_of(t->p, u->src[0]) < 0; k++)
			if (free_of(body.at[k]) & bound_of(u) && op_elementwise(body.at[k]->op))
				work += op_cost(body.at[k]->op);
	}
	return work;
}

/* Accumulators for a short sum: more of them are fewer iterations, and more halves to combine. */
static int parts_of_short(const Tiling *t, int64_t size)
{
	int folds, best = 2;
	int64_t work = work_in_sums(t, &folds), least = INT64_MAX;
	for (int parts = 2; parts <= size; parts *= 2) {
		int rest = __builtin_popcountll(size % parts);
		int64_t cost = (size / parts + rest) * (work + folds) +
			folds * (3 * __builtin_ctz(parts) + rest);
		if (cost < least) {
			least = cost;
			best = parts;
		}
	}
	return best;
}

/* As many accumulators as have two iterations each, up to four vectors of them, or without vectors
 * as leave a short tail; one for each element of a block that is the last of several loops. */
static void choose_partial(Tiling *t)
{
	int best = t->lanes;
	int64_t size = longest_loop(t), block = most_size(t->f, last_of(t));
	if (block < length_of(t, t->heavy) && block == best &&
		walks(t, t->heavy->src[0], last_of(t))) {
		t->p->partial = best;
		return;
	}
	while (best < 4 * t->lanes && size >= 4 * best &&
		(t->lanes > 1 || size % (2 * best) <= size % best + 1))
		best *= 2;
	t->p->partial = size >= 2 * t->lanes ? best : parts_of_short(t, size);
}

/* ---- contractions */

typedef struct { int m, rows, vectors; double score; } TileBlock;

/* Is some operand of the heavy reduction used again along r by vectors of another range? */
static bool reuses(const Tiling *t, int r, int vector)
{
	return contraction_reuses(&t->c, t->f->range[r], t->f->range[vector]);
}

static double fill(int64_t n, int64_t tile)
{
	return (double)n / ((n + tile - 1) / tile * tile);
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

/* The share of the arithmetic units' time that a block of rows by vectors uses, by how many
 * additions begin and loads end in a cycle, how many cycles an addition takes, and what else a row
 * takes. */
static double rate(int rows, int vectors, int row_work)
{
	const Machine *m = &target->machine;
	double adds = rows * vectors / (double)m->ops, loads = (rows + vectors) / (double)m->loads,
	       most = adds > m->latency ? adds : m->latency;
	most = loads > most ? loads : most;
	double all = rows * vectors, others = row_work / (4.0 * vectors);
	return adds / most * (1 - 0.3 * (rows + vectors) / all) * (1 - 2.0 / all) / (1 + others);
}

/* The best block for a range m of rows and n elements in vectors. */
static TileBlock best_block(const Tiling *t, int m, int64_t n)
{
	TileBlock best = {m, 1, 1, 0};
	int64_t most = most_size(t->f, m), rows = usual_size(least_size(t->f, m), most);
	int work = row_work(t, m), widest = work ? 4 : 3;
	for (int v = 1; v <= widest && v * t->lanes <= n + t->lanes - 1; v++)
		for (int r = 1; r <= 28; r++) {
			if (r * v + v + 1 > target->registers || (r > rows && rows == most) ||
				v * t->lanes > n)
				continue;
			double s = rate(r, v, work) * fill(rows, r) * fill(n, v * t->lanes);
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
static TileBlock find_rows(const Tiling *t, int64_t n)
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

/* Do the iterations of a reduction step through memory a page at a time? Then the values share a
 * few sets of a cache, which cannot hold them. */
static bool strides_pages(const Tiling *t, const UOp *load)
{
	Sum s;
	sum_of(&s, load->src[0]->src[1]);
	for (int r = 0; r < t->f->nrange; r++)
		if (bound_of(t->heavy) >> r & 1 &&
			llabs(sum_coef(&s, t->f->range[r])) * dtype_size(load->dtype) %
				target->machine.page == 0 &&
			sum_coef(&s, t->f->range[r]))
			return true;
	return false;
}

/* Operands that every tile of rows reads are packed in the order in which they are read, where they
 * are too large, or too far apart, for the caches. */
static void pack(Tiling *t, int m)
{
	Plan *p = t->p;
	uint64_t over = bound_of(t->heavy);
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n && p->nstage < MAX_STAGED; i++) {
		UOp *u = l.at[i];
		bool far = movement_of(t->f, u, t->v) == FAR;
		if (free_of(u) >> m & 1 || !(free_of(u) >> t->v & 1) || !(free_of(u) & over))
			continue;
		int64_t rows = tile_size(p, t->v) * count_of(t->f, over & free_of(u)) * 4;
		if (rows > target->local || reads_written(t->f, u) ||
			(!far && !strides_pages(t, u) &&
				bytes_of(t, u, over | 1ull << t->v) <= target->machine.cache[1]))
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

static void tile_contraction(Tiling *t, TileBlock b, bool far)
{
	Plan *p = t->p;
	int apart = b.vectors == 1 && count_of(t->f, 1ull << t->v) < 2 * t->lanes ?
		find_apart(t, b.m) : -1;
	TileBlock two = b;
	if (apart >= 0) {
		two = best_block(t, b.m, count_of(t->f, 1ull << apart) * t->lanes);
		b.rows = two.rows;
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
	int64_t rows = count_of(t->f, 1ull << b.m);
	if (rows >= PACK_LEAST * b.rows)
		pack(t, b.m);
	if (packs(t) || far)
		choose_chunk(t, b.m);
	choose_items(t, packs(t) ? p->norder - 1 : p->norder);
}

/* The sum itself in vectors, for a few rows and columns at a time; these may be fewer than a vector
 * has lanes. */
static void tile_dot(Tiling *t)
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

/* Vectors of a tile, at most `most`, such that the tiles share the row evenly. */
static int even_vectors(const Tiling *t, int most)
{
	int64_t n = most_size(t->f, t->v), all = n / t->lanes;
	if (all <= most)
		most = all < 1 ? 1 : (int)all;
	int64_t size = (int64_t)most * t->lanes, tiles = (n + size - 1) / size;
	int64_t even = (n + tiles * t->lanes - 1) / (tiles * t->lanes);
	return even < most && even > 0 ? (int)even : most;
}

/* Is an operand read sequentially, iteration after iteration, with more constants than a cache
 * keeps until the next call? A core waits less for memory when it reads several streams at once:
 * then the iterations that are taken together are far apart. (From a cache a single stream is a
 * little faster.) */
static bool reads_one_stream(const Tiling *t)
{
	int64_t large = 3 * target->machine.cache[2], near = target->machine.page / 2;
	int last = 63 - __builtin_clzll(bound_of(t->heavy));
	Loads l = loads_in(t->heavy->src[0]);
	bool one = false;
	for (size_t i = 0; i < l.n; i++) {
		Sum s;
		sum_of(&s, l.at[i]->src[0]->src[1]);
		int64_t step = sum_coef(&s, t->f->range[last]) * dtype_size(l.at[i]->dtype);
		one |= free_of(l.at[i]) >> t->v & 1 && step > 0 && step <= near;
	}
	vec_free(&l);
	return one && lower_constants >= large;
}

/* Vectors of a row of accumulators: as many as there are registers, so that no iteration loads and
 * stores them, but a quarter of a page of each row that is read, which prefetchers can follow. */
static int row_vectors(const Tiling *t)
{
	int run = target->vector ? target->machine.page / 4 / target->vector : 0;
	int most = row_tile() / t->lanes, n = run > target->registers ? run : target->registers;
	return !target->vector || n > most ? most : n;
}

/* iterations for which rows of accumulators are short; those of a window that are written out, in
 * how many statements, and for how many vectors side by side */
enum { FEW = 16, FEW_WRITTEN = 32, WRITTEN = 128, SIDE_BY_SIDE = 8 };

/* The innermost output range, another than the vectors', along which a window slides: a load moves
 * as far with it as with some iterations of the reduction; -1: none. */
static int window_along(const Tiling *t)
{
	uint64_t over = bound_of(t->heavy);
	int along = -1;
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n; i++) {
		Sum s;
		sum_of(&s, l.at[i]->src[0]->src[1]);
		for (int k = 0; k < t->p->norder; k++) {
			int r = t->p->order[k];
			int64_t step = sum_coef(&s, t->f->range[r]);
			for (int q = 0; q < t->f->nrange && step && r != t->v; q++) {
				int64_t one = sum_coef(&s, t->f->range[q]);
				if (over >> q & 1 && one && !(step % one) && step / one > 0 &&
					step / one < most_size(t->f, q) &&
					!(t->f->serial >> r & 1))
					along = r;
			}
		}
	}
	vec_free(&l);
	return along;
}

/* Is the heavy reduction one over a few terms of known number, in a window that slides, and of so
 * many in all that a compiler's time for what is written out pays? */
static bool has_small_window(const Tiling *t)
{
	enum { WORTH = 1 << 16 };
	uint64_t over = bound_of(t->heavy);
	return length_of(t, t->heavy) < FEW_WRITTEN && kernel_lanes(t->f) > 1 &&
		least_of(t->f, free_of(t->heavy->src[0])) >= WORTH &&
		!(over & t->f->out) && least_of(t->f, over) == count_of(t->f, over) &&
		window_along(t) >= 0;
}

/* Elements of a tile, at most `most`, such that tiles share n evenly. */
static int even_tile(int64_t n, int most)
{
	int64_t tiles = most > 0 ? (n + most - 1) / most : 0;
	return tiles > 0 ? (int)((n + tiles - 1) / tiles) : 0;
}

/* The loops over a small window that slides cost more than its few terms: they are written out, for
 * several rows side by side, which read the same elements. */
static void write_out_window(Tiling *t)
{
	int m = window_along(t), vectors = t->p->tile[t->v].unroll, most = SIDE_BY_SIDE / vectors;
	int rows = (int)(WRITTEN / (length_of(t, t->heavy) * vectors));
	t->p->unrolled |= bound_of(t->heavy);
	t->p->jam = 1;
	rows = even_tile(most_size(t->f, m), rows < most ? rows : most);
	if (rows > 1 && least_size(t->f, m) >= rows && !t->f->in_place) {
		Tile v = t->p->tile[t->v];
		t->p->nlanes--;
		tile(t->p, m, rows, 1);
		tile(t->p, t->v, v.unroll, v.vector);
	}
}

/* Rows of accumulators, several iterations at a time; without vectors they are registers, and sums
 * enough. */
static void tile_rows(Tiling *t)
{
	int64_t iterations = length_of(t, t->heavy);
	/* a symbolic number of columns may be too small for a tile to be of use */
	bool open = least_size(t->f, t->v) < most_size(t->f, t->v);
	int wide = open ? 4 * USUAL_SIZE / t->lanes : row_vectors(t);
	order_vector(t);
	tile(t->p, t->v, even_vectors(t, iterations < FEW ? 4 : wide), t->lanes);
	t->p->apart = iterations >= 64 && reads_one_stream(t);
	t->p->jam = t->p->apart ? 8 : iterations >= 4 ? 4 : 1;
	if (kernel_lanes(t->f) == 1)
		t->p->partial = 1;
	if (has_small_window(t))
		write_out_window(t);
	choose_items(t, t->p->norder);
}

static bool next_in_sum(const Tiling *t)
{
	int last = last_of(t);
	return walks(t, t->heavy->src[0], last) && count_of(t->f, 1ull << last) >= DOT_LEAST;
}

/* The gated loads of the heavy reduction's body that move with r. */
static int gated_loads(const Tiling *t, int r)
{
	Loads l = loads_in(t->heavy->src[0]);
	int n = 0;
	for (size_t i = 0; i < l.n; i++)
		n += l.at[i]->nsrc > 1 && movement_of(t->f, l.at[i], r) != STILL;
	vec_free(&l);
	return n;
}

/* Stores may be contiguous for less than half a vector, as in the gradient of a convolution's
 * weights [o,c,3,3]. A sum of many iterations is then in vectors of another range, o: whole
 * products, for a few stores that lie apart. */
static int find_wider(const Tiling *t)
{
	enum { MANY = 64 };
	int best = t->v;
	if (!t->heavy || 2 * least_size(t->f, t->v) >= t->lanes || length_of(t, t->heavy) < MANY)
		return best;
	for (int i = 0; i < t->p->norder; i++) {
		int r = t->p->order[i];
		bool used = false;
		if (!(free_of(t->heavy) >> r & 1) || least_size(t->f, r) < t->lanes)
			continue;
		for (int k = 0; k < t->p->norder && !used; k++) {
			int m = t->p->order[k];
			used = m != r && free_of(t->heavy) >> m & 1 && reuses(t, m, r);
		}
		int worse = best == t->v ? -1 : gated_loads(t, r) - gated_loads(t, best);
		if (used && (worse < 0 || (!worse && least_size(t->f, r) > least_size(t->f, best))))
			best = r;
	}
	return best;
}

/* Returns the rule; NULL when the kernel is not tiled by its reduction. */
static const char *tile_heavy(Tiling *t)
{
	if (!t->heavy || !(free_of(t->heavy) >> t->v & 1))
		return NULL;
	long long length = length_of(t, t->heavy);
	Nodes body = walk(t->heavy->src[0]);
	for (size_t i = 0; i < body.n; i++)
		if (body.at[i]->op == OP_RREDUCE && free_of(body.at[i]) & bound_of(t->heavy))
			return NULL;
	/* a vector of one element is contiguous */
	bool far = t->lanes > 1 && !walks(t, t->heavy->src[0], t->v);
	if (far && next_in_sum(t)) {
		tile_dot(t);
		return arena_printf("a sum of %lld neighbours, %d of which outweigh the fold of "
			"their vectors", length, DOT_LEAST);
	}
	TileBlock b = find_rows(t, count_of(t->f, 1ull << t->v));
	/* neighbours share what slides, where vectors share nothing but the window's weights */
	bool slides = !far && b.m >= 0 && !reuses(t, t->v, b.m) && has_small_window(t);
	if (b.m >= 0 && b.rows > 1 && !slides) {
		tile_contraction(t, b, far);
		return arena_printf("a sum of %lld in which rows of r%d use vectors of r%d again: "
			"%d rows by %d vectors keep the units %.0f%% busy in %d registers", length,
			axis_of(t->f, b.m), axis_of(t->f, t->v), b.rows, b.vectors, 100 * b.score,
			target->registers);
	}
	if (!far) {
		tile_rows(t);
		return arena_printf("a sum of %lld that reads nothing twice: rows of accumulators",
			length);
	}
	if (length < 2 * t->lanes || !walks(t, t->heavy->src[0], last_of(t)))
		return NULL;
	tile_dot(t);
	return arena_printf("a sum of %lld neighbours, which places of the output are not", length);
}

/* ---- scans */

/* A scan runs along its range for a tile of the elements beside it at once, each with an
 * accumulator in registers or in the cache; threads share the tiles, of which there are enough.
 * Where contiguous elements depend on one another it takes several rows, so that no addition waits
 * for the one before. A range within the scan's loop, on which it does not depend, leaves no room
 * for lanes. */
static void tile_scan(Tiling *t)
{
	Plan *p = t->p;
	int outside = 0;
	while (outside < p->norder && !(t->f->serial >> p->order[outside] & 1))
		outside++;
	for (int i = outside; i < p->norder; i++)
		if (!(t->f->serial >> p->order[i] & 1)) {
			choose_items(t, outside);
			return;
		}
	t->v = find_vector(t);
	bool apart = t->v < 0 || t->f->serial >> t->v & 1 || least_size(t->f, t->v) < t->lanes;
	for (uint32_t i = 0; i < t->f->kernel->nsrc && !apart; i++)
		apart = !walks(t, t->f->kernel->src[i]->src[1], t->v);
	if (!apart) {
		int64_t rows = count_of(t->f, t->f->out & ~t->f->serial) / most_size(t->f, t->v);
		int64_t share = most_size(t->f, t->v) * (rows < ITEMS ? rows : ITEMS) / ITEMS;
		int64_t wide = share < row_tile() ? share : row_tile();
		order_within(p, t->v, outside);
		tile(p, t->v, even_vectors(t, wide < 2 * t->lanes ? 2 : (int)(wide / t->lanes)),
			t->lanes);
	}
	if (apart && outside && least_size(t->f, p->order[outside - 1]) >= ROWS_SCANNED)
		tile(p, p->order[outside - 1], ROWS_SCANNED, 1);
	choose_items(t, outside);
}

/* ---- short rows */

/* The range of rows: the innermost one beside that in vectors, if every reduction is over a row, of
 * at most `most` iterations; else -1. */
static int rows_folded(const Tiling *t, int64_t most)
{
	int rows = -1;
	for (int i = 0; i < t->p->norder; i++)
		if (t->p->order[i] != t->v)
			rows = t->p->order[i];
	for (size_t i = 0; i < t->f->all.n && rows >= 0; i++) {
		UOp *u = t->f->all.at[i];
		if (u->op == OP_RREDUCE && (free_of(u) >> t->v & 1 || !(free_of(u) >> rows & 1) ||
			length_of(t, u) > most))
			rows = -1;
	}
	return t->f->in_place || t->f->gated ? -1 : rows;
}

/* Rows of at most half a vector, of which every reduction is over a row: several rows at once, each
 * in a lane, with the places of a row written out. (Above that, loads that lie apart cost more than
 * lanes that are not used.) Returns whether the kernel is of that form. */
static bool tile_short_rows(Tiling *t)
{
	Plan *p = t->p;
	int64_t size = most_size(t->f, t->v);
	int rows = rows_folded(t, t->lanes / 2);
	if (rows < 0 || 2 * size > t->lanes || least_size(t->f, t->v) != size ||
		most_size(t->f, rows) < t->lanes)
		return false;
	order_last(p, t->v);
	p->unrolled |= 1ull << t->v;
	p->partial = 0;
	tile(p, rows, 1, t->lanes);
	choose_items(t, p->norder - 1);
	return true;
}

/* ---- all others */

/* The range of rows whose folds stand side by side, so that none waits for the one before, or -1.
 * Rows of several vectors only where each has several folds and all are in the cache: memory is
 * read one row after another. */
static int rows_beside(const Tiling *t)
{
	int64_t size = most_size(t->f, t->v), all;
	bool cached = mul_ok(count_of(t->f, t->f->out), target->vector / t->lanes, &all) &&
		all <= target->machine.cache[1];
	int few = cached && t->k->reduce.n > 1 ? 8 : 4;
	if (t->once || !t->heavy || size >= few * t->lanes)
		return -1;
	int rows = rows_folded(t, INT64_MAX);
	return rows >= 0 && least_size(t->f, rows) >= ROWS_FOLDED ? rows : -1;
}

/* Rows side by side have additions enough without several vectors of accumulators each. */
static void shorter_tail(Tiling *t)
{
	int64_t size = longest_loop(t);
	while (t->p->partial > t->lanes && size % t->p->partial > size % (t->p->partial / 2))
		t->p->partial /= 2;
}

/* Several vectors of a row, or one each of several rows. */
static void tile_elements(Tiling *t)
{
	int rows = rows_beside(t);
	bool narrow = t->once || rows >= 0 || most_size(t->f, t->v) < 4 * t->lanes;
	int vectors = narrow ? 1 : t->k->reduce.n ? 4 : 2;
	if (!t->k->reduce.n && choose_transposes(t->p, t->f, t->v, t->lanes))
		return;
	order_last(t->p, t->v);
	if (rows >= 0) {
		tile(t->p, rows, ROWS_FOLDED, 1);
		shorter_tail(t);
	}
	tile(t->p, t->v, vectors, t->lanes);
	choose_items(t, t->p->norder > 1 ? t->p->norder - 1 : 1);
}

static bool streams(const Tiling *t)
{
	for (uint32_t i = 0; i < t->f->kernel->nsrc; i++) {
		const UOp *store = t->f->kernel->src[i];
		int64_t bytes;
		if (!mul_ok(count_of(t->f, t->f->out), dtype_size(store->src[0]->dtype), &bytes) ||
			bytes < target->machine.cache[2] ||
			least_size(t->f, t->v) % tile_size(t->p, t->v))
			return false;
	}
	return !t->f->in_place;
}

/* Tiles are no gain when they multiply row buffers beyond the size of a stack. */
static const char *tile_within(Tiling *t)
{
	Plan without = *t->p;
	const char *heavy = tile_heavy(t);
	if (heavy && plan_bytes(t->p, t->f) > 2 * target->local) {
		*t->p = without;
		heavy = NULL;
	}
	if (!heavy)
		tile_elements(t);
	if (!heavy && plan_bytes(t->p, t->f) > 2 * target->local) {
		*t->p = without;
		choose_items(t, t->p->norder);
	}
	t->p->nontemporal = !heavy && t->p->tile[t->v].vector > 1 && streams(t);
	t->p->prefetch_stores = wants_prefetch_stores(t->p, t->f);
	t->p->prefetch_stores &= prefetch_stores_fits(t->p, t->f);
	t->p->prefetch_loads = heavy ? wants_panel(t->p, t->f, t->v) :
				       wants_prefetch_loads(t->p, t->f, t->v);
	return heavy ? heavy : arena_printf("%lld places that are neighbours along r%d, %d to a "
		"vector", (long long)count_of(t->f, t->f->out), axis_of(t->f, t->v), t->lanes);
}

/* The loops in front stay as they are, and all but that of turns form the grid's items. Stores to
 * an item's own buffers do not go past the caches. */
static void keep_slices(Plan *p, const Facts *f, const int *front, int n, int items)
{
	order_in_front(p, front, n);
	memset(p->chunk, 0, sizeof p->chunk);
	p->grid = items;
	p->nontemporal = false;
	if (!prefetch_loads_fits(p, f))
		p->prefetch_loads = 0;
}

/* Without vectors each part of a sum is a register: they stay few where a tile has many sums. */
static void fewer_parts(Plan *p, const Facts *f)
{
	int sums = 1;
	for (int r = 0; r < f->nrange; r++)
		sums *= f->out >> r & 1 && p->tile[r].unroll ? p->tile[r].unroll : 1;
	while (p->partial > 1 && sums > 1 && sums * p->partial > 2 * target->registers)
		p->partial /= 2;
}

/* Vectors and tiles make a source that takes a compiler 20 ms more: a kernel that runs once, and
 * takes less than that without them, is better off without. */
static bool is_quick(const KernelUse *use, const Facts *f, const Folds *k)
{
	return use->once && !k->reduce.n && !k->scan.n &&
		count_of(f, f->out) <= PLAIN_MOST / use->calls / (int64_t)f->all.n;
}

static const char *choose(Plan *p, const KernelUse *use, const Facts *f, const Folds *k)
{
	Tiling t = {.p = p, .f = f, .k = k, .v = -1, .once = use->once};
	if (!target->vector)
		return "a target without vectors";
	if (f->sort && !f->in_place)
		choose_items(&t, p->norder);
	if (f->sort || f->serial & ~f->scanned || (f->serial && f->in_place))
		return f->sort ? "a sort" : "places that are written in order";
	if (is_quick(use, f, k)) {
		int64_t items = 1;
		int loops = 0;
		while (loops < p->norder && items < ITEMS)
			items *= most_size(f, p->order[loops++]);
		choose_items(&t, loops);
		return arena_printf("%lld places that are computed once",
			(long long)count_of(f, f->out));
	}
	t.lanes = kernel_lanes(f);
	if (f->serial) {
		tile_scan(&t);
		return arena_printf("a scan beside %lld others",
			(long long)count_of(f, f->out & ~f->serial));
	}
	t.heavy = find_heavy(f);
	if (t.heavy)
		contraction_of(&t.c, t.heavy);
	if (t.heavy)
		choose_partial(&t);
	t.v = find_vector(&t);
	if (t.v < 0) {
		choose_items(&t, p->norder);
		return "stores of which none are neighbours";
	}
	t.v = find_wider(&t);
	int64_t most = most_size(f, t.v);
	Plan before = *p;
	if (t.heavy && tile_short_rows(&t)) {
		if (plan_bytes(p, f) <= 2 * target->local)
			return arena_printf("rows of %lld, at most half a vector: %d rows at once",
				(long long)most, t.lanes);
		*p = before;
	}
	if (most < t.lanes)
		t.lanes = power_below(most);
	const char *rule = tile_within(&t);
	if (kernel_lanes(f) == 1)
		fewer_parts(p, f);
	return rule;
}

/* What the turns give is folded with the loop of turns outside: of each place of a slice in turn,
 * in vectors. */
static const char *fold_turns(Plan *p, const Facts *f, const int *slices, int n, int turn)
{
	Tiling t = {.p = p, .f = f, .lanes = kernel_lanes(f)};
	p->nstage = p->partial = 0;
	p->folds[0] = turn;
	p->nfolds = 1;
	t.v = find_vector(&t);
	if (t.v >= 0 && target->vector && most_size(f, t.v) >= t.lanes) {
		order_last(p, t.v);
		tile(p, t.v, 1, t.lanes);
	}
	keep_slices(p, f, slices, n, n);
	return "a fold of what the turns of slices give";
}

const char *choose_tiles(Plan *p, const KernelUse *use, const Facts *f, const Folds *k)
{
	int front[MAX_SLICE_AXES + 1], items = slice_ranges(f, front), n = items;
	int turn = slice_turn(f);
	if (turn >= 0 && f->out >> turn & 1)
		front[n++] = turn;
	p->norder = order_without(p->order, p->norder, front, n);
	if (turn >= 0 && n == items)
		return fold_turns(p, f, front, n, turn);
	const char *rule = choose(p, use, f, k);
	if (n)
		keep_slices(p, f, front, n, items);
	return rule;
}
