/* ONNX operators that move elements: movement ops alone, which cost nothing by themselves.
 *
 *     Reshape to [0, -1]   →   RESHAPE, x's size where 0 stands and what is left for -1
 *     DepthToSpace, SpaceToDepth, Tile   →   RESHAPE, PERMUTE, EXPAND
 *
 * Sizes, axes and bounds are attributes in old versions and inputs in new ones, which may be
 * size expressions. */
#include "onnx/onnx.h"

static bool is_size(UOp *size, int64_t want)
{
	int64_t v;

	return ix_is_const(size, &v) && v == want;
}

/* the library's function of a tensor and a list of sizes */
static UOp *with_sizes(const char *fn, UOp *x, int n, UOp *const *dim)
{
	Value *at = arena_alloc((n + 1) * sizeof *at);

	for (int i = 0; i < n; i++)
		at[i] = v_size(dim[i]);
	return onnx_lib(fn, 2, (Value[]){ v_tensor(x), v_list(n, at) }, 0, NULL, NULL);
}

/* sizes from an attribute (before version `since`) or from input k */
static int sizes(OnnxCall *c, const char *attr, int k, int since, UOp **dim)
{
	int64_t v[MAX_RANK];
	int n;

	if (onnx_version(c) >= since)
		return onnx_known_sizes(c, k, dim);
	n = onnx_attr_ints(c, attr, v, MAX_RANK);
	for (int i = 0; i < n; i++)
		dim[i] = ix_const(v[i]);
	return n;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

void onnx_Reshape(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *dim[MAX_RANK];
	int n = sizes(c, "shape", 1, 5, dim);

	if (n < 0)
		onnx_fail(c, MALFORMED, "no attribute shape");
	for (int i = 0; i < n && !onnx_attr_int(c, "allowzero", 0); i++)
		if (is_size(dim[i], 0)) {
			if (i >= t_rank(x))
				onnx_fail(c, MALFORMED, "size %d is 0, and %s has no such axis", i,
					shape_text(x->shape));
			dim[i] = t_dim(x, i);
		}
	onnx_set(c, 0, with_sizes("reshape", x, n, dim));
}

void onnx_Flatten(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *part[2] = { ix_const(1), ix_const(1) };
	int64_t axis = onnx_attr_int(c, "axis", 1);
	int rank = t_rank(x);

	if (axis < -rank || axis > rank)
		onnx_fail(c, MALFORMED, "axis %lld is outside rank %d", (long long)axis, rank);
	axis = axis < 0 ? axis + rank : axis;
	for (int i = 0; i < rank; i++)
		part[i >= axis] = ix_mul(part[i >= axis], t_dim(x, i));
	onnx_set(c, 0, t_reshapev(x, 2, part));
}

void onnx_Transpose(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int64_t perm[MAX_RANK];
	int axes[MAX_RANK], rank = t_rank(x), n = onnx_attr_ints(c, "perm", perm, MAX_RANK);

	for (int i = 0; i < rank && n < 0; i++)
		axes[i] = rank - 1 - i;
	if (n >= 0 && onnx_axes(c, n, perm, rank, axes) != rank)
		onnx_fail(c, MALFORMED, "perm has %d axes, and %s has %d", n,
			shape_text(x->shape), rank);
	onnx_set(c, 0, t_permute(x, axes));
}

void onnx_Squeeze(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *dim[MAX_RANK];
	int axes[MAX_RANK], n = onnx_axes_given(c, "axes", 1, t_rank(x), axes), rank = 0;
	bool drop[MAX_RANK] = { false };

	for (int i = 0; i < n; i++) {
		drop[axes[i]] = true;
		if (!size_equal(t_dim(x, axes[i]), ix_const(1)))
			onnx_fail(c, MALFORMED, "axis %d of %s is not 1", axes[i],
				shape_text(x->shape));
	}
	for (int i = 0; i < t_rank(x); i++)
		if (n < 0 ? !is_size(t_dim(x, i), 1) : !drop[i])
			dim[rank++] = t_dim(x, i);
	onnx_set(c, 0, t_reshapev(x, rank, dim));
}

/* The axes are places in the result: their number is needed before they can be checked. */
static int new_axes(OnnxCall *c, UOp *x, int *axes)
{
	int64_t v[MAX_RANK];
	int n = onnx_attr_ints(c, "axes", v, MAX_RANK);

	if (n < 0)
		n = onnx_known_ints(c, 1, v, MAX_RANK);
	if (t_rank(x) + n > MAX_RANK)
		onnx_fail(c, UNSUPPORTED, "rank %d is more than %d", t_rank(x) + n, MAX_RANK);
	return onnx_axes(c, n, v, t_rank(x) + n, axes);
}

void onnx_Unsqueeze(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *dim[MAX_RANK];
	int axes[MAX_RANK], n = new_axes(c, x, axes), rank = t_rank(x) + n, from = 0;
	bool added[MAX_RANK] = { false };

	for (int i = 0; i < n; i++)
		added[axes[i]] = true;
	for (int i = 0; i < rank; i++)
		dim[i] = added[i] ? ix_const(1) : t_dim(x, from++);
	onnx_set(c, 0, t_reshapev(x, rank, dim));
}

/* Either side may have the 1 that the other stretches. */
void onnx_Expand(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *dim[MAX_RANK];
	int n = onnx_known_sizes(c, 1, dim);
	const Shape *s = shape_broadcast(x->shape, shape_new(n, dim));

	if (!s)
		onnx_fail(c, MALFORMED, "shapes %s and %s do not match", shape_text(x->shape),
			shape_text(shape_new(n, dim)));
	onnx_set(c, 0, t_expand_to(x, s));
}

/* Version 1 repeats one axis, `tiles` times. */
void onnx_Tile(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *times[MAX_RANK];
	int n = t_rank(x), axis;
	int64_t v;

	if (onnx_version(c) >= 6) {
		n = onnx_known_sizes(c, 1, times);
		if (n != t_rank(x))
			onnx_fail(c, MALFORMED, "%d repeats for rank %d", n, t_rank(x));
	} else {
		v = onnx_known_int(c, 2);
		onnx_axes(c, 1, &v, n, &axis);
		for (int i = 0; i < n; i++)
			times[i] = ix_const(i == axis ? onnx_known_int(c, 1) : 1);
	}
	onnx_set(c, 0, n ? with_sizes("tile", x, n, times) : x);
}

void onnx_Concat(OnnxCall *c)
{
	int n = onnx_nin(c), axis;
	UOp **x = arena_alloc((n + 1) * sizeof *x);

	if (n == 0)
		onnx_fail(c, MALFORMED, "nothing to concatenate");
	for (int i = 0; i < n; i++)
		x[i] = onnx_in(c, i);
	axis = onnx_attr_axis(c, "axis", 1, t_rank(x[0]));
	onnx_set(c, 0, t_concat(n, x, axis));
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* The sizes of the n parts: given, or equal ones, of which the last may be less. */
static void part_sizes(OnnxCall *c, int n, UOp *size, UOp **part)
{
	const int64_t *v;
	size_t m;
	UOp *len, *left = size;
	Array a;

	v = onnx_attr_int_list(c, "split", &m);
	if (!v && onnx_has(c, 1)) {
		UOp *s = onnx_in(c, 1);
		if (onnx_try_sizes(s, n, part, &m)) {
			if (m != (size_t)n)
				onnx_fail(c, MALFORMED, "%zu sizes for %d outputs", m, n);
			return;
		}
		a = onnx_known(c, 1);
		onnx_fail(c, MALFORMED, "%lld sizes for %d outputs", (long long)array_count(&a), n);
	}
	if (v && m != (size_t)n)
		onnx_fail(c, MALFORMED, "%zu sizes for %d outputs", m, n);
	len = ix_div(ix_add(size, ix_const(n - 1)), ix_const(n));
	for (int i = 0; i < n; i++) {
		part[i] = v ? ix_const(v[i]) : i < n - 1 ? len : left;
		left = ix_sub(left, part[i]);
	}
}

void onnx_Split(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *at = ix_const(0), **part;
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x)), n = onnx_nout(c);
	int64_t want = onnx_attr_int(c, "num_outputs", n);

	if (want != n || n < 1)
		onnx_fail(c, MALFORMED, "num_outputs is %lld, and there are %d outputs",
			(long long)want, n);
	part = arena_alloc(n * sizeof *part);
	part_sizes(c, n, t_dim(x, axis), part);
	for (int i = 0; i < n; i++) {
		UOp *end = ix_add(at, part[i]);
		if (onnx_wants(c, i))
			onnx_set(c, i, t_shrink_axis(x, axis, at, end));
		at = end;
	}
	if (!size_equal(at, t_dim(x, axis)))
		onnx_fail(c, MALFORMED, "the parts do not make up axis %d of %s", axis,
			shape_text(x->shape));
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Bounds by attribute (before version 10) or input k, each a size or data. */
static int slice_bounds(OnnxCall *c, const char *attr, int k, SliceBound *b)
{
	UOp *u, *e;
	int64_t v[MAX_RANK], n;
	size_t one;

	if (onnx_version(c) < 10) {
		n = onnx_attr_ints(c, attr, v, MAX_RANK);
		for (int i = 0; i < n; i++)
			b[i] = (SliceBound){ .size = ix_const(v[i]) };
		return n;
	}
	u = onnx_in(c, k);
	if (t_rank(u) != 1 || !dtype_int(u->dtype) || !ix_is_const(t_dim(u, 0), &n) || n > MAX_RANK)
		onnx_fail(c, MALFORMED, "%s are %s%s", attr, dtype_name(u->dtype), shape_text(u->shape));
	for (int i = 0; i < n; i++) {
		e = t_reshape(t_shrink_axis(u, 0, ix_const(i), ix_const(i + 1)), shape_scalar());
		b[i] = (SliceBound){ .data = e };
		if (onnx_try_sizes(e, 1, &b[i].size, &one) && one == 1)
			b[i].data = NULL;
	}
	return n;
}

void onnx_Slice(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	SliceBound start[MAX_RANK], stop[MAX_RANK];
	int axes[MAX_RANK], n = slice_bounds(c, "starts", 1, start), m = slice_bounds(c, "ends", 2, stop);
	int64_t steps[MAX_RANK];
	int nax = onnx_axes_given(c, "axes", 3, t_rank(x), axes), nst = -1;

	if (onnx_version(c) >= 10 && onnx_has(c, 4))
		nst = onnx_known_ints(c, 4, steps, MAX_RANK);
	for (int i = 0; i < n && nax < 0; i++)
		axes[i] = i;
	if (n < 0 || m != n || (nax >= 0 && nax != n) || (nst >= 0 && nst != n) || n > t_rank(x))
		onnx_fail(c, MALFORMED, "starts, ends, axes and steps differ in length");
	for (int i = 0; i < n; i++) {
		if (nst >= 0 && steps[i] == 0)
			onnx_fail(c, MALFORMED, "a step of 0");
		int64_t step = nst >= 0 ? steps[i] : 1;
		if (start[i].data || stop[i].data)
			x = t_slice_data(x, axes[i], start[i], stop[i], step);
		else
			x = t_slice_bounded(x, axes[i], start[i].size, stop[i].size, step);
	}
	onnx_set(c, 0, x);
}

/* The middle of what is longer; zeros on both sides of what is shorter, the odd one behind. */
static UOp *center(UOp *x, int axis, UOp *want)
{
	UOp *n = t_dim(x, axis), *two = ix_const(2), *cut, *pad;

	if (n == want)
		return x;
	if (ix_prove_le(want, n)) {
		cut = ix_div(ix_sub(n, want), two);
		return t_shrink_axis(x, axis, cut, ix_add(cut, want));
	}
	pad = ix_sub(want, n);
	cut = ix_div(pad, two);
	return t_pad_axis(x, axis, cut, ix_sub(pad, cut));
}

void onnx_CenterCropPad(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *want[MAX_RANK];
	int n = onnx_known_sizes(c, 1, want), axes[MAX_RANK], m = t_rank(x);
	int64_t v[MAX_RANK];

	for (int i = 0; i < m; i++)
		axes[i] = i;
	if (onnx_attr_has(c, "axes")) {
		m = onnx_attr_ints(c, "axes", v, MAX_RANK);
		onnx_axes(c, m, v, t_rank(x), axes);
	}
	if (n != m)
		onnx_fail(c, MALFORMED, "%d sizes for %d axes", n, m);
	for (int i = 0; i < n; i++)
		x = center(x, axes[i], want[i]);
	onnx_set(c, 0, x);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static UOp *block_in(OnnxCall *c, UOp **block, bool *crd)
{
	UOp *x = onnx_in(c, 0);
	int64_t b = onnx_attr_int(c, "blocksize", 0);
	const char *mode = onnx_attr_str(c, "mode", "DCR");

	*crd = !strcmp(mode, "CRD");
	if (!*crd && strcmp(mode, "DCR"))
		onnx_fail(c, MALFORMED, "mode is DCR or CRD, not \"%s\"", mode);
	if (t_rank(x) != 4)
		onnx_fail(c, MALFORMED, "shape %s is not [n,c,h,w]", shape_text(x->shape));
	if (b < 1 || b > 1 << 20)
		onnx_fail(c, MALFORMED, "blocksize is %lld", (long long)b);
	*block = ix_const(b);
	return x;
}

static UOp *part_of(OnnxCall *c, UOp *size, UOp *by)
{
	if (!size_equal(ix_mul(ix_div(size, by), by), size))
		onnx_fail(c, MALFORMED, "blocksize does not divide the shape");
	return ix_div(size, by);
}

/* [n, b, b, c, h, w] (CRD: [n, c, b, b, h, w]) → [n, c, h, b, w, b] */
void onnx_DepthToSpace(OnnxCall *c)
{
	bool crd;
	UOp *b, *x = block_in(c, &b, &crd), *n = t_dim(x, 0), *h = t_dim(x, 2), *w = t_dim(x, 3);
	UOp *depth = part_of(c, t_dim(x, 1), ix_mul(b, b));

	if (crd)
		x = t_permute(t_reshapev(x, 6, (UOp *[]){ n, depth, b, b, h, w }),
			(int[]){ 0, 1, 4, 2, 5, 3 });
	else
		x = t_permute(t_reshapev(x, 6, (UOp *[]){ n, b, b, depth, h, w }),
			(int[]){ 0, 3, 4, 1, 5, 2 });
	onnx_set(c, 0, t_reshapev(x, 4, (UOp *[]){ n, depth, ix_mul(h, b), ix_mul(w, b) }));
}

/* [n, c, h, b, w, b] → [n, b, b, c, h, w], or [n, c, b, b, h, w] */
void onnx_SpaceToDepth(OnnxCall *c)
{
	bool crd;
	UOp *b, *x = block_in(c, &b, &crd), *n = t_dim(x, 0), *depth = t_dim(x, 1);
	UOp *h = part_of(c, t_dim(x, 2), b), *w = part_of(c, t_dim(x, 3), b);

	x = t_reshapev(x, 6, (UOp *[]){ n, depth, h, b, w, b });
	x = crd ? t_permute(x, (int[]){ 0, 1, 3, 5, 2, 4 })
		: t_permute(x, (int[]){ 0, 3, 5, 1, 2, 4 });
	onnx_set(c, 0, t_reshapev(x, 4, (UOp *[]){ n, ix_mul(depth, ix_mul(b, b)), h, w }));
}
