/* ONNX: convolutions and related operators.
 *
 *     ConvTranspose(x, w)   →   windows of x against w, a channel for each phase of the stride */
#include "onnx/operators/space.h"
#include <math.h>

static UOp *biased(OnnxCall *c, UOp *y)
{
	return onnx_has(c, 2) ? conv_add_channels(y, onnx_in_rank(c, 2, 1)) : y;
}

UOp *onnx_conv(OnnxCall *c)
{
	return biased(c, onnx_convolution(c, onnx_in(c, 0), onnx_in(c, 1)));
}

void onnx_Conv(OnnxCall *c) { onnx_set(c, 0, onnx_conv(c)); }

/* ---- ConvTranspose */

/* Computes pads from output_shape or auto_pad: they cut what stride, window and output_padding give
 * in excess. */
static void cut_to_size(OnnxCall *c, UOp *x, Window *w, const int64_t *more)
{
	const char *how = onnx_attr_str(c, "auto_pad", "NOTSET");
	int64_t size[MAX_RANK];
	int n = onnx_attr_ints(c, "output_shape", size, MAX_RANK);
	bool upper = !strcmp(how, "SAME_UPPER"), same = upper || !strcmp(how, "SAME_LOWER");

	if (n <= 0 && !same)
		return;
	if (n > 0 && n != w->nd && n != w->nd + 2)
		onnx_fail(c, MALFORMED, "output_shape has %d numbers for %d axes", n, w->nd);
	for (int i = 0; i < w->nd; i++) {
		int64_t in = shape_dim(x->shape, 2 + i), s = w->stride[i];
		int64_t want = n > 0 ? size[n - w->nd + i] : in * s;
		int64_t total = s * (in - 1) + more[i] + w->dilation[i] * (w->k[i] - 1) + 1 - want;
		int64_t half = total >= 0 ? total / 2 : -((1 - total) / 2);
		w->pad[i][0] = upper ? half : total - half;
		w->pad[i][1] = total - w->pad[i][0];
	}
}

void onnx_ConvTranspose(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *f = onnx_in(c, 1);
	Window w = onnx_fixed_window(c, x, f);
	int64_t groups = onnx_attr_int(c, "group", 1), more[MAX_SPACE];

	onnx_space_ints(c, "output_padding", w.nd, 0, 0, more);
	cut_to_size(c, x, &w, more);
	onnx_set(c, 0, biased(c, conv_transposed("ConvTranspose", x, f, &w, more, groups)));
}

/* ---- DeformConv: convolution with offsets added to the places of each window */

/* Places along space axis i: the sum of the window's start, the element's place in it and its
 * offset. off[n,g,k...,nd,o...] → [n*g,k...,o...] */
static UOp *moved_places(const Window *w, UOp *off, int i)
{
	int nd = w->nd, rank = 2 + 2 * nd;
	UOp *at, *k, *o;

	off = t_squeeze(t_shrink_axis(off, 2 + nd, ix_const(i), ix_const(i + 1)), 2 + nd);
	k = t_mulc(t_arange(off->dtype, t_dim(off, 2 + i)), w->dilation[i]);
	o = t_addc(
		t_mulc(t_arange(off->dtype, t_dim(off, 2 + nd + i)), w->stride[i]), -w->pad[i][0]);
	at = t_add(t_add(off, t_along(k, 2 + i, rank)), t_along(o, 2 + nd + i, rank));
	return t_merge_axes(at, 0, 2);
}

/* [n,g*k*..,o...] as [n,g,k...,(nd,)o...] */
static UOp *by_window(const Window *w, UOp *x, int64_t groups, bool places)
{
	UOp *dim[MAX_RANK];
	int r = 0;

	dim[r++] = t_dim(x, 0);
	dim[r++] = ix_const(groups);
	for (int i = 0; i < w->nd; i++)
		dim[r++] = ix_const(w->k[i]);
	if (places)
		dim[r++] = ix_const(w->nd);
	for (int i = 0; i < w->nd; i++)
		dim[r++] = t_dim(x, 2 + i);
	return t_reshapev(x, r, dim);
}

void onnx_DeformConv(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *f = onnx_in(c, 1), *off, *at[MAX_SPACE], *y;
	Window w = onnx_fixed_window(c, x, f);
	int64_t og = onnx_attr_int(c, "offset_group", 1), groups = onnx_attr_int(c, "group", 1);
	int order[MAX_RANK], nd = w.nd;

	if (og < 1 || groups < 1 || shape_dim(x->shape, 1) % og)
		onnx_fail(c, MALFORMED, "x%s does not fall into %lld groups", shape_text(x->shape),
			(long long)og);
	off = by_window(&w, onnx_in_rank(c, 2, 2 + nd), og, true);
	for (int i = 0; i < nd; i++)
		at[i] = moved_places(&w, off, i);
	y = t_merge_axes(t_split_axis(x, 1, ix_const(og), ix_div(t_dim(x, 1), ix_const(og))), 0, 2);
	y = onnx_sample(y, nd, at, SAMPLE_LINEAR, SAMPLE_ZEROS, true); /* [n*og,c/og,k...,o...] */
	y = t_split_axis(y, 0, t_dim(x, 0), ix_const(og));
	if (onnx_has(c, 4))
		y = t_mul(y, t_unsqueeze(by_window(&w, onnx_in_rank(c, 4, 2 + nd), og, false), 2));
	y = t_merge_axes(y, 1, 2);
	for (int i = 0; i < 2 + 2 * nd; i++)
		order[i] = i < 2 ? i : i < 2 + nd ? i + nd : i - nd;
	y = conv_contract("DeformConv", t_permute(y, order), f, nd, groups);
	onnx_set(c, 0, onnx_has(c, 3) ? conv_add_channels(y, onnx_in_rank(c, 3, 1)) : y);
}

/* ---- CausalConvWithState: a depthwise convolution along the last axis, with state */

void onnx_CausalConvWithState(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *f = onnx_in(c, 1), *keep, *y, *n;
	const char *act = onnx_attr_str(c, "activation", "none");
	int64_t k, one = 1;

	if (t_rank(x) != 3 || t_rank(f) != 3)
		onnx_fail(c, MALFORMED, "input%s and weight%s need 3 axes", shape_text(x->shape),
			shape_text(f->shape));
	if (strcmp(act, "none") && strcmp(act, "silu") && strcmp(act, "swish"))
		onnx_fail(c, MALFORMED, "activation '%s'", act);
	k = shape_dim(f->shape, 2);
	keep = ix_const(k - 1);
	if (onnx_has(c, 3))
		x = t_concat(2, (UOp *[]){ onnx_in_rank(c, 3, 3), x }, 2);
	else
		x = t_pad_axis(x, 2, keep, ix_const(0));
	y = conv_contract("CausalConvWithState", t_windows(x, 1, &k, &one, &one), f, 1,
		shape_dim(f->shape, 0));
	if (onnx_has(c, 2))
		y = conv_add_channels(y, onnx_in_rank(c, 2, 1));
	if (strcmp(act, "none")) {
		UOp *wide = onnx_wide(y);
		y = t_cast(t_mul(wide, t_sigmoid(wide)), y->dtype);
	}
	onnx_set(c, 0, y);
	n = t_dim(x, 2);
	onnx_set(c, 1, t_shrink_axis(x, 2, ix_sub(n, keep), n));
}

/* ---- TensorScatter: update[b,...,s,...] written into a cache, starting at write_indices[b] */

void onnx_TensorScatter(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *v = onnx_in(c, 1), *at[MAX_RANK], *place;
	int rank = t_rank(x), axis = onnx_attr_axis(c, "axis", -2, rank);
	const char *mode = onnx_attr_str(c, "mode", "linear");

	if (axis == 0 || t_rank(v) != rank)
		onnx_fail(c, MALFORMED, "update%s does not go into %s along axis %d",
			shape_text(v->shape), shape_text(x->shape), axis);
	place = t_iota(DT_I64, v->shape, axis);
	if (onnx_has(c, 2))
		place = t_add(place, t_along(t_cast(onnx_in_rank(c, 2, 1), DT_I64), 0, rank));
	if (!strcmp(mode, "circular"))
		place = t_op2(OP_FLOORMOD, place, t_size(DT_I64, t_dim(x, axis)));
	for (int i = 0; i < rank; i++)
		at[i] = i == axis ? place : t_iota(DT_I64, v->shape, i);
	onnx_set(c, 0, t_scatter(x, rank, at, v, "SET"));
}
