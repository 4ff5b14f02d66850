/* The primitive ops as functions: with movement.c the base of the tensor library.
 *
 *     t_add(x f32[3,1], y f32[4])   →   ADD(EXPAND x [3,4], EXPAND (RESHAPE y [1,4]) [3,4])
 *
 * All of them return nodes of level graph; sources are broadcast and promoted as NumPy does. */
#include "primitives/primitives.h"

ARENA Reading reading;

/* ---- dtypes ---------------------------------------------------------------------------------- */

static DType promote_ints(DType a, DType b)
{
	static const DType wider[] = { [1] = DT_I16, [2] = DT_I32, [4] = DT_I64, [8] = DT_F64 };
	DType u, s;

	if (dtype_signed(a) == dtype_signed(b))
		return dtype_size(a) >= dtype_size(b) ? a : b;
	s = dtype_signed(a) ? a : b;
	u = dtype_signed(a) ? b : a;
	return dtype_size(s) > dtype_size(u) ? s : wider[dtype_size(u)];
}

DType dtype_promote(DType a, DType b)
{
	int n;

	if (a == b || b == DT_BOOL)
		return a;
	if (a == DT_BOOL)
		return b;
	if (dtype_int(a) && dtype_int(b))
		return promote_ints(a, b);
	if (dtype_float(a) && dtype_float(b))
		return dtype_size(a) != dtype_size(b) ? (dtype_size(a) > dtype_size(b) ? a : b)
			: DT_F32;
	if (dtype_int(a))
		return dtype_promote(b, a);
	/* a float and an integer: the result must hold the integer's values, or be f64 */
	n = dtype_size(b);
	if (n >= 4)
		return DT_F64;
	return n == 1 || dtype_size(a) > 2 ? a : DT_F32;
}

UOp *t_cast(UOp *x, DType dt)
{
	if (x->dtype == dt || dt == DT_NONE)
		return x;
	return NODE(OP_CAST, dt, VNIL, x);
}

UOp *t_float(UOp *x)
{
	return dtype_float(x->dtype) ? x : t_cast(x, float_dtype());
}

UOp *t_num(DType dt, double v)
{
	return const_num(dt, v);
}

UOp *t_size(DType dt, UOp *size)
{
	int64_t v;

	if (ix_is_const(size, &v))
		return dtype_float(dt) ? const_num(dt, (double)v) : const_int(dt, v);
	return t_cast(LEAF(OP_SIZE, DT_I64, size_to_val(size)), dt);
}

/* ---- elementwise ----------------------------------------------------------------------------- */

UOp *t_expand_to(UOp *x, const Shape *s)
{
	UOp *dim[MAX_RANK];
	int lead = s->rank - t_rank(x);

	if (x->shape == s)
		return x;
	if (lead < 0)
		die(MALFORMED, "shape %s does not fit into %s", shape_text(x->shape),
			shape_text(s));
	for (int i = 0; i < s->rank; i++)
		dim[i] = i < lead ? ix_const(1) : t_dim(x, i - lead);
	return t_expandv(t_reshapev(x, s->rank, dim), s->rank, s->dim);
}

static bool has_variable(UOp *size)
{
	int64_t v;
	return !ix_is_const(size, &v);
}

/* No EXPAND, which one to another size would take in. In a body or branch the node alone asks for
 * it. */
UOp *t_as_one(UOp *x, int axis)
{
	UOp *dim[MAX_RANK];

	memcpy(dim, x->shape->dim, (size_t)t_rank(x) * sizeof *dim);
	dim[axis] = ix_const(1);
	const Shape *s = shape_new(t_rank(x), dim);
	if (!steps_within())
		size_check("eq", t_dim(x, axis), ix_const(1));
	size_check("eq", shape_count(s), shape_count(x->shape));
	return t_reshape(x, s);
}

UOp *t_agree(UOp *x, int axis, UOp *size)
{
	UOp *own = t_dim(x, axis);

	if (own == size || !reading.sizes_agree || !(has_variable(own) || has_variable(size)))
		return x;
	if (size == ix_const(1))
		return t_as_one(x, axis);
	size_check("eq", own, size);
	return t_expand_axis(x, axis, size);
}

static UOp *agree(UOp *x, const Shape *s)
{
	int lead = s->rank - t_rank(x);
	int64_t one;

	for (int i = lead < 0 ? -lead : 0; i < t_rank(x); i++) {
		UOp *a = t_dim(x, i), *b = s->dim[i + lead];
		if (!(ix_is_const(a, &one) && one == 1) && !(ix_is_const(b, &one) && one == 1))
			x = t_agree(x, i, b);
	}
	return x;
}

/* Broadcasts the sources to one shape; scalars stay as they are, since a scalar combines with any
 * shape. */
static void broadcast(int n, UOp **x)
{
	const Shape *s = shape_scalar(), *t;

	for (int i = 0; i < n; i++) {
		t = shape_broadcast(s, x[i]->shape);
		if (!t)
			t = shape_broadcast(s, (x[i] = agree(x[i], s))->shape);
		if (!t)
			die(MALFORMED, "shapes %s and %s do not match", shape_text(s),
				shape_text(x[i]->shape));
		s = t;
	}
	for (int i = 0; i < n; i++)
		if (t_rank(x[i]) > 0)
			x[i] = t_expand_to(x[i], s);
}

UOp *t_op1(Op op, UOp *x)
{
	if (op_info[op].takes == TAKES_FLT)
		x = t_float(x);
	return NODE(op, x->dtype, VNIL, x);
}

/* The integer division ops for floats: the same function over the reals. */
static UOp *float_division(Op op, UOp *a, UOp *b)
{
	switch (op) {
	case OP_IDIV: return t_op1(OP_TRUNC, t_div(a, b));
	case OP_MOD: return t_fmod(a, b);
	case OP_FLOORDIV: return t_floordiv(a, b);
	default: return t_mod(a, b);
	}
}

UOp *t_op2(Op op, UOp *a, UOp *b)
{
	DType dt = dtype_promote(a->dtype, b->dtype);
	UOp *x[2];

	if (op_info[op].takes == TAKES_FLT && !dtype_float(dt))
		dt = float_dtype();
	x[0] = t_cast(a, dt);
	x[1] = t_cast(b, dt);
	if (dtype_float(dt) && op_info[op].takes == TAKES_INT && op != OP_SHL && op != OP_SHR)
		return float_division(op, x[0], x[1]);
	broadcast(2, x);
	return node_new(op, op_info[op].cls == CLASS_COMPARE ? DT_BOOL : dt, 2, x, VNIL);
}

UOp *t_where(UOp *c, UOp *a, UOp *b)
{
	DType dt = dtype_promote(a->dtype, b->dtype);
	UOp *x[3] = { t_cast(c, DT_BOOL), t_cast(a, dt), t_cast(b, dt) };

	broadcast(3, x);
	return node_new(OP_WHERE, dt, 3, x, VNIL);
}

UOp *t_mulacc(UOp *a, UOp *b, UOp *c)
{
	DType dt = dtype_promote(dtype_promote(a->dtype, b->dtype), c->dtype);
	UOp *x[3] = { t_cast(a, dt), t_cast(b, dt), t_cast(c, dt) };

	broadcast(3, x);
	return node_new(OP_MULACC, dt, 3, x, VNIL);
}

UOp *t_add(UOp *a, UOp *b) { return t_op2(OP_ADD, a, b); }
UOp *t_sub(UOp *a, UOp *b) { return t_op2(OP_SUB, a, b); }
UOp *t_mul(UOp *a, UOp *b) { return t_op2(OP_MUL, a, b); }
UOp *t_div(UOp *a, UOp *b) { return t_op2(OP_FDIV, a, b); }
UOp *t_max(UOp *a, UOp *b) { return t_op2(OP_MAX, a, b); }
UOp *t_min(UOp *a, UOp *b) { return t_op2(OP_MIN, a, b); }
UOp *t_neg(UOp *x) { return t_op1(OP_NEG, x); }
UOp *t_addc(UOp *x, double c) { return t_add(x, t_num(x->dtype, c)); }
UOp *t_mulc(UOp *x, double c) { return t_mul(x, t_num(x->dtype, c)); }
UOp *t_lt(UOp *a, UOp *b) { return t_op2(OP_CMPLT, a, b); }
UOp *t_eq(UOp *a, UOp *b) { return t_op2(OP_CMPEQ, a, b); }
UOp *t_ne(UOp *a, UOp *b) { return t_op2(OP_CMPNE, a, b); }
UOp *t_not(UOp *c) { return t_eq(t_cast(c, DT_BOOL), t_num(DT_BOOL, 0)); }
UOp *t_and(UOp *a, UOp *b) { return t_op2(OP_AND, t_cast(a, DT_BOOL), t_cast(b, DT_BOOL)); }
UOp *t_or(UOp *a, UOp *b) { return t_op2(OP_OR, t_cast(a, DT_BOOL), t_cast(b, DT_BOOL)); }

/* Small integer powers become multiplications. */
UOp *t_pow(UOp *a, UOp *b)
{
	double f;
	int64_t i;
	bool whole = const_is_float(b, &f) ? f == 2 || f == 3
		: const_is_int(b, &i) && (i == 2 || i == 3);

	if (!whole || dtype_promote(a->dtype, b->dtype) != a->dtype || a->dtype == DT_BOOL)
		return t_op2(OP_POW, a, b);
	return (const_is_float(b, &f) ? f == 2 : i == 2) ? t_mul(a, a) : t_mul(t_mul(a, a), a);
}

UOp *t_sqrt(UOp *x) { return t_op1(OP_SQRT, x); }
UOp *t_recip(UOp *x) { return t_op1(OP_RECIP, x); }

/* ---- along axes ------------------------------------------------------------------------------ */

UOp *t_reduce(Op op, UOp *x, int n, const int *axes, bool keepdims)
{
	int64_t v[MAX_RANK];
	UOp *d[MAX_RANK];
	int rank = 0;
	bool gone[MAX_RANK] = { false };

	if (n == 0)
		return x;
	for (int i = 0; i < n; i++) {
		v[i] = axes[i];
		gone[axes[i]] = true;
	}
	for (int i = 0; i < t_rank(x); i++)
		if (!gone[i])
			d[rank++] = t_dim(x, i);
	x = NODE(OP_REDUCE, x->dtype, VARR(val_str(op_name(op)), val_ints(n, v)), x);
	return keepdims ? x : t_reshapev(x, rank, d);
}

UOp *t_sum(UOp *x, int axis, bool keepdims)
{
	axis = axis < 0 ? axis + t_rank(x) : axis;
	return t_reduce(OP_ADD, x, 1, &axis, keepdims);
}

UOp *t_count(UOp *x, int n, const int *axes)
{
	UOp *c = ix_const(1);

	for (int i = 0; i < n; i++)
		c = ix_mul(c, t_dim(x, axes[i]));
	return c;
}

UOp *t_mean(UOp *x, int n, const int *axes, bool keepdims)
{
	DType dt, acc;
	UOp *s;

	x = t_float(x);
	dt = x->dtype;
	acc = dtype_acc(dt);
	s = t_reduce(OP_ADD, t_cast(x, acc), n, axes, keepdims);
	return t_cast(t_div(s, t_size(acc, t_count(x, n, axes))), dt);
}

UOp *t_scan(Op op, UOp *x, int axis)
{
	return NODE(OP_SCAN, x->dtype, VARR(val_str(op_name(op)), val_int(axis)), x);
}

UOp *t_sort(UOp *x, int axis, bool descending)
{
	return NODE(OP_SORT, DT_I64, VARR(val_int(axis), val_bool(descending)), x);
}

/* ---- leaves, by index ------------------------------------------------------------------------ */

UOp *t_arange(DType dt, UOp *n)
{
	return LEAF(OP_ARANGE, dt, size_to_val(n));
}

UOp *t_iota(DType dt, const Shape *s, int axis)
{
	UOp *d[MAX_RANK];

	for (int i = 0; i < s->rank; i++)
		d[i] = i == axis ? s->dim[i] : ix_const(1);
	return t_reshapev(t_arange(dt, s->dim[axis]), s->rank, d);
}

UOp *t_full(const Shape *s, UOp *scalar)
{
	return t_expand_to(scalar, s);
}

/* The common shape of k indices; scalars are expanded too, since GATHER needs indices of one
 * shape. */
static const Shape *one_shape(int k, UOp *const *idx, UOp **out)
{
	const Shape *s = shape_scalar(), *t;

	for (int i = 0; i < k; i++) {
		if (!dtype_int(idx[i]->dtype))
			die(MALFORMED, "an index is %s, not an integer", dtype_name(idx[i]->dtype));
		t = shape_broadcast(s, idx[i]->shape);
		if (!t)
			die(MALFORMED, "index shapes %s and %s do not match", shape_text(s),
				shape_text(idx[i]->shape));
		s = t;
	}
	for (int i = 0; i < k; i++)
		out[i] = t_expand_to(idx[i], s);
	return s;
}

UOp *t_gather(UOp *x, int k, UOp *const *idx)
{
	UOp *src[1 + MAX_RANK];

	if (k > t_rank(x))
		die(MALFORMED, "%d indices for a tensor of rank %d", k, t_rank(x));
	src[0] = x;
	one_shape(k, idx, src + 1);
	return node_new(OP_GATHER, x->dtype, 1 + k, src, VNIL);
}

UOp *t_scatter(UOp *x, int k, UOp *const *idx, UOp *v, const char *how)
{
	UOp *src[2 + MAX_RANK], *d[2 * MAX_RANK];
	const Shape *s;
	int rank = 0;

	if (k > t_rank(x))
		die(MALFORMED, "%d indices for a tensor of rank %d", k, t_rank(x));
	src[0] = x;
	s = one_shape(k, idx, src + 1);
	if (s->rank + t_rank(x) - k > MAX_RANK)
		die(UNSUPPORTED, "rank %d is more than %d", s->rank + t_rank(x) - k, MAX_RANK);
	for (int i = 0; i < s->rank; i++)
		d[rank++] = s->dim[i];
	for (int i = k; i < t_rank(x); i++)
		d[rank++] = t_dim(x, i);
	src[1 + k] = t_expand_to(t_cast(v, x->dtype), shape_new(rank, d));
	return node_new(OP_SCATTER, x->dtype, 2 + k, src, val_str(how));
}

void t_along_indices(UOp *x, UOp *idx, int axis, UOp **out)
{
	for (int d = 0; d < t_rank(x); d++)
		out[d] = d == axis ? idx : t_iota(DT_I64, idx->shape, d);
}

UOp *t_take_along(UOp *x, UOp *idx, int axis)
{
	UOp *at[MAX_RANK];

	if (t_rank(x) != t_rank(idx))
		die(MALFORMED, "index %s and tensor %s differ in rank", shape_text(idx->shape),
			shape_text(x->shape));
	t_along_indices(x, idx, axis, at);
	return t_gather(x, t_rank(x), at);
}

/* Uses the plain exp2 form: arguments are at most 0, where its error is small against the largest
 * element. The maximum cancels out, also in the derivative, which therefore ignores it. */
UOp *t_softmax(UOp *x, int axis)
{
	DType dt;
	UOp *e, *m;

	x = t_float(x);
	dt = x->dtype;
	axis = axis < 0 ? axis + t_rank(x) : axis;
	x = t_cast(x, dtype_acc(dt));
	m = t_reduce(OP_MAX, x, 1, &axis, true);
	m = NODE(OP_DETACH, x->dtype, VNIL, m);
	e = t_op1(OP_EXP2, t_mulc(t_sub(x, m), 1.4426950408889634));
	return t_cast(t_mul(e, t_recip(t_sum(e, axis, true))), dt);
}

UOp *size_tensor(UOp *size)
{
	int64_t v, lo, hi;
	if (ix_is_const(size, &v))
		return const_int(DT_I64, v);
	ix_bounds(size, &lo, &hi);
	if (lo >= 0)
		return t_size(DT_I64, size);
	if (lo == INT64_MIN)
		die(UNSUPPORTED, "a size without a lower bound as a number");
	return t_add(t_size(DT_I64, ix_sub(size, ix_const(lo))), const_int(DT_I64, lo));
}
