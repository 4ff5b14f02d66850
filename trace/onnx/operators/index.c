/* The k largest elements along an axis; k may be data.
 *
 *     TopK   →   SORT of blocks, then GATHER (t_top_places) */
#include "onnx/onnx.h"

static UOp *k_of_data(OnnxCall *c, UOp *n)
{
	UOp *k = t_cast(onnx_in(c, 1), DT_I64);

	if (shape_count(k->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "k is %s, not one number", shape_text(k->shape));
	return t_bind("k", t_reshape(k, shape_scalar()), ix_const(0), n);
}

/* k is an attribute in version 1 and an input later: known, a size, or data. Equal elements are
 * ordered by place. */
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
