/* Prefetches. First, of the places that a transposed tile will be stored to, before it is loaded:
 *
 *     RANGE k<16 unroll; PREFETCH y[(r0+k)*3000 + v0] "store"; … y[(r0+k)*3000 + v0+15]; ENDRANGE
 *
 * (once where these two are in one line). The rows of the tile lie apart, so the processor's own
 * prefetcher does not foresee them, and a store that waits for its line delays those behind it.
 * Stores that go past the caches need no prefetch.
 *
 * Second, of the next row that a row kernel reads, while it computes the most with this one, and of
 * the row that it will store, since stores to lines that are not there hold up what follows
 * (softmax of [4096,1024] on two cores of a Zen 4: 0.75; not while rows come from memory: 1.4):
 *
 *     RANGE k<4 unroll; PREFETCH x[(r0+1)*1024 + r2*64 + k*16]; ENDRANGE
 *     RANGE k<4 unroll; PREFETCH y[r0*1024 + r2*64 + k*16] "store"; ENDRANGE
 *
 * A row of a few KB is read whole before it is used, so the processor would wait for all of it; a
 * row is about as long as a page, and the hardware prefetcher stops at a page's end. Nor does it
 * foresee what a sum along columns reads, pieces of rows that lie apart: each iteration prefetches
 * the next one's. For a contraction whose constants lie in panels, it is the next panel, or the
 * next block of one: each tile of rows that uses this one prefetches a share of the next. For
 * elements that take long to compute, it is a tile that follows; for streams of constants, what
 * follows in each. */
#include "target/target.h"
#include "lower/lower.h"
#include "index/ix.h"
#include <stdlib.h>

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

/* The store's place at element `row` of the tile along the transposed range, `lane` along the
 * others. */
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
			to[k++] = ix_add(scope_start(n->at, r)->first,
				n->along >> r & 1 ? row : ix_const(lane));
	}
	return NODE(OP_INDEX, index->dtype, VNIL, index->src[0],
		substitute(index->src[1], k, from, to));
}

/* Do the n elements from that place on lie within one line? Buffers begin with one. */
static bool in_a_line(const UOp *place, int n)
{
	int64_t at, line = target->machine.line / dtype_size(place->dtype);
	return line > 0 && ix_is_const(ix_mod(place->src[1], ix_const(line)), &at) &&
		at + n <= line;
}

void prefetch_stores_emit(Lowering *l, const Nest *n)
{
	const UOp *kernel = l->facts.kernel;
	int size = tile_size(&l->plan, __builtin_ctzll(n->along));
	UOp *row = scope_range(l, n->at, ix_const(size), "unroll");
	emit(l, row);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		if (!plain_place(kernel->src[i]->src[0]->src[1]))
			continue;
		UOp *first = place_at(l, n, kernel->src[i], row, 0);
		UOp *last = place_at(l, n, kernel->src[i], row, size - 1);
		emit(l, NODE(OP_PREFETCH, DT_NONE, val_str("store"), first));
		if (!in_a_line(first, size))
			emit(l, NODE(OP_PREFETCH, DT_NONE, val_str("store"), last));
	}
	emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, row));
}

/* ---- the next row */

/* LINES: of a cache, of which it is worth a row's while */
enum { LINES = 8 };

/* Is a place contiguous along range v, and does r, if it is another, step from row to row? */
static bool place_walks(const Facts *f, UOp *at, int v, int r)
{
	Sum s;
	if (!plain_place(at) || !(free_of(at) >> v & free_of(at) >> r & 1))
		return false;
	sum_of(&s, at);
	return sum_coef(&s, f->range[v]) == 1 &&
		(r == v || sum_coef(&s, f->range[r]) > 1);
}

static bool walks_rows(const Facts *f, const UOp *u, int v, int r)
{
	return u->op == OP_LOAD && u->nsrc == 1 && u->src[0]->src[0]->op == OP_PARAM &&
		!reads_written(f, u) && place_walks(f, u->src[0]->src[1], v, r);
}

uint64_t wants_prefetch_loads(const Plan *p, const Facts *f, int v)
{
	const Machine *m = &target->machine;
	int64_t all, row, size;
	int r = p->norder ? p->order[0] : -1;
	if (r < 0 || r == v || !p->nstage || p->tile[r].unroll || p->tile[v].vector < 2)
		return 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (!walks_rows(f, u, v, r))
			continue;
		size = dtype_size(u->dtype);
		row = count_of(f, 1ull << v) * size;
		if (row >= LINES * m->line && row <= 2 * m->cache[0] &&
			mul_ok(row, count_of(f, 1ull << r), &all) && all >= 2 * m->cache[1])
			return 1ull << r;
	}
	return 0;
}

bool wants_prefetch_rows(const Plan *p, const Facts *f, int v)
{
	bool stores = p->nstage && p->prefetch_loads && !prefetches_tiles(p) && !p->nontemporal;
	for (uint32_t i = 0; stores && i < f->kernel->nsrc; i++)
		stores = place_walks(f, f->kernel->src[i]->src[0]->src[1], v,
			__builtin_ctzll(p->prefetch_loads));
	return stores;
}

bool wants_prefetch_fold(const Plan *p, const Facts *f, int v, int r)
{
	const Machine *m = &target->machine;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		int64_t size = dtype_size(u->dtype), all;
		Sum s;
		if (!walks_rows(f, u, v, r))
			continue;
		sum_of(&s, u->src[0]->src[1]);
		if (sum_coef(&s, f->range[r]) >= m->page / size &&
			tile_size(p, v) * size >= LINES * m->line &&
			mul_ok(count_of(f, free_of(u->src[0])), size, &all) &&
			all >= 2 * m->cache[1])
			return true;
	}
	return false;
}

/* The scope around s in which range r has a value, or starts a tile. What no tile of it takes is in
 * a loop of its own. */
static const Scope *scope_with(const Scope *s, int r)
{
	while (!((s->binds | s->starts) >> r & 1))
		s = s->parent;
	return s;
}

/* The first element of range r around s: of its tile, or its only element there. */
static UOp *first_of(const Scope *s, int r)
{
	s = scope_with(s, r);
	return s->starts >> r & 1 ? s->start[r].first : s->at[r];
}

/* Has each of these ranges a value around s, or starts a tile of it there? */
static bool all_around(const Scope *s, uint64_t set)
{
	for (; s && set; s = s->parent)
		set &= ~(s->binds | s->starts);
	return !set;
}

/* The lines of a buffer that the tile along v around s takes where r is `first`; if r is v, where
 * it begins there. */
static void lines_at(Lowering *l, const Scope *s, const UOp *index, int v, int r, UOp *first,
	const Val *level)
{
	const Start *start = scope_start(s, v);
	int size = dtype_size(index->dtype), most = target->machine.line;
	int line = most > size ? most / size : 1;
	int lines = (start->tile.unroll * start->tile.vector + line - 1) / line;
	UOp *k = scope_range(l, s, ix_const(lines), "unroll");
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	int n = 0;
	for (int q = 0; q < l->facts.nrange; q++)
		if (free_of(index) >> q & 1) {
			from[n] = l->facts.range[q];
			to[n] = q == r ? first : q == v ? start->first : first_of(s, q);
			if (q == v)
				to[n] = ix_add(to[n], ix_mul(k, ix_const(line)));
			n++;
		}
	UOp *at = substitute(index->src[1], n, from, to);
	emit(l, k);
	emit(l,
		NODE(OP_PREFETCH, DT_NONE, level,
			NODE(OP_INDEX, index->dtype, VNIL, index->src[0], at)));
	emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, k));
}

/* What the tile reads there. */
static void lines_emit(
	Lowering *l, const Scope *s, int v, int r, UOp *first, const Val *level)
{
	for (size_t i = 0; i < l->facts.all.n; i++) {
		const UOp *u = l->facts.all.at[i];
		if (walks_rows(&l->facts, u, v, r) &&
			all_around(s, free_of(u->src[0]) & ~(1ull << r)))
			lines_at(l, s, u->src[0], v, r, first, level);
	}
}

void prefetch_rows_emit(Lowering *l, const Scope *s)
{
	const UOp *kernel = l->facts.kernel;
	int v = __builtin_ctzll(s->starts);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *index = kernel->src[i]->src[0];
		if (place_walks(&l->facts, index->src[1], v, v) &&
			all_around(s, free_of(index) & ~(1ull << v)))
			lines_at(l, s, index, v, v, scope_start(s, v)->first, val_str("store"));
	}
}

/* The next row at the places of the tile along v around s. */
static void row_emit(Lowering *l, const Scope *s, int v)
{
	int r = __builtin_ctzll(l->plan.prefetch_loads);
	lines_emit(l, s, v, r, ix_add(first_of(s, r), ix_const(1)), VNIL);
}

/* A tile along v that follows soon. */
static void tile_emit(Lowering *l, const Scope *s, int v)
{
	/* gelu of 16 million elements: 0.95 with two tiles, 0.89 with four or eight */
	enum { TILES_AHEAD = 4 };
	int64_t ahead = TILES_AHEAD * tile_size(&l->plan, v);
	lines_emit(l, s, v, v, ix_add(scope_start(s, v)->first, ix_const(ahead)),
		val_str("second"));
}

/* What iterations that follow soon read of each stream; s is the loop over the iterations of all of
 * them. */
static void streams_emit(Lowering *l, const Scope *s, int v)
{
	/* together: with half or twice of it the gain is half */
	enum { BYTES_AHEAD = 2048 };
	int r = __builtin_ctzll(l->plan.prefetch_loads), streams = l->plan.jam;
	int64_t ahead = BYTES_AHEAD / streams / (tile_size(&l->plan, v) * (int)sizeof(float));
	for (int i = 0; i < streams; i++) {
		UOp *first = ix_add(s->open, ix_mul(s->open->src[0], ix_const(i)));
		lines_emit(l, s, v, r, ix_add(first, ix_const(ahead > 0 ? ahead : 1)),
			val_str("second"));
	}
}

/* ---- the next panel */

/* Constants of several second caches do not stay in one for the next call, whatever the last cache
 * keeps. Few panels are read at once by the threads that share them, and short ones are there
 * before a prefetch is. */
bool wants_panel(const Plan *p, const Facts *f, int v, Panel *n)
{
	enum { CACHES = 4, PANELS = 8 };
	return lower_constants >= CACHES * target->machine.cache[1] && panel_find(p, f, v, n) &&
		n->size * dtype_size(n->load->dtype) >= target->machine.page &&
		range_size(f->range[n->r]) >= PANELS * (n->size / n->step);
}

/* The first iteration of the block of r around s. */
static UOp *block_first(const Scope *s, int r)
{
	while (!(s->blocks >> r & 1))
		s = s->parent;
	return s->block[r].first;
}

/* The number of rows before the tile around s. */
static UOp *rows_before(const Lowering *l, const Scope *s, const Panel *n)
{
	UOp *at = ix_const(0);
	for (int i = 0; i < l->plan.norder; i++) {
		int r = l->plan.order[i];
		if (n->rows >> r & 1)
			at = ix_add(ix_mul(at, l->facts.range[r]->src[0]), first_of(s, r));
	}
	return at;
}

/* The number of rows in all. */
static UOp *rows_all(const Lowering *l, const Panel *n)
{
	UOp *all = ix_const(1);
	for (int r = 0; r < l->facts.nrange; r++)
		if (n->rows >> r & 1)
			all = ix_mul(all, l->facts.range[r]->src[0]);
	return all;
}

/* The number of rows in the tile. */
static int64_t rows_here(const Lowering *l, const Scope *s, const Panel *n)
{
	int64_t rows = 1;
	for (int r = 0; r < l->facts.nrange; r++) {
		const Scope *in = n->rows >> r & 1 ? scope_with(s, r) : NULL;
		if (in && in->starts >> r & 1)
			rows *= in->start[r].tile.unroll * in->start[r].tile.vector;
	}
	return rows;
}

/* at * times / of, or somewhat more: each step of it is rounded up, so that the innermost loop adds
 * a constant to a place. With a division there (7×7 images of 1024 channels to 2048, constants in
 * the last cache) the loop takes 1.1 of the time, in integer operations where it has products. */
static UOp *part_of(UOp *at, int64_t times, UOp *of)
{
	Sum s;
	sum_of(&s, at);
	UOp *part = ix_div(ix_const(s.k * times), of);
	for (int i = 0; i < s.n; i++) {
		UOp *n = ix_add(ix_const(llabs(s.t[i].c) * times - 1), of);
		UOp *step = ix_mul(s.t[i].m, ix_div(n, of));
		part = s.t[i].c < 0 ? ix_sub(part, step) : ix_add(part, step);
	}
	return part;
}

/* The ranges that panel_emit needs: the reduction's, the panels' and the rows'. */
static uint64_t ranges_asked(const Lowering *l, const Panel *n)
{
	uint64_t set = free_of(n->load->src[0]);
	for (int i = 0; i < l->plan.norder; i++)
		set |= 1ull << l->plan.order[i];
	return set & ~(1ull << n->v);
}

/* The range of a tile's panels, of which blocks lie apart, or -1. */
static int panels_beside(const Lowering *l, const Panel *n)
{
	for (int r = 0; r < l->facts.nrange && n->blocks; r++)
		if (n->others >> r & 1 && tile_size(&l->plan, r) > 1)
			return r;
	return -1;
}

/* The load's place with other values of its ranges: where the panels are that are used now, of
 * those beside each other the j-th; or, counted from there, what is read in this iteration. */
static UOp *place_in(const Lowering *l, const Scope *s, const Panel *n, bool within, int j)
{
	const Facts *f = &l->facts;
	UOp *from[MAX_RANGES], *to[MAX_RANGES], *index = n->load->src[0];
	int k = 0, beside = panels_beside(l, n);
	for (int r = 0; r < f->nrange; r++) {
		if (!(free_of(index) >> r & 1))
			continue;
		from[k] = f->range[r];
		to[k] = ix_const(0);
		if (within && !(f->out >> r & 1))
			to[k] = ix_sub(value_of(s, r),
				n->blocks >> r & 1 ? block_first(s, r) : ix_const(0));
		else if (!within && n->others >> r & 1)
			to[k] = ix_add(first_of(s, r), ix_const(r == beside ? j : 0));
		k++;
	}
	return substitute(index->src[1], k, from, to);
}

/* Each tile of rows prefetches its share of the panel, a little in each iteration of the
 * reduction, into the second cache: the first one holds what is read now. */
static void panel_emit(Lowering *l, const Scope *s)
{
	const Facts *f = &l->facts;
	int v = l->plan.nlanes ? l->plan.lanes[l->plan.nlanes - 1] : 0;
	for (size_t i = 0; i < f->all.n && l->plan.nlanes; i++) {
		Panel n;
		if (!panel_is(&l->plan, f, f->all.at[i], v, &n) ||
			!all_around(s, ranges_asked(l, &n)))
			continue;
		int beside = panels_beside(l, &n);
		int64_t tiles = n.blocks ? 1 : n.size / n.step;
		UOp *rows = rows_all(l, &n), *done = place_in(l, s, &n, true, 0);
		UOp *share = part_of(done, tiles * rows_here(l, s, &n), rows);
		UOp *part = ix_add(
			ix_mul(rows_before(l, s, &n), ix_div(ix_const(n.size), rows)), share);
		UOp *first = n.blocks ? block_first(s, n.r) : first_of(s, n.r);
		UOp *next = ix_add(first, ix_const(n.size / n.step));
		for (int j = 0; j < (beside < 0 ? 1 : tile_size(&l->plan, beside)); j++) {
			UOp *at = ix_add(ix_mul(next, ix_const(n.step)), part);
			at = ix_add(at, place_in(l, s, &n, false, j));
			emit(l,
				NODE(OP_PREFETCH, DT_NONE, val_str("second"),
					NODE(OP_INDEX, n.load->src[0]->dtype, VNIL,
						n.load->src[0]->src[0], at)));
		}
	}
}

/* Is what follows in the loop of a reduction prefetched? */
static bool prefetches_fold(const Lowering *l)
{
	return l->plan.prefetch_loads & ~(l->facts.out | block_ranges(&l->plan));
}

bool items_follow(const Lowering *l)
{
	const Plan *p = &l->plan;
	Panel n;
	return !prefetches_fold(l) && (prefetches_tiles(p) ||
		(p->nlanes && panel_find(p, &l->facts, p->lanes[p->nlanes - 1], &n)));
}

void prefetch_loads_emit(Lowering *l, const Scope *s)
{
	const Plan *p = &l->plan;
	int v = p->nlanes ? p->lanes[p->nlanes - 1] : 0;
	if (prefetches_tiles(p))
		tile_emit(l, s, v);
	else if (s->starts)
		row_emit(l, s, __builtin_ctzll(s->starts));
	else if (prefetches_fold(l))
		(p->jam > 1 ? streams_emit : row_emit)(l, s, v);
	else
		panel_emit(l, s);
}
