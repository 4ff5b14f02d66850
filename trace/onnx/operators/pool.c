/* ONNX: poolings, their inverse, and regions of interest.
 *
 *     MaxPool(x), Indices   →   the least place of an element that equals the maximum */
#include "onnx/operators/space.h"
#include <math.h>

static bool ceils(OnnxCall *c)
{
	return onnx_attr_int(c, "ceil_mode", 0)
		&& !strcmp(onnx_attr_str(c, "auto_pad", "NOTSET"), "NOTSET");
}

/* ---- MaxPool */

/* The row-major place in the whole of x; column_major reverses the axes of space, so the first
 * varies fastest. */
static UOp *whole_place(UOp *place, UOp *x, bool column_major)
{
	UOp *reversed = t_num(DT_I64, 0), *step = ix_const(1);

	if (!column_major)
		return place;
	for (int i = 2; i < t_rank(x); i++)
		step = ix_mul(step, t_dim(x, i));
	UOp *space = t_size(DT_I64, step), *at = t_op2(OP_MOD, place, space),
	    *stride = t_num(DT_I64, 1);
	for (int i = 2; i < t_rank(x); i++) {
		step = ix_div(step, t_dim(x, i));
		UOp *row = t_size(DT_I64, step);
		reversed = t_add(reversed, t_mul(t_op2(OP_IDIV, at, row), stride));
		at = t_op2(OP_MOD, at, row);
		stride = t_mul(stride, t_size(DT_I64, t_dim(x, i)));
	}
	return t_add(t_sub(place, t_op2(OP_MOD, place, space)), reversed);
}

static UOp *max_places(const Window *w, UOp *x, UOp *windows, UOp *most, bool column_major)
{
	UOp *far = t_num(DT_I64, 0x1p62), *place, *hit;

	place = t_reshape(t_arange(DT_I64, shape_count(x->shape)), x->shape);
	Window pads = *w;
	place = space_windows(w, place, pads.pad, far);
	for (int i = 0; i < w->nd; i++)
		most = t_unsqueeze(most, t_rank(most));
	hit = t_or(t_eq(windows, most), t_ne(windows, windows));
	return whole_place(space_fold(w, OP_MIN, t_where(hit, place, far)), x, column_major);
}

UOp *onnx_max_pool(OnnxCall *c, UOp *x, Window *w, UOp **windows)
{
	*w = onnx_window(c, x, NULL);
	if (ceils(c))
		pool_ceil(w, x);
	*windows = space_windows(w, x, w->pad, const_identity(OP_MAX, x->dtype));
	return space_fold(w, OP_MAX, *windows);
}

void onnx_MaxPool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *v, *y;
	Window w;

	y = onnx_max_pool(c, x, &w, &v);
	onnx_set(c, 0, y);
	if (onnx_wants(c, 1))
		onnx_set(c, 1, max_places(&w, x, v, y, onnx_attr_int(c, "storage_order", 0) != 0));
}

void onnx_AveragePool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	bool with_padding = onnx_attr_int(c, "count_include_pad", 0) != 0;
	Window w = with_padding ? onnx_fixed_window(c, x, NULL) : onnx_window(c, x, NULL);

	onnx_set(c, 0, t_cast(pool_mean(&w, onnx_wide(x), ceils(c), with_padding), x->dtype));
}

/* ---- LpPool: the p-norm of each window */

static UOp *to_power(UOp *x, double p)
{
	x = t_abs(x);
	return p == 1 ? x : p == 2 ? t_mul(x, x) : t_pow(x, t_num(x->dtype, p));
}

static UOp *root(UOp *x, double p)
{
	return p == 1 ? x : p == 2 ? t_sqrt(x) : t_pow(x, t_num(x->dtype, 1 / p));
}

static double norm_order(OnnxCall *c)
{
	return onnx_version(c) < 2 ? onnx_attr_float(c, "p", 2) : (double)onnx_attr_int(c, "p", 2);
}

void onnx_LpPool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	Window w = onnx_window(c, x, NULL);
	double p = norm_order(c);

	if (ceils(c))
		pool_ceil(&w, x);
	onnx_set(c, 0,
		t_cast(root(space_fold(&w, OP_ADD,
				    space_windows(&w, to_power(onnx_wide(x), p), w.pad, NULL)),
			       p),
			x->dtype));
}

/* ---- MaxUnpool: puts elements back at the places given by MaxPool's Indices */

void onnx_MaxUnpool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *idx, *size[MAX_RANK], *dim[MAX_RANK], *y, *pairs[MAX_RANK][2];
	Window w = onnx_fixed_window(c, x, NULL);
	int rank = t_rank(x);

	for (int i = 0; i < rank; i++)
		dim[i] = t_dim(x, i);
	for (int i = 0; i < w.nd; i++)
		dim[2 + i] = ix_add(ix_mul(ix_sub(dim[2 + i], ix_const(1)), ix_const(w.stride[i])),
			ix_const(w.k[i] - w.pad[i][0] - w.pad[i][1]));
	y = t_full(shape_new(1, (UOp *[]){shape_count(shape_new(rank, dim))}), t_num(x->dtype, 0));
	idx = t_merge_axes(onnx_in_rank(c, 1, rank), 0, rank);
	y = t_reshapev(t_scatter(y, 1, &idx, t_merge_axes(x, 0, rank), "SET"), rank, dim);
	if (onnx_has(c, 2)) {
		if (onnx_bound_sizes(c, 2, MAX_RANK, size) != rank)
			onnx_fail(c, MALFORMED, "output_shape is not for %d axes", rank);
		for (int i = 0; i < rank; i++) {
			pairs[i][0] = ix_const(0);
			pairs[i][1] = ix_sub(size[i], dim[i]);
		}
		y = t_pad(y, pairs);
	}
	onnx_set(c, 0, y);
}

/* ---- RoiAlign: a region is cut into bins, each the mean or maximum of interpolated samples */

typedef struct { UOp *start, *bin; int64_t bins, samples; UOp *limit; } RoiAxis;

/* The two elements beside each sample and the weight of the second, [r,bins*samples]; *off is true
 * where the sample lies outside. */
static void roi_places(const RoiAxis *a, UOp **lo, UOp **hi, UOp **t, UOp **off)
{
	DType dt = a->start->dtype;
	UOp *i = t_arange(dt, ix_const(a->bins * a->samples)), *n = t_size(dt, a->limit),
	    *last = t_addc(n, -1), *p;

	/* sample j of bin b: start + (b + (j + 0.5) / samples) * bin */
	p = t_add(t_unsqueeze(a->start, 1),
		t_mul(t_unsqueeze(a->bin, 1), t_mulc(t_addc(i, 0.5), 1.0 / a->samples)));
	*off = t_or(t_lt(p, t_num(dt, -1)), t_lt(n, p));
	p = t_min(t_max(p, t_num(dt, 0)), last);
	*lo = t_min(t_floor(p), last);
	*hi = t_min(t_addc(*lo, 1), last);
	*t = t_sub(p, *lo);
	*lo = t_cast(*lo, DT_I64);
	*hi = t_cast(*hi, DT_I64);
}

/* v[r,bh*sh,bw*sw,c] reduced over the samples: [r,c,bh,bw] */
static UOp *roi_fold(UOp *v, const RoiAxis *y, const RoiAxis *x, bool mean)
{
	int axes[2] = { 2, 4 }, order[] = { 0, 3, 1, 2 };

	v = t_split_axis(v, 2, ix_const(x->bins), ix_const(x->samples));
	v = t_split_axis(v, 1, ix_const(y->bins), ix_const(y->samples));
	v = mean ? t_mean(v, 2, axes, false) : t_reduce(OP_MAX, v, 2, axes, false);
	return t_permute(v, order);
}

/* In mode max, a sample is the maximum of its four weighted elements. */
static UOp *roi_samples(UOp *x, UOp *batch, const RoiAxis *ay, const RoiAxis *ax, bool mean)
{
	UOp *y[2], *z[2], *ty, *tx, *oy, *ox, *sum = NULL, *idx[3];
	int order[] = { 0, 2, 3, 1 };

	roi_places(ay, &y[0], &y[1], &ty, &oy);
	roi_places(ax, &z[0], &z[1], &tx, &ox);
	x = t_permute(x, order);
	idx[0] = t_unsqueeze(t_unsqueeze(t_cast(batch, DT_I64), 1), 2);
	for (int k = 0; k < 4; k++) {
		UOp *wy = k / 2 ? ty : t_sub(t_num(ty->dtype, 1), ty),
		    *wx = k % 2 ? tx : t_sub(t_num(tx->dtype, 1), tx), *v;
		idx[1] = t_unsqueeze(y[k / 2], 2);
		idx[2] = t_unsqueeze(z[k % 2], 1);
		v = t_mul(t_unsqueeze(wy, 2), t_unsqueeze(wx, 1));
		v = t_mul(t_gather(x, 3, idx), t_unsqueeze(v, 3));
		sum = !sum ? v : mean ? t_add(sum, v) : t_max(sum, v);
	}
	oy = t_or(t_unsqueeze(oy, 2), t_unsqueeze(ox, 1));
	return roi_fold(t_where(t_unsqueeze(oy, 3), t_num(sum->dtype, 0), sum), ay, ax, mean);
}

static UOp *roi_edge(UOp *rois, int k)
{
	return t_squeeze(t_shrink_axis(rois, 1, ix_const(k), ix_const(k + 1)), 1);
}

void onnx_RoiAlign(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *wide = onnx_wide(x), *rois = t_cast(onnx_in(c, 1), wide->dtype);
	double scale = onnx_attr_float(c, "spatial_scale", 1);
	const char *where = onnx_attr_str(c, "coordinate_transformation_mode", "half_pixel"),
		*mode = onnx_attr_str(c, "mode", "avg");
	bool half = onnx_version(c) >= 16 && !strcmp(where, "half_pixel");
	int64_t samples = onnx_attr_int(c, "sampling_ratio", 0);
	RoiAxis a[2];

	if (t_rank(x) != 4 || t_rank(rois) != 2 || shape_dim(rois->shape, 1) != 4)
		onnx_fail(c, MALFORMED, "x%s and rois%s", shape_text(x->shape),
			shape_text(rois->shape));
	if (samples < 1)
		onnx_fail(c, UNSUPPORTED,
			"sampling_ratio 0, where the boxes decide how many samples are taken");
	for (int i = 0; i < 2; i++) {
		UOp *stop = t_mulc(roi_edge(rois, 3 - i), scale), *len;
		a[i].start = t_mulc(roi_edge(rois, 1 - i), scale);
		len = t_sub(stop, a[i].start);
		if (half)
			a[i].start = t_addc(a[i].start, -0.5);
		else
			len = t_max(len, t_num(len->dtype, 1));
		a[i].bins = onnx_attr_int(c, i ? "output_width" : "output_height", 1);
		a[i].samples = samples;
		a[i].limit = t_dim(x, 2 + i);
		if (a[i].bins < 1 || a[i].bins > INT32_MAX || samples > INT32_MAX)
			onnx_fail(c, MALFORMED, "%lld bins of %lld samples", (long long)a[i].bins,
				(long long)samples);
		a[i].bin = t_mulc(len, 1.0 / a[i].bins);
	}
	onnx_set(c, 0,
		t_cast(roi_samples(wide, onnx_in_rank(c, 2, 1), &a[0], &a[1], !strcmp(mode, "avg")),
			x->dtype));
}

/* ---- MaxRoiPool: maxima over bins, each with a mask, since its edges depend on the boxes */

/* whether each of the n elements belongs to bin b: [r,bins,n] */
static UOp *bin_members(UOp *first, UOp *last, int64_t bins, UOp *n)
{
	DType dt = first->dtype;
	UOp *len = t_max(t_addc(t_sub(last, first), 1), t_num(dt, 1)),
	    *b = t_arange(dt, ix_const(bins)), *i = t_arange(dt, n);
	UOp *size = t_unsqueeze(t_mulc(len, 1.0 / bins), 1), *lo, *hi;

	first = t_unsqueeze(first, 1);
	lo = t_unsqueeze(t_add(t_floor(t_mul(b, size)), first), 2);
	hi = t_unsqueeze(t_add(t_ceil(t_mul(t_addc(b, 1), size)), first), 2);
	return t_and(t_not(t_lt(i, lo)), t_lt(i, hi));
}

void onnx_MaxRoiPool(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *rois = t_cast(onnx_in(c, 1), DT_F32), *in[2], *b, *v, *any;
	double scale = onnx_attr_float(c, "spatial_scale", 1);
	int64_t out[2];

	if (t_rank(x) != 4 || t_rank(rois) != 2 || shape_dim(rois->shape, 1) != 5)
		onnx_fail(c, MALFORMED, "x%s and rois%s", shape_text(x->shape),
			shape_text(rois->shape));
	onnx_space_ints(c, "pooled_shape", 2, 1, 1, out);
	for (int i = 0; i < 2; i++)
		in[i] = bin_members(t_round(t_mulc(roi_edge(rois, 2 - i), scale)),
			t_round(t_mulc(roi_edge(rois, 4 - i), scale)), out[i], t_dim(x, 2 + i));
	b = t_cast(roi_edge(rois, 0), DT_I64);
	v = t_gather(x, 1, &b);                                               /* [r,c,h,w] */
	in[0] = t_unsqueeze(t_unsqueeze(in[0], 1), 4);                        /* [r,1,bh,h,1] */
	in[1] = t_unsqueeze(t_unsqueeze(in[1], 1), 2);                        /* [r,1,1,bw,w] */
	v = t_where(in[0], t_unsqueeze(v, 2), const_identity(OP_MAX, x->dtype));
	v = t_reduce(OP_MAX, v, 1, (int[]){ 3 }, false);                      /* [r,c,bh,w] */
	v = t_where(in[1], t_unsqueeze(v, 3), const_identity(OP_MAX, x->dtype));
	v = t_reduce(OP_MAX, v, 1, (int[]){ 4 }, false);
	any = t_and(t_reduce(OP_MAX, in[0], 1, (int[]){ 3 }, false),
		t_reduce(OP_MAX, in[1], 1, (int[]){ 4 }, false));
	onnx_set(c, 0, t_where(any, v, t_num(x->dtype, 0)));
}
