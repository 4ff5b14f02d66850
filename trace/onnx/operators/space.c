/* Shared by the ONNX operators with windows: reads attributes into a Window, and small helpers.
 *
 *     strides [2,2], auto_pad SAME_UPPER, x[1,3,5,5], k 3   →   pads [[1,1],[1,1]] */
#include "onnx/operators/space.h"

void onnx_space_ints(
	OnnxCall *c, const char *name, int nd, int64_t otherwise, int64_t least, int64_t *out)
{
	int64_t v[2 * MAX_RANK];
	int n = onnx_attr_ints(c, name, v, 2 * MAX_RANK);

	if (n > 0 && n != nd)
		onnx_fail(c, MALFORMED, "%s has %d numbers for %d axes", name, n, nd);
	for (int i = 0; i < nd; i++) {
		out[i] = n > 0 ? v[i] : otherwise;
		if (out[i] < least || out[i] > INT32_MAX)
			onnx_fail(c, MALFORMED, "%s has %lld, which is out of range", name,
				(long long)out[i]);
	}
}

UOp *onnx_in_rank(OnnxCall *c, int k, int rank)
{
	UOp *x = onnx_in(c, k);

	if (t_rank(x) != rank)
		onnx_fail(c, MALFORMED, "input %d is %s, not of %d axes", k, shape_text(x->shape),
			rank);
	return x;
}

static void explicit_pads(OnnxCall *c, Window *w)
{
	int64_t v[2 * MAX_SPACE];

	onnx_space_ints(c, "pads", 2 * w->nd, 0, INT32_MIN, v);
	for (int i = 0; i < w->nd; i++) {
		w->pad[i][0] = v[i];
		w->pad[i][1] = v[w->nd + i];
	}
}

/* Pads to ceil(n / stride) results; an odd pad goes behind (UPPER) or before (LOWER). */
static void same_pads(Window *w, UOp *x, bool upper)
{
	for (int i = 0; i < w->nd; i++) {
		int64_t reach = w->dilation[i] * (w->k[i] - 1) + 1, v;
		UOp *s = ix_const(w->stride[i]), *one = ix_const(1), *n = t_dim(x, 2 + i);
		UOp *rest = ix_mod(ix_sub(n, one), s), *half;
		UOp *total = ix_positive(ix_sub(ix_const(reach - 1), rest));
		half = ix_div(total, ix_const(2));
		if (ix_is_const(total, &v)) {
			w->pad[i][upper] = v - v / 2;
			w->pad[i][!upper] = v / 2;
		} else {
			w->more[i][upper] = ix_sub(total, half);
			w->more[i][!upper] = half;
		}
	}
}

Window onnx_window(OnnxCall *c, UOp *x, UOp *kernel)
{
	Window w = { .nd = t_rank(x) - 2 };
	const char *how = onnx_attr_str(c, "auto_pad", "NOTSET");

	if (w.nd < 1)
		onnx_fail(c, MALFORMED, "x%s has no axes for windows", shape_text(x->shape));
	if (w.nd > MAX_SPACE)
		onnx_fail(c, UNSUPPORTED, "windows over %d axes, more than %d", w.nd, MAX_SPACE);
	if (kernel && t_rank(kernel) != t_rank(x))
		onnx_fail(c, MALFORMED, "x%s and w%s differ in rank", shape_text(x->shape),
			shape_text(kernel->shape));
	if (!kernel && !onnx_attr_has(c, "kernel_shape"))
		onnx_fail(c, MALFORMED, "no kernel_shape");
	onnx_space_ints(c, "kernel_shape", w.nd, 1, 1, w.k);
	for (int i = 0; kernel && i < w.nd; i++)
		w.k[i] = shape_dim(kernel->shape, 2 + i);
	onnx_space_ints(c, "strides", w.nd, 1, 1, w.stride);
	onnx_space_ints(c, "dilations", w.nd, 1, 1, w.dilation);
	if (!strncmp(how, "SAME_", 5))
		same_pads(&w, x, !strcmp(how, "SAME_UPPER"));
	else if (strcmp(how, "VALID"))
		explicit_pads(c, &w);
	return w;
}

Window onnx_fixed_window(OnnxCall *c, UOp *x, UOp *kernel)
{
	Window w = onnx_window(c, x, kernel);

	for (int i = 0; i < w.nd; i++)
		if (w.more[i][0] || w.more[i][1])
			onnx_fail(c, UNSUPPORTED, "auto_pad SAME along axis %d of %s, whose size "
				"is not known", 2 + i, shape_text(x->shape));
	return w;
}

UOp *onnx_convolution(OnnxCall *c, UOp *x, UOp *f)
{
	Window w = onnx_window(c, x, f);
	int64_t groups = onnx_attr_int(c, "group", 1);

	if (groups < 1)
		onnx_fail(c, MALFORMED, "group is %lld", (long long)groups);
	return conv_contract(onnx_op(c), space_windows(&w, x, w.pad, NULL), f, w.nd, groups);
}

int64_t onnx_steps(OnnxCall *c, UOp *x, int axis)
{
	int64_t n = shape_dim(x->shape, axis);

	if (n < 1)
		onnx_fail(c, UNSUPPORTED, "no steps at all");
	if (n > 1 << 14)
		onnx_fail(c, UNSUPPORTED, "%lld steps, more than %d to unroll", (long long)n,
			1 << 14);
	return n;
}

UOp *onnx_wide(UOp *x)
{
	x = t_float(x);
	return t_cast(x, dtype_acc(x->dtype));
}

UOp *onnx_channels(UOp *p, int rank)
{
	return t_rank(p) == 1 ? t_along(p, 1, rank) : p;
}
