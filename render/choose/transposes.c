/* Kernels that move elements from one order to another: what is stored lies next to each other
 * along one range, v; what is loaded, along another, r.
 *
 *     y[r,v] = x[v,r]     for 4 × 4 tiles at a time, shared by threads
 *                           16 vectors along r: x[v0+0 …, r0], x[v0+1 …, r0] …
 *                           transposed in registers, then 16 vectors along v: y[r0+0, v0 …], …
 *
 * A tile is as many elements of either range as a vector has, so both sides touch whole vectors;
 * tiles come in blocks, so that a page or cache line is used while it is cached. */
#include "target/target.h"
#include "choose/choose.h"
#include "choose/tiling.h"
#include "index/ix.h"

/* LINES: of a cache, that a block touches on either side; BESIDE: tiles of whole lines that are
 * stored one after another */
enum { LEAST = 4, MOST = 16, LINES = 2, BESIDE = 4 };

typedef struct { const Facts *f; int v, lanes; } TurnedTile;

/* How far one step of range r within a tile of n moves a place; -1: not by a fixed step. Where n
 * does not divide the range, tiles may begin at any element. */
static int64_t step_in_tile(const TurnedTile *t, UOp *at, int r, int n)
{
	UOp *range = t->f->range[r], *lane = ix_range(63, "vector", ix_const(n)),
	    *size = range->src[0];
	int64_t rest;
	bool whole = ix_is_const(ix_mod(size, ix_const(n)), &rest) && !rest;
	UOp *count = whole ? ix_div(size, ix_const(n)) : ix_sub(size, ix_const(n - 1));
	UOp *tile = ix_range(62, "loop", count);
	UOp *place = ix_add(whole ? ix_mul(tile, ix_const(n)) : tile, lane);
	Sum s;
	sum_of(&s, substitute(at, 1, &range, &place));
	for (int i = 0; i < s.n; i++)
		if (s.t[i].m != lane && range_mask(s.t[i].m) >> 63 & 1)
			return -1;
	return sum_coef(&s, lane);
}

/* The width of a tile over r and v for a load; 0: do not transpose it along r. */
static int transpose_width(const TurnedTile *t, const UOp *load, int r)
{
	UOp *at = load->src[0]->src[1];
	int n = 1, size = dtype_size(load->dtype), most = target->vector / (size < 4 ? 4 : size);
	int64_t along = most_size(t->f, r), across = most_size(t->f, t->v);
	uint64_t both = 1ull << r | 1ull << t->v;
	if (r == t->v || (free_of(load) & both) != both || reads_written(t->f, load))
		return 0;
	most = most < t->lanes ? most : t->lanes;
	for (; 2 * n <= most && 2 * n <= MOST && 2 * n <= along && 2 * n <= across; n *= 2)
		;
	if (n < LEAST || step_in_tile(t, at, t->v, n) == 1 || step_in_tile(t, at, t->v, n) == 0)
		return 0;
	return step_in_tile(t, at, r, n) == 1 ? n : 0;
}

/* The range along which most loads are contiguous, with a width that fits all of them. */
static int find_along(const TurnedTile *t, int *width)
{
	int best = -1, most = 0;
	for (int r = 0; r < t->f->nrange; r++) {
		int loads = 0, least = MOST;
		for (size_t i = 0; i < t->f->all.n && t->f->out >> r & 1; i++) {
			UOp *u = t->f->all.at[i];
			int n = u->op == OP_LOAD ? transpose_width(t, u, r) : 0;
			loads += n > 0;
			least = n && n < least ? n : least;
		}
		if (loads > most) {
			best = r;
			most = loads;
			*width = least;
		}
	}
	return best;
}

/* Puts v and r behind all others in the order: loads go through memory in order, and stores, for
 * which nothing waits, step from row to row. */
static void order_behind(Plan *p, int r, int v)
{
	int n = order_without(p->order, p->norder, (int[]){r, v}, 2);
	p->order[n++] = v;
	p->order[n] = r;
}

/* Are rows of what is stored long enough for a core to follow, several at a time, and does all of
 * it stay in a cache? Then they are written from end to end, where threads have shares of them and
 * few are written twice, by tiles that overlap; not where lines that lie pages apart, which that
 * loads, are read slowly. */
static bool stores_rows(const Plan *p, const Facts *f, int r, int v, int bytes)
{
	enum { MANY = 8 };
	int64_t n = p->tile[v].vector, tiles = least_size(f, r) / n, size;
	int64_t items = count_of(f, f->out & ~(1ull << r | 1ull << v));
	return !slow_in_runs() && least_size(f, v) * bytes >= target->machine.page / 4 &&
		mul_ok(count_of(f, f->out), bytes, &size) && size < target->machine.cache[2] &&
		mul_ok(items, tiles, &items) && items >= ITEMS &&
		(tiles >= MANY || least_size(f, r) % n == 0);
}

int64_t turned_held(void)
{
	const Machine *m = &target->machine;
	return slow_in_runs() ? m->cores * m->cache[1] : m->cache[2];
}

/* Where vectors are shorter than a line of what no cache holds, a tile stores whole lines, several
 * vectors of each: of a line that comes in parts memory is read too, or written again. As many as
 * registers hold, or twice that. */
static bool stores_lines(Plan *p, const Facts *f, int v)
{
	const UOp *store = f->kernel->src[0];
	int64_t n = p->tile[v].vector, bytes = dtype_size(store->src[0]->dtype), size;
	int64_t line = target->machine.line / (n * bytes), full = target->registers / n;
	int64_t vectors = line > full ? line : full;
	vectors = vectors > 2 * full ? 2 * full : vectors;
	if (line < 2 || vectors < 2 || least_size(f, v) < 2 * vectors * n ||
		(mul_ok(count_of(f, f->out), bytes, &size) && size < turned_held()))
		return false;
	p->tile[v].unroll = (int)vectors;
	if (least_size(f, v) >= 2 * BESIDE * vectors * n)
		p->chunk[v] = BESIDE;
	p->grid = p->norder;
	return true;
}

/* Groups tiles into blocks where there are enough; threads share these and the loops outside. */
static void choose_blocks(Plan *p, const Facts *f, int r, int v, int bytes)
{
	int n = p->tile[v].vector, block = LINES * target->machine.line / (n * bytes);
	bool blocks = block > 1 && least_size(f, r) >= 2 * n * block &&
		least_size(f, v) >= 2 * n * block;
	if (blocks)
		p->chunk[r] = p->chunk[v] = block;
	p->grid = p->norder - (blocks ? 0 : 1);
}

bool choose_transposes(Plan *p, const Facts *f, int v, int lanes)
{
	TurnedTile t = {f, v, lanes};
	int n = 0, bytes = 1, r = f->in_place || f->gated ? -1 : find_along(&t, &n);
	if (r < 0)
		return false;
	for (size_t i = 0; i < f->all.n && p->nstage < MAX_STAGED; i++) {
		UOp *u = f->all.at[i];
		if (u->op != OP_LOAD || transpose_width(&t, u, r) < n)
			continue;
		p->stage[p->nstage].value = u;
		p->stage[p->nstage].over = 0;
		p->stage[p->nstage++].along = 1ull << r;
		bytes = dtype_size(u->dtype) > bytes ? dtype_size(u->dtype) : bytes;
	}
	order_behind(p, r, v);
	p->tile[r] = (Tile){n, 1};
	p->tile[v] = (Tile){1, n};
	p->lanes[p->nlanes++] = r;
	p->lanes[p->nlanes++] = v;
	if (stores_rows(p, f, r, v, bytes)) {
		p->order[p->norder - 2] = r;
		p->order[p->norder - 1] = v;
		p->grid = p->norder - 1;
	} else if (!stores_lines(p, f, v)) {
		choose_blocks(p, f, r, v, bytes);
	}
	return true;
}

bool wants_prefetch_stores(const Plan *p, const Facts *f)
{
	int64_t bytes = 0;
	int last = p->order[p->norder - 1];
	for (int i = 0; i < p->nstage && !p->nontemporal; i++)
		if (p->stage[i].along >> last & 1 &&
			!mul_ok(count_of(f, f->out), dtype_size(f->kernel->src[0]->src[0]->dtype),
				&bytes))
			bytes = INT64_MAX;
	return bytes >= target->machine.cache[1] / 8;
}
