/* Gemm: a scaled product of two matrices plus a third matrix.
 *
 *     Gemm alpha=0.5 transB=1   →   MUL(a @ PERMUTE b, 0.5) + c */
#include "onnx/operators/space.h"

/* x·by; integers are converted to f64, since by is a fraction */
static UOp *scaled(UOp *x, double by)
{
	if (by == 1)
		return x;
	return dtype_float(x->dtype) ? t_mulc(x, by)
		: t_cast(t_mulc(t_cast(x, DT_F64), by), x->dtype);
}

/* Before version 7 an attribute makes the third operand broadcast; the result is the same. f16 is
 * rounded once, at the end. */
UOp *onnx_gemm(OnnxCall *c)
{
	UOp *a = onnx_in(c, 0), *b = onnx_in(c, 1), *y;
	DType dt = a->dtype, acc = dtype_acc(dt);
	double beta = onnx_attr_float(c, "beta", 1);

	if (t_rank(a) != 2 || t_rank(b) != 2)
		onnx_fail(c, MALFORMED, "shapes %s and %s are not two matrices",
			shape_text(a->shape), shape_text(b->shape));
	a = onnx_attr_int(c, "transA", 0) ? t_transpose(a, 0, 1) : a;
	b = onnx_attr_int(c, "transB", 0) ? t_transpose(b, 0, 1) : b;
	y = scaled(t_matmul(t_cast(a, acc), t_cast(b, acc)), onnx_attr_float(c, "alpha", 1));
	if (onnx_has(c, 2) && beta != 0)
		y = t_add(y, t_expand_to(scaled(t_cast(onnx_in(c, 2), acc), beta), y->shape));
	return t_cast(y, dt);
}

void onnx_Gemm(OnnxCall *c) { onnx_set(c, 0, onnx_gemm(c)); }
