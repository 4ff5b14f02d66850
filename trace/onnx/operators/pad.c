/* Pad in its four modes, Col2Im and ReverseSequence.
 *
 *     Pad mode=reflect   →   GATHER along each padded axis at computed places
 *     Col2Im             →   SCATTER ADD of the columns into an image of zeros */
#include "onnx/onnx.h"

/* ---- pad ------------------------------------------------------------------------------------- */

static int pad_list(OnnxCall *c, UOp **pad)
{
	const char *attr = onnx_version(c) < 2 ? "paddings" : "pads";
	int64_t v[2 * MAX_RANK];
	int n;

	if (onnx_version(c) >= 11)
		return onnx_bound_sizes(c, 1, 2 * MAX_RANK, pad);
	n = onnx_attr_ints(c, attr, v, 2 * MAX_RANK);
	if (n < 0)
		onnx_fail(c, MALFORMED, "no attribute %s", attr);
	for (int i = 0; i < n; i++)
		pad[i] = ix_const(v[i]);
	return n;
}

/* before and after for each axis of x, in the form of the library's pad */
static Value pad_pairs(OnnxCall *c, UOp *x)
{
	UOp *pad[2 * MAX_RANK];
	int axes[MAX_RANK], rank = t_rank(x), n = pad_list(c, pad), m = -1;
	Value *pair = arena_alloc((rank + 1) * sizeof *pair);

	if (onnx_version(c) >= 18 && onnx_has(c, 3))
		m = onnx_axes_given(c, "axes", 3, rank, axes);
	if (n != 2 * (m < 0 ? rank : m))
		onnx_fail(c, MALFORMED, "%d pads for %d axes", n, m < 0 ? rank : m);
	for (int i = 0; i < rank; i++) {
		Value *zeros = arena_alloc(2 * sizeof *zeros);
		zeros[0] = zeros[1] = v_int(0);
		pair[i] = v_list(2, zeros);
	}
	for (int i = 0; i < n / 2; i++)
		for (int side = 0; side < 2; side++)
			pair[m < 0 ? i : axes[i]].at[side] = v_size(pad[side * n / 2 + i]);
	return v_list(rank, pair);
}

void onnx_Pad(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	Value in[2] = { v_tensor(x) };
	Value kw[2] = { v_str(onnx_attr_str(c, "mode", "constant")), v_int(0) };

	if (t_rank(x) == 0) {
		onnx_set(c, 0, x);
		return;
	}
	in[1] = pad_pairs(c, x);
	if (onnx_version(c) < 11)
		kw[1] = v_float(onnx_attr_float(c, "value", 0));
	else if (onnx_has(c, 2))
		kw[1] = v_tensor(t_reshape(onnx_in(c, 2), shape_scalar()));
	onnx_set(c, 0, onnx_lib("pad", 2, in, 2, (const char *[]){ "mode", "value" }, kw));
}

/* ---- columns to an image --------------------------------------------------------------------- */

typedef struct {
	int nd;
	int64_t image[MAX_RANK], block[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK];
	int64_t pad[2 * MAX_RANK], places[MAX_RANK];
} Fold;

static void fold_list(OnnxCall *c, const char *name, int n, int64_t otherwise, int64_t *out)
{
	int have = onnx_attr_ints(c, name, out, n);

	if (have >= 0 && have != n)
		onnx_fail(c, MALFORMED, "%s has %d numbers, not %d", name, have, n);
	for (int i = 0; i < n && have < 0; i++)
		out[i] = otherwise;
}

static void fold_numbers(OnnxCall *c, Fold *f)
{
	int64_t span;

	f->nd = onnx_known_ints(c, 1, f->image, (MAX_RANK - 2) / 2);
	if (onnx_known_ints(c, 2, f->block, (MAX_RANK - 2) / 2) != f->nd || f->nd < 1)
		onnx_fail(c, MALFORMED, "image_shape and block_shape differ in length");
	fold_list(c, "strides", f->nd, 1, f->stride);
	fold_list(c, "dilations", f->nd, 1, f->dilation);
	fold_list(c, "pads", 2 * f->nd, 0, f->pad);
	for (int i = 0; i < f->nd; i++) {
		int64_t p = f->pad[i], q = f->pad[f->nd + i];
		if (f->image[i] < 1 || f->block[i] < 1 || f->stride[i] < 1 || f->dilation[i] < 1
			|| p < 0 || q < 0 || !add_ok(f->image[i], p, &span)
			|| !add_ok(span, q, &span)
			|| !mul_ok(f->block[i] - 1, f->dilation[i], &p) || (span -= p + 1) < 0)
			onnx_fail(c, MALFORMED, "the block does not fit the image");
		f->places[i] = span / f->stride[i] + 1;
	}
}

/* The place in the image of element k of the block at place l, along one axis: [k..., l...] */
static UOp *fold_place(const Fold *f, int axis)
{
	UOp *dim[MAX_RANK], *k, *l;

	for (int i = 0; i < 2 * f->nd; i++)
		dim[i] = ix_const(i == axis ? f->block[axis] : 1);
	k = t_reshapev(t_arange(DT_I64, ix_const(f->block[axis])), 2 * f->nd, dim);
	for (int i = 0; i < 2 * f->nd; i++)
		dim[i] = ix_const(i == f->nd + axis ? f->places[axis] : 1);
	l = t_reshapev(t_arange(DT_I64, ix_const(f->places[axis])), 2 * f->nd, dim);
	return t_addc(t_add(t_mulc(k, f->dilation[axis]), t_mulc(l, f->stride[axis])),
		-f->pad[axis]);
}

/* Elements on the padding lie outside the image and are dropped. */
void onnx_Col2Im(OnnxCall *c)
{
	Fold f;
	UOp *x = onnx_in(c, 0), *dim[MAX_RANK], *at[MAX_RANK], *n, *depth, *block = ix_const(1), *y;

	fold_numbers(c, &f);
	if (t_rank(x) != 3)
		onnx_fail(c, MALFORMED, "shape %s is not [n,c*block,places]", shape_text(x->shape));
	for (int i = 0; i < f.nd; i++)
		block = ix_mul(block, ix_const(f.block[i]));
	n = dim[0] = t_dim(x, 0);
	depth = dim[1] = ix_div(t_dim(x, 1), block);
	for (int i = 0; i < f.nd; i++) {
		dim[2 + i] = ix_const(f.block[i]);
		dim[2 + f.nd + i] = ix_const(f.places[i]);
		at[i] = fold_place(&f, i);
	}
	x = t_reshapev(x, 2 + 2 * f.nd, dim);
	for (int i = 0; i < 2; i++)
		x = t_move_axis(x, 0, t_rank(x) - 1);
	for (int i = 0; i < f.nd; i++)
		dim[i] = ix_const(f.image[i]);
	dim[f.nd] = n;
	dim[f.nd + 1] = depth;
	y = t_full(shape_new(f.nd + 2, dim), t_num(x->dtype, 0));
	y = t_scatter(y, f.nd, at, x, "ADD");
	for (int i = 0; i < 2; i++)
		y = t_move_axis(y, t_rank(y) - 1, 0);
	onnx_set(c, 0, y);
}

/* ---- reversed sequences ---------------------------------------------------------------------- */

/* Place t of sequence b reads place len[b]-1-t while t < len[b]. */
void onnx_ReverseSequence(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *len = t_cast(onnx_in(c, 1), DT_I64), *t, *at[2];
	int rank = t_rank(x), batch = onnx_attr_axis(c, "batch_axis", 1, rank),
		time = onnx_attr_axis(c, "time_axis", 0, rank), from = time + (time < batch);

	if (batch == time || t_rank(len) != 1)
		onnx_fail(c, MALFORMED, "axes or sequence_lens do not fit %s",
			shape_text(x->shape));
	x = t_move_axis(t_move_axis(x, batch, 0), from, 1);
	len = t_unsqueeze(len, 1);
	t = t_unsqueeze(t_arange(DT_I64, t_dim(x, 1)), 0);
	at[0] = t_unsqueeze(t_arange(DT_I64, t_dim(x, 0)), 1);
	at[1] = t_where(t_lt(t, len), t_sub(t_addc(len, -1), t), t);
	x = t_gather(x, 2, at);
	onnx_set(c, 0, t_move_axis(t_move_axis(x, 1, from), 0, batch));
}
