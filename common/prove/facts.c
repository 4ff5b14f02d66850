/* What follows from the conditions around a place: gates, IFs. A comparison narrows its operands,
 * and is kept as a sum that is not negative.
 *
 *     r0 + r1 < 9      r0 <= 8, r1 <= 8, and 8 - r0 - r1 >= 0 */
#include "prove/digits.h"
#include "prove/places.h"
#include <stdlib.h>

enum { FACTS = 64 };            /* more conditions than this are not looked at */

void frame_open(Known *k)
{
	Frame f = {k->undo.n, k->fact.n, k->shown.n, k->wrapped.n, k->size_fact, k->state, k->dead,
		k->stale};
	vec_push(&k->frame, f);
}

void frame_close(Known *k)
{
	Frame f = k->frame.at[--k->frame.n];
	bool same = k->undo.n == f.undos;

	for (; k->undo.n > f.undos; k->undo.n--) {
		const Undo *u = &k->undo.at[k->undo.n - 1];
		k->narrowed.at[u->slot - 1].span = u->was;
	}
	k->fact.n = f.facts;
	k->shown.n = f.shown;
	k->wrapped.n = f.wrapped;
	k->size_fact = f.size_fact;
	k->dead = f.dead;
	/* notes that were made inside are no longer right, those made before are again */
	if (!same) {
		k->state = f.state;
		k->stale = f.stale;
	}
}

static const Wide FAR = (Wide)1 << 100;

/* u is at least lo and at most hi; so is what u is another form of, and what it is chosen,
 * multiplied or divided from. */
static void narrow_deep(Known *k, UOp *u, Wide lo, Wide hi, int depth)
{
	int64_t d;
	bool name = u->op == OP_LET && !value_loads(k, u->src[0]);
	bool same = u->op == OP_CAST && span_exact(k, u) && dtype_int(u->src[0]->dtype);

	span_narrow(k, u, (Span){lo, hi});
	if (!depth--)
		return;
	if (name || same) {
		narrow_deep(k, u->src[0], lo, hi, depth);
	} else if (u->op == OP_MIN || u->op == OP_MAX) {
		lo = u->op == OP_MIN ? lo : -FAR;
		hi = u->op == OP_MAX ? hi : FAR;
		narrow_deep(k, u->src[0], lo, hi, depth);
		narrow_deep(k, u->src[1], lo, hi, depth);
	} else if (u->op == OP_FLOORDIV && ix_is_const(u->src[1], &d) && d > 0) {
		lo = lo > -FAR / d ? lo * d : -FAR;
		hi = hi < FAR / d - 1 ? hi * d + d - 1 : FAR;
		narrow_deep(k, u->src[0], lo, hi, depth);
	} else if (u->op == OP_ADD && ix_is_const(u->src[1], &d) && span_exact(k, u)) {
		lo = lo > -FAR ? lo - d : -FAR;
		hi = hi < FAR ? hi - d : FAR;
		narrow_deep(k, u->src[0], lo, hi, depth);
	} else if (u->op == OP_MUL && lo > 0 && span_of(k, u->src[0]).lo >= 0 &&
		span_of(k, u->src[1]).lo >= 0 && span_exact(k, u)) {
		narrow_deep(k, u->src[0], 1, FAR, depth);
		narrow_deep(k, u->src[1], 1, FAR, depth);
	}
}

static void narrow(Known *k, UOp *u, Wide lo, Wide hi)
{
	narrow_deep(k, u, lo, hi, 6);
}

/* What is a factor of all of a sum, less a number, is at least 1 when nothing is negative. */
static void assume_factors(Known *k, const Sum *s)
{
	UOp *atom[IX_ATOMS];
	Wide least;
	Sum one;

	for (int i = 0; i < s->n; i++)
		if (s->t[i].c < 0 || !term_end(k, &s->t[i], false, &least) || least < 0)
			return;
	int n = s->k < 0 ? mono_atoms(s->t[0].m, atom) : 0;
	for (int j = 0; j < n && n + s->n > 2; j++) {
		bool factor = span_of(k, atom[j]).lo == 0;
		for (int i = 0; i < s->n; i++)
			factor &= mono_div(s->t[i].m, atom[j]) != NULL;
		sum_const(&one, -1);
		if (factor && sum_term(&one, 1, atom[j]))
			assume_sum(k, &one);
	}
}

/* Whether a fact is s, or s and a number that is not negative less. */
static bool is_fact(const Known *k, const Sum *s)
{
	bool same = false;

	for (size_t i = 0; i < k->fact.n && !same; i++) {
		const Sum *f = &k->fact.at[i];
		same = f->n == s->n && f->k <= s->k;
		for (int j = 0; same && j < s->n; j++)
			same = sum_coef(f, s->t[j].m) == s->t[j].c;
	}
	return same;
}

/* s >= 0, and what follows when s is a choice or a quotient and a number. */
void assume_sum(Known *k, const Sum *s)
{
	Sum t;

	if (k->fact.n >= FACTS || !s->n || is_fact(k, s))
		return;
	vec_push(&k->fact, *s);
	assume_factors(k, s);
	UOp *m = s->t[0].m;
	int64_t d;
	if (s->n > 1 || s->t[0].c != 1)
		return;
	if (m->op == OP_FLOORDIV && ix_is_const(m->src[1], &d) && d > 0 &&
		span_exact(k, m->src[0])) {
		sum_parts(k, m->src[0], &t);
		if (mul_ok(s->k, d, &d) && add_ok(t.k, d, &t.k))
			assume_sum(k, &t);
	}
	for (int i = 0; m->op == OP_MIN && i < 2; i++) {
		sum_parts(k, m->src[i], &t);
		if (span_exact(k, m->src[i]) && add_ok(t.k, s->k, &t.k))
			assume_sum(k, &t);
	}
}

/* An operand of a comparison as a sum. One that may wrap is a value of its own; the sum that it is
 * modulo 2^64 is noted. */
static void operand(Known *k, UOp *u, Sum *out)
{
	Wrapped w = {u, {0}};

	sum_const(out, 0);
	if (span_exact(k, u)) {
		sum_parts(k, u, out);
	} else if (sum_term(out, 1, u) && u->dtype == DT_I64) {
		sum_parts(k, u, &w.sum);
		if (w.sum.n > 1 || w.sum.k)
			vec_push(&k->wrapped, w);
	}
}

void assume_below(Known *k, UOp *a, UOp *b, int64_t less)
{
	Sum s, t;

	Span x = span_of(k, a), y = span_of(k, b);

	narrow(k, a, -FAR, y.hi - less);
	narrow(k, b, x.lo + less, FAR);
	operand(k, b, &s);
	operand(k, a, &t);
	if (sum_plus(&s, -1, &t) && add_ok(s.k, -less, &s.k))
		assume_sum(k, &s);
}

/* At least u//d as a sum, for a positive d that is at least `least`: d goes into u, but for a
 * number. */
static bool floor_sum(const Sum *u, const Sum *d, int64_t least, Sum *out)
{
	Sum rest;

	sum_const(out, 0);
	for (int i = 0; d->n == 0 && d->k && i < u->n; i++)
		if (u->t[i].c % d->k || !sum_term(out, u->t[i].c / d->k, u->t[i].m))
			return false;
	if (!d->n)
		return d->k && add_ok(out->k, floordiv(u->k, d->k), &out->k);
	if (!sum_divide(u, d, out, &rest) || rest.n || rest.k >= least)
		return false;
	return add_ok(out->k, -(rest.k < 0), &out->k);
}

/* A quotient whose parts are sums: x//d, where d is at least `least`. */
typedef struct { UOp *q; Sum x, d; Wide least; } Quotient;

static Quotient quotient_of(Known *k, UOp *q)
{
	Quotient r = {.q = q, .least = span_of(k, q->src[1]).lo};

	sum_parts(k, q->src[0], &r.x);
	sum_parts(k, q->src[1], &r.d);
	return r;
}

/* Whether a sum has one of the terms of another. */
static bool shares_term(const Sum *a, const Sum *b)
{
	for (int i = 0; i < a->n; i++)
		if (sum_coef(b, a->t[i].m))
			return true;
	return false;
}

/* Of the fact u - x >= 0 follows u//d - x//d >= 0, for a positive d. Where u//d is a sum again, it
 * is added. */
static void assume_quotient(Known *k, const Quotient *q, const Sum *fact)
{
	Sum u, r;

	if (!shares_term(&q->x, fact))
		return;
	u = *fact;
	if (!sum_plus(&u, 1, &q->x) || u.n >= q->x.n + fact->n)
		return;
	if (floor_sum(&u, &q->d, (int64_t)q->least, &r) && sum_term(&r, -1, q->q))
		assume_sum(k, &r);
}

/* The end of an atom, its greatest value or its least one, as a sum; false when it has none. */
static bool atom_end(Known *k, UOp *a, bool greatest, Sum *end)
{
	bool mod = a->op == OP_FLOORMOD && span_of(k, a->src[1]).lo > 0;

	sum_const(end, 0);
	if (a->op == OP_MIN && greatest) {
		sum_parts(k, a->src[a->src[0]->op == OP_CONST || !ix_fixed(a->src[0])], end);
		return true;
	}
	if (a->op != OP_RANGE && a->op != OP_SPECIAL && !mod)
		return false;
	if (greatest)
		sum_parts(k, a->src[mod], end);
	end->k -= greatest;
	return true;
}

/* x <= u, u being x with ranges at their ends; as u - x. */
static bool ranges_fact(Known *k, const Sum *x, Sum *fact)
{
	Sum end;

	sum_const(fact, 0);
	for (int i = 0; i < x->n; i++)
		if (atom_end(k, x->t[i].m, x->t[i].c > 0, &end) &&
			(!sum_plus(fact, x->t[i].c, &end) ||
				!sum_term(fact, -x->t[i].c, x->t[i].m)))
			return false;
	return fact->n;
}

void assume_quotients(Known *k, UOp *u)
{
	Nodes all = {0};
	Quotient of;
	Sum fact;

	if (has_quotient(u) || !moves_plainly(u))
		all = walk(u);
	for (size_t i = 0; i < all.n && k->fact.n < FACTS; i++) {
		UOp *q = all.at[i];
		size_t facts = k->fact.n;
		UOp *value = q->op == OP_LOAD ? load_forwarded(k, q) : NULL;
		if (value)
			assume_quotients(k, value);
		if (q->op != OP_FLOORDIV || q->dtype != DT_I64 || !span_exact(k, q->src[0]) ||
			span_of(k, q->src[1]).lo <= 0)
			continue;
		of = quotient_of(k, q);
		for (size_t f = 0; f < facts; f++)
			if (shares_term(&of.x, &k->fact.at[f])) {
				fact = k->fact.at[f];
				assume_quotient(k, &of, &fact);
			}
		if (ranges_fact(k, &of.x, &fact))
			assume_quotient(k, &of, &fact);
	}
}

static bool is_truth(const UOp *u, bool *v)
{
	if (u->op != OP_CONST || u->dtype != DT_BOOL)
		return false;
	*v = u->arg == val_bool(true);
	return true;
}

/* A condition that is compared with true or false, and whether it is true; or NULL. */
static UOp *condition_of(const UOp *c, bool *truth)
{
	UOp *a = c->src[0], *b = c->src[1];
	bool v, same = (c->op == OP_CMPEQ) == *truth;

	if (a->dtype != DT_BOOL || c->op == OP_CMPLT || (!is_truth(b, &v) && !is_truth(a, &v)))
		return NULL;
	*truth = v == same;
	return is_truth(b, &v) ? a : b;
}

static void assume_compared(Known *k, const UOp *c, bool truth)
{
	UOp *a = c->src[0], *b = c->src[1];

	if (!dtype_int(a->dtype))
		return;
	if (c->op == OP_CMPLT && truth) {
		assume_below(k, a, b, 1);
	} else if (c->op == OP_CMPLT) {
		assume_below(k, b, a, 0);
	} else if ((c->op == OP_CMPEQ) == truth) {
		assume_below(k, a, b, 0);
		assume_below(k, b, a, 0);
	}
}

void assume(Known *k, UOp *c, bool truth)
{
	struct { UOp *u; bool truth; } stack[FACTS + 2], t;
	int top = 0, seen = 0;

	stack[top].u = c;
	stack[top++].truth = truth;
	while (top && ++seen <= 4 * FACTS) {
		t = stack[--top];
		UOp *u = t.u, *other = NULL;
		Span can = span_of(k, u);
		k->dead |= can.lo > t.truth || can.hi < t.truth;
		span_narrow(k, u, (Span){t.truth, t.truth});
		if (u->op == OP_LET &&
			(!value_loads(k, u->src[0]) || (k->now && let_is_fresh(k, u)))) {
			other = u->src[0];
		} else if (u->op == (t.truth ? OP_AND : OP_OR) && u->dtype == DT_BOOL) {
			other = u->src[0];
			stack[top].u = u->src[1];
			stack[top++].truth = t.truth;
		} else if (op_info[u->op].cls == CLASS_COMPARE) {
			other = condition_of(u, &t.truth);
			if (!other)
				assume_compared(k, u, t.truth);
		} else if (u->op == OP_LOAD) {
			other = load_forwarded(k, u);
		}
		if (other && top <= FACTS) {
			stack[top].u = other;
			stack[top++].truth = t.truth;
		}
	}
}

/* Narrows the value m of the term c*m of a fact by what the other terms can be at most. */
static void narrow_term(Known *k, const Sum *f, int i)
{
	Wide most = f->k, end, c = f->t[i].c;

	if (f->t[i].m->op == OP_MUL)
		return;
	for (int j = 0; j < f->n; j++) {
		if (j != i && !term_end(k, &f->t[j], true, &end))
			return;
		most += j != i ? end : 0;
	}
	/* c*m >= -most */
	Wide q = -most / c, r = -most % c;
	if (c > 0)
		narrow(k, f->t[i].m, q + (r > 0), FAR);
	else
		narrow(k, f->t[i].m, -FAR, q - (r > 0));
}

void assume_loads(Known *k, UOp *u)
{
	Nodes all = moves_plainly(u) ? (Nodes){0} : walk(u);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *load = all.at[i];
		while (load->op == OP_LET)
			load = load->src[0];
		UOp *below = load->op == OP_LOAD ? load_below(k, load) : NULL;
		if (below)
			assume_below(k, all.at[i], below, 1);
	}
}

/* A size, or a part of one, that equals a sum of others: it may stand for it. */
static void equal_sizes(Known *k, UOp *a, UOp *b)
{
	Sum s;

	sum_parts(k, b, &s);
	if ((a->op == OP_VAR || a->op == OP_FLOORDIV) && !sum_coef(&s, a))
		vec_push(&k->equal, ((Equal){a, s}));
}

/* A size in a check; NULL when it is none. */
static UOp *size_in_check(const Val *v)
{
	static ARENA Map known;
	UOp *size = map_get(&known, PKEY(v));
	const char *err;
	if (!size && (size = size_from_val(v, &err)))
		map_put(&known, PKEY(v), size);
	return size;
}

/* What followed from the checks of a document: the same for all of its kernels. */
static ARENA struct {
	const Val *vars, *meta;
	VEC(Narrowed) narrowed;
	VEC(Sum) fact;
	VEC(Wrapped) wrapped;
	VEC(Equal) equal;
	const SizeFact *size_fact;
	bool dead;
} checked;

static void keep_checks(const Known *k)
{
	const Frame *f = &k->frame.at[k->frame.n - 1];

	checked.narrowed.n = checked.fact.n = checked.wrapped.n = checked.equal.n = 0;
	for (size_t i = f->undos; i < k->undo.n; i++)
		vec_push(&checked.narrowed, k->narrowed.at[k->undo.at[i].slot - 1]);
	for (size_t i = f->facts; i < k->fact.n; i++)
		vec_push(&checked.fact, k->fact.at[i]);
	for (size_t i = f->wrapped; i < k->wrapped.n; i++)
		vec_push(&checked.wrapped, k->wrapped.at[i]);
	for (size_t i = 0; i < k->equal.n; i++)
		vec_push(&checked.equal, k->equal.at[i]);
	checked.size_fact = k->size_fact;
	checked.dead = k->dead;
	checked.vars = k->graph->vars;
	checked.meta = k->graph->meta;
}

static void use_checks(Known *k)
{
	for (size_t i = 0; i < checked.narrowed.n; i++)
		span_narrow(k, checked.narrowed.at[i].u, checked.narrowed.at[i].span);
	for (size_t i = 0; i < checked.fact.n; i++)
		vec_push(&k->fact, checked.fact.at[i]);
	for (size_t i = 0; i < checked.wrapped.n; i++)
		vec_push(&k->wrapped, checked.wrapped.at[i]);
	for (size_t i = 0; i < checked.equal.n; i++)
		vec_push(&k->equal, checked.equal.at[i]);
	k->size_fact = checked.size_fact;
	k->dead |= checked.dead;
	known_changed(k);
}

static void take_checks(Known *k)
{
	const Val *rows = val_get(k->graph->meta, "checks");

	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++) {
		const Val *row = rows->a[i];
		if (row->kind != VAL_ARRAY || row->n != 3)
			continue;
		UOp *a = size_in_check(row->a[1]), *b = size_in_check(row->a[2]);
		if (!a || !b || (!val_is_str(row->a[0], "eq") && !val_is_str(row->a[0], "le")))
			continue;
		assume_below(k, a, b, 0);
		if (val_is_str(row->a[0], "eq")) {
			assume_below(k, b, a, 0);
			equal_sizes(k, a, b);
			equal_sizes(k, b, a);
		}
	}
	facts_settle(k);
}

/* The checks that run makes of sizes once it knows them. */
void assume_checks(Known *k)
{
	const Graph *g = k->graph;
	if (checked.meta && checked.meta == g->meta && checked.vars == g->vars && !k->sizes) {
		use_checks(k);
		return;
	}
	take_checks(k);
	if (!k->sizes)
		keep_checks(k);
}

void facts_settle(Known *k)
{
	size_t from = k->frame.n ? k->frame.at[k->frame.n - 1].facts : 0;

	for (int turn = 0; turn < 3; turn++) {
		size_t undos = k->undo.n;
		if (k->stale)
			known_changed(k);
		for (size_t i = from; i < k->fact.n; i++)
			for (int j = 0; j < k->fact.at[i].n; j++)
				narrow_term(k, &k->fact.at[i], j);
		span_twins(k);
		if (k->undo.n == undos)
			break;
	}
	for (size_t i = k->frame.at[k->frame.n - 1].undos; i < k->undo.n; i++)
		k->dead |= span_empty(span_of(k, k->undo.at[i].u));
}
