/* EXP2, LOG2, SIN and POW of f32 and f64 as plain arithmetic, so that they run in vectors: a
 * library function would be called once for each lane. |x| by clearing the sign bit. */
#include "target/target.h"
#include "lower/lower.h"
#include "lower/math_parts.h"

/* 1 + f in √½ … √2: adding carries into the exponent from √2 on, then the exponent is removed. The
 * exponent becomes a float by placing it in the last bits of 2^52: few processors convert an
 * i64. */
LogParts math_parts_f64(UOp *x)
{
	UOp *b = m_bits(x);
	UOp *k = m_shr(m_add(b, m_int(b, 0x3ff0000000000000 - 0x3fe6a09e667f3bcd)), 52);
	UOp *number = m_real(m_op(OP_OR, k, m_int(k, 0x4330000000000000)));
	UOp *m = m_real(m_sub(m_add(b, m_int(b, 0x3ff0000000000000)), m_shl(k, 52)));
	return (LogParts){m_sub(number, m_num(x, 0x1p52 + 1023)), m_sub(m, m_num(x, 1))};
}

static UOp *both(UOp *a, UOp *b) { return NODE(OP_AND, DT_BOOL, VNIL, a, b); }
static UOp *either(UOp *a, UOp *b) { return NODE(OP_OR, DT_BOOL, VNIL, a, b); }
static UOp *not(UOp *a) { return NODE(OP_XOR, DT_BOOL, VNIL, a, const_num(DT_BOOL, 1)); }

/* The remainder of y by 2: 0 when it is even (as all are from 2^54 on), ±1 when it is odd. */
static UOp *parity(UOp *y)
{
	UOp *held = m_clamp(y, -0x1p54, 0x1p54), *half = m_mul(held, m_num(y, 0.5));
	half = NODE(OP_TRUNC, y->dtype, VNIL, half);
	return m_sub(held, m_add(half, half));
}

UOp *math_pow_special(UOp *x, UOp *y, UOp *magnitude)
{
	uint64_t sign = x->dtype == DT_F32 ? 0x80000000 : 0x8000000000000000;
	UOp *zero = m_num(x, 0), *one = m_num(x, 1), *inf = m_num(x, __builtin_inf());
	UOp *a = m_masked(x, sign - 1), *down = m_less(y, zero), *r = magnitude, *bits;
	r = m_where(m_equal(a, zero), m_where(down, inf, zero), r);
	r = m_where(m_equal(a, inf), m_where(down, zero, inf), r);
	UOp *rest = parity(y), *odd = m_equal(m_masked(rest, sign - 1), one);
	bits = m_bits(x);
	bits = m_op(OP_AND, bits, m_where(odd, m_int(bits, sign), m_int(bits, 0)));
	r = m_real(m_op(OP_XOR, m_bits(r), bits));
	UOp *broken = both(not(odd), not(m_equal(rest, zero)));
	UOp *negative = both(m_less(x, zero), m_less(m_num(x, -__builtin_inf()), x));
	r = m_where(both(negative, broken), m_num(x, __builtin_nan("")), r);
	r = m_where(both(m_equal(x, x), m_equal(y, y)), r, m_add(x, y));
	return m_where(either(m_equal(x, one), m_equal(y, zero)), one, r);
}

static bool is_absolute(const UOp *x)
{
	const UOp *mask = x->op == OP_BITCAST ? x->src[0] : x;
	return mask->op == OP_AND && mask->src[0]->op == OP_BITCAST && is_const(mask->src[1]) &&
		mask->src[1] == m_int(mask, x->dtype == DT_F32 ? INT32_MAX : INT64_MAX);
}

/* Is it x - max x? Then over the ranges of the maximum x is the same expression, with that
 * reduction's own ranges in place of them. */
static bool below_maximum(const UOp *u)
{
	UOp *x = u->src[0], *m = u->src[1];
	if (u->op != OP_SUB || m->op != OP_RREDUCE || !val_is_str(m->arg, "MAX"))
		return false;
	return x == m->src[0];
}

/* The least and greatest value of x, as seen from its own node. */
static MathBounds own_bounds(const UOp *x)
{
	const double inf = __builtin_inf();
	if (is_absolute(x) || (x->op == OP_MUL && x->src[0] == x->src[1]))
		return (MathBounds){0, inf};
	return below_maximum(x) ? (MathBounds){-inf, 0} : (MathBounds){-inf, inf};
}

MathBounds math_bounds(UOp *x)
{
	enum { FAR = 8 };
	const double inf = __builtin_inf();
	UOp *way[FAR];
	double c;
	int n = 0;
	for (; n < FAR && (x->op == OP_NEG || (x->nsrc == 2 && const_is_float(x->src[1], &c)));
		n++) {
		way[n] = x;
		x = x->src[0];
	}
	MathBounds b = own_bounds(x);
	while (n-- > 0) {
		const_is_float(way[n]->nsrc == 2 ? way[n]->src[1] : m_num(x, -1), &c);
		if (way[n]->op == OP_MAX)
			b = (MathBounds){__builtin_fmax(b.lo, c), __builtin_fmax(b.hi, c)};
		else if (way[n]->op == OP_MIN)
			b = (MathBounds){__builtin_fmin(b.lo, c), __builtin_fmin(b.hi, c)};
		else if (way[n]->op == OP_ADD)
			b = (MathBounds){b.lo + c, b.hi + c};
		else if ((way[n]->op == OP_MUL || way[n]->op == OP_NEG) && c != 0)
			b = c > 0 ? (MathBounds){b.lo * c, b.hi * c} :
				    (MathBounds){b.hi * c, b.lo * c};
		else
			b = (MathBounds){-inf, inf};
	}
	return b;
}

UOp *math_hold(UOp *x, double lo, double hi, double most)
{
	MathBounds b = math_bounds(x);
	if (!(b.lo >= -most))
		x = m_op(OP_MAX, x, m_num(x, lo));
	return b.hi <= most ? x : m_op(OP_MIN, x, m_num(x, hi));
}
