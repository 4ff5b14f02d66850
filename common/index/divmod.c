/* Floor division and remainder, x = d*q + r, computed together: what one drops the other keeps, so
 * that a reshape and its inverse cancel in sum_node. Tried in this order, where d is a number or n,
 * n-2, n*m:
 *
 *     whole     (a + 10*b) // 10      a in 0..9       q = b          r = a
 *     nested    (x//a) // b                           q = x//(a*b)
 *               (x%(a*b)) // b                        q = (x//b)%a   r = x%b
 *     common    (6*a + b) // 4        b in 0..1       q = (3*a)//2   r = 2*((3*a)%2) + b
 *
 * and the rest is a FLOORDIV or FLOORMOD node with the smallest numerator. Under a gate that bounds
 * the remainder, it may be a plain sum (ix_unwrap): (10*k + i + 1) % 11 < 8 with k < 3 and i < 8 is
 * i + 1 - k.
 */
#include "index/index.h"
#include "index/ix.h"

/* ---- results, cached --------------------------------------------------------------------- */

typedef struct { UOp *x, *d, *q, *r; } Division;
enum { SLOTS = 4096, DEPTH = 24 };
static ARENA Division *memo;       /* the latest result in each slot; losing one only costs time */
static ARENA int depth;         /* nesting of divisions */

static Division *slot(UOp *x, UOp *d)
{
	if (!memo)
		memo = arena_alloc(SLOTS * sizeof *memo);
	return &memo[(x->id * 0x9E3779B1u ^ d->id * 0x85EBCA6Bu) >> 20 & (SLOTS - 1)];
}

/* ---- small helpers -----------------------------------------------------------------------------
 */

static UOp *raw(Op op, UOp *x, UOp *d)
{
	return NODE(op, DT_I64, VNIL, x, d);
}

static bool positive(const Sum *d)
{
	Sum t = *d;

	return add_ok(t.k, -1, &t.k) && sum_nonneg(&t);
}

/* True when k*d <= s < (k+1)*d can be proved for some k. */
static bool block(const Sum *s, const Sum *d, int64_t *k)
{
	static const int64_t tries[] = {0, -1, 1};
	int64_t lo, hi;
	Sum t;

	if (!d->n) {
		sum_bounds(s, &lo, &hi);
		if (lo != INT64_MIN && hi != INT64_MAX &&
			floordiv(lo, d->k) == floordiv(hi, d->k)) {
			*k = floordiv(lo, d->k);
			return true;
		}
	}
	for (int i = 0; i < 3; i++) {
		t = *s;
		if (!sum_plus(&t, -tries[i], d) || !sum_nonneg(&t))
			continue;
		sum_const(&t, -1);
		if (sum_plus(&t, tries[i] + 1, d) && sum_plus(&t, -1, s) && sum_nonneg(&t)) {
			*k = tries[i];
			return true;
		}
	}
	return false;
}

/* ---- whole multiples of the divisor ---------------------------------------------------------- */

enum { TRUNCATED, FLOORED, NEAREST };      /* how a coefficient is divided */

static int64_t quotient(int64_t c, int64_t d, int how)
{
	int64_t q = how == TRUNCATED ? c / d : floordiv(c, d);

	if (how == NEAREST && d - (c - q * d) < c - q * d)
		q++;
	return q;
}

/* Sets x = d*q + r for a divisor of one term dc*dm, dc > 0 (dm is the constant 1 for a number). */
static bool take_whole(const Sum *x, int64_t dc, UOp *dm, int how, Sum *q, Sum *r)
{
	sum_const(q, 0);
	sum_const(r, x->k);
	if (dm->op == OP_CONST) {
		q->k = floordiv(x->k, dc);
		r->k = x->k - q->k * dc;
	}
	for (int i = 0; i < x->n; i++) {
		Term t = x->t[i];
		UOp *e = mono_div(t.m, dm);
		int64_t c = e ? quotient(t.c, dc, how) : 0;
		if (c && (!sum_term(q, c, e) || !sum_term(r, t.c - c * dc, t.m)))
			return false;
		if (!c && !sum_term(r, t.c, t.m))
			return false;
	}
	return true;
}

/* The same for a divisor of several terms, such as n-2: takes out multiples of which all terms are
 * present. */
static bool take_multiples(const Sum *x, const Sum *d, Sum *q, Sum *r)
{
	Term lead = d->t[0];
	Sum f, w;

	for (int i = 1; i < d->n; i++)
		if (mono_div(d->t[i].m, lead.m))
			lead = d->t[i];
	sum_const(q, 0);
	*r = *x;
	for (int i = 0; i < r->n; i++) {
		Term t = r->t[i];
		UOp *e = mono_div(t.m, lead.m);
		if (!e || t.c / lead.c == 0)
			continue;
		sum_const(&f, 0);
		if (!sum_term(&f, t.c / lead.c, e) || !sum_mul(&w, &f, d))
			return false;
		bool all = e->op == OP_CONST || !w.k;
		for (int j = 0; j < w.n && all; j++) {
			int64_t c = sum_coef(r, w.t[j].m);
			all = c && (c < 0) == (w.t[j].c < 0) &&
				(c < 0 ? c <= w.t[j].c : c >= w.t[j].c);
		}
		if (!all)
			continue;
		if (!sum_plus(q, 1, &f) || !sum_plus(r, -1, &w))
			return false;
		i = -1;
	}
	return true;
}

/* Given x = d*q + r, adjusts q and r so that 0 <= r < d; false when that cannot be proved. */
static bool settle(const Sum *d, Sum *q, Sum *r)
{
	int64_t k;

	return block(r, d, &k) && add_ok(q->k, k, &q->k) && sum_plus(r, -k, d);
}

static bool same(const Sum *a, const Sum *b)
{
	return a->n == b->n && a->k == b->k && !memcmp(a->t, b->t, a->n * sizeof *a->t);
}

static bool whole(const Sum *x, const Sum *d, Sum *q, Sum *r)
{
	Sum q1, r1;
	bool one = d->n + (d->k != 0) == 1;
	int64_t dc = d->n ? d->t[0].c : d->k;

	sum_const(q, 0);
	*r = *x;
	if (settle(d, q, r))
		return true;
	if (!one || dc <= 0) {
		if (d->n && take_multiples(x, d, &q1, &r1)) {
			*q = q1;
			*r = r1;
		}
		return q->n + (q->k != 0) && settle(d, q, r);
	}
	UOp *dm = d->n ? d->t[0].m : ix_const(1);
	for (int how = NEAREST; how >= TRUNCATED; how--) {
		if (!take_whole(x, dc, dm, how, &q1, &r1) || (same(&q1, q) && same(&r1, r)))
			continue;       /* the last try was the same */
		*q = q1;
		*r = r1;
		if (settle(d, q, r))
			return true;
	}
	return false;       /* q and r are left in truncated form */
}

/* ---- quotients and remainders in the numerator ----------------------------------------------- */

static void plus(Sum *s, UOp *u)
{
	Sum t, keep = *s;

	sum_of(&t, u);
	if (sum_plus(s, 1, &t))
		return;
	UOp *all = raw(OP_ADD, sum_node(&keep), u);
	sum_const(s, 0);
	sum_term(s, 1, all);
}

/* Divides d = a*e exactly. */
static bool factor(const Sum *d, const Sum *a, Sum *e)
{
	Sum rest;

	if (a->n + (a->k != 0) == 1) {
		int64_t c = a->n ? a->t[0].c : a->k;
		if (c <= 0 ||
			!take_whole(d, c, a->n ? a->t[0].m : ix_const(1), TRUNCATED, e, &rest))
			return false;
	} else if (!a->n || !take_multiples(d, a, e, &rest)) {
		return false;
	}
	return !rest.n && !rest.k;
}

static bool nested(UOp *d, const Sum *sd, Sum *q, Sum *r)
{
	Sum a, e;

	if (r->n != 1 || r->t[0].c != 1)
		return false;
	UOp *in = r->t[0].m, *k = ix_const(r->k);
	if ((in->op != OP_FLOORDIV && in->op != OP_FLOORMOD) || !ix_pure(in))
		return false;
	UOp *y = in->src[0];
	int64_t v;
	sum_of(&a, in->src[1]);
	if (!positive(&a))
		return false;
	/* a size that is a quotient of sizes stays one thing, of which others are parts */
	if (in->op == OP_FLOORDIV && ix_fixed(in) && !ix_is_const(in->src[1], &v))
		return false;
	if (in->op == OP_FLOORDIV) {
		UOp *inner = ix_add(y, ix_mul(k, in->src[1])), *by = ix_mul(in->src[1], d);
		plus(q, ix_div(inner, by));
		sum_const(&e, 0);
		sum_term(&e, 1, raw(OP_FLOORMOD, sum_node(r), d));
		*r = e;
		return true;
	}
	if (r->k || !factor(&a, sd, &e))
		return false;
	plus(q, ix_mod(ix_div(y, d), sum_node(&e)));
	sum_of(r, ix_mod(y, d));
	return true;
}

/* ---- common factors -------------------------------------------------------------------------- */

/* The greatest common factor gc*gm of c*m and every term of d. */
static void common(const Sum *d, int64_t c, UOp *m, int64_t *gc, UOp **gm)
{
	UOp *atom[IX_ATOMS];
	int n = mono_atoms(m, atom);

	*gc = gcd(c, d->k);
	*gm = ix_const(1);
	for (int i = 0; i < d->n; i++)
		*gc = gcd(*gc, d->t[i].c);
	for (int j = 0; j < n && !d->k && d->n; j++) {
		UOp *more = mono_mul(*gm, atom[j]);
		bool all = true;
		for (int i = 0; i < d->n && all; i++)
			all = mono_div(d->t[i].m, more) != NULL;
		if (all)
			*gm = more;
	}
}

/* Splits x = g*s + t with 0 <= t < g, for g = gc*gm. */
static bool part(const Sum *x, int64_t gc, UOp *gm, const Sum *g, Sum *s, Sum *t)
{
	int64_t k;

	sum_const(s, 0);
	sum_const(t, x->k);
	if (gm->op == OP_CONST) {
		s->k = floordiv(x->k, gc);
		t->k = x->k - s->k * gc;
	}
	for (int i = 0; i < x->n; i++) {
		UOp *e = mono_div(x->t[i].m, gm);
		bool in = e && x->t[i].c % gc == 0;
		if (!sum_term(in ? s : t, in ? x->t[i].c / gc : x->t[i].c, in ? e : x->t[i].m))
			return false;
	}
	return s->n && block(t, g, &k) && add_ok(s->k, k, &s->k) && sum_plus(t, -k, g);
}

/* (g*s + t) // (g*e) = s//e, and the remainder is g*(s%e) + t. */
static bool reduced(const Sum *d, Sum *q, Sum *r)
{
	Sum g, s, t, e, m, p;
	int64_t gc, all = 0;
	UOp *gm;

	if (!positive(d))
		return false;
	for (int i = 0; i < r->n; i++)
		all = gcd(all, r->t[i].c);
	for (int i = 0; i <= r->n; i++) {
		common(d, i < r->n ? r->t[i].c : all, i < r->n ? r->t[i].m : ix_const(1), &gc, &gm);
		if (gc == 1 && gm->op == OP_CONST)
			continue;
		sum_const(&g, 0);
		if (!sum_term(&g, gc, gm) || !positive(&g))
			continue;
		if (!part(r, gc, gm, &g, &s, &t) || !factor(d, &g, &e))
			continue;
		UOp *us = sum_node(&s), *ue = sum_node(&e);
		sum_of(&m, ix_mod(us, ue));
		if (!sum_mul(&p, &g, &m) || !sum_plus(&p, 1, &t))
			continue;
		plus(q, ix_div(us, ue));
		*r = p;
		return true;
	}
	return false;
}

/* ---- the two functions ----------------------------------------------------------------------- */

static Division numbers(UOp *x, UOp *d, int64_t a, int64_t b)
{
	if (b == -1)
		return (Division){x, d, ix_sub(ix_const(0), x), ix_const(0)};
	return (Division){x, d, ix_const(floordiv(a, b)), ix_const(floormod(a, b))};
}

static Division plain(UOp *x, UOp *d)
{
	return (Division){x, d, raw(OP_FLOORDIV, x, d), raw(OP_FLOORMOD, x, d)};
}

/* Whether coefficients are far enough from the ends of int64 that quotients and remainders do not
 * overflow. */
static bool small(const Sum *s)
{
	bool ok = s->k > INT64_MIN / 2 && s->k < INT64_MAX / 2;

	for (int i = 0; i < s->n && ok; i++)
		ok = s->t[i].c > INT64_MIN / 2 && s->t[i].c < INT64_MAX / 2;
	return ok;
}

/* ---- sizes divided by a number --------------------------------------------------------------- */

/* x with c*y for each c*(y%e), where d divides c*e: the remainder is the same. *more is by how much
 * the quotient is less. */
static bool without_remainders(Sum *x, int64_t d, Sum *more)
{
	bool any = false;
	int64_t e, ce;

	sum_const(more, 0);
	for (int i = 0; i < x->n; i++) {
		UOp *m = x->t[i].m;
		int64_t c = x->t[i].c;
		Sum y;
		if (m->op != OP_FLOORMOD || !ix_is_const(m->src[1], &e) || e <= 0 ||
			!mul_ok(c, e, &ce) || ce % d)
			continue;
		sum_of(&y, m->src[0]);
		UOp *q = ix_div(m->src[0], m->src[1]);
		if (!sum_term(x, -c, m) || !sum_plus(x, c, &y) || !small(x))
			return false;
		sum_of(&y, q);
		if (!sum_plus(more, ce / d, &y))
			return false;
		any = true;
		i = -1;
	}
	return any;
}

/* -x // d is -((x + d-1) // d). */
static bool below_zero(const Sum *x)
{
	bool all = x->n > 0;

	for (int i = 0; i < x->n; i++)
		all &= x->t[i].c < 0;
	return all;
}

/* Takes a size r apart that is divided by a number n, where its quotient or its remainder is one of
 * another size. */
static bool size_parts(UOp *d, int64_t n, Sum *q, Sum *r)
{
	Sum s = *r, more;
	UOp *x = sum_node(r);

	if (!ix_fixed(x))
		return false;
	if (without_remainders(&s, n, &more)) {
		UOp *y = sum_node(&s);
		plus(q, ix_sub(ix_div(y, d), sum_node(&more)));
		sum_of(r, ix_mod(y, d));
		return true;
	}
	if (!below_zero(r))
		return false;
	plus(q, ix_sub(ix_const(0), ix_div(ix_sub(ix_const(n - 1), x), d)));
	sum_const(r, 0);
	return sum_term(r, 1, raw(OP_FLOORMOD, x, d));
}

static Division divide(UOp *x, UOp *d)
{
	Sum sx, sd, q, r;

	sum_of(&sx, x);
	sum_of(&sd, d);
	if (!small(&sx) || !small(&sd))
		return plain(x, d);
	bool done = whole(&sx, &sd, &q, &r) || (positive(&sd) && nested(d, &sd, &q, &r)) ||
		(!sd.n && sd.k > 0 && size_parts(d, sd.k, &q, &r));
	if (!done && !reduced(&sd, &q, &r)) {
		UOp *rest = sum_node(&r);
		plus(&q, raw(OP_FLOORDIV, rest, d));
		return (Division){x, d, sum_node(&q), raw(OP_FLOORMOD, rest, d)};
	}
	return (Division){x, d, sum_node(&q), sum_node(&r)};
}

static Division divmod(UOp *x, UOp *d)
{
	int64_t a, b = 0;
	bool number = ix_is_const(d, &b);

	if (number && b == 1)
		return (Division){x, d, x, ix_const(0)};
	if (number && b && ix_is_const(x, &a))
		return numbers(x, d, a, b);
	/* division by 0 has no value, and no rule holds for values that may wrap or be 0 */
	if ((number && (!b || b == INT64_MIN)) || depth > DEPTH || ix_wild(x) || ix_wild(d)
	    || !(ix_fixed(d) || ix_prove_lt(ix_const(0), d)))
		return plain(x, d);
	Division *e = slot(x, d);
	if (e->x == x && e->d == d)
		return *e;
	depth++;
	Division f;
	if (number && b < 0) {
		f = divmod(ix_sub(ix_const(0), x), ix_const(-b));
		f = (Division){x, d, f.q, ix_sub(ix_const(0), f.r)};
	} else {
		f = divide(x, d);
	}
	depth--;
	*slot(x, d) = f;
	return f;
}

UOp *ix_div(UOp *x, UOp *d)
{
	return divmod(x, d).q;
}

UOp *ix_mod(UOp *x, UOp *d)
{
	return divmod(x, d).r;
}

bool ix_unwrap(UOp *mod, int64_t lo, int64_t hi, UOp **q, UOp **y)
{
	Sum sx, sq, sy;
	int64_t n, least, most;

	if (mod->op != OP_FLOORMOD || ix_wild(mod) || !ix_is_const(mod->src[1], &n) || n <= 0)
		return false;
	sum_of(&sx, mod->src[0]);
	if (!small(&sx) || !take_whole(&sx, n, ix_const(1), NEAREST, &sq, &sy))
		return false;
	sum_bounds(&sy, &least, &most);
	lo = lo < 0 ? 0 : lo;
	hi = hi > n ? n : hi;
	/* where y < 0 or y >= n, the remainder is y + n or y - n, which must be outside lo … hi */
	if (least < -n || most >= 2 * n || (least < 0 && least + n < hi) ||
		(most >= n && most - n >= lo))
		return false;
	*q = sum_node(&sq);
	*y = sum_node(&sy);
	return true;
}
