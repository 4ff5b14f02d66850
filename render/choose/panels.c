/* How a contraction reads the operand that its tiles of rows share: panels of a few vectors of
 * columns, in place or packed, again for each tile. */
#include "target/target.h"
#include "choose/tiling.h"
#include <stdlib.h>

/* tiles that must read a packed operand: one that is far, or whose rows share few sets of a cache;
 * one in runs, where these are slow; others */
enum { PACK_LEAST = 4, PACK_RUNS = 16, PACK_NEAR = 32 };
/* rows' time that an element takes to be packed; that one in a run takes more than others */
static const double PACKING = 8, RUNS = 2;

bool holds_panels(const Tiling *t, int tiles, int vectors)
{
	int64_t bytes, sum = count_of(t->f, bound_of(t->heavy));
	return mul_ok(sum, tiles * vectors * target->vector, &bytes) &&
		bytes <= target->machine.cache[0];
}

int64_t bytes_of(const Tiling *t, const UOp *load, uint64_t ranges)
{
	int64_t bytes;
	if (!mul_ok(count_of(t->f, free_of(load->src[0]) & ranges), dtype_size(load->dtype),
		    &bytes))
		return INT64_MAX;
	return bytes;
}

int64_t extent_along(
	const Tiling *t, const Sum *s, uint64_t ranges, int64_t most, int64_t columns)
{
	int64_t n = 1, step;
	for (int r = 0; r < t->f->nrange; r++) {
		int64_t c = llabs(sum_coef(s, t->f->range[r]));
		int64_t size = r == t->v ? columns : most_size(t->f, r);
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

bool strides(const Tiling *t, const UOp *load, int64_t columns, bool far)
{
	Sum s;
	uint64_t over = bound_of(t->heavy), moves = over | 1ull << t->v;
	sum_of(&s, load->src[0]->src[1]);
	for (int r = 0; r < t->f->nrange; r++) {
		int64_t step = over >> r & 1 ? llabs(sum_coef(&s, t->f->range[r])) : 0;
		int64_t bytes = step * dtype_size(load->dtype);
		int64_t read = step ? extent_along(t, &s, moves, step, columns) : 0;
		bool beyond = bytes % target->machine.page == 0 ||
			most_size(t->f, r) > places_kept(bytes);
		if (read && (far ? read < step && beyond : read <= step / 2))
			return true;
	}
	return false;
}

/* How much of the second cache an operand takes: from half of it on it does not stay beside
 * others. */
static double share_of_cache(const Tiling *t, const UOp *u)
{
	return (double)bytes_of(t, u, bound_of(t->heavy) | 1ull << t->v) /
		(double)target->machine.cache[1];
}

/* Operands that every tile of rows reads are packed in the order in which they are read, where they
 * are too far apart for the caches, or lie in runs that the processor reads slowly, or are too
 * large, and read by so many tiles that it outweighs the copy. */
static bool is_packed(const Tiling *t, UOp *u, int m, int64_t tiles, int64_t columns)
{
	uint64_t free = free_of(u), over = bound_of(t->heavy);
	if (tiles < PACK_LEAST || free >> m & 1 || !(free >> t->v & 1) || !(free & over) ||
		columns * count_of(t->f, over & free) * 4 > target->local || reads_written(t->f, u))
		return false;
	if (movement_of(t->f, u, t->v) == FAR || strides(t, u, columns, true))
		return true;
	bool runs = slow_in_runs() && strides(t, u, columns, false);
	double share = share_of_cache(t, u);
	return (runs && tiles >= (share >= 0.5 ? PACK_RUNS / 2 : PACK_RUNS)) ||
		(tiles >= PACK_NEAR && share > 1);
}

/* The iterations of the loops beside that of m, of which the vectors' one has so many: as far as
 * they matter. */
static int64_t loops_beside(const Tiling *t, int m, int64_t n)
{
	for (int i = 0; i < t->p->norder && n < ITEMS; i++)
		if (t->p->order[i] != m && t->p->order[i] != t->v) {
			int64_t loops = loops_of(t, t->p->order[i]);
			n *= loops < ITEMS ? loops : ITEMS;
		}
	return n > 0 ? n : 1;
}

/* So many tiles of rows to a chunk, when the other loops are too few to give all threads even
 * shares. */
static int64_t tiles_to_chunk(int64_t others, int64_t tiles)
{
	int64_t parts = (ITEMS + others - 1) / others, size = (tiles + parts - 1) / parts;
	return others >= ITEMS || tiles < 8 ? tiles : size < 4 ? 4 : size;
}

double reading(const Tiling *t, int m, int64_t tiles, int rows, int64_t n, int64_t columns)
{
	Loads l = loads_in(t->heavy->src[0]);
	int64_t others = loops_beside(t, m, (n + columns - 1) / columns);
	bool packed = false, runs = false;
	for (size_t i = 0; i < l.n; i++) {
		uint64_t free = free_of(l.at[i]);
		packed |= is_packed(t, l.at[i], m, tiles, columns);
		runs |= !(free >> m & 1) && free >> t->v & 1 && slow_in_runs() &&
			share_of_cache(t, l.at[i]) >= 0.5 && strides(t, l.at[i], columns, false);
	}
	vec_free(&l);
	double shared = (double)tiles_to_chunk(others, tiles) * rows;
	return packed ? shared / (shared + PACKING) : runs ? rows / (rows + RUNS) : 1;
}

void pack(Tiling *t, int m, int64_t tiles)
{
	Plan *p = t->p;
	Loads l = loads_in(t->heavy->src[0]);
	for (size_t i = 0; i < l.n && p->nstage < MAX_STAGED; i++)
		if (is_packed(t, l.at[i], m, tiles, tile_size(p, t->v))) {
			p->stage[p->nstage].value = l.at[i];
			p->stage[p->nstage++].over = bound_of(t->heavy) & free_of(l.at[i]);
		}
	vec_free(&l);
}

bool packs(const Tiling *t) { return t->p->nstage > 0; }

void choose_chunk(Tiling *t, int m)
{
	int64_t others = loops_beside(t, m, loops_of(t, t->v)), tiles = loops_of(t, m);
	if (others >= ITEMS || tiles < 8 || !tile_fixed(t->p, t->f, m))
		return;
	int64_t least = (least_size(t->f, m) + tile_size(t->p, m) - 1) / tile_size(t->p, m);
	int64_t size = tiles_to_chunk(others, tiles);
	t->p->chunk[m] = (int)(size < least ? size : least);
}

int vectors_cached(const Tiling *t, int apart, int vectors)
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
