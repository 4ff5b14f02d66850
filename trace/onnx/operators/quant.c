/* Quantization: numbers as small integers (or small floats) with a scale and a zero point.
 *
 *     QuantizeLinear    →   CAST of round(x / scale) + zero, clamped to the type's limits in f32
 *     DequantizeLinear  →   (x - zero)·scale
 *     QLinearMatMul     →   an i32 contraction of a - zero and b - zero, scaled and quantized
 *
 * A scale is one number, one per place along an axis, or one per block along it. */
#include "onnx/operators/space.h"

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }

/* the limits of an integer type, narrow ones included; false for floats */
static bool range_limits(int type, double *lo, double *hi)
{
	static const struct { int type, lo, hi; } small[] = {
		{ ONNX_INT4, -8, 7 }, { ONNX_UINT4, 0, 15 }, { ONNX_INT2, -2, 1 }, { ONNX_UINT2, 0,
			3 },
	};
	DType dt = onnx_dtype(type);

	for (int i = 0; i < 4; i++)
		if (small[i].type == type) {
			*lo = small[i].lo;
			*hi = small[i].hi;
			return true;
		}
	if (onnx_narrow(type) || !dtype_int(dt))
		return false;
	*lo = dtype_min(dt);
	*hi = dtype_max(dt);
	return true;
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* s[..., blocks, ...] with each number repeated `block` times along axis, cut to x's size */
static UOp *by_block(OnnxCall *c, UOp *s, UOp *x, int axis, int64_t block)
{
	if (t_rank(s) != t_rank(x))
		onnx_fail(c, MALFORMED, "a scale %s for blocks of %s", shape_text(s->shape),
			shape_text(x->shape));
	s = t_unsqueeze(s, axis + 1);
	s = t_merge_axes(t_expand_axis(s, axis + 1, ix_const(block)), axis, 2);
	if (ix_prove_lt(t_dim(s, axis), t_dim(x, axis)))
		onnx_fail(c, MALFORMED, "%s has more than the blocks of its scale",
			shape_text(x->shape));
	return t_shrink_axis(s, axis, ix_const(0), t_dim(x, axis));
}

/* A scale or zero point, reshaped to broadcast against x. */
static UOp *spread(OnnxCall *c, UOp *s, UOp *x)
{
	int64_t n, block = onnx_attr_int(c, "block_size", 0);

	if (shape_static(s->shape, &n) && n == 1)
		return t_reshape(s, shape_scalar());
	if (block > 0)
		return by_block(c, s, x, onnx_attr_axis(c, "axis", 1, t_rank(x)), block);
	if (t_rank(s) != 1)
		onnx_fail(c, MALFORMED, "a scale %s without block_size", shape_text(s->shape));
	return t_along(s, onnx_attr_axis(c, "axis", 1, t_rank(x)), t_rank(x));
}

/* ---- values ---------------------------------------------------------------------------------- */

/* q is x / scale; zero is a float tensor or NULL. f32 or f64, whichever q has, represents all
 * limits but those of i64. */
static UOp *quantized(UOp *q, UOp *zero, int type, bool saturate)
{
	double lo, hi;

	if (onnx_dtype(type) == DT_NONE || (!onnx_narrow(type) && !dtype_int(onnx_dtype(type))))
		die(UNSUPPORTED, "quantization to %s", onnx_type_name(type));
	q = t_cast(q, dtype_acc(q->dtype));
	if (!range_limits(type, &lo, &hi))
		return onnx_narrowed(zero ? t_add(q, zero) : q, type, saturate, "up");
	q = t_round(q);
	q = zero ? t_add(q, t_cast(zero, q->dtype)) : q;
	q = t_min(t_max(q, num(q, lo)), num(q, hi));
	return t_cast(q, onnx_dtype(type));
}

UOp *onnx_quantized(UOp *x, UOp *scale, UOp *zero, int type)
{
	return quantized(t_div(x, scale), zero ? t_cast(zero, DT_F32) : NULL, type, true);
}

UOp *onnx_dequantized(UOp *x, UOp *scale, UOp *zero)
{
	x = t_cast(x, DT_I32);
	x = zero ? t_sub(x, t_cast(zero, DT_I32)) : x;
	return t_mul(t_cast(x, scale->dtype), scale);
}

static int quantized_type(OnnxCall *c)
{
	int type = onnx_has(c, 2) ? onnx_type(c, 2) : ONNX_UINT8;

	if (!onnx_has(c, 2) && onnx_attr_int(c, "output_dtype", 0))
		type = (int)onnx_attr_int(c, "output_dtype", 0);
	return type;
}

void onnx_QuantizeLinear(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *scale = spread(c, onnx_in(c, 1), x), *zero = NULL, *q;
	int type = quantized_type(c), precision = (int)onnx_attr_int(c, "precision", 0);
	DType dt;

	dt = precision ? onnx_dtype(precision) : dtype_promote(x->dtype, scale->dtype);
	if (dt == DT_NONE || !dtype_float(dt))
		onnx_fail(c, MALFORMED, "precision is %s", onnx_type_name(precision));
	q = t_cast(t_div(t_cast(x, dtype_acc(dt)), t_cast(scale, dtype_acc(dt))), dt);
	if (onnx_has(c, 2))
		zero = t_cast(onnx_widen(spread(c, onnx_in(c, 2), x), type), DT_F32);
	q = quantized(q, zero, type, onnx_attr_int(c, "saturate", 1) != 0);
	onnx_set_typed(c, 0, q, type);
}

/* Integers are subtracted as i32, which is exact. */
void onnx_DequantizeLinear(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *scale = spread(c, onnx_in(c, 1), x), *zero = NULL, *y;
	int type = onnx_type(c, 0), to = (int)onnx_attr_int(c, "output_dtype", 0);
	double lo, hi;
	bool whole = range_limits(type, &lo, &hi);
	DType acc = dtype_acc(scale->dtype);

	if (onnx_has(c, 2))
		zero = spread(c, onnx_in(c, 2), x);
	y = whole ? t_cast(x, DT_I32) : onnx_widen(x, type);
	if (zero)
		y = t_sub(y, whole ? t_cast(zero, DT_I32) : onnx_widen(zero, onnx_type(c, 2)));
	y = t_mul(t_cast(y, acc), t_cast(scale, acc));
	if (to && (onnx_dtype(to) == DT_NONE || onnx_narrow(to)))
		onnx_fail(c, UNSUPPORTED, "dequantization to %s", onnx_type_name(to));
	onnx_set(c, 0, t_cast(y, to ? onnx_dtype(to) : scale->dtype));
}

/* The range is that of the data, extended to include 0, mapped to 0 ... 255; x[k] along the first
 * `apart` axes has one of its own. */
static UOp *quantize_range(UOp *x, int apart, UOp **scale, UOp **zero)
{
	UOp *lo, *hi;
	int axes[MAX_RANK], n = t_rank(x) - apart;

	if (!dtype_float(x->dtype))
		die(MALFORMED, "%s has no range to quantize by", dtype_name(x->dtype));
	for (int i = 0; i < n; i++)
		axes[i] = apart + i;
	hi = t_max(t_reduce(OP_MAX, x, n, axes, apart > 0), num(x, 0));
	lo = t_min(t_reduce(OP_MIN, x, n, axes, apart > 0), num(x, 0));
	*scale = t_div(t_where(t_eq(hi, lo), num(x, 1), t_sub(hi, lo)), num(x, 255));
	*zero = t_round(t_min(t_max(t_neg(t_div(lo, *scale)), num(x, 0)), num(x, 255)));
	return quantized(t_div(x, *scale), *zero, ONNX_UINT8, true);
}

UOp *onnx_dynamic(UOp *x, int apart, UOp **scale)
{
	UOp *zero, *q = quantize_range(x, apart, scale, &zero);

	return t_sub(t_cast(q, DT_I32), t_cast(t_cast(zero, DT_U8), DT_I32));
}

void onnx_DynamicQuantizeLinear(OnnxCall *c)
{
	UOp *scale, *zero;

	onnx_set(c, 0, quantize_range(onnx_in(c, 0), 0, &scale, &zero));
	onnx_set(c, 1, scale);
	onnx_set(c, 2, t_cast(zero, DT_U8));
}

/* ---- products -------------------------------------------------------------------------------- */

static UOp *scalar_or(UOp *s, UOp *(*shape)(UOp *s, int rank), int rank)
{
	int64_t n;

	if (shape_static(s->shape, &n) && n == 1)
		return t_reshape(s, shape_scalar());
	return shape && t_rank(s) == 1 ? shape(s, rank) : s;
}

/* [m] shaped for the rows of [..., m, k] */
static UOp *by_row(UOp *s, int rank) { return rank > 1 ? t_unsqueeze(s, 1) : s; }

/* Input k minus input k + by, its zero point, as i32 */
static UOp *centred(OnnxCall *c, int k, int by, UOp *(*shape)(UOp *s, int rank))
{
	UOp *x = onnx_in(c, k), *zero;

	if (!onnx_has(c, by))
		return t_cast(x, DT_I32);
	zero = scalar_or(onnx_in(c, by), shape, t_rank(x));
	return t_sub(t_cast(x, DT_I32), t_cast(zero, DT_I32));
}

void onnx_MatMulInteger(OnnxCall *c)
{
	onnx_set(c, 0, t_matmul(centred(c, 0, 2, by_row), centred(c, 1, 3, NULL)));
}

void onnx_ConvInteger(OnnxCall *c)
{
	UOp *x = centred(c, 0, 2, NULL), *w = onnx_in(c, 1), *zero;

	if (onnx_has(c, 3)) {
		zero = scalar_or(onnx_in(c, 3), NULL, 0);
		zero = t_rank(zero) ? t_along(zero, 0, t_rank(w)) : zero;
		w = t_sub(t_cast(w, DT_I32), t_cast(zero, DT_I32));
	}
	onnx_set(c, 0, onnx_convolution(c, x, t_cast(w, DT_I32)));
}

/* a·b / y, each step rounded to the dtype of the scales */
static UOp *ratio(UOp *a, UOp *b, UOp *y)
{
	DType dt = a->dtype, acc = dtype_acc(dt);
	UOp *p = t_cast(t_mul(t_cast(a, acc), t_cast(b, acc)), dt);

	p = t_cast(t_div(t_cast(p, acc), t_cast(y, acc)), dt);
	return t_cast(p, acc);
}

/* The i32 sums are exact in f64. */
static void requantize(OnnxCall *c, UOp *sum, UOp *by, int zero_at)
{
	int type = onnx_has(c, zero_at) ? onnx_type(c, zero_at) : onnx_type(c, 0);
	UOp *zero = onnx_has(c, zero_at) ? onnx_in(c, zero_at) : NULL;

	if (zero)
		zero = t_cast(scalar_or(zero, NULL, 0), DT_F64);
	sum = t_mul(t_cast(sum, DT_F64), t_cast(by, DT_F64));
	onnx_set_typed(c, 0, quantized(sum, zero, type, true), type);
}

void onnx_QLinearMatMul(OnnxCall *c)
{
	UOp *a = centred(c, 0, 2, by_row), *b = centred(c, 3, 5, NULL), *y = t_matmul(a, b);
	UOp *sa = scalar_or(onnx_in(c, 1), by_row, t_rank(a));
	UOp *sb = scalar_or(onnx_in(c, 4), NULL, 0);

	requantize(c, y, ratio(sa, sb, scalar_or(onnx_in(c, 6), NULL, 0)), 7);
}

/* The weight's scale and zero point may be per output channel. ONNX Runtime's own form may have the
 * channels last. */
void onnx_QLinearConv(OnnxCall *c)
{
	UOp *x = centred(c, 0, 2, NULL), *w = onnx_in(c, 3), *y;
	bool last = onnx_attr_int(c, "channels_last", 0) != 0;
	UOp *s = scalar_or(onnx_in(c, 4), NULL, 0);
	UOp *zero = onnx_has(c, 5) ? scalar_or(onnx_in(c, 5), NULL, 0) : t_num(DT_I32, 0);

	zero = t_cast(t_rank(zero) ? t_along(zero, 0, t_rank(w)) : zero, DT_I32);
	if (last && t_rank(x) < 3)
		onnx_fail(c, MALFORMED, "x%s has no axes for windows", shape_text(x->shape));
	x = last ? t_move_axis(x, t_rank(x) - 1, 1) : x;
	y = onnx_convolution(c, x, t_sub(t_cast(w, DT_I32), zero));
	if (onnx_has(c, 8))
		y = t_add(y, onnx_channels(onnx_in(c, 8), t_rank(y)));
	if (last)
		y = t_move_axis(y, 1, t_rank(y) - 1);
	else if (t_rank(s))
		s = onnx_channels(s, t_rank(y));
	s = ratio(scalar_or(onnx_in(c, 1), NULL, 0), s, scalar_or(onnx_in(c, 6), NULL, 0));
	requantize(c, y, s, 7);
}
