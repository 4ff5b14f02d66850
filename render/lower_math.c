/* exp2 and log2 of f32 as plain arithmetic, so that they run in vectors.
 *
 *     exp2(x) = 2^n · p(f)       n the whole number nearest to x, f = x - n in -1/2 … 1/2
 *     log2(x) = e + f · q(f)     x = 2^e · (1 + f), 1 + f in √½ … √2
 *
 * p and q are minimax polynomials (of relative error 2e-9 and 3e-8, fitted by Lawson's weighted least
 * squares); with rounding the results are within 2 units in the last place. 2^n is two factors, since
 * neither its greatest nor its least value is one float; subnormals come out rounded once. */
#include "render.h"

static UOp *make(Op op, DType dt, UOp *a, UOp *b)
{
	return NODE(op, dt, VNIL, a, b);
}

static UOp *f32(double v) { return const_num(DT_F32, v); }
static UOp *i32(int64_t v) { return const_int(DT_I32, v); }
static UOp *bits(UOp *x) { return NODE(OP_BITCAST, x->dtype == DT_F32 ? DT_I32 : DT_F32, VNIL, x); }
static UOp *less(UOp *a, UOp *b) { return make(OP_CMPLT, DT_BOOL, a, b); }
static UOp *where(UOp *c, UOp *a, UOp *b) { return NODE(OP_WHERE, a->dtype, VNIL, c, a, b); }

static UOp *mulacc(UOp *a, UOp *b, UOp *c)
{
	if (target_lacks(target, OP_MULACC))
		return make(OP_ADD, DT_F32, make(OP_MUL, DT_F32, a, b), c);
	return NODE(OP_MULACC, DT_F32, VNIL, a, b, c);
}

static UOp *horner(UOp *x, const double *c, int n)
{
	UOp *sum = f32(c[n - 1]);
	for (int i = n - 1; i-- > 0;)
		sum = mulacc(sum, x, f32(c[i]));
	return sum;
}

/* 2^n for n in -126 … 127 */
static UOp *power(UOp *n)
{
	return bits(make(OP_SHL, DT_I32, make(OP_ADD, DT_I32, n, i32(127)), i32(23)));
}

static UOp *exp2_f32(UOp *x)
{
	static const double p[] = {1.0, 0.6931471824645996, 0.24022646248340607, 0.05550328642129898,
		0.009618489071726799, 0.0013399930903688073, 0.0001534581242594868};
	const double round = 12582912;  /* 1.5·2^23: what is added to it loses its fraction */
	x = where(less(x, f32(-151)), f32(-151), where(less(f32(129), x), f32(129), x));
	UOp *shifted = make(OP_ADD, DT_F32, x, f32(round));
	UOp *f = make(OP_ADD, DT_F32, x, make(OP_MUL, DT_F32, make(OP_ADD, DT_F32, shifted, f32(-round)), f32(-1)));
	UOp *n = make(OP_ADD, DT_I32, bits(shifted), i32(-0x4b400000));
	UOp *half = make(OP_SHR, DT_I32, n, i32(1));
	UOp *rest = make(OP_ADD, DT_I32, n, make(OP_MUL, DT_I32, half, i32(-1)));
	UOp *y = make(OP_MUL, DT_F32, horner(f, p, 7), power(half));
	return make(OP_MUL, DT_F32, y, power(rest));
}

static UOp *log2_f32(UOp *x)
{
	static const double q[] = {1.4426950216293335, -0.7213473320007324, 0.48091062903404236,
		-0.3607036769390106, 0.28791624307632446, -0.23894481360912323, 0.21571564674377441,
		-0.2072697877883911, 0.12583696842193604};
	UOp *small = less(x, f32(0x1p-126));
	UOp *y = bits(where(small, make(OP_MUL, DT_F32, x, f32(0x1p24)), x));
	UOp *e = make(OP_SHR, DT_I32, make(OP_ADD, DT_I32, y, i32(-0x3f3504f3)), i32(23));
	UOp *m = bits(make(OP_ADD, DT_I32, y, make(OP_MUL, DT_I32, make(OP_SHL, DT_I32, e, i32(23)), i32(-1))));
	UOp *f = make(OP_ADD, DT_F32, m, f32(-1));
	UOp *whole = make(OP_ADD, DT_F32, NODE(OP_CAST, DT_F32, VNIL, e), where(small, f32(-24), f32(0)));
	UOp *r = mulacc(f, horner(f, q, 9), whole);
	r = where(less(x, f32(0)), f32(__builtin_nan("")), r);
	r = where(make(OP_CMPEQ, DT_BOOL, x, f32(0)), f32(-__builtin_inf()), r);
	return where(less(x, f32(__builtin_inf())), r, x);
}

UOp *math_op(UOp *u)
{
	if (!target->vector || target->gpu || u->dtype != DT_F32)
		return NULL;
	if (u->op == OP_EXP2)
		return exp2_f32(u->src[0]);
	return u->op == OP_LOG2 ? log2_f32(u->src[0]) : NULL;
}
