/* ONNX, ai.onnx.ml: the operators that work on numbers alone. */
#include "onnx/onnx.h"

/* selects columns of the last axis; the result has at least two axes */
void onnx_ArrayFeatureExtractor(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *at = onnx_in(c, 1), *n = shape_count(at->shape);

	if (!t_rank(x))
		onnx_fail(c, MALFORMED, "a scalar has no columns");
	x = t_take(x, t_reshapev(t_cast(at, DT_I64), 1, &n), t_rank(x) - 1);
	onnx_set(c, 0, t_rank(x) == 1 ? t_unsqueeze(x, 0) : x);
}
