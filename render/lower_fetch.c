/* Places asked for before they are needed. Those that a tile turned in registers will store to, asked for before it is loaded:
 *
 *     RANGE k<16 unroll; PREFETCH y[(r0+k)*3000 + v0] "store"; … y[(r0+k)*3000 + v0+15]; ENDRANGE
 *
 * Its rows lie apart, so nothing in the processor foresees them, and a store that has to wait for its
 * line holds up those behind it. Where stores go past the caches there is nothing to fetch.
 *
 * And the next row of what a row kernel reads, while it does the most with this one:
 *
 *     RANGE k<4 unroll; PREFETCH x[(r0+1)*1024 + r2*64 + k*16]; ENDRANGE
 *
 * A row of a few KB is read as a whole before anything is done with it, so the processor waits for all of
 * it; a row is about as long as a page, behind which it foresees nothing by itself. Of a contraction whose constants lie
 * in panels it is the next panel, a share of it by each tile of rows that takes this one. */
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
		emit(l, NODE(OP_PREFETCH, DT_NONE, val_str("store"), place_at(l, n, kernel->src[i], row, 0)));
		emit(l, NODE(OP_PREFETCH, DT_NONE, val_str("store"), place_at(l, n, kernel->src[i], row, size - 1)));
	}
	emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, row));
}

/* ---- the next row */

enum { LINE = 64, ROW_LEAST = 512, ROW_MOST = 1 << 16, ALL_LEAST = 1 << 21 };

/* Does the load's place go to its neighbour with range v, and on by the row with range r? */
static bool walks_rows(const Facts *f, const UOp *u, int v, int r)
{
	UOp *at = u->src[0]->src[1];
	Sum s;
	if (u->op != OP_LOAD || u->nsrc > 1 || u->src[0]->src[0]->op != OP_PARAM || reads_written(f, u) ||
		!plain_place(at) || !(free_of(at) >> v & free_of(at) >> r & 1))
		return false;
	sum_of(&s, at);
	return sum_coef(&s, f->range[v]) == 1 && sum_coef(&s, f->range[r]) > 1;
}

uint64_t wants_ahead(const Plan *p, const Facts *f, int v)
{
	int64_t all, row, size;
	int r = p->norder ? p->order[0] : -1;
	if (r < 0 || r == v || !p->nstage || p->tile[r].unroll || p->tile[v].vector < 2)
		return 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op != OP_LOAD || !walks_rows(f, u, v, r))
			continue;
		size = dtype_size(u->dtype);
		row = count_of(f, 1ull << v) * size;
		if (row >= ROW_LEAST && row <= ROW_MOST && mul_ok(row, count_of(f, 1ull << r), &all) && all >= ALL_LEAST)
			return 1ull << r;
	}
	return 0;
}

static void row_emit(Lowering *l, const Scope *s)
{
	int v = __builtin_ctzll(s->starts), r = __builtin_ctzll(l->plan.ahead);
	const Start *start = scope_start(s, v);
	UOp *from[] = {l->facts.range[v], l->facts.range[r]}, *next = ix_add(value_of(s, r), ix_const(1));
	for (size_t i = 0; i < l->facts.all.n; i++) {
		UOp *u = l->facts.all.at[i];
		if (u->op != OP_LOAD || !walks_rows(&l->facts, u, v, r))
			continue;
		int line = LINE / dtype_size(u->dtype), lines = (start->tile.unroll * start->tile.vector + line - 1) / line;
		UOp *k = scope_range(l, s, ix_const(lines), "unroll");
		UOp *to[] = {ix_add(start->first, ix_mul(k, ix_const(line))), next}, *index = u->src[0];
		UOp *at = substitute(index->src[1], 2, from, to);
		emit(l, k);
		emit(l, NODE(OP_PREFETCH, DT_NONE, VNIL, NODE(OP_INDEX, index->dtype, VNIL, index->src[0], at)));
		emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, k));
	}
}

/* ---- the next panel */

enum { PANEL_MOST = 1 << 20, PANELS_LEAST = 4 << 20, TILES_LEAST = 3 };

/* The range whose tiles are rows that each take the whole panel, -1 when there is none. */
static int row_range(const Plan *p)
{
	return p->nlanes == 2 && p->tile[p->lanes[0]].vector == 1 ? p->lanes[0] : -1;
}

static int64_t known_size(const Facts *f, int r)
{
	int64_t n;
	return ix_is_const(f->range[r]->src[0], &n) ? n : 0;
}

/* Is the load's place panel r, then turn k, then element v of it, and nothing else?  Then a panel's elements. */
static int64_t panel_elements(const Facts *f, const UOp *u, int v, int r, int k)
{
	int64_t width = known_size(f, v), all;
	Sum s;
	if (u->op != OP_LOAD || u->nsrc > 1 || u->src[0]->src[0]->op != OP_PARAM || reads_written(f, u) ||
		!mul_ok(width, known_size(f, k), &all))
		return 0;
	sum_of(&s, u->src[0]->src[1]);
	bool is = s.n == 3 && !s.k && sum_coef(&s, f->range[v]) == 1 && sum_coef(&s, f->range[k]) == width &&
		sum_coef(&s, f->range[r]) == all;
	return is ? all : 0;
}

uint64_t wants_panel(const Plan *p, const Facts *f, int v, const UOp *heavy)
{
	int m = row_range(p), n = p->norder - 1, k = __builtin_ctzll(bound_of(heavy));
	if (m < 0 || n < 1 || p->order[n] != m || p->chunk[m] || bound_of(heavy) & (bound_of(heavy) - 1) ||
		known_size(f, m) < TILES_LEAST * tile_size(p, m))
		return 0;
	/* the loop around the tiles of rows; a panel is one tile wide */
	n -= p->order[n - 1] == v ? 2 : 1;
	int r = n < 0 ? -1 : p->order[n];
	if (r < 0 || p->tile[r].unroll || known_size(f, v) != tile_size(p, v))
		return 0;
	for (size_t i = 0; i < f->all.n; i++) {
		int64_t bytes = panel_elements(f, f->all.at[i], v, r, k) * dtype_size(f->all.at[i]->dtype);
		if (bytes && bytes <= PANEL_MOST && bytes >= PANELS_LEAST / (known_size(f, r) + 1))
			return 1ull << r;
	}
	return 0;
}

/* Each tile of rows fetches its share of the panel, a little each turn of the sum. */
static void panel_emit(Lowering *l, const Scope *s)
{
	const Facts *f = &l->facts;
	int m = row_range(&l->plan), r = __builtin_ctzll(l->plan.ahead), k = __builtin_ctzll(s->binds), v = l->plan.lanes[1];
	UOp *next = ix_add(value_of(s, r), ix_const(1));
	for (size_t i = 0; i < f->all.n && m >= 0; i++) {
		const UOp *u = f->all.at[i], *index = u->op == OP_LOAD ? u->src[0] : NULL;
		int64_t n = index ? panel_elements(f, u, v, r, k) : 0, rows = known_size(f, m);
		if (!n || !rows)
			continue;
		UOp *share = ix_mul(scope_start(s, m)->first, ix_const(n / rows));
		UOp *part = ix_div(ix_mul(s->at[k], ix_const(known_size(f, v) * tile_size(&l->plan, m))), ix_const(rows));
		UOp *at = ix_add(ix_mul(next, ix_const(n)), ix_add(share, part));
		emit(l, NODE(OP_PREFETCH, DT_NONE, VNIL, NODE(OP_INDEX, index->dtype, VNIL, index->src[0], at)));
	}
}

void ahead_emit(Lowering *l, const Scope *s)
{
	if (s->starts)
		row_emit(l, s);
	else
		panel_emit(l, s);
}
