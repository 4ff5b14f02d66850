/* ONNX operators that find elements by index. A negative index counts from the end.
 *
 *     GatherND batch_dims=1   →   GATHER by the indices' last axis, the batch's own place first
 *     OneHot                  →   CMPEQ of the indices with ARANGE, WHERE */
#include "onnx/onnx.h"

/* x at one known place of axis is a part of it; NULL when the place is not known to be within. */
static UOp *part_at(UOp *x, UOp *i, int axis)
{
	UOp *at, *n = t_dim(x, axis);
	int64_t v;

	if (!const_is_int(i, &v) || i->dtype == DT_BOOL)
		return NULL;
	at = v < 0 ? ix_add(n, ix_const(v)) : ix_const(v);
	if (!ix_prove_le(ix_const(0), at) || !ix_prove_lt(at, n))
		return NULL;
	return t_squeeze(t_shrink_axis(x, axis, at, ix_add(at, ix_const(1))), axis);
}

void onnx_Gather(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *i = onnx_in(c, 1), *y;
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x));

	y = part_at(x, i, axis);
	onnx_set(c, 0, y ? y : t_take(x, i, axis));
}

void onnx_GatherElements(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *i = onnx_in(c, 1);
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x));

	onnx_set(c, 0, t_take_along(x, t_wrap_index(i, t_dim(x, axis)), axis));
}

void onnx_GatherND(OnnxCall *c)
{
	Value in[2] = { v_tensor(onnx_in(c, 0)), v_tensor(onnx_in(c, 1)) };
	Value batch = v_int(onnx_attr_int(c, "batch_dims", 0));

	onnx_set(c, 0, onnx_lib("gather_nd", 2, in, 1, (const char *[]){ "batch_dims" }, &batch));
}

/* ---- scatter --------------------------------------------------------------------------------- */

static Value combine(OnnxCall *c)
{
	const char *how = onnx_attr_str(c, "reduction", "none");

	if (strcmp(how, "none") && strcmp(how, "add") && strcmp(how, "mul") && strcmp(how, "max")
		&& strcmp(how, "min"))
		onnx_fail(c, MALFORMED, "reduction is none, add, mul, max or min, not \"%s\"", how);
	return v_str(how);
}

void onnx_ScatterElements(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	Value in[3] = { v_tensor(x), v_tensor(onnx_in(c, 1)), v_tensor(onnx_in(c, 2)) }, kw[2];

	kw[0] = v_int(onnx_attr_axis(c, "axis", 0, t_rank(x)));
	kw[1] = combine(c);
	onnx_set(c, 0, onnx_lib("scatter_along", 3, in, 2, (const char *[]){ "axis", "how" }, kw));
}

void onnx_Scatter(OnnxCall *c) { onnx_ScatterElements(c); }

void onnx_ScatterND(OnnxCall *c)
{
	Value in[3] = { v_tensor(onnx_in(c, 0)), v_tensor(onnx_in(c, 1)), v_tensor(onnx_in(c, 2)) };
	Value how = combine(c);

	onnx_set(c, 0, onnx_lib("scatter_nd", 3, in, 1, (const char *[]){ "how" }, &how));
}

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
