/* Convolutions over the last axes of x[n,c,...]: windows are made by movement ops alone, so a
 * convolution is a contraction like any other.
 *
 *     conv2d(x[n,c,h,w], f[o,c/g,kh,kw])   →   REDUCE ADD over (c/g, kh, kw) of windows * f */
#include "library/library.h"
#include <math.h>

/* One number per axis: given as a list, or one number for all. */
void space_numbers(Args *a, int k, int nd, int64_t *out, int64_t least)
{
	int n = arg_int_list(a, k, out, nd);

	if (n != 1 && n != nd)
		die(MALFORMED, "%s: %d numbers for %d axes", a->fn->name, n, nd);
	for (int i = n; i < nd; i++)
		out[i] = out[0];
	for (int i = 0; i < nd; i++)
		if (out[i] < least || out[i] > INT32_MAX)
			die(MALFORMED, "%s: %lld is out of range", a->fn->name, (long long)out[i]);
}

/* padding: one number, one per axis, or before and after for each axis in turn */
void space_padding(Args *a, int k, int nd, int64_t (*pad)[2])
{
	int64_t v[2 * MAX_SPACE];
	int n = arg_int_list(a, k, v, 2 * nd);

	if (n != 1 && n != nd && n != 2 * nd)
		die(MALFORMED, "%s: padding has %d numbers for %d axes", a->fn->name, n, nd);
	for (int i = 0; i < nd; i++) {
		pad[i][0] = n == 2 * nd ? v[2 * i] : v[n == 1 ? 0 : i];
		pad[i][1] = n == 2 * nd ? v[2 * i + 1] : pad[i][0];
		for (int s = 0; s < 2; s++)
			if (pad[i][s] < 0 || pad[i][s] > INT32_MAX)
				die(MALFORMED, "%s: padding %lld is out of range", a->fn->name,
					(long long)pad[i][s]);
	}
}

/* The last nd axes padded (cut, where negative) by numbers, with value. */
UOp *space_pad(UOp *x, int nd, int64_t (*pad)[2], UOp *value)
{
	UOp *grow[MAX_RANK][2], *keep[MAX_RANK][2];
	int lead = t_rank(x) - nd;

	for (int i = 0; i < t_rank(x); i++) {
		int64_t before = i < lead ? 0 : pad[i - lead][0],
			after = i < lead ? 0 : pad[i - lead][1];
		grow[i][0] = ix_const(before > 0 ? before : 0);
		grow[i][1] = ix_const(after > 0 ? after : 0);
		keep[i][0] = ix_const(before < 0 ? -before : 0);
		keep[i][1] = ix_add(t_dim(x, i), ix_const(after < 0 ? after : 0));
	}
	x = t_shrink(x, keep);
	return value ? t_pad_value(x, grow, value) : t_pad(x, grow);
}

static void check_rank(Args *a, UOp *x, int rank)
{
	if (t_rank(x) != rank)
		die(MALFORMED, "%s: x has %d axes, needs %d", a->fn->name, t_rank(x), rank);
}

/* contracts x[n,c,o...,k...] and f[o,c/g,k...] to [n,o,o...] */
UOp *conv_contract(const char *who, UOp *x, UOp *f, int nd, int64_t groups)
{
	int axes[MAX_RANK], lead = 2;
	int64_t oc = shape_dim(f->shape, 0);
	UOp *g = ix_const(groups), *og = ix_const(oc / groups), *dim[MAX_RANK];

	if (oc % groups || !size_equal(t_dim(x, 1), ix_mul(t_dim(f, 1), g)))
		die(MALFORMED, "%s: x%s and w%s do not fit with %lld groups", who,
			shape_text(x->shape), shape_text(f->shape), (long long)groups);
	/* x: [n, g, 1, o..., c/g, k...] */
	x = t_split_axis(x, 1, g, t_dim(f, 1));
	axes[0] = 0;
	axes[1] = 1;
	for (int i = 0; i < nd; i++)
		axes[lead + i] = 3 + i;
	axes[lead + nd] = 2;
	for (int i = 0; i < nd; i++)
		axes[lead + nd + 1 + i] = 3 + nd + i;
	x = t_unsqueeze(t_permute(x, axes), 2);
	/* f: [g, o/g, 1..., c/g, k...] */
	dim[0] = g;
	dim[1] = og;
	for (int i = 0; i < nd; i++)
		dim[2 + i] = ix_const(1);
	for (int i = 0; i <= nd; i++)
		dim[2 + nd + i] = t_dim(f, 1 + i);
	f = t_reshapev(f, 3 + 2 * nd, dim);
	for (int i = 0; i <= nd; i++)
		axes[i] = 3 + nd + i;
	return t_merge_axes(t_reduce(OP_ADD, t_mul(x, f), nd + 1, axes, false), 1, 2);
}

/* b[o] along axis 1 of y[n,o,...] */
UOp *conv_add_channels(UOp *y, UOp *b)
{
	return t_add(y, t_along(b, 1, t_rank(y)));
}

static void kernel_size(UOp *f, int nd, int64_t *k)
{
	for (int i = 0; i < nd; i++)
		k[i] = shape_dim(f->shape, 2 + i);
}

static Value conv(Args *a, int nd)
{
	int64_t stride[MAX_SPACE], pad[MAX_SPACE][2], dilation[MAX_SPACE], k[MAX_SPACE],
		groups = arg_int(a, 6);
	UOp *x = arg_tensor(a, 0), *f = arg_tensor(a, 1), *y;

	check_rank(a, x, nd + 2);
	if (t_rank(f) != nd + 2 || groups < 1)
		die(MALFORMED, "%s: w has %d axes, needs %d, and 1 group or more", a->fn->name,
			t_rank(f), nd + 2);
	space_numbers(a, 3, nd, stride, 1);
	space_padding(a, 4, nd, pad);
	space_numbers(a, 5, nd, dilation, 1);
	kernel_size(f, nd, k);
	y = conv_contract(a->fn->name,
		t_windows(space_pad(x, nd, pad, NULL), nd, k, stride, dilation), f, nd, groups);
	return v_tensor(arg_given(a, 2) ? conv_add_channels(y, arg_tensor(a, 2)) : y);
}

Value fn_conv1d(Args *a) { return conv(a, 1); }
Value fn_conv2d(Args *a) { return conv(a, 2); }
Value fn_conv3d(Args *a) { return conv(a, 3); }

/* Puts stride - 1 zeros between the elements of an axis: [s] → [s,1] → [s,stride] → [s*stride] →
 * the last ones cut off */
static UOp *spread(UOp *x, int axis, int64_t stride)
{
	if (stride == 1)
		return x;
	x = t_pad_axis(t_unsqueeze(x, axis + 1), axis + 1, ix_const(0), ix_const(stride - 1));
	x = t_merge_axes(x, axis, 2);
	return t_shrink_axis(x, axis, ix_const(0), ix_sub(t_dim(x, axis), ix_const(stride - 1)));
}

/* The weight f[c,o/g,k...] for an ordinary convolution: [o,c/g,k...] with the window reversed */
static UOp *reversed_window(UOp *f, int nd, int64_t groups)
{
	int axes[MAX_SPACE];

	f = t_split_axis(f, 0, ix_const(groups), ix_div(t_dim(f, 0), ix_const(groups)));
	f = t_merge_axes(t_transpose(f, 1, 2), 0, 2);
	for (int i = 0; i < nd; i++)
		axes[i] = 2 + i;
	return t_flip(f, nd, axes);
}

static UOp *by_spreading(
	const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups)
{
	int64_t pad[MAX_SPACE][2], one[MAX_SPACE] = { 1, 1, 1 };

	for (int i = 0; i < w->nd; i++) {
		int64_t reach = w->dilation[i] * (w->k[i] - 1);
		x = spread(x, 2 + i, w->stride[i]);
		pad[i][0] = reach - w->pad[i][0];
		pad[i][1] = reach - w->pad[i][1] + more[i];
	}
	x = t_windows(space_pad(x, w->nd, pad, NULL), w->nd, w->k, one, w->dilation);
	return conv_contract(who, x, reversed_window(f, w->nd, groups), w->nd, groups);
}

/* Interleaves the phases r of each axis: y[n,o*r...,j...] as [n,o,j*r...] */
static UOp *interleaved(UOp *y, UOp *channels, const Window *w)
{
	UOp *dim[MAX_RANK];
	int order[MAX_RANK], nd = w->nd;

	dim[0] = t_dim(y, 0);
	dim[1] = channels;
	order[0] = 0;
	order[1] = 1;
	for (int i = 0; i < nd; i++) {
		dim[2 + i] = ix_const(w->stride[i]);
		dim[2 + nd + i] = t_dim(y, 2 + i);
		order[2 + 2 * i] = 2 + nd + i;
		order[3 + 2 * i] = 2 + i;
	}
	y = t_permute(t_reshapev(y, 2 + 2 * nd, dim), order);
	for (int i = 0; i < nd; i++)
		y = t_merge_axes(y, 2 + i, 2);
	return y;
}

/* The same without multiplying by those zeros: place j * stride + r of the result uses the weights
 * r, r + stride, …, so each phase r is a channel of its own, with a window of ceil(k / stride)
 * elements. */
static UOp *by_phases(
	const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups)
{
	int64_t q[MAX_SPACE], pad[MAX_SPACE][2], cut[MAX_SPACE][2], one[MAX_SPACE] = { 1, 1, 1 };
	UOp *channels = ix_mul(t_dim(f, 1), ix_const(groups));
	int order[MAX_RANK] = { 0, 1 }, nd = w->nd;

	for (int i = 0; i < nd; i++) {
		int64_t s = w->stride[i];
		q[i] = (w->k[i] + s - 1) / s;
		f = t_pad_axis(f, 2 + 2 * i, ix_const(0), ix_const(q[i] * s - w->k[i]));
		f = t_split_axis(f, 2 + 2 * i, ix_const(q[i]), ix_const(s));
		order[2 + i] = 3 + 2 * i;
		order[2 + nd + i] = 2 + 2 * i;
		pad[i][0] = pad[i][1] = q[i] - 1;
		cut[i][0] = -w->pad[i][0];
		cut[i][1] = w->k[i] + more[i] - q[i] * s - w->pad[i][1];
	}
	f = t_merge_axes(t_permute(f, order), 1, 1 + nd);
	x = t_windows(space_pad(x, nd, pad, NULL), nd, q, one, one);
	x = conv_contract(who, x, reversed_window(f, nd, groups), nd, groups);
	return space_pad(interleaved(x, channels, w), nd, cut, NULL);
}

UOp *conv_transposed(
	const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups)
{
	bool strided = false, dense = true;

	if (t_rank(f) != w->nd + 2 || groups < 1 || shape_dim(f->shape, 0) % groups)
		die(MALFORMED, "%s: w%s does not fit %lld groups", who, shape_text(f->shape),
			(long long)groups);
	for (int i = 0; i < w->nd; i++) {
		strided |= w->stride[i] > 1;
		dense &= w->dilation[i] == 1;
	}
	return strided && dense ? by_phases(who, x, f, w, more, groups)
				: by_spreading(who, x, f, w, more, groups);
}

static Value conv_transpose(Args *a, int nd)
{
	Window w = { .nd = nd };
	int64_t more[MAX_SPACE];
	UOp *x = arg_tensor(a, 0), *f = arg_tensor(a, 1), *y;

	check_rank(a, x, nd + 2);
	space_numbers(a, 3, nd, w.stride, 1);
	space_padding(a, 4, nd, w.pad);
	space_numbers(a, 5, nd, w.dilation, 1);
	space_numbers(a, 6, nd, more, 0);
	if (t_rank(f) == nd + 2)
		kernel_size(f, nd, w.k);
	y = conv_transposed(a->fn->name, x, f, &w, more, arg_int(a, 7));
	return v_tensor(arg_given(a, 2) ? conv_add_channels(y, arg_tensor(a, 2)) : y);
}

Value fn_conv_transpose1d(Args *a) { return conv_transpose(a, 1); }
Value fn_conv_transpose2d(Args *a) { return conv_transpose(a, 2); }
Value fn_conv_transpose3d(Args *a) { return conv_transpose(a, 3); }
