/* Linear systems of known size, by Gaussian elimination, unrolled while tracing.
 *
 *     solve(a[2,2], b[2])    row p, of the greatest |a[i,0]|, becomes a row of the triangle,
 *                            the others lose a column; then the unknowns, the last one first
 *
 * A system of n equations takes some 20 n nodes. Each step works on the remaining [.., s, s], so
 * the total is n³/3 products, as in LAPACK. Leading axes are a batch. Rows are selected and
 * exchanged by WHERE, so that derivatives pass through. */
#include "library/library.h"

enum { MAX_UNROLLED = 256 };

static UOp *num(int64_t n) { return ix_const(n); }
static UOp *part(UOp *x, int axis, int64_t from, int64_t to)
{
	return t_shrink_axis(x, axis, num(from), num(to));
}

/* the argument a[.., n, n], and the n */
static UOp *square(Args *a, int64_t *n)
{
	UOp *x = arg_tensor(a, 0);
	int r = t_rank(x);

	if (r >= 2)
		x = t_agree(x, r - 2, t_dim(x, -1));
	if (r < 2 || !size_equal(t_dim(x, -1), t_dim(x, -2)))
		die(MALFORMED, "%s: a has shape %s, expected [..., n, n]", a->fn->name,
			shape_text(x->shape));
	*n = shape_dim(x->shape, r - 1);
	if (*n > MAX_UNROLLED)
		die(UNSUPPORTED, "%s: a system of %lld, at most %d are unrolled", a->fn->name,
			(long long)*n, MAX_UNROLLED);
	return x;
}

/* Both operands in one dtype wide enough to compute in, with the same batch axes; b as [.., n,
 * m]. */
typedef struct { UOp *a, *b; int64_t n; int row, col; DType dt; bool vector; } System;

static UOp *batched(UOp *x, const Shape *lead)
{
	UOp *dim[MAX_RANK];
	int k = lead->rank;

	for (int i = 0; i < k; i++)
		dim[i] = lead->dim[i];
	dim[k] = t_dim(x, -2);
	dim[k + 1] = t_dim(x, -1);
	return t_expand_to(x, shape_new(k + 2, dim));
}

static System system_of(Args *a)
{
	System s = {0};

	s.a = square(a, &s.n);
	s.b = arg_tensor_like(a, 1, s.a->dtype);
	s.dt = dtype_promote(s.a->dtype, s.b->dtype);
	s.dt = dtype_float(s.dt) ? s.dt : float_dtype();
	s.vector = t_rank(s.b) == 1;
	if (s.vector)
		s.b = t_unsqueeze(s.b, 1);
	if (t_rank(s.b) < 2 || !size_equal(t_dim(s.b, -2), t_dim(s.a, -1)))
		die(MALFORMED, "%s: b has shape %s, beside a of %s", a->fn->name,
			shape_text(s.b->shape), shape_text(s.a->shape));
	const Shape *la = shape_new(t_rank(s.a) - 2, s.a->shape->dim),
		    *lb = shape_new(t_rank(s.b) - 2, s.b->shape->dim);
	const Shape *lead = shape_broadcast(la, lb);
	if (!lead || lead->rank + 2 > MAX_RANK)
		die(MALFORMED, "%s: batches of %s and %s do not match", a->fn->name, shape_text(la),
			shape_text(lb));
	s.a = batched(t_cast(s.a, dtype_acc(s.dt)), lead);
	s.b = batched(t_cast(s.b, dtype_acc(s.dt)), lead);
	s.row = lead->rank;
	s.col = s.row + 1;
	return s;
}

static Value solution(const System *s, UOp *x)
{
	return v_tensor(t_cast(s->vector ? t_squeeze(x, s->col) : x, s->dt));
}

/* ---- triangular systems */

/* Solves a x = b for a lower triangular a: finds the first unknown, subtracts its share from b, and
 * so on. */
static UOp *forward(const System *s)
{
	UOp **x = arena_alloc((s->n + 1) * sizeof *x), *b = s->b;

	for (int64_t k = 0; k < s->n; k++) {
		UOp *column = part(part(s->a, s->col, k, k + 1), s->row, k, s->n);
		int64_t left = s->n - k;
		x[k] = t_div(part(b, s->row, 0, 1), part(column, s->row, 0, 1));
		if (left > 1)
			b = t_sub(part(b, s->row, 1, left),
				t_mul(part(column, s->row, 1, left), x[k]));
	}
	return s->n ? t_concat(s->n, x, s->row) : b;
}

Value fn_triangular_solve(Args *a)
{
	System s = system_of(a);

	if (arg_bool(a, 2))
		return solution(&s, forward(&s));
	/* an upper triangle reversed is a lower one */
	s.a = t_flip(s.a, 2, (int[]){s.row, s.col});
	s.b = t_flip(s.b, 1, &s.row);
	return solution(&s, t_flip(forward(&s), 1, &s.row));
}

Value fn_cholesky(Args *a)
{
	int64_t n;
	UOp *x = t_float(square(a, &n)), *s = t_cast(x, dtype_acc(x->dtype));
	int col = t_rank(x) - 1, row = col - 1;
	UOp **l = arena_alloc((n + 1) * sizeof *l);

	for (int64_t k = 0, left = n; k < n; k++, left--) {
		UOp *first = part(s, col, 0, 1);
		UOp *column = t_div(first, t_sqrt(part(first, row, 0, 1)));
		l[k] = t_pad_axis(column, row, num(k), num(0));
		if (left == 1)
			break;
		column = part(column, row, 1, left);
		UOp *outer = t_mul(column, t_transpose(column, row, col));
		s = t_sub(part(part(s, row, 1, left), col, 1, left), outer);
	}
	return v_tensor(n ? t_cast(t_concat(n, l, col), x->dtype) : x);
}

/* ---- elimination */

/* The place of the largest |x[.., i, 0]|, the first of equal ones, [.., 1, 1]; the last place where
 * there is NaN. */
static UOp *pivot_place(UOp *x, int row, int64_t n)
{
	UOp *size = t_abs(x), *most = t_reduce(OP_MAX, size, 1, &row, true);
	UOp *places = t_iota(DT_I64, x->shape, row);
	UOp *found = t_where(t_eq(size, most), places, const_int(DT_I64, n - 1));

	return t_reduce(OP_MIN, found, 1, &row, true);
}

/* One step on m[.., s, w]: exchanges the row of pivot_place with row 0, which becomes *top, and
 * returns the reduced other rows without their first column. *place is the pivot's place; by gives
 * the divisor to use instead of the pivot, [.., 1, 1]. */
static UOp *clear_column(UOp *m, UOp *(*by)(UOp *pivot), UOp **top, UOp **place)
{
	int col = t_rank(m) - 1, row = col - 1;
	int64_t left = shape_dim(m->shape, row), width = shape_dim(m->shape, col);

	*place = pivot_place(part(m, col, 0, 1), row, left);
	UOp *is = t_eq(t_iota(DT_I64, m->shape, row), *place), *zero = t_num(m->dtype, 0);
	*top = t_reduce(OP_ADD, t_where(is, m, zero), 1, &row, true);
	UOp *rest = part(t_where(is, part(m, row, 0, 1), m), row, 1, left);
	UOp *factor = t_div(part(rest, col, 0, 1), by(part(*top, col, 0, 1)));
	return t_sub(part(rest, col, 1, width), t_mul(factor, part(*top, col, 1, width)));
}

static UOp *itself(UOp *pivot) { return pivot; }

/* The rows of the triangle, each from its diagonal on, followed by the columns of b. */
static void eliminate(const System *s, UOp **rows)
{
	UOp *m = t_concat(2, (UOp *[]){s->a, s->b}, s->col), *place;

	for (int64_t k = 0; k < s->n - 1; k++)
		m = clear_column(m, itself, &rows[k], &place);
	rows[s->n - 1] = m;
}

Value fn_solve(Args *a)
{
	System s = system_of(a);
	UOp **rows = arena_alloc((s.n + 1) * sizeof *rows), *x = NULL;
	int64_t m = shape_dim(s.b->shape, s.col);

	if (!s.n)
		return solution(&s, s.b);
	eliminate(&s, rows);
	for (int64_t k = s.n - 1, known = 0; k >= 0; k--, known++) {
		UOp *b = part(rows[k], s.col, known + 1, known + 1 + m);
		if (x)
			b = t_sub(b, t_matmul(part(rows[k], s.col, 1, known + 1), x));
		b = t_div(b, part(rows[k], s.col, 0, 1));
		x = x ? t_concat(2, (UOp *[]){b, x}, s.row) : b;
	}
	return solution(&s, x);
}

Value fn_inv(Args *a)
{
	int64_t n;
	UOp *x = t_float(square(a, &n));
	UOp *sides[2] = {num(n), num(n)};
	const Shape *s = shape_new(2, sides);
	UOp *eye = t_cast(t_eq(t_iota(DT_I64, s, 0), t_iota(DT_I64, s, 1)), x->dtype);
	Value at[2] = {v_tensor(x), v_tensor(eye)};

	return fn_solve(&(Args){a->fn, 2, at});
}

/* Where the pivot is 0, the column below it is 0 already, so any divisor will do. */
static UOp *one_for_zero(UOp *pivot)
{
	return t_where(t_eq(pivot, t_num(pivot->dtype, 0)), t_num(pivot->dtype, 1), pivot);
}

/* The product of the pivots; each exchange of rows flips the sign. */
Value fn_det(Args *a)
{
	int64_t n;
	UOp *x = t_float(square(a, &n)), *m = t_cast(x, dtype_acc(x->dtype));
	UOp *top, *place, *det = NULL;
	int row = t_rank(x) - 2;

	if (!n)
		return v_tensor(t_full(shape_new(row, x->shape->dim), t_num(x->dtype, 1)));
	for (int64_t k = 0; k < n - 1; k++) {
		m = clear_column(m, one_for_zero, &top, &place);
		UOp *pivot = part(top, row + 1, 0, 1);
		pivot = t_where(t_eq(place, t_num(DT_I64, 0)), pivot, t_neg(pivot));
		det = det ? t_mul(det, pivot) : pivot;
	}
	det = det ? t_mul(det, m) : m;
	return v_tensor(t_cast(t_squeeze(t_squeeze(det, row + 1), row), x->dtype));
}
