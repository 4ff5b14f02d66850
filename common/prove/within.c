/* Whether an index lies within a bound under the conditions under which a place is touched. */
#include "prove/digits.h"
#include "prove/places.h"

/* An i64 value x with 0 <= x < n is as good as an item's number out of n. */
static UOp *stand_in(UOp *x, UOp *n)
{
	return NODE(OP_SPECIAL, DT_I64, val_str(arena_printf("%%%u", x->id)), n);
}

static bool is_sum(const UOp *u)
{
	return u->op == OP_ADD || u->op == OP_MUL || u->op == OP_CONST;
}

typedef VEC(UOp *) Conds;

/* The comparisons x < y of indices that c, which is true, consists of. */
static void split_condition(Conds *out, UOp *c)
{
	Conds todo = {0};
	for (vec_push(&todo, c); todo.n; ) {
		UOp *u = todo.at[--todo.n];
		if (u->op == OP_LET || u->op == OP_AND)
			vec_push(&todo, u->src[0]);
		if (u->op == OP_AND)
			vec_push(&todo, u->src[1]);
		if ((u->op != OP_CMPLT && u->op != OP_CMPEQ) || u->src[0]->dtype != DT_I64)
			continue;
		/* x == y: x < y + 1 */
		vec_push(out, u->op == OP_CMPLT ? u : NODE(OP_CMPLT, DT_BOOL, VNIL, u->src[0],
			ix_add(u->src[1], ix_const(1))));
	}
	vec_free(&todo);
}

/* Replaces in u what conditions bound by stand-ins. */
static UOp *bounded(const Conds *c, UOp *u)
{
	UOp *from[8], *to[8];
	size_t n = 0;
	for (size_t i = 0; i < c->n && n < 8; i++) {
		UOp *x = c->at[i]->src[0], *b = c->at[i]->src[1];
		if (is_sum(x) || !ix_prove_le(ix_const(0), x))
			continue;
		from[n] = x;
		to[n++] = stand_in(x, b);
	}
	return substitute(u, n, from, to);
}

/* How many times u has the greatest term of x, at least once. */
static int64_t times_in(UOp *u, UOp *x)
{
	Sum s, t;
	int64_t c;
	sum_of(&s, x);
	sum_of(&t, u);
	if (!s.n || s.t[0].c <= 0)
		return 1;
	c = sum_coef(&t, s.t[0].m);
	return c > s.t[0].c ? c / s.t[0].c : 1;
}

/* Whether u < below follows from x < y: below - 1 - u >= n*(y - 1 - x) for an n > 0. A gate that
 * was divided by what all its terms share is a part of what it was made for. */
static bool implied_times(int64_t n, UOp *u, UOp *below, UOp *x, UOp *y)
{
	UOp *by = ix_const(n), *one = ix_const(1);
	return ix_prove_le(ix_add(u, ix_mul(by, ix_sub(y, one))),
		ix_add(ix_sub(below, one), ix_mul(by, x)));
}

static bool implied(UOp *u, UOp *below, UOp *x, UOp *y)
{
	int64_t n = times_in(u, x), m = times_in(below, y);
	return implied_times(n, u, below, x, y) || (m != n && implied_times(m, u, below, x, y));
}

/* A term c*MIN(a, b) of u with c > 0, or NULL. */
static UOp *least_in(UOp *u)
{
	int64_t c;
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL) {
		UOp *t = rest->op == OP_ADD ? rest->src[1] : rest;
		if (t->op == OP_MUL && ix_is_const(t->src[1], &c) && c > 0)
			t = t->src[0];
		if (t->op == OP_MIN && t->dtype == DT_I64)
			return t;
	}
	return NULL;
}

typedef struct { bool least, most; } Within;

static void try_within(Within *w, UOp *u, UOp *below)
{
	w->least = w->least || ix_prove_le(ix_const(0), u);
	w->most = w->most || ix_prove_lt(u, below);
}

static void try_conditions(Within *w, const Conds *c, UOp *u, UOp *below)
{
	UOp *v = ix_plain(bounded(c, u));
	try_within(w, v, below);
	u = ix_plain(u);
	for (size_t i = 0; i < c->n && !(w->least && w->most); i++) {
		UOp *x = ix_plain(c->at[i]->src[0]), *y = ix_plain(c->at[i]->src[1]);
		w->least = w->least || implied(ix_const(-1), u, x, y);
		w->most = w->most || implied(u, below, x, y) || implied(v, below, x, y);
	}
}

/* MIN(a, b) is one of a and b, and not above either. */
static void try_least(Within *w, const Conds *c, UOp *u, UOp *below)
{
	u = ix_plain(u);
	UOp *m = least_in(u);
	Within a = *w, b = *w;
	if (!m)
		return;
	try_conditions(&a, c, substitute(u, 1, &m, &m->src[0]), below);
	try_conditions(&b, c, substitute(u, 1, &m, &m->src[1]), below);
	w->least = w->least || (a.least && b.least);
	w->most = w->most || a.most || b.most;
}

/* Where p is touched, in a frame that stays open until it is asked of another place. */
static Known *known_at(const Place *p)
{
	static ARENA struct { const UOp *call; UOp *const *cond; size_t n, frames; } last;
	Known *k = places_known(p->call);
	if (last.call == k->call && last.frames == k->frame.n) {
		if (last.cond == p->cond && last.n == p->n)
			return k;
		frame_close(k);
	}
	frame_open(k);
	for (size_t i = p->n; i--; )
		assume(k, p->cond[i], true);
	facts_settle(k);
	last.call = k->call;
	last.cond = p->cond;
	last.n = p->n;
	last.frames = k->frame.n;
	return k;
}

/* Conditions of which it was asked whether they exclude each other. */
typedef struct { const UOp *call; UOp *const *cond; size_t n; bool dead; } Asked;

bool place_dead(const Place *p)
{
	static ARENA Map before;
	uint64_t key = hash_mix(PKEY(p->cond), PKEY(p->call->call));
	if (!p->n)
		return false;
	Asked *a = map_get(&before, key);
	if (a && a->call == p->call->call && a->cond == p->cond && a->n == p->n)
		return a->dead;
	a = arena_alloc(sizeof *a);
	*a = (Asked){p->call->call, p->cond, p->n, known_at(p)->dead};
	map_put(&before, key, a);
	return a->dead;
}

/* The same by what places.c knows. */
static void try_known(Within *w, const Place *p, UOp *u, UOp *below)
{
	if (!p->call)
		return;
	Known *k = known_at(p);
	w->least = w->least || follows(k, ix_const(0), u, 0);
	w->most = w->most || follows(k, u, below, 1);
}

/* By bounds, by what places.c knows, which is quickest where many conditions hold, and by the
 * conditions one by one. */
static bool find_within(const Place *p, UOp *u, UOp *below)
{
	Within w = {0};
	Conds c = {0};
	if (sample_refutes(p, u, below))
		return false;
	try_within(&w, u, below);
	if (!w.least || !w.most)
		try_known(&w, p, u, below);
	if (w.least && w.most)
		return true;
	for (size_t i = 0; i < p->n; i++)
		split_condition(&c, p->cond[i]);
	try_conditions(&w, &c, u, below);
	if (!w.least || !w.most)
		try_least(&w, &c, u, below);
	vec_free(&c);
	return w.least && w.most;
}

/* A question that was answered: of a place that `call` touches under conditions. */
typedef struct {
	const UOp *call, *u, *below;
	UOp *const *cond;
	size_t n;
	bool within;
} Answer;

bool place_within(const Place *p, UOp *u, UOp *below)
{
	static ARENA Map before;
	const UOp *call = p->call ? p->call->call : NULL;
	UOp *const *cond = p->n ? p->cond : NULL;
	uint64_t key = hash_mix(hash_mix(PKEY(cond), PKEY(call)), hash_mix(PKEY(u), PKEY(below)));
	Answer *a = map_get(&before, key);
	if (a && a->call == call && a->cond == cond && a->n == p->n && a->u == u &&
		a->below == below)
		return a->within;
	a = arena_alloc(sizeof *a);
	*a = (Answer){call, u, below, cond, p->n, find_within(p, u, below)};
	map_put(&before, key, a);
	return a->within;
}
