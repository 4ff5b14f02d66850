/* ONNX: Resize and Upsample: their attributes and inputs are translated for the library's t_resize.
 *
 *     sizes [1,3,8,8] of x[1,3,4,4]   →   axes 2 and 3, each from 4 to 8 */
#include "onnx/operators/space.h"
#include <math.h>

static int choice(
	OnnxCall *c, const char *name, const char *otherwise, size_t n, const char *const *of)
{
	const char *s = onnx_attr_str(c, name, otherwise);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, of[i]))
			return (int)i;
	onnx_fail(c, MALFORMED, "%s '%s'", name, s);
}

static ResizeHow how_of(OnnxCall *c)
{
	static const char *const modes[] = { "nearest", "linear", "cubic", "bilinear" };
	static const char *const maps[] = { "half_pixel", "half_pixel_symmetric",
		"pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
		"tf_half_pixel_for_nn" };
	static const char *const rounds[] = {
		"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
	bool old = !strcmp(onnx_op(c), "Upsample") || onnx_version(c) < 11;
	int mode = choice(c, "mode", "nearest", 4, modes), map;
	ResizeHow h = { .mode = "nlcl"[mode], .map = MAP_ASYMMETRIC, .round = ROUND_FLOOR };

	if (old)
		return h;
	map = choice(c, "coordinate_transformation_mode", "half_pixel", 7, maps);
	h.map = map == 6 ? MAP_HALF : (ResizeMap)map;
	h.round = (ResizeRound)choice(c, "nearest_mode", "round_prefer_floor", 4, rounds);
	h.a = onnx_attr_float(c, "cubic_coeff_a", -0.75);
	h.beyond = onnx_attr_float(c, "extrapolation_value", 0);
	h.antialias = onnx_attr_int(c, "antialias", 0) != 0;
	h.inner = onnx_attr_int(c, "exclude_outside", 0) != 0;
	return h;
}

static bool not_empty(OnnxCall *c, int k)
{
	int64_t n;

	return onnx_has(c, k)
		&& !(t_rank(onnx_in(c, k)) == 1 && ix_is_const(t_dim(onnx_in(c, k), 0), &n)
			&& n == 0);
}

/* Reads a scale for each of the n axes; false when sizes are given instead. Where data gives them,
 * data has them as f64 scalars. */
static bool read_scales(OnnxCall *c, int n, double *scale, UOp **data)
{
	int k = !strcmp(onnx_op(c), "Resize") && onnx_version(c) >= 11 ? 2 : 1, got;
	Array a;

	for (int i = 0; i < n; i++)
		data[i] = NULL;

	if (!strcmp(onnx_op(c), "Upsample") && onnx_version(c) < 9) {
		for (int i = 0; i < n; i++)
			scale[i] = 1;
		if (n >= 2) {
			scale[n - 2] = onnx_attr_float(c, "height_scale", 1);
			scale[n - 1] = onnx_attr_float(c, "width_scale", 1);
		}
		got = onnx_attr_floats(c, "scales", scale, n);
		if (got >= 0 && got != n)
			onnx_fail(c, MALFORMED, "%d scales for %d axes", got, n);
		return true;
	}
	if (!not_empty(c, k))
		return false;
	if (!onnx_try_known(c, k, &a) && shape_count(onnx_in(c, k)->shape) == ix_const(n)) {
		for (int i = 0; i < n; i++)
			data[i] = t_cast(onnx_element(onnx_in(c, k), i), DT_F64);
		return true;
	}
	got = onnx_known_floats(c, k, scale, MAX_RANK);
	if (got != n)
		onnx_fail(c, MALFORMED, "%d scales for %d axes", got, n);
	return true;
}

/* ResizeAxis i for the required size. */
static ResizeAxis by_size(OnnxCall *c, UOp *x, int axis, UOp *size)
{
	ResizeAxis a = { .n = -1, .scale = 1 };

	if (size == t_dim(x, axis))
		return a;
	if (!ix_is_const(size, &a.to) || !ix_is_const(t_dim(x, axis), &a.n)) {
		a.n = -1;
		a.size = size;
		a.scale = 0;
		return a;
	}
	if (a.n < 1 || a.to < 0)
		onnx_fail(c, MALFORMED, "axis %d from %lld to %lld", axis, (long long)a.n,
			(long long)a.to);
	a.scale = (double)a.to / a.n;
	return a;
}

/* Converts sizes to scales; to keep the proportions, all axes take the smallest or the largest
 * scale. */
static void read_sizes(OnnxCall *c, int n, UOp *x, const int *axes, ResizeAxis *ax)
{
	static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };
	int policy = choice(c, "keep_aspect_ratio_policy", "stretch", 3, policies);
	UOp *size[MAX_RANK];
	double all = 0;

	if (!not_empty(c, 3))
		onnx_fail(c, MALFORMED, "neither scales nor sizes are given");
	if (onnx_bound_sizes(c, 3, MAX_RANK, size) != n)
		onnx_fail(c, MALFORMED, "sizes are not for %d axes", n);
	for (int i = 0; i < n; i++) {
		ax[i] = by_size(c, x, axes[i], size[i]);
		all = i == 0 || (policy == 1 ? ax[i].scale < all : ax[i].scale > all) ?
			ax[i].scale :
			all;
	}
	for (int i = 0; policy && i < n; i++) {
		if (ax[i].size)
			onnx_fail(c, UNSUPPORTED, "keep_aspect_ratio_policy with a size that is "
				"not known");
		ax[i].n = shape_dim(x->shape, axes[i]);
		ax[i].scale = all;
		ax[i].to = (int64_t)(all * ax[i].n + 0.5);
	}
}

static ResizeAxis by_scale(OnnxCall *c, UOp *x, int axis, double scale, bool crop)
{
	ResizeAxis a = { .n = -1, .scale = scale };
	int64_t p, q;

	if (!(scale > 0 && scale < 1e9))
		onnx_fail(c, MALFORMED, "scale %g", scale);
	if (scale == 1 && !crop)
		return a;
	if (!ix_is_const(t_dim(x, axis), &a.n) && onnx_fraction(scale, DT_F32, &p, &q)) {
		a.n = -1;
		a.size = ix_div(ix_mul(t_dim(x, axis), ix_const(p)), ix_const(q));
		return a;
	}
	a.n = shape_dim(x->shape, axis);
	a.to = (int64_t)floor(scale * a.n);
	return a;
}

/* A scale that data gives: size, and scale, are known when run. */
static ResizeAxis by_data(UOp *x, int axis, UOp *scale, int n)
{
	UOp *size = t_floor(t_mul(t_size(DT_F64, t_dim(x, axis)), scale));

	return (ResizeAxis){ .n = -1, .by = scale,
		.size = t_bind_open("size", size, n) };
}

static void read_axes(OnnxCall *c, int n, UOp *x, const int *axes, const ResizeHow *h,
	ResizeAxis *ax)
{
	double scale[MAX_RANK], roi[2 * MAX_RANK];
	UOp *data[MAX_RANK];

	if (!read_scales(c, n, scale, data))
		read_sizes(c, n, x, axes, ax);
	else
		for (int i = 0; i < n; i++)
			ax[i] = data[i] ? by_data(x, axes[i], data[i], n) :
				by_scale(c, x, axes[i], scale[i], h->map == MAP_CROP);
	for (int i = 0; i < n; i++) {
		ax[i].crop[0] = 0;
		ax[i].crop[1] = 1;
	}
	if (h->map != MAP_CROP)
		return;
	if (onnx_known_floats(c, 1, roi, 2 * MAX_RANK) != 2 * n)
		onnx_fail(c, MALFORMED, "roi is not for %d axes", n);
	for (int i = 0; i < n; i++) {
		ax[i].crop[0] = roi[i];
		ax[i].crop[1] = roi[n + i];
		if (ax[i].n < 0 && !ax[i].size && (roi[i] != 0 || roi[n + i] != 1)) {
			ax[i].n = shape_dim(x->shape, axes[i]);
			ax[i].to = ax[i].n;
		}
	}
}

void onnx_Resize(OnnxCall *c)
{
	UOp *in = onnx_in(c, 0), *x = in;
	ResizeHow h = how_of(c);
	ResizeAxis ax[MAX_RANK];
	int axes[MAX_RANK], n = onnx_axes_given(c, "axes", -1, t_rank(x), axes);

	if (n < 0) {
		n = t_rank(x);
		for (int i = 0; i < n; i++)
			axes[i] = i;
	}
	read_axes(c, n, x, axes, &h, ax);
	if (h.mode != 'n')
		x = x->dtype == DT_I32 || x->dtype == DT_U32 || dtype_size(x->dtype) == 8
			? t_cast(x, DT_F64)
			: onnx_wide(x);
	for (int i = 0; i < n; i++)
		x = t_resize(&h, x, axes[i], &ax[i]);
	onnx_set(c, 0, t_cast(dtype_float(in->dtype) ? x : t_round(x), in->dtype));
}

void onnx_Upsample(OnnxCall *c)
{
	onnx_Resize(c);
}
