/* The primitive ops as functions: broadcasting, promotion and the movement idioms that the tensor library is made of.
 *
 *     t_add(x f32[3,1], y f32[4])   →   ADD(EXPAND x [3,4], EXPAND (RESHAPE y [1,4]) [3,4])
 *
 * All of them give nodes of level graph. What would change nothing is not made: a reshape to the same shape, a
 * permutation in order, an empty padding. Sizes are index nodes throughout, so symbolic ones pass as numbers do. */
#include "trace.h"

/* ---- dtypes -------------------------------------------------------------------------------------------- */

static DType promote_ints(DType a, DType b)
{
	static const DType wider[] = { [1] = DT_I16, [2] = DT_I32, [4] = DT_I64, [8] = DT_F64 };
	DType u, s;

	if (dtype_signed(a) == dtype_signed(b))
		return dtype_size(a) >= dtype_size(b) ? a : b;
	s = dtype_signed(a) ? a : b;
	u = dtype_signed(a) ? b : a;
	return dtype_size(s) > dtype_size(u) ? s : wider[dtype_size(u)];
}

DType dtype_promote(DType a, DType b)
{
	int n;

	if (a == b || b == DT_BOOL)
		return a;
	if (a == DT_BOOL)
		return b;
	if (dtype_int(a) && dtype_int(b))
		return promote_ints(a, b);
	if (dtype_float(a) && dtype_float(b))
		return dtype_size(a) != dtype_size(b) ? (dtype_size(a) > dtype_size(b) ? a : b) : DT_F32;
	if (dtype_int(a))
		return dtype_promote(b, a);
	/* a float and an integer: the float must hold the integer's values, or be f64 */
	n = dtype_size(b);
	if (n >= 4)
		return DT_F64;
	return n == 1 || dtype_size(a) > 2 ? a : DT_F32;
}

UOp *t_cast(UOp *x, DType dt)
{
	if (x->dtype == dt || dt == DT_NONE)
		return x;
	return NODE(OP_CAST, dt, VNIL, x);
}

UOp *t_float(UOp *x)
{
	return dtype_float(x->dtype) ? x : t_cast(x, DT_F32);
}

UOp *t_num(DType dt, double v)
{
	return const_num(dt, v);
}

/* Within ARANGE a symbolic size becomes a value: its element number n is n. */
UOp *t_size(DType dt, UOp *size)
{
	int64_t v;
	UOp *x, *one[1];

	if (ix_is_const(size, &v))
		return dtype_float(dt) ? const_num(dt, (double)v) : const_int(dt, v);
	one[0] = ix_add(size, ix_const(1));
	x = t_arange(DT_I64, one[0]);
	x = t_shrink(x, (UOp *[][2]){ { size, one[0] } });
	return t_cast(t_reshape(x, shape_scalar()), dt);
}

/* ---- elementwise ------------------------------------------------------------------------------------------ */

UOp *t_expand_to(UOp *x, const Shape *s)
{
	UOp *dim[MAX_RANK];
	int lead = s->rank - t_rank(x);

	if (x->shape == s)
		return x;
	if (lead < 0)
		die(MALFORMED, "shape %s does not fit into %s", shape_text(x->shape), shape_text(s));
	for (int i = 0; i < s->rank; i++)
		dim[i] = i < lead ? ix_const(1) : t_dim(x, i - lead);
	return t_expandv(t_reshapev(x, s->rank, dim), s->rank, s->dim);
}

/* Shapes of the sources made one; scalars stay as they are, since a scalar stands with any shape. */
static void broadcast(int n, UOp **x)
{
	const Shape *s = shape_scalar(), *t;

	for (int i = 0; i < n; i++) {
		t = shape_broadcast(s, x[i]->shape);
		if (!t)
			die(MALFORMED, "shapes %s and %s do not match", shape_text(s), shape_text(x[i]->shape));
		s = t;
	}
	for (int i = 0; i < n; i++)
		if (t_rank(x[i]) > 0)
			x[i] = t_expand_to(x[i], s);
}

UOp *t_op1(Op op, UOp *x)
{
	if (op_info[op].takes == TAKES_FLT)
		x = t_float(x);
	return NODE(op, x->dtype, VNIL, x);
}

/* Division of floats by the integer ops: the same meaning over the reals. */
static UOp *float_division(Op op, UOp *a, UOp *b)
{
	switch (op) {
	case OP_IDIV: return t_op1(OP_TRUNC, t_div(a, b));
	case OP_MOD: return t_fmod(a, b);
	case OP_FLOORDIV: return t_floordiv(a, b);
	default: return t_mod(a, b);
	}
}

UOp *t_op2(Op op, UOp *a, UOp *b)
{
	DType dt = dtype_promote(a->dtype, b->dtype);
	UOp *x[2];

	if (op_info[op].takes == TAKES_FLT && !dtype_float(dt))
		dt = DT_F32;
	x[0] = t_cast(a, dt);
	x[1] = t_cast(b, dt);
	if (dtype_float(dt) && (op == OP_IDIV || op == OP_MOD || op == OP_FLOORDIV || op == OP_FLOORMOD))
		return float_division(op, x[0], x[1]);
	broadcast(2, x);
	return node_new(op, op_info[op].cls == CLASS_COMPARE ? DT_BOOL : dt, 2, x, VNIL);
}

UOp *t_where(UOp *c, UOp *a, UOp *b)
{
	DType dt = dtype_promote(a->dtype, b->dtype);
	UOp *x[3] = { t_cast(c, DT_BOOL), t_cast(a, dt), t_cast(b, dt) };

	broadcast(3, x);
	return node_new(OP_WHERE, dt, 3, x, VNIL);
}

UOp *t_add(UOp *a, UOp *b) { return t_op2(OP_ADD, a, b); }
UOp *t_sub(UOp *a, UOp *b) { return t_op2(OP_SUB, a, b); }
UOp *t_mul(UOp *a, UOp *b) { return t_op2(OP_MUL, a, b); }
UOp *t_div(UOp *a, UOp *b) { return t_op2(OP_FDIV, a, b); }
UOp *t_max(UOp *a, UOp *b) { return t_op2(OP_MAX, a, b); }
UOp *t_min(UOp *a, UOp *b) { return t_op2(OP_MIN, a, b); }
UOp *t_neg(UOp *x) { return t_op1(OP_NEG, x); }
UOp *t_addc(UOp *x, double c) { return t_add(x, t_num(x->dtype, c)); }
UOp *t_mulc(UOp *x, double c) { return t_mul(x, t_num(x->dtype, c)); }
UOp *t_lt(UOp *a, UOp *b) { return t_op2(OP_CMPLT, a, b); }
UOp *t_eq(UOp *a, UOp *b) { return t_op2(OP_CMPEQ, a, b); }
UOp *t_ne(UOp *a, UOp *b) { return t_op2(OP_CMPNE, a, b); }
UOp *t_not(UOp *c) { return t_eq(t_cast(c, DT_BOOL), t_num(DT_BOOL, 0)); }
UOp *t_and(UOp *a, UOp *b) { return t_op2(OP_AND, t_cast(a, DT_BOOL), t_cast(b, DT_BOOL)); }
UOp *t_or(UOp *a, UOp *b) { return t_op2(OP_OR, t_cast(a, DT_BOOL), t_cast(b, DT_BOOL)); }

/* Small whole powers by multiplication. */
UOp *t_pow(UOp *a, UOp *b)
{
	double f;
	int64_t i;
	bool whole = const_is_float(b, &f) ? f == 2 || f == 3 : const_is_int(b, &i) && (i == 2 || i == 3);

	if (!whole || dtype_promote(a->dtype, b->dtype) != a->dtype || a->dtype == DT_BOOL)
		return t_op2(OP_POW, a, b);
	return (const_is_float(b, &f) ? f == 2 : i == 2) ? t_mul(a, a) : t_mul(t_mul(a, a), a);
}

UOp *t_sqrt(UOp *x) { return t_op1(OP_SQRT, x); }
UOp *t_recip(UOp *x) { return t_op1(OP_RECIP, x); }

/* ---- movement ----------------------------------------------------------------------------------------------- */

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

/* x with the n sizes at axis replaced by k others; the rest of the shape stays. */
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

/* Every step-th element: padded to whole steps, of which the first element is kept. */
UOp *t_slice(UOp *x, int axis, UOp *start, UOp *stop, int64_t step)
{
	UOp *one = ix_const(1), *by, *n, *len;

	/* no axis has 2^62 elements: beyond that, steps are alike */
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

/* ---- along axes ------------------------------------------------------------------------------------------------ */

UOp *t_reduce(Op op, UOp *x, int n, const int *axes, bool keepdims)
{
	int64_t v[MAX_RANK];
	UOp *d[MAX_RANK];
	int rank = 0;
	bool gone[MAX_RANK] = { false };

	if (n == 0)
		return x;
	for (int i = 0; i < n; i++) {
		v[i] = axes[i];
		gone[axes[i]] = true;
	}
	for (int i = 0; i < t_rank(x); i++)
		if (!gone[i])
			d[rank++] = t_dim(x, i);
	x = NODE(OP_REDUCE, x->dtype, VARR(val_str(op_name(op)), val_ints(n, v)), x);
	return keepdims ? x : t_reshapev(x, rank, d);
}

UOp *t_sum(UOp *x, int axis, bool keepdims)
{
	axis = axis < 0 ? axis + t_rank(x) : axis;
	return t_reduce(OP_ADD, x, 1, &axis, keepdims);
}

UOp *t_count(UOp *x, int n, const int *axes)
{
	UOp *c = ix_const(1);

	for (int i = 0; i < n; i++)
		c = ix_mul(c, t_dim(x, axes[i]));
	return c;
}

UOp *t_mean(UOp *x, int n, const int *axes, bool keepdims)
{
	DType dt, acc;
	UOp *s;

	x = t_float(x);
	dt = x->dtype;
	acc = dtype_acc(dt);
	s = t_reduce(OP_ADD, t_cast(x, acc), n, axes, keepdims);
	return t_cast(t_div(s, t_size(acc, t_count(x, n, axes))), dt);
}

UOp *t_scan(Op op, UOp *x, int axis)
{
	return NODE(OP_SCAN, x->dtype, VARR(val_str(op_name(op)), val_int(axis)), x);
}

UOp *t_sort(UOp *x, int axis, bool descending)
{
	return NODE(OP_SORT, DT_I64, VARR(val_int(axis), val_bool(descending)), x);
}

/* ---- leaves, by index ------------------------------------------------------------------------------------------- */

UOp *t_arange(DType dt, UOp *n)
{
	return LEAF(OP_ARANGE, dt, size_to_val(n));
}

UOp *t_iota(DType dt, const Shape *s, int axis)
{
	UOp *d[MAX_RANK];

	for (int i = 0; i < s->rank; i++)
		d[i] = i == axis ? s->dim[i] : ix_const(1);
	return t_reshapev(t_arange(dt, s->dim[axis]), s->rank, d);
}

UOp *t_full(const Shape *s, UOp *scalar)
{
	return t_expand_to(scalar, s);
}

/* The common shape of k indices; a scalar is expanded too, since GATHER wants one shape of all. */
static const Shape *one_shape(int k, UOp *const *idx, UOp **out)
{
	const Shape *s = shape_scalar(), *t;

	for (int i = 0; i < k; i++) {
		if (!dtype_int(idx[i]->dtype))
			die(MALFORMED, "an index is %s, not an integer", dtype_name(idx[i]->dtype));
		t = shape_broadcast(s, idx[i]->shape);
		if (!t)
			die(MALFORMED, "index shapes %s and %s do not match", shape_text(s), shape_text(idx[i]->shape));
		s = t;
	}
	for (int i = 0; i < k; i++)
		out[i] = t_expand_to(idx[i], s);
	return s;
}

UOp *t_gather(UOp *x, int k, UOp *const *idx)
{
	UOp *src[1 + MAX_RANK];

	if (k > t_rank(x))
		die(MALFORMED, "%d indices for a tensor of rank %d", k, t_rank(x));
	src[0] = x;
	one_shape(k, idx, src + 1);
	return node_new(OP_GATHER, x->dtype, 1 + k, src, VNIL);
}

UOp *t_scatter(UOp *x, int k, UOp *const *idx, UOp *v, const char *how)
{
	UOp *src[2 + MAX_RANK], *d[2 * MAX_RANK];
	const Shape *s;
	int rank = 0;

	if (k > t_rank(x))
		die(MALFORMED, "%d indices for a tensor of rank %d", k, t_rank(x));
	src[0] = x;
	s = one_shape(k, idx, src + 1);
	if (s->rank + t_rank(x) - k > MAX_RANK)
		die(UNSUPPORTED, "rank %d is more than %d", s->rank + t_rank(x) - k, MAX_RANK);
	for (int i = 0; i < s->rank; i++)
		d[rank++] = s->dim[i];
	for (int i = k; i < t_rank(x); i++)
		d[rank++] = t_dim(x, i);
	src[1 + k] = t_expand_to(t_cast(v, x->dtype), shape_new(rank, d));
	return node_new(OP_SCATTER, x->dtype, 2 + k, src, val_str(how));
}

void t_along_indices(UOp *x, UOp *idx, int axis, UOp **out)
{
	for (int d = 0; d < t_rank(x); d++)
		out[d] = d == axis ? idx : t_iota(DT_I64, idx->shape, d);
}

UOp *t_take_along(UOp *x, UOp *idx, int axis)
{
	UOp *at[MAX_RANK];

	if (t_rank(x) != t_rank(idx))
		die(MALFORMED, "index %s and tensor %s differ in rank", shape_text(idx->shape), shape_text(x->shape));
	t_along_indices(x, idx, axis, at);
	return t_gather(x, t_rank(x), at);
}

/* ---- compounds ----------------------------------------------------------------------------------------------------- */

/* Up to so many parts are chosen by nested WHEREs in one kernel. */
enum { CONCAT_WAYS = 8 };

/* Each element tests the bounds of n parts but loads from one: a load under PAD is gated. WHERE and not ADD joins
 * them, so that -0 and NaN payloads come through. */
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

/* Promoted, checked, and without the empty parts. Returns how many are left (at least one). */
static size_t concat_parts(size_t n, UOp *const *x, int axis, UOp **out)
{
	DType dt = x[0]->dtype;
	size_t kept = 0;
	int64_t v;

	for (size_t k = 1; k < n; k++)
		dt = dtype_promote(dt, x[k]->dtype);
	for (size_t k = 0; k < n; k++) {
		if (t_rank(x[k]) != t_rank(x[0]))
			die(MALFORMED, "cannot concatenate %s and %s", shape_text(x[0]->shape), shape_text(x[k]->shape));
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

/* More parts than CONCAT_WAYS are joined in groups, each in a buffer of its own, and then the groups: every element is
 * copied log8(n) times and tests 8 bounds each time, instead of n. */
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

/* The plain exp2 form: arguments are at most 0, where its error is small against the largest element. */
UOp *t_softmax(UOp *x, int axis)
{
	DType dt;
	UOp *e, *m;

	x = t_float(x);
	dt = x->dtype;
	axis = axis < 0 ? axis + t_rank(x) : axis;
	x = t_cast(x, dtype_acc(dt));
	m = t_reduce(OP_MAX, x, 1, &axis, true);
	e = t_op1(OP_EXP2, t_mulc(t_sub(x, m), 1.4426950408889634));
	return t_cast(t_mul(e, t_recip(t_sum(e, axis, true))), dt);
}

/* Windows along one axis of size i: k copies of x laid end to end and cut into rows of i + dilation, so that each row
 * starts one dilation later in x than the row before.  [i] → [k, i+d] → every stride-th of the first places: [k, o]. */
static UOp *windows_axis(UOp *x, int axis, int64_t k, int64_t stride, int64_t dilation)
{
	UOp *i = t_dim(x, axis), *o, *row = ix_add(i, ix_const(dilation)), *zero = ix_const(0);
	int64_t span, v;

	if (!mul_ok(dilation, k - 1, &span) || (ix_is_const(i, &v) && v <= span))
		die(MALFORMED, "a window of %lld does not fit axis %d of %s", (long long)k, axis, shape_text(x->shape));
	o = ix_add(ix_div(ix_sub(i, ix_const(span + 1)), ix_const(stride)), ix_const(1));
	x = t_unsqueeze(x, axis);
	if (k > 1) {
		x = t_expand_axis(x, axis, ix_const(k));
		x = t_pad_axis(t_merge_axes(x, axis, 2), axis, zero, ix_const(k * dilation));
		x = t_split_axis(x, axis, ix_const(k), row);
	}
	return t_slice(x, axis + 1, zero, ix_add(ix_mul(ix_sub(o, ix_const(1)), ix_const(stride)), ix_const(1)), stride);
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
