/* Linear models: rows times coefficients, plus intercepts.
 *
 *     LinearRegressor     x @ w.T + b, [n,targets]
 *     LinearClassifier    the label of the greatest score, and the scores */
#include "onnx/ml/ml.h"

/* scores [n,k], w has k rows of coefficients */
static UOp *scores_of(OnnxCall *c, UOp *x, int64_t k)
{
	size_t n;

	ml_floats(c, "coefficients", &n);
	if (k < 1 || n % k)
		onnx_fail(c, MALFORMED, "%zu coefficients in %lld rows", n, (long long)k);
	UOp *w = ml_table(c, "coefficients", DT_F32, k, n / k);
	UOp *y = t_matmul(ml_columns(c, x, n / k), t_transpose(w, 0, 1));
	const double *b = onnx_attr_float_list(c, "intercepts", &n);
	if (!b || !n)
		return y;
	if (n != (size_t)k)
		onnx_fail(c, MALFORMED, "%zu intercepts for %lld rows of coefficients", n,
			(long long)k);
	return t_add(y, table_numbers(DT_F32, n, b));
}

void onnx_LinearRegressor(OnnxCall *c)
{
	UOp *x = ml_rows(c, 0, DT_F32);

	onnx_set(c, 0, ml_scores(c, scores_of(c, x, onnx_attr_int(c, "targets", 1))));
}

/* With one intercept for two classes the score is the second one's. */
void onnx_LinearClassifier(OnnxCall *c)
{
	UOp *x = ml_rows(c, 0, DT_F32), *y;
	int64_t labels = ml_label_count(c);
	size_t n;

	onnx_attr_float_list(c, "intercepts", &n);
	bool one = labels == 2 && n == 1;
	y = scores_of(c, x, one ? 1 : labels);
	if (!one) {
		ml_set_label(c, ml_best(y));
		onnx_set(c, 1, ml_scores(c, y));
	} else {
		UOp *second = t_lt(t_num(DT_F32, 0), t_squeeze(y, 1));
		ml_set_label(c, t_cast(second, DT_I64));
		onnx_set(c, 1, ml_two_scores(c, y, false));
	}
}
