/* Rows of accumulators: reductions in which no operand is used again, but for what windows share.
 *
 *     y[n] = Σk x[k,n]              a row of n, a few iterations of k at a time
 *     y[h,w] = Σ x[h+i,w+j]*k[i,j]  a few terms, written out, several rows h side by side */
#include "target/target.h"
#include "choose/tiling.h"
#include "index/ix.h"
#include <stdlib.h>

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

/* The innermost loop of the heavy reduction. */
static int last_fold(const Tiling *t) { return 63 - __builtin_clzll(bound_of(t->heavy)); }

/* Is an operand read sequentially, iteration after iteration, with more constants than the last
 * cache keeps until the next call? A core waits less for memory when it reads two streams at once:
 * then the iterations that are taken together are far apart. (From a cache a single stream is a
 * little faster; more than two gain nothing.) */
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
	return one && lower_constants >= target->machine.cache[2];
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

bool has_small_window(const Tiling *t)
{
	enum { WORTH = 1 << 16 };
	uint64_t over = bound_of(t->heavy);
	return length_of(t, t->heavy) < FEW_WRITTEN && kernel_lanes(t->f) > 1 &&
		least_of(t->f, free_of(t->heavy->src[0])) >= WORTH &&
		!(over & t->f->out) && least_of(t->f, over) == count_of(t->f, over) &&
		window_along(t) >= 0;
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

void tile_rows(Tiling *t)
{
	int64_t iterations = length_of(t, t->heavy);
	/* a symbolic number of columns may be too small for a tile to be of use */
	bool open = least_size(t->f, t->v) < most_size(t->f, t->v);
	int wide = open ? 4 * USUAL_SIZE / t->lanes : row_vectors(t);
	order_vector(t);
	tile(t->p, t->v, even_vectors(t, iterations < FEW ? 4 : wide), t->lanes);
	t->p->apart = iterations >= 64 && reads_one_stream(t);
	t->p->jam = t->p->apart ? 2 : iterations >= 4 ? 4 : 1;
	if (kernel_lanes(t->f) == 1)
		t->p->partial = 1;
	if (has_small_window(t))
		write_out_window(t);
	else if (iterations >= FEW && wants_prefetch_fold(t->p, t->f, t->v, last_fold(t))) {
		t->p->jam = 1;
		t->p->prefetch_loads = 1ull << last_fold(t);
	}
	choose_items(t, t->p->norder);
}
