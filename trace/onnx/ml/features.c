/* Columns of numbers: scaling, missing values, selection, joining. Rows are the first axis. */
#include "onnx/ml/ml.h"

UOp *ml_rows(OnnxCall *c, int k, DType dt)
{
	UOp *x = t_cast(onnx_in(c, k), dt);

	if (t_rank(x) < 1 || t_rank(x) > 2)
		onnx_fail(c, MALFORMED, "its input has shape %s, not rows of numbers",
			shape_text(x->shape));
	return t_rank(x) == 1 ? t_unsqueeze(x, 0) : x;
}

UOp *ml_columns(OnnxCall *c, UOp *x, int64_t n)
{
	x = t_agree(x, 1, ix_const(n));
	if (!size_equal(t_dim(x, 1), ix_const(n)))
		onnx_fail(c, MALFORMED, "%lld columns for rows %s", (long long)n,
			shape_text(x->shape));
	return x;
}

const double *ml_floats(OnnxCall *c, const char *name, size_t *n)
{
	const double *v = onnx_attr_float_list(c, name, n);

	if (!v || !*n)
		onnx_fail(c, MALFORMED, "no attribute %s", name);
	return v;
}

UOp *ml_table(OnnxCall *c, const char *name, DType dt, int64_t rows, int64_t columns)
{
	size_t n;
	const double *v = ml_floats(c, name, &n);

	if (rows < 1 || columns < 1 || n % rows || n / rows != (size_t)columns)
		onnx_fail(c, MALFORMED, "%s has %zu numbers, not %lld by %lld", name, n,
			(long long)rows, (long long)columns);
	return t_reshape(table_numbers(dt, n, v), shape_ints(2, (int64_t[]){ rows, columns }));
}

int ml_choice(OnnxCall *c, const char *name, int otherwise, int n, const char *const *names)
{
	if (!onnx_attr_has(c, name))
		return otherwise;
	Value v = onnx_attr_value(c, name);
	for (int i = 0; i < n; i++)
		if (v.kind == V_STR ? !strcmp(v.s, names[i]) : v.kind == V_NUMBER && v.i == i)
			return i;
	onnx_fail(c, MALFORMED, "attribute %s has no such value as %s", name, value_text(&v));
}

/* selects columns of the last axis; the result has at least two axes */
void onnx_ArrayFeatureExtractor(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *at = onnx_in(c, 1), *n = shape_count(at->shape);

	if (!t_rank(x))
		onnx_fail(c, MALFORMED, "a scalar has no columns");
	x = t_take(x, t_reshapev(t_cast(at, DT_I64), 1, &n), t_rank(x) - 1);
	onnx_set(c, 0, t_rank(x) == 1 ? t_unsqueeze(x, 0) : x);
}

/* The values that replace missing ones, one or one for each column, and what counts as missing. */
void onnx_Imputer(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *values, *gap;
	size_t n;

	if (dtype_int(x->dtype)) {
		const int64_t *v = onnx_attr_int_list(c, "imputed_value_int64s", &n);
		if (!v || !n)
			onnx_fail(c, MALFORMED, "it has no values for integers");
		values = t_cast(table_ints(n, v), x->dtype);
		gap = const_int(x->dtype, onnx_attr_int(c, "replaced_value_int64", 0));
	} else {
		const double *v = ml_floats(c, "imputed_value_floats", &n);
		values = table_numbers(x->dtype, n, v);
		gap = t_num(x->dtype, onnx_attr_float(c, "replaced_value_float", 0));
	}
	UOp *none = t_eq(x, gap);
	if (dtype_float(x->dtype))
		none = t_or(none, t_and(t_ne(x, x), t_ne(gap, gap)));
	onnx_set(c, 0, t_where(none, values, x));
}

/* Rows divided by their greatest element, or by their norm; a row of zeros stays. */
void onnx_Normalizer(OnnxCall *c)
{
	UOp *x = t_cast(onnx_in(c, 0), DT_F32), *by;
	const char *how = onnx_attr_str(c, "norm", "MAX");
	int axis = t_rank(x) - 1;

	if (axis < 0 || axis > 1)
		onnx_fail(c, MALFORMED, "its input has shape %s", shape_text(x->shape));
	if (!strcmp(how, "MAX"))
		by = t_reduce(OP_MAX, x, 1, &axis, true);
	else if (!strcmp(how, "L1"))
		by = t_sum(t_abs(x), axis, true);
	else if (!strcmp(how, "L2"))
		by = t_sqrt(t_sum(t_mul(x, x), axis, true));
	else
		onnx_fail(c, MALFORMED, "norm is MAX, L1 or L2, not \"%s\"", how);
	onnx_set(c, 0, t_div(x, t_where(t_eq(by, t_num(DT_F32, 0)), t_num(DT_F32, 1), by)));
}

/* Input k as rows with exactly n columns: cut, or filled with zeros. */
static UOp *columns(OnnxCall *c, int k, int64_t n)
{
	UOp *x = ml_rows(c, k, DT_F32);
	int64_t have = shape_dim(x->shape, 1);

	if (have > n)
		return t_shrink_axis(x, 1, ix_const(0), ix_const(n));
	return t_pad_axis(x, 1, ix_const(0), ix_const(n - have));
}

void onnx_FeatureVectorizer(OnnxCall *c)
{
	size_t n;
	const int64_t *width = onnx_attr_int_list(c, "inputdimensions", &n);
	UOp **x = arena_alloc((onnx_nin(c) + 1) * sizeof *x);

	if (!width || n != (size_t)onnx_nin(c) || !n)
		onnx_fail(c, MALFORMED, "%zu inputdimensions for %d inputs", n, onnx_nin(c));
	for (size_t k = 0; k < n; k++) {
		if (width[k] < 0 || width[k] > INT32_MAX)
			onnx_fail(c, MALFORMED, "%lld columns", (long long)width[k]);
		x[k] = columns(c, k, width[k]);
	}
	onnx_set(c, 0, t_concat(n, x, 1));
}
