/* Movement of elements: shapes, axes, slices, windows, joining. Nothing is computed or copied here:
 * these ops become part of their readers' indices.
 *
 *     x[::2]                PAD to whole pairs, RESHAPE [n/2, 2], SHRINK to the first of each
 *     windows [4], 2 wide   two copies end to end, cut into rows of 5: [0 1 2 3 0] [1 2 3 - -],
 *                           of which the first 3 places are kept
 *
 * An op that would change nothing is not made. Sizes are index nodes, so symbolic ones need no
 * special treatment. */
#include "primitives/primitives.h"

UOp *t_reshape(UOp *x, const Shape *s)
{
	if (x->shape == s)
		return x;
	if (x->op == OP_RESHAPE)
		return t_reshape(x->src[0], s);
	return NODE(OP_RESHAPE, x->dtype, shape_to_val(s), x);
}

UOp *t_reshapev(UOp *x, int rank, UOp *const *dim)
{
	if (rank > MAX_RANK)
		die(UNSUPPORTED, "rank %d is more than %d", rank, MAX_RANK);
	return t_reshape(x, shape_new(rank, dim));
}

UOp *t_expandv(UOp *x, int rank, UOp *const *dim)
{
	const Shape *s = shape_new(rank, dim);

	return x->shape == s ? x : NODE(OP_EXPAND, x->dtype, shape_to_val(s), x);
}

UOp *t_permute(UOp *x, const int *axes)
{
	int64_t v[MAX_RANK];
	int rank = t_rank(x);
	bool moved = false;

	for (int i = 0; i < rank; i++) {
		v[i] = axes[i];
		moved |= axes[i] != i;
	}
	return moved ? NODE(OP_PERMUTE, x->dtype, val_ints(rank, v), x) : x;
}

UOp *t_transpose(UOp *x, int a, int b)
{
	int axes[MAX_RANK], rank = t_rank(x);

	for (int i = 0; i < rank; i++)
		axes[i] = i;
	a = a < 0 ? a + rank : a;
	b = b < 0 ? b + rank : b;
	axes[a] = b;
	axes[b] = a;
	return t_permute(x, axes);
}

UOp *t_move_axis(UOp *x, int from, int to)
{
	int axes[MAX_RANK], rank = t_rank(x), n = 0;

	for (int i = 0; i < rank; i++)
		if (i != from)
			axes[n++] = i;
	memmove(axes + to + 1, axes + to, (rank - 1 - to) * sizeof *axes);
	axes[to] = from;
	return t_permute(x, axes);
}

static const Val *pairs_val(int rank, UOp *(*p)[2])
{
	const Val *v[MAX_RANK];

	for (int i = 0; i < rank; i++)
		v[i] = VARR(size_to_val(p[i][0]), size_to_val(p[i][1]));
	return val_array(rank, v);
}

UOp *t_pad(UOp *x, UOp *(*pairs)[2])
{
	UOp *zero = ix_const(0);

	for (int i = 0; i < t_rank(x); i++)
		if (pairs[i][0] != zero || pairs[i][1] != zero)
			return NODE(OP_PAD, x->dtype, pairs_val(t_rank(x), pairs), x);
	return x;
}

UOp *t_pad_value(UOp *x, UOp *(*pairs)[2], UOp *value)
{
	UOp *all = t_expand_to(t_num(DT_BOOL, 1), x->shape), *y = t_pad(x, pairs);

	return y == x ? x : t_where(t_pad(all, pairs), y, t_cast(value, x->dtype));
}

UOp *t_pad_axis(UOp *x, int axis, UOp *before, UOp *after)
{
	UOp *pairs[MAX_RANK][2];

	for (int i = 0; i < t_rank(x); i++) {
		pairs[i][0] = i == axis ? before : ix_const(0);
		pairs[i][1] = i == axis ? after : ix_const(0);
	}
	return t_pad(x, pairs);
}

UOp *t_shrink(UOp *x, UOp *(*bounds)[2])
{
	UOp *zero = ix_const(0);

	for (int i = 0; i < t_rank(x); i++)
		if (bounds[i][0] != zero || bounds[i][1] != t_dim(x, i))
			return NODE(OP_SHRINK, x->dtype, pairs_val(t_rank(x), bounds), x);
	return x;
}

UOp *t_shrink_axis(UOp *x, int axis, UOp *start, UOp *stop)
{
	UOp *bounds[MAX_RANK][2];

	for (int i = 0; i < t_rank(x); i++) {
		bounds[i][0] = i == axis ? start : ix_const(0);
		bounds[i][1] = i == axis ? stop : t_dim(x, i);
	}
	return t_shrink(x, bounds);
}

UOp *t_flip(UOp *x, int n, const int *axes)
{
	int64_t v[MAX_RANK];

	for (int i = 0; i < n; i++)
		v[i] = axes[i];
	return n ? NODE(OP_FLIP, x->dtype, val_ints(n, v), x) : x;
}

/* x with the n sizes at axis replaced by k others; the rest of the shape is unchanged. */
static UOp *reshape_at(UOp *x, int axis, int n, int k, UOp *const *dim)
{
	UOp *d[2 * MAX_RANK];
	int rank = 0;

	for (int i = 0; i < axis; i++)
		d[rank++] = t_dim(x, i);
	for (int i = 0; i < k; i++)
		d[rank++] = dim[i];
	for (int i = axis + n; i < t_rank(x); i++)
		d[rank++] = t_dim(x, i);
	return t_reshapev(x, rank, d);
}

UOp *t_unsqueeze(UOp *x, int axis)
{
	UOp *one = ix_const(1);

	return reshape_at(x, axis, 0, 1, &one);
}

UOp *t_squeeze(UOp *x, int axis)
{
	return reshape_at(x, axis, 1, 0, NULL);
}

UOp *t_along(UOp *p, int axis, int rank)
{
	for (int i = axis + 1; i < rank; i++)
		p = t_unsqueeze(p, t_rank(p));
	return p;
}

UOp *t_split_axis(UOp *x, int axis, UOp *outer, UOp *inner)
{
	return reshape_at(x, axis, 1, 2, (UOp *[]){ outer, inner });
}

UOp *t_merge_axes(UOp *x, int axis, int n)
{
	UOp *d = ix_const(1);

	for (int i = 0; i < n; i++)
		d = ix_mul(d, t_dim(x, axis + i));
	return reshape_at(x, axis, n, 1, &d);
}

UOp *t_expand_axis(UOp *x, int axis, UOp *size)
{
	UOp *d[MAX_RANK];

	for (int i = 0; i < t_rank(x); i++)
		d[i] = i == axis ? size : t_dim(x, i);
	return t_expandv(x, t_rank(x), d);
}

/* Every step-th element: x is padded to whole steps, and the first element of each is kept. */
UOp *t_slice(UOp *x, int axis, UOp *start, UOp *stop, int64_t step)
{
	UOp *one = ix_const(1), *by, *n, *len;

	/* no axis has 2^62 elements, so all larger steps are equivalent */
	step = step > 1LL << 62 ? 1LL << 62 : step < -(1LL << 62) ? -(1LL << 62) : step;
	if (step < 0) {
		x = t_shrink_axis(x, axis, ix_add(stop, one), ix_add(start, one));
		x = t_flip(x, 1, &axis);
		step = -step;
	} else {
		x = t_shrink_axis(x, axis, start, stop);
	}
	len = t_dim(x, axis);
	if (step == 1 || len == ix_const(0))
		return x;
	if (ix_prove_le(len, ix_const(step)) && ix_prove_lt(ix_const(0), len))
		return t_shrink_axis(x, axis, ix_const(0), one);
	by = ix_const(step);
	n = ix_add(ix_div(ix_sub(len, one), by), one);
	x = t_pad_axis(x, axis, ix_const(0), ix_sub(ix_mul(n, by), len));
	x = t_split_axis(x, axis, n, by);
	return t_squeeze(t_shrink_axis(x, axis + 1, ix_const(0), one), axis + 1);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* At most this many parts are selected by nested WHEREs in one kernel. */
enum { CONCAT_WAYS = 8 };

/* Each element tests the bounds of n parts but loads from one: a load under PAD is gated. WHERE
 * joins them, not ADD, so that -0 and NaN payloads are preserved. */
static UOp *concat_few(size_t n, UOp *const *x, int axis)
{
	UOp *total = ix_const(0), *at = ix_const(0), *y = NULL, *p, *i, *d[MAX_RANK];

	for (size_t k = 0; k < n; k++)
		total = ix_add(total, t_dim(x[k], axis));
	for (int k = 0; k < t_rank(x[0]); k++)
		d[k] = k == axis ? total : ix_const(1);
	i = t_reshapev(t_arange(DT_I64, total), t_rank(x[0]), d);
	for (size_t k = 0; k < n; k++) {
		UOp *end = ix_add(at, t_dim(x[k], axis));
		p = t_pad_axis(x[k], axis, at, ix_sub(total, end));
		y = y ? t_where(t_lt(i, t_size(DT_I64, at)), y, p) : p;
		at = end;
	}
	return y;
}

/* The parts, promoted and checked, without empty ones. Returns how many are left (at least one). */
static size_t concat_parts(size_t n, UOp *const *x, int axis, UOp **out)
{
	DType dt = x[0]->dtype;
	size_t kept = 0;
	int64_t v;

	for (size_t k = 1; k < n; k++)
		dt = dtype_promote(dt, x[k]->dtype);
	for (size_t k = 0; k < n; k++) {
		if (t_rank(x[k]) != t_rank(x[0]))
			die(MALFORMED, "cannot concatenate %s and %s", shape_text(x[0]->shape),
				shape_text(x[k]->shape));
		for (int i = 0; i < t_rank(x[0]); i++)
			if (i != axis && !size_equal(t_dim(x[k], i), t_dim(x[0], i)))
				die(MALFORMED, "cannot concatenate %s and %s along axis %d",
				    shape_text(x[0]->shape), shape_text(x[k]->shape), axis);
		if (ix_is_const(t_dim(x[k], axis), &v) && v == 0)
			continue;
		out[kept++] = t_cast(x[k], dt);
	}
	if (!kept)
		out[kept++] = t_cast(x[0], dt);
	return kept;
}

/* More parts than CONCAT_WAYS are joined in groups, each in a buffer of its own, and then the
 * groups: every element is copied log8(n) times and tests 8 bounds each time, instead of n. */
UOp *t_concat(size_t n, UOp *const *x, int axis)
{
	UOp **part;
	size_t m;

	if (n == 0)
		die(MALFORMED, "nothing to concatenate");
	if (t_rank(x[0]) == 0)
		die(MALFORMED, "cannot concatenate scalars");
	part = arena_alloc(n * sizeof *part);
	for (n = concat_parts(n, x, axis, part); n > CONCAT_WAYS; n = m) {
		m = 0;
		for (size_t k = 0; k < n; k += CONCAT_WAYS) {
			size_t ways = n - k < CONCAT_WAYS ? n - k : CONCAT_WAYS;
			UOp *y = concat_few(ways, part + k, axis);
			part[m++] = ways > 1 ? NODE(OP_CONTIGUOUS, y->dtype, VNIL, y) : y;
		}
	}
	return concat_few(n, part, axis);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Windows along one axis of size i: k copies of x laid end to end and cut into rows of i +
 * dilation, so that each row starts one dilation later in x than the row before: [i] to [k, i+d];
 * then every stride-th of the first places, [k, o]. */
static UOp *windows_axis(UOp *x, int axis, int64_t k, int64_t stride, int64_t dilation)
{
	UOp *i = t_dim(x, axis), *o, *row = ix_add(i, ix_const(dilation)), *zero = ix_const(0);
	int64_t span, v;

	if (!mul_ok(dilation, k - 1, &span) || (ix_is_const(i, &v) && v <= span))
		die(MALFORMED, "a window of %lld does not fit axis %d of %s", (long long)k, axis,
			shape_text(x->shape));
	if (!steps_within() && !size_is_bound(i) && !ix_prove_lt(ix_const(span), i))
		size_check("le", ix_const(span + 1), i);
	o = ix_add(ix_div(ix_sub(i, ix_const(span + 1)), ix_const(stride)), ix_const(1));
	if (k > 1 && stride == k && dilation == 1) {
		/* windows do not overlap: the axis is cut */
		x = t_slice(x, axis, zero, ix_mul(o, ix_const(k)), 1);
		return t_transpose(t_split_axis(x, axis, o, ix_const(k)), axis, axis + 1);
	}
	x = t_unsqueeze(x, axis);
	if (k > 1) {
		x = t_expand_axis(x, axis, ix_const(k));
		x = t_pad_axis(t_merge_axes(x, axis, 2), axis, zero, ix_const(k * dilation));
		x = t_split_axis(x, axis, ix_const(k), row);
	}
	return t_slice(x, axis + 1, zero,
		ix_add(ix_mul(ix_sub(o, ix_const(1)), ix_const(stride)), ix_const(1)), stride);
}

UOp *t_windows(UOp *x, int nd, const int64_t *k, const int64_t *stride, const int64_t *dilation)
{
	int lead = t_rank(x) - nd, axes[2 * MAX_RANK];

	for (int i = 0; i < nd; i++)
		x = windows_axis(x, lead + 2 * i, k[i], stride[i], dilation[i]);
	for (int i = 0; i < lead; i++)
		axes[i] = i;
	for (int i = 0; i < nd; i++) {
		axes[lead + i] = lead + 2 * i + 1;
		axes[lead + nd + i] = lead + 2 * i;
	}
	return t_permute(x, axes);
}
