/* The scopes around the STOREs: loops over the output ranges on a CPU, places in the grid on a GPU.
 *
 *     LOOPS   kernel ⊃ for r0 ⊃ for r1                        STOREs in the last
 *             kernel ⊃ for tiles of r0 ⊃ of r1 ⊃ lanes        a tail beside the tiles, or the last
 *                                                             one begins early enough to fit
 *             kernel ⊃ item of the grid ⊃ …                   the same, outer loops run by threads
 *     ITEMS   kernel ⊃ if in the grid ⊃ for serial ranges     one item an element
 *     GROUP   kernel ⊃ group ⊃ for every 128th of the rest    one group a row
 *     TILES   kernel ⊃ group ⊃ item ⊃ for tiles … ⊃ lanes     ranges of each kind, as listed
 */
#include "shape/shape.h"
#include "target/target.h"
#include "lower/lower.h"

static UOp *special(const char *kind, int dim, UOp *size)
{
	return NODE(OP_SPECIAL, DT_I64, val_str(arena_printf("%s%d", kind, dim)), size);
}

static UOp *size_of(const Lowering *l, int r) { return l->facts.range[r]->src[0]; }

static UOp *flat_size(const Lowering *l, const int *range, int n)
{
	UOp *total = ix_const(1);
	for (int i = 0; i < n; i++)
		total = ix_mul(total, size_of(l, range[i]));
	return total;
}

/* ---- grid */

typedef struct { UOp *groups[3], *items[3]; int n; } Grid;

static UOp *ceil_div(UOp *a, int b) { return ix_div(ix_add(a, ix_const(b - 1)), ix_const(b)); }

/* One dimension of the grid: defines its counter as a LET in s; *guard says whether it may exceed
 * size. */
static UOp *grid_dim(Lowering *l, Scope *s, Grid *g, UOp *size, int items, UOp **guard)
{
	int d = g->n++;
	int64_t rest;
	g->groups[d] = ceil_div(size, items);
	g->items[d] = ix_const(items);
	UOp *at = special("gidx", d, g->groups[d]);
	if (items > 1) {
		at = ix_add(ix_mul(at, ix_const(items)), special("lidx", d, g->items[d]));
		at = NODE(OP_LET, DT_I64, val_int(l->ids++), at);
		vec_push(&s->pre, at);
	}
	if (!ix_is_const(ix_mod(size, ix_const(items)), &rest) || rest)
		*guard = ix_lt(at, size);
	return at;
}

/* A dimension other than the first has at most 65535 groups. */
static bool fits_dims(const Lowering *l, const int *range, int n)
{
	int64_t inner = count_of(&l->facts, 1ull << range[n - 1]);
	if (n > target->dims || n == 1 || inner < 32)
		return false;
	for (int i = 0; i < n - 1; i++)
		if (count_of(&l->facts, 1ull << range[i]) > 65535)
			return false;
	return true;
}

static const Val *sizes_val(UOp *const *size, int n)
{
	const Val *v[3];
	for (int i = 0; i < n; i++)
		v[i] = size_to_val(size[i]);
	return val_array(n, v);
}

/* Grid counters for the ranges in set over up to target->dims dimensions, with `items` work items
 * in the first. Puts them into s->at; returns the guard (NULL: none is needed). */
static UOp *grid_bind(Lowering *l, Scope *s, uint64_t set, int items)
{
	int range[MAX_RANGES], n = ranges_in(set, range);
	UOp *guard = NULL;
	Grid g = {0};
	if (n && fits_dims(l, range, n)) {
		for (int i = n; i-- > 0;)
			s->at[range[i]] = grid_dim(
				l, s, &g, size_of(l, range[i]), i == n - 1 ? items : 1, &guard);
	} else {
		UOp *flat = grid_dim(l, s, &g, flat_size(l, range, n), items, &guard);
		unflatten(l, s, range, n, flat);
	}
	l->global = sizes_val(g.groups, g.n);
	l->local = sizes_val(g.items, g.n);
	return guard;
}

/* ---- the chain of scopes */

static Scope *chain(Scope *outer, Scope *s)
{
	outer->inner[outer->ninner++] = s;
	return s;
}

static Scope *loop_over(Lowering *l, Scope *in, int r)
{
	UOp *range = l->facts.range[r];
	if (l->plan.unrolled >> r & 1)
		range = scope_range(l, in, range->src[0], "unroll");
	Scope *s = chain(in, scope_new(l, in, 1ull << r, range));
	s->at[r] = range;
	return s;
}

/* ---- tiles: several elements of a range side by side */

int vector_lanes(int n, DType d)
{
	int most = target->vector / (dtype_size(d) < 4 ? 4 : (int)dtype_size(d)), lanes = 1;
	while (lanes * 2 <= most && n % (lanes * 2) == 0)
		lanes *= 2;
	return lanes;
}

static bool is_open(const Lowering *l, int r) { return tile_open(&l->plan, &l->facts, r); }

static bool overlaps(const Lowering *l, int r)
{
	return tile_fixed(&l->plan, &l->facts, r) || is_open(l, r);
}

static bool divides(UOp *size, int n)
{
	int64_t rest;
	return ix_is_const(ix_mod(size, ix_const(n)), &rest) && !rest;
}

static UOp *tile_count(const Lowering *l, int r, bool overlap)
{
	int n = tile_size(&l->plan, r);
	UOp *size = size_of(l, r);
	return overlap ? ceil_div(size, n) : ix_div(size, ix_const(n));
}

/* 1 where a symbolic size has at least a whole tile, else 0 */
static UOp *has_tile(const Lowering *l, int r)
{
	UOp *whole = ix_div(size_of(l, r), ix_const(tile_size(&l->plan, r)));
	return NODE(OP_MIN, DT_I64, VNIL, whole, ix_const(1));
}

/* the number of elements where there is no whole tile, else 0 */
static UOp *without_tile(const Lowering *l, int r)
{
	return ix_mul(size_of(l, r), ix_sub(ix_const(1), has_tile(l, r)));
}

/* min(index, most), as a value of its own in s */
static UOp *at_most(Lowering *l, Scope *s, UOp *index, UOp *most)
{
	UOp *v = NODE(OP_LET, DT_I64, val_int(l->ids++), NODE(OP_MIN, DT_I64, VNIL, index, most));
	vec_push(&s->pre, v);
	return v;
}

static void start_at(Scope *s, int r, UOp *first, Tile tile)
{
	if (!s->start)
		s->start = arena_alloc(MAX_RANGES * sizeof *s->start);
	s->starts |= 1ull << r;
	s->start[r] = (Start){first, tile};
}

static void start_tile(Lowering *l, Scope *s, int r, UOp *index, bool overlap)
{
	int n = tile_size(&l->plan, r);
	UOp *first = ix_mul(index, ix_const(n));
	if (overlap && !divides(size_of(l, r), n))
		first = at_most(l, s, first, ix_sub(size_of(l, r), ix_const(n)));
	start_at(s, r, first, l->plan.tile[r]);
}

static Scope *counted_as(Lowering *l, Scope *in, UOp *count, const char *kind)
{
	int64_t n;
	bool one = ix_is_const(count, &n) && n == 1;
	return scope_new(l, in, 0, one ? NULL : scope_range(l, in, count, kind));
}

static Scope *counted(Lowering *l, Scope *in, UOp *count)
{
	return counted_as(l, in, count, "loop");
}

static UOp *counter_of(const Scope *s) { return s->open ? s->open : ix_const(0); }

/* The two parts of a symbolic size: all tiles, or the tile of this iteration of the grid; and as
 * many single elements as remain. */
static int open_parts(Lowering *l, Scope *in, int r, UOp *tile, Scope *last[2])
{
	last[0] = counted(
		l, in, tile ? has_tile(l, r) : ix_mul(tile_count(l, r, true), has_tile(l, r)));
	start_tile(l, last[0], r, tile ? tile : counter_of(last[0]), true);
	last[1] = counted(l, in, without_tile(l, r));
	start_at(last[1], r, counter_of(last[1]), (Tile){1, 1});
	return 2;
}

int open_tiles(Lowering *l, Scope *in, int r, UOp *from, bool once, Scope *last[2])
{
	int n = 0;
	int64_t rest, known;
	bool overlap = !once && overlaps(l, r);
	UOp *count = tile_count(l, r, overlap), *size = size_of(l, r);
	UOp *done = ix_mul(count, ix_const(tile_size(&l->plan, r)));
	if (!once && is_open(l, r))
		return open_parts(l, in, r, NULL, last);
	if (from)
		count = ix_const(l->plan.chunk[r]);
	if (!ix_is_const(count, &known) || known) {
		Scope *s = last[n++] = counted(l, in, count);
		start_tile(l, s, r, from ? ix_add(from, counter_of(s)) : counter_of(s), overlap);
	}
	UOp *left = ix_sub(size, done);
	if (!overlap && (!ix_is_const(left, &rest) || rest)) {
		Scope *s = last[n++] = counted(l, in, left);
		start_at(s, r, ix_add(done, counter_of(s)), (Tile){1, 1});
	}
	return n;
}

/* ---- blocks: a loop over them, then what is left */

static void start_block(Scope *s, int r, UOp *first, UOp *size)
{
	if (!s->block)
		s->block = arena_alloc(MAX_RANGES * sizeof *s->block);
	s->blocks |= 1ull << r;
	s->block[r] = (Block){first, size};
}

int open_blocks(Lowering *l, Scope *in, int r, const char *kind, Scope *last[2])
{
	int n = 0;
	int64_t rest;
	UOp *each = ix_const(l->plan.piece[r]), *size = size_of(l, r);
	UOp *count = ix_div(size, each), *done = ix_mul(count, each), *left = ix_sub(size, done);
	last[n] = counted_as(l, in, count, kind);
	start_block(last[n], r, ix_mul(counter_of(last[n]), each), each);
	n++;
	if (!ix_is_const(left, &rest) || rest) {
		last[n] = counted(l, in, ix_const(1));
		start_block(last[n++], r, done, left);
	}
	return n;
}

Scope *open_block(Lowering *l, Scope *in, int r, const char *kind)
{
	const Scope *s = in;
	int64_t known;
	while (!(s->blocks >> r & 1))
		s = s->parent;
	const Block *b = &s->block[r];
	bool unroll = l->plan.written >> r & 1 && ix_is_const(b->size, &known);
	UOp *range = scope_range(l, in, b->size, unroll ? "unroll" : kind);
	Scope *inner = scope_new(l, in, 1ull << r, range);
	inner->at[r] = ix_add(b->first, range);
	return inner;
}

/* ---- lanes */

static Scope *lane_scope(Lowering *l, Scope *in, Scope *base, int n, const char *kind)
{
	Scope *s = scope_new(l, in, 0, n > 1 ? scope_range(l, in, ix_const(n), kind) : NULL);
	s->base = base;
	return s;
}

static void lane_bind(Scope *s, int r, const Start *start, UOp *lane)
{
	s->lane = arena_alloc(MAX_RANGES * sizeof *s->lane);
	s->binds |= 1ull << r;
	s->at[r] = ix_add(start->first, lane);
	s->lane[r] = lane;
}

/* The lanes of a tile when the vectors run along the range `along`. */
static Tile lane_tile(Tile t, bool is_along)
{
	int n = t.unroll * t.vector;
	return is_along ? (Tile){1, n} : (Tile){n, 1};
}

Scope *open_lanes(Lowering *l, Scope *in, Scope *base, uint64_t set, uint64_t along, Scope **first)
{
	enum { UNROLL_MOST = 32 };
	int n = l->plan.nlanes;
	*first = NULL;
	for (int i = 0; i < 2 * n; i++) {
		int r = l->plan.lanes[i % n];
		if (!(set >> r & 1) || (along >> r & 1) != i / n)
			continue;
		const Start *start = scope_start(base, r);
		Tile t = along ? lane_tile(start->tile, i / n) : start->tile;
		UOp *lane = ix_const(0);
		for (int part = 0; part < 2; part++) {
			int n = part ? t.vector : t.unroll;
			if (part ? n == 1 : n == 1 && t.vector > 1)
				continue;
			Scope *s = lane_scope(l, in, base, n,
				part ? "vector" : n > UNROLL_MOST ? "loop" : "unroll");
			if (*first)
				in->inner[in->ninner++] = s;
			else
				*first = s;
			lane = ix_add(lane, ix_mul(counter_of(s), ix_const(part ? 1 : t.vector)));
			in = s;
		}
		lane_bind(in, r, start, lane);
	}
	return in;
}

/* ---- the loops of the output, outermost first: chunks of tiles, tiles, or single elements */

typedef struct {
	PlanLoop level[3 * MAX_RANGES];
	UOp *iteration[3 * MAX_RANGES]; /* of the levels that the grid has */
	int n;
	Scope **last;
	int nlast;
} Chain;

static Chain levels_of(const Lowering *l, Scope **last)
{
	Chain c = {.last = last};
	PlanLoop level[3 * MAX_RANGES];
	int n = plan_loops(&l->plan, level);
	for (int i = 0; i < n; i++)
		if (level[i].what == CHUNKS || !(l->plan.bound >> level[i].r & 1))
			c.level[c.n++] = level[i];
	return c;
}

static UOp *level_count(const Lowering *l, PlanLoop v)
{
	if (v.what == SINGLES)
		return size_of(l, v.r);
	if (v.what == BLOCKS)
		return ix_div(size_of(l, v.r), ix_const(l->plan.piece[v.r]));
	if (v.what == CHUNKS)
		return ceil_div(tile_count(l, v.r, overlaps(l, v.r)), l->plan.chunk[v.r]);
	return l->plan.chunk[v.r] ? ix_const(l->plan.chunk[v.r]) :
				    tile_count(l, v.r, overlaps(l, v.r));
}

/* Gives the level's range its place in s, from the number of its iteration. */
static void level_enter(Lowering *l, Scope *s, PlanLoop v, UOp *index)
{
	int c = l->plan.chunk[v.r];
	if (v.what == SINGLES) {
		s->binds |= 1ull << v.r;
		s->at[v.r] = index;
	} else if (v.what == BLOCKS) {
		UOp *each = ix_const(l->plan.piece[v.r]);
		start_block(s, v.r, ix_mul(index, each), each);
	} else if (v.what == CHUNKS) {
		UOp *tiles = tile_count(l, v.r, overlaps(l, v.r)),
		    *first = ix_mul(index, ix_const(c));
		l->chunk[v.r] = divides(tiles, c) ? first :
			at_most(l, s, first, ix_sub(tiles, ix_const(c)));
	} else if (!is_open(l, v.r)) {
		start_tile(l, s, v.r, c ? ix_add(l->chunk[v.r], index) : index, overlaps(l, v.r));
	}
}

/* Is the scope in a tile of the range in vectors, not in what tiles leave? */
static bool in_vectors(const Lowering *l, const Scope *s)
{
	int v = l->plan.lanes[l->plan.nlanes - 1];
	while (s && !((s->starts | s->binds) >> v & 1))
		s = s->parent;
	return s && s->starts >> v & 1 && s->start[v].tile.vector > 1;
}

static void open_levels(Lowering *l, Scope *in, Chain *c, int i)
{
	if (i == c->n) {
		Scope *first,
			*s = open_lanes(
				l, in, in, tiled_ranges(&l->plan) & l->facts.out, 0, &first);
		if (first)
			chain(in, first);
		in->prefetch_loads = prefetches_tiles(&l->plan) && in_vectors(l, in);
		if (c->nlast == MAX_LAST)
			die(UNSUPPORTED, "a kernel with so many tails of tiles");
		c->last[c->nlast++] = s;
		return;
	}
	PlanLoop v = c->level[i];
	Scope *part[2];
	int parts = 1;
	if (v.what == TILES) {
		parts = open_tiles(
			l, in, v.r, l->plan.chunk[v.r] ? l->chunk[v.r] : NULL, false, part);
	} else if (v.what == SINGLES) {
		open_levels(l, loop_over(l, in, v.r), c, i + 1);
		return;
	} else if (v.what == BLOCKS) {
		parts = open_blocks(l, in, v.r, "loop", part);
	} else if (v.what == IN_BLOCK) {
		part[0] = open_block(l, in, v.r, "loop");
	} else {
		part[0] = counted(l, in, level_count(l, v));
		level_enter(l, part[0], v, counter_of(part[0]));
	}
	for (int k = 0; k < parts; k++)
		open_levels(l, chain(in, part[k]), c, i + 1);
}

/* The outermost levels as the items of a grid of one dimension. */
static Scope *open_grid(Lowering *l, Chain *c)
{
	UOp *total = ix_const(1), *size[3 * MAX_RANGES];
	Scope *s = chain(l->top, scope_new(l, l->top, 0, NULL));
	for (int i = 0; i < l->plan.grid; i++)
		total = ix_mul(total, size[i] = level_count(l, c->level[i]));
	UOp *flat = special("gidx", 0, total);
	for (int i = l->plan.grid; i-- > 0;) {
		UOp *at = i ? ix_mod(flat, size[i]) : flat;
		int64_t known;
		if (l->plan.grid > 1 && !ix_is_const(at, &known) && at->op != OP_SPECIAL) {
			at = NODE(OP_LET, DT_I64, val_int(l->ids++), at);
			vec_push(&s->pre, at);
		}
		flat = i ? ix_div(flat, size[i]) : flat;
		c->iteration[i] = at;
	}
	/* a chunk before its tiles */
	for (int i = 0; i < l->plan.grid; i++)
		level_enter(l, s, c->level[i], c->iteration[i]);
	l->global = VARR(size_to_val(total));
	return s;
}

/* The parts of the grid's levels of symbolic sizes, from the i-th on, and the levels below them. */
static void open_below(Lowering *l, Scope *in, Chain *c, int i)
{
	Scope *part[2];
	while (i < l->plan.grid && (c->level[i].what != TILES || !is_open(l, c->level[i].r)))
		i++;
	if (i == l->plan.grid) {
		open_levels(l, in, c, i);
		return;
	}
	open_parts(l, in, c->level[i].r, c->iteration[i], part);
	for (int k = 0; k < 2; k++)
		open_below(l, chain(in, part[k]), c, i + 1);
}

static int open_plain(Lowering *l, Scope *in, Scope **last)
{
	Chain c = levels_of(l, last);
	open_below(l, l->plan.grid ? open_grid(l, &c) : in, &c, 0);
	return c.nlast;
}

static int open_items(Lowering *l, Scope **last)
{
	Scope *s = l->top;
	UOp *guard = grid_bind(l, s, l->plan.bound, l->plan.items);
	if (guard) {
		Scope *in = chain(s, scope_new(l, s, 0, NODE(OP_IF, DT_NONE, VNIL, guard)));
		memcpy(in->at, s->at, MAX_RANGES * sizeof *s->at);
		s = in;
	}
	s->binds = l->plan.bound;
	return open_plain(l, s, last);
}

static int open_rows(Lowering *l, Scope **last)
{
	Scope *s = l->shared = l->top;
	grid_bind(l, s, l->plan.bound, 1);
	s->binds = l->plan.bound;
	l->local = VARR(val_int(l->plan.items));
	if (l->global->n > 1)
		l->local = l->global->n == 2 ? VARR(val_int(l->plan.items), val_int(1)) :
			VARR(val_int(l->plan.items), val_int(1), val_int(1));
	l->lidx = special("lidx", 0, ix_const(l->plan.items));
	int range[MAX_RANGES], rest = ranges_in(l->facts.out & ~l->plan.bound, range);
	Scope *first;
	if (rest) {
		last[0] = open_strided(l, s, range, rest, &first, NULL);
		chain(s, first);
	} else {
		UOp *one = ix_lt(l->lidx, ix_const(1));
		last[0] = chain(s, scope_new(l, s, 0, NODE(OP_IF, DT_NONE, VNIL, one)));
	}
	return 1;
}

/* The ranges of set in the order of the plan; returns how many. */
static int ordered(const Plan *p, uint64_t set, int *range)
{
	int n = 0;
	for (int i = 0; i < p->norder; i++)
		if (set >> p->order[i] & 1)
			range[n++] = p->order[i];
	return n;
}

/* Ranges that are groups have their values in the scope of the group, those that are items in one
 * within. */
static int open_members(Lowering *l, Scope **last)
{
	int range[MAX_RANGES], n = ordered(&l->plan, l->plan.groups, range);
	Scope *s = l->shared = l->top;
	UOp *groups = flat_size(l, range, n);
	unflatten(l, s, range, n, special("gidx", 0, groups));
	s->binds = l->plan.groups;
	l->global = VARR(size_to_val(groups));
	l->local = VARR(val_int(l->plan.items));
	l->lidx = special("lidx", 0, ix_const(l->plan.items));
	s = chain(s, scope_new(l, s, l->plan.members, NULL));
	n = ordered(&l->plan, l->plan.members, range);
	unflatten(l, s, range, n, l->lidx);
	return open_plain(l, s, last);
}

int loops_open(Lowering *l, Scope *last[MAX_LAST])
{
	l->top = scope_new(l, NULL, 0, NULL);
	int n = l->plan.mode == PLAN_ITEMS ? open_items(l, last) :
		l->plan.mode == PLAN_GROUP ? open_rows(l, last) :
		l->plan.mode == PLAN_TILES ? open_members(l, last) :
		open_plain(l, l->top, last);
	for (int i = 0; i < n; i++)
		last[i]->last = true;
	return n;
}
