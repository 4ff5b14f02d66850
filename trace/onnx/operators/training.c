/* ONNX, ai.onnx.preview.training: one step of an optimizer, for any number of tensors.
 *
 *     Momentum(r, t, x…, g…, v…)   →   v' = alpha v + g, x' = x - r v' */
#include "onnx/operators/space.h"

/* The number of tensors, when each has `kinds` inputs behind r and t. */
static int tensors(OnnxCall *c, int kinds)
{
	int n = (onnx_nin(c) - 2) / kinds;

	if (n < 1 || onnx_nin(c) != 2 + n * kinds)
		onnx_fail(c, MALFORMED, "%d inputs, not 2 and %d for each tensor", onnx_nin(c),
			kinds);
	return n;
}

static UOp *scalar(OnnxCall *c, int k, DType dt)
{
	return t_cast(t_reshape(onnx_in(c, k), shape_scalar()), dt);
}

/* the gradient plus that of the regularization term */
static UOp *regular(OnnxCall *c, UOp *x, UOp *g)
{
	double norm = onnx_attr_float(c, "norm_coefficient", 0);

	return norm == 0 ? g : t_add(t_mulc(x, norm), g);
}

void onnx_Adagrad(OnnxCall *c)
{
	int n = tensors(c, 3);

	for (int i = 0; i < n; i++) {
		UOp *x = onnx_in(c, 2 + i), *g = regular(c, x, onnx_in(c, 2 + n + i)), *h, *r;
		h = t_add(onnx_in(c, 2 + 2 * n + i), t_mul(g, g));
		r = t_addc(
			t_mulc(scalar(c, 1, x->dtype), onnx_attr_float(c, "decay_factor", 0)), 1);
		r = t_div(scalar(c, 0, x->dtype), r);
		g = t_div(t_mul(r, g), t_addc(t_sqrt(h), onnx_attr_float(c, "epsilon", 0)));
		onnx_set(c, i, t_sub(x, g));
		onnx_set(c, n + i, h);
	}
}

/* r * sqrt(1 - beta^t) / (1 - alpha^t); r at t = 0 */
static UOp *adam_rate(OnnxCall *c, DType dt, double alpha, double beta)
{
	UOp *r = scalar(c, 0, DT_F64), *t = scalar(c, 1, DT_F64), *one = t_num(DT_F64, 1), *s;

	s = t_sqrt(t_sub(one, t_pow(t_num(DT_F64, beta), t)));
	s = t_div(t_mul(r, s), t_sub(one, t_pow(t_num(DT_F64, alpha), t)));
	return t_cast(t_where(t_lt(t_num(DT_F64, 0), t), s, r), dt);
}

void onnx_Adam(OnnxCall *c)
{
	double alpha = onnx_attr_float(c, "alpha", 0.9), beta = onnx_attr_float(c, "beta", 0.999),
		post = onnx_attr_float(c, "norm_coefficient_post", 0);
	int n = tensors(c, 4);

	for (int i = 0; i < n; i++) {
		UOp *x = onnx_in(c, 2 + i), *g = regular(c, x, onnx_in(c, 2 + n + i)), *v, *h,
		    *step;
		v = t_add(t_mulc(onnx_in(c, 2 + 2 * n + i), alpha), t_mulc(g, 1 - alpha));
		h = t_add(t_mulc(onnx_in(c, 2 + 3 * n + i), beta), t_mulc(t_mul(g, g), 1 - beta));
		step = t_div(v, t_addc(t_sqrt(h), onnx_attr_float(c, "epsilon", 0)));
		x = t_sub(x, t_mul(adam_rate(c, x->dtype, alpha, beta), step));
		onnx_set(c, i, post == 0 ? x : t_mulc(x, 1 - post));
		onnx_set(c, n + i, v);
		onnx_set(c, 2 * n + i, h);
	}
}

void onnx_Momentum(OnnxCall *c)
{
	double alpha = onnx_attr_float(c, "alpha", 0), beta = onnx_attr_float(c, "beta", 0);
	bool nesterov = !strcmp(onnx_attr_str(c, "mode", "standard"), "nesterov");
	int n = tensors(c, 3);

	for (int i = 0; i < n; i++) {
		UOp *x = onnx_in(c, 2 + i), *g = regular(c, x, onnx_in(c, 2 + n + i)), *v, *b;
		b = t_where(t_lt(t_num(DT_I64, 0), scalar(c, 1, DT_I64)), t_num(x->dtype, beta),
			t_num(x->dtype, 1));
		v = t_add(t_mulc(onnx_in(c, 2 + 2 * n + i), alpha), t_mul(b, g));
		g = nesterov ? t_add(g, t_mulc(v, alpha)) : v;
		onnx_set(c, i, t_sub(x, t_mul(scalar(c, 0, x->dtype), g)));
		onnx_set(c, n + i, v);
	}
}
