/* ONNX: Resize and Upsample, an axis at a time: where each result reads and with which weights is
 * worked out here, so the graph has tables and a few gathers.
 *
 *     nearest, [w] → [2w]      a repeated element: EXPAND
 *     linear, [4] → [3]        GATHER(x, [0,1,2]) * [w…] + GATHER(x, [1,2,3]) * [1-w…] */
#include "onnx/operators/space.h"
#include <math.h>

typedef enum {
	MAP_HALF,
	MAP_HALF_SYMMETRIC,
	MAP_HALF_PYTORCH,
	MAP_CORNERS,
	MAP_ASYMMETRIC,
	MAP_CROP
} Mapping;
typedef enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL } Rounding;
typedef struct {
	char mode;
	Mapping map;
	Rounding round;
	double a, beyond;
	bool antialias, inner;
} How;
/* One axis: n to `to` elements by scale; crop is start and end of the region, from 0 to 1.  n is -1
 * when it stays as it is, or when its sizes are symbolic: then it gets `size` elements. */
typedef struct { int64_t n, to; double scale, crop[2]; UOp *size; } ResizeAxis;
/* taps numbers for each result: places (may lie outside: the border repeats) and weights; out marks
 * what is beyond */
typedef struct { int taps; int64_t *place; double *weight, *out; bool any_out; } ResizeTable;

static double source(const How *h, const ResizeAxis *x, int64_t i)
{
	double wide = x->scale * x->n, at;

	switch (h->map) {
	case MAP_CORNERS:
		return wide == 1 ? 0 : i * (double)(x->n - 1) / (wide - 1);
	case MAP_ASYMMETRIC:
		return i / x->scale;
	case MAP_CROP:
		at = wide == 1 ? (x->crop[1] - x->crop[0]) * (x->n - 1) / 2
			: i * (x->crop[1] - x->crop[0]) * (x->n - 1) / (wide - 1);
		return at + x->crop[0] * (x->n - 1);
	case MAP_HALF_PYTORCH:
		return x->to == 1 ? 0 : (i + 0.5) / x->scale - 0.5;
	case MAP_HALF_SYMMETRIC:
		return x->n / 2.0 * (1 - x->to / wide) + (i + 0.5) / x->scale - 0.5;
	default:
		return (i + 0.5) / x->scale - 0.5;
	}
}

static double cubic(double d, double a)
{
	d = fabs(d);
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static double nearest(double p, Rounding r)
{
	double lo = floor(p), t = p - lo;

	switch (r) {
	case ROUND_FLOOR: return lo;
	case ROUND_CEIL: return ceil(p);
	case ROUND_PREFER_CEIL: return t < 0.5 ? lo : lo + 1;
	default: return t <= 0.5 ? lo : lo + 1;
	}
}

/* Weights of the taps around p; when shrinking with antialias the kernel is as wide as what falls
 * into one result. */
static void weigh(const How *h, const ResizeAxis *x, double p, int taps, int64_t *place, double *w)
{
	double lo = ceil(p) - 1, squeeze = h->antialias && x->scale < 1 ? x->scale : 1, sum = 0;

	for (int k = 0; k < taps; k++) {
		place[k] = (int64_t)lo + k - (taps / 2 - 1);
		double d = (place[k] - p) * squeeze;
		w[k] = h->mode == 'c' ? cubic(d, h->a) : fmax(0, 1 - fabs(d));
		if (h->inner && (place[k] < 0 || place[k] >= x->n))
			w[k] = 0;
		sum += w[k];
	}
	for (int k = 0; (h->antialias || h->inner) && sum != 0 && k < taps; k++)
		w[k] /= sum;
}

static int count_taps(const How *h, const ResizeAxis *x)
{
	double reach = h->mode == 'c' ? 2 : 1;
	double squeeze = h->antialias && x->scale < 1 ? x->scale : 1;

	if (h->mode == 'n')
		return 1;
	return (int)fmin(1 << 20, -2 * floor(-reach / squeeze));
}

static ResizeTable tabulate(OnnxCall *c, const How *h, const ResizeAxis *x)
{
	ResizeTable t = { .taps = count_taps(h, x) };
	int64_t n;

	if (!mul_ok(x->to, t.taps, &n) || n > 1 << 22)
		onnx_fail(c, UNSUPPORTED, "an axis of %lld results of %d elements each",
			(long long)x->to, t.taps);
	t.place = arena_alloc(n * sizeof *t.place);
	t.weight = arena_alloc(n * sizeof *t.weight);
	t.out = arena_alloc(x->to * sizeof *t.out);
	for (int64_t i = 0; i < x->to; i++) {
		double p = source(h, x, i);
		t.out[i] = h->map == MAP_CROP && (p < 0 || p > x->n - 1);
		t.any_out |= t.out[i] != 0;
		p = fmin(fmax(p, -4.0 * x->n - 4), 5.0 * x->n + 4);
		if (h->mode == 'n')
			t.place[i] = (int64_t)nearest(p, h->round);
		else
			weigh(h, x, p, t.taps, t.place + i * t.taps, t.weight + i * t.taps);
	}
	for (int64_t i = 0; i < n; i++)
		t.place[i] = t.place[i] < 0 ? 0 : t.place[i] >= x->n ? x->n - 1 : t.place[i];
	return t;
}

/* column k of a table with one row a result */
static int64_t *places_of(const ResizeTable *t, int64_t n, int k)
{
	int64_t *v = arena_alloc(n * sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = t->place[i * t->taps + k];
	return v;
}

static double *weights_of(const ResizeTable *t, int64_t n, int k)
{
	double *v = arena_alloc(n * sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = t->weight[i * t->taps + k];
	return v;
}

/* each element of an axis r times */
static UOp *repeated(UOp *x, int axis, int64_t r)
{
	return t_merge_axes(t_expand_axis(t_unsqueeze(x, axis + 1), axis + 1, ix_const(r)), axis, 2);
}

static bool repeats(const ResizeAxis *ax, const ResizeTable *t)
{
	int64_t r = ax->n ? ax->to / ax->n : 0;

	if (t->taps != 1 || r < 1 || r * ax->n != ax->to)
		return false;
	for (int64_t i = 0; i < ax->to; i++)
		if (t->place[i] != i / r)
			return false;
	return true;
}

/* Many taps: all of them gathered, [.., to, taps, ..], weighted and summed. */
static UOp *gather_many(UOp *x, int axis, const ResizeAxis *ax, const ResizeTable *t)
{
	UOp *idx = onnx_table_ints(ax->to * t->taps, t->place),
	    *w = onnx_table(x->dtype, ax->to * t->taps, t->weight);
	UOp *to = ix_const(ax->to), *taps = ix_const(t->taps);

	x = onnx_take(x, axis, t_split_axis(idx, 0, to, taps));
	w = t_split_axis(w, 0, to, taps);
	return t_sum(t_mul(x, onnx_along(w, axis + 1, t_rank(x))), axis + 1, false);
}

static UOp *resize_axis(OnnxCall *c, const How *h, UOp *x, int axis, const ResizeAxis *ax)
{
	ResizeTable t = tabulate(c, h, ax);
	UOp *y = NULL;

	if (repeats(ax, &t)) {
		y = repeated(x, axis, ax->to / ax->n);
	} else if (h->mode == 'n') {
		y = onnx_take(x, axis, onnx_table_ints(ax->to, t.place));
	} else if (t.taps > 4) {
		y = gather_many(x, axis, ax, &t);
	} else {
		for (int k = 0; k < t.taps; k++) {
			UOp *v = onnx_take(x, axis, onnx_table_ints(ax->to, places_of(&t, ax->to, k)));
			UOp *w = onnx_table(x->dtype, ax->to, weights_of(&t, ax->to, k));
			v = t_mul(v, onnx_along(w, axis, t_rank(x)));
			y = y ? t_add(y, v) : v;
		}
	}
	if (t.any_out) {
		UOp *out = t_ne(onnx_table(DT_F32, ax->to, t.out), t_num(DT_F32, 0));
		y = t_where(onnx_along(out, axis, t_rank(y)), t_num(y->dtype, h->beyond), y);
	}
	return y;
}

/* ---- symbolic sizes: the same places, worked out by the graph in f64 */

static UOp *nearest_of(UOp *p, Rounding r)
{
	switch (r) {
	case ROUND_FLOOR: return t_floor(p);
	case ROUND_CEIL: return t_ceil(p);
	case ROUND_PREFER_CEIL: return t_floor(t_addc(p, 0.5));
	default: return t_ceil(t_addc(p, -0.5));
	}
}

static UOp *source_of(OnnxCall *c, const How *h, UOp *n, UOp *size)
{
	UOp *i = t_arange(DT_F64, size), *from = t_size(DT_F64, n), *to = t_size(DT_F64, size),
	    *scale = t_div(to, from);
	UOp *one = t_num(DT_F64, 1);

	if (h->map == MAP_CROP || h->antialias || h->inner)
		onnx_fail(c, UNSUPPORTED,
			"a symbolic size with tf_crop_and_resize, antialias or exclude_outside");
	if (h->map == MAP_ASYMMETRIC)
		return t_div(i, scale);
	if (h->map == MAP_CORNERS)
		return t_div(t_mul(i, t_sub(from, one)), t_max(t_sub(to, one), one));
	i = t_addc(t_div(t_addc(i, 0.5), scale), -0.5);
	return h->map == MAP_HALF_PYTORCH ? t_where(t_eq(to, one), t_num(DT_F64, 0), i) : i;
}

static UOp *resize_symbolic(OnnxCall *c, const How *h, UOp *x, int axis, UOp *size)
{
	UOp *n = t_dim(x, axis), *p = source_of(c, h, n, size),
	    *last = t_addc(t_size(DT_F64, n), -1), *lo, *w[4], *y = NULL;
	int taps = h->mode == 'n' ? 1 : h->mode == 'l' ? 2 : 4;

	lo = h->mode == 'n' ? nearest_of(p, h->round) : t_floor(p);
	p = t_sub(p, lo);
	w[0] = t_sub(t_num(DT_F64, 1), p);
	w[1] = p;
	if (taps == 4)
		onnx_cubic_weights(p, h->a, w);
	for (int k = 0; k < taps; k++) {
		UOp *at = t_addc(lo, taps == 4 ? k - 1 : k), *v;
		v = onnx_take(x, axis, t_cast(t_min(t_max(at, t_num(DT_F64, 0)), last), DT_I64));
		if (taps > 1)
			v = t_mul(v, onnx_along(t_cast(w[k], x->dtype), axis, t_rank(x)));
		y = y ? t_add(y, v) : v;
	}
	return y;
}

/* An axis of symbolic size: repeated where a known size by that whole scale would be, else by the
 * graph. */
static UOp *stretch(OnnxCall *c, const How *h, UOp *x, int axis, const ResizeAxis *ax)
{
	int64_t r = (int64_t)ax->scale;
	ResizeAxis trial = { .n = 8, .to = 8 * r, .scale = ax->scale };

	if (h->mode == 'n' && r >= 1 && r == ax->scale && r < 1024 && h->map != MAP_CROP) {
		ResizeTable t = tabulate(c, h, &trial);
		if (repeats(&trial, &t))
			return repeated(x, axis, r);
	}
	return resize_symbolic(c, h, x, axis, ax->size);
}

/* ---- attributes and sizes */

static int choice(
	OnnxCall *c, const char *name, const char *otherwise, size_t n, const char *const *of)
{
	const char *s = onnx_attr_str(c, name, otherwise);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, of[i]))
			return (int)i;
	onnx_fail(c, MALFORMED, "%s '%s'", name, s);
}

static How how_of(OnnxCall *c)
{
	static const char *const modes[] = { "nearest", "linear", "cubic", "bilinear" };
	static const char *const maps[] = { "half_pixel", "half_pixel_symmetric",
		"pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
		"tf_half_pixel_for_nn" };
	static const char *const rounds[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
	bool old = !strcmp(onnx_op(c), "Upsample") || onnx_version(c) < 11;
	int mode = choice(c, "mode", "nearest", 4, modes), map;
	How h = { .mode = "nlcl"[mode], .map = MAP_ASYMMETRIC, .round = ROUND_FLOOR };

	if (old)
		return h;
	map = choice(c, "coordinate_transformation_mode", "half_pixel", 7, maps);
	h.map = map == 6 ? MAP_HALF : (Mapping)map;
	h.round = (Rounding)choice(c, "nearest_mode", "round_prefer_floor", 4, rounds);
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

/* Scale for each of the n axes: false when sizes are given instead. */
static bool read_scales(OnnxCall *c, int n, double *scale)
{
	int k = !strcmp(onnx_op(c), "Resize") && onnx_version(c) >= 11 ? 2 : 1, got;

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
	got = onnx_known_floats(c, k, scale, MAX_RANK);
	if (got != n)
		onnx_fail(c, MALFORMED, "%d scales for %d axes", got, n);
	return true;
}

/* Axis i by the size it shall have. */
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
		onnx_fail(c, MALFORMED, "axis %d from %lld to %lld", axis, (long long)a.n, (long long)a.to);
	a.scale = (double)a.to / a.n;
	return a;
}

/* Sizes to scales; to keep the proportions all axes take the least or the greatest of them. */
static void read_sizes(OnnxCall *c, int n, UOp *x, const int *axes, ResizeAxis *ax)
{
	static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };
	int policy = choice(c, "keep_aspect_ratio_policy", "stretch", 3, policies);
	UOp *size[MAX_RANK];
	double all = 0;

	if (!not_empty(c, 3))
		onnx_fail(c, MALFORMED, "neither scales nor sizes are given");
	if (onnx_known_sizes(c, 3, size) != n)
		onnx_fail(c, MALFORMED, "sizes are not for %d axes", n);
	for (int i = 0; i < n; i++) {
		ax[i] = by_size(c, x, axes[i], size[i]);
		all = i == 0 || (policy == 1 ? ax[i].scale < all : ax[i].scale > all) ? ax[i].scale : all;
	}
	for (int i = 0; policy && i < n; i++) {
		ax[i].n = shape_dim(x->shape, axes[i]);
		ax[i].scale = all;
		ax[i].to = (int64_t)(all * ax[i].n + 0.5);
	}
}

static ResizeAxis by_scale(OnnxCall *c, UOp *x, int axis, double scale, bool crop)
{
	ResizeAxis a = { .n = -1, .scale = scale };

	if (!(scale > 0 && scale < 1e9))
		onnx_fail(c, MALFORMED, "scale %g", scale);
	if (scale == 1 && !crop)
		return a;
	if (!ix_is_const(t_dim(x, axis), &a.n) && scale == floor(scale)) {
		a.n = -1;
		a.size = ix_mul(t_dim(x, axis), ix_const((int64_t)scale));
		return a;
	}
	a.n = shape_dim(x->shape, axis);
	a.to = (int64_t)floor(scale * a.n);
	return a;
}

static void read_axes(OnnxCall *c, int n, UOp *x, const int *axes, const How *h, ResizeAxis *ax)
{
	double scale[MAX_RANK], roi[2 * MAX_RANK];

	if (!read_scales(c, n, scale))
		read_sizes(c, n, x, axes, ax);
	else
		for (int i = 0; i < n; i++)
			ax[i] = by_scale(c, x, axes[i], scale[i], h->map == MAP_CROP);
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
	How h = how_of(c);
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
	for (int i = 0; i < n; i++) {
		if (ax[i].size) {
			x = stretch(c, &h, x, axes[i], &ax[i]);
			continue;
		}
		if (ax[i].n < 0
			|| (ax[i].scale == 1 && ax[i].to == ax[i].n && ax[i].crop[0] == 0
				&& ax[i].crop[1] == 1))
			continue;
		if (ax[i].n < 1 || ax[i].to < 1)
			onnx_fail(c, MALFORMED, "axis %d from %lld to %lld", axes[i],
				(long long)ax[i].n, (long long)ax[i].to);
		x = resize_axis(c, &h, x, axes[i], &ax[i]);
	}
	onnx_set(c, 0, t_cast(dtype_float(in->dtype) ? x : t_round(x), in->dtype));
}

void onnx_Upsample(OnnxCall *c)
{
	onnx_Resize(c);
}
