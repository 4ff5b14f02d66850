/* Tests for infinities and NaNs. Narrow floats are converted to f32 first, which preserves both.
 *
 *     IsNaN of a float8   →   CMPNE of its f32 with itself */
#include "onnx/onnx.h"
#include <math.h>

void onnx_IsNaN(OnnxCall *c)
{
	UOp *x = onnx_widen(onnx_in(c, 0), onnx_type(c, 0));

	onnx_set(c, 0, t_ne(x, x));
}

void onnx_IsInf(OnnxCall *c)
{
	UOp *x = onnx_widen(onnx_in(c, 0), onnx_type(c, 0));
	UOp *up = t_eq(x, t_num(x->dtype, INFINITY)), *down = t_eq(x, t_num(x->dtype, -INFINITY));
	bool pos = onnx_attr_int(c, "detect_positive", 1);
	bool neg = onnx_attr_int(c, "detect_negative", 1);

	onnx_set(c, 0, pos && neg ? t_or(up, down) : pos ? up : neg ? down : t_and(up, down));
}
