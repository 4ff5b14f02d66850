/* Products of matrices: MatMul, Gemm, Einsum, Det.
 *
 *     Gemm alpha=0.5 transB=1   →   MUL(a @ PERMUTE b, 0.5) + c
 *     Det                       →   elimination, unrolled, the greatest pivot first */
#include "onnx/onnx.h"

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }

void onnx_MatMul(OnnxCall *c) { onnx_set(c, 0, t_matmul(onnx_in(c, 0), onnx_in(c, 1))); }

void onnx_Einsum(OnnxCall *c)
{
	int n = onnx_nin(c);
	UOp **x = arena_alloc((n + 1) * sizeof *x);

	for (int i = 0; i < n; i++)
		x[i] = onnx_in(c, i);
	onnx_set(c, 0, t_einsum(onnx_attr_str(c, "equation", ""), n, x));
}

/* ---- gemm ------------------------------------------------------------------------------------ */

/* x·by; integers by way of f64, since by is a fraction */
static UOp *scaled(UOp *x, double by)
{
	if (by == 1)
		return x;
	return dtype_float(x->dtype) ? t_mulc(x, by)
		: t_cast(t_mulc(t_cast(x, DT_F64), by), x->dtype);
}

/* Before version 7 the third operand broadcasts by an attribute, to the same effect. f16 is
 * rounded once, at the end. */
void onnx_Gemm(OnnxCall *c)
{
	UOp *a = onnx_in(c, 0), *b = onnx_in(c, 1), *y;
	DType dt = a->dtype, acc = dtype_acc(dt);
	double beta = onnx_attr_float(c, "beta", 1);

	if (t_rank(a) != 2 || t_rank(b) != 2)
		onnx_fail(c, MALFORMED, "shapes %s and %s are not two matrices",
			shape_text(a->shape), shape_text(b->shape));
	a = onnx_attr_int(c, "transA", 0) ? t_transpose(a, 0, 1) : a;
	b = onnx_attr_int(c, "transB", 0) ? t_transpose(b, 0, 1) : b;
	y = scaled(t_matmul(t_cast(a, acc), t_cast(b, acc)), onnx_attr_float(c, "alpha", 1));
	if (onnx_has(c, 2) && beta != 0)
		y = t_add(y, t_expand_to(scaled(t_cast(onnx_in(c, 2), acc), beta), y->shape));
	onnx_set(c, 0, t_cast(y, dt));
}

/* ---- determinant ----------------------------------------------------------------------------- */

enum { MOST_ROWS = 64 };

/* row `which` of each matrix, [..., 1, n]; which is [..., 1, 1] */
static UOp *row_at(UOp *x, UOp *which)
{
	UOp *hit = t_eq(t_iota(DT_I64, x->shape, t_rank(x) - 2), which);
	int axis = t_rank(x) - 2;

	return t_reduce(OP_ADD, t_where(hit, x, num(x, 0)), 1, &axis, true);
}

/* The place of the element of column k that is greatest in magnitude, from row k on: [..., 1, 1] */
static UOp *pivot_row(UOp *x, int64_t k)
{
	int axis = t_rank(x) - 2;
	UOp *row = t_iota(DT_I64, x->shape, axis), *from = t_num(DT_I64, k), *column, *most, *hit;

	column = t_abs(t_shrink_axis(x, axis + 1, ix_const(k), ix_const(k + 1)));
	column = t_where(t_lt(row, from), num(x, -1), column);
	most = t_reduce(OP_MAX, column, 1, &axis, true);
	hit = t_where(t_eq(column, most), row, t_size(DT_I64, t_dim(x, axis)));
	hit = t_reduce(OP_MIN, hit, 1, &axis, true);
	return t_where(t_ne(most, most), from, hit);
}

/* One step: rows p and k exchanged, then the multiples of row k that clear the column below
 * taken away. */
static UOp *eliminate(UOp *x, int64_t k, UOp **det)
{
	int axis = t_rank(x) - 2;
	UOp *row = t_iota(DT_I64, x->shape, axis), *at = t_num(DT_I64, k), *p = pivot_row(x, k);
	UOp *top = row_at(x, p), *old = t_shrink_axis(x, axis, ix_const(k), ix_const(k + 1)),
		*pivot, *by;

	x = t_where(t_eq(row, at), top, t_where(t_eq(row, p), old, x));
	pivot = t_shrink_axis(top, axis + 1, ix_const(k), ix_const(k + 1));
	*det = t_mul(*det, t_where(t_eq(p, at), pivot, t_neg(pivot)));
	by = t_div(t_shrink_axis(x, axis + 1, ix_const(k), ix_const(k + 1)),
		t_where(t_eq(pivot, num(x, 0)), num(x, 1), pivot));
	x = t_where(t_lt(at, row), t_sub(x, t_mul(by, top)), x);
	return NODE(OP_CONTIGUOUS, x->dtype, VNIL, x);
}

void onnx_Det(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *det;
	DType dt = x->dtype;
	int64_t n;

	if (t_rank(x) < 2 || !size_equal(t_dim(x, -1), t_dim(x, -2)))
		onnx_fail(c, MALFORMED, "shape %s has no square matrices", shape_text(x->shape));
	if (!ix_is_const(t_dim(x, -1), &n) || n > MOST_ROWS)
		onnx_fail(c, UNSUPPORTED, "the determinant of %s: at most %d rows",
			shape_text(x->shape), MOST_ROWS);
	x = t_cast(x, dtype_acc(dt));
	det = num(x, 1);
	for (int64_t k = 0; k < n; k++)
		x = eliminate(x, k, &det);
	for (int i = 0; i < 2 && n; i++)
		det = t_squeeze(det, t_rank(det) - 1);
	onnx_set(c, 0, t_cast(n ? det : t_full(shape_new(t_rank(x) - 2, x->shape->dim), det), dt));
}
