/* EXP2, LOG2, SIN and POW of f64 as plain arithmetic.
 *
 *     exp2(x) = (2^n)²·p(f)         n the whole number nearest to x/2, f = x - 2n in -1 … 1
 *     log2(x) = e + f·q(f)          x = 2^e·(1 + f), 1 + f in √½ … √2
 *     pow(x, y) = ±2^(y·log2|x|)    the logarithm and its product in double-double precision
 *
 * p and q interpolate at Chebyshev points; their relative errors stand beside them. */
#include "lower/math_parts.h"
#include <math.h>

/* for |x| up to slightly more than 1: 3e-17 */
static UOp *exp2_fraction(UOp *f)
{
	static const double p[] = {1.0, 0.6931471805599453, 0.2402265069591005, 0.05550410866482157,
		0.00961812910763454, 0.0013333558146431243, 0.0001540353038853212,
		1.5252733801820547e-05, 1.321548845227336e-06, 1.01780867767716e-07,
		7.054634770023377e-09, 4.445410419467958e-10, 2.5899628877287115e-11,
		1.3793653501432658e-12};
	return M_POLY(f, p);
}

/* y·4^n where n is in the last bits of `shifted` */
static UOp *scaled(UOp *y, UOp *shifted)
{
	UOp *n = m_bits(shifted), *scale = m_real(m_shl(m_add(n, m_int(n, 1023)), 52));
	return m_mul(m_mul(y, scale), scale);
}

UOp *math_exp2_f64(UOp *x)
{
	UOp *shifted;
	x = math_hold(x, -1080, 1030, 2040);
	UOp *f = m_sub(x, m_round(x, 1, &shifted));
	return scaled(exp2_fraction(f), shifted);
}

/* x, or x times 2^54 when subnormal; *e is the correction of the exponent */
static UOp *normal(UOp *x, UOp **e)
{
	UOp *small = m_less(x, m_num(x, 0x1p-1022));
	*e = m_where(small, m_num(x, -54), m_num(x, 0));
	return m_where(small, m_mul(x, m_num(x, 0x1p54)), x);
}

/* 2e-18 */
UOp *math_log2_f64(UOp *x)
{
	static const double q[] = {1.4426950408889634, -0.7213475204444818, 0.4808983469629908,
		-0.36067376022219916, 0.28853900817677364, -0.24044917348855005, 0.2060992916942484,
		-0.1803368796240827, 0.16029943931839305, -0.14426951802649127, 0.13115448168044017,
		-0.12022457968262618, 0.11096724361106544, -0.10303976623495806,
		0.09631240089334668, -0.09043558742630768, 0.08384080162652882, -0.0769038835824262,
		0.078603116517106, -0.09066295929036122, 0.08115768710202004,
		-0.034065899567745014};
	UOp *e;
	LogParts p = math_parts_f64(normal(x, &e));
	UOp *r = m_mulacc(p.f, M_POLY(p.f, q), m_add(p.e, e));
	r = m_where(m_less(x, m_num(x, 0)), m_num(x, __builtin_nan("")), r);
	r = m_where(m_equal(x, m_num(x, 0)), m_num(x, -__builtin_inf()), r);
	return m_where(m_less(x, m_num(x, __builtin_inf())), r, x);
}

/* An unrounded sum of two numbers; hi has 21 bits, so that the product of two such is exact. */
typedef struct { UOp *hi, *lo; } Two;

static UOp *head(UOp *x) { return m_masked(x, 0xffffffff00000000); }

/* a + b as a head and the remainder; |a| is at least |b| up to its rounding */
static Two head_of_sum(UOp *a, UOp *b)
{
	UOp *hi = head(m_add(a, b));
	return (Two){hi, m_sub(b, m_sub(hi, a))};
}

/* f / (2 + f) */
static Two ratio(UOp *f)
{
	UOp *two = m_num(f, 2), *d = m_add(f, two), *inv = m_op(OP_FDIV, m_num(f, 1), d);
	UOp *s = m_mul(f, inv), *hi = head(s), *dh = head(d);
	UOp *dl = m_sub(f, m_sub(dh, two));
	UOp *rest = m_sub(m_sub(f, m_mul(hi, dh)), m_mul(hi, dl));
	return (Two){hi, m_mul(rest, inv)};
}

/* With s = f/(2+f): log2(1+f) = 2/(3 ln 2) · s · (3 + s² + 3/5 s⁴ + 3/7 s⁶ + …), as in FDLIBM's
 * e_pow.c (Sun Microsystems, netlib.org/fdlibm); |s| ≤ 0.172, and the terms end below 2^-70. */
static Two log2_two(UOp *x)
{
	static const double c[] = {3.0 / 5, 3.0 / 7, 3.0 / 9, 3.0 / 11, 3.0 / 13, 3.0 / 15,
		3.0 / 17, 3.0 / 19, 3.0 / 21, 3.0 / 23, 3.0 / 25, 3.0 / 27};
	const double k = 0x1.ec709dc3a03fdp-1, k_hi = 0x1.ec709ep-1, k_lo = -0x1.e2fe0145b01f5p-28;
	UOp *e;
	LogParts p = math_parts_f64(normal(x, &e));
	Two s = ratio(p.f), t, u, l;
	UOp *all = m_add(s.hi, s.lo), *z = m_mul(all, all), *square = m_mul(s.hi, s.hi);
	UOp *r = m_mulacc(m_mul(z, z), M_POLY(z, c), m_mul(s.lo, m_add(s.hi, all)));
	UOp *three = m_add(square, m_num(x, 3));
	t.hi = head(m_add(three, r));
	t.lo = m_sub(r, m_sub(m_sub(t.hi, m_num(x, 3)), square));
	u = head_of_sum(m_mul(s.hi, t.hi), m_mulacc(s.lo, t.hi, m_mul(t.lo, all)));
	l.hi = m_mul(u.hi, m_num(x, k_hi));
	l.lo = m_mulacc(u.hi, m_num(x, k_lo), m_mul(u.lo, m_num(x, k)));
	e = m_add(p.e, e);
	t.hi = head(m_add(m_add(l.hi, l.lo), e));
	t.lo = m_sub(l.lo, m_sub(m_sub(t.hi, e), l.hi));
	return t;
}

/* A y beyond 2^65 acts like ∞, but makes no NaN in its products. */
UOp *math_pow_f64(UOp *x, UOp *y)
{
	Two l = log2_two(m_masked(x, INT64_MAX));
	UOp *by = m_clamp(y, -0x1p65, 0x1p65), *hi = head(by), *shifted;
	UOp *big = m_mul(hi, l.hi), *rest = m_mulacc(by, l.lo, m_mul(m_sub(by, hi), l.hi));
	UOp *n = m_round(m_clamp(m_add(big, rest), -1100, 1100), 1, &shifted);
	UOp *f = m_clamp(m_add(m_sub(big, n), rest), -2, 2);
	return math_pow_special(x, y, scaled(exp2_fraction(f), shifted));
}

/* The bits of 1/π on which x·1/π modulo 2 depends, for x = m·2^e with an integer m of 53 bits and
 * |x| ≥ 1: 192 of them, the first that of 2^-e. Words of 64 bits are selected by the bits of e +
 * 52, in steps of 8 words down to 1, then shifted. */
static void pick_words(UOp *e, UOp *w[3])
{
	static const uint64_t inverse[] = {
		0x000000000000028b, 0xe60db9391054a7f0, 0x9d5f47d4d377036d, 0x8a5664f10e4107f9,
		0x458eaf7aef1586dc, 0x91b8e909374b8019, 0x24bba827464873f8, 0x77ac72c4a69cfba2,
		0x08d7d4baed1213a6, 0x71c09ad17df904e6, 0x4758e60d4ce7d272, 0x117e2ef7e4a0ec7f,
		0xe25fff7816603fbc, 0xbc462d6829b47db4, 0xd9fb3c9f2c26dd3d, 0x18fd9a797fa8b5d4,
		0x9eeb1faf97c5ecf4, 0x1ce7de294a4ba9af, 0xed7ec47e35742158};
	UOp *at[19], *by = m_op(OP_AND, e, m_int(e, 63)), *zero = m_int(e, 0);
	for (int i = 0; i < 19; i++)
		at[i] = m_int(e, inverse[i]);
	for (int ahead = 8; ahead; ahead /= 2) {
		UOp *stay = m_equal(m_op(OP_AND, e, m_int(e, 64 * ahead)), zero);
		for (int i = 0; i < 3 + ahead; i++)
			at[i] = m_where(stay, at[i], at[i + ahead]);
	}
	UOp *back = m_sub(m_int(e, 63), by);
	for (int i = 0; i < 3; i++)
		w[i] = m_op(
			OP_OR, m_op(OP_SHL, at[i], by), m_op(OP_SHR, m_shr(at[i + 1], 1), back));
}

static UOp *low(UOp *x) { return m_op(OP_AND, x, m_int(x, 0xffffffff)); }

/* The upper two words of m·w modulo 2^192, too small by less than 4 units of the second: schoolbook
 * multiplication in pieces of 32 bits. */
static void product(UOp *m, UOp *w[3], UOp *upper[2])
{
	UOp *limb[6], *column[6] = {NULL}, *part[] = {low(m), m_shr(m, 32)};
	for (int i = 0; i < 6; i++)
		limb[i] = i % 2 ? m_shr(w[2 - i / 2], 32) : low(w[2 - i / 2]);
	for (int i = 1; i < 6; i++)
		column[i] = m_int(m, 0);
	for (int k = 0; k < 2; k++)
		for (int i = 1 - k; i + k < 6; i++) {
			UOp *p = m_mul(part[k], limb[i]);
			column[i + k] = m_add(column[i + k], low(p));
			if (i + k < 5)
				column[i + k + 1] = m_add(column[i + k + 1], m_shr(p, 32));
		}
	for (int i = 2; i < 5; i++)
		column[i + 1] = m_add(column[i + 1], m_shr(column[i], 32));
	upper[0] = m_op(OP_OR, m_shl(column[5], 32), low(column[4]));
	upper[1] = m_op(OP_OR, m_shl(column[3], 32), low(column[2]));
}

static UOp *number(UOp *word) { return m_cast(NODE(OP_BITCAST, DT_I64, VNIL, word), DT_F64); }

/* x/π less the nearest integer, in -½ … ½, for x ≥ 1; the first bit of *odd is that integer's last
 * bit */
static UOp *reduce_angle(UOp *x, UOp **odd)
{
	UOp *b = m_bits(x), *w[3], *p[2];
	UOp *m = m_op(
		OP_OR, m_op(OP_AND, b, m_int(b, 0xfffffffffffff)), m_int(b, 0x10000000000000));
	pick_words(m_sub(m_shr(b, 52), m_int(b, 1023)), w);
	product(m, w, p);
	UOp *high = m_op(OP_OR, m_shl(p[0], 1), m_shr(p[1], 63));
	*odd = m_op(OP_XOR, p[0], high);
	UOp *rest = m_shr(m_shl(p[1], 1), 1);
	return m_mulacc(number(rest), m_num(x, 0x1p-127), m_mul(number(high), m_num(x, 0x1p-64)));
}

/* 3e-19 */
UOp *math_sin_f64(UOp *x)
{
	static const double s[] = {3.141592653589793, -5.167712780049969, 2.5501640398773007,
		-0.5992645293189447, 0.0821458865731029, -0.007370430505916944,
		0.0004662998161898394, -2.1903497074626018e-05, 7.697826768224191e-07};
	UOp *a = m_masked(x, INT64_MAX), *odd, *far = reduce_angle(a, &odd), *one = m_num(x, 1);
	UOp *near = m_less(a, one), *r = m_where(near, m_mul(a, m_num(x, M_1_PI)), far);
	UOp *sign = m_op(OP_XOR, m_bits(x), m_where(near, m_int(odd, 0), odd));
	r = m_mul(r, M_POLY(m_mul(r, r), s));
	r = m_real(m_op(OP_XOR, m_bits(r), m_op(OP_AND, sign, m_int(sign, 1ull << 63))));
	return m_where(m_less(a, m_num(x, __builtin_inf())), r, m_sub(x, x));
}
