/* Which places a STORE writes, all in all: its index as a sum in which each range around it counts
 * on where the one below ends.
 *
 *     for r0 in 0..5, for r3 in 0..8    STORE(INDEX(y, r0*9 + r3))                writes 0..53
 *     IF(gidx0*128 + lidx0 < 6)         STORE(INDEX(y, gidx0*128 + lidx0))        writes 0..5
 */
#include "prove/places.h"
#include <stdlib.h>

bool place_sum(Known *k, const UOp *index, Sum *out)
{
	const Shape *shape = index->src[0]->shape;
	bool flat = k->graph->level >= LV_LOOPS;
	Sum e, size, t;

	sum_const(out, 0);
	for (uint32_t i = 1; i < index->nsrc; i++) {
		sum_parts(k, index->src[i], &e);
		if (flat) {
			*out = e;
			continue;
		}
		sum_parts(k, shape->dim[i - 1], &size);
		if (!sum_mul(&t, out, &size) || !sum_plus(&t, 1, &e))
			return false;
		*out = t;
	}
	sum_join(k, out);
	return true;
}

/* A condition a < b as b - a - 1, which is then not negative. */
static bool condition_sum(Known *k, UOp *cond, Sum *out)
{
	Sum t;
	while (cond->op == OP_LET)
		cond = cond->src[0];
	if (cond->op != OP_CMPLT || !dtype_int(cond->src[0]->dtype) || value_loads(k, cond) ||
		!span_exact(k, cond->src[0]) || !span_exact(k, cond->src[1]))
		return false;
	sum_parts(k, cond->src[1], out);
	sum_parts(k, cond->src[0], &t);
	if (!sum_plus(out, -1, &t) || !add_ok(out->k, -1, &out->k))
		return false;
	sum_join(k, out);
	return true;
}

static bool moves_with(const Sum *s, UOp *const *range, size_t n)
{
	for (int i = 0; i < s->n; i++)
		for (size_t j = 0; j < n; j++)
			if (mono_div(s->t[i].m, range[j]))
				return true;
	return false;
}

/* Whether a condition holds where ranges that the place does not move with are 0. */
static bool idle(Known *k, UOp *cond, const Sum *rest)
{
	Sum f, at0;

	if (!condition_sum(k, cond, &f))
		return false;
	sum_const(&at0, f.k);
	for (int i = 0; i < f.n; i++) {
		UOp *m = f.t[i].m;
		bool range = m->op == OP_RANGE || m->op == OP_SPECIAL;
		if ((range && moves_with(rest, &m, 1)) || (!range && !ix_fixed(m)))
			return false;
		if (!range)
			sum_term(&at0, f.t[i].c, m);
	}
	return sum_holds(k, &at0);
}

/* Whether s has all the terms of t, as they are there. */
static bool has_terms(const Sum *s, const Sum *t)
{
	for (int i = 0; i < t->n; i++)
		if (sum_coef(s, t->t[i].m) != t->t[i].c)
			return false;
	return t->n && !t->k;
}

/* Takes the range whose coefficient is the stride out of rest, and multiplies the stride. */
static bool take_range(Known *k, Sum *rest, Sum *stride, UOp *const *range, size_t n)
{
	Sum t, size, r;

	for (size_t i = 0; i < n; i++) {
		sum_const(&r, 0);
		sum_term(&r, 1, range[i]);
		if (!sum_mul(&t, stride, &r) || !has_terms(rest, &t))
			continue;
		sum_parts(k, range[i]->src[0], &size);
		if (!sum_plus(rest, -1, &t) || !sum_mul(&t, stride, &size))
			return false;
		*stride = t;
		return true;
	}
	return false;
}

/* What of the place does not move with these ranges. */
static void take_base(Sum *rest, Sum *base, UOp *const *range, size_t n)
{
	Sum moving;

	sum_const(base, rest->k);
	sum_const(&moving, 0);
	for (int i = 0; i < rest->n; i++) {
		Sum one;
		sum_const(&one, 0);
		sum_term(&one, 1, rest->t[i].m);
		sum_term(moves_with(&one, range, n) ? &moving : base, rest->t[i].c, rest->t[i].m);
	}
	*rest = moving;
}

typedef struct { VEC(UOp *) range; VEC(UOp *) cond; } Around;

/* The loops and conditions around a store beyond the first `common`, and with `items` all
 * SPECIALs. */
static bool find_around(Known *k, const Fill *f, size_t common, bool items, Around *a)
{
	UOp *kernel = k->kernel;

	for (size_t i = common; i < f->depth; i++) {
		UOp *s = kernel->src[f->path[i]];
		if (s->op == OP_IF)
			vec_push(&a->cond, s->src[0]);
		else if (span_of(k, s->src[0]).lo < 1)
			return false;
		else
			vec_push(&a->range, s);
	}
	Nodes all = common ? (Nodes){0} : walk_kept(kernel);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool loop = u->op == OP_RANGE && k->graph->level < LV_LOOPS;
		if (loop && span_of(k, u->src[0]).lo < 1)
			return false;
		if (loop || (items && u->op == OP_SPECIAL))
			vec_push(&a->range, u);
	}
	return f->store->nsrc < 3;
}

bool sum_divided(const Sum *a, const Sum *b, Sum *out)
{
	Sum low;
	int64_t c;

	if (b->n + !!b->k > 1)
		return sum_divide(a, b, out, &low) && !low.n && !low.k;
	c = b->n ? b->t[0].c : b->k;
	sum_const(out, 0);
	if (!c || (b->n && a->k) || a->k % c)
		return false;
	out->k = a->k / c;
	for (int i = 0; i < a->n; i++) {
		UOp *m = b->n ? mono_div(a->t[i].m, b->t[0].m) : a->t[i].m;
		if (!m || a->t[i].c % c || !sum_term(out, a->t[i].c / c, m))
			return false;
	}
	return true;
}

/* All of a range's coefficient in s. */
static bool coefficient_of(const Sum *s, UOp *range, Sum *out)
{
	Sum rest;
	return sum_split(s, range, out, &rest) && (out->n || out->k);
}

/* The least coefficient of a range: places are that far apart. */
static void find_step(const Sum *rest, UOp *const *range, size_t n, Sum *step)
{
	Sum all;

	for (size_t i = 0; i < n; i++)
		if (coefficient_of(rest, range[i], step) && sum_divided(rest, step, &all))
			return;
	sum_const(step, 1);
}

/* Takes out of rest, range by range, what counts on where the one below ends. */
static bool take_ranges(Known *k, Sum *rest, Sum *stride, const Around *a)
{
	while (rest->n)
		if (!take_range(k, rest, stride, a->range.at, a->range.n))
			return false;
	return true;
}

/* The condition of an IF as K - X >= 0, where rest has stride*X: that is taken out, X being
 * 0 … K, which the ranges in X reach. */
static bool take_bounded(Known *k, UOp *cond, Sum *rest, Sum *stride, const Around *a)
{
	Sum f, x, t, reach, moving;

	if (!condition_sum(k, cond, &f) || !sum_mul(&t, stride, &f) || !sum_plus(&t, 1, rest))
		return false;
	sum_const(&x, 0);
	if (!sum_plus(&x, -1, &f))
		return false;
	take_base(&x, &reach, a->range.at, a->range.n);
	for (int i = 0; i < x.n; i++)
		if (sum_coef(&t, x.t[i].m) || !sum_coef(rest, x.t[i].m))
			return false;
	moving = t;
	take_base(&moving, &t, a->range.at, a->range.n);
	sum_const(&reach, 1);
	/* reach - (K + 1) >= 0, and t is stride*K */
	if (!x.n || !take_ranges(k, &x, &reach, a) || !sum_plus(&t, 1, stride))
		return false;
	if (!sum_mul(&f, stride, &reach) || !sum_plus(&f, -1, &t) || !sum_holds(k, &f))
		return false;
	*rest = moving;
	*stride = t;
	return true;
}

static bool cover(Known *k, const Around *a, Sum *rest, Sum *base, Sum *step, Sum *stride)
{
	size_t conds = a->cond.n;
	Sum places;

	for (size_t i = 0; i < a->cond.n; i++)
		conds -= idle(k, a->cond.at[i], rest);
	sum_const(stride, 1);
	take_base(rest, base, a->range.at, a->range.n);
	find_step(rest, a->range.at, a->range.n, step);
	if (!sum_divided(rest, step, &places))
		return false;
	*rest = places;
	while (rest->n) {
		bool taken = false;
		for (size_t i = 0; !taken && i < a->cond.n; i++)
			taken = take_bounded(k, a->cond.at[i], rest, stride, a);
		conds -= taken;
		if (!taken && !take_range(k, rest, stride, a->range.at, a->range.n))
			return false;
	}
	return !conds;
}

bool store_covers(Known *k, const Fill *f, size_t common, bool items, Cover *c)
{
	Around a = {0};
	Sum rest;
	bool is = find_around(k, f, common, items, &a) && place_sum(k, f->store->src[0], &rest) &&
		cover(k, &a, &rest, &c->base, &c->step, &c->count);

	vec_free(&a.range);
	vec_free(&a.cond);
	return is;
}
