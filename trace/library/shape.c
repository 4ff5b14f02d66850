/* Functions that move elements: shapes, axes, slices, padding, joining.
 *
 *     flip, transpose, reshape, slice, tile   movement ops alone, which cost nothing
 *     concat, stack, roll                     movement ops selected by place (t_concat)
 *     pad reflect, edge, symmetric, wrap      pieces joined; GATHER along the axis where a width
 *                                             may be beyond it */
#include "library/library.h"

static int axis_of(Args *a, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		die(MALFORMED, "%s: axis %lld is outside rank %d", a->fn->name,
			(long long)axis, rank);
	return axis < 0 ? axis + rank : axis;
}

static bool is_int(UOp *size, int64_t want)
{
	int64_t v;

	return ix_is_const(size, &v) && v == want;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The size that -1 stands for. Sizes that occur on both sides are cancelled first, which in nearly
 * all symbolic cases leaves numbers to divide. */
static UOp *open_size(UOp *x, int rank, UOp *const *dim, int open)
{
	UOp *have = ix_const(1), *want = ix_const(1), *size;
	bool used[MAX_RANK] = { false };

	for (int i = 0; i < rank; i++) {
		int k = 0;
		if (i == open)
			continue;
		while (k < t_rank(x) && (used[k] || t_dim(x, k) != dim[i]))
			k++;
		if (k < t_rank(x))
			used[k] = true;
		else
			want = ix_mul(want, dim[i]);
	}
	for (int k = 0; k < t_rank(x); k++)
		if (!used[k])
			have = ix_mul(have, t_dim(x, k));
	if (is_int(want, 0))
		die(MALFORMED, "reshape: -1 beside a size of 0 could be anything");
	size = ix_div(have, want);
	/* what data gives may be 0, by which sizes are not divided */
	if (size_is_bound(want) && size_is_bound(size))
		size = t_bind_open("size", t_op2(OP_FLOORDIV, size_tensor(have),
			size_tensor(want)), rank);
	if (!size_equal(ix_mul(size, want), have))
		die(MALFORMED, "reshape: %s does not divide into the sizes beside -1",
			shape_text(x->shape));
	return size;
}

Value fn_reshape(Args *a)
{
	UOp *x = arg_tensor(a, 0), *dim[MAX_RANK];
	int rank = arg_sizes(a, 1, dim), open = -1;

	for (int i = 0; i < rank; i++) {
		if (!is_int(dim[i], -1))
			continue;
		if (open >= 0)
			die(MALFORMED, "reshape: only one size can be -1");
		open = i;
	}
	if (open >= 0)
		dim[open] = open_size(x, rank, dim, open);
	return v_tensor(t_reshapev(x, rank, dim));
}

Value fn_flatten(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int from, to;

	if (t_rank(x) == 0)
		return v_tensor(t_unsqueeze(x, 0));
	from = arg_axis(a, 1, t_rank(x));
	to = arg_axis(a, 2, t_rank(x));
	if (to < from)
		die(MALFORMED, "flatten: axis %d comes before axis %d", to, from);
	return v_tensor(t_merge_axes(x, from, to - from + 1));
}

/* -1 keeps a size; leading axes may be added. */
Value fn_expand(Args *a)
{
	UOp *x = arg_tensor(a, 0), *dim[MAX_RANK];
	int rank = arg_sizes(a, 1, dim), lead = rank - t_rank(x);

	for (int i = 0; i < rank; i++)
		if (is_int(dim[i], -1)) {
			if (i < lead)
				die(MALFORMED, "expand: there is no size for -1 at axis %d", i);
			dim[i] = t_dim(x, i - lead);
		}
	return v_tensor(t_expand_to(x, shape_new(rank, dim)));
}

/* x with an axis of symbolic size that may be 1 taken as 1, if run finds that it is; x itself when
 * no such axis is to be assumed. */
static UOp *taken_as_one(UOp *x, int axis)
{
	int64_t lo, hi;

	ix_bounds(t_dim(x, axis), &lo, &hi);
	if (!(reading.sizes_agree || size_is_bound(t_dim(x, axis))) || lo > 1 || hi < 1 || lo == hi)
		return x;
	return t_as_one(x, axis);
}

Value fn_squeeze(Args *a)
{
	UOp *x = arg_tensor(a, 0), *dim[MAX_RANK];
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes), rank = 0;
	bool drop[MAX_RANK] = { false };

	for (int i = 0; arg_given(a, 1) && i < n; i++)
		x = taken_as_one(x, axes[i]);
	for (int i = 0; i < n; i++) {
		drop[axes[i]] = arg_given(a, 1) ? size_equal(t_dim(x, axes[i]), ix_const(1))
			: is_int(t_dim(x, axes[i]), 1);
		if (!drop[axes[i]] && arg_given(a, 1))
			die(MALFORMED, "squeeze: axis %d of %s is not 1", axes[i],
				shape_text(x->shape));
	}
	for (int i = 0; i < t_rank(x); i++)
		if (!drop[i])
			dim[rank++] = t_dim(x, i);
	return v_tensor(t_reshapev(x, rank, dim));
}

/* The axes are positions in the result. */
Value fn_unsqueeze(Args *a)
{
	UOp *x = arg_tensor(a, 0), *dim[MAX_RANK];
	int64_t axes[MAX_RANK];
	int n = arg_int_list(a, 1, axes, MAX_RANK), rank = t_rank(x) + n, from = 0;
	bool added[MAX_RANK] = { false };

	if (rank > MAX_RANK)
		die(UNSUPPORTED, "unsqueeze: rank %d is more than %d", rank, MAX_RANK);
	for (int i = 0; i < n; i++) {
		int axis = axis_of(a, axes[i], rank);
		if (added[axis])
			die(MALFORMED, "unsqueeze: axis %d is named twice", axis);
		added[axis] = true;
	}
	for (int i = 0; i < rank; i++)
		dim[i] = added[i] ? ix_const(1) : t_dim(x, from++);
	return v_tensor(t_reshapev(x, rank, dim));
}

Value fn_permute(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int axes[MAX_RANK];

	if (arg_axes_of(a, 1, t_rank(x), axes) != t_rank(x))
		die(MALFORMED, "%s: %s has %d axes", a->fn->name, shape_text(x->shape), t_rank(x));
	return v_tensor(t_permute(x, axes));
}

Value fn_transpose(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int axes[MAX_RANK], rank = t_rank(x);

	if (arg_given(a, 1) && !(a->at[1].kind == V_LIST && a->at[1].n == 0))
		return fn_permute(a);
	for (int i = 0; i < rank; i++)
		axes[i] = rank - 1 - i;
	return v_tensor(t_permute(x, axes));
}

Value fn_swapaxes(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_transpose(x, arg_axis(a, 1, t_rank(x)), arg_axis(a, 2, t_rank(x))));
}

Value fn_moveaxis(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_move_axis(x, arg_axis(a, 1, t_rank(x)), arg_axis(a, 2, t_rank(x))));
}

Value fn_shape(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	Value *at = arena_alloc((t_rank(x) + 1) * sizeof *at);

	for (int i = 0; i < t_rank(x); i++)
		at[i] = v_size(t_dim(x, i));
	return v_list(t_rank(x), at);
}

Value fn_size(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_size(arg_given(a, 1) ? t_dim(x, arg_axis(a, 1, t_rank(x)))
		: shape_count(x->shape));
}

/* ---- slices ---------------------------------------------------------------------------------- */

static UOp *between(UOp *least, UOp *v, UOp *most)
{
	v = ix_max(v, least);
	v = v ? ix_min(v, most) : NULL;
	if (!v)
		die(UNSUPPORTED, "a slice of an axis of which no greatest size is known");
	return v;
}

/* One bound as NumPy reads it: counted from the end when negative, then clipped to [lo, n+hi].
 * Where the algebra cannot decide, a number is clipped if clip says so; otherwise the bound is
 * assumed to be inside, and SHRINK has that checked when the sizes are known. */
static UOp *bound(UOp *n, UOp *v, int64_t lo, int64_t hi, bool clip)
{
	UOp *least = ix_const(lo), *most = ix_add(n, ix_const(hi));
	int64_t k;

	clip = clip && ix_is_const(v, &k);
	/* clamp bounds beyond any size so that sums do not overflow */
	if (ix_is_const(v, &k))
		v = ix_const(k > 1LL << 62 ? 1LL << 62 : k < -(1LL << 62) ? -(1LL << 62) : k);
	if (ix_prove_lt(v, ix_const(0)))
		v = ix_add(v, n);
	if (ix_prove_lt(v, least))
		return least;
	if (ix_prove_lt(most, v))
		return most;
	return clip ? between(least, v, most) : v;
}

static bool is_number(UOp *bound)
{
	int64_t v;

	return !bound || ix_is_const(bound, &v);
}

UOp *t_slice_bound(UOp *v, UOp *n) { return bound(n, v, 0, 0, false); }

UOp *t_slice_bounded(UOp *x, int axis, UOp *start, UOp *stop, int64_t step, bool clip)
{
	UOp *n = t_dim(x, axis);
	bool both = clip && is_number(start) && is_number(stop);

	if (step == 0)
		die(MALFORMED, "a step of 0");
	if (step > 0) {
		start = start ? bound(n, start, 0, 0, clip) : ix_const(0);
		stop = stop ? bound(n, stop, 0, 0, clip) : n;
		stop = ix_prove_lt(stop, start) ? start :
			both ? between(start, stop, n) : stop;
	} else {
		start = start ? bound(n, start, -1, -1, clip) : ix_add(n, ix_const(-1));
		stop = stop ? bound(n, stop, -1, -1, clip) : ix_const(-1);
		stop = ix_prove_lt(start, stop) ? start :
			both ? between(ix_const(-1), stop, start) : stop;
	}
	return t_slice(x, axis, start, stop, step);
}

static const Value *nth(const Value *v, size_t i)
{
	return v->kind == V_LIST ? (i < v->n ? &v->at[i] : NULL) : i == 0 ? v : NULL;
}

static UOp *nth_size(Args *a, int k, size_t i)
{
	const Value *v = nth(&a->at[k], i);
	Args one = { a->fn, k + 1, arena_alloc((k + 1) * sizeof(Value)) };

	if (!v || v->kind == V_NONE)
		return NULL;
	one.at[k] = *v;
	return arg_size(&one, k);
}

Value fn_slice(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int64_t axes[MAX_RANK], steps[MAX_RANK];
	int n = a->at[1].kind == V_LIST ? (int)a->at[1].n : 1, nax = n, nst = 0;

	if (n > t_rank(x))
		die(MALFORMED, "slice: %d bounds for rank %d", n, t_rank(x));
	for (int i = 0; i < n; i++)
		axes[i] = i;
	if (arg_given(a, 3))
		nax = arg_int_list(a, 3, axes, MAX_RANK);
	if (arg_given(a, 4))
		nst = arg_int_list(a, 4, steps, MAX_RANK);
	if (nax != n || (nst && nst != n))
		die(MALFORMED, "slice: start, stop, axes and step differ in length");
	for (int i = 0; i < n; i++)
		x = t_slice_bounded(x, axis_of(a, axes[i], t_rank(x)), nth_size(a, 1, i),
			nth_size(a, 2, i), nst ? steps[i] : 1, false);
	return v_tensor(x);
}

Value fn_flip(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes);

	return v_tensor(t_flip(x, n, axes));
}

/* Moves the last `shift` elements of an axis to the front. */
static UOp *roll_axis(UOp *x, int axis, UOp *shift)
{
	UOp *n = t_dim(x, axis), *cut, *zero = ix_const(0);

	if (is_int(n, 0))
		return x;
	cut = ix_mod(ix_sub(zero, shift), n);
	if (is_int(cut, 0))
		return x;
	return t_concat(2, (UOp *[]){ t_shrink_axis(x, axis, cut, n),
		t_shrink_axis(x, axis, zero, cut) }, axis);
}

Value fn_roll(Args *a)
{
	UOp *x = arg_tensor(a, 0), *shift[MAX_RANK];
	const Shape *s = x->shape;
	int axes[MAX_RANK], n, m = arg_sizes(a, 1, shift);

	if (m == 0)
		die(MALFORMED, "roll: an empty list of shifts");
	if (!arg_given(a, 2)) {
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(s) });
		return v_tensor(t_reshape(roll_axis(x, 0, shift[0]), s));
	}
	n = arg_axes_of(a, 2, t_rank(x), axes);
	if (m != n && m != 1)
		die(MALFORMED, "roll: %d shifts for %d axes", m, n);
	for (int i = 0; i < n; i++)
		x = roll_axis(x, axes[i], shift[m == 1 ? 0 : i]);
	return v_tensor(x);
}

/* ---- padding --------------------------------------------------------------------------------- */

/* The widths of pad as NumPy takes them: n | [before, after] | [[before, after], …] */
static void pad_widths(Args *a, int rank, UOp *(*w)[2])
{
	const Value *v = &a->at[1];
	bool nested = v->kind == V_LIST && v->n && v->at[0].kind == V_LIST;
	Args one = { a->fn, 2, (Value[2]){ { 0 } } };
	UOp *pair[MAX_RANK];

	if (nested && v->n != 1 && (int)v->n != rank)
		die(MALFORMED, "pad: %zu pairs for rank %d", v->n, rank);
	for (int i = 0; i < rank; i++) {
		one.at[1] = nested ? v->at[v->n == 1 ? 0 : i] : *v;
		int n = arg_sizes(&one, 1, pair);
		if (n != 1 && n != 2)
			die(MALFORMED, "pad: a list of %d for a width", n);
		w[i][0] = pair[0];
		w[i][1] = pair[n - 1];
	}
}

/* The places in x that the padded axis reads, from place -before on, for modes that repeat x */
static UOp *pad_places(const char *mode, UOp *n, UOp *before, UOp *after)
{
	UOp *i = t_arange(DT_I64, ix_add(ix_add(n, before), after)), *size = t_size(DT_I64, n);
	UOp *period, *edge;

	i = t_add(i, size_tensor(ix_sub(ix_const(0), before)));
	if (!strcmp(mode, "edge"))
		return t_min(t_max(i, t_num(DT_I64, 0)), t_addc(size, -1));
	if (!strcmp(mode, "wrap"))
		return t_op2(OP_FLOORMOD, i, size);
	edge = !strcmp(mode, "reflect") ? ix_const(1) : ix_const(0);
	period = ix_mul(ix_sub(n, edge), ix_const(2));
	i = t_op2(OP_FLOORMOD, i, t_size(DT_I64, period));
	return t_min(i, t_sub(t_size(DT_I64, ix_sub(period, ix_sub(ix_const(1), edge))), i));
}

/* The n elements before or after axis i of x, which has as many to take. */
static UOp *pad_piece(UOp *x, int i, const char *mode, bool after, UOp *n)
{
	UOp *size = t_dim(x, i), *from = ix_const(0);
	bool edge = !strcmp(mode, "edge"), wrap = !strcmp(mode, "wrap");

	if (after != wrap)
		from = ix_sub(size, edge ? ix_const(1) : n);
	if (!strcmp(mode, "reflect"))
		from = ix_add(from, ix_const(after ? -1 : 1));
	if (edge)
		return t_expand_axis(t_shrink_axis(x, i, from, ix_add(from, ix_const(1))), i, n);
	x = t_shrink_axis(x, i, from, ix_add(from, n));
	return wrap ? x : t_flip(x, 1, &i);
}

/* Whether axis i of x has as many elements as each width takes, for all sizes. */
static bool pad_within(UOp *x, int i, const char *mode, UOp *const *w)
{
	UOp *size = t_dim(x, i), *one = ix_const(1);

	if (!strcmp(mode, "edge"))
		return ix_prove_le(one, size);
	if (!strcmp(mode, "reflect"))
		size = ix_sub(size, one);
	return ix_prove_le(w[0], size) && ix_prove_le(w[1], size);
}

/* Axis i of x, padded by pieces. */
static UOp *pad_joined(UOp *x, int i, const char *mode, UOp *const *w)
{
	UOp *piece[3];
	int n = 0;

	if (!is_int(w[0], 0))
		piece[n++] = pad_piece(x, i, mode, false, w[0]);
	piece[n++] = x;
	if (!is_int(w[1], 0))
		piece[n++] = pad_piece(x, i, mode, true, w[1]);
	return t_concat(n, piece, i);
}

static UOp *pad_gathered(UOp *x, int i, const char *mode, UOp *const *w)
{
	UOp *places = pad_places(mode, t_dim(x, i), w[0], w[1]);
	return t_move_axis(t_gather(t_move_axis(x, i, 0), 1, &places), 0, i);
}

static UOp *pad_again(UOp *x, const char *mode, UOp *(*w)[2])
{
	for (int i = 0; i < t_rank(x); i++) {
		if (is_int(w[i][0], 0) && is_int(w[i][1], 0))
			continue;
		if (is_int(t_dim(x, i), 0))
			die(MALFORMED, "pad: axis %d is empty: nothing to take for mode %s", i,
				mode);
		x = pad_within(x, i, mode, w[i]) ? pad_joined(x, i, mode, w[i])
						 : pad_gathered(x, i, mode, w[i]);
	}
	return x;
}

/* x cut by the negative widths, which are then set to 0 */
static UOp *cut_widths(UOp *x, UOp *(*w)[2])
{
	UOp *zero = ix_const(0);

	for (int i = 0; i < t_rank(x); i++)
		for (int side = 0; side < 2; side++) {
			UOp *n = t_dim(x, i), *by = w[i][side];
			if (!ix_prove_lt(by, zero))
				continue;
			x = side ? t_shrink_axis(x, i, zero, ix_add(n, by))
				: t_shrink_axis(x, i, ix_sub(zero, by), n);
			w[i][side] = zero;
		}
	return x;
}

Value fn_pad(Args *a)
{
	UOp *x = arg_tensor(a, 0), *w[MAX_RANK][2];
	const char *mode = arg_str(a, 2);
	static const char *const again[] = { "reflect", "symmetric", "edge", "wrap" };

	pad_widths(a, t_rank(x), w);
	x = cut_widths(x, w);
	if (!strcmp(mode, "constant"))
		return v_tensor(t_pad_value(x, w, arg_tensor_like(a, 3, x->dtype)));
	for (size_t k = 0; k < sizeof again / sizeof *again; k++)
		if (!strcmp(mode, again[k]))
			return v_tensor(pad_again(x, mode, w));
	die(MALFORMED, "pad: mode is constant, reflect, symmetric, edge or wrap, not \"%s\"", mode);
}

/* ---- joining, repeating ---------------------------------------------------------------------- */

/* the list of the rows of a tensor, which is all that is to be joined; or NULL */
static UOp *rows_joined(Args *a)
{
	const Value *v = &a->at[0];
	bool alone = v->kind == V_LIST && v->n == 1 && v->at[0].kind == V_ROWS;
	return alone ? v->at[0].u : NULL;
}

static size_t parts(Args *a, UOp ***out)
{
	size_t n = a->at[0].kind == V_LIST ? a->at[0].n : 1;
	Args one = { a->fn, 1, (Value[1]){ { 0 } } };
	DType like = DT_NONE;

	if (n == 0)
		die(MALFORMED, "%s: nothing to join", a->fn->name);
	/* numbers take the dtype of the first tensor */
	for (size_t i = 0; i < n && like == DT_NONE && a->at[0].kind == V_LIST; i++)
		if (a->at[0].at[i].kind == V_TENSOR)
			like = a->at[0].at[i].u->dtype;
	*out = arena_alloc(n * sizeof **out);
	for (size_t i = 0; i < n; i++) {
		one.at[0] = a->at[0].kind == V_LIST ? a->at[0].at[i] : a->at[0];
		(*out)[i] = arg_tensor_like(&one, 0, like);
	}
	return n;
}

Value fn_concat(Args *a)
{
	UOp **x, *rows = rows_joined(a);
	int axis = !rows || t_rank(rows) < 2 ? 0 : arg_axis(a, 1, t_rank(rows) - 1);
	if (rows && t_rank(rows) < 2)
		die(MALFORMED, "cannot concatenate scalars");
	if (rows)
		return v_tensor(t_merge_axes(t_move_axis(rows, 0, axis), axis, 2));
	size_t n = parts(a, &x);

	return v_tensor(t_concat(n, x, arg_axis(a, 1, t_rank(x[0]))));
}

Value fn_stack(Args *a)
{
	UOp **x, *rows = rows_joined(a);
	if (rows)
		return v_tensor(t_move_axis(rows, 0, arg_axis(a, 1, t_rank(rows))));
	size_t n = parts(a, &x);
	int axis = arg_axis(a, 1, t_rank(x[0]) + 1);

	for (size_t i = 1; i < n; i++)
		if (!shape_equal(x[i]->shape, x[0]->shape))
			die(MALFORMED, "stack: %s and %s differ", shape_text(x[0]->shape),
				shape_text(x[i]->shape));
	for (size_t i = 0; i < n; i++)
		x[i] = t_unsqueeze(x[i], axis);
	return v_tensor(t_concat(n, x, axis));
}

/* parts is the number of equal parts, or a list of their sizes */
Value fn_split(Args *a)
{
	UOp *x = arg_tensor(a, 0), *at = ix_const(0), *n;
	int axis = arg_axis(a, 2, t_rank(x));
	const Value *v = &a->at[1];
	int64_t count = v->kind == V_LIST ? (int64_t)v->n : arg_int(a, 1);
	Value *out;

	n = t_dim(x, axis);
	if (count < 1 || count > 1 << 20)
		die(MALFORMED, "split: %lld parts", (long long)count);
	out = arena_alloc(count * sizeof *out);
	for (int64_t i = 0; i < count; i++) {
		UOp *len = v->kind == V_LIST ? nth_size(a, 1, i) : ix_div(n, ix_const(count));
		UOp *end = ix_add(at, len ? len : ix_const(0));
		out[i] = v_tensor(t_shrink_axis(x, axis, at, end));
		at = end;
	}
	if (!size_equal(at, n))
		die(MALFORMED, "split: the parts do not make up axis %d of %s", axis,
			shape_text(x->shape));
	return v_list(count, out);
}

/* Repeats the whole axis: [n] → [times, n] → [times*n] */
static UOp *tile_axis(UOp *x, int axis, UOp *times)
{
	if (is_int(times, 1))
		return x;
	return t_merge_axes(t_expand_axis(t_unsqueeze(x, axis), axis, times), axis, 2);
}

Value fn_tile(Args *a)
{
	UOp *x = arg_tensor(a, 0), *times[MAX_RANK];
	int n = arg_sizes(a, 1, times);

	while (t_rank(x) < n)
		x = t_unsqueeze(x, 0);
	for (int i = 0; i < n; i++)
		x = tile_axis(x, t_rank(x) - n + i, times[i]);
	return v_tensor(x);
}

/* Repeats each element: [n] → [n, times] → [n*times] */
Value fn_repeat(Args *a)
{
	UOp *x = arg_tensor(a, 0), *times = arg_size(a, 1);
	int axis;

	if (!arg_given(a, 2))
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) });
	axis = arg_given(a, 2) ? arg_axis(a, 2, t_rank(x)) : 0;
	x = t_expand_axis(t_unsqueeze(x, axis + 1), axis + 1, times);
	return v_tensor(t_merge_axes(x, axis, 2));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static UOp *block_of(Args *a, UOp *x, bool *crd)
{
	const char *mode = arg_str(a, 2);
	int64_t b = arg_int(a, 1);

	*crd = !strcmp(mode, "CRD");
	if (!*crd && strcmp(mode, "DCR"))
		die(MALFORMED, "%s: mode is DCR or CRD, not \"%s\"", a->fn->name, mode);
	if (t_rank(x) != 4 || b < 1 || b > 1 << 20)
		die(MALFORMED, "%s: blocks of %lld in %s, not [n,c,h,w]", a->fn->name, (long long)b,
			shape_text(x->shape));
	return ix_const(b);
}

static UOp *block_parts(Args *a, UOp *size, UOp *by)
{
	if (!size_equal(ix_mul(ix_div(size, by), by), size))
		die(MALFORMED, "%s: the block does not divide the shape", a->fn->name);
	return ix_div(size, by);
}

/* [n, b, b, c, h, w] (CRD: [n, c, b, b, h, w]) → [n, c, h, b, w, b] */
Value fn_depth_to_space(Args *a)
{
	bool crd;
	UOp *x = arg_tensor(a, 0), *b = block_of(a, x, &crd);
	UOp *n = t_dim(x, 0), *c = block_parts(a, t_dim(x, 1), ix_mul(b, b));
	UOp *h = t_dim(x, 2), *w = t_dim(x, 3);

	x = t_reshapev(x, 6, crd ? (UOp *[]){ n, c, b, b, h, w } : (UOp *[]){ n, b, b, c, h, w });
	x = t_permute(x, crd ? (int[]){ 0, 1, 4, 2, 5, 3 } : (int[]){ 0, 3, 4, 1, 5, 2 });
	return v_tensor(t_reshapev(x, 4, (UOp *[]){ n, c, ix_mul(h, b), ix_mul(w, b) }));
}

/* [n, c, h, b, w, b] → [n, b, b, c, h, w], or [n, c, b, b, h, w] */
Value fn_space_to_depth(Args *a)
{
	bool crd;
	UOp *x = arg_tensor(a, 0), *b = block_of(a, x, &crd), *n = t_dim(x, 0), *c = t_dim(x, 1);
	UOp *h = block_parts(a, t_dim(x, 2), b), *w = block_parts(a, t_dim(x, 3), b);

	x = t_reshapev(x, 6, (UOp *[]){ n, c, h, b, w, b });
	x = t_permute(x, crd ? (int[]){ 0, 1, 3, 5, 2, 4 } : (int[]){ 0, 3, 5, 1, 2, 4 });
	return v_tensor(t_reshapev(x, 4, (UOp *[]){ n, ix_mul(c, ix_mul(b, b)), h, w }));
}
