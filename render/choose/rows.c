/* Rows of accumulators: reductions in which no operand is used again, but for what windows share.
 *
 *     y[n] = Σk x[k,n]              a row of n, a few iterations of k at a time
 *     y[h,w] = Σ x[h+i,w+j]*k[i,j]  a few terms, written out, several rows h side by side */
#include "target/target.h"
#include "choose/tiling.h"
#include "index/ix.h"
#include <math.h>
#include <stdlib.h>

bool slow_in_runs(void) { return 10 * target->machine.runs < 9 * target->machine.read[3]; }

int row_tile(void) { return (int)(target->machine.cache[0] / 8 / sizeof(float)); }

/* Elements of a tile, at most `most`, such that tiles share n evenly. */
static int even_tile(int64_t n, int most)
{
	int64_t tiles = most > 0 ? (n + most - 1) / most : 0;
	return tiles > 0 ? (int)((n + tiles - 1) / tiles) : 0;
}

int even_vectors(const Tiling *t, int most)
{
	int64_t n = most_size(t->f, t->v), all = n / t->lanes;
	if (all <= most)
		most = all < 1 ? 1 : (int)all;
	int even = even_tile((n + t->lanes - 1) / t->lanes, most);
	return even > 0 ? even : most;
}

int last_fold(const Tiling *t) { return 63 - __builtin_clzll(bound_of(t->heavy)); }

/* Is an operand read sequentially, iteration after iteration, with more constants than the last
 * cache keeps until the next call, of which other buffers and programs leave a part? A core waits
 * less for memory when it reads two streams at once: then the iterations that are taken together
 * are far apart, and what follows in each is prefetched. (From a cache a single stream is a little
 * faster; more than two gain nothing.) */
static bool reads_one_stream(const Tiling *t)
{
	int64_t near = target->machine.page / 2;
	Loads l = loads_in(t->heavy->src[0]);
	bool one = false;
	for (size_t i = 0; i < l.n; i++) {
		Sum s;
		sum_of(&s, l.at[i]->src[0]->src[1]);
		int64_t step = sum_coef(&s, t->f->range[last_fold(t)]) * dtype_size(l.at[i]->dtype);
		one |= free_of(l.at[i]) >> t->v & 1 && step > 0 && step <= near;
	}
	vec_free(&l);
	return one && lower_constants >= target->machine.cache[2] / 3;
}

/* Does an operand say where another one's rows are, of which registers hold the sums? Lines of
 * several rows by turns are slower then than each row's in sequence. */
static bool gathers(const Tiling *t)
{
	if (t->p->tile[t->v].unroll >= target->registers)
		return false;
	Loads l = loads_in(t->heavy->src[0]);
	bool any = false;
	for (size_t i = 0; i < l.n; i++) {
		Loads says = loads_in(l.at[i]->src[0]->src[1]);
		any |= says.n && free_of(l.at[i]) >> last_fold(t) & 1;
		vec_free(&says);
	}
	vec_free(&l);
	return any;
}

/* Vectors of a row of accumulators: as many as there are registers, so that no iteration loads and
 * stores them, but a quarter of a page of each row that is read, which prefetchers can follow. */
static int row_vectors(const Tiling *t)
{
	int run = target->vector ? target->machine.page / 4 / target->vector : 0;
	int most = row_tile() / t->lanes, n = run > target->registers ? run : target->registers;
	n = !target->vector || n > most ? most : n;
	return n < 1 ? 1 : n;
}

/* iterations for which rows of accumulators are short; those of a window that are written out, in
 * how many statements (fewer where it slides along the vectors too: each of their loads then lies
 * across two cache lines), for how many elements side by side along a range: 14 rows of a depthwise
 * convolution take 1.4 of the time of 7, more than prefetchers follow */
enum { FEW = 16, FEW_WRITTEN = 32, WRITTEN = 200, WRITTEN_ACROSS = 128, SIDE_BY_SIDE = 8 };

/* An output range along which a window slides: its size in the reduction, and how far it moves. */
typedef struct { int r; int64_t size, step; } Window;

/* Does a load move as far with r as with some iterations of the reduction? */
static bool slides_along(const Tiling *t, const Loads *l, int r, Window *w)
{
	uint64_t over = bound_of(t->heavy);
	for (size_t i = 0; i < l->n; i++) {
		Sum s;
		sum_of(&s, l->at[i]->src[0]->src[1]);
		int64_t step = sum_coef(&s, t->f->range[r]);
		for (int q = 0; q < t->f->nrange && step; q++) {
			int64_t one = sum_coef(&s, t->f->range[q]), size = most_size(t->f, q);
			if (over >> q & 1 && one && !(step % one) && step / one > 0 &&
				step / one < size) {
				*w = (Window){r, size, step / one};
				return true;
			}
		}
	}
	return false;
}

/* The windows along other ranges than the vectors', at most two, that of the innermost range
 * first. */
static int find_windows(const Tiling *t, Window *w)
{
	int n = 0;
	Loads l = loads_in(t->heavy->src[0]);
	for (int k = t->p->norder; k-- > 0 && n < 2;) {
		int r = t->p->order[k];
		if (r != t->v && !(t->f->serial >> r & 1))
			n += slides_along(t, &l, r, &w[n]);
	}
	vec_free(&l);
	return n;
}

bool has_small_window(const Tiling *t)
{
	enum { WORTH = 1 << 12 };
	uint64_t over = bound_of(t->heavy);
	Window w[2];
	return length_of(t, t->heavy) < FEW_WRITTEN && kernel_lanes(t->f) > 1 &&
		least_of(t->f, free_of(t->heavy->src[0])) >= WORTH &&
		!(over & t->f->out) && least_of(t->f, over) == count_of(t->f, over) &&
		find_windows(t, w) > 0;
}

/* Elements read for n iterations of the window's range, whose windows overlap. */
static int64_t width_of(const Window *w, int64_t n) { return (n - 1) * w->step + w->size; }

/* How many iterations of each window's range stand side by side, by how many vectors. */
typedef struct { int n[2], vectors; } Beside;

/* What a vector costs: its terms, and what is read for them; more where tiles do not divide the
 * ranges. Terms that no window counts are read for each element. */
static double cost_beside(const Tiling *t, const Window *w, int nw, const Beside *b)
{
	double terms = (double)length_of(t, t->heavy), reads = terms, part = 1;
	for (int i = 0; i < nw; i++) {
		reads *= (double)width_of(&w[i], b->n[i]) / (double)(w[i].size * b->n[i]);
		part *= fill_of(most_size(t->f, w[i].r), b->n[i]);
	}
	part *= fill_of(most_size(t->f, t->v), (int64_t)b->vectors * t->lanes);
	return (terms + reads) / part;
}

/* The best tile of half the registers and of few statements. Along the outer range only where what
 * its windows share is half of them. */
static Beside find_beside(const Tiling *t, const Window *w, int nw)
{
	int widest = t->p->tile[t->v].unroll;
	Beside best = {{1, 1}, widest}, b;
	Window across;
	Loads l = loads_in(t->heavy->src[0]);
	int64_t most = slides_along(t, &l, t->v, &across) ? WRITTEN_ACROSS : WRITTEN, n[2] = {1, 1};
	double least = INFINITY;
	vec_free(&l);
	most /= length_of(t, t->heavy);
	most = most > target->registers / 2 ? target->registers / 2 : most;
	for (int i = 0; i < nw && !t->f->in_place; i++)
		if (!i || 2 * w[i].step <= w[i].size)
			n[i] = least_size(t->f, w[i].r) < SIDE_BY_SIDE ?
				least_size(t->f, w[i].r) : SIDE_BY_SIDE;
	for (b.vectors = 1; b.vectors <= widest; b.vectors++)
		for (b.n[1] = 1; b.n[1] <= n[1] && b.n[1] * b.vectors <= most; b.n[1]++)
			for (b.n[0] = 1; b.n[0] <= n[0] &&
				b.n[0] * b.n[1] * b.vectors <= most; b.n[0]++) {
				double cost = cost_beside(t, w, nw, &b);
				if (cost < least - 1e-9)
					least = cost, best = b;
			}
	return best;
}

/* The loops over a small window that slides cost more than its few terms: they are written out, for
 * elements side by side that read the same ones. */
static void write_out_window(Tiling *t)
{
	Window w[2];
	int nw = find_windows(t, w), lanes = t->p->tile[t->v].vector;
	Beside b = find_beside(t, w, nw);
	t->p->unrolled |= bound_of(t->heavy);
	t->p->jam = 1;
	t->p->nlanes--;
	for (int i = nw; i-- > 0;)
		if (b.n[i] > 1)
			tile(t->p, w[i].r, b.n[i], 1);
	tile(t->p, t->v, b.vectors, lanes);
}

/* Rows of which a tile reads a run in memory, pages from the one before: the next run is prefetched
 * meanwhile. Where memory is slower in runs than in sequence, tiles are as wide as a quarter of the
 * first cache, and what they load and store for that is shared by eight rows ([4096,4096]: 0.82 of
 * four; sixteen take 1.3 of it). */
static void tile_far_rows(Tiling *t, bool open)
{
	enum { FAR_ROWS = 8 };
	const Machine *m = &target->machine;
	if (slow_in_runs() && !open) {
		int wide = (int)(m->cache[0] / 4 / (int64_t)sizeof(float) / t->lanes);
		t->p->nlanes--;
		tile(t->p, t->v, even_vectors(t, wide < 1 ? 1 : wide), t->lanes);
		if (t->p->jam > 1 && !t->p->apart)
			t->p->jam = FAR_ROWS;
		return;
	}
	t->p->jam = 1;
	t->p->prefetch_loads = 1ull << last_fold(t);
}

/* As many of the outermost loops as have so many iterations together. */
static int loops_for(const Tiling *t, int64_t items)
{
	int64_t all = 1;
	int n = 0;
	while (n < t->p->norder && all < items)
		if (!mul_ok(all, loops_of(t, t->p->order[n++]), &all))
			all = items;
	return n;
}

void tile_rows(Tiling *t)
{
	/* where a window is written out, an item takes few cycles: what begins it counts */
	enum { WINDOW_ITEMS = 64 };
	int64_t iterations = length_of(t, t->heavy);
	/* a symbolic number of columns may be too small for a tile to be of use */
	bool open = least_size(t->f, t->v) < most_size(t->f, t->v);
	int wide = open ? 4 * USUAL_SIZE / t->lanes : row_vectors(t);
	order_vector(t);
	tile(t->p, t->v, even_vectors(t, iterations < FEW ? 4 : wide), t->lanes);
	t->p->apart = iterations >= 64 && reads_one_stream(t);
	t->p->jam = t->p->apart ? 2 : iterations >= 4 && !gathers(t) ? 4 : 1;
	if (kernel_lanes(t->f) == 1)
		t->p->partial = 1;
	bool window = has_small_window(t);
	if (window)
		write_out_window(t);
	else if (iterations >= FEW && wants_prefetch_fold(t->p, t->f, t->v, last_fold(t)))
		tile_far_rows(t, open);
	else if (t->p->apart)
		t->p->prefetch_loads = 1ull << last_fold(t);
	choose_items(t, window ? loops_for(t, WINDOW_ITEMS) : t->p->norder);
}
