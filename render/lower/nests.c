/* The loops of reductions and row buffers.  Reductions over the same ranges in one scope and phase
 * share a Nest:
 *
 *     FOLD    for k: acc = op(acc, body)
 *       lanes   for k: for m<8, n<48: acc[m,n] = op(acc[m,n], body at element m,n of the tile)
 *       split   for kb: for l<16: acc[l] = op(acc[l], body at kb*16+l); the same once for each of
 *               the halves of 16 that the rest is made of, and a tail; then one of the 16
 *       jam     for kb: for n<48: for j<4: acc[n] = op(acc[n], body at kb*4+j)
 *       apart   the same, body at kb + j*(k/4)
 *     GROUP   each item of a work group takes every 128th k; then a tree over local memory
 *     STAGE   for j, in tiles of its own: for m<8: buf[m,j] = value
 *       outside for j: buf[j] = 0; for ko: for j: buf[j] = value, which is a
 *     PART    acc[m] = buf[j+m] for the lanes; for ki: acc[m] = op(acc[m], body)
 */
#include "lower/lower.h"
#include "index/ix.h"
#include "target/target.h"

/* Is range r already bound to a counter around s? Then a loop inside needs a counter of its own. */
static bool open_around(const Scope *s, uint64_t bit)
{
	for (; s; s = s->parent)
		if (s->binds & bit)
			return true;
	return false;
}

static Scope *open_loop(Lowering *l, Scope *in, int r)
{
	UOp *range = l->facts.range[r];
	if (l->plan.unrolled >> r & 1)
		range = scope_range(l, in, range->src[0], "unroll");
	else if (open_around(in, 1ull << r))
		range = scope_range(l, in, range->src[0], "reduce");
	Scope *s = scope_new(l, in, 1ull << r, range);
	s->at[r] = range;
	return s;
}

static void add_inner(Nest *n, Scope *outer, Scope *s)
{
	if (outer)
		outer->inner[outer->ninner++] = s;
	else
		n->first[n->nfirst++] = s;
}

static void innermost(Nest *n, Scope *s)
{
	if (n->ninner == MAX_LAST)
		die(UNSUPPORTED, "a kernel with so many tails of tiles");
	s->nest = n;
	n->inner[n->ninner++] = s;
}

static int last_range(uint64_t set) { return 63 - __builtin_clzll(set); }

static int parted_range(const Lowering *l, uint64_t over)
{
	return partial_range(&l->plan, &l->facts, over, l->plan.parted);
}

/* One of the loops of a reduction, with the lanes of the tiles around it. The main part runs in
 * blocks of several iterations, the rest one iteration at a time. */
static Scope *fold_lanes(Lowering *l, Nest *n, Scope *outer)
{
	Scope *at = outer ? outer : n->at, *first;
	Scope *in = open_lanes(l, at, at, n->lanes, n->along, &first);
	if (first)
		add_inner(n, outer, first);
	return first ? in : outer;
}

/* Iterations side by side, of which the first is `from` and the others follow at this step: in a
 * split each has its own accumulator, in vectors; in a jam they share one. */
static void fold_block(
	Lowering *l, Nest *n, Scope *in, int r, UOp *from, UOp *step, int iterations)
{
	int lanes = n->partial ? vector_lanes(iterations, n->element) : 1;
	UOp *part = ix_const(0);
	if (iterations > lanes) {
		UOp *count = ix_const(iterations / lanes);
		Scope *s = scope_new(l, in, 0, scope_range(l, in, count, "unroll"));
		in = in->inner[in->ninner++] = s;
		part = ix_mul(s->open, ix_const(lanes));
	}
	if (lanes > 1) {
		Scope *s = scope_new(l, in, 0, scope_range(l, in, ix_const(lanes), "vector"));
		in = in->inner[in->ninner++] = s;
		part = ix_add(part, s->open);
	}
	in->binds |= 1ull << r;
	in->at[r] = ix_add(from, ix_mul(part, step));
	in->parts = iterations;
	in->part = part;
	innermost(n, in);
}

/* Iterations of a block are neighbours, or as far apart as there are blocks. */
static void fold_main(Lowering *l, Nest *n, Scope *outer, int r, UOp *blocks, int iterations)
{
	Scope *at = outer ? outer : n->at;
	Scope *block = scope_new(l, at, 0, scope_range(l, at, blocks, "reduce"));
	bool apart = !n->partial && l->plan.apart;
	add_inner(n, outer, block);
	block->prefetch_loads = apart && n->lanes && l->plan.prefetch_loads >> r & 1;
	fold_block(l, n, fold_lanes(l, n, block), r,
		apart ? block->open : ix_mul(block->open, ix_const(iterations)),
		apart ? blocks : ix_const(1), iterations);
}

static void fold_rest(Lowering *l, Nest *n, Scope *outer, int r, UOp *done, UOp *rest)
{
	Scope *at = outer ? outer : n->at;
	Scope *s = scope_new(l, at, 1ull << r, scope_range(l, at, rest, "reduce"));
	s->at[r] = ix_add(done, s->open);
	add_inner(n, outer, s);
	s = fold_lanes(l, n, s);
	s->parts = 1;
	s->part = ix_const(0);
	innermost(n, s);
}

/* What is left of a split after its blocks: halves of a block, of halves …, as far as they are
 * vectors. Returns the number of iterations that are left then. */
static int64_t fold_halves(
	Lowering *l, Nest *n, Scope *outer, int r, UOp **done, int64_t rest, int iterations)
{
	Scope *at = outer ? outer : n->at;
	for (int half = iterations / 2; vector_lanes(half, n->element) > 1; half /= 2) {
		if (rest < half)
			continue;
		Scope *s = scope_new(l, at, 0, NULL);
		add_inner(n, outer, s);
		fold_block(l, n, fold_lanes(l, n, s), r, *done, ix_const(1), half);
		*done = ix_add(*done, ix_const(half));
		rest -= half;
	}
	return rest;
}

/* r: the range that runs in blocks, or -1 */
static void open_fold(Lowering *l, Nest *n, Scope *outer, int r, int iterations)
{
	int64_t rest;
	if (r < 0) {
		if (!outer && !n->lanes)
			add_inner(n, NULL, outer = scope_new(l, n->at, 0, NULL));
		else if (outer)
			outer->prefetch_loads = l->plan.prefetch_loads && n->lanes &&
				!prefetches_tiles(&l->plan) && !l->plan.apart;
		innermost(n, fold_lanes(l, n, outer));
		return;
	}
	UOp *size = l->facts.range[r]->src[0], *by = ix_const(iterations);
	UOp *blocks = ix_div(size, by), *tail = ix_mod(size, by), *done = ix_mul(blocks, by);
	fold_main(l, n, outer, r, blocks, iterations);
	if (n->partial && ix_is_const(tail, &rest))
		tail = ix_const(fold_halves(l, n, outer, r, &done, rest, iterations));
	if (!ix_is_const(tail, &rest) || rest)
		fold_rest(l, n, outer, r, done, tail);
}

/* The loops that fill a row buffer: tiles of its own ranges, which may overlap since both write the
 * same values; the lanes of all tiles innermost. */
static void open_stage(Lowering *l, Nest *n, Scope *outer, uint64_t left, uint64_t lanes)
{
	Scope *at = outer ? outer : n->at, *last[2], *first;
	if (!left) {
		if (!outer && !lanes)
			add_inner(n, NULL, outer = scope_new(l, n->at, 0, NULL));
		Scope *in = open_lanes(l, at, at, lanes, n->along, &first);
		if (first)
			add_inner(n, outer, first);
		innermost(n, first ? in : outer);
		return;
	}
	int r = __builtin_ctzll(left), parts = 1;
	if (l->plan.tile[r].unroll)
		parts = open_tiles(l, at, r, NULL, n->outside != 0, last);
	else
		last[0] = open_loop(l, at, r);
	for (int i = 0; i < parts; i++) {
		add_inner(n, outer, last[i]);
		bool tiled = last[i]->starts >> r & 1;
		last[i]->prefetch_loads = tiled && !n->along && !prefetches_tiles(&l->plan) &&
			open_around(at, l->plan.prefetch_loads);
		/* what a reduction before has read is near */
		last[i]->prefetch_rows = tiled && !n->along && n->phase &&
			l->plan.prefetch_stores;
		open_stage(l, n, last[i], left & (left - 1), lanes | (tiled ? 1ull << r : 0));
	}
}

/* What the loops of a nest are around: of a fold, the range that runs in blocks, or -1. */
typedef struct { int r, iterations; } Inside;

/* The loops of a nest within `outer` (NULL: all), and what they are around. */
static void open_loops(
	Lowering *l, Nest *n, Scope *outer, const PlanLoop *loop, int count, Inside inside)
{
	Scope *at = outer ? outer : n->at, *part[2];
	int parts = 1;
	if (!count && n->kind == NEST_STAGE)
		open_stage(l, n, outer, n->over, n->lanes);
	else if (!count)
		open_fold(l, n, outer, inside.r, inside.iterations);
	if (!count)
		return;
	if (loop->what == BLOCKS)
		parts = open_blocks(l, at, loop->r, "reduce", part);
	else
		part[0] = loop->what == IN_BLOCK ? open_block(l, at, loop->r, "reduce") :
			open_loop(l, at, loop->r);
	for (int i = 0; i < parts; i++) {
		add_inner(n, outer, part[i]);
		open_loops(l, n, part[i], loop + 1, count - 1, inside);
	}
}

/* The loops over the ranges of set. A part is within the blocks of those outside. */
static void open_over(Lowering *l, Nest *n, uint64_t set, Inside inside)
{
	PlanLoop loop[2 * MAX_RANGES];
	uint64_t blocks = block_ranges(&l->plan) & set;
	int count = fold_loops(&l->plan, set, blocks & ~n->inside,
		n->kind == NEST_STAGE ? 0 : blocks, loop);
	open_loops(l, n, NULL, loop, count, inside);
}

void unflatten(Lowering *l, Scope *s, const int *range, int n, UOp *flat)
{
	for (int i = n; i-- > 0;) {
		UOp *size = l->facts.range[range[i]]->src[0];
		s->at[range[i]] = i ? ix_mod(flat, size) : flat;
		flat = ix_div(flat, size);
	}
}

/* How many elements side by side an item takes: as many as the target's items move at once, where
 * the innermost of the ranges is contiguous in a buffer, and all items still have some. */
static int elements_each(const Lowering *l, int r, UOp *total)
{
	const Facts *f = &l->facts;
	int64_t n, rest;
	int each = 0;
	for (size_t i = 0; i < f->all.n && target->access; i++) {
		const UOp *u = f->all.at[i];
		if ((u->op != OP_LOAD && u->op != OP_STORE) || movement_of(f, u, r) != NEXT)
			continue;
		int fit = target->access / dtype_size(u->src[0]->dtype);
		each = each && each < fit ? each : fit;
	}
	if (!ix_is_const(total, &n))
		return 1;
	while (each > 1 && (n < (int64_t)each * l->plan.items ||
		!ix_is_const(ix_mod(f->range[r]->src[0], ix_const(each)), &rest) || rest))
		each /= 2;
	return each > 1 ? each : 1;
}

Scope *open_strided(
	Lowering *l, Scope *in, const int *range, int n, Scope **first, UOp **number)
{
	UOp *total = ix_const(1), *items = ix_const(l->plan.items);
	int64_t rest;
	for (int i = 0; i < n; i++)
		total = ix_mul(total, l->facts.range[range[i]]->src[0]);
	int each = n ? elements_each(l, range[n - 1], total) : 1;
	total = ix_div(total, ix_const(each));
	UOp *rounds = ix_div(ix_add(total, ix_sub(items, ix_const(1))), items);
	Scope *s = *first = scope_new(l, in, 0, scope_range(l, in, rounds, "reduce"));
	s->shares = true;
	UOp *flat = ix_add(ix_mul(s->open, items), l->lidx);
	if (!ix_is_const(ix_mod(total, items), &rest) || rest) {
		UOp *guard = NODE(OP_IF, DT_NONE, VNIL, ix_lt(flat, total));
		s = s->inner[s->ninner++] = scope_new(l, s, 0, guard);
	}
	if (each > 1) {
		UOp *k = scope_range(l, s, ix_const(each), "unroll");
		s = s->inner[s->ninner++] = scope_new(l, s, 0, k);
		flat = ix_add(ix_mul(flat, ix_const(each)), k);
	}
	for (int i = 0; i < n; i++)
		s->binds |= 1ull << range[i];
	unflatten(l, s, range, n, flat);
	if (number)
		*number = flat;
	return s;
}

static int moving(const UOp *u, uint64_t over)
{
	return u->op == OP_LOAD ? __builtin_popcountll(free_of(u) & over) : 0;
}

/* How far one step of r moves the place of a load of the value, of those that move with most of the
 * ranges; INT64_MAX: by no fixed step. */
static int64_t step_of(const Lowering *l, UOp *value, uint64_t over, int r)
{
	Nodes all = walk_brief(value);
	int64_t least = INT64_MAX;
	int most = 1;
	for (size_t i = 0; i < all.n; i++)
		most = moving(all.at[i], over) > most ? moving(all.at[i], over) : most;
	for (size_t i = 0; i < all.n; i++) {
		Sum s;
		if (moving(all.at[i], over) < most)
			continue;
		sum_of(&s, all.at[i]->src[0]->src[1]);
		int64_t step = sum_coef(&s, l->facts.range[r]);
		if (step > 0 && step < least)
			least = step;
	}
	return least;
}

/* Items that stand side by side take elements that do so in memory; or in the buffer, where
 * quotients and remainders of their flat number would be many. */
static void open_group(Lowering *l, Nest *n, UOp *u)
{
	int range[MAX_RANGES], count = ranges_in(n->over, range);
	bool listed = n->kind == NEST_STAGE && n->stage->ndims;
	for (int i = 1; i < count && listed; i++)
		for (int k = i; k && step_of(l, u, n->over, range[k - 1]) <
			step_of(l, u, n->over, range[k]); k--) {
			int r = range[k];
			range[k] = range[k - 1];
			range[k - 1] = r;
		}
	bool even = listed && digits_even(&l->plan, &l->facts, range, count);
	if (listed && !even)
		memcpy(range, n->stage->dims, count * sizeof *range);
	Scope *s = open_strided(l, n->at, range, count, &n->first[n->nfirst++],
		listed && !even ? &n->flat : NULL);
	if (n->flat)
		n->flat = ix_add(n->flat, ix_mul(s->at[range[0]], ix_const(n->stage->pad)));
	innermost(n, s);
}

uint64_t nest_over(const Lowering *l, const UOp *u, bool part)
{
	int stage = part ? stage_of(&l->plan, u) : -1;
	return stage < 0 ? bound_of(u) : bound_of(u) &
		~(l->plan.stage[stage].outside & ~block_ranges(&l->plan));
}

/* The loops that load the accumulators of a part; without lanes there is one, and no loop. */
static void open_loads(Lowering *l, Nest *n)
{
	n->load = open_lanes(l, n->at, n->at, n->lanes, n->along, &n->load_first);
	if (!n->load_first)
		n->load_first = n->load = scope_new(l, n->at, 0, NULL);
	n->load->loads = n;
}

/* Do the lanes hold a vector? Then the reduction is not also split. */
static bool has_vector(const Lowering *l, const Scope *at, uint64_t lanes)
{
	for (int r = 0; r < l->facts.nrange; r++)
		if (lanes >> r & 1 && scope_start(at, r)->tile.vector > 1)
			return true;
	return false;
}

/* Does each item of a group run the scope for elements of its own? */
static bool is_shared_out(const Scope *s)
{
	for (; s; s = s->parent)
		if (s->shares)
			return true;
	return false;
}

static void open_nest(Lowering *l, Nest *n, UOp *u)
{
	int last = n->over ? last_range(n->over) : -1;
	n->group = n->kind == NEST_GROUP ||
		(n->kind == NEST_STAGE && stage_shared(&l->plan, n->stage));
	if (n->group && (l->plan.mode == PLAN_GROUP ? n->at != l->shared : is_shared_out(n->at)))
		die(MALFORMED,
			"node %u KERNEL: a row buffer of a group stands in a loop of its items",
			l->facts.kernel->id);
	if (n->kind == NEST_PART)
		open_loads(l, n);
	if (n->group) {
		open_group(l, n, u);
	} else if (n->kind == NEST_STAGE) {
		open_over(l, n, n->outside, (Inside){-1, 1});
	} else if (n->partial) {
		int r = parted_range(l, n->over);
		open_over(l, n, n->over & ~(1ull << r), (Inside){r, n->partial});
	} else if (n->lanes && last >= 0 && l->plan.jammed >> last & 1 &&
		count_of(&l->facts, 1ull << last) >= l->plan.jam) {
		open_over(l, n, n->over & ~(1ull << last), (Inside){last, l->plan.jam});
	} else {
		open_over(l, n, n->over, (Inside){-1, 1});
	}
}

static bool same_dims(const Staged *a, const Staged *b)
{
	return !a || (a->ndims == b->ndims && a->pad == b->pad &&
		!memcmp(a->dims, b->dims, a->ndims * sizeof *a->dims));
}

/* Components of a tuple share their nest, whatever their dtypes. */
static DType element_of(const UOp *u)
{
	return folds_tuple(u) ? u->src[0]->src[0]->dtype : u->dtype;
}

/* The range whose lanes are vectors in a nest although its tile has none: that along which a load
 * is transposed, or one of a value in registers. */
static uint64_t vectors_along(const Lowering *l, const Scope *at, const Staged *s, uint64_t lanes,
	DType element)
{
	if (s->along || s->over || !lanes || has_vector(l, at, lanes))
		return s->along;
	for (int i = l->plan.nlanes; i-- > 0;) {
		int r = l->plan.lanes[i], n = lanes >> r & 1 ? scope_start(at, r)->tile.unroll : 1;
		if (n > 1)
			return vector_lanes(n, element) == n ? 1ull << r : 0;
	}
	return 0;
}

Nest *nest_for(Lowering *l, UOp *u, Scope *at, uint32_t phase, NestKind kind, uint64_t lanes)
{
	if (kind == NEST_FOLD && l->shared && at == l->shared)
		kind = NEST_GROUP;
	bool partial = kind == NEST_FOLD && !has_vector(l, at, lanes) &&
		parted_range(l, bound_of(u)) >= 0 && parts_pay(&l->plan, u);
	const Staged none = {.over = nest_over(l, u, kind == NEST_PART)},
		     *s = kind == NEST_STAGE ? &l->plan.stage[stage_of(&l->plan, u)] : &none;
	uint64_t along = kind == NEST_STAGE ? vectors_along(l, at, s, lanes, u->dtype) : 0;
	for (size_t i = at->nests.n; i-- > 0;) {
		Nest *n = at->nests.at[i];
		if (n->phase == phase && n->kind == kind && n->over == s->over &&
			n->lanes == lanes && n->along == along && n->outside == s->outside &&
			same_dims(n->stage, s) &&
			!n->partial == !partial &&
			dtype_size(n->element) == dtype_size(element_of(u)))
			return n;
	}
	Nest *n = arena_alloc(sizeof *n);
	*n = (Nest){.at = at, .phase = phase, .kind = kind, .over = s->over, .lanes = lanes,
		.along = along, .outside = s->outside, .stage = kind == NEST_STAGE ? s : NULL,
		.inside = kind == NEST_PART ? l->plan.stage[stage_of(&l->plan, u)].outside : 0,
		.partial = partial ? l->plan.partial : 0, .element = element_of(u)};
	vec_push(&at->nests, n);
	size_t from = l->scopes.n;
	open_nest(l, n, u);
	for (; from < l->scopes.n; from++)
		l->scopes.at[from]->phase = phase;
	return n;
}
