/* Normalizations: x minus its mean, divided by its standard deviation, along some axes, then scaled
 * and shifted.
 *
 *     layernorm(x)   →   (x - mean) * rsqrt(mean((x - mean)^2) + eps), the last axis */
#include "library/library.h"

static DType working(UOp *x) { return dtype_acc(x->dtype); }

/* normalized over n axes, in f32 at least */
static UOp *standard(UOp *x, int n, const int *axes, double eps)
{
	UOp *d = t_sub(x, t_mean(x, n, axes, true));

	return t_mul(d, t_rsqrt(t_addc(t_mean(t_mul(d, d), n, axes, true), eps)));
}

/* y * weight + bias, each if given (arguments k and k + 1); fit brings them to y's rank */
static UOp *affine(Args *a, int k, UOp *y, UOp *(*fit)(UOp *p, UOp *y))
{
	if (arg_given(a, k))
		y = t_mul(y, t_cast(fit(arg_tensor(a, k), y), y->dtype));
	if (arg_given(a, k + 1))
		y = t_add(y, t_cast(fit(arg_tensor(a, k + 1), y), y->dtype));
	return y;
}

static UOp *fit_last(UOp *p, UOp *y) { return p; }

/* p[c] along axis 1 of y[n,c,...] */
static UOp *fit_channels(UOp *p, UOp *y)
{
	for (int i = 2; i < t_rank(y) && t_rank(p) == i - 1; i++)
		p = t_unsqueeze(p, t_rank(p));
	return p;
}

Value fn_layernorm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y;
	int axes[MAX_RANK], n = arg_axes_of(a, 3, t_rank(x), axes);

	y = standard(t_cast(x, working(x)), n, axes, arg_float(a, 4));
	return v_tensor(t_cast(affine(a, 1, y, fit_last), x->dtype));
}

Value fn_rmsnorm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y = t_cast(x, working(x));
	int axes[MAX_RANK], n = arg_axes_of(a, 2, t_rank(x), axes);

	y = t_mul(y, t_rsqrt(t_addc(t_mean(t_mul(y, y), n, axes, true), arg_float(a, 3))));
	if (arg_given(a, 1))
		y = t_mul(y, t_cast(arg_tensor(a, 1), y->dtype));
	return v_tensor(t_cast(y, x->dtype));
}

Value fn_batchnorm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y = t_cast(x, working(x)), *mean, *var;

	if (t_rank(x) < 2)
		die(MALFORMED, "batchnorm: x has %d axes, needs 2 or more", t_rank(x));
	mean = t_cast(fit_channels(arg_tensor(a, 1), x), y->dtype);
	var = t_cast(fit_channels(arg_tensor(a, 2), x), y->dtype);
	y = t_mul(t_sub(y, mean), t_rsqrt(t_addc(var, arg_float(a, 5))));
	return v_tensor(t_cast(affine(a, 3, y, fit_channels), x->dtype));
}

/* normalized over all axes from 2 on */
static UOp *standard_space(UOp *x, double eps)
{
	int axes[MAX_RANK], n = 0;

	for (int i = 2; i < t_rank(x); i++)
		axes[n++] = i;
	return standard(x, n, axes, eps);
}

Value fn_groupnorm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y;
	int64_t groups = arg_int(a, 1);

	if (t_rank(x) < 2 || groups < 1 || shape_dim(x->shape, 1) % groups)
		die(MALFORMED, "groupnorm: x%s does not fall into %lld groups",
			shape_text(x->shape), (long long)groups);
	y = t_split_axis(t_cast(x, working(x)), 1, ix_const(groups),
		ix_div(t_dim(x, 1), ix_const(groups)));
	y = t_reshape(standard_space(y, arg_float(a, 4)), x->shape);
	return v_tensor(t_cast(affine(a, 2, y, fit_channels), x->dtype));
}

Value fn_instancenorm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y;

	if (t_rank(x) < 3)
		die(MALFORMED, "instancenorm: x has %d axes, needs 3 or more", t_rank(x));
	y = standard_space(t_cast(x, working(x)), arg_float(a, 3));
	return v_tensor(t_cast(affine(a, 1, y, fit_channels), x->dtype));
}

/* Local response normalization (Krizhevsky et al., 2012); channels outside count as 0. */
Value fn_lrn(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y = t_cast(x, working(x)), *s;
	int64_t n = arg_int(a, 1), one = 1;
	double alpha = arg_float(a, 2), beta = arg_float(a, 3);

	if (n < 1 || n > INT32_MAX || t_rank(x) < 2)
		die(MALFORMED, "lrn: size %lld for x%s", (long long)n, shape_text(x->shape));
	s = t_pad_axis(t_mul(y, y), 1, ix_const((n - 1) / 2), ix_const(n / 2));
	s = t_sum(t_windows(t_move_axis(s, 1, t_rank(s) - 1), 1, &n, &one, &one), -1, false);
	s = t_addc(t_mulc(t_move_axis(s, t_rank(s) - 1, 1), alpha / n), arg_float(a, 4));
	return v_tensor(t_cast(t_div(y, t_pow(s, t_num(s->dtype, beta))), x->dtype));
}
