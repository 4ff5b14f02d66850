/* Whether two items that store to one place store the same value there, as where tiles overlap:
 *
 *     LET t = min(g*16, 17); y[t + r] = f(x[t + r])      r in 0..15: g = 1 and g = 2 share places
 *
 * Values are numbered by what they are computed from. The kernel is gone through for two items at a
 * time, worlds 0 and 1, as if their numbers were unknowns: integers in indices are polynomials in
 * the unknowns, of which a value at a random point modulo a prime is taken, everything else is a
 * hash of the op and its sources. What two items that touch one place have in common (digits.c) is
 * the same unknown in both; the rest differs, but for one counter, chosen so that the places agree:
 * above r in world 1 is t + r - t'. Then y[…] has the same number in both.
 *
 * Loops are gone through once. What a register holds at the beginning of an iteration is a number
 * of its own, refined by what it is at the end until no two that were equal differ: value numbering
 * as in Alpern, Wegman and Zadeck, Detecting Equality of Variables in Programs, POPL 1988. */
#include <stdlib.h>
#include "prove/apart.h"
#include "prove/numbers.h"

typedef struct { UOp *counter; int lane; } Lane;
/* A digit with a counter that is solved for: rest + c*counter + off, a constant of each access, is
 * the same in both worlds. first: of the first access, as a whole. */
typedef struct { UOp *rest, *first; int lane; int64_t c, *off; } Shared;
/* A digit of an unrolled tile: base + step, a constant of each access. */
typedef struct { UOp *base; int64_t *step; } Unrolled;
typedef VEC(Lane) Lanes;

typedef struct {
	const ProvedCall *call;
	Digits *d;
	const Access *const *a;
	Lanes lanes;            /* counters that index the same registers are one unknown */
	VEC(Shared) shared;
	VEC(UOp *) sums;        /* digits of several terms, without a counter */
	int64_t *key;           /* of each access: what its constant digits are, hashed */
	VEC(Unrolled) tile;     /* when tiles are unrolled */
	VEC(UOp *) whole;       /* registers whose elements are not told apart */
	VEC(UOp *) around;      /* counters of loops around the stores */
	VEC(uint32_t) own;      /* loops that have counters of their own, by statement */
	VEC(UOp *) given;       /* conditions that are true wherever one of the stores is */
	bool apart;             /* the items may be of two work groups */
	uint64_t more;          /* how much greater the constant is in world 0, when solving */
} Same;

/* ---- lanes: counters that stand for one another */

static int lane_of(Same *s, UOp *counter)
{
	for (size_t i = 0; i < s->lanes.n; i++)
		if (s->lanes.at[i].counter == counter)
			return s->lanes.at[i].lane;
	int lane = (int)s->lanes.n;
	vec_push(&s->lanes, ((Lane){counter, lane}));
	return lane;
}

static void join_lanes(Same *s, UOp *a, UOp *b)
{
	int to = lane_of(s, a), from = lane_of(s, b);
	for (size_t i = 0; i < s->lanes.n; i++)
		if (s->lanes.at[i].lane == from)
			s->lanes.at[i].lane = to;
}

/* Splits u = c*counter + rest, c being 1 or -1; NULL when u has no such counter. */
static UOp *counter_in(UOp *u, int64_t *c)
{
	int64_t v;
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL) {
		UOp *t = rest->op == OP_ADD ? rest->src[1] : rest;
		bool minus = t->op == OP_MUL && ix_is_const(t->src[1], &v) && v == -1;
		UOp *r = minus ? t->src[0] : t;
		*c = minus ? -1 : 1;
		if (r->op == OP_RANGE)
			return r;
	}
	return NULL;
}

/* Whether a digit of the places in a register is a constant, or a counter. */
static bool register_digit(const Place *p, size_t n, bool *counter)
{
	bool constant = true;
	int64_t k;
	*counter = true;
	for (size_t i = 0; i < n; i++) {
		constant &= ix_is_const(p[i].at, &k);
		*counter &= p[i].at->op == OP_RANGE;
	}
	return constant || *counter;
}

typedef VEC(Place) Places;

/* Most registers are touched at counter + number alone, or at numbers: 1 when these places are told
 * from each other as below, 0 when they are not, -1 for other places. A counter beside what is a
 * number elsewhere is no digit; else the weight is what all numbers are multiples of. */
static int simple_register(const Places *p)
{
	size_t counters = 0;
	int64_t k, step = 0, most = 0;
	for (size_t i = 0; i < p->n; i++) {
		UOp *u = p->at[i].at;
		if (ix_is_const(u, &k))
			continue;
		k = 0;
		u = u->op == OP_ADD && ix_is_const(u->src[1], &k) ? u->src[0] : u;
		int64_t size = u->op == OP_RANGE ? range_size(u) : 0;
		if (!size || k < 0)
			return -1;
		counters++;
		step = gcd(k, step);
		most = size > most ? size : most;
	}
	return !counters || (counters == p->n && (!step || most <= step));
}

static UOp *counter_at(const Places *p, size_t i)
{
	UOp *u = p->at[i].at;
	return u->op == OP_ADD ? u->src[0] : u;
}

/* Whether the places in a register are told from each other by their digits, so that no iteration
 * touches what is another one's. Then all counters in a digit are one lane. */
static bool register_by_lane(Same *s, const Places *p)
{
	int simple = simple_register(p);
	bool ok = true, counter;
	Digits d = {.n = p->n};
	for (size_t i = 1; simple == 1 && i < p->n && counter_at(p, 0)->op == OP_RANGE; i++)
		join_lanes(s, counter_at(p, 0), counter_at(p, i));
	if (simple >= 0)
		return simple;
	digits_of(&d, p->at);
	for (size_t i = 0; i < d.leaf.n && ok; i++)
		ok = register_digit(d.leaf.at[i], p->n, &counter);
	for (size_t i = 0; i < d.leaf.n && ok; i++) {
		const Place *at = d.leaf.at[i];
		register_digit(at, p->n, &counter);
		for (size_t k = 1; counter && k < p->n; k++)
			join_lanes(s, at[0].at, at[k].at);
	}
	digits_free(&d);
	return ok;
}

/* Finds lanes, and the registers that are not told apart by them. */
static void find_registers(Same *s, UOp *kernel)
{
	typedef struct { UOp *memory; Places at; } Register;
	Accesses all = kernel_accesses(kernel);
	Map known = {0};        /* memory: its place among them, from 1 */
	VEC(Register) reg = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *m = memory_of(&all.at[i]);
		if (m->op == OP_PARAM ||
			(m->op == OP_DEFINE_LOCAL && val_is_str(m->arg->a[2], "local")))
			continue;
		uintptr_t at = (uintptr_t)map_get(&known, PKEY(m));
		if (!at) {
			vec_push(&reg, ((Register){.memory = m}));
			map_put(&known, PKEY(m), (void *)(at = reg.n));
		}
		vec_push(&reg.at[at - 1].at, ((Place){
			.at = index_open(all.at[i].index->src[1], 0, NULL)}));
	}
	for (size_t i = 0; i < reg.n; i++) {
		if (!register_by_lane(s, &reg.at[i].at))
			vec_push(&s->whole, reg.at[i].memory);
		vec_free(&reg.at[i].at);
	}
	vec_free(&reg);
	map_free(&known);
}

static bool is_whole(const Same *s, const UOp *memory)
{
	for (size_t i = 0; i < s->whole.n; i++)
		if (s->whole.at[i] == memory)
			return true;
	return false;
}

static bool occurs_in(UOp *counter, UOp *u)
{
	Nodes all = walk_brief(index_open(u, 0, NULL));
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == counter)
			return true;
	return false;
}

/* Whether a loop is one of a lane: it has one of the stores in it, or touches registers by it. The
 * accesses, of which `next` is the first in it, are in the order of statements. */
static bool loop_of_lane(const Same *s, uint32_t from, uint32_t to, size_t next)
{
	Accesses all = kernel_accesses(s->call->kernel);
	UOp *counter = s->call->kernel->src[from];
	for (size_t i = 0; i < s->d->n; i++)
		if (s->a[i]->at > from && s->a[i]->at < to)
			return true;
	for (size_t i = next; i < all.n && all.at[i].at < to; i++)
		if (memory_of(&all.at[i])->op != OP_PARAM &&
			!is_whole(s, memory_of(&all.at[i])) &&
			occurs_in(counter, all.at[i].index->src[1]))
			return true;
	return false;
}

/* A RANGE may stand in several loops, of which some are those of a lane. */
static void find_own_loops(Same *s)
{
	typedef struct { uint32_t at; size_t next; } Loop;
	const UOp *k = s->call->kernel;
	Accesses all = kernel_accesses(s->call->kernel);
	VEC(Loop) open = {0};
	size_t next = 0;
	for (uint32_t i = 0; !s->d->schedule && i < k->nsrc; i++) {
		while (next < all.n && all.at[next].at <= i)
			next++;
		if (k->src[i]->op == OP_RANGE)
			vec_push(&open, ((Loop){i, next}));
		if (k->src[i]->op != OP_ENDRANGE)
			continue;
		Loop loop = open.at[--open.n];
		if (!loop_of_lane(s, loop.at, i, loop.next))
			vec_push(&s->own, loop.at);
	}
	vec_free(&open);
}

/* ---- digits that items share */

/* The constants of an unrolled tile: base + 0, base + 1, … */
static bool unrolled(Same *s, const Place *p)
{
	Unrolled t = {NULL, arena_alloc((s->d->n + 1) * sizeof *t.step)};
	int64_t k;
	for (size_t i = 0; i < s->d->n; i++) {
		UOp *u = p[i].at;
		bool more = u->op == OP_ADD && ix_is_const(u->src[1], &k);
		t.step[i] = more ? k : 0;
		u = more ? u->src[0] : u;
		if (t.base && u != t.base)
			return false;
		t.base = u;
	}
	for (size_t i = 0; i < s->tile.n; i++)
		if (s->tile.at[i].base == t.base)
			return false;
	if (t.base->op == OP_ADD || t.base->op == OP_MUL)
		return false;
	vec_push(&s->tile, t);
	return true;
}

/* Is a digit that all items have that touch one place the sum of several terms of theirs, chunk
 * and tile, of which none need be the same? */
static bool is_sum(const Same *s, UOp *u)
{
	int64_t c;
	if (u->op != OP_ADD || is_const(u->src[1]) || !digits_know(s->d, u) || counter_in(u, &c))
		return false;
	for (UOp *at = u; at; at = at->op == OP_ADD ? at->src[0] : NULL) {
		UOp *t = at->op == OP_ADD ? at->src[1] : at;
		if (t->op == OP_MUL || !(moves_with(s->d, t) & OF_ITEM))
			return false;
	}
	return true;
}

/* Takes a digit into account that is not the same expression everywhere, or of several terms. */
static bool take_digit(Same *s, const Place *p)
{
	Shared x = {0};
	bool constant = true, solved = true, same = true;
	int64_t k, c;
	for (size_t i = 0; i < s->d->n; i++) {
		constant &= ix_is_const(p[i].at, &k);
		same &= p[i].at == p[0].at;
	}
	for (size_t i = 0; i < s->d->n && constant; i++) {
		ix_is_const(p[i].at, &k);
		s->key[i] = hash_mix(s->key[i], k);
	}
	if (!constant && same && digits_know(s->d, p[0].at) && !counter_in(p[0].at, &c)) {
		if (is_sum(s, p[0].at))
			vec_push(&s->sums, p[0].at);
		return true;
	}
	if (constant)
		return true;
	if (same && p[0].at->op == OP_RANGE)
		return true;
	x.off = arena_alloc(s->d->n * sizeof *x.off);
	for (size_t i = 0; i < s->d->n && solved; i++) {
		UOp *r = counter_in(p[i].at, &c);
		UOp *rest = r ? ix_sub(p[i].at, ix_mul(r, ix_const(c))) : NULL;
		if (rest && rest->op == OP_ADD && ix_is_const(rest->src[1], &x.off[i]))
			rest = rest->src[0];
		solved = r && (!i || (rest == x.rest && c == x.c && lane_of(s, r) == x.lane));
		if (solved)
			x = (Shared){rest, p[0].at, lane_of(s, r), c, x.off};
	}
	if (solved)
		vec_push(&s->shared, x);
	return solved || unrolled(s, p);
}

/* ---- the two worlds */

/* Whether a counter has the same value wherever two items touch one place: it is not one of a loop
 * around the store, or the digits say so. */
static bool tied(const Same *s, const UOp *counter)
{
	for (size_t i = 0; i < s->around.n; i++)
		if (s->around.at[i] == counter)
			return map_get(&s->d->known, PKEY(counter));
	return true;
}

/* What the counters of a lane are in a world: one unknown, which in world 1 is another one when
 * nothing ties it, and adjusted when it is solved for. */
static uint64_t lane_number(Numbers *n, Same *s, const Shared *solve, int lane, int world)
{
	uint64_t own = number_mix(lane, 77);
	bool same = true;
	for (size_t i = 0; i < s->lanes.n; i++)
		if (s->lanes.at[i].lane == lane)
			same &= tied(s, s->lanes.at[i].counter);
	for (size_t i = 0; i < s->shared.n; i++)
		same |= s->shared.at[i].lane == lane;
	if (!world || !solve || solve->lane != lane)
		return same ? own : number_mix(own, world);
	uint64_t was = number_of(n, 0, solve->rest), is = number_of(n, 1, solve->rest);
	uint64_t more = number_add(number_sub(was, is), s->more);
	return solve->c > 0 ? number_add(own, more) : number_sub(own, more);
}

/* The terms of a sum are the same unknowns in both worlds. */
static void know_terms(Numbers *n, UOp *u)
{
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL) {
		UOp *t = rest->op == OP_ADD ? rest->src[1] : rest;
		if (t->op == OP_MUL && is_const(t->src[1]))
			t = t->src[0];
		number_know(n, t);
	}
}

static void set_counter(Numbers *n, Same *s, UOp *u, const Shared *solve, bool last, int world)
{
	int lane = -1;
	for (size_t k = 0; k < s->lanes.n; k++)
		if (s->lanes.at[k].counter == u)
			lane = s->lanes.at[k].lane;
	if ((solve && solve->lane == lane) != last)
		return;
	if (lane >= 0)
		number_set(n, world, u, lane_number(n, s, solve, lane, world));
	else if (!tied(s, u))
		number_set(n, world, u, number_mix(u->id, 20 + world));
}

/* The lane that is solved for is set last: it depends on the others. */
static void set_counters(Numbers *n, Same *s, const Shared *solve, int world)
{
	Nodes all = walk_kept(s->call->kernel);
	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < all.n; i++)
			if (all.at[i]->op == OP_RANGE)
				set_counter(n, s, all.at[i], solve, last, world);
}

/* The sum of chunk and tile is the same in both worlds, its terms are not: in each, one of them is
 * what is left of it, so that the same terms with other factors have the same sum too. */
static void tie_terms(Numbers *n, UOp *sum)
{
	UOp *own = NULL, *rest = ix_const(0);
	for (UOp *at = sum; at; at = at->op == OP_ADD ? at->src[0] : NULL) {
		UOp *t = at->op == OP_ADD ? at->src[1] : at;
		bool free = !own && t->op != OP_MUL && !is_const(t) && !number_is_set(n, 0, t);
		if (free)
			own = t;
		else
			rest = ix_add(rest, t);
	}
	for (int w = 0; own && w < 2; w++)
		number_set(n, w, own, number_sub(number_of(n, w, sum), number_of(n, w, rest)));
}

/* Whether a digit is the sum of others' numbers, which are the same or solved for. */
static bool is_solved(const Same *s, const UOp *digit)
{
	for (size_t i = 0; i < s->shared.n; i++)
		if (s->shared.at[i].first == digit && digit->op == OP_ADD)
			return true;
	return false;
}

/* Remainders that are parts of known digits are known too: n % 10 of n % 400. */
static void find_parts(Same *s)
{
	Nodes all = walk_kept(s->call->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_FLOORMOD)
			digits_know(s->d, all.at[i]);
}

/* Sets the unknowns of both worlds. solve: the digit whose tiles are compared (or NULL); step: that
 * whose unrolled tile begins one further in world 1 (or NULL); the others are the same tile in
 * both. */
static void set_unknowns(Numbers *n, Same *s, const Shared *solve, const Unrolled *step)
{
	find_parts(s);
	for (size_t i = 0; i < s->d->fresh.n; i++)
		if (!is_solved(s, s->d->fresh.at[i]))
			number_know(n, s->d->fresh.at[i]);
	for (size_t i = 0; i < s->sums.n; i++)
		if (number_is_set(n, 0, s->sums.at[i]))
			tie_terms(n, s->sums.at[i]);
	for (size_t i = 0; i < s->shared.n; i++)
		if (&s->shared.at[i] != solve)
			know_terms(n, s->shared.at[i].rest);
	for (size_t i = 0; i < s->tile.n; i++) {
		const Unrolled *t = &s->tile.at[i];
		uint64_t x = number_mix(t->base->id, 5);
		number_set(n, 0, t->base, x);
		number_set(n, 1, t->base, number_add(x, t == step));
	}
	set_counters(n, s, solve, 0);
	set_counters(n, s, solve, 1);
}

/* Whether access i in world 0 and k in world 1 touch one place. */
static bool meet(const Same *s, const Shared *solve, const Unrolled *step, size_t i, size_t k)
{
	bool same = s->key[i] == s->key[k];
	for (size_t j = 0; j < s->tile.n && same; j++) {
		const Unrolled *t = &s->tile.at[j];
		same = t->step[i] == t->step[k] + (t == step);
	}
	for (size_t j = 0; j < s->shared.n && same; j++) {
		const Shared *x = &s->shared.at[j];
		same = x->off[i] - x->off[k] == (x == solve ? (int64_t)s->more : 0);
	}
	return same;
}

/* Whether what is stored to one place in both worlds is one value. With a step, each constant of an
 * unrolled tile but the least must have one before it. */
static bool stores_agree(
	const Numbers *n, const Same *s, const Shared *solve, const Unrolled *step)
{
	int64_t least = step ? step->step[0] : 0;
	for (size_t i = 0; i < s->d->n && step; i++)
		least = step->step[i] < least ? step->step[i] : least;
	for (size_t i = 0; i < s->d->n; i++) {
		bool met = !step || step->step[i] == least;
		for (size_t k = 0; k < s->d->n; k++) {
			if (!meet(s, solve, step, i, k))
				continue;
			met = true;
			if (numbers_stored(n, 0, s->a[i]) != numbers_stored(n, 1, s->a[k]))
				return false;
		}
		if (!met)
			return false;
	}
	return true;
}

/* The greatest value of a tile's start min(…, last), which is not below 0 where the stores are;
 * NULL for others. */
static UOp *last_start(const Same *s, UOp *base)
{
	UOp *last = NULL;
	for (int i = 0; base->op == OP_MIN && i < 2; i++)
		if (!moves_with(s->d, base->src[i]))
			last = base->src[i];
	for (size_t i = 0; last && i < s->d->n; i++)
		if (!place_within(&s->d->leaf.at[0][i], base, ix_add(last, ix_const(1))))
			return NULL;
	return last;
}

static UOp *up_to(UOp *size) { return NODE(OP_SPECIAL, DT_I64, val_str("%tile"), size); }

/* Of two unrolled tiles that follow one another the first starts at an x with 0 <= x < last, the
 * second at x + 1. */
static void decide_step(const Same *s, Numbers *n, const Unrolled *t)
{
	Instead x = {1, arena_alloc(sizeof(UOp *)),
		{arena_alloc(sizeof(UOp *)), arena_alloc(sizeof(UOp *))}};
	UOp *base = x.from[0] = ix_plain(t->base), *last = last_start(s, base);
	if (!last)
		return;
	x.to[0][0] = up_to(last);
	x.to[1][0] = ix_add(x.to[0][0], ix_const(1));
	number_decide(n, &x);
}

/* Where start + counter + far in world 0 is start' + counter' in world 1, start + counter is an x
 * with 0 <= x and x + far < last + size. */
static void decide_lane(const Same *s, Numbers *n, const Shared *solve)
{
	size_t most = s->lanes.n + 1;
	Instead x = {0, arena_alloc(most * sizeof(UOp *)), {arena_alloc(most * sizeof(UOp *)),
		arena_alloc(most * sizeof(UOp *))}};
	UOp *base = ix_plain(solve->rest), *last = last_start(s, base), *far = ix_const(s->more);
	UOp *size = NULL;
	bool one = solve->c == 1;
	for (size_t i = 0; i < s->lanes.n; i++)
		if (s->lanes.at[i].lane == solve->lane) {
			UOp *counter = s->lanes.at[i].counter;
			one &= !size || size == counter->src[0];
			size = counter->src[0];
			x.from[x.n++] = counter;
		}
	if (!last || !one || !size)
		return;
	UOp *at = up_to(ix_sub(ix_add(last, size), far));
	for (size_t i = 0; i < x.n; i++) {
		x.to[0][i] = ix_sub(at, base);
		x.to[1][i] = ix_add(x.to[0][i], far);
	}
	number_decide(n, &x);
}

/* ---- conditions of the stores */

/* Whether all that is computed in the loop of a counter is of the iteration at hand: it is the only
 * loop of that counter, and no register outlives an iteration. */
static bool alone_in_loop(const Same *s, const UOp *counter)
{
	const UOp *k = s->call->kernel;
	Accesses all = kernel_accesses(s->call->kernel);
	Map defined = {0};
	uint32_t from = 0, to = 0;
	int loops = 0;
	bool alone = true;
	for (uint32_t i = 0; i < k->nsrc; i++) {
		bool begins = k->src[i] == counter;
		bool ends = k->src[i]->op == OP_ENDRANGE && k->src[i]->src[0] == counter;
		from = begins ? i : from;
		to = ends ? i : to;
		loops += begins;
	}
	for (uint32_t i = from; i < to; i++)
		if (k->src[i]->op == OP_DEFINE_REG || k->src[i]->op == OP_DEFINE_LOCAL)
			map_put(&defined, PKEY(k->src[i]), k->src[i]);
	for (size_t i = 0; i < all.n && alone; i++)
		alone = all.at[i].at < from || all.at[i].at > to ||
			memory_of(&all.at[i])->op == OP_PARAM ||
			map_get(&defined, PKEY(memory_of(&all.at[i])));
	map_free(&defined);
	return alone && loops == 1;
}

/* At level schedule: whether no fold runs over the counter, so that it is the item's everywhere. */
static bool folds_none(const Same *s, const UOp *counter)
{
	Nodes all = walk_kept(s->call->kernel);
	bool none = true;
	for (size_t i = 0; i < all.n; i++) {
		Op op = all.at[i]->op;
		bool fold = op == OP_RREDUCE || op == OP_RSCAN || op == OP_RSORT;
		for (uint32_t k = 1; fold && k < all.at[i]->nsrc; k++)
			none &= all.at[i]->src[k] != counter;
	}
	return none;
}

/* Whether a condition that is true where a value is stored was true wherever it was asked on the
 * way to that value. */
static bool stays_true(const Same *s, UOp *cond)
{
	Nodes all = walk(cond);
	bool still = moves_plainly(cond);
	for (size_t i = 0; i < all.n && still; i++)
		if (all.at[i]->op == OP_RANGE)
			still = s->d->schedule ? folds_none(s, all.at[i]) :
						 alone_in_loop(s, all.at[i]);
	return still;
}

/* Items that touch one place do store there, so the conditions of the stores are true in both. */
static void find_given(Same *s)
{
	const Place *p = s->d->leaf.n ? s->d->leaf.at[0] : NULL;
	for (size_t c = 0; p && c < p[0].n; c++) {
		bool all = true;
		for (size_t i = 1; i < s->d->n && all; i++) {
			all = p[i].cond == p[0].cond;
			for (size_t k = 0; k < p[i].n && !all; k++)
				all = p[i].cond[k] == p[0].cond[c];
		}
		if (all && stays_true(s, p[0].cond[c]))
			vec_push(&s->given, p[0].cond[c]);
	}
}

static void set_given(const Same *s, Numbers *n)
{
	for (size_t i = 0; i < s->given.n; i++)
		number_true(n, s->given.at[i]);
}

/* ---- the comparison */

static bool compare(Same *s, const Shared *solve, const Unrolled *step)
{
	Numbers *n = numbers_new(s->call, s->apart, false);
	for (size_t i = 0; i < s->whole.n; i++)
		number_whole(n, s->whole.at[i]);
	for (size_t i = 0; i < s->own.n; i++)
		number_own(n, s->own.at[i]);
	set_unknowns(n, s, solve, step);
	set_given(s, n);
	if (step)
		decide_step(s, n, step);
	else if (solve)
		decide_lane(s, n, solve);
	bool same = numbers_run(n) && stores_agree(n, s, solve, step);
	numbers_free(n);
	return same;
}

enum { MOST_OFFSETS = 16 };

/* How far the next access before access i is along a digit, of those that differ from it in nothing
 * else; 0: none is. */
static int64_t nearest(const Same *s, const Shared *solve, size_t i)
{
	int64_t least = 0;
	for (size_t k = 0; k < s->d->n; k++) {
		int64_t far = solve->off[i] - solve->off[k];
		bool beside = far > 0 && s->key[i] == s->key[k] && (!least || far < least);
		for (size_t j = 0; j < s->shared.n && beside; j++)
			beside = &s->shared.at[j] == solve ||
				s->shared.at[j].off[i] == s->shared.at[j].off[k];
		least = beside ? far : least;
	}
	return least;
}

/* Compares tiles along one digit: each access with itself, so that its value depends on the place
 * alone, and with the one before it in the tile. What is further apart is the same then too, since
 * a place between the two tiles could be touched by those between the two accesses. */
static bool compare_along(Same *s, const Shared *solve)
{
	int64_t done[MOST_OFFSETS] = {0};
	int n = 1;
	bool same = compare(s, solve, NULL);
	for (size_t i = 0; i < s->d->n && same; i++) {
		int64_t far = nearest(s, solve, i);
		bool seen = false;
		for (int j = 0; j < n && !seen; j++)
			seen = done[j] == far;
		if (seen)
			continue;
		if (n == MOST_OFFSETS)
			return false;
		done[n++] = far;
		s->more = far;
		same = compare(s, solve, NULL);
		s->more = 0;
	}
	return same;
}

static bool compare_all(Same *s)
{
	bool same = true, steps = false;
	for (size_t i = 0; i < s->shared.n && same; i++)
		same = compare_along(s, &s->shared.at[i]);
	for (size_t i = 0; i < s->tile.n && same; i++) {
		const Unrolled *t = &s->tile.at[i];
		bool several = false;
		for (size_t k = 0; k < s->d->n; k++)
			several |= t->step[k] != t->step[0];
		steps |= several;
		same = !several || compare(s, NULL, t);
	}
	return same && (s->shared.n || steps || compare(s, NULL, NULL));
}

/* The counters of the loops around the stores. */
static void find_around(Same *s)
{
	UOp *kernel = s->call->kernel;
	VEC(UOp *) open = {0};
	size_t next = 0;
	Nodes all = walk_kept(kernel);
	for (size_t i = 0; s->d->schedule && i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && strcmp(range_kind(all.at[i]), "reduce"))
			vec_push(&s->around, all.at[i]);
	for (uint32_t i = 0; !s->d->schedule && i < kernel->nsrc; i++) {
		if (kernel->src[i]->op == OP_RANGE)
			vec_push(&open, kernel->src[i]);
		open.n -= kernel->src[i]->op == OP_ENDRANGE;
		for (; next < s->d->n && s->a[next]->at == i; next++)
			for (size_t k = 0; k < open.n; k++)
				vec_push(&s->around, open.at[k]);
	}
	vec_free(&open);
}

/* ---- tiles clamped to the end, at their word */

/* Whether t is MIN(…, size), as the start of a tile that must not go beyond the end. */
static bool is_clamp(const Same *s, UOp *t)
{
	UOp *m = t->op == OP_LET ? t->src[0] : t;
	return m->op == OP_MIN && m->dtype == DT_I64 &&
		(!moves_with(s->d, m->src[0]) || !moves_with(s->d, m->src[1]));
}

/* Is it a part of an item's number that runs from 0 on: number / s % size? */
static bool is_lane(const Same *s, const UOp *t)
{
	const UOp *m = t->op == OP_LET ? t->src[0] : t;
	return !s->d->schedule && m->op == OP_FLOORMOD && moves_with(s->d, (UOp *)m) & OF_ITEM;
}

/* Whether a digit is a clamped start plus at most counters of the item and constants; notes the
 * starts. One counter of a loop may be added at level schedule, of lanes that are items at level
 * loops: *lane. */
static bool clamped_digit(Same *s, Numbers *n, UOp *u, UOp **lane)
{
	int clamps = 0, items = 0;
	int64_t c;
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL) {
		UOp *t = rest->op == OP_ADD ? rest->src[1] : rest;
		if (t->op == OP_MUL && ix_is_const(t->src[1], &c))
			t = t->src[0];
		int moves = moves_with(s->d, t);
		bool clamp = is_clamp(s, t), item = s->d->schedule && t->op == OP_RANGE;
		if (lane && !clamp && !digits_know(s->d, t) && is_lane(s, t)) {
			item = !*lane || *lane == t;
			*lane = t;
		}
		if (clamp || item)
			number_know(n, t);
		clamps += clamp;
		items += item;
		if (moves & OF_ITEM && !clamp && !item && !digits_know(s->d, t))
			return false;
	}
	return clamps && items <= 1;
}

/* Whether each item's values depend on its numbers through the starts of clamped tiles alone, or
 * (lane) through these and *lane, which is found. It is asked where the values could not be
 * compared: when lanes of a register are added up, or a buffer is read that was prepared tile by
 * tile. */
static bool clamped(Same *s, UOp **lane)
{
	Numbers *n = numbers_new(s->call, s->apart, true);
	Accesses all = kernel_accesses(s->call->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (memory_of(&all.at[i])->op != OP_PARAM)
			number_whole(n, memory_of(&all.at[i]));
	bool ok = true, one = false;
	find_parts(s);
	for (size_t i = 0; i < s->d->fresh.n; i++)
		number_know(n, s->d->fresh.at[i]);
	for (size_t i = 0; i < s->d->leaf.n && ok; i++) {
		size_t starts = 0;
		for (size_t k = 0; k < s->d->n && ok; k++) {
			UOp *u = s->d->leaf.at[i][k].at;
			if (!(moves_with(s->d, u) & OF_ITEM))
				continue;
			bool sum = !lane && is_sum(s, u);
			if (sum && number_is_set(n, 0, u))
				tie_terms(n, u);
			bool is = !sum && clamped_digit(s, n, u, lane);
			starts += is;
			ok = is || ((sum || u->op != OP_ADD) && digits_know(s->d, u));
		}
		/* a place without a start is that of tiles which begin anywhere */
		ok &= !starts || starts == s->d->n;
		one |= starts;
	}
	for (size_t i = 0; s->d->schedule && i < s->around.n; i++)
		for (int w = 0; w < 2; w++)
			if (!number_is_set(n, w, s->around.at[i]))
				number_set(n, w, s->around.at[i],
					number_mix(s->around.at[i]->id, 20 + w));
	set_given(s, n);
	ok = ok && one && numbers_run(n);
	for (size_t i = 0; i < s->d->n && ok; i++)
		ok = numbers_stored(n, 0, s->a[i]) == numbers_stored(n, 1, s->a[i]);
	numbers_free(n);
	return ok;
}

/* Whether values that are the same may have been given other numbers: a condition on a counter that
 * holds in one of two tiles only is left out there, a quotient's constant is taken out of it, and
 * what a prepared buffer holds is not looked at. */
static bool numbers_may_differ(const Same *s)
{
	Nodes all = walk_kept(s->call->kernel);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool index = u->nsrc == 2 && u->src[0]->dtype == DT_I64;
		if (index && (u->op == OP_CMPLT || u->op == OP_FLOORDIV || u->op == OP_FLOORMOD) &&
			moves_with(s->d, u) & OF_LOOP)
			return true;
	}
	for (uint32_t i = 1; i < s->call->call->nsrc; i++)
		if (buffer_is(s->call->call->src[i], "prepared"))
			return true;
	return false;
}

static bool groups_apart(const Items *x, Digits *d)
{
	for (int i = 0; i < x->n; i++)
		if (x->number[i] && x->number[i]->op == OP_SPECIAL &&
			x->number[i]->arg->s[0] == 'g' && !digits_know(d, x->number[i]))
			return true;
	return false;
}

bool same_values(const ProvedCall *c, const Items *x, Digits *d, const Access *const *a)
{
	Same s = {.call = c, .d = d, .a = a, .apart = groups_apart(x, d)};
	bool ok = true;
	s.key = arena_alloc((d->n + 1) * sizeof *s.key);
	for (size_t i = 0; i < d->n && ok; i++)
		ok = a[i]->value != NULL;
	bool stores = ok;
	if (ok && !d->schedule)
		find_registers(&s, c->kernel);
	find_around(&s);
	for (size_t i = 0; i < d->leaf.n && ok; i++)
		ok = take_digit(&s, d->leaf.at[i]);
	find_own_loops(&s);
	find_given(&s);
	bool sure = ok && !s.whole.n && !numbers_may_differ(&s);
	/* registers that are not told apart make it likely that values cannot be compared */
	bool first = ok && !s.whole.n && compare_all(&s);
	UOp *lane = NULL;
	ok = first || (stores && !sure && clamped(&s, NULL) && tiles_agree(c, NULL)) ||
		(stores && !sure && clamped(&s, &lane) && lane && tiles_agree(c, lane)) ||
		(ok && s.whole.n && compare_all(&s));
	vec_free(&s.lanes);
	vec_free(&s.whole);
	vec_free(&s.shared);
	vec_free(&s.tile);
	vec_free(&s.sums);
	vec_free(&s.around);
	vec_free(&s.own);
	vec_free(&s.given);
	return ok;
}
