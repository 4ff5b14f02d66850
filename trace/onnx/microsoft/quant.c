/* ONNX Runtime's quantized operators that are no calls: poolings, QLinearConcat, QGemm, and
 * MatMulNBits, whose weights are packed into bytes. */
#include "onnx/operators/space.h"

/* a scale or zero point for a whole tensor; NULL when it is absent */
static UOp *one(OnnxCall *c, int k)
{
	return onnx_has(c, k) ? t_reshape(onnx_in(c, k), shape_scalar()) : NULL;
}

/* inputs k, k+1 and k+2: a tensor, its scale and its zero point */
static UOp *decoded(OnnxCall *c, int k)
{
	return onnx_dequantized(onnx_in(c, k), one(c, k + 1), one(c, k + 2));
}

/* output 0 with the scale and zero point of inputs k and k+1, of the latter's type or that of input
 * `like` */
static void set_encoded(OnnxCall *c, UOp *y, int k, int like)
{
	int type = onnx_type(c, onnx_has(c, k + 1) ? k + 1 : like);

	onnx_set_typed(c, 0, onnx_quantized(y, one(c, k), one(c, k + 1), type), type);
}

void onnx_microsoft_QLinearAveragePool(OnnxCall *c)
{
	UOp *x = decoded(c, 0);
	bool last = onnx_attr_int(c, "channels_last", 0) != 0;
	int end = t_rank(x) - 1;

	if (end < 2)
		onnx_fail(c, MALFORMED, "x%s has no axes for windows", shape_text(x->shape));
	x = last ? t_move_axis(x, end, 1) : x;
	Window w = onnx_window(c, x, NULL);
	x = pool_mean(&w, x, onnx_attr_int(c, "ceil_mode", 0) != 0,
		onnx_attr_int(c, "count_include_pad", 0) != 0);
	set_encoded(c, last ? t_move_axis(x, 1, end) : x, 3, 0);
}

void onnx_microsoft_NhwcMaxPool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *windows;
	int end = t_rank(x) - 1;
	Window w;

	if (end < 2)
		onnx_fail(c, MALFORMED, "x%s has no axes for windows", shape_text(x->shape));
	x = onnx_max_pool(c, t_move_axis(x, end, 1), &w, &windows);
	onnx_set(c, 0, t_move_axis(x, 1, end));
}

void onnx_microsoft_QLinearConcat(OnnxCall *c)
{
	int n = (onnx_nin(c) - 2) / 3;
	UOp **x = arena_alloc((n + 1) * sizeof *x);

	if (n < 1 || onnx_nin(c) != 2 + 3 * n)
		onnx_fail(c, MALFORMED, "%d inputs are no tensors with scale and zero point each",
			onnx_nin(c));
	for (int i = 0; i < n; i++)
		x[i] = decoded(c, 2 + 3 * i);
	set_encoded(c, t_concat(n, x, onnx_attr_axis(c, "axis", 0, t_rank(x[0]))), 0, 2);
}

/* input k minus its zero point, exactly; one per column of y */
static UOp *whole(OnnxCall *c, int k, const char *transposed)
{
	UOp *x = t_cast(onnx_in_rank(c, k, 2), DT_I32);

	if (onnx_attr_int(c, transposed, 0))
		x = t_transpose(x, 0, 1);
	return onnx_has(c, k + 2) ? t_sub(x, t_cast(onnx_in(c, k + 2), DT_I32)) : x;
}

/* The third matrix has the scale of the product. Without a scale for it the result is a float. */
void onnx_microsoft_QGemm(OnnxCall *c)
{
	UOp *y = t_matmul(whole(c, 0, "transA"), whole(c, 3, "transB")), *scale;

	scale = t_mulc(t_mul(onnx_in(c, 1), onnx_in(c, 4)), onnx_attr_float(c, "alpha", 1));
	if (onnx_has(c, 6))
		y = t_add(y, onnx_in(c, 6));
	y = t_mul(t_cast(y, scale->dtype), scale);
	if (onnx_has(c, 7))
		set_encoded(c, y, 7, 0);
	else
		onnx_set(c, 0, y);
}

/* ---- MatMulNBits: x @ w^T, where w[n,k] has a scale and a zero point for each block along k */

/* x[..., bytes] as numbers of `bits` each, the low bits of a byte first: [..., bytes*8/bits] */
static UOp *unpacked(UOp *x, int64_t bits)
{
	int rank = t_rank(x);
	UOp *shift;

	if (bits == 8)
		return x;
	shift = t_cast(t_mulc(t_arange(DT_I32, ix_const(8 / bits)), (double)bits), DT_U8);
	x = t_op2(OP_SHR, t_unsqueeze(x, rank), shift);
	x = t_op2(OP_AND, x, t_num(DT_U8, (double)((1 << bits) - 1)));
	return t_merge_axes(x, rank - 1, 2);
}

/* The zero points [n,blocks,1]: packed, floats, or the middle of the range. */
static UOp *block_zeros(OnnxCall *c, UOp *n, UOp *blocks, int64_t bits, DType dt)
{
	UOp *z, *bytes = ix_mul(blocks, ix_const(bits));

	if (!onnx_has(c, 3))
		return t_num(dt, (double)(1 << (bits - 1)));
	bytes = ix_div(ix_add(bytes, ix_const(7)), ix_const(8));
	z = onnx_in(c, 3);
	if (!dtype_float(z->dtype)) {
		z = unpacked(t_reshapev(z, 2, (UOp *[]){ n, bytes }), bits);
		z = t_shrink_axis(z, 1, ix_const(0), blocks);
	}
	return t_cast(t_reshapev(z, 3, (UOp *[]){ n, blocks, ix_const(1) }), dt);
}

void onnx_microsoft_MatMulNBits(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *w = onnx_in_rank(c, 1, 3), *n = t_dim(w, 0), *blocks = t_dim(w, 1);
	int64_t bits = onnx_attr_int(c, "bits", 4), k = onnx_attr_int(c, "K", 0);
	DType acc = dtype_acc(x->dtype);
	UOp *scale, *y;

	if (bits != 2 && bits != 4 && bits != 8)
		onnx_fail(c, UNSUPPORTED, "weights of %lld bits", (long long)bits);
	if (onnx_has(c, 4) || onnx_attr_int(c, "weight_prepacked", 0))
		onnx_fail(c, UNSUPPORTED, "g_idx and weight_prepacked");
	w = t_cast(unpacked(w, bits), acc);
	scale = t_reshapev(onnx_in(c, 2), 3, (UOp *[]){ n, blocks, ix_const(1) });
	w = t_mul(t_sub(w, block_zeros(c, n, blocks, bits, acc)), t_cast(scale, acc));
	w = t_merge_axes(w, 1, 2);
	if (k < 1 || ix_prove_lt(t_dim(w, 1), ix_const(k)))
		onnx_fail(c, MALFORMED, "K is %lld, weights%s", (long long)k, shape_text(w->shape));
	w = t_shrink_axis(w, 1, ix_const(0), ix_const(k));
	y = t_matmul(t_cast(x, acc), t_transpose(w, 0, 1));
	y = onnx_has(c, 5) ? t_add(y, onnx_in(c, 5)) : y;
	onnx_set(c, 0, t_cast(y, x->dtype));
}
