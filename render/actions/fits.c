/* Does a list of actions fit its kernel? A list that a heuristic writes does; one that was written
 * by hand, saved with another document or changed by a search may not. Any list accepted here
 * leaves the kernel's values as they are, whatever it does to their speed. */
#include "target/target.h"
#include "actions/actions.h"

bool tile_fixed(const Plan *p, const Facts *f, int r)
{
	int64_t least = least_size(f, r);
	bool whole = count_of(f, 1ull << r) == least && p->tile[r].unroll &&
		least % tile_size(p, r) == 0;
	return p->tile[r].unroll && least >= tile_size(p, r) &&
		((!f->in_place && !f->gated && !(p->peeled >> r & 1)) || whole);
}

bool tile_open(const Plan *p, const Facts *f, int r)
{
	return p->tile[r].unroll && !f->in_place && !f->gated && !(p->peeled >> r & 1) &&
		least_size(f, r) < tile_size(p, r) && count_of(f, 1ull << r) >= tile_size(p, r);
}

/* ---- order */

static int place_in_order(const Plan *p, int r)
{
	for (int i = 0; i < p->norder; i++)
		if (p->order[i] == r)
			return i;
	return -1;
}

/* Every output range, except that of a sort, which is a kernel of its own. */
static bool order_has_all(const Plan *p, const Facts *f)
{
	uint64_t set = 0;
	for (int i = 0; i < p->norder; i++)
		set |= 1ull << p->order[i];
	return !f->sort ? set == f->out :
		f->kernel->nsrc == 1 && set == (f->out & ~bit_of(f->sort->src[1]));
}

/* Serial ranges keep the kernel's order, a scan's range inside all others that it depends on. Where
 * a range stands inside of the scan's, there are no lanes of one that the scan depends on: these
 * would be inside of that too. */
static bool order_keeps(const Plan *p, const Facts *f)
{
	for (int i = 1, last = -1; i <= p->norder; i++) {
		int r = p->order[i - 1];
		if (!(f->serial >> r & 1))
			continue;
		if (r < last)
			return false;
		last = r;
	}
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op != OP_RSCAN)
			continue;
		int at = place_in_order(p, __builtin_ctzll(bit_of(u->src[1])));
		for (int k = at + 1; k < p->norder; k++)
			if (free_of(u) >> p->order[k] & 1 || free_of(u) & tiled_ranges(p))
				return false;
		for (int r = 0; r < f->nrange; r++)
			if (free_of(u) >> r & 1 && p->within[r] > at)
				return false;
	}
	return true;
}

/* Of two pieces of a range that overlap the outer, which has no tiles, stands outside, and the
 * inner within an item: what several items write is then a whole piece. */
static bool overlap_fits(const Plan *p, const Facts *f, const Val *pair, int loops)
{
	int at[2] = {-1, -1};
	for (int k = 0; k < 2 && pair->kind == VAL_ARRAY && pair->n == 2; k++)
		for (int i = 0; i < p->norder; i++)
			if (pair->a[k]->kind == VAL_INT &&
				axis_of(f, p->order[i]) == pair->a[k]->i)
				at[k] = i;
	if (at[0] >= 0 && p->tile[p->order[at[0]]].unroll)
		return false;
	return at[1] < 0 || (at[0] < at[1] && at[1] >= loops);
}

static bool overlaps_fit(const Plan *p, const Facts *f)
{
	const Val *v = val_get(f->kernel->arg, "overlaps");
	int loops = p->mode == PLAN_LOOPS ? p->grid : 0;
	for (size_t i = 0; v && v->kind == VAL_ARRAY && i < v->n; i++)
		if (target->gpu || !overlap_fits(p, f, v->a[i], loops))
			return false;
	return true;
}

/* ---- tiles */

/* Does some loop run in order for the sake of what is stored? A scan's loop has accumulators of its
 * own, for each lane around it. */
static bool serial_but_scans(const Facts *f)
{
	return f->sort || f->serial & ~f->scanned || (f->serial && f->in_place);
}

/* The elements of an inner piece stand side by side, and the last piece has a rest as it is told;
 * or they are a loop. */
static bool pieces_fit(const Plan *p, const Facts *f)
{
	uint64_t blocks = block_ranges(p);
	for (int r = 0; r < f->nrange; r++)
		if (p->piece[r] && !(blocks >> r & 1) && (tile_size(p, r) != p->piece[r] ||
			(p->overlapped >> r & 1 && !tile_fixed(p, f, r) && !tile_open(p, f, r))))
			return false;
	return true;
}

/* Loops over blocks are plain ones, of ranges that may run in any order. */
static bool blocks_fit(const Plan *p, const Facts *f)
{
	uint64_t blocks = block_ranges(p);
	for (int r = 0; r < f->nrange; r++)
		if (blocks >> r & 1 &&
			(p->vector[r] || p->chunk[r] || p->piece[r] > most_size(f, r)))
			return false;
	return !(p->written & ~blocks) && (!blocks || (!f->sort && p->mode != PLAN_GROUP &&
		!(blocks & (f->serial | f->scanned | p->unrolled | p->parted | p->jammed |
			(p->prefetch_loads & f->out) | p->bound))));
}

/* Tiles are of ranges that may run in any order. Vectors are powers of two, at most one tile is in
 * vectors, and that one is innermost; rows of lanes fit registers and row buffers. */
static bool tiles_fit(const Plan *p, const Facts *f)
{
	int64_t size = 1;
	for (int i = 0; i < p->nlanes; i++) {
		int r = p->lanes[i], v = p->tile[r].vector;
		if (p->tile[r].unroll < 1 || v < 1 || v & (v - 1) || f->serial >> r & 1)
			return false;
		if (v > 1 && i + 1 < p->nlanes)
			return false;
		size *= tile_size(p, r);
		if (size > 1 << 16)
			return false;
	}
	if (!p->nlanes)
		return true;
	bool alone = p->mode == PLAN_TILES ? p->tile[p->lanes[p->nlanes - 1]].vector == 1 :
		p->mode == PLAN_LOOPS && !target->gpu;
	return alone && !(tiled_ranges(p) & p->bound) && !serial_but_scans(f);
}

/* A chunk needs tiles whose last one may begin early, and always at least as many of them as it
 * takes: the last chunk begins early too, so what is stored may be stored twice, or chunks are of
 * equally many tiles. */
static bool chunk_fits(const Plan *p, const Facts *f, int r)
{
	int64_t size = tile_size(p, r), least = (least_size(f, r) + size - 1) / size;
	return place_in_order(p, r) >= 0 && tile_fixed(p, f, r) && least >= p->chunk[r] &&
		(!f->in_place || least % p->chunk[r] == 0);
}

/* May items run the loops around what is in order? The rows of a sort are apart. */
static bool items_apart(const Facts *f)
{
	return f->sort ? !f->in_place : !serial_but_scans(f);
}

/* The grid's loops have no tails. */
static bool grid_fits(const Plan *p, const Facts *f)
{
	uint64_t blocks = block_ranges(p);
	for (int r = 0; r < f->nrange; r++)
		if (p->chunk[r] && !chunk_fits(p, f, r))
			return false;
	if (plan_grid(p) > p->norder ||
		(p->grid && (p->mode != PLAN_LOOPS || target->gpu || !items_apart(f))))
		return false;
	for (int i = 0; i < plan_grid(p); i++) {
		int r = p->order[i];
		if (f->serial >> r & 1)
			return false;
		if (p->tile[r].unroll && !tile_fixed(p, f, r) && !tile_open(p, f, r))
			return false;
		if (blocks >> r & 1 && (least_size(f, r) != most_size(f, r) ||
			least_size(f, r) % p->piece[r]))
			return false;
	}
	return true;
}

/* Where a tile is loaded, its destination has a place: the load moves with all ranges of the
 * output. */
bool prefetch_stores_fits(const Plan *p, const Facts *f)
{
	for (int i = 0; p->prefetch_stores && i < p->nstage; i++)
		if (p->stage[i].along && f->out & ~free_of(p->stage[i].value))
			return false;
	return true;
}

/* A reduction's range is a loop around the lanes of tiles, of one iteration at a time or of one of
 * each stream. */
static bool is_plain_fold(const Plan *p, const Facts *f, uint64_t r)
{
	return r && !(r & f->out) && p->nlanes && (p->jam <= 1 || p->apart) &&
		!(r & (block_ranges(p) | p->parted | p->unrolled));
}

bool prefetches_tiles(const Plan *p)
{
	int v = p->nlanes ? p->lanes[p->nlanes - 1] : 0;
	return p->nlanes && p->tile[v].vector > 1 && p->prefetch_loads == 1ull << v;
}

bool prefetch_loads_fits(const Plan *p, const Facts *f)
{
	uint64_t r = p->prefetch_loads;
	Panel n;
	if (!r || p->mode != PLAN_LOOPS)
		return !r;
	return is_plain_fold(p, f, r) || prefetches_tiles(p) ||
		!(r & (~f->out | tiled_ranges(p))) ||
		(p->nlanes && panel_find(p, f, p->lanes[p->nlanes - 1], &n) && 1ull << n.r == r);
}

/* ---- values in row buffers, and transposed */

/* Whether the kernel stores to places that are made of u. Out of memory, they could be any: nothing
 * would show that work items write apart. */
static bool is_stored_at(const Facts *f, const UOp *u)
{
	for (uint32_t i = 0; i < f->kernel->nsrc; i++) {
		Nodes all = walk_brief(f->kernel->src[i]->src[0]);
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k] == u)
				return true;
	}
	return false;
}

/* A value of the kernel's own arithmetic, the same whenever it is computed. A reduction is in
 * registers already. */
bool stage_fits(const Facts *f, const Staged *s)
{
	UOp *u = s->value;
	bool fold = u->op == OP_RREDUCE;
	if ((u->op != OP_LOAD && !fold && !op_elementwise(u->op)) || (fold && !s->over) ||
		s->over & (~free_of(u) | f->serial) || is_stored_at(f, u))
		return false;
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RSCAN || reads_written(f, all.at[i]))
			return false;
	return true;
}

bool stage_shared(const Plan *p, const Staged *s)
{
	return s->over && (p->mode == PLAN_GROUP ||
		(p->mode == PLAN_TILES && !(free_of(s->value) & ~s->over & p->members)));
}

bool digits_even(const Plan *p, const Facts *f, const int *range, int n)
{
	int64_t inner = 1;
	for (int i = n; i-- > 1;) {
		int64_t size = most_size(f, range[i]);
		if (size < 1 || least_size(f, range[i]) != size || !mul_ok(inner, size, &inner) ||
			(p->items % inner && inner % p->items))
			return false;
	}
	return true;
}

/* Room is left in what a group fills together, whose places are sums of plain digits. */
static bool pad_fits(const Plan *p, const Facts *f, const Staged *s)
{
	int range[MAX_RANGES], n = ranges_in(s->over, range);
	return !s->pad || (stage_shared(p, s) && digits_even(p, f, s->dims, s->ndims) &&
		digits_even(p, f, range, n));
}

/* Every range of a buffer has one place in its order. */
static bool dims_fit(const Staged *s)
{
	uint64_t set = 0;
	for (int i = 0; i < s->ndims; i++)
		set |= 1ull << s->dims[i];
	return !s->ndims || (set == s->over && __builtin_popcountll(set) == s->ndims);
}

/* What the items of a group fill together has a place for each element of the tiles of an item, and
 * is of no loop that items run as often as they like. */
static bool shared_fits(const Plan *p, const Facts *f, const Staged *s)
{
	return !(free_of(s->value) & ~s->over & tiled_ranges(p)) &&
		dims_fit(s) && !(f->serial & ~s->over & free_of(s->value));
}

/* A transposed load is of a tile of whole vectors along either range, without tails. No
 * reduction runs over one of them too: its iterations have no lanes of that tile. */
static bool transpose_fits(const Plan *p, const Facts *f, const Staged *s)
{
	uint64_t tiled = free_of(s->value) & tiled_ranges(p);
	int n = tile_size(p, __builtin_ctzll(s->along));
	if (s->value->op != OP_LOAD || !(s->along & tiled & f->out) ||
		tiled & (f->reduced | ~f->out) || n & (n - 1) || n > 64)
		return false;
	for (int r = 0; r < f->nrange; r++)
		if (tiled >> r & 1 && !tile_fixed(p, f, r) && !tile_open(p, f, r))
			return false;
	return true;
}

/* Accumulators in a row buffer stay within an item, and no other loop of their ranges is around
 * them. */
static bool outside_fits(const Plan *p, const Facts *f, const Staged *s)
{
	for (int r = 0; r < f->nrange; r++)
		if (p->chunk[r] && s->over >> r & 1)
			return false;
	for (int i = 0; i < plan_grid(p); i++)
		if (s->over >> p->order[i] & 1)
			return false;
	return p->mode == PLAN_LOOPS && !target->gpu && !(s->outside & f->serial);
}

static bool staged_fit(const Plan *p, const Facts *f)
{
	for (int i = 0; i < p->nstage; i++) {
		const Staged *s = &p->stage[i];
		if (s->outside && !outside_fits(p, f, s))
			return false;
		if (!dims_fit(s) || !pad_fits(p, f, s) || (p->mode == PLAN_TILES &&
			stage_shared(p, s) && !shared_fits(p, f, s)))
			return false;
		if (!(s->along ? transpose_fits(p, f, s) : stage_fits(f, s)) ||
			stage_of(p, s->value) != i)
			return false;
	}
	return plan_bytes(p, f) <= 2 * target->local;
}

static int64_t bytes_of_lanes(const Plan *p, const Facts *f, const UOp *value, uint64_t set)
{
	int64_t bytes = dtype_size(value->dtype);
	for (int r = 0; r < f->nrange; r++)
		if (set >> r & 1 && tile_size(p, r) && !mul_ok(bytes, tile_size(p, r), &bytes))
			return INT64_MAX;
	return bytes;
}

/* A value of each lane in a register, as an accumulator is. */
static bool in_registers(const Staged *s) { return !s->over && !s->along; }

int64_t plan_bytes(const Plan *p, const Facts *f)
{
	int64_t sum = 0;
	for (int i = 0; i < p->nstage; i++) {
		if (in_registers(&p->stage[i]))
			continue;
		const UOp *value = p->stage[i].value;
		uint64_t over = p->stage[i].over;
		int64_t bytes = bytes_of_lanes(p, f, value, free_of(value) & ~over);
		int64_t steps = most_size(f, p->stage[i].dims[0]) * p->stage[i].pad;
		if (!mul_ok(bytes, count_of(f, over) + steps, &bytes) ||
			!add_ok(sum, bytes, &sum))
			return INT64_MAX;
	}
	return sum;
}

/* Accumulators: each reduction has one for every lane around it and every part. */
static bool accumulators_fit(const Plan *p, const Facts *f)
{
	enum { MOST = 1 << 20 };
	int64_t sum = 0;
	for (int i = 0; i < p->nstage; i++) {
		const UOp *u = p->stage[i].value;
		int64_t bytes = in_registers(&p->stage[i]) ?
			bytes_of_lanes(p, f, u, free_of(u)) : 0;
		if (!add_ok(sum, bytes, &sum) || sum > MOST)
			return false;
	}
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		int64_t bytes;
		if (u->op != OP_RREDUCE)
			continue;
		if (!mul_ok(bytes_of_lanes(p, f, u, free_of(u)), p->partial + !p->partial,
			    &bytes) ||
			!add_ok(sum, bytes, &sum) || sum > MOST)
			return false;
	}
	return true;
}

/* ---- work items and groups */

/* Ranges of kinds: each is of one, and a group's items are so many. */
static bool members_fit(const Plan *p, const Facts *f)
{
	return !(p->groups & p->members) && p->bound == (p->groups | p->members) &&
		least_of(f, p->members) == p->items && p->items <= 1024;
}

static bool items_fit(const Plan *p, const Facts *f)
{
	if (p->mode == PLAN_LOOPS)
		return true;
	if (p->mode != PLAN_ITEMS && (f->serial || f->sort))
		return false;
	if (p->mode == PLAN_TILES ? !members_fit(p, f) : p->groups || p->members)
		return false;
	return target->gpu && p->items > 0 && !(p->items & (p->items - 1)) &&
		!(p->bound & ~(f->out & ~f->serial));
}

/* What is written out is bounded: as many copies of a body as these ranges and the elements of
 * tiles have together. */
static bool unrolled_fits(const Plan *p, const Facts *f)
{
	enum { MOST = 1 << 13 };
	int64_t copies = count_of(f, p->unrolled);
	for (int r = 0; r < f->nrange; r++)
		if (p->written >> r & 1 && !mul_ok(copies, p->piece[r], &copies))
			return false;
	for (int i = 0; i < p->nlanes; i++)
		if (!mul_ok(copies, tile_size(p, p->lanes[i]), &copies))
			return false;
	return !(p->unrolled | p->written) ||
		(least_of(f, p->unrolled) == count_of(f, p->unrolled) &&
			!(p->unrolled & (p->bound | tiled_ranges(p))) && copies <= MOST);
}

static bool partial_fits(const Plan *p, const Facts *f) { return !(p->partial & (p->partial - 1)); }

/* Components of a tuple are folded together, so all of them are staged, over the same ranges, or
 * none. */
static bool tuples_fit(const Plan *p, const Facts *f)
{
	for (int i = 0; i < p->nstage; i++) {
		UOp *u = p->stage[i].value;
		for (uint32_t k = 0; folds_tuple(u) && k < tuple_size(u->src[0]); k++) {
			int other = stage_of(p, fold_component(u, k));
			if (other < 0 || p->stage[other].over != p->stage[i].over ||
				p->stage[other].outside != p->stage[i].outside)
				return false;
		}
	}
	return true;
}

const char *plan_misfit(const Plan *p, const Facts *f)
{
	static const struct {
		bool (*fits)(const Plan *p, const Facts *f);
		const char *why;
	} check[] = {
		{pieces_fit,
			"elements of the inner piece of a split are not all side by side, or the "
			"last piece cannot begin early"},
		{blocks_fit,
			"of a range that is peeled both pieces are plain loops, which no items "
			"of a GPU share"},
		{order_has_all, "its order does not have each output range"},
		{order_keeps, "loops that are serial, or of a scan, are out of their order"},
		{overlaps_fit,
			"of pieces that overlap the outer has no tile and stands outside, "
			"the inner is not in the grid, and no GPU's items share them"},
		{unrolled_fits,
			"what is written out has no known size, another kind or a tile, or is "
			"more than 8192 copies with the elements of its tiles"},
		{partial_fits, "partial accumulators are a power of two"},
		{items_fit, "its items are not those of a GPU's grid"},
		{tiles_fit,
			"its tiles are not of ranges that may run in any order, of a power of "
			"two for the last, and of 65536 elements at most"},
		{staged_fit,
			"a value that is staged, transposed or accumulated cannot be, or takes "
			"too much memory"},
		{tuples_fit, "it stages some components of a tuple, and not others beside them"},
		{accumulators_fit, "its accumulators take too much memory"},
		{grid_fits,
			"its grid has more loops than there are, or tiles whose last cannot "
			"begin early, or what is peeled"},
		{prefetch_stores_fits,
			"the places of its stores are not known where it transposes"},
		{prefetch_loads_fits, "what it prefetches is no loop of the output"},
	};
	for (size_t i = 0; i < sizeof check / sizeof *check; i++)
		if (!check[i].fits(p, f))
			return check[i].why;
	return NULL;
}
