/* Functions whose results have a size that data gives (t_bind).
 *
 *     nonzero of [0 1 1]   →   running sum [0 1 2]: its last element is the size of the result, and
 *                              the sums before each element, [0 0 1], are where 0 1 2 are put: in
 *                              each place the last one stays, which is that of an element that
 *                              counts */
#include "library/library.h"

static UOp *i64(int64_t v) { return const_int(DT_I64, v); }

static UOp *is_true(UOp *x) { return x->dtype == DT_BOOL ? x : t_ne(x, t_num(x->dtype, 0)); }

static UOp *flat(UOp *x)
{
	UOp *n = shape_count(x->shape);

	return t_reshapev(x, 1, &n);
}

/* the slices of x along axis at the places `at` */
static UOp *rows_taken(UOp *x, int axis, UOp *at)
{
	return t_move_axis(t_gather(t_move_axis(x, axis, 0), 1, &at), 0, axis);
}

/* the places where a mask [n] is not 0, i64 [count] */
static UOp *places_of(UOp *mask)
{
	UOp *n = t_dim(mask, 0), *sum = t_scan(OP_ADD, t_cast(is_true(mask), DT_I64), 0),
	    *last = t_addc(t_size(DT_I64, n), -1), *zero = ix_const(0), *count, *before;

	/* of an empty mask, GATHER reads 0 */
	count = t_bind("count", t_gather(sum, 1, &last), zero, n);
	before = t_shrink_axis(t_pad_axis(sum, 0, ix_const(1), zero), 0, zero, n);
	return t_scatter(
		t_full(shape_new(1, &count), i64(0)), 1, &before, t_arange(DT_I64, n), "SET");
}

UOp *t_compress(UOp *x, UOp *mask, int axis)
{
	return rows_taken(x, axis, places_of(mask));
}

UOp *t_nonzero_places(UOp *x)
{
	UOp *at, *row[MAX_RANK];
	int rank;

	if (!t_rank(x))                         /* a scalar counts as [1] */
		x = flat(x);
	rank = t_rank(x);

	at = places_of(flat(x));
	for (int i = rank - 1; i >= 0; i--) {
		UOp *d = size_tensor(t_dim(x, i));
		row[i] = t_unsqueeze(i ? t_op2(OP_FLOORMOD, at, d) : at, 0);
		at = t_op2(OP_FLOORDIV, at, d);
	}
	return t_concat(rank, row, 0);
}

/* ---- slices */

/* i counted from the end where it is negative, then clipped to 0 … n */
static UOp *clipped(UOp *i, UOp *n)
{
	i = t_cast(i, DT_I64);
	return t_min(t_max(t_where(t_lt(i, i64(0)), t_add(i, n), i), i64(0)), n);
}

/* The place in an axis of n that is reversed, 0 … n: one before the first counts as n. */
static UOp *from_end(SliceBound b, UOp *n)
{
	UOp *i = t_cast(b.data ? b.data : size_tensor(b.size), DT_I64), *last = t_addc(n, -1);

	i = t_where(t_lt(i, i64(0)), t_add(i, n), i);
	return t_sub(last, t_min(t_max(i, i64(-1)), last));
}

/* A negative step: of the axis reversed, from the mirrored start to the mirrored stop. */
static UOp *slice_back(UOp *x, int axis, SliceBound start, SliceBound stop, int64_t step)
{
	UOp *n = size_tensor(t_dim(x, axis)), *lo = i64(0), *hi = n;

	if (step == INT64_MIN)
		die(UNSUPPORTED, "a slice by a step of %lld", (long long)step);
	if (start.data || start.size)
		lo = from_end(start, n);
	if (stop.data || stop.size)
		hi = from_end(stop, n);
	return t_slice_data(t_flip(x, 1, &axis), axis, (SliceBound){.data = lo},
		(SliceBound){.data = hi}, -step);
}

UOp *t_slice_data(UOp *x, int axis, SliceBound start, SliceBound stop, int64_t step)
{
	UOp *n = t_dim(x, axis), *most = size_tensor(n), *lo, *hi;

	if (step < 0)
		return slice_back(x, axis, start, stop, step);
	start.size = start.size ? t_slice_bound(start.size, n) : ix_const(0);
	stop.size = stop.size ? t_slice_bound(stop.size, n) : n;
	lo = start.data ? clipped(start.data, most) : size_tensor(start.size);
	hi = stop.data ? clipped(stop.data, most) : size_tensor(stop.size);
	if (start.data)
		start.size = t_bind("start", t_min(lo, hi), ix_const(0), n);
	hi = t_sub(t_max(lo, hi), lo);
	stop.size = ix_add(start.size, t_bind("length", hi, ix_const(0), n));
	x = t_shrink_axis(x, axis, start.size, stop.size);
	return step == 1 ? x : t_slice(x, axis, ix_const(0), t_dim(x, axis), step);
}

/* ---- unique ---------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 256 };

static UOp *as_rows(UOp *x)
{
	UOp *n = ix_const(1);

	for (int i = 1; i < t_rank(x); i++)
		n = ix_mul(n, t_dim(x, i));
	return t_reshapev(x, 2, (UOp *[]){ t_dim(x, 0), n });
}

/* The stable order of the rows [n, k], compared by the first column, then the second, … */
static UOp *rows_order(UOp *rows)
{
	int64_t k;
	UOp *order = NULL;

	if (!ix_is_const(t_dim(rows, 1), &k) || k > MOST_COLUMNS)
		die(UNSUPPORTED, "unique along an axis: parts of more than %d elements",
			MOST_COLUMNS);
	for (int64_t c = k - 1; c >= 0; c--) {
		UOp *col = t_squeeze(t_shrink_axis(rows, 1, ix_const(c), ix_const(c + 1)), 1), *by;
		by = t_sort(order ? t_gather(col, 1, &order) : col, 0, false);
		order = order ? t_gather(order, 1, &by) : by;
	}
	return order ? order : t_arange(DT_I64, t_dim(rows, 0));
}

/* bool [n]: a sorted row differs from the one before it; true for the first row. */
static UOp *rows_new(UOp *sorted)
{
	UOp *i = t_arange(DT_I64, t_dim(sorted, 0)), *before = t_sub(i, i64(1)), *differ;
	int axis = 1;

	differ = t_ne(sorted, t_gather(sorted, 1, &before));
	return t_or(t_reduce(OP_MAX, differ, 1, &axis, false), t_eq(i, i64(0)));
}

void t_unique(UOp *x, int axis, bool sorted, UOp **out)
{
	UOp *rows = as_rows(t_move_axis(x, axis, 0)), *order = rows_order(rows);
	UOp *starts, *number, *zero = i64(0), *back, *by;

	starts = rows_new(t_gather(rows, 1, &order));
	/* for each sorted row the number of its distinct value, from 0 */
	number = t_sub(t_scan(OP_ADD, t_cast(starts, DT_I64), 0), i64(1));
	out[1] = t_compress(order, starts, 0);
	out[2] = t_scatter(t_full(order->shape, zero), 1, &order, number, "SET");
	out[3] = t_scatter(t_full(out[1]->shape, zero), 1, &number,
		t_full(number->shape, i64(1)), "ADD");
	if (!sorted) {
		by = t_sort(out[1], 0, false);
		back = t_scatter(
			t_full(by->shape, zero), 1, &by, t_arange(DT_I64, t_dim(by, 0)), "SET");
		out[1] = t_gather(out[1], 1, &by);
		out[2] = t_gather(back, 1, &out[2]);
		out[3] = t_gather(out[3], 1, &by);
	}
	out[0] = rows_taken(x, axis, out[1]);
}

/* ---- functions of the table ------------------------------------------------------------------ */

Value fn_nonzero(Args *a) { return v_tensor(t_nonzero_places(arg_tensor(a, 0))); }

Value fn_compress(Args *a)
{
	UOp *x = arg_tensor(a, 0), *mask = arg_tensor(a, 1);
	int axis = 0;

	if (arg_given(a, 2))
		axis = arg_axis(a, 2, t_rank(x));
	else
		x = flat(x);
	if (t_rank(mask) != 1)
		mask = flat(mask);
	if (ix_prove_lt(t_dim(x, axis), t_dim(mask, 0)))
		die(MALFORMED, "compress: a mask of %s for axis %d of %s", shape_text(mask->shape),
			axis, shape_text(x->shape));
	return v_tensor(t_compress(x, mask, axis));
}

Value fn_unique(Args *a)
{
	UOp *x = arg_tensor(a, 0), *out[4];
	int axis = 0;

	if (arg_given(a, 1))
		axis = arg_axis(a, 1, t_rank(x));
	else
		x = flat(x);
	t_unique(x, axis, arg_bool(a, 2), out);
	Value *v = arena_alloc(4 * sizeof *v);
	for (int i = 0; i < 4; i++)
		v[i] = v_tensor(out[i]);
	return v_list(4, v);
}
