/* Derivatives of REDUCE and SCAN.
 *
 *     REDUCE ADD    every element gets g
 *     REDUCE MUL    g times the product of all the others
 *     REDUCE MAX    g shared equally by the maxima
 *     SCAN ADD      the sum of g from there on
 *     SCAN MUL      as REDUCE, summed over the products that an element is in
 *     SCAN MAX      as REDUCE, for each g
 *
 * Products of the other elements are running products from both sides, which is right for zeros and
 * for derivatives of any order. A running sum whose factors vary along the axis is a linear
 * recurrence, which is solved by doubling. */
#include "primitives/primitives.h"
#include "derive/derive.h"

static const int64_t MOST_PLACES = 1LL << 62;

UOp *fold_all(Op op, UOp *x)
{
	int axes[MAX_RANK], n = t_rank(x);

	for (int i = 0; i < n; i++)
		axes[i] = i;
	return t_reduce(op, x, n, axes, false);
}

/* ---- along one axis */

UOp *moved(UOp *x, int axis, int64_t n, double fill)
{
	UOp *pairs[MAX_RANK][2];

	for (int i = 0; i < t_rank(x); i++) {
		pairs[i][0] = ix_const(i == axis ? n : 0);
		pairs[i][1] = ix_const(0);
	}
	x = fill != 0 ? t_pad_value(x, pairs, t_num(x->dtype, fill)) : t_pad(x, pairs);
	return t_shrink_axis(x, axis, ix_const(0), ix_sub(t_dim(x, axis), ix_const(n)));
}

static UOp *reversed(UOp *x, int axis, bool yes) { return yes ? t_flip(x, 1, &axis) : x; }

/* After step s, y[i] is the sum over the 2s places up to i, and a[i] the product of their
 * factors. */
UOp *linear_recurrence(UOp *a, UOp *b, int axis)
{
	int64_t lo, n;

	ix_bounds(t_dim(b, axis), &lo, &n);
	n = n < MOST_PLACES ? n : MOST_PLACES;
	for (int64_t s = 1; s < n; s *= 2) {
		b = t_add(b, t_mul(a, moved(b, axis, s, 0)));
		a = 2 * s < n ? t_mul(a, moved(a, axis, s, 0)) : a;
	}
	return b;
}

/* the product of all elements before (with back: after) each element along axis, 1 for the first
 * (last) */
static UOp *products_beside(UOp *x, int axis, bool back)
{
	x = reversed(x, axis, back);
	return reversed(t_scan(OP_MUL, moved(x, axis, 1, 1), axis), axis, back);
}

static Op fold_op(const UOp *u) { return op_find(u->arg->a[0]->s); }

/* ---- REDUCE */

/* The reduced axes of x merged into one, the last; and the way back to x's shape. */
typedef struct { int n, rank, perm[MAX_RANK]; const Shape *kept; } FoldedRows;

static UOp *to_rows(UOp *x, int n, const int *axes, FoldedRows *r)
{
	bool gone[MAX_RANK] = { false };
	int k = 0;

	for (int i = 0; i < n; i++)
		gone[axes[i]] = true;
	r->rank = t_rank(x);
	r->n = n;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < r->rank; i++)
			if (gone[i] == pass)
				r->perm[k++] = i;
	x = t_permute(x, r->perm);
	r->kept = x->shape;
	return t_merge_axes(x, r->rank - n, n);
}

static UOp *from_rows(UOp *x, const FoldedRows *r)
{
	int back[MAX_RANK];

	for (int i = 0; i < r->rank; i++)
		back[r->perm[i]] = i;
	return t_permute(t_reshape(x, r->kept), back);
}

/* for each element the product of the others in its reduction */
static UOp *others(UOp *u)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	FoldedRows r;
	UOp *x;

	if (!n)
		return t_expand_to(t_num(u->dtype, 1), u->shape);
	x = to_rows(u->src[0], n, axes, &r);
	return from_rows(t_mul(products_beside(x, t_rank(x) - 1, false),
		products_beside(x, t_rank(x) - 1, true)), &r);
}

/* Whether each element is a maximum (minimum); *share is one over the number of such elements, in a
 * float dtype wide enough to count them. */
static UOp *hits(UOp *u, UOp **share)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	UOp *hit = t_eq(u->src[0], t_expand_to(u, u->src[0]->shape));

	*share = t_recip(t_reduce(OP_ADD, t_cast(hit, dtype_acc(u->dtype)), n, axes, true));
	return hit;
}

static UOp *shared(UOp *g, UOp *share)
{
	return t_cast(t_mul(t_cast(g, share->dtype), share), g->dtype);
}

static void reduce_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	const Shape *s = u->src[0]->shape;
	UOp *share, *hit;

	switch (fold_op(u)) {
	case OP_ADD:
		to[0] = t_expand_to(g, s);
		break;
	case OP_MUL:
		to[0] = t_mul(t_expand_to(g, s), others(u));
		break;
	default:
		hit = hits(u, &share);
		to[0] = t_where(hit, t_expand_to(shared(g, share), s), t_num(u->dtype, 0));
	}
}

static UOp *reduce_along(UOp *u, UOp *const *t)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	UOp *share, *hit;

	switch (fold_op(u)) {
	case OP_ADD:
		return t_reduce(OP_ADD, t[0], n, axes, true);
	case OP_MUL:
		return t_reduce(OP_ADD, t_mul(t[0], others(u)), n, axes, true);
	default:
		hit = hits(u, &share);
		return shared(t_reduce(OP_ADD, t_where(hit, t[0], t_num(u->dtype, 0)), n, axes,
			true), share);
	}
}

/* ---- SCAN */

/* A running maximum is y[i] = (1 - w[i])·y[i-1] + w[i]·x[i]: w is 0 where x[i] is less than the
 * maximum so far, 1 where it is greater, and 1/k where it is the k-th element equal to it. */
static UOp *weights(UOp *u, int axis)
{
	UOp *x = u->src[0], *hit, *fresh, *one, *zero, *first, *count;
	DType acc = dtype_acc(u->dtype);

	one = t_num(acc, 1);
	zero = t_num(acc, 0);
	hit = t_eq(x, u);
	first = t_eq(t_iota(DT_I64, u->shape, axis), t_num(DT_I64, 0));
	fresh = t_or(first, t_ne(u, moved(u, axis, 1, 0)));
	count = linear_recurrence(t_where(fresh, zero, t_expand_to(one, u->shape)),
		t_cast(hit, acc), axis);
	return t_where(hit, t_recip(count), zero);
}

/* sum over i ≥ j of g[i] times a[j+1]·…·a[i]: a reversed recurrence whose factors are shifted by
 * one place */
static UOp *gathered(UOp *a, UOp *g, int axis)
{
	a = moved(reversed(a, axis, true), axis, 1, 0);
	return reversed(linear_recurrence(a, reversed(g, axis, true), axis), axis, true);
}

static UOp *less_one(UOp *w) { return t_sub(t_num(w->dtype, 1), w); }

static void scan_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	int axis = (int)u->arg->a[1]->i;
	UOp *w, *x = u->src[0];

	switch (fold_op(u)) {
	case OP_ADD:
		to[0] = reversed(t_scan(OP_ADD, reversed(g, axis, true), axis), axis, true);
		break;
	case OP_MUL:
		to[0] = t_mul(products_beside(x, axis, false), gathered(x, g, axis));
		break;
	default:
		w = weights(u, axis);
		to[0] = t_cast(t_mul(w, gathered(less_one(w), t_cast(g, w->dtype), axis)),
			g->dtype);
	}
}

static UOp *scan_along(UOp *u, UOp *const *t)
{
	int axis = (int)u->arg->a[1]->i;
	UOp *w, *x = u->src[0];

	switch (fold_op(u)) {
	case OP_ADD:
		return t_scan(OP_ADD, t[0], axis);
	case OP_MUL:
		return linear_recurrence(x, t_mul(products_beside(x, axis, false), t[0]), axis);
	default:
		w = weights(u, axis);
		return t_cast(linear_recurrence(less_one(w), t_mul(w, t_cast(t[0], w->dtype)),
			axis), u->dtype);
	}
}

const OpPair derive_folds[] =
	{{"reduce", reduce_back, reduce_along}, {"scan", scan_back, scan_along}, {0}};
