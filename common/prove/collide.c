/* A case in which two items touch one place: sizes, numbers of both, and what the counters of loops
 * are. Some values of each are tried, near the ends and near each other. */
#include <stdlib.h>
#include "prove/apart.h"
#include "shape/shape.h"

enum { TRIES = 8, MOST_PLACES = 8192, MOST_LEAVES = 64, FEW = 4, MOST_NEAR = 128,
	MOST_DEPTH = 64 };

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

/* Where a place is under its conditions; a condition that cannot be evaluated is taken to hold. */
static bool place_now(Search *s, const Place *p, int64_t *at)
{
	int64_t c;
	for (size_t i = 0; i < p->n; i++)
		if (evaluate(s, p->cond[i], MOST_DEPTH, &c) && !c)
			return false;
	return evaluate(s, p->at, MOST_DEPTH, at);
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
		if (!place_now(s, &p[k], &at))
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
