/* ONNX: normalizations.  Statistics are taken in f32 at least (or in stash_type), then the result
 * rounded to x's dtype.
 *
 *     LayerNormalization(x)   →   (x - mean) * rsqrt(mean((x - mean)^2) + epsilon) */
#include "onnx/operators/space.h"

static DType stash(OnnxCall *c, UOp *x)
{
	DType dt = onnx_dtype((int)onnx_attr_int(c, "stash_type", ONNX_FLOAT));

	if (dt == DT_NONE || !dtype_float(dt))
		onnx_fail(c, MALFORMED, "stash_type is no float");
	return dtype_promote(dtype_acc(dt), dtype_acc(x->dtype));
}

/* y less its mean along axes, times its inverse deviation; both are given back */
static UOp *standard(UOp *y, int n, const int *axes, double eps, UOp **mean, UOp **inverse)
{
	UOp *d;

	*mean = t_mean(y, n, axes, true);
	d = t_sub(y, *mean);
	*inverse = t_rsqrt(t_addc(t_mean(t_mul(d, d), n, axes, true), eps));
	return t_mul(d, *inverse);
}

static int axes_from(int first, int rank, int *axes)
{
	int n = 0;

	for (int i = first; i < rank; i++)
		axes[n++] = i;
	return n;
}

/* ---- BatchNormalization: before version 14 more than one output means training, since then an
 * attribute does */

static UOp *weighted(OnnxCall *c, UOp *x, UOp *y)
{
	y = t_mul(y, t_cast(onnx_channels(onnx_in_rank(c, 1, 1), t_rank(x)), y->dtype));
	y = t_add(y, t_cast(onnx_channels(onnx_in_rank(c, 2, 1), t_rank(x)), y->dtype));
	return t_cast(y, x->dtype);
}

/* all axes but the channels' */
static int batch_axes(UOp *x, int *axes)
{
	int n = 0;

	for (int i = 0; i < t_rank(x); i++)
		if (i != 1)
			axes[n++] = i;
	return n;
}

/* old * momentum + batch's * (1 - momentum); mean and var may be NULL: the batch's are taken and
 * given back */
static void running(OnnxCall *c, int k, UOp *old, UOp *now)
{
	double momentum = onnx_attr_float(c, "momentum", 0.9);
	UOp *wide = onnx_wide(old);

	if (onnx_wants(c, k))
		onnx_set(c, k,
			t_cast(t_add(t_mulc(wide, momentum),
				       t_mulc(t_cast(now, wide->dtype), 1 - momentum)),
				old->dtype));
}

static void train(OnnxCall *c, UOp *x, UOp *wide, double eps)
{
	int axes[MAX_RANK], n = batch_axes(x, axes);
	UOp *mean, *inverse, *y = standard(wide, n, axes, eps, &mean, &inverse),
			     *d = t_sub(wide, mean), *flat[2];

	flat[0] = t_reshape(mean, onnx_in(c, 3)->shape);
	flat[1] = t_reshape(t_mean(t_mul(d, d), n, axes, true), onnx_in(c, 3)->shape);
	onnx_set(c, 0, weighted(c, x, y));
	for (int k = 0; k < 2; k++) {
		running(c, 1 + k, onnx_in(c, 3 + k), flat[k]);
		if (onnx_wants(c, 3 + k))
			onnx_set(c, 3 + k, t_cast(flat[k], onnx_in(c, 3 + k)->dtype));
	}
}

void onnx_BatchNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *wide = onnx_wide(x), *mean, *var;
	double eps = onnx_attr_float(c, "epsilon", 1e-5);
	bool training = onnx_version(c) >= 14 ? onnx_attr_int(c, "training_mode", 0) != 0
		: !onnx_attr_int(c, "is_test", 0) && onnx_wants(c, 1);

	if (t_rank(x) < 2)
		onnx_fail(c, MALFORMED, "x%s has no channels", shape_text(x->shape));
	if (onnx_version(c) < 9 && !onnx_attr_int(c, "spatial", 1))
		onnx_fail(c, UNSUPPORTED, "spatial is 0: a mean for each element");
	if (training) {
		train(c, x, wide, eps);
		return;
	}
	mean = t_cast(onnx_channels(onnx_in_rank(c, 3, 1), t_rank(x)), wide->dtype);
	var = t_cast(onnx_channels(onnx_in_rank(c, 4, 1), t_rank(x)), wide->dtype);
	onnx_set(c, 0, weighted(c, x, t_mul(t_sub(wide, mean), t_rsqrt(t_addc(var, eps)))));
}

/* ---- InstanceNormalization, GroupNormalization: axes of space, with a group of channels or one */

void onnx_InstanceNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *mean, *inverse;
	int axes[MAX_RANK], n = axes_from(2, t_rank(x), axes);

	if (n < 1)
		onnx_fail(c, MALFORMED, "x%s has no axes of space", shape_text(x->shape));
	onnx_set(c, 0,
		weighted(c, x,
			standard(onnx_wide(x), n, axes, onnx_attr_float(c, "epsilon", 1e-5), &mean,
				&inverse)));
}

/* p[groups] for each channel of its group: [groups*each] */
static UOp *for_channels(UOp *p, UOp *each)
{
	return t_merge_axes(t_expand_axis(t_unsqueeze(p, 1), 1, each), 0, 2);
}

void onnx_GroupNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *scale = onnx_in_rank(c, 1, 1), *bias = onnx_in_rank(c, 2, 1), *y,
	    *mean, *inverse, *each;
	int64_t groups = onnx_attr_int(c, "num_groups", 0);
	int axes[MAX_RANK];

	if (t_rank(x) < 2 || groups < 1 || shape_dim(x->shape, 1) % groups)
		onnx_fail(c, MALFORMED, "x%s does not fall into %lld groups", shape_text(x->shape),
			(long long)groups);
	each = ix_div(t_dim(x, 1), ix_const(groups));
	if (onnx_version(c) < 21) {
		scale = for_channels(scale, each);
		bias = for_channels(bias, each);
	}
	y = t_split_axis(t_cast(x, stash(c, x)), 1, ix_const(groups), each);
	y = standard(y, axes_from(2, t_rank(y), axes), axes, onnx_attr_float(c, "epsilon", 1e-5),
		&mean, &inverse);
	y = t_reshape(y, x->shape);
	y = t_mul(y, t_cast(onnx_channels(scale, t_rank(x)), y->dtype));
	y = t_add(y, t_cast(onnx_channels(bias, t_rank(x)), y->dtype));
	onnx_set(c, 0, t_cast(y, x->dtype));
}

/* ---- LayerNormalization, RMSNormalization: the axes from `axis` on */

void onnx_LayerNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *y, *mean, *inverse;
	int rank = t_rank(x), axes[MAX_RANK],
	    n = axes_from(onnx_attr_axis(c, "axis", -1, rank), rank, axes);
	DType dt = onnx_dtype((int)onnx_attr_int(c, "stash_type", ONNX_FLOAT));

	y = standard(t_cast(x, stash(c, x)), n, axes, onnx_attr_float(c, "epsilon", 1e-5), &mean,
		&inverse);
	y = t_mul(y, t_cast(onnx_in(c, 1), y->dtype));
	if (onnx_has(c, 2))
		y = t_add(y, t_cast(onnx_in(c, 2), y->dtype));
	onnx_set(c, 0, t_cast(y, x->dtype));
	if (onnx_wants(c, 1))
		onnx_set(c, 1, t_cast(mean, dt));
	if (onnx_wants(c, 2))
		onnx_set(c, 2, t_cast(inverse, dt));
}

void onnx_RMSNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *scale = onnx_in(c, 1), *y = t_cast(x, stash(c, x));
	int rank = t_rank(x), axes[MAX_RANK],
	    n = axes_from(onnx_attr_axis(c, "axis", -1, rank), rank, axes);

	y = t_mul(y,
		t_rsqrt(t_addc(
			t_mean(t_mul(y, y), n, axes, true), onnx_attr_float(c, "epsilon", 1e-5))));
	onnx_set(c, 0, t_cast(t_mul(y, t_cast(scale, y->dtype)), scale->dtype));
}

/* ---- LpNormalization, MeanVarianceNormalization */

void onnx_LpNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *wide = onnx_wide(x), *norm;
	int axis = onnx_attr_axis(c, "axis", -1, t_rank(x));
	int64_t p = onnx_attr_int(c, "p", 2);

	if (p != 1 && p != 2)
		onnx_fail(c, MALFORMED, "p is %lld, not 1 or 2", (long long)p);
	norm = p == 1 ? t_sum(t_abs(wide), axis, true) : t_sqrt(t_sum(t_mul(wide, wide), axis, true));
	onnx_set(c, 0,
		t_cast(t_where(t_eq(norm, t_num(norm->dtype, 0)), t_num(norm->dtype, 0),
			       t_div(wide, norm)),
			x->dtype));
}

void onnx_MeanVarianceNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *wide = onnx_wide(x), *d;
	int64_t v[MAX_RANK] = { 0, 2, 3 };
	int axes[MAX_RANK], n = onnx_attr_ints(c, "axes", v, MAX_RANK);

	n = onnx_axes(c, n < 0 ? 3 : n, v, t_rank(x), axes);
	d = t_sub(wide, t_mean(wide, n, axes, true));
	onnx_set(c, 0,
		t_cast(t_div(d, t_addc(t_sqrt(t_mean(t_mul(d, d), n, axes, true)), 1e-9)),
			x->dtype));
}
