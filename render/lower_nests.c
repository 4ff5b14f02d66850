/* The loops of reductions and row buffers.  Reductions over the same ranges in one scope and phase
 * share a Nest; its shape comes from the target:
 *
 *     SERIAL  for k: acc = op(acc, body)
 *     SPLIT   for kb: for l<16: acc[l] = op(acc[l], body at kb*16+l); a tail; then one of the 16
 *     BLOCK   for k: for l<64: acc[l] = op(acc[l], body at output lane l)
 *     GROUP   each item of a work group takes every 128th k; then a tree over local memory
 */
#include "render.h"

static UOp *lane_size(const Lowering *l, const Scope *base)
{
	for (uint32_t i = 0; i < l->scopes.n; i++)
		if (l->scopes.at[i]->base == base)
			return l->scopes.at[i]->open->src[0];
	return NULL;
}

/* Is range r already a counter somewhere around s? Then a loop within needs a counter of its own.
 */
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
	if (open_around(in, 1ull << r))
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
	s->nest = n;
	n->inner[n->ninner++] = s;
}

/* Loops over the ranges of set but the last `keep`; returns the innermost scope, NULL when there is
 * none. */
static Scope *open_loops(Lowering *l, Nest *n, uint64_t set)
{
	Scope *in = NULL;
	for (int r = 0; r < l->facts.nrange; r++) {
		if (!(set >> r & 1))
			continue;
		Scope *s = open_loop(l, in ? in : n->at, r);
		add_inner(n, in, s);
		in = s;
	}
	return in;
}

static int last_range(uint64_t set) { return 63 - __builtin_clzll(set); }

/* The range that a split reduction runs in lanes: the innermost one when it is long enough, else the
 * longest, -1 when none is. */
static int split_range(Lowering *l, uint64_t over)
{
	int best = -1, last = last_range(over);
	int64_t lo, hi, most = 2 * l->plan.split - 1;
	for (int r = last; r >= 0 && l->plan.split; r--) {
		if (!(over >> r & 1))
			continue;
		ix_bounds(l->facts.range[r]->src[0], &lo, &hi);
		if (hi > most) {
			best = r;
			most = hi;
		}
		if (best == last)
			break;
	}
	return best;
}

static void split_main(Lowering *l, Nest *n, Scope *outer, int r, UOp *blocks)
{
	int lanes = l->plan.split;
	Scope *at = outer ? outer : n->at;
	Scope *block = scope_new(l, at, 0, scope_range(l, at, blocks, "reduce"));
	Scope *lane = scope_new(l, block, 1ull << r, scope_range(l, block, ix_const(lanes), "unroll"));
	lane->at[r] = ix_add(ix_mul(block->open, ix_const(lanes)), lane->open);
	lane->lane = lane->open;
	add_inner(n, outer, block);
	add_inner(n, block, lane);
	innermost(n, lane);
}

static void split_tail(Lowering *l, Nest *n, Scope *outer, int r, UOp *blocks, UOp *rest)
{
	Scope *at = outer ? outer : n->at;
	Scope *lane = scope_new(l, at, 1ull << r, scope_range(l, at, rest, "unroll"));
	lane->at[r] = ix_add(ix_mul(blocks, ix_const(l->plan.split)), lane->open);
	lane->lane = lane->open;
	add_inner(n, outer, lane);
	innermost(n, lane);
}

static void open_split(Lowering *l, Nest *n)
{
	int r = split_range(l, n->over);
	int64_t rest;
	Scope *outer = open_loops(l, n, n->over & ~(1ull << r));
	UOp *size = l->facts.range[r]->src[0], *lanes = ix_const(l->plan.split);
	UOp *blocks = ix_div(size, lanes), *tail = ix_mod(size, lanes);
	split_main(l, n, outer, r, blocks);
	if (!ix_is_const(tail, &rest) || rest)
		split_tail(l, n, outer, r, blocks, tail);
}

/* The lanes of a block run innermost, so that one load serves them all. */
static void open_block(Lowering *l, Nest *n)
{
	int r = l->plan.block;
	Scope *outer = open_loops(l, n, n->over), *at = outer ? outer : n->at;
	Scope *lane = scope_new(l, at, 1ull << r, scope_range(l, at, lane_size(l, n->at), "unroll"));
	UOp *first = NULL;
	for (uint32_t i = 0; !first; i++)
		if (l->scopes.at[i]->base == n->at)
			first = ix_sub(l->scopes.at[i]->at[r], l->scopes.at[i]->open);
	lane->at[r] = ix_add(first, lane->open);
	lane->lane = lane->open;
	lane->base = n->at;
	add_inner(n, outer, lane);
	innermost(n, lane);
}

void unflatten(Lowering *l, Scope *s, const int *range, int n, UOp *flat)
{
	for (int i = n; i-- > 0;) {
		UOp *size = l->facts.range[range[i]]->src[0];
		s->at[range[i]] = i ? ix_mod(flat, size) : flat;
		flat = ix_div(flat, size);
	}
}

int ranges_in(uint64_t set, int *range)
{
	int n = 0;
	for (; set; set &= set - 1)
		range[n++] = __builtin_ctzll(set);
	return n;
}

Scope *open_strided(Lowering *l, Scope *in, uint64_t set, Scope **first)
{
	int range[MAX_RANGES], n = ranges_in(set, range);
	UOp *total = ix_const(1), *items = ix_const(l->plan.items);
	int64_t rest;
	for (int i = 0; i < n; i++)
		total = ix_mul(total, l->facts.range[range[i]]->src[0]);
	UOp *rounds = ix_div(ix_add(total, ix_sub(items, ix_const(1))), items);
	Scope *s = *first = scope_new(l, in, 0, scope_range(l, in, rounds, "reduce"));
	UOp *flat = ix_add(ix_mul(s->open, items), l->lidx);
	if (!ix_is_const(ix_mod(total, items), &rest) || rest) {
		UOp *guard = NODE(OP_IF, DT_NONE, VNIL, ix_lt(flat, total));
		s = s->inner[s->ninner++] = scope_new(l, s, 0, guard);
	}
	s->binds = set;
	unflatten(l, s, range, n, flat);
	return s;
}

static void open_group(Lowering *l, Nest *n)
{
	innermost(n, open_strided(l, n->at, n->over, &n->first[n->nfirst++]));
}

/* Several accumulators pay when the body is small, has no loop of its own, and there is enough to
 * fold. */
static bool splits(Lowering *l, const UOp *u)
{
	enum { SMALL = 96 };
	if (split_range(l, bound_of(u)) < 0)
		return false;
	Nodes body = walk(u->src[0]);
	size_t size = 0;
	for (size_t i = 0; i < body.n; i++) {
		bool inside = free_of(body.at[i]) & bound_of(u);
		size += inside;
		if (size > SMALL || (inside && body.at[i]->op == OP_RREDUCE))
			return false;
	}
	return true;
}

static NestKind pick(Lowering *l, const UOp *u, Scope *at, NestKind kind)
{
	if (kind != NEST_SERIAL)
		return kind;
	if (l->plan.mode == PLAN_GROUP)
		return at == l->shared ? NEST_GROUP : NEST_SERIAL;
	return splits(l, u) ? NEST_SPLIT : NEST_SERIAL;
}

static void open_nest(Lowering *l, Nest *n)
{
	n->group = n->kind == NEST_GROUP || (n->kind == NEST_STAGE && l->plan.mode == PLAN_GROUP);
	if (n->group)
		open_group(l, n);
	else if (n->kind == NEST_SPLIT)
		open_split(l, n);
	else if (n->kind == NEST_BLOCK)
		open_block(l, n);
	else
		innermost(n, open_loops(l, n, n->over));
}

Nest *nest_for(Lowering *l, UOp *u, Scope *at, uint32_t phase, NestKind kind)
{
	kind = pick(l, u, at, kind);
	uint64_t over = kind == NEST_STAGE ? l->plan.stage[stage_of(&l->plan, u)].over : bound_of(u);
	for (size_t i = at->nests.n; i-- > 0;) {
		Nest *n = at->nests.at[i];
		if (n->phase == phase && n->kind == kind && n->over == over)
			return n;
	}
	Nest *n = arena_alloc(sizeof *n);
	*n = (Nest){.at = at, .phase = phase, .kind = kind, .over = over};
	vec_push(&at->nests, n);
	size_t from = l->scopes.n;
	open_nest(l, n);
	for (; from < l->scopes.n; from++)
		l->scopes.at[from]->phase = phase;
	return n;
}
