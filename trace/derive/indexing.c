/* Derivatives of GATHER and SCATTER: each is the transpose of the other.
 *
 *     GATHER(x, i)            the cotangent is added in at i: SCATTER ADD(0, i, g); for one element
 *                             a row, WHERE(ARANGE = i, g, 0)
 *     SCATTER ADD(x, i, v)    g for x, its elements at i for v                      GATHER(g, i)
 *     SCATTER SET             the same; x: where nothing was written; v: where written last
 *     SCATTER MAX             shared equally by x and all v that are the maximum at a place
 *     SCATTER MUL             times the product of the others at the same place */
#include "primitives/primitives.h"
#include "derive/derive.h"

typedef struct { UOp *x, *v, *const *at; int k; const char *how; } Put;

static Put put_of(UOp *u)
{
	return (Put){u->src[0], u->src[u->nsrc - 1], u->src + 1, (int)u->nsrc - 2, u->arg->s};
}

static UOp *zeros(UOp *like) { return t_expand_to(t_num(like->dtype, 0), like->shape); }
static UOp *ones(UOp *like) { return t_expand_to(t_num(like->dtype, 1), like->shape); }
static UOp *orzero(UOp *t, UOp *like) { return t ? t : zeros(like); }

/* ---- GATHER */

/* An index as i64; a u64 above the range of i64 is outside too, where a cast would wrap. */
static UOp *as_place(UOp *i)
{
	if (i->dtype == DT_U64)
		i = t_min(i, const_bits(DT_U64, &(uint64_t){INT64_MAX}));
	return t_cast(i, DT_I64);
}

/* i is 0, 1, 2, … along that axis, whatever the other indices are: this is how take_along indexes
 * the axes along which it does not select. */
static bool counts(UOp *i, int axis)
{
	UOp *n = t_dim(i, axis), *one = ix_const(1);

	i = i->op == OP_EXPAND ? i->src[0] : i;
	for (int d = 0; d < t_rank(i); d++)
		if (t_dim(i, d) != (d == axis ? n : one))
			return false;
	i = i->op == OP_RESHAPE ? i->src[0] : i;
	return i->op == OP_ARANGE && t_rank(i) == 1 && t_dim(i, 0) == n;
}

/* The axis along which u takes one element of each row of x; -1 when it is not such a gather. */
static int chosen_axis(UOp *u)
{
	UOp *x = u->src[0];
	int axis = -1;

	if ((int)u->nsrc - 1 != t_rank(x) || t_rank(u) != t_rank(x))
		return -1;
	for (int d = 0; d < t_rank(x); d++) {
		if (t_dim(u, d) == t_dim(x, d) && counts(u->src[1 + d], d))
			continue;
		if (axis >= 0 || t_dim(u, d) != ix_const(1))
			return -1;
		axis = d;
	}
	return axis;
}

static void gather_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	UOp *x = u->src[0];
	int axis = chosen_axis(u);

	if (axis < 0)
		to[0] = t_scatter(zeros(x), (int)u->nsrc - 1, u->src + 1, g, "ADD");
	else
		to[0] = t_where(t_eq(t_iota(DT_I64, x->shape, axis), as_place(u->src[1 + axis])),
			g, t_num(g->dtype, 0));
}

static UOp *gather_along(UOp *u, UOp *const *t)
{
	return t_gather(t[0], (int)u->nsrc - 1, u->src + 1);
}

/* ---- SCATTER SET */

/* The position of each v in the order of places. */
static UOp *numbers(Put p)
{
	const Shape *s = p.at[0]->shape;

	return t_reshape(t_arange(DT_I64, shape_count(s)), s);
}

/* c, of the indices' shape, reshaped to broadcast against v, which has further axes of x */
static UOp *beside_v(UOp *c, Put p)
{
	UOp *d[MAX_RANK];

	for (int i = 0; i < t_rank(p.v); i++)
		d[i] = i < t_rank(c) ? t_dim(c, i) : ix_const(1);
	return t_expand_to(t_reshapev(c, t_rank(p.v), d), p.v->shape);
}

/* which v was written last at its place */
static UOp *winners(Put p)
{
	UOp *own = numbers(p), *last;

	last = t_expand_to(t_num(DT_I64, -1), shape_new(p.k, p.x->shape->dim));
	last = t_scatter(last, p.k, p.at, own, "SET");
	return beside_v(t_eq(t_gather(last, p.k, p.at), own), p);
}

static void set_back(Put p, UOp *g, const bool *want, UOp **to, UOp **to_v)
{
	if (want[0])
		to[0] = t_scatter(g, p.k, p.at, zeros(p.v), "SET");
	if (to_v)
		*to_v = t_where(winners(p), t_gather(g, p.k, p.at), t_num(g->dtype, 0));
}

/* ---- SCATTER MAX, MIN */

/* whether x and v are equal to the result at their place, and one over the number that are */
typedef struct { UOp *x, *v, *share; } Ties;

static Ties ties(UOp *u, Put p)
{
	DType acc = dtype_acc(u->dtype);
	Ties t = {t_eq(p.x, u), t_eq(p.v, t_gather(u, p.k, p.at)), NULL};

	t.share = t_recip(t_scatter(t_cast(t.x, acc), p.k, p.at, t_cast(t.v, acc), "ADD"));
	return t;
}

static UOp *shared(UOp *g, Ties t)
{
	return t_cast(t_mul(t_cast(g, t.share->dtype), t.share), g->dtype);
}

static void most_back(UOp *u, Put p, UOp *g, const bool *want, UOp **to, UOp **to_v)
{
	Ties t = ties(u, p);
	UOp *zero = t_num(g->dtype, 0);

	g = shared(g, t);
	if (want[0])
		to[0] = t_where(t.x, g, zero);
	if (to_v)
		*to_v = t_where(t.v, t_gather(g, p.k, p.at), zero);
}

static UOp *most_along(UOp *u, Put p, UOp *dx, UOp *dv)
{
	Ties t = ties(u, p);
	UOp *zero = t_num(u->dtype, 0);

	return shared(t_scatter(t_where(t.x, dx, zero), p.k, p.at, t_where(t.v, dv, zero),
		"ADD"), t);
}

/* ---- SCATTER MUL */

/* Row-major numbers of the places in x's first k axes; places outside get the number after the
 * last. */
static UOp *flat_places(Put p)
{
	UOp *flat = t_num(DT_I64, 0), *in = t_num(DT_BOOL, 1), *n, *i, *count = ix_const(1);

	for (int k = 0; k < p.k; k++) {
		n = t_size(DT_I64, t_dim(p.x, k));
		i = as_place(p.at[k]);
		in = t_and(in, t_and(t_not(t_lt(i, t_num(DT_I64, 0))), t_lt(i, n)));
		flat = t_add(t_mul(flat, n), i);
		count = ix_mul(count, t_dim(p.x, k));
	}
	flat = t_where(in, flat, t_size(DT_I64, count));
	return t_reshapev(flat, 1, (UOp *[]){shape_count(p.at[0]->shape)});
}

/* true where the number differs from the one before */
static UOp *changes(UOp *place)
{
	UOp *first = t_eq(t_iota(DT_I64, place->shape, 0), t_num(DT_I64, 0));

	return t_or(first, t_ne(place, moved(place, 0, 1, 0)));
}

/* Rows of v sorted by place: for each the product of the earlier ones at the same place. */
static UOp *before_it(UOp *v, UOp *place)
{
	UOp *d[MAX_RANK], *one = t_num(v->dtype, 1), *zero = t_num(v->dtype, 0), *fresh;

	for (int i = 0; i < t_rank(v); i++)
		d[i] = i ? ix_const(1) : t_dim(v, 0);
	fresh = t_expand_to(t_reshapev(changes(place), t_rank(v), d), v->shape);
	return linear_recurrence(t_where(fresh, zero, moved(v, 0, 1, 0)),
		t_where(fresh, one, zero), 0);
}

/* For each v the product of the other v at the same place. */
static UOp *other_values(Put p)
{
	UOp *place = flat_places(p), *order = t_sort(place, 0, false), *v = p.v, *before, *after,
		*d[MAX_RANK];
	int rank = 1, zero = 0;

	d[0] = t_dim(place, 0);
	for (int i = t_rank(p.at[0]); i < t_rank(v); i++)
		d[rank++] = t_dim(v, i);
	v = t_gather(t_reshapev(v, rank, d), 1, &order);
	place = t_gather(place, 1, &order);
	before = before_it(v, place);
	after = before_it(t_flip(v, 1, &zero), t_flip(place, 1, &zero));
	v = t_mul(before, t_flip(after, 1, &zero));
	return t_reshape(t_scatter(zeros(v), 1, &order, v, "SET"), p.v->shape);
}

/* the product by which each place of x is multiplied */
static UOp *factors(Put p) { return t_scatter(ones(p.x), p.k, p.at, p.v, "MUL"); }

static void mul_back(Put p, UOp *g, const bool *want, UOp **to, UOp **to_v)
{
	if (want[0])
		to[0] = t_mul(g, factors(p));
	if (to_v)
		*to_v = t_mul(t_gather(t_mul(g, p.x), p.k, p.at), other_values(p));
}

static UOp *mul_along(Put p, UOp *dx, UOp *dv)
{
	UOp *by = t_mul(t_mul(dv, other_values(p)), t_gather(p.x, p.k, p.at));

	return t_scatter(t_mul(dx, factors(p)), p.k, p.at, by, "ADD");
}

/* ---- SCATTER */

static void scatter_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	Put p = put_of(u);
	UOp **to_v = want[u->nsrc - 1] ? &to[u->nsrc - 1] : NULL;

	if (!strcmp(p.how, "SET")) {
		set_back(p, g, want, to, to_v);
	} else if (!strcmp(p.how, "MUL")) {
		mul_back(p, g, want, to, to_v);
	} else if (strcmp(p.how, "ADD")) {
		most_back(u, p, g, want, to, to_v);
	} else {
		to[0] = want[0] ? g : NULL;
		if (to_v)
			*to_v = t_gather(g, p.k, p.at);
	}
}

static UOp *scatter_along(UOp *u, UOp *const *t)
{
	Put p = put_of(u);
	UOp *dx = orzero(t[0], p.x), *dv = orzero(t[u->nsrc - 1], p.v);

	if (!strcmp(p.how, "SET") || !strcmp(p.how, "ADD"))
		return t_scatter(dx, p.k, p.at, dv, p.how);
	return !strcmp(p.how, "MUL") ? mul_along(p, dx, dv) : most_along(u, p, dx, dv);
}

const OpPair derive_places[] =
	{{"gather", gather_back, gather_along}, {"scatter", scatter_back, scatter_along}, {0}};
