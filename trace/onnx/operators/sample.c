/* ONNX: interpolated reads of tensors (GridSample; DeformConv uses it too), and AffineGrid.
 *
 *     linear, x[n,c,h,w] at (y, x)   →   4 taps, each GATHER(x) * a weight per axis */
#include "onnx/operators/space.h"
#include <math.h>

/* One axis: its size, the limits for places outside, and for each tap an index [n,o...] and a
 * weight (NULL: 1). */
typedef struct { UOp *n; double least, most; UOp *idx[4], *weight[4]; } Taps;

/* a triangle wave between lo and lo + span */
static UOp *reflect(UOp *p, UOp *lo, UOp *span)
{
	UOp *u = t_mod(t_sub(p, lo), t_mulc(span, 2));

	u = t_where(t_lt(span, u), t_sub(t_mulc(span, 2), u), u);
	return t_where(t_lt(t_num(span->dtype, 0), span), t_add(u, lo), lo);
}

/* p, which may lie any distance outside, mapped into the limits */
static UOp *inside(UOp *p, UOp *n, SampleOutside outside, bool corners)
{
	UOp *size = t_size(p->dtype, n), *last = t_addc(size, -1),
	    *lo = t_num(p->dtype, corners ? 0 : -0.5), *far;
	UOp *out = t_or(t_lt(p, lo), t_lt(corners ? last : t_addc(size, -0.5), p));

	if (outside == SAMPLE_ZEROS)
		return p;
	if (outside == SAMPLE_BORDER)
		far = t_min(t_max(p, t_num(p->dtype, 0)), last);
	else
		far = reflect(p, lo, corners ? last : size);
	return t_where(out, far, p);
}

/* A tap's integer place as an index; an index that is still outside reads 0. */
static UOp *tap_index(UOp *p, UOp *n, SampleOutside outside, bool corners)
{
	UOp *last = t_addc(t_size(p->dtype, n), -1);

	if (outside == SAMPLE_REFLECT)
		p = t_op1(OP_TRUNC, inside(p, n, outside, corners));
	if (outside != SAMPLE_ZEROS)
		p = t_min(t_max(p, t_num(p->dtype, 0)), last);
	return t_cast(p, DT_I64);
}

static Taps taps_along(UOp *p, UOp *n, SampleTaps taps, SampleOutside outside, bool corners)
{
	Taps r = { .n = n };
	UOp *base, *t;

	if (taps == SAMPLE_NEAREST)
		p = t_round(p);
	if (taps != SAMPLE_CUBIC || outside != SAMPLE_BORDER)
		p = inside(p, n, outside, corners);
	base = taps == SAMPLE_NEAREST ? p : t_floor(p);
	t = t_sub(p, base);
	if (taps == SAMPLE_CUBIC)
		t_cubic_weights(t, -0.75, r.weight);
	if (taps == SAMPLE_LINEAR) {
		r.weight[0] = t_sub(t_num(t->dtype, 1), t);
		r.weight[1] = t;
	}
	for (int k = 0; k < (int)taps; k++)
		r.idx[k] = tap_index(
			t_addc(base, taps == SAMPLE_CUBIC ? k - 1 : k), n, outside, corners);
	return r;
}

UOp *onnx_sample(
	UOp *x, int nd, UOp *const *at, SampleTaps taps, SampleOutside outside, bool corners)
{
	Taps along[MAX_SPACE];
	UOp *sum = NULL, *idx[1 + MAX_SPACE];
	int total = 1, order[MAX_RANK], out = t_rank(at[0]);
	DType dt = x->dtype;

	for (int i = 0; i < nd; i++) {
		along[i] = taps_along(onnx_wide(at[i]), t_dim(x, 2 + i), taps, outside, corners);
		total *= taps;
	}
	idx[0] = t_iota(DT_I64, at[0]->shape, 0);
	x = t_move_axis(x, 1, t_rank(x) - 1);
	if (taps != SAMPLE_NEAREST)
		x = onnx_wide(x);
	for (int m = 0; m < total; m++) {
		UOp *w = NULL, *v;
		for (int i = 0, rest = m; i < nd; i++, rest /= taps) {
			int k = rest % taps;
			idx[1 + i] = along[i].idx[k];
			if (along[i].weight[k])
				w = w ? t_mul(w, along[i].weight[k]) : along[i].weight[k];
		}
		v = t_gather(x, 1 + nd, idx);
		if (w)
			v = t_mul(v, t_cast(t_unsqueeze(w, out), v->dtype));
		sum = sum ? t_add(sum, v) : v;
	}
	for (int i = 0; i <= out; i++)
		order[i] = i == 0 ? 0 : i == 1 ? out : i - 1;
	return t_cast(t_permute(sum, order), dt);
}

/* ---- GridSample: places are given from -1 to 1, the last axis first */

static SampleTaps taps_of(OnnxCall *c)
{
	const char *mode = onnx_attr_str(c, "mode", onnx_version(c) < 20 ? "bilinear" : "linear");

	if (!strcmp(mode, "nearest"))
		return SAMPLE_NEAREST;
	if (!strcmp(mode, "bilinear") || !strcmp(mode, "linear"))
		return SAMPLE_LINEAR;
	if (!strcmp(mode, "bicubic") || !strcmp(mode, "cubic"))
		return SAMPLE_CUBIC;
	onnx_fail(c, MALFORMED, "mode '%s'", mode);
}

static SampleOutside outside_of(OnnxCall *c)
{
	const char *mode = onnx_attr_str(c, "padding_mode", "zeros");

	if (!strcmp(mode, "zeros"))
		return SAMPLE_ZEROS;
	if (!strcmp(mode, "border"))
		return SAMPLE_BORDER;
	if (!strcmp(mode, "reflection"))
		return SAMPLE_REFLECT;
	onnx_fail(c, MALFORMED, "padding_mode '%s'", mode);
}

void onnx_GridSample(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *grid = onnx_in(c, 1), *at[MAX_SPACE];
	int nd = t_rank(x) - 2, last = t_rank(grid) - 1;
	bool corners = onnx_attr_int(c, "align_corners", 0) != 0;

	if (nd < 1 || last < 1 || shape_dim(grid->shape, last) != nd)
		onnx_fail(c, MALFORMED, "grid%s does not fit x%s", shape_text(grid->shape),
			shape_text(x->shape));
	if (nd > MAX_SPACE)
		onnx_fail(c, UNSUPPORTED, "%d axes of space, more than %d", nd, MAX_SPACE);
	for (int i = 0; i < nd; i++) {
		int k = nd - 1 - i;
		UOp *g = t_squeeze(t_shrink_axis(grid, last, ix_const(k), ix_const(k + 1)), last);
		UOp *n = t_size(onnx_wide(g)->dtype, t_dim(x, 2 + i));
		g = t_addc(onnx_wide(g), 1);
		at[i] = corners ? t_mul(t_mulc(g, 0.5), t_addc(n, -1)) :
				  t_mulc(t_addc(t_mul(g, n), -1), 0.5);
	}
	onnx_set(c, 0, onnx_sample(x, nd, at, taps_of(c), outside_of(c), corners));
}

/* ---- AffineGrid: theta[n,nd,nd+1] times the places of a grid from -1 to 1, the last axis first */

static UOp *grid_places(UOp *n, DType dt, bool corners)
{
	UOp *i = t_arange(dt, n), *size = t_size(dt, n);

	if (corners)
		return t_addc(t_div(t_mulc(i, 2), t_addc(size, -1)), -1);
	return t_addc(t_div(t_addc(t_mulc(i, 2), 1), size), -1);
}

void onnx_AffineGrid(OnnxCall *c)
{
	UOp *theta = onnx_in(c, 0), *wide = onnx_wide(theta), *size[MAX_RANK], *dim[MAX_RANK],
	    *place[MAX_RANK], *row[MAX_RANK];
	int n = onnx_bound_sizes(c, 1, MAX_RANK, size), nd = n - 2;
	bool corners = onnx_attr_int(c, "align_corners", 0) != 0;

	if (nd < 1 || nd > MAX_SPACE || t_rank(theta) != 3 || shape_dim(theta->shape, 1) != nd
	    || shape_dim(theta->shape, 2) != nd + 1)
		onnx_fail(c, MALFORMED, "theta%s does not fit a size of %d axes",
			shape_text(theta->shape), n);
	dim[0] = t_dim(theta, 0);
	for (int i = 0; i < nd; i++) {
		dim[1 + i] = size[2 + i];
		place[i] = t_along(grid_places(size[2 + i], wide->dtype, corners), 1 + i, 1 + nd);
	}
	for (int r = 0; r < nd; r++) {
		UOp *m = t_shrink_axis(wide, 1, ix_const(r), ix_const(r + 1)), *sum = NULL;
		for (int k = 0; k <= nd; k++) {
			UOp *t = t_shrink_axis(m, 2, ix_const(k), ix_const(k + 1));
			t = t_along(t_reshapev(t, 1, dim), 0, 1 + nd);
			t = k < nd ? t_mul(t, place[nd - 1 - k]) : t;
			sum = sum ? t_add(sum, t) : t;
		}
		row[r] = t_unsqueeze(t_expand_to(sum, shape_new(1 + nd, dim)), 1 + nd);
	}
	onnx_set(c, 0, t_cast(t_concat(nd, row, 1 + nd), theta->dtype));
}
