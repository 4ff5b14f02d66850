/* Tiles of contractions: an element of a row meets several vectors, and a vector several rows.
 *
 *     y[m,n] = Σk a[m,k]*b[k,n]     tiles of m by vectors of n, as many as registers hold */
#include "target/target.h"
#include "choose/tiling.h"
#include <stdlib.h>

/* additions of vectors in a loop that is written out; times that it is run for an element */
enum { WRITTEN = 128, OFTEN = 4 };
enum { WIDEST = 4 };                    /* vectors of a block's row */
static const double BESIDE = 0.25;      /* of the time of loads is not hidden by arithmetic */
static const double BEHIND = 0.1;       /* and of that of reads from the second cache */
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
 * more, since none begins the moment it may, what of the loads is not hidden, by how many cycles a
 * vector takes from beyond the first cache, and what else a row takes. */
static double rate(int rows, int vectors, double beyond, int row_work)
{
	const Machine *m = &target->machine;
	double adds = rows * vectors / (double)m->ops,
	       most = adds > 1.5 * m->latency ? adds : 1.5 * m->latency,
	       /* beside vectors of memory an element of a row takes half of a load */
	       loads = holds_vectors(rows, vectors) ? rows + vectors : rows * (vectors + 0.5);
	loads /= m->loads;
	most = (loads > most ? loads : most) + BESIDE * loads + BEHIND * vectors * beyond;
	double all = rows * vectors, others = row_work / (4.0 * vectors);
	return adds / most * (1 - 0.5 / all) / (1 + others);
}

/* The best block for a range m of rows and n elements in vectors; apart: of a range beside the
 * vectors', whose panels lie apart. */
static TileBlock best_block(const Tiling *t, int m, int64_t n, bool apart)
{
	TileBlock best = {m, 1, 1, 0};
	int64_t most = most_size(t->f, m), rows = usual_size(least_size(t->f, m), most);
	int work = row_work(t, m);
	const Machine *machine = &target->machine;
	double second = target->vector / (1e3 * machine->read[1] / machine->clock);
	for (int v = 1; v <= WIDEST && v * t->lanes <= n + t->lanes - 1; v++)
		for (int r = 1; r <= 28; r++) {
			if (!holds_sums(r, v) || (r > rows && rows == most) || v * t->lanes > n)
				continue;
			double s = rate(r, v, !apart || holds_panels(t, 1, v) ? 0 : second, work);
			s *= fill_of(rows, r) * fill_of(n, v * t->lanes);
			/* a kernel that updates in place has no overlapping tiles: threads share
			 * whole ones only */
			if (t->f->in_place && n % (v * t->lanes))
				s *= SERIAL;
			if (!apart && s > best.score)
				s *= reading(t, m, rows / r, r, n, v * t->lanes);
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
		TileBlock b = best_block(t, r, n, false);
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
		length_of(t, t->heavy) >= OFTEN * size && read_newly(t, r) == size)
		t->p->unrolled |= 1ull << r;
}

void tile_contraction(Tiling *t, TileBlock b, bool far)
{
	Plan *p = t->p;
	int apart = b.vectors == 1 && count_of(t->f, 1ull << t->v) < 2 * t->lanes ?
		find_apart(t, b.m) : -1;
	TileBlock two = b;
	if (apart >= 0) {
		two = best_block(t, b.m, count_of(t->f, 1ull << apart) * t->lanes, true);
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
	pack(t, b.m, count_of(t->f, 1ull << b.m) / b.rows);
	if (packs(t) || far)
		choose_chunk(t, b.m);
	else if (sums_rows(t, b.m))
		order_last(p, t->v);
	else
		order_rows(t, b.m, apart, apart >= 0 ? two.vectors : b.vectors);
	choose_items(t, packs(t) ? p->norder - 1 : p->norder);
	write_out(t);
}

/* Are rows along r long, and is nothing that one of them reads read by its neighbours? Then each is
 * read by itself, from end to end: sums of rows of 16 KB take 0.73 of four at a time, which lie
 * pages apart. */
static bool reads_alone(const Tiling *t, int r)
{
	Loads l = loads_in(t->heavy->src[0]);
	bool alone = l.n > 0;
	for (size_t i = 0; i < l.n; i++)
		alone &= free_of(l.at[i]) >> r & 1 &&
			bytes_of(t, l.at[i], bound_of(t->heavy)) >= target->machine.page;
	vec_free(&l);
	return alone;
}

void tile_dot(Tiling *t)
{
	int n = 0, lanes = kernel_lanes(t->f);
	uint64_t free = free_of(t->heavy);
	for (int i = t->p->norder; i-- > 0 && n < 2;) {
		int r = t->p->order[i];
		if (!(free >> r & 1) || most_size(t->f, r) < 2 || reads_alone(t, r))
			continue;
		tile(t->p, r, most_size(t->f, r) >= 4 ? 4 : 2, 1);
		n++;
	}
	t->p->partial = n == 2 ? lanes : 4 * lanes;
	if (!n)
		hide_latency(t, lanes);
	while (t->p->partial > 1 && 2 * t->p->partial > length_of(t, t->heavy))
		t->p->partial /= 2;
	choose_items(t, t->p->norder);
}
