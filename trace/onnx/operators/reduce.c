/* Reductions, running reductions, and the operators made of them along an axis.
 *
 *     ReduceL2          →   SQRT of REDUCE ADD of the squares
 *     ArgMax            →   REDUCE MIN of the places where x is REDUCE MAX x
 *     Softmax before 13 →   of x as a matrix: the axes from `axis` on are one row
 *
 * Axes are an attribute in old versions and an input in new ones; without them all axes are
 * reduced, or none when noop_with_empty_axes says so. */
#include "onnx/onnx.h"

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }

typedef struct { int n, axes[MAX_RANK]; bool keep; } Axes;

static Axes axes_of(OnnxCall *c, UOp *x)
{
	Axes a = { 0 };

	a.n = onnx_axes_given(c, "axes", 1, t_rank(x), a.axes);
	a.keep = onnx_attr_int(c, "keepdims", 1) != 0;
	if (a.n <= 0)
		a.n = onnx_attr_int(c, "noop_with_empty_axes", 0) ? 0 : t_rank(x);
	else
		return a;
	for (int i = 0; i < a.n; i++)
		a.axes[i] = i;
	return a;
}

static UOp *fold(UOp *x, Op op, const Axes *a) { return t_reduce(op, x, a->n, a->axes, a->keep); }

/* Sums of products in f32 at least, or in the integer's own dtype; what needs a root or
 * logarithm in floats. */
static UOp *sums(UOp *x, const Axes *a) { return fold(x, OP_ADD, a); }
static UOp *squares(UOp *x, const Axes *a) { return fold(t_mul(x, x), OP_ADD, a); }
static UOp *magnitudes(UOp *x, const Axes *a) { return fold(t_abs(x), OP_ADD, a); }
static UOp *products(UOp *x, const Axes *a) { return fold(x, OP_MUL, a); }
static UOp *greatest(UOp *x, const Axes *a) { return fold(x, OP_MAX, a); }
static UOp *least(UOp *x, const Axes *a) { return fold(x, OP_MIN, a); }
static UOp *root(UOp *x, const Axes *a) { return t_sqrt(squares(x, a)); }
static UOp *log_of_sum(UOp *x, const Axes *a) { return t_log(fold(x, OP_ADD, a)); }
static UOp *mean(UOp *x, const Axes *a)
{
	return t_div(fold(x, OP_ADD, a), t_size(x->dtype, t_count(x, a->n, a->axes)));
}

/* log Σ exp(x - m) + m; m counts as 0 where it is not finite, so that inf - inf does not arise. */
static UOp *log_of_exps(UOp *x, const Axes *a)
{
	UOp *m = t_reduce(OP_MAX, x, a->n, a->axes, true), *s;

	m = t_where(t_eq(t_sub(m, m), num(m, 0)), m, num(m, 0));
	s = fold(t_exp(t_sub(x, m)), OP_ADD, a);
	return t_add(t_log(s), t_reshape(m, s->shape));
}

static void reduce(OnnxCall *c, UOp *(*f)(UOp *x, const Axes *a), bool real)
{
	UOp *x = onnx_in(c, 0);
	Axes a = axes_of(c, x);
	DType acc = real && !dtype_float(x->dtype) ? DT_F64 : dtype_acc(x->dtype);

	onnx_set(c, 0, t_cast(f(t_cast(x, acc), &a), x->dtype));
}

void onnx_ReduceSum(OnnxCall *c) { reduce(c, sums, false); }
void onnx_ReduceSumSquare(OnnxCall *c) { reduce(c, squares, false); }
void onnx_ReduceL1(OnnxCall *c) { reduce(c, magnitudes, false); }
void onnx_ReduceProd(OnnxCall *c) { reduce(c, products, false); }
void onnx_ReduceMax(OnnxCall *c) { reduce(c, greatest, false); }
void onnx_ReduceMin(OnnxCall *c) { reduce(c, least, false); }
void onnx_ReduceL2(OnnxCall *c) { reduce(c, root, true); }
void onnx_ReduceMean(OnnxCall *c) { reduce(c, mean, true); }
void onnx_ReduceLogSum(OnnxCall *c) { reduce(c, log_of_sum, true); }
void onnx_ReduceLogSumExp(OnnxCall *c) { reduce(c, log_of_exps, true); }

/* ---- places ---------------------------------------------------------------------------------- */

/* The first or last place of x's greatest or least element along axis; NaN counts as either. */
static UOp *extreme_place(UOp *x, Op op, int axis, bool last, bool keep)
{
	UOp *hit = t_eq(x, t_reduce(op, x, 1, &axis, true));
	UOp *place = t_iota(DT_I64, x->shape, axis);

	if (dtype_float(x->dtype))
		hit = t_or(hit, t_ne(x, x));
	place = t_where(hit, place, last ? t_num(DT_I64, -1) : t_size(DT_I64, t_dim(x, axis)));
	return t_reduce(last ? OP_MAX : OP_MIN, place, 1, &axis, keep);
}

static void arg_extreme(OnnxCall *c, Op op)
{
	UOp *x = onnx_in(c, 0);
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x));
	bool last = onnx_attr_int(c, "select_last_index", 0);
	bool keep = onnx_attr_int(c, "keepdims", 1);
	int64_t n;

	if (ix_is_const(t_dim(x, axis), &n) && n == 0)
		onnx_fail(c, MALFORMED, "axis %d of %s is empty", axis, shape_text(x->shape));
	onnx_set(c, 0, extreme_place(x, op, axis, last, keep));
}

void onnx_ArgMax(OnnxCall *c) { arg_extreme(c, OP_MAX); }
void onnx_ArgMin(OnnxCall *c) { arg_extreme(c, OP_MIN); }

/* k of the first version is an attribute, later a known input or a size. Equal elements: the
 * lower place first. */
/* at most the axis: more would be wrong, and is cut */
static UOp *k_of_data(OnnxCall *c, UOp *n)
{
	UOp *k = t_cast(onnx_in(c, 1), DT_I64), *zero = const_int(DT_I64, 0);

	if (shape_count(k->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "k is %s, not one number", shape_text(k->shape));
	k = t_reshape(k, shape_scalar());
	return size_of_data(t_min(t_max(k, zero), t_size(DT_I64, n)), n);
}

void onnx_TopK(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *k, *place;
	int axis = onnx_attr_axis(c, "axis", -1, t_rank(x));
	size_t n;

	if (onnx_version(c) < 10)
		k = ix_const(onnx_attr_int(c, "k", -1));
	else if (!onnx_try_sizes(onnx_in(c, 1), 1, &k, &n) || n != 1)
		k = k_of_data(c, t_dim(x, axis));
	if (ix_prove_lt(t_dim(x, axis), k) || ix_prove_lt(k, ix_const(0)))
		onnx_fail(c, MALFORMED, "k is not within axis %d of %s", axis,
			shape_text(x->shape));
	place = t_top_places(x, axis, k, onnx_attr_int(c, "largest", 1) != 0);
	if (onnx_wants(c, 0))
		onnx_set(c, 0, t_take_along(x, place, axis));
	if (onnx_wants(c, 1))
		onnx_set(c, 1, place);
}

/* ---- running sums and products --------------------------------------------------------------- */

static void running(OnnxCall *c, const char *fn)
{
	UOp *x = onnx_in(c, 0);
	int64_t v = onnx_known_int(c, 1);
	int axis;
	DType acc = dtype_acc(x->dtype);
	Value in = v_tensor(x), kw[4];
	static const char *const names[] = { "axis", "exclusive", "reverse", "dtype" };

	onnx_axes(c, 1, &v, t_rank(x), &axis);
	kw[0] = v_int(axis);
	kw[1] = v_bool(onnx_attr_int(c, "exclusive", 0) != 0);
	kw[2] = v_bool(onnx_attr_int(c, "reverse", 0) != 0);
	kw[3] = v_str(dtype_name(acc));
	onnx_set(c, 0, t_cast(onnx_lib(fn, 1, &in, 4, names, kw), x->dtype));
}

void onnx_CumSum(OnnxCall *c) { running(c, "cumsum"); }
void onnx_CumProd(OnnxCall *c) { running(c, "cumprod"); }

/* ---- along one axis, or one row before version 13 -------------------------------------------- */

static void along(OnnxCall *c, UOp *(*f)(UOp *x, int axis))
{
	UOp *x = onnx_in(c, 0), *part[2] = { ix_const(1), ix_const(1) };
	bool old = onnx_version(c) < 13;
	int axis = onnx_attr_axis(c, "axis", old ? 1 : -1, t_rank(x));

	if (!old) {
		onnx_set(c, 0, f(x, axis));
		return;
	}
	for (int i = 0; i < t_rank(x); i++)
		part[i >= axis] = ix_mul(part[i >= axis], t_dim(x, i));
	onnx_set(c, 0, t_reshape(f(t_reshapev(x, 2, part), 1), x->shape));
}

static UOp *log_softmax(UOp *x, int axis)
{
	Value in = v_tensor(x), v = v_int(axis);

	return onnx_lib("log_softmax", 1, &in, 1, (const char *[]){ "axis" }, &v);
}

static UOp *hardmax(UOp *x, int axis)
{
	UOp *place = extreme_place(x, OP_MAX, axis, false, true);

	return t_cast(t_eq(t_iota(DT_I64, x->shape, axis), place), x->dtype);
}

void onnx_Softmax(OnnxCall *c) { along(c, t_softmax); }
void onnx_LogSoftmax(OnnxCall *c) { along(c, log_softmax); }
void onnx_Hardmax(OnnxCall *c) { along(c, hardmax); }
