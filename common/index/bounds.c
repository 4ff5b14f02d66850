/* The range of an index. First as numbers: an interval for every node, cached by id. Then as
 * symbols: s >= 0 is proved by replacing one atom after another by the end of its interval that
 * makes s smallest:
 *
 *     n*8 - r0*8 - r1 - 1 >= 0      r0 in 0..n-1, r1 in 0..7
 *     r0: its coefficient -8 is negative, so n-1:   7 - r1 >= 0
 *     r1: so 7:                                     0 >= 0
 *
 * The coefficient of an atom may itself be a sum (n-2); its sign is proved in the same way. */
#include "index/index.h"
#include "index/ix.h"
#include <stdlib.h>

/* ---- intervals ------------------------------------------------------------------------------- */

#define NO_LO INT64_MIN
#define NO_HI INT64_MAX
typedef struct { int64_t lo, hi; } Span;
typedef struct {
	Span span;
	Span usual;             /* the same if no variable were above USUAL */
	bool known;
	bool impure;            /* contains a value other than CONST, VAR, RANGE, SPECIAL */
	bool moves;             /* contains anything but CONST and VAR */
} Info;

/* By contract an index made of sizes does not overflow, but a program's own arithmetic on ARANGE,
 * which looks the same, may. An expression that fits int64 when no variable is larger than this is
 * taken to be an index. */
enum { USUAL = 1 << 20 };

static ARENA TABLE(Info) infos;
static const Span nothing_known = {NO_LO, NO_HI};

static Info *info_of(const UOp *u)
{
	if (u->id >= infos.cap)
		table_fit(&infos);
	return &infos.at[u->id];
}

static bool known(Span a)
{
	return a.lo != NO_LO && a.hi != NO_HI;
}

static Span span_add(Span a, Span b)
{
	Span r;

	if (a.lo == NO_LO || b.lo == NO_LO || !add_ok(a.lo, b.lo, &r.lo))
		r.lo = NO_LO;
	if (a.hi == NO_HI || b.hi == NO_HI || !add_ok(a.hi, b.hi, &r.hi))
		r.hi = NO_HI;
	return r;
}

static Span span_scale(Span a, int64_t c)
{
	Span r;

	if (!c)
		return (Span){0, 0};
	if (c < 0)
		a = (Span){a.hi == NO_HI ? NO_LO : a.hi, a.lo == NO_LO ? NO_HI : a.lo};
	if (a.lo == NO_LO || !mul_ok(a.lo, c, &r.lo))
		r.lo = NO_LO;
	if (a.hi == NO_HI || !mul_ok(a.hi, c, &r.hi))
		r.hi = NO_HI;
	return r;
}

static Span span_mul(Span a, Span b)
{
	Span r = {NO_HI, NO_LO};

	if (a.lo >= 0 && b.lo >= 0) {
		bool fits = a.hi != NO_HI && b.hi != NO_HI && mul_ok(a.hi, b.hi, &r.hi);
		return (Span){mul_ok(a.lo, b.lo, &r.lo) ? r.lo : 0, fits ? r.hi : NO_HI};
	}
	if (!known(a) || !known(b))
		return nothing_known;
	for (int i = 0; i < 4; i++) {
		int64_t x;
		if (!mul_ok(i & 1 ? a.lo : a.hi, i & 2 ? b.lo : b.hi, &x))
			return nothing_known;
		r.lo = x < r.lo ? x : r.lo;
		r.hi = x > r.hi ? x : r.hi;
	}
	return r;
}

static int64_t greatest(Span a)
{
	if (!known(a))
		return NO_HI;
	return a.hi > -a.lo ? a.hi : -a.lo;
}

static Span span_div(Span a, Span b)
{
	Span r;

	if (b.lo <= 0) {        /* of any sign: |quotient| is at most |numerator| */
		int64_t far = greatest(a);
		return far == NO_HI ? nothing_known : (Span){-far, far};
	}
	/* the largest divisor brings the quotient nearest to 0 */
	r.lo = a.lo == NO_LO ? NO_LO : floordiv(a.lo, a.lo < 0 ? b.lo : b.hi);
	r.hi = a.hi == NO_HI ? NO_HI : floordiv(a.hi, a.hi < 0 ? b.hi : b.lo);
	return r;
}

static Span span_mod(Span a, Span b)
{
	if (b.lo <= 0) {
		int64_t far = greatest(b);
		return far == NO_HI ? nothing_known : (Span){-far, far};
	}
	Span r = {0, b.hi == NO_HI ? NO_HI : b.hi - 1};
	if (a.lo >= 0 && a.hi < r.hi)
		r.hi = a.hi;
	return r;
}

/* of max(0, x) */
static Span span_positive(Span x)
{
	return (Span){x.lo > 0 ? x.lo : 0, x.hi > 0 ? x.hi : 0};
}

static Span span_union(Span a, Span b)
{
	return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Span dtype_span(DType d)
{
	if (d == DT_BOOL)
		return (Span){0, 1};
	if (!dtype_int(d) || dtype_max(d) > INT64_MAX)
		return nothing_known;
	return (Span){dtype_min(d), dtype_max(d)};
}

static Span var_span(const UOp *u)
{
	const Val *v = u->arg;

	if (v->kind != VAL_ARRAY || v->n != 3 || v->a[1]->kind != VAL_INT ||
		v->a[2]->kind != VAL_INT)
		return nothing_known;
	return (Span){v->a[1]->i, v->a[2]->i};
}

/* The span of u from those of its sources. */
static Span derive_span(UOp *u, Span a, Span b, Span c)
{
	int64_t v;

	if (dtype_lanes(u->dtype) > 1)
		return nothing_known;
	switch (u->op) {
	case OP_CONST: return ix_is_const(u, &v) ? (Span){v, v} : nothing_known;
	case OP_VAR: return var_span(u);
	case OP_RANGE:
	case OP_SPECIAL: return (Span){0, a.hi == NO_HI ? NO_HI : a.hi > 0 ? a.hi - 1 : 0};
	case OP_ADD: return span_add(a, b);
	case OP_SUB: return span_add(a, span_scale(b, -1));
	case OP_NEG: return span_scale(a, -1);
	case OP_MUL:
		if (a.lo == a.hi)
			return span_scale(b, a.lo);
		return b.lo == b.hi ? span_scale(a, b.lo) : span_mul(a, b);
	case OP_FLOORDIV: return span_div(a, b);
	case OP_FLOORMOD: return ix_positive_part(u) ? span_positive(a) : span_mod(a, b);
	case OP_MAX: return (Span){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
	case OP_MIN: return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
	case OP_WHERE: return span_union(b, c);
	case OP_LET: return a;
	case OP_CAST: return dtype_span(u->src[0]->dtype);
	default: return nothing_known;
	}
}

static bool index_op(const UOp *u)
{
	switch (u->op) {
	case OP_CONST: case OP_VAR: case OP_RANGE: case OP_SPECIAL: case OP_ADD: case OP_SUB:
	case OP_NEG: case OP_MUL: case OP_FLOORDIV: case OP_FLOORMOD: return u->dtype == DT_I64;
	default: return false;
	}
}

/* Whether the span of u depends on its sources' spans. */
static bool looks_in(const UOp *u)
{
	if (u->op == OP_MAX || u->op == OP_MIN || u->op == OP_LET || u->op == OP_WHERE)
		return u->dtype == DT_I64;
	return u->nsrc && index_op(u);
}

/* The sources that matter are cached already. */
static Info derive(UOp *u)
{
	const Info none = {.span = nothing_known, .usual = nothing_known};
	Info src[3] = {none, none, none};
	Info r = {.known = true, .impure = !index_op(u)};

	for (int i = 0; looks_in(u) && i < u->nsrc && i < 3; i++) {
		src[i] = infos.at[u->src[i]->id];
		r.impure |= src[i].impure;
		r.moves |= src[i].moves;
	}
	r.moves |= r.impure || u->op == OP_RANGE || u->op == OP_SPECIAL;
	r.span = derive_span(u, src[0].span, src[1].span, src[2].span);
	r.usual = derive_span(u, src[0].usual, src[1].usual, src[2].usual);
	if (u->op == OP_VAR && r.usual.hi > USUAL)
		r.usual.hi = r.usual.lo > USUAL ? r.usual.lo : USUAL;
	/* a value that may have wrapped can be anything */
	if (!known(r.impure ? r.span : r.usual))
		r.span = r.usual = nothing_known;
	return r;
}

static Info *learn_new(UOp *u)
{
	VEC(UOp *) todo = {0};

	for (vec_push(&todo, u); todo.n; ) {
		UOp *v = todo.at[todo.n - 1];
		size_t was = todo.n;
		if (info_of(v)->known) {
			todo.n--;
			continue;
		}
		if (looks_in(v))
			for (int i = 0; i < v->nsrc; i++)
				if (!info_of(v->src[i])->known)
					vec_push(&todo, v->src[i]);
		if (todo.n > was)
			continue;
		todo.n--;
		Info found = derive(v);         /* which may make nodes, and move the table */
		infos.at[v->id] = found;
	}
	vec_free(&todo);
	return &infos.at[u->id];
}

static inline Info *learn(UOp *u)
{
	Info *x = info_of(u);
	return x->known ? x : learn_new(u);
}

void ix_bounds(UOp *u, int64_t *lo, int64_t *hi)
{
	Info *x = learn(u);

	*lo = x->span.lo;
	*hi = x->span.hi;
}

bool ix_pure(UOp *u)
{
	return !learn(u)->impure;
}

bool ix_wild(UOp *u)
{
	Info *x = learn(u);

	return !known(x->impure ? x->span : x->usual);
}

bool ix_fixed(UOp *u)
{
	return !learn(u)->moves;
}

static Span mono_span(UOp *m)
{
	return learn(m)->span;
}

static Span sum_span(const Sum *s)
{
	Span r = {s->k, s->k};

	for (int i = 0; i < s->n; i++)
		r = span_add(r, span_scale(mono_span(s->t[i].m), s->t[i].c));
	return r;
}

void sum_bounds(const Sum *s, int64_t *lo, int64_t *hi)
{
	Span r = sum_span(s);

	*lo = r.lo;
	*hi = r.hi;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

static ARENA int budget;    /* attempts left: a long search for a proof is given up */
static ARENA int nested;    /* proofs within proofs */
static ARENA bool scaled;   /* claims may be multiplied: that shows other ones */

static bool nonneg(const Sum *s, int depth);

/* The smallest or largest value of a monomial whose atoms are all >= 0, as a sum over VARs. */
static bool mono_end(UOp *m, bool greatest, Sum *out);

/* An upper bound of s without RANGEs. */
static bool sum_upper(const Sum *s, Sum *out)
{
	Sum t;

	sum_const(out, s->k);
	for (int i = 0; i < s->n; i++)
		if (!mono_end(s->t[i].m, s->t[i].c > 0, &t) || !sum_plus(out, s->t[i].c, &t))
			return false;
	return true;
}

/* The upper bound of x//d is that of x, divided by d. */
static bool quotient_end(UOp *q, Sum *out)
{
	Sum s, t;
	bool ok;

	nested++;
	sum_of(&s, q->src[1]);
	ok = add_ok(s.k, -1, &s.k) && nonneg(&s, 2);
	sum_of(&s, q->src[0]);
	if (ok && (ok = sum_upper(&s, &t)))
		sum_of(out, ix_div(sum_node(&t), q->src[1]));
	nested--;
	return ok;
}

/* An end of one atom's interval as a sum. */
static bool atom_end(UOp *a, bool greatest, Sum *out)
{
	Span n = learn(a)->span;
	Sum s, t;

	switch (a->op) {
	case OP_VAR:
		sum_const(out, greatest ? n.hi : n.lo);
		return greatest ? n.hi != NO_HI : n.lo != NO_LO;
	case OP_RANGE:
	case OP_SPECIAL:
		sum_const(out, 0);
		if (greatest)
			sum_of(out, a->src[0]);
		return !greatest || add_ok(out->k, -1, &out->k);
	case OP_FLOORMOD:
		sum_of(&s, a->src[1]);
		t = s;
		if (!add_ok(t.k, -1, &t.k) || !nonneg(&t, 2))
			break;
		sum_const(out, 0);
		if (greatest)
			*out = t;
		return true;
	case OP_FLOORDIV:
		if (greatest && nested < 3 && learn(a)->moves && quotient_end(a, out))
			return true;
		break;
	}
	sum_const(out, greatest ? n.hi : n.lo);
	return greatest ? n.hi != NO_HI : n.lo != NO_LO;
}

static bool mono_end(UOp *m, bool greatest, Sum *out)
{
	UOp *atom[IX_ATOMS];
	int n = mono_atoms(m, atom);
	Sum one, t;

	sum_const(out, 1);
	for (int i = 0; i < n; i++) {
		if (n > 1 && learn(atom[i])->span.lo < 0)
			return false;
		if (atom[i]->op == OP_VAR) {
			sum_const(&one, 0);
			sum_term(&one, 1, atom[i]);
		} else if (!atom_end(atom[i], greatest, &one)) {
			return false;
		}
		t = *out;
		if (!sum_mul(out, &t, &one))
			return false;
	}
	return true;
}

static bool negated(const Sum *s, Sum *out)
{
	sum_const(out, 0);
	return sum_plus(out, -1, s);
}

/* Divides c = b*e exactly, for a positive b of one term. */
static bool multiple(const Sum *c, const Sum *b, Sum *e)
{
	UOp *m = b->n ? b->t[0].m : NULL;
	int64_t d = b->n ? b->t[0].c : b->k;

	sum_const(e, 0);
	if (b->n + (b->k != 0) != 1 || d <= 0 || c->k % d || (c->k && m))
		return false;
	e->k = c->k / d;
	for (int i = 0; i < c->n; i++) {
		UOp *q = m ? mono_div(c->t[i].m, m) : c->t[i].m;
		if (!q || c->t[i].c % d || !sum_term(e, c->t[i].c / d, q))
			return false;
	}
	return true;
}

/* Adds to rest a bound of c*(x//b), by x-b+1 <= b*(x//b) <= x, which keeps x symbolic: with c = b*e
 * as it is, else, for a number b, rest times b first. As the sum is an integer, b times it may be
 * as low as 1-b for it to be >= 0. */
static bool quotient_least(UOp *q, const Sum *c, bool up, Sum *rest)
{
	Sum b, e, x, t, sum = *rest;

	sum_of(&b, q->src[1]);
	if (learn(q)->moves || learn(q->src[1])->span.lo <= 0)
		return false;
	if (!multiple(c, &b, &e)) {
		e = *c;
		sum_const(&sum, b.k - 1);
		if (!scaled || b.n || !sum_plus(&sum, b.k, rest))
			return false;
	}
	sum_of(&x, q->src[0]);
	if (up && (!sum_plus(&x, -1, &b) || !add_ok(x.k, 1, &x.k)))
		return false;
	if (!sum_mul(&t, &e, &x) || !sum_plus(&sum, 1, &t))
		return false;
	*rest = sum;
	return true;
}

/* Phases in which atoms are replaced. Ranges are first, because their ends are expressions of sizes
 * that may cancel others. */
enum { RANGES, SIZES, VARS, PHASES };

static int phase_of(UOp *atom)
{
	return learn(atom)->moves ? RANGES : atom->op == OP_VAR ? VARS : SIZES;
}

/* Replaces one atom by the end that makes s smallest; false when the sign of no atom's coefficient
 * is known. */
static bool put_least(Sum *s, int phase, int depth)
{
	UOp *atom[IX_ATOMS];
	Sum c, rest, end, t, neg;

	for (int i = 0; i < s->n; i++) {
		int n = mono_atoms(s->t[i].m, atom);
		for (int j = 0; j < n; j++) {
			if (phase_of(atom[j]) != phase || !sum_split(s, atom[j], &c, &rest))
				continue;
			bool up = nonneg(&c, depth - 1);
			if (!up && (!negated(&c, &neg) || !nonneg(&neg, depth - 1)))
				continue;
			bool done = atom[j]->op == OP_FLOORDIV &&
				quotient_least(atom[j], &c, up, &rest);
			if (!done && atom_end(atom[j], !up, &end) && sum_mul(&t, &c, &end))
				done = sum_plus(&rest, 1, &t);
			if (done) {
				*s = rest;
				return true;
			}
		}
	}
	return false;
}

/* An atom of s that is max(0, x), with its x. */
static UOp *positive_of(const Sum *s, UOp **x)
{
	UOp *atom[IX_ATOMS];

	for (int i = 0; i < s->n; i++) {
		int n = mono_atoms(s->t[i].m, atom);
		for (int j = 0; j < n; j++) {
			nested++;
			*x = ix_positive_part(atom[j]);
			nested--;
			if (*x)
				return atom[j];
		}
	}
	return NULL;
}

/* s >= 0 with max(0, x) in it: with 0 and with x in its place. Where s grows with it, one of them
 * is enough, since it is at least both. */
static bool nonneg_cases(const Sum *s, UOp *atom, UOp *x, int depth)
{
	Sum c, zero, full, t;

	if (!sum_split(s, atom, &c, &zero))
		return false;
	sum_of(&t, x);
	if (!sum_mul(&full, &c, &t) || !sum_plus(&full, 1, &zero))
		return false;
	bool grows = nonneg(&c, depth - 1), first = nonneg(&zero, depth);
	return (grows && first) || ((grows || first) && nonneg(&full, depth));
}

static bool nonneg(const Sum *start, int depth)
{
	Sum s = *start;
	UOp *atom, *x;

	for (int i = 0; i < IX_TERMS; i++) {
		if (sum_span(&s).lo >= 0)
			return true;
		if (!s.n || depth <= 0 || --budget < 0)
			return false;
		int phase = RANGES;
		if (put_least(&s, phase, depth))
			continue;
		if ((atom = positive_of(&s, &x)))
			return nonneg_cases(&s, atom, x, depth);
		while (++phase < PHASES && !put_least(&s, phase, depth))
			;
		if (phase == PHASES)
			return false;
	}
	return false;
}

/* Whether a symbolic proof can be better: if every atom's interval is numeric and no atom occurs
 * twice, the sum's interval is exact already. */
static bool has_symbols(const Sum *s)
{
	UOp *atom[IX_ATOMS];

	for (int i = 0; i < s->n; i++) {
		int n = mono_atoms(s->t[i].m, atom);
		if (n > 1)
			return true;
		if (atom[0]->op != OP_RANGE || atom[0]->src[0]->op != OP_CONST)
			return true;
	}
	return false;
}

bool sum_nonneg(const Sum *s)
{
	int64_t lo = sum_span(s).lo;

	if (lo >= 0)
		return true;
	if (!s->n || !has_symbols(s))
		return false;
	bool is = false, was = scaled;
	for (int turn = 0; !is && turn < 2 - (nested > 0); turn++) {
		scaled = turn;
		budget = nested ? budget : 64;
		is = nonneg(s, nested ? 2 : 3);
	}
	scaled = was;
	return is;
}

static bool prove(UOp *a, UOp *b, int64_t less)
{
	Span x = learn(a)->span, y = learn(b)->span;
	Sum s, t;
	int64_t v, w;

	/* the extremes of int64 stand for unknown bounds, but they are also numbers */
	if (ix_is_const(a, &v) && ix_is_const(b, &w))
		return less ? v < w : v <= w;
	if (x.hi != NO_HI && y.lo != NO_LO && (x.hi < y.lo || (!less && x.hi == y.lo)))
		return true;
	if (x.lo != NO_LO && y.hi != NO_HI && (x.lo > y.hi || (less && x.lo == y.hi)))
		return false;
	if (ix_wild(a) || ix_wild(b))
		return false;
	sum_of(&s, b);
	sum_of(&t, a);
	return sum_plus(&s, -1, &t) && add_ok(s.k, -less, &s.k) && sum_nonneg(&s);
}

bool ix_prove_lt(UOp *a, UOp *b)
{
	return prove(a, b, 1);
}

bool ix_prove_le(UOp *a, UOp *b)
{
	return prove(a, b, 0);
}
