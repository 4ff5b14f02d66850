/* ONNX operators that move elements: movement ops alone, which cost nothing.
 *
 *     Reshape to [0, -1]   →   RESHAPE; 0 takes x's size, and -1 the remaining elements
 *     Split, Slice         →   SHRINK
 *
 * Sizes, axes and bounds are attributes in old versions and inputs in new ones; the inputs may be
 * size expressions. */
#include "onnx/onnx.h"

static bool is_size(UOp *size, int64_t want)
{
	int64_t v;

	return ix_is_const(size, &v) && v == want;
}

/* calls a library function that takes a tensor and a list of sizes */
static UOp *with_sizes(const char *fn, UOp *x, int n, UOp *const *dim)
{
	Value *at = arena_alloc((n + 1) * sizeof *at);

	for (int i = 0; i < n; i++)
		at[i] = v_size(dim[i]);
	return onnx_lib(fn, 2, (Value[]){ v_tensor(x), v_list(n, at) }, 0, NULL, NULL);
}

/* The n elements of input k, i64 scalars; those that are known are sizes in dim, others NULL. Their
 * number has to be known. */
static int elements(OnnxCall *c, int k, UOp **value, UOp **dim)
{
	UOp *u = onnx_in(c, k);
	int64_t n;
	size_t one;

	if (!dtype_int(u->dtype) || !shape_static(u->shape, &n) || n > MAX_RANK)
		return onnx_known_sizes(c, k, dim);
	for (int i = 0; i < n; i++) {
		value[i] = t_cast(onnx_element(u, i), DT_I64);
		if (!onnx_try_sizes(value[i], 1, &dim[i], &one))
			dim[i] = NULL;
	}
	return (int)n;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static UOp *i64(int64_t v) { return const_int(DT_I64, v); }

/* Binds the sizes that data gives, where 0 is x's own size, if it counts as that, and -1 takes what
 * the others leave of x's elements. */
static void bind_sizes(UOp *x, int n, UOp **value, UOp **dim, bool zero)
{
	UOp *others = i64(1), *rest, *all = shape_count(x->shape);
	bool some = ix_prove_lt(ix_const(0), all);

	for (int i = 0; i < n; i++) {
		if (!dim[i] && zero && i < t_rank(x))
			value[i] = t_where(t_eq(value[i], i64(0)), t_size(DT_I64, t_dim(x, i)),
				value[i]);
		else if (dim[i])
			value[i] = is_size(dim[i], -1) ? i64(1) : size_tensor(dim[i]);
		others = t_mul(others, t_where(t_eq(value[i], i64(-1)), i64(1), value[i]));
	}
	rest = t_op2(OP_FLOORDIV, t_size(DT_I64, all), others);
	for (int i = 0; i < n; i++) {
		UOp *v = t_where(t_eq(value[i], i64(-1)), rest, value[i]);
		if (!dim[i])
			dim[i] = some ? t_bind("size", v, ix_const(0), all) :
				t_bind_open("size", v, n);
	}
}

void onnx_Reshape(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *value[MAX_RANK], *dim[MAX_RANK];
	bool zero = !onnx_attr_int(c, "allowzero", 0), data = false;
	int64_t v[MAX_RANK];
	int n = onnx_version(c) < 5 ? onnx_attr_ints(c, "shape", v, MAX_RANK) :
		elements(c, 1, value, dim);

	if (n < 0)
		onnx_fail(c, MALFORMED, "no attribute shape");
	for (int i = 0; i < n; i++) {
		dim[i] = onnx_version(c) < 5 ? ix_const(v[i]) : dim[i];
		data |= !dim[i];
		if (!zero || !dim[i] || !is_size(dim[i], 0))
			continue;
		if (i >= t_rank(x))
			onnx_fail(c, MALFORMED, "size %d is 0, and %s has no such axis", i,
				shape_text(x->shape));
		dim[i] = t_dim(x, i);
	}
	if (data)
		bind_sizes(x, n, value, dim, zero);
	onnx_set(c, 0, with_sizes("reshape", x, n, dim));
}

/* The size of an axis that is expanded to what data gives: an own size that is a number stays, 1
 * takes what is given, and given 1s take the own one. */
static UOp *expanded_size(UOp *own, UOp *value, int n)
{
	int64_t v;

	if (ix_is_const(own, &v) && v != 1)
		return own;
	if (!ix_is_const(own, &v))
		value = t_where(t_eq(value, i64(1)), t_size(DT_I64, own), value);
	return t_bind_open("size", value, n);
}

/* Either side may have an axis of size 1 that the other stretches. */
void onnx_Expand(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *value[MAX_RANK], *dim[MAX_RANK];
	int n = elements(c, 1, value, dim), lead = n - t_rank(x);

	for (int i = 0; i < n; i++)
		if (!dim[i])
			dim[i] = expanded_size(i < lead ? ix_const(1) : t_dim(x, i - lead),
				value[i], n);
	const Shape *s = shape_broadcast(shape_new(n, dim), x->shape);

	if (!s)
		onnx_fail(c, MALFORMED, "shapes %s and %s do not match", shape_text(x->shape),
			shape_text(shape_new(n, dim)));
	onnx_set(c, 0, t_expand_to(x, s));
}

/* Before version 6 a single axis is repeated `tiles` times. */
void onnx_Tile(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *times[MAX_RANK];
	int64_t v = onnx_known_int(c, 2);
	int n = t_rank(x), axis;

	onnx_axes(c, 1, &v, n, &axis);
	for (int i = 0; i < n; i++)
		times[i] = ix_const(i == axis ? onnx_known_int(c, 1) : 1);
	onnx_set(c, 0, with_sizes("tile", x, n, times));
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* The sizes of the n parts: given, or equal; the last part may be smaller. */
static void part_sizes(OnnxCall *c, int n, UOp *size, UOp **part)
{
	const int64_t *v;
	size_t m;
	UOp *len, *left = size;

	v = onnx_attr_int_list(c, "split", &m);
	if (!v && onnx_has(c, 1)) {
		int got = onnx_bound_sizes(c, 1, n, part);
		if (got != n)
			onnx_fail(c, MALFORMED, "%d sizes for %d outputs", got, n);
		return;
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
	UOp *x = onnx_in(c, 0), **part;
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x)), n = onnx_nout(c);
	int64_t want = onnx_attr_int(c, "num_outputs", n);
	Value *size, parts;

	if (want != n || n < 1)
		onnx_fail(c, MALFORMED, "num_outputs is %lld, and there are %d outputs",
			(long long)want, n);
	part = arena_alloc(n * sizeof *part);
	part_sizes(c, n, t_dim(x, axis), part);
	size = arena_alloc(n * sizeof *size);
	for (int i = 0; i < n; i++)
		size[i] = v_size(part[i]);
	parts = function_call(function_find("split"), 3,
		(Value[]){ v_tensor(x), v_list(n, size), v_int(axis) }, 0, NULL, NULL);
	for (int i = 0; i < n; i++)
		if (onnx_wants(c, i))
			onnx_set(c, i, parts.at[i].u);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Bounds from an attribute (before version 10) or input k; each is a size or data. */
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
		onnx_fail(c, MALFORMED, "%s are %s%s", attr, dtype_name(u->dtype),
			shape_text(u->shape));
	for (int i = 0; i < n; i++) {
		e = onnx_element(u, i);
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
	int axes[MAX_RANK], n = slice_bounds(c, "starts", 1, start),
			    m = slice_bounds(c, "ends", 2, stop);
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
			x = t_slice_bounded(x, axes[i], start[i].size, stop[i].size, step, true);
	}
	onnx_set(c, 0, x);
}

/* Takes the middle of a longer axis; a shorter one gets zeros on both sides, the odd one behind. */
static UOp *center(UOp *x, int axis, UOp *want)
{
	UOp *n = t_dim(x, axis), *two = ix_const(2), *pad = ix_positive(ix_sub(want, n)), *cut;

	if (!pad)
		die(UNSUPPORTED, "sizes of which no greatest ones are known");
	x = t_pad_axis(x, axis, ix_div(pad, two), ix_sub(pad, ix_div(pad, two)));
	cut = ix_div(ix_sub(ix_add(n, pad), want), two);
	return t_shrink_axis(x, axis, cut, ix_add(cut, want));
}

void onnx_CenterCropPad(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *want[MAX_RANK];
	int n = onnx_bound_sizes(c, 1, MAX_RANK, want), axes[MAX_RANK], m = t_rank(x);
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
