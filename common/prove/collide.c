/* A case in which two items touch one place: sizes, numbers of both, and what the counters of loops
 * are. Some values of each are tried, near the ends and near each other; or all of them, where they
 * are numbers and few, which shows that there is no such case. */
#include <stdlib.h>
#include "prove/apart.h"
#include "prove/places.h"
#include "shape/shape.h"

enum { TRIES = 8, MOST_PLACES = 8192, MOST_LEAVES = 64, FEW = 4, MOST_NEAR = 128,
	MOST_DEPTH = 64, MOST_CASES = 1 << 16, CASES_A_PLACE = 16 };

typedef struct {
	int n;
	UOp *leaf[MOST_LEAVES];
	int64_t value[MOST_LEAVES], choice[MOST_LEAVES][FEW];
} Leaves;
/* What a node is in the combination of values at hand, the number `round`. */
typedef struct { uint32_t round; bool has; int64_t v; } Now;
typedef struct {
	Leaves all;
	const Items *items;
	bool of_item[MOST_LEAVES];
	uint64_t seed;
	TABLE(Now) now;
} Search;

static int64_t drawn(Search *s, int64_t below)
{
	s->seed = hash_mix(s->seed, 0x51);
	return below > 0 ? (int64_t)(s->seed % (uint64_t)below) : 0;
}

static bool evaluate(Search *s, UOp *u, int depth, int64_t *v);

/* The value of an index or condition; false when it has none: it loads, or divides by 0. */
static bool compute(Search *s, UOp *u, int depth, int64_t *v)
{
	int64_t a = 0, b = 0;
	if (ix_is_const(u, v))
		return true;
	if (u->op == OP_CONST && u->dtype == DT_BOOL) {
		*v = u->arg->b;
		return true;
	}
	if (u->op == OP_LET)
		return depth && evaluate(s, u->src[0], depth - 1, v);
	if (u->nsrc != 2 || !depth || !evaluate(s, u->src[0], depth - 1, &a) ||
		!evaluate(s, u->src[1], depth - 1, &b))
		return false;
	return index_operation(u->op, a, b, v);
}

static bool evaluate(Search *s, UOp *u, int depth, int64_t *v)
{
	if (u->id >= s->now.cap)
		table_fit(&s->now);
	Now *k = &s->now.at[u->id];
	if (k->round != s->now.round) {
		int64_t x = 0;
		bool has = compute(s, u, depth, &x);
		k = &s->now.at[u->id];
		*k = (Now){s->now.round, has, x};
	}
	*v = k->v;
	return k->has;
}

static void set_leaf(Search *s, int i)
{
	uint32_t id = s->all.leaf[i]->id;
	if (id >= s->now.cap)
		table_fit(&s->now);
	s->now.at[id] = (Now){s->now.round, true, s->all.value[i]};
}

static int leaf_number(const Leaves *l, const UOp *u)
{
	for (int i = 0; i < l->n; i++)
		if (l->leaf[i] == u)
			return i;
	return -1;
}

static void find_leaves(Leaves *l, UOp *root)
{
	Nodes all = walk(root);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool leaf = u->op == OP_VAR || u->op == OP_RANGE || u->op == OP_SPECIAL;
		if (leaf && l->n < MOST_LEAVES && leaf_number(l, u) < 0)
			l->leaf[l->n++] = u;
	}
}

/* Sizes at random, or those of a case that meet the document's checks. */
static bool draw_sizes(Search *s, const Graph *g, int try, VarEnv *e)
{
	e->n = 0;
	for (size_t k = 0; g->vars != VNIL && k < g->vars->n && e->n < 64; k++) {
		const Val *bounds = g->vars->a[2 * k + 1];
		int64_t lo = bounds->a[0]->i, far = bounds->a[1]->i - lo + 1;
		e->name[e->n] = g->vars->a[2 * k]->s;
		e->value[e->n++] = lo + drawn(s, try < 4 && far > 70 ? 70 : far);
	}
	if (checks_hold(g, e))
		return true;
	const VarEnv *some = sample_sizes(g, 5 * try + 5);
	if (some)
		*e = *some;
	return some;
}

/* Draws sizes, and a few values for each number and counter; false when one has no value. */
static bool draw(Search *s, const Graph *g, int try)
{
	VarEnv e;
	if (!draw_sizes(s, g, try, &e))
		return false;
	table_round(&s->now);
	for (int i = 0; i < s->all.n; i++) {
		UOp *u = s->all.leaf[i];
		int64_t n = 0;
		if (u->op == OP_VAR) {
			if (!ix_eval(u, &e, &s->all.value[i]))
				return false;
		} else {
			if (!evaluate(s, u->src[0], MOST_DEPTH, &n) || n <= 0)
				return false;
			int64_t at = drawn(s, n);
			const int64_t some[FEW] = {at, at + 1 < n ? at + 1 : at, 0, n - 1};
			memcpy(s->all.choice[i], some, sizeof some);
			s->all.value[i] = at;
		}
		set_leaf(s, i);
	}
	return true;
}

/* One combination of the choices; every other time of any values up to MOST_NEAR, too. */
static void choose(Search *s)
{
	int64_t wide = drawn(s, 2);
	table_round(&s->now);
	for (int i = 0; i < s->all.n; i++) {
		int64_t last = s->all.choice[i][FEW - 1];
		if (s->all.leaf[i]->op != OP_VAR)
			s->all.value[i] = wide && drawn(s, 2) ?
				drawn(s, last < MOST_NEAR ? last + 1 : MOST_NEAR) :
				s->all.choice[i][drawn(s, FEW)];
		set_leaf(s, i);
	}
}

static uint64_t item_of(const Search *s)
{
	uint64_t h = 1;
	for (int i = 0; i < s->all.n; i++)
		if (s->of_item[i])
			h = hash_mix(h, s->all.value[i]);
	return h;
}

/* Whether a place is touched under its conditions; one that cannot be evaluated is taken to
 * hold. */
static bool touched_now(Search *s, const Place *p)
{
	int64_t c;
	for (size_t i = 0; i < p->n; i++)
		if (evaluate(s, p->cond[i], MOST_DEPTH, &c) && !c)
			return false;
	return true;
}

static const char *case_text(const Search *s)
{
	Buf b = {0};
	for (int i = 0; i < s->all.n && b.n < 200; i++)
		buf_printf(&b, "%s%s=%lld", i ? " " : "", index_text(s->all.leaf[i]),
			(long long)s->all.value[i]);
	const char *text = arena_strdup(buf_str(&b));
	buf_free(&b);
	return text;
}

/* Which item touched a place, and how; seed: what it was chosen by. */
typedef struct { uint64_t item, seed; size_t access; } Touch;

/* Both of them, the later one being at hand. */
static const char *both_text(Search *s, int64_t at, const Touch *t)
{
	const char *later = case_text(s);
	s->seed = t->seed;
	choose(s);
	return arena_printf("%lld at %s, and at %s", (long long)at, case_text(s), later);
}

/* The places of one axis (n), a for messages. */
static const char *collision(Search *s, const Place *p, size_t n, const Access *const *a)
{
	Map seen = {0};
	const char *found = NULL;
	for (int i = 0; i < MOST_PLACES && !found; i++) {
		size_t k = (size_t)drawn(s, n);
		uint64_t seed = s->seed;
		int64_t at;
		choose(s);
		if (!touched_now(s, &p[k]) || !evaluate(s, p[k].at, MOST_DEPTH, &at))
			continue;
		Touch *t = map_get(&seen, (uint64_t)at + 1);
		if (t && t->item != item_of(s) && (a[k]->store || a[t->access]->store))
			found = both_text(s, at, t);
		if (t || found)
			continue;
		t = arena_alloc(sizeof *t);
		*t = (Touch){item_of(s), seed, k};
		map_put(&seen, (uint64_t)at + 1, t);
	}
	map_free(&seen);
	return found;
}

const char *colliding(const Items *x, const Place *p, size_t n, const Access *const *a)
{
	Search s = {.items = x, .seed = 1};
	const char *found = NULL;
	for (size_t i = 0; i < n; i++) {
		find_leaves(&s.all, p[i].at);
		for (size_t k = 0; k < p[i].n; k++)
			find_leaves(&s.all, p[i].cond[k]);
	}
	for (int i = 0; i < x->n; i++)
		if (x->number[i])
			find_leaves(&s.all, x->number[i]);
	for (int i = 0; i < x->n; i++)
		for (int k = 0; k < s.all.n; k++)
			s.of_item[k] |= s.all.leaf[k] == x->number[i];
	for (int i = 0; i < TRIES && !found; i++)
		if (draw(&s, p->call->graph, i))
			found = collision(&s, p, n, a);
	table_free(&s.now);
	return found;
}

/* ---- all cases */

/* A place as what moves, with what is the same in all items taken away: of all places alike. */
static bool take_common(Place *p, const Digits *d, UOp **common)
{
	Sum all, moving;
	sum_of(&all, p->at);
	moving = all;
	for (int i = 0; i < all.n; i++)
		if (!moves_with(d, all.t[i].m) && !sum_term(&moving, -all.t[i].c, all.t[i].m))
			return false;
	p->at = sum_node(&moving);
	if (!sum_plus(&all, -1, &moving))
		return false;
	UOp *rest = sum_node(&all);
	bool same = !*common || *common == rest;
	*common = rest;
	return same;
}

/* The numbers of items, which come first, and the counters in a place, with their sizes; how many
 * combinations of values there are, 0 when sizes are no numbers, or it is too many. */
static int64_t cases_of(Search *s, const Place *p, int64_t *size)
{
	int64_t n = 1;
	s->all.n = 0;
	for (int i = 0; i < s->items->n; i++)
		find_leaves(&s->all, s->items->number[i]);
	find_leaves(&s->all, p->at);
	for (int i = 0; i < s->all.n; i++)
		if (s->all.leaf[i]->op == OP_VAR ||
			!ix_is_const(s->all.leaf[i]->src[0], &size[i]) || size[i] <= 0 ||
			!mul_ok(n, size[i], &n) || n > MOST_CASES)
			return 0;
	return s->all.n < MOST_LEAVES ? n : 0;
}

/* The case of a number, in which items change first; which item that is. */
static int64_t set_case(Search *s, int64_t number, const int64_t *size)
{
	int64_t item = 0, items = 1;
	table_round(&s->now);
	for (int k = 0; k < s->all.n; k++) {
		s->all.value[k] = number % size[k];
		number /= size[k];
		item += k < s->items->n ? items * s->all.value[k] : 0;
		items *= size[k];
		set_leaf(s, k);
	}
	return item;
}

/* By whom a place is touched: the first item, whether by others, whether it is stored to. */
typedef struct { int64_t item; bool others, stored; } Use;

/* False when an item touches a place that another one touches, of which one stores there. */
static bool use(Map *used, int64_t at, int64_t item, bool store)
{
	Use *u = map_get(used, (uint64_t)at + 1);
	if (!u) {
		u = arena_alloc(sizeof *u);
		*u = (Use){item, false, store};
		map_put(used, (uint64_t)at + 1, u);
	}
	u->others |= u->item != item;
	u->stored |= store;
	return !(u->others && u->stored);
}

static bool places_differ(Search *s, const Place *p, size_t n, const Access *const *a, Map *used)
{
	int64_t size[MOST_LEAVES], at;
	Effort *e = effort();
	for (size_t i = 0; i < n; i++) {
		int64_t cases = cases_of(s, &p[i], size);
		if (!cases || (size_t)cases > e->cases / CASES_A_PLACE)
			return false;
		e->cases -= (size_t)cases * CASES_A_PLACE;
		for (int64_t k = 0; k < cases; k++) {
			int64_t item = set_case(s, k, size);
			if (!touched_now(s, &p[i]))
				continue;
			if (!evaluate(s, p[i].at, MOST_DEPTH, &at) || at < 0 ||
				!use(used, at, item, a[i]->store))
				return false;
		}
	}
	return true;
}

bool none_collide(const Digits *d, const Items *x, Place *p, const Access *const *a)
{
	Search s = {.items = x};
	UOp *common = NULL;
	Map used = {0};
	bool is = true;
	for (int i = 0; i < x->n; i++)
		is &= x->number[i] != NULL;
	for (size_t i = 0; i < d->n && is; i++)
		is = take_common(&p[i], d, &common);
	is = is && places_differ(&s, p, d->n, a, &used);
	map_free(&used);
	table_free(&s.now);
	return is;
}
