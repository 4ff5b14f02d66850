/* A case in which two items touch one place: sizes, numbers of both, and what the counters of loops
 * are. Some values of each are tried, near the ends and near each other. */
#include <stdlib.h>
#include "prove/apart.h"

enum { TRIES = 8, MOST_PLACES = 8192, MOST_LEAVES = 64, FEW = 4,
	MOST_NEAR = 128 };

typedef struct {
	int n;
	UOp *leaf[MOST_LEAVES];
	int64_t value[MOST_LEAVES], choice[MOST_LEAVES][FEW];
} Leaves;
typedef struct { Leaves all; const Items *items; uint64_t seed; } Search;

static int64_t drawn(Search *s, int64_t below)
{
	s->seed = hash_mix(s->seed, 0x51);
	return below > 0 ? (int64_t)(s->seed % (uint64_t)below) : 0;
}

static int leaf_number(Leaves *l, const UOp *u)
{
	for (int i = 0; i < l->n; i++)
		if (l->leaf[i] == u)
			return i;
	return -1;
}

/* The value of an index or condition; false when it has none: it loads, or divides by 0. */
static bool evaluate(Leaves *l, UOp *u, int depth, int64_t *v)
{
	int64_t a = 0, b = 0;
	int i = leaf_number(l, u);
	if (i >= 0)
		*v = l->value[i];
	if (i >= 0 || ix_is_const(u, v))
		return true;
	if (u->op == OP_CONST && u->dtype == DT_BOOL) {
		*v = u->arg->b;
		return true;
	}
	if (u->op == OP_LET)
		return depth && evaluate(l, u->src[0], depth - 1, v);
	if (u->nsrc != 2 || !depth || !evaluate(l, u->src[0], depth - 1, &a) ||
		!evaluate(l, u->src[1], depth - 1, &b))
		return false;
	switch (u->op) {
	case OP_ADD: return add_ok(a, b, v);
	case OP_MUL: return mul_ok(a, b, v);
	case OP_MIN: *v = a < b ? a : b; return true;
	case OP_MAX: *v = a > b ? a : b; return true;
	case OP_AND: *v = a & b; return true;
	case OP_CMPLT: *v = a < b; return true;
	case OP_CMPEQ: *v = a == b; return true;
	case OP_FLOORDIV: case OP_FLOORMOD:
		if (b <= 0)
			return false;
		*v = a / b - (a % b < 0);
		*v = u->op == OP_FLOORDIV ? *v : a - *v * b;
		return true;
	default: return false;
	}
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

/* Draws sizes, and a few values for each number and counter; false when one has no value. */
static bool draw(Search *s, int try)
{
	enum { DEPTH = 64 };
	for (int i = 0; i < s->all.n; i++) {
		UOp *u = s->all.leaf[i];
		int64_t n = 0;
		if (u->op == OP_VAR) {
			int64_t lo = u->arg->a[1]->i, far = u->arg->a[2]->i - lo + 1;
			s->all.value[i] = lo + drawn(s, try < 4 && far > 70 ? 70 : far);
			continue;
		}
		if (!evaluate(&s->all, u->src[0], DEPTH, &n) || n <= 0)
			return false;
		int64_t at = drawn(s, n);
		const int64_t some[FEW] = {at, at + 1 < n ? at + 1 : at, 0, n - 1};
		memcpy(s->all.choice[i], some, sizeof some);
		s->all.value[i] = at;
	}
	return true;
}

/* One combination of the choices; every other time of any values up to MOST_NEAR, too. */
static void choose(Search *s)
{
	int64_t wide = drawn(s, 2);
	for (int i = 0; i < s->all.n; i++) {
		int64_t last = s->all.choice[i][FEW - 1];
		if (s->all.leaf[i]->op == OP_VAR)
			continue;
		s->all.value[i] = wide && drawn(s, 2) ?
			drawn(s, last < MOST_NEAR ? last + 1 : MOST_NEAR) :
			s->all.choice[i][drawn(s, FEW)];
	}
}

static uint64_t item_of(const Search *s)
{
	uint64_t h = 1;
	for (int i = 0; i < s->all.n; i++)
		for (int k = 0; k < s->items->n; k++)
			if (s->all.leaf[i] == s->items->number[k])
				h = hash_mix(h, s->all.value[i]);
	return h;
}

/* Where a place is under its conditions; a condition that cannot be evaluated is taken to hold. */
static bool place_now(Search *s, const Place *p, int64_t *at)
{
	enum { DEPTH = 64 };
	int64_t c;
	for (size_t i = 0; i < p->n; i++)
		if (evaluate(&s->all, p->cond[i], DEPTH, &c) && !c)
			return false;
	return evaluate(&s->all, p->at, DEPTH, at);
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

typedef struct { uint64_t item; const char *text; size_t access; } Touch;

/* The places of one axis (n), a for messages. */
static const char *collision(Search *s, const Place *p, size_t n, const Access *const *a)
{
	Map seen = {0};
	const char *found = NULL;
	for (int i = 0; i < MOST_PLACES && !found; i++) {
		size_t k = (size_t)drawn(s, n);
		int64_t at;
		choose(s);
		if (!place_now(s, &p[k], &at))
			continue;
		Touch *t = map_get(&seen, (uint64_t)at + 1);
		if (t && t->item != item_of(s) && (a[k]->store || a[t->access]->store))
			found = arena_printf("%lld at %s, and at %s", (long long)at, t->text,
				case_text(s));
		if (t || found)
			continue;
		t = arena_alloc(sizeof *t);
		*t = (Touch){item_of(s), case_text(s), k};
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
	for (int i = 0; i < TRIES && !found; i++)
		if (draw(&s, i))
			found = collision(&s, p, n, a);
	return found;
}
