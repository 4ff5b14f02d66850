/* Helpers for the functions of the reals: nodes of one float dtype and its bits as integers. All of
 * them run lane by lane in vectors; none relies on MULACC rounding only once. */
#ifndef LOWER_MATH_H
#define LOWER_MATH_H
#include "graph/graph.h"

static inline UOp *m_op(Op op, UOp *a, UOp *b) { return NODE(op, a->dtype, VNIL, a, b); }
static inline UOp *m_add(UOp *a, UOp *b) { return m_op(OP_ADD, a, b); }
static inline UOp *m_sub(UOp *a, UOp *b) { return m_op(OP_SUB, a, b); }
static inline UOp *m_mul(UOp *a, UOp *b) { return m_op(OP_MUL, a, b); }
static inline UOp *m_mulacc(UOp *a, UOp *b, UOp *c)
{
	return NODE(OP_MULACC, a->dtype, VNIL, a, b, c);
}
static inline UOp *m_less(UOp *a, UOp *b) { return NODE(OP_CMPLT, DT_BOOL, VNIL, a, b); }
static inline UOp *m_equal(UOp *a, UOp *b) { return NODE(OP_CMPEQ, DT_BOOL, VNIL, a, b); }
static inline UOp *m_where(UOp *c, UOp *a, UOp *b)
{
	return NODE(OP_WHERE, a->dtype, VNIL, c, a, b);
}
static inline UOp *m_cast(UOp *x, DType dt) { return NODE(OP_CAST, dt, VNIL, x); }

/* a constant of x's dtype: a float, or an integer's bits */
static inline UOp *m_num(const UOp *x, double v) { return const_num(x->dtype, v); }
static inline UOp *m_int(const UOp *x, uint64_t bits) { return const_bits(x->dtype, &bits); }

static inline UOp *m_shl(UOp *x, int by) { return m_op(OP_SHL, x, m_int(x, by)); }
static inline UOp *m_shr(UOp *x, int by) { return m_op(OP_SHR, x, m_int(x, by)); }

/* a float's bits, as i32 or u64 (an arithmetic right shift of i64 is slow where the processor has
 * none); and back */
static inline UOp *m_bits(UOp *x)
{
	return NODE(OP_BITCAST, x->dtype == DT_F32 ? DT_I32 : DT_U64, VNIL, x);
}
static inline UOp *m_real(UOp *bits)
{
	return NODE(OP_BITCAST, dtype_size(bits->dtype) == 4 ? DT_F32 : DT_F64, VNIL, bits);
}
static inline UOp *m_masked(UOp *x, uint64_t mask)
{
	UOp *b = m_bits(x);
	return m_real(m_op(OP_AND, b, m_int(b, mask)));
}
/* x clamped between two numbers; NaN stays */
static inline UOp *m_clamp(UOp *x, double lo, double hi)
{
	return m_op(OP_MIN, m_op(OP_MAX, x, m_num(x, lo)), m_num(x, hi));
}
/* The bounds of x unless it is NaN, as far as a few nodes below it show them. */
typedef struct { double lo, hi; } MathBounds;
MathBounds math_bounds(UOp *x);
/* m_clamp, but without the sides on which x is known to be within ±most. */
UOp *math_hold(UOp *x, double lo, double hi, double most);
/* x + c - c with c = (1.5·2^mantissa + bias)·2^k: x rounded to the nearest multiple of 2^k;
 * *shifted is x + c, whose last bits are those of the multiple, plus bias */
static inline UOp *m_round_biased(UOp *x, int k, int bias, UOp **shifted)
{
	double c = x->dtype == DT_F32 ? 0x1.8p23 : 0x1.8p52;
	UOp *magic = m_num(x, (c + bias) * (1 << k));
	*shifted = m_add(x, magic);
	return m_sub(*shifted, magic);
}
static inline UOp *m_round(UOp *x, int k, UOp **shifted)
{
	return m_round_biased(x, k, 0, shifted);
}
/* c[0] + c[1]·x + … + c[n-1]·xⁿ⁻¹ */
static inline UOp *m_poly(UOp *x, const double *c, int n)
{
	UOp *sum = m_num(x, c[n - 1]);
	for (int i = n - 1; i-- > 0;)
		sum = m_mulacc(sum, x, m_num(x, c[i]));
	return sum;
}
#define M_POLY(x, c) m_poly(x, c, sizeof(c) / sizeof *(c))

/* math_f32.c, math_f64.c: the functions among which math.c chooses */
UOp *math_exp2_f32(UOp *x);
UOp *math_log2_f32(UOp *x);
UOp *math_sin_f32(UOp *x);
UOp *math_pow_f32(UOp *x, UOp *y);
UOp *math_exp2_f64(UOp *x);
UOp *math_log2_f64(UOp *x);
UOp *math_sin_f64(UOp *x);
UOp *math_pow_f64(UOp *x, UOp *y);

/* The argument of log2 in parts: x > 0 is 2^e·(1 + f), 1 + f in √½ … √2. For 0, ∞ and NaN the parts
 * are unspecified. */
typedef struct { UOp *e, *f; } LogParts;
LogParts math_parts_f64(UOp *x);
/* x^y from |x|^y, which needs to be right only where 0 < |x| < ∞ and y is not NaN: adds the sign
 * and the special values of C's pow. All three have one dtype. */
UOp *math_pow_special(UOp *x, UOp *y, UOp *magnitude);
#endif
