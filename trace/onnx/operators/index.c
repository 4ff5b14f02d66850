/* ONNX operators that turn indices into elements, or elements into indices, with sizes given by an
 * input.
 *
 *     OneHot   →   CMPEQ of the indices with ARANGE, WHERE
 *     TopK     →   SORT of blocks, then GATHER */
#include "onnx/onnx.h"

/* ---- one-hot --------------------------------------------------------------------------------- */

/* The depth is a known number, a float one too, or a size. */
static UOp *depth_of(OnnxCall *c)
{
	double f;
	UOp *d = onnx_in(c, 1);
	size_t n;

	if (dtype_float(d->dtype)) {
		if (onnx_known_floats(c, 1, &f, 1) != 1 || !(f >= 0 && f < 0x1p62))
			onnx_fail(c, MALFORMED, "the depth is not a size");
		return ix_const((int64_t)f);
	}
	if (onnx_try_sizes(d, 1, &d, &n) && n == 1)
		return d;
	return ix_const(onnx_known_int(c, 1));
}

/* An index that is outside after counting from the end is off everywhere. */
void onnx_OneHot(OnnxCall *c)
{
	UOp *i = t_cast(onnx_in(c, 0), DT_I64), *depth = depth_of(c), *values = onnx_in(c, 2);
	int axis = onnx_attr_axis(c, "axis", -1, t_rank(i) + 1);
	UOp *place, *pick[2], *dim[MAX_RANK];

	if (t_rank(i) + 1 > MAX_RANK)
		onnx_fail(c, UNSUPPORTED, "rank %d is more than %d", t_rank(i) + 1, MAX_RANK);
	if (t_rank(values) != 1 || !size_equal(t_dim(values, 0), ix_const(2)))
		onnx_fail(c, MALFORMED, "values has shape %s, not [2]", shape_text(values->shape));
	for (int k = 0; k < 2; k++)
		pick[k] = t_squeeze(t_shrink_axis(values, 0, ix_const(k), ix_const(k + 1)), 0);
	i = t_unsqueeze(t_wrap_index(i, depth), axis);
	for (int k = 0; k < t_rank(i); k++)
		dim[k] = k == axis ? depth : ix_const(1);
	place = t_reshapev(t_arange(DT_I64, depth), t_rank(i), dim);
	onnx_set(c, 0, t_where(t_eq(place, i), pick[1], pick[0]));
}

/* ---- the greatest --------------------------------------------------------------------------- */

/* k as a size that is data; more than the axis has would be wrong, and is cut. */
static UOp *k_of_data(OnnxCall *c, UOp *n)
{
	UOp *k = t_cast(onnx_in(c, 1), DT_I64), *zero = const_int(DT_I64, 0);

	if (shape_count(k->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "k is %s, not one number", shape_text(k->shape));
	k = t_reshape(k, shape_scalar());
	return size_of_data(t_min(t_max(k, zero), t_size(DT_I64, n)), n);
}

/* k is an attribute in the first version, later an input: known, a size, or data. Of equal elements
 * the one at the lower place comes first. */
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
