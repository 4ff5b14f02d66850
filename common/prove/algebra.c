/* Proofs with symbols: a claim is a sum that has to be >= 0. Values in it are replaced, one after
 * another, by the end of what they can be at which the sum is least, which may be an expression
 * that cancels others; facts that hold are subtracted.
 *
 *     n*m - 1 - r0*m - r1 >= 0     r0 < n, r1 < m
 *     r0: its coefficient -m is negative, so n-1:      m - 1 - r1 >= 0
 *     r1: so m-1:                                      0 >= 0
 *
 * A quotient is replaced by what it is a quotient of, the claim being scaled: d*(x//d) lies in
 * x-d+1..x. As a claim speaks of integers, d*s >= 1-d is enough for s >= 0. */
#include "prove/digits.h"
#include "prove/places.h"
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

enum { DEEP = 16, VISITS = 1000, STEPS = 24, DEPTH = 3, LOOKS = 64, TOP = 6 };
/* Steps of a way: proofs take few of them, so that all ways are tried with a few first. And of one,
 * of a few ways, when the document has used up its own. */
enum { QUICKLY = 32, BUDGET = 400, BRIEFLY = 16, FEW = 4 };

static ARENA TABLE(uint8_t) symbolic;   /* 1: no, 2: yes */

/* Whether a size variable has a part in what u can be. */
static bool is_symbolic(UOp *u)
{
	VEC(UOp *) todo = {0};

	if (u->id >= symbolic.cap)
		table_fit(&symbolic);
	for (vec_push(&todo, u); todo.n; ) {
		UOp *v = todo.at[todo.n - 1];
		uint8_t *at = symbolic.at, any = v->op == OP_VAR;
		size_t was = todo.n;
		bool in = v->op != OP_LOAD && !at[v->id];
		for (uint32_t i = 0; in && i < v->nsrc; i++)
			if (!at[v->src[i]->id])
				vec_push(&todo, v->src[i]);
		if (todo.n > was)
			continue;
		todo.n--;
		for (uint32_t i = 0; in && i < v->nsrc; i++)
			any |= at[v->src[i]->id] == 2;
		at[v->id] = at[v->id] ? at[v->id] : 1 + any;
	}
	vec_free(&todo);
	return symbolic.at[u->id] == 2;
}

/* ---- sums */

/* out = a*b, of which only values of i64 have products */
static bool product(Sum *out, const Sum *a, const Sum *b)
{
	for (int i = 0; a->n && b->n && i < a->n + b->n; i++)
		if ((i < a->n ? a->t[i] : b->t[i - a->n]).m->dtype != DT_I64)
			return false;
	return sum_mul(out, a, b);
}

/* What is loaded, or named, as a value of i64: only those have products. */
static UOp *as_index(UOp *u)
{
	bool opaque = u->op == OP_LOAD || u->op == OP_LET;
	bool narrow = dtype_int(u->dtype) && dtype_size(u->dtype) < dtype_size(DT_I64);

	return opaque && narrow ? NODE(OP_CAST, DT_I64, VNIL, u) : u;
}

/* What u is made of, where it is a sum, a product, or another name. Sums and products of i64 are
 * taken apart although they may wrap; others only where they do not. */
static bool parts(Known *k, UOp *u, Sum *s, int depth)
{
	Sum a, b;
	int64_t v;
	bool exact = u->dtype == DT_I64 || span_exact(k, u);

	sum_const(s, 0);
	if (++k->visits > VISITS)
		return false;
	if (u->op == OP_CONST && u->arg->kind == VAL_INT) {
		s->k = u->arg->i;
		return true;
	}
	if (u->op == OP_LET && !value_loads(k, u->src[0]) && depth)
		return parts(k, u->src[0], s, depth - 1);
	if (u->op == OP_CAST && dtype_int(u->src[0]->dtype) && span_exact(k, u) && depth)
		return parts(k, u->src[0], s, depth - 1);
	if (!exact || !depth)
		return sum_term(s, 1, as_index(u));
	UOp *value = u->op == OP_LOAD ? load_forwarded(k, u) : NULL;
	if (value)
		return parts(k, value, s, depth - 1);
	switch (u->op) {
	case OP_ADD:
	case OP_SUB:
		return parts(k, u->src[0], s, depth - (u->src[0]->op != u->op)) &&
			parts(k, u->src[1], &b, depth - 1) &&
			sum_plus(s, u->op == OP_ADD ? 1 : -1, &b);
	case OP_NEG: return parts(k, u->src[0], &b, depth - 1) && sum_plus(s, -1, &b);
	case OP_MUL:
		return parts(k, u->src[0], &a, depth - 1) && parts(k, u->src[1], &b, depth - 1) &&
			product(s, &a, &b);
	case OP_SHL:
		if (!const_is_int(u->src[1], &v) || v < 0 || v > 62 || !span_exact(k, u))
			break;
		return parts(k, u->src[0], &b, depth - 1) && sum_plus(s, (int64_t)1 << v, &b);
	default: break;
	}
	return sum_term(s, 1, as_index(u));
}

/* With q = x//d: c*m*(x%d) + c*m*d*q is c*m*x. */
static bool join(Known *k, Sum *s, int64_t c, UOp *mono, UOp *mod)
{
	Sum d, cm, w, q, x, all;
	UOp *rest = mono_div(mono, mod);

	sum_const(&cm, 0);
	if (s->n < 2 || !rest || !span_exact(k, mod->src[0]) ||
		span_of(k, mod->src[1]).lo <= 0 || !sum_term(&cm, c, rest))
		return false;
	sum_parts(k, mod->src[1], &d);
	sum_parts(k, ix_div(mod->src[0], mod->src[1]), &q);
	if (!product(&w, &cm, &d) || !product(&x, &w, &q) || !x.n)
		return false;
	for (int i = 0; i < x.n; i++)
		if (sum_coef(s, x.t[i].m) != x.t[i].c)
			return false;
	all = *s;
	if (!sum_plus(&all, -1, &x) || !sum_term(&all, -c, mono))
		return false;
	sum_parts(k, mod->src[0], &x);
	if (!product(&w, &cm, &x) || !sum_plus(&all, 1, &w))
		return false;
	*s = all;
	return true;
}

bool sum_join(Known *k, Sum *s)
{
	UOp *atom[IX_ATOMS];
	bool more = true, any = false;

	for (int turn = 0; more && turn < STEPS; turn++) {
		more = false;
		for (int i = 0; !more && i < s->n; i++) {
			int n = mono_atoms(s->t[i].m, atom);
			for (int j = 0; !more && j < n; j++)
				more = atom[j]->op == OP_FLOORMOD &&
					join(k, s, s->t[i].c, s->t[i].m, atom[j]);
		}
		any |= more;
	}
	return any;
}

static void take_apart(Known *k, UOp *u, Sum *s)
{
	k->visits = 0;
	if (parts(k, u, s, DEEP))
		return;
	sum_const(s, 0);
	sum_term(s, 1, u);
}

Sum *sum_copy(const Sum *s)
{
	size_t bytes = offsetof(Sum, t) + s->n * sizeof *s->t;
	return memcpy(arena_alloc(bytes), s, bytes);
}

/* The parts of plain indices are always the same; in an unrolled tile they have one base. */
void sum_parts(Known *k, UOp *u, Sum *s)
{
	static ARENA Map known;
	int64_t more = 0;
	bool far = u->op == OP_ADD && u->dtype == DT_I64 && ix_is_const(u->src[1], &more);
	UOp *base = far ? u->src[0] : u;

	if (base->nsrc == 0 || !is_plain_index(base)) {
		take_apart(k, u, s);
		return;
	}
	Sum *all = map_get(&known, PKEY(base));
	if (!all) {
		take_apart(k, base, s);
		map_put(&known, PKEY(base), all = sum_copy(s));
	}
	s->n = all->n;
	memcpy(s->t, all->t, all->n * sizeof *all->t);
	if (!add_ok(all->k, more, &s->k)) {
		sum_const(s, 0);
		sum_term(s, 1, u);
	}
}

/* ---- ends of sums as numbers */

static const Wide MOST = (Wide)1 << 100;

/* The span of a product, by that of its node, or of its atoms where the node may wrap. */
static bool product_span(Known *k, UOp *m, Span *out)
{
	UOp *atom[IX_ATOMS];
	int n = m->op == OP_MUL && !span_exact(k, m) ? mono_atoms(m, atom) : 0;

	*out = n ? (Span){1, 1} : span_of(k, m);
	for (int i = 0; i < n; i++) {
		Span s = span_of(k, atom[i]);
		Wide x[4] = {out->lo * s.lo, out->lo * s.hi, out->hi * s.lo, out->hi * s.hi};
		*out = (Span){x[0], x[0]};
		for (int j = 1; j < 4; j++) {
			out->lo = x[j] < out->lo ? x[j] : out->lo;
			out->hi = x[j] > out->hi ? x[j] : out->hi;
		}
		if (out->lo < INT64_MIN || out->hi > INT64_MAX)
			return false;
	}
	return out->lo >= INT64_MIN && out->hi <= INT64_MAX;
}

bool term_end(Known *k, const Term *t, bool greatest, Wide *end)
{
	Span s;

	if (!product_span(k, t->m, &s))
		return false;
	*end = t->c * ((t->c > 0) == greatest ? s.hi : s.lo);
	return *end < MOST && *end > -MOST;
}

/* Whether s, or -s, is >= 0 by numbers alone. */
static bool numbers_hold(Known *k, const Sum *s, bool negative)
{
	Wide sum = negative ? -(Wide)s->k : s->k, end;

	for (int i = 0; i < s->n; i++) {
		if (!term_end(k, &s->t[i], negative, &end))
			return false;
		sum += negative ? -end : end;
	}
	return sum >= 0;
}

/* ---- ends as expressions */

static bool holds(Known *k, const Sum *s, int depth);
static bool facts_hold(Known *k, const Sum *s, int depth);

/* The sign of a sum of sizes, which is the same wherever the same is known of sizes. */
typedef struct { const SizeFact *at; Sum *c; int depth, sign; bool quotients, whole; } Signed;

static bool of_sizes(const Sum *c)
{
	for (int i = 0; i < c->n; i++)
		if (!ix_fixed(c->t[i].m))
			return false;
	return true;
}

static bool is_signed(const Signed *x, const Known *k, const Sum *c, int depth)
{
	return x->at == k->size_fact && x->depth == depth && x->quotients == k->quotients &&
		x->whole == k->whole && x->c->n == c->n && x->c->k == c->k &&
		!memcmp(x->c->t, c->t, c->n * sizeof *c->t);
}

static Signed *signed_at(const Known *k, const Sum *c, int depth)
{
	static ARENA Map known;
	uint64_t key = hash_mix(PKEY(k->size_fact), (uint64_t)c->k);
	for (int i = 0; i < c->n; i++)
		key = hash_mix(hash_mix(key, c->t[i].m->id), (uint64_t)c->t[i].c);
	key = hash_mix(key, (uint64_t)depth * 4 + k->quotients * 2 + k->whole);
	Signed *x = map_get(&known, key);
	if (!x) {
		map_put(&known, key, x = arena_alloc(sizeof *x));
		*x = (Signed){0};
	}
	return x;
}

static int find_sign(Known *k, const Sum *c, int depth)
{
	Sum n;

	if (holds(k, c, depth))
		return 1;
	sum_const(&n, 0);
	return sum_plus(&n, -1, c) && holds(k, &n, depth) ? -1 : 0;
}

/* The sign of a coefficient: 1 (>= 0), -1 (<= 0), 0 unknown. */
static int sign(Known *k, const Sum *c, int depth)
{
	if (numbers_hold(k, c, false))
		return 1;
	if (numbers_hold(k, c, true))
		return -1;
	if (!c->n || depth <= 0)
		return 0;
	if (k->sizes || !of_sizes(c))
		return find_sign(k, c, depth - 1);
	Signed *x = signed_at(k, c, depth);
	if (x->c && is_signed(x, k, c, depth))
		return x->sign;
	int is = find_sign(k, c, depth - 1);
	if (is || k->budget >= 0) {     /* else it was given up */
		*x = (Signed){k->size_fact, sum_copy(c), depth, is, k->quotients, k->whole};
	}
	return is;
}

/* s = c*end + rest */
static bool put(Sum *s, const Sum *c, const Sum *end, const Sum *rest)
{
	Sum t, r = *rest;
	if (!product(&t, c, end) || !sum_plus(&r, 1, &t))
		return false;
	*s = r;
	return true;
}

/* q = x//d with coefficient c: d*s is put in the place of s, with d - 1 added. */
static bool put_quotient(Known *k, Sum *s, UOp *q, const Sum *c, const Sum *rest, int up)
{
	Sum d, x, r;

	if (!span_exact(k, q->src[0]) || span_of(k, q->src[1]).lo <= 0)
		return false;
	sum_parts(k, q->src[1], &d);
	sum_parts(k, q->src[0], &x);
	if (up > 0 && (!sum_plus(&x, -1, &d) || !add_ok(x.k, 1, &x.k)))
		return false;
	return product(&r, rest, &d) && sum_plus(&r, 1, &d) && add_ok(r.k, -1, &r.k) &&
		put(s, c, &x, &r);
}

/* Replaces an atom by its least (up > 0: its coefficient is positive) or greatest value. */
static bool put_end(Known *k, Sum *s, UOp *a, const Sum *c, const Sum *rest, int up)
{
	Span n = span_of(k, a);
	bool number = a->op == OP_FLOORDIV && !k->quotients && (up > 0 || !is_symbolic(a));
	Sum end;

	sum_const(&end, 0);
	switch (number ? OP_CONST : a->op) {
	case OP_FLOORDIV: return !k->whole && put_quotient(k, s, a, c, rest, up);
	case OP_FLOORMOD:
		if (span_of(k, a->src[1]).lo <= 0)
			return false;
		if (up < 0)
			sum_parts(k, a->src[1], &end);
		end.k -= up < 0;
		break;
	case OP_RANGE:
	case OP_SPECIAL:
		if (up > 0 || a->src[0]->op != OP_CONST) {
			if (up < 0)
				sum_parts(k, a->src[0], &end);
			end.k -= up < 0;
			break;
		}
		/* fallthrough */
	default:
		end.k = up > 0 ? (int64_t)n.lo : (int64_t)n.hi;
		if (up > 0 ? n.lo < INT64_MIN : n.hi > INT64_MAX)
			return false;
	}
	return put(s, c, &end, rest);
}

/* Atoms are replaced in this order: what moves, sizes that are computed, variables. */
enum { MOVES, SIZES, VARS, PHASES };

static int phase_of(const UOp *a)
{
	return a->op == OP_VAR ? VARS : (a->op == OP_FLOORDIV || a->op == OP_FLOORMOD) &&
		ix_fixed((UOp *)a) ? SIZES : MOVES;
}

/* An atom of s that may be replaced in this phase, the next one after *at. */
static UOp *next_atom(const Sum *s, int phase, int *at)
{
	UOp *atom[IX_ATOMS];

	for (int i = *at / IX_ATOMS; i < s->n; i++) {
		int n = mono_atoms(s->t[i].m, atom);
		for (int j = i == *at / IX_ATOMS ? *at % IX_ATOMS : 0; j < n; j++)
			if (phase_of(atom[j]) == phase) {
				*at = i * IX_ATOMS + j + 1;
				return atom[j];
			}
	}
	return NULL;
}

static bool put_least(Known *k, Sum *s, int phase, int depth)
{
	Sum c, rest;
	UOp *a;

	for (int at = 0; (a = next_atom(s, phase, &at)); ) {
		if (a->op == OP_MIN || a->op == OP_MAX || a->op == OP_WHERE)
			continue;
		int up = sum_split(s, a, &c, &rest) ? sign(k, &c, depth - 1) : 0;
		if (up && put_end(k, s, a, &c, &rest, up))
			return true;
	}
	return false;
}

/* A choice, MIN, MAX or WHERE: whether the claim holds with both values in its place, or, where
 * one of them is a bound, with one. Of the first claim of a way, which takes quotients apart, each
 * may follow from a fact. -1: there is none. */
static int choices_hold(Known *k, const Sum *s, int depth)
{
	Sum c, rest, end, t;
	UOp *a;

	for (int at = 0; (a = next_atom(s, MOVES, &at)); ) {
		bool where = a->op == OP_WHERE;
		if (a->op != OP_MIN && a->op != OP_MAX && !where)
			continue;
		int up = sum_split(s, a, &c, &rest) ? sign(k, &c, depth - 1) : 0;
		if (!up)
			continue;
		/* a product of what is not negative: n*min(n-1, 1) - min(n-1, 1) */
		if (up > 0 && span_of(k, a).lo >= 0 && numbers_hold(k, &rest, false))
			return true;
		bool one = !where && (a->op == OP_MIN) == (up < 0), any = false, all = true;
		bool facts = k->quotients && !one && depth == TOP;
		for (int i = where; i < 2 + where; i++) {
			sum_parts(k, a->src[i], &end);
			bool is = put(&t, &c, &end, &rest) &&
				(holds(k, &t, depth - 1) || (facts && facts_hold(k, &t, 1)));
			any |= is;
			all &= is;
		}
		return one ? any : all;
	}
	return -1;
}

static bool holds(Known *k, const Sum *start, int depth)
{
	Sum s = *start;

	for (int i = 0; i < STEPS; i++) {
		if (numbers_hold(k, &s, false))
			return true;
		if (--k->budget < 0 || !s.n || depth <= 0)
			return false;
		int choice = choices_hold(k, &s, depth), phase = 0;
		if (choice >= 0)
			return choice;
		while (phase < PHASES && !put_least(k, &s, phase, depth))
			phase++;
		if (phase == PHASES)
			return false;
		sum_join(k, &s);
	}
	return false;
}

/* ---- facts */

/* s without the atom, by the fact f: what is left is >= 0 only if s is. False, too, where as many
 * terms as `many` are left. */
static bool by_fact(Known *k, const Sum *s, const Sum *f, UOp *atom, int many, Sum *out)
{
	Sum c, rest, d, e, left;

	if (!sum_split(s, atom, &c, &rest) || !sum_split(f, atom, &d, &left) || d.n || !d.k)
		return false;
	/* |d|*s is what is left and |c|*f, which is not negative; -|d| < |d|*s is enough */
	sum_const(out, 0);
	if (!sum_plus(out, d.k > 0 ? d.k : -d.k, s) || !product(&e, &c, f) ||
		!sum_plus(out, d.k > 0 ? -1 : 1, &e) || out->n >= many ||
		!add_ok(out->k, (d.k > 0 ? d.k : -d.k) - 1, &out->k))
		return false;
	int up = sign(k, &c, 2);
	return up && (up > 0) == (d.k > 0);
}

static bool has_atom(const Sum *s, UOp *atom)
{
	for (int i = 0; i < s->n; i++)
		if (mono_without(s->t[i].m, atom))
			return true;
	return false;
}

/* By at most `depth` facts, the latest first, which say more; sizes are taken out last. The first
 * one that says nothing of s stands for one fact less. */
static bool facts_hold(Known *k, const Sum *s, int depth)
{
	bool less = false;
	Sum t;

	if (!depth)
		return holds(k, s, TOP);
	for (int sizes = 0; sizes < 2; sizes++)
		for (size_t i = k->fact.n; i-- > 0; )
			for (int j = 0; j < k->fact.at[i].n && k->budget > 0; j++) {
				UOp *a = k->fact.at[i].t[j].m;
				if (a->op == OP_MUL || (a->op == OP_VAR) != sizes ||
					(less && !has_atom(s, a)) ||
					!by_fact(k, s, &k->fact.at[i], a, INT_MAX, &t))
					continue;
				less |= !has_atom(s, a);
				if (facts_hold(k, &t, depth - 1))
					return true;
			}
	return false;
}

/* With a remainder x%(a*b) in s and (x//a)%b in a fact: a*((x//a)%b) + x%a in its place. */
static bool split_remainder(Known *k, Sum *s, int i, UOp *in_fact)
{
	UOp *mod = s->t[i].m, *div = in_fact->op == OP_FLOORMOD ? in_fact->src[0] : NULL;
	int64_t ab, a, b, c = s->t[i].c;
	Sum low;

	if (!div || div->op != OP_FLOORDIV || div->src[0] != mod->src[0] ||
		!ix_is_const(mod->src[1], &ab) || !ix_is_const(div->src[1], &a) ||
		!ix_is_const(in_fact->src[1], &b) || a <= 0 || b <= 0 || !mul_ok(a, b, &b) ||
		b != ab || !span_exact(k, mod->src[0]))
		return false;
	sum_parts(k, ix_mod(mod->src[0], div->src[1]), &low);
	return sum_term(s, -c, mod) && sum_plus(s, c, &low) && mul_ok(c, a, &c) &&
		sum_term(s, c, in_fact);
}

static bool split_remainders(Known *k, Sum *s)
{
	bool any = false;

	for (size_t f = 0; f < k->fact.n; f++)
		for (int j = 0; j < k->fact.at[f].n; j++)
			for (int i = 0; i < s->n; i++)
				if (s->t[i].m->op == OP_FLOORMOD)
					any |= split_remainder(k, s, i, k->fact.at[f].t[j].m);
	return any;
}

/* Replaces sizes by those that they equal, variables first. */
static bool put_equal(Known *k, Sum *s)
{
	Sum c, rest;
	bool any = false;

	for (int var = 1; var >= 0; var--)
		for (size_t i = 0; i < k->equal.n; i++) {
			const Equal *e = &k->equal.at[i];
			any |= (e->u->op == OP_VAR) == var && has_atom(s, e->u) &&
				sum_split(s, e->u, &c, &rest) && put(s, &c, &e->to, &rest);
		}
	return any;
}

/* Replaces what moves, but no quotient, by its end, and a choice by a size. */
static bool put_moving(Known *k, Sum *s)
{
	Sum c, rest, end;
	bool more = true, any = false;

	k->whole = true;
	for (int turn = 0; more && turn < STEPS; turn++, any |= more) {
		UOp *a;
		more = false;
		for (int at = 0; !more && (a = next_atom(s, MOVES, &at)); )
			if (a->op == OP_MIN && sum_split(s, a, &c, &rest) && sign(k, &c, 1) < 0) {
				bool second = !ix_fixed(a->src[0]) || a->src[0]->op == OP_CONST;
				sum_parts(k, a->src[second], &end);
				more = put(s, &c, &end, &rest);
			}
		more = more || put_least(k, s, MOVES, 2);
	}
	k->whole = false;
	return any;
}

/* Whether two terms of a fact, or multiples of them, are in s: it may take both out at once. */
static bool takes_several(const Sum *s, const Sum *f)
{
	int shared = 0;
	for (int j = 0; j < f->n && shared < 2; j++)
		shared += has_atom(s, f->t[j].m);
	return shared > 1;
}

/* Subtracts facts that take more terms out than they put in, those first that take most. */
static bool put_facts(Known *k, Sum *s)
{
	Sum t, best;
	bool more = true, any = false;

	for (int turn = 0; more && turn < STEPS; turn++, any |= more) {
		int least = s->n;
		more = false;
		for (size_t i = 0; i < k->fact.n; i++) {
			const Sum *f = &k->fact.at[i];
			bool takes = takes_several(s, f);
			for (int j = 0; takes && j < f->n; j++)
				if (f->t[j].m->op != OP_MUL &&
					by_fact(k, s, f, f->t[j].m, least, &t)) {
					best = t;
					least = t.n;
					more = true;
					takes = false;
				}
		}
		if (more)
			*s = best;
	}
	return any;
}

/* The forms in which a claim is looked at. */
enum { AS_IS, JOINED, SPLIT, ENDS, LESS, FORMS };

static bool form_of(Known *k, const Sum *s, int form, Sum *out)
{
	*out = *s;
	switch (form) {
	case JOINED: return sum_join(k, out);
	case SPLIT: return split_remainders(k, out);
	case ENDS: return put_moving(k, out) | put_equal(k, out);
	case LESS: return put_facts(k, out);
	default: return true;
	}
}

/* A way to show a claim: a form, whether quotients are taken apart, by how many facts. */
enum { WAYS = FORMS * 2 * (DEPTH + 1) };
_Static_assert((int)WAYS == (int)MOST_WAYS, "Known has a place for each");

/* A claim, in the forms in which it was looked at. */
typedef struct { const Sum *s; bool known[FORMS], has[FORMS]; Sum form[FORMS]; } Claim;

static const Sum *claim_form(Known *k, Claim *c, int form)
{
	if (form == AS_IS)
		return c->s;
	if (!c->known[form])
		c->has[form] = form_of(k, c->s, form, &c->form[form]);
	c->known[form] = true;
	return c->has[form] ? &c->form[form] : NULL;
}

/* *left: whether the steps did not suffice. */
static bool try_way(Known *k, Claim *c, int way, int steps, bool *left)
{
	Effort *e = effort();

	k->quotients = false;
	k->budget = e->steps ? BUDGET : BRIEFLY;
	const Sum *s = claim_form(k, c, way % FORMS);
	*left = false;
	if (!s)
		return false;
	k->quotients = way / FORMS % 2;
	k->budget = e->steps ? steps : BRIEFLY;
	bool is = facts_hold(k, s, way / FORMS / 2);
	*left = k->budget <= 0;
	/* the form takes some time too */
	size_t used = (e->steps ? steps : BRIEFLY) - k->budget + BRIEFLY;
	e->steps -= used < e->steps ? used : e->steps;
	return is;
}

/* Whether s is one of the last sums, and a number that is not negative (more: or that is). */
static bool is_among(const Sums *all, const Sum *s, bool more)
{
	for (size_t i = all->n; i-- > 0 && all->n - i < LOOKS; ) {
		const Sum *t = &all->at[i];
		bool same = s->n == t->n && (more ? s->k >= t->k : s->k <= t->k);
		for (int j = 0; same && j < s->n; j++)
			same = s->t[j].m == t->t[j].m ? s->t[j].c == t->t[j].c :
				sum_coef(t, s->t[j].m) == s->t[j].c;
		if (same)
			return true;
	}
	return false;
}

/* Whether s, or a greater one, was searched for in vain when no more was known. */
static bool was_missed(Known *k, const Sum *s)
{
	const Missed now = {.state = k->state, .at = k->at, .facts = k->fact.n};
	Missed *m = &k->missed;
	if (m->state != now.state || m->at != now.at || m->facts != now.facts) {
		m->sum.n = 0;
		m->state = now.state;
		m->at = now.at;
		m->facts = now.facts;
	}
	return is_among(&m->sum, s, false);
}

static int way_at(const Known *k, int i)
{
	return k->ways[i] ? k->ways[i] - 1 : i;
}

static void use_first(Known *k, int i)
{
	int way = way_at(k, i);
	for (int j = i; j > 0; j--)
		k->ways[j] = way_at(k, j - 1) + 1;
	k->ways[0] = way + 1;
}

/* By one way after another, those first that showed the last claims: there are many alike. */
static bool search(Known *k, const Sum *s)
{
	bool left[WAYS], is = false;
	Claim c;

	c.s = s;
	memset(c.known, 0, sizeof c.known);

	for (int i = 0; i < WAYS && effort()->steps; i++)
		if (try_way(k, &c, way_at(k, i), QUICKLY, &left[way_at(k, i)])) {
			use_first(k, i);
			return true;
		}
	for (int i = 0; !is && i < (effort()->steps ? WAYS : FEW); i++)
		if ((!effort()->steps || left[way_at(k, i)]) &&
			(is = try_way(k, &c, way_at(k, i), BUDGET, &left[way_at(k, i)])))
			use_first(k, i);
	return is || (!effort()->steps && try_way(k, &c, AS_IS, BUDGET, left));
}

bool sum_holds(Known *k, const Sum *s)
{
	bool is = numbers_hold(k, s, false) || is_among(&k->shown, s, true);

	if (!is && was_missed(k, s))
		return false;
	is = is || search(k, s);
	if (s->n)
		vec_push(is ? &k->shown : &k->missed.sum, *s);
	return is;
}

/* The claim with a value that may wrap in the place of the sum that it is, modulo 2^64: the index
 * in a claim is what it is modulo that. */
static bool put_wrapped(const Sum *s, const Wrapped *w, Sum *out)
{
	int64_t c = w->sum.n ? sum_coef(s, w->sum.t[0].m) : 0;

	*out = *s;
	return c && c % w->sum.t[0].c == 0 && (c /= w->sum.t[0].c, true) &&
		sum_plus(out, -c, &w->sum) && sum_term(out, c, w->u);
}

bool follows(Known *k, UOp *a, UOp *b, int64_t less)
{
	Sum s, t;
	bool is;

	sum_parts(k, b, &s);
	sum_parts(k, a, &t);
	if (!sum_plus(&s, -1, &t) || !add_ok(s.k, -less, &s.k))
		return false;
	is = sum_holds(k, &s);
	for (size_t i = k->wrapped.n; !is && i-- > 0; )
		is = put_wrapped(&s, &k->wrapped.at[i], &t) && sum_holds(k, &t);
	return is;
}
