/* Operators that return data or sizes: the origin of all values known while tracing. */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

/* ---- the attributes of Constant that are not tensors */

static UOp *float_list(size_t n, const double *v)
{
	Array a = array_new(DT_F32, 1, (int64_t[]){n});
	for (size_t i = 0; i < n; i++)
		((float *)a.data)[i] = v[i];
	UOp *u = array_tensor(&a);
	array_free(&a);
	return u;
}

static void text(OnnxCall *c)
{
	const Onnx__AttributeProto *a = onnx_attr(c, "value_string");
	int64_t n;
	if (a) {
		onnx_set_value(c, 0, onnx_text(1, &a->s, shape_scalar()));
		return;
	}
	a = onnx_attr(c, "value_strings");
	n = a->n_strings;
	onnx_set_value(c, 0, onnx_text(n, a->strings, shape_ints(1, &n)));
}

void onnx_Constant(OnnxCall *c)
{
	size_t n;
	int type;
	if (onnx_attr_has(c, "value")) {
		UOp *u = onnx_attr_tensor(c, "value", &type);
		onnx_set_typed(c, 0, u, type);
	} else if (onnx_attr_has(c, "value_int")) {
		onnx_set(c, 0, const_int(DT_I64, onnx_attr_int(c, "value_int", 0)));
	} else if (onnx_attr_has(c, "value_float")) {
		onnx_set(c, 0, const_num(DT_F32, onnx_attr_float(c, "value_float", 0)));
	} else if (onnx_attr_has(c, "value_ints")) {
		const int64_t *v = onnx_attr_int_list(c, "value_ints", &n);
		onnx_set(c, 0, table_ints(n, v));
	} else if (onnx_attr_has(c, "value_floats")) {
		const double *v = onnx_attr_float_list(c, "value_floats", &n);
		onnx_set(c, 0, float_list(n, v));
	} else if (onnx_attr_has(c, "value_string") || onnx_attr_has(c, "value_strings")) {
		text(c);
	} else if (onnx_attr_has(c, "sparse_value")) {
		onnx_fail(c, UNSUPPORTED, "sparse constants are not supported");
	} else {
		onnx_fail(c, MALFORMED, "it has no value");
	}
}

void onnx_ConstantOfShape(OnnxCall *c)
{
	UOp *dim[MAX_RANK], *value;
	int type = ONNX_FLOAT, rank = onnx_bound_sizes(c, 0, MAX_RANK, dim);
	const char *err;
	int status = MALFORMED;
	const Shape *s = shape_checked(rank, dim, &err, &status);
	if (!s)
		onnx_fail(c, status, "%s", err);
	value = onnx_attr_tensor(c, "value", &type);
	if (value && t_rank(value) != 1)
		onnx_fail(
			c, MALFORMED, "its value has shape %s, not [1]", shape_text(value->shape));
	value = value ? t_reshape(value, shape_scalar()) : const_num(DT_F32, 0);
	onnx_set_typed(c, 0, t_full(s, value), type);
}

void onnx_Identity(OnnxCall *c)
{
	if (onnx_value(c, 0)->kind == ONNX_ABSENT)
		onnx_in(c, 0);
	onnx_set_value(c, 0, *onnx_value(c, 0));
}

static int64_t clamp_axis(int64_t axis, int rank)
{
	axis = axis < 0 ? axis + rank : axis;
	return axis < 0 ? 0 : axis > rank ? rank : axis;
}

void onnx_Shape(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int64_t start = clamp_axis(onnx_attr_int(c, "start", 0), t_rank(x));
	int64_t end = clamp_axis(onnx_attr_int(c, "end", t_rank(x)), t_rank(x));
	onnx_set_typed(
		c, 0, onnx_sizes(end > start ? end - start : 0, x->shape->dim + start), ONNX_INT64);
}

void onnx_Size(OnnxCall *c)
{
	UOp *n = shape_count(onnx_in(c, 0)->shape);
	onnx_set_typed(c, 0, t_reshape(onnx_sizes(1, &n), shape_scalar()), ONNX_INT64);
}
#endif
