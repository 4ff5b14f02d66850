/* Tensors made from sizes alone: constants, ranges, bands of matrices.
 *
 *     eye(3)   →   WHERE(row + 0 == column, 1, 0), row and column from ARANGE */
#include "library/library.h"
#include <math.h>

static DType dtype_or(Args *a, int k, DType dt)
{
	DType given = arg_dtype(a, k);

	return given == DT_NONE ? dt : given;
}

static const Shape *arg_shape(Args *a, int k)
{
	UOp *dim[MAX_RANK];
	int rank = arg_sizes(a, k, dim);
	const char *err;
	int status = MALFORMED;
	const Shape *s = shape_checked(rank, dim, &err, &status);

	if (!s)
		die(status, "%s: %s", a->fn->name, err);
	return s;
}

/* ---- constants ------------------------------------------------------------------------------- */

Value fn_full(Args *a)
{
	const Shape *s = arg_shape(a, 0);
	DType dt = arg_dtype(a, 2);

	return v_tensor(t_full(s, t_cast(arg_tensor_like(a, 1, dt), dt)));
}

static Value all_of(Args *a, double v)
{
	return v_tensor(t_full(arg_shape(a, 0), t_num(dtype_or(a, 1, float_dtype()), v)));
}

static Value all_like(Args *a, double v)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_full(x->shape, t_num(dtype_or(a, 1, x->dtype), v)));
}

Value fn_zeros(Args *a) { return all_of(a, 0); }
Value fn_ones(Args *a) { return all_of(a, 1); }
Value fn_zeros_like(Args *a) { return all_like(a, 0); }
Value fn_ones_like(Args *a) { return all_like(a, 1); }

Value fn_full_like(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	DType dt = dtype_or(a, 2, x->dtype);

	return v_tensor(t_full(x->shape, t_cast(arg_tensor_like(a, 1, dt), dt)));
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* x·v or x + v; v stays exact where x has an integer dtype */
static UOp *by_int(Op op, UOp *x, int64_t v)
{
	return t_op2(op, x, dtype_float(x->dtype) ? t_num(x->dtype, v) : const_int(x->dtype, v));
}

/* start, start+step, … below stop over the integers; the sizes may be symbolic */
static UOp *arange_ints(UOp *start, UOp *stop, int64_t step, DType dt)
{
	UOp *span = step > 0 ? ix_sub(stop, start) : ix_sub(start, stop), *one = ix_const(1), *n,
	    *x;
	int64_t by = step > 0 ? step : -(step + (step == INT64_MIN)), v;

	n = ix_add(ix_div(ix_sub(span, one), ix_const(by)), one);
	if (ix_prove_lt(n, ix_const(0)))
		n = ix_const(0);
	x = t_arange(dt, n);
	x = step == 1 ? x : by_int(OP_MUL, x, step);
	if (ix_is_const(start, &v))
		return v ? by_int(OP_ADD, x, v) : x;
	return t_add(x, t_size(dt, start));
}

static UOp *arange_floats(double start, double stop, double step, DType dt)
{
	double n = ceil((stop - start) / step);

	if (!(n < 0x1p62))
		die(MALFORMED, "arange: from %g to %g by %g is too many", start, stop, step);
	return t_addc(t_mulc(t_arange(dt, ix_const(n > 0 ? n : 0)), step), start);
}

UOp *t_range_count(UOp *start, UOp *stop, UOp *by)
{
	UOp *n = t_sub(stop, start);

	if (dtype_float(n->dtype))
		n = t_cast(t_ceil(t_div(t_cast(n, DT_F64), t_cast(by, DT_F64))), DT_I64);
	else
		n = t_neg(t_op2(OP_FLOORDIV, t_neg(t_cast(n, DT_I64)), t_cast(by, DT_I64)));
	return t_bind_open("count", t_max(n, const_int(DT_I64, 0)), 1);
}

/* start, stop and step as scalars, of which data gives some */
static UOp *arange_data(Args *a, bool one, DType dt)
{
	UOp *stop = arg_tensor(a, one ? 0 : 1), *v[3] = {t_num(stop->dtype, 0), stop};

	if (!one)
		v[0] = arg_tensor_like(a, 0, stop->dtype);
	v[2] = arg_tensor_like(a, 2, stop->dtype);
	for (int i = 0; i < 3; i++) {
		if (shape_count(v[i]->shape) != ix_const(1))
			die(MALFORMED, "arange: a bound is %s, not one number",
				shape_text(v[i]->shape));
		v[i] = t_reshape(v[i], shape_scalar());
	}
	dt = dt != DT_NONE || dtype_float(t_add(v[0], v[1])->dtype) ? dt : DT_I64;
	UOp *i = t_arange(DT_I64, t_range_count(v[0], v[1], v[2]));
	return t_cast(t_add(v[0], t_mul(t_cast(i, v[2]->dtype), v[2])), dt);
}

static bool whole(const Value *v)
{
	return v->kind == V_NONE || v->kind == V_SIZE || (v->kind == V_NUMBER && v->is_int);
}

Value fn_arange(Args *a)
{
	bool ints = whole(&a->at[0]) && whole(&a->at[1]) && whole(&a->at[2]),
	     one = !arg_given(a, 1);
	DType dt = dtype_or(a, 3, ints ? DT_I64 : float_dtype());

	for (int k = 0; k < 3; k++)
		if (a->at[k].kind == V_TENSOR && a->at[k].u->op != OP_CONST)
			return v_tensor(arange_data(a, one, dtype_or(a, 3, DT_NONE)));
	if (arg_float(&(Args){ a->fn, 3, a->at }, 2) == 0)
		die(MALFORMED, "arange: a step of 0");
	if (ints) {
		UOp *start = one ? ix_const(0) : arg_size(a, 0);
		return v_tensor(arange_ints(start, arg_size(a, one ? 0 : 1), arg_int(a, 2), dt));
	}
	return v_tensor(arange_floats(one ? 0 : arg_float(a, 0), arg_float(a, one ? 0 : 1),
		arg_float(a, 2), dt));
}

/* The last element is exactly stop. */
Value fn_linspace(Args *a)
{
	double start = arg_float(a, 0), stop = arg_float(a, 1);
	int64_t n = arg_int(a, 2);
	bool closed = arg_bool(a, 3);
	DType dt = dtype_or(a, 4, float_dtype());
	int64_t gaps = closed ? n - 1 : n;
	UOp *i, *x;

	if (n < 0)
		die(MALFORMED, "linspace: %lld values", (long long)n);
	i = t_arange(dtype_acc(dt), ix_const(n));
	x = t_addc(t_mulc(i, gaps > 0 ? (stop - start) / gaps : 0), start);
	if (closed && n > 1)
		x = t_where(t_eq(i, t_num(i->dtype, n - 1)), t_num(x->dtype, stop), x);
	return v_tensor(t_cast(x, dt));
}

/* ---- bands of matrices ----------------------------------------------------------------------- */

/* column - row of the last two axes, as [r, c] */
static UOp *diagonal_number(UOp *rows, UOp *columns)
{
	UOp *r = t_reshapev(t_arange(DT_I64, rows), 2, (UOp *[]){ rows, ix_const(1) });

	return t_sub(t_arange(DT_I64, columns), r);
}

static UOp *matrix(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	if (t_rank(x) < 2)
		die(MALFORMED, "%s: %s is not a matrix", a->fn->name, shape_text(x->shape));
	return x;
}

/* which diagonal: a number, or a tensor of one element */
static UOp *which_diagonal(Args *a)
{
	return t_reshape(t_cast(arg_tensor_like(a, 1, DT_I64), DT_I64), shape_scalar());
}

Value fn_tril(Args *a)
{
	UOp *x = matrix(a), *d = diagonal_number(t_dim(x, -2), t_dim(x, -1));

	return v_tensor(t_where(t_lt(which_diagonal(a), d), t_num(x->dtype, 0), x));
}

Value fn_triu(Args *a)
{
	UOp *x = matrix(a), *d = diagonal_number(t_dim(x, -2), t_dim(x, -1));

	return v_tensor(t_where(t_lt(d, which_diagonal(a)), t_num(x->dtype, 0), x));
}

Value fn_eye(Args *a)
{
	UOp *n = arg_size(a, 0), *m = arg_given(a, 1) ? arg_size(a, 1) : n;
	DType dt = dtype_or(a, 3, float_dtype());

	return v_tensor(t_cast(t_eq(diagonal_number(n, m), t_num(DT_I64, arg_int(a, 2))), dt));
}

/* the k-th diagonal of the last two axes, taken by index */
static UOp *take_diagonal(UOp *x, int64_t k)
{
	UOp *r = t_dim(x, -2), *c = t_dim(x, -1), *n, *at[2], *i;
	int rank = t_rank(x);

	r = ix_sub(r, ix_const(k < 0 ? -k : 0));
	c = ix_sub(c, ix_const(k > 0 ? k : 0));
	n = ix_prove_le(r, c) ? r : c;
	if (!ix_prove_le(r, c) && !ix_prove_le(c, r))
		die(UNSUPPORTED, "diag: which side of %s is shorter must be known",
			shape_text(x->shape));
	if (ix_prove_lt(n, ix_const(0)))
		n = ix_const(0);
	x = t_move_axis(t_move_axis(x, rank - 1, 0), rank - 1, 0);
	i = t_arange(DT_I64, n);
	at[0] = k < 0 ? t_addc(i, -(double)k) : i;
	at[1] = k > 0 ? t_addc(i, k) : i;
	x = t_gather(x, 2, at);
	return t_move_axis(x, 0, rank - 2);
}

/* Makes a vector the k-th diagonal of a matrix of zeros. */
static UOp *put_diagonal(UOp *x, int64_t k)
{
	UOp *n = t_dim(x, 0), *zero = ix_const(0), *side = ix_const(k < 0 ? -k : k),
		*size = ix_add(n, side);

	x = t_pad_axis(x, 0, k > 0 ? side : zero, k > 0 ? zero : side);
	x = t_where(t_eq(diagonal_number(size, size), t_num(DT_I64, k)), x, t_num(x->dtype, 0));
	return x;
}

Value fn_diag(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int64_t k = arg_int(a, 1);

	if (k < -(1LL << 40) || k > 1LL << 40)
		die(MALFORMED, "diag: k is %lld", (long long)k);
	if (t_rank(x) == 1)
		return v_tensor(put_diagonal(x, k));
	return v_tensor(take_diagonal(matrix(a), k));
}

Value fn_one_hot(Args *a)
{
	UOp *i = arg_tensor(a, 0), *depth = arg_size(a, 1), *d[MAX_RANK], *hit;
	DType dt = dtype_or(a, 2, float_dtype());
	int axis = arg_axis(a, 5, t_rank(i) + 1);

	if (dtype_float(i->dtype))
		i = t_cast(i, DT_I64);
	i = t_unsqueeze(i, axis);
	for (int k = 0; k < t_rank(i); k++)
		d[k] = k == axis ? depth : ix_const(1);
	hit = t_eq(t_cast(i, DT_I64), t_reshapev(t_arange(DT_I64, depth), t_rank(i), d));
	return v_tensor(t_where(hit, t_cast(arg_tensor_like(a, 3, dt), dt),
		t_cast(arg_tensor_like(a, 4, dt), dt)));
}
