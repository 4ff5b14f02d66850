/* Functions of the reals from EXP2, LOG2, SIN, SQRT and arithmetic.
 *
 *     exp(x)   →   EXP2(s)·(1 + e·ln2),  s + e = x·log2(e) in twice the precision
 *
 * Each works in the precision of its argument, f16 and bf16 in f32, and is within a few ulp of
 * the exact value (the bounds at the functions are measured). Nothing here relies on a product
 * being rounded before it is added: a·b + c with one rounding gives the same or better. Branches
 * that are not taken have finite arguments where the gradient through WHERE would otherwise not
 * be finite.
 *
 * Coefficients: Cephes (S. Moshier, netlib.org/cephes) for f32, FDLIBM (Sun Microsystems,
 * netlib.org/fdlibm) for f64, and N. Juffa's erff (stackoverflow.com/a/35148199); the rest are
 * Taylor series. */
#include "primitives/approx.h"
#include <math.h>

/* Terms that make up for rounding are detached: over the reals they are 0, so they have no
 * derivative. */
static UOp *correction(UOp *x) { return NODE(OP_DETACH, x->dtype, VNIL, x); }

/* f(x) in f32 at least, cast back to x's dtype. */
static UOp *wide(UOp *(*f)(UOp *), UOp *x)
{
	x = t_float(x);
	return t_cast(f(t_cast(x, dtype_acc(x->dtype))), x->dtype);
}

/* c[0]·xⁿ⁻¹ + … + c[n-1] */
static UOp *poly(UOp *x, int n, const double *c)
{
	UOp *y = num(x, c[0]);

	for (int i = 1; i < n; i++)
		y = t_mulacc(y, x, num(x, c[i]));
	return y;
}
#define POLY(x, ...) \
	poly(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* 1/first! + x/(first+step)! + …, n terms */
static UOp *taylor(UOp *x, int n, int first, int step)
{
	double c[32], f = 1;

	for (int i = 1; i <= first; i++)
		f *= i;
	for (int k = 0; k < n; k++) {
		c[n - 1 - k] = 1 / f;
		for (int i = 1; i <= step; i++)
			f *= first + k * step + i;
	}
	return poly(x, n, c);
}

/* ---- sign and rounding ----------------------------------------------------------------------- */

/* x + 0 turns -0 into 0. The derivative at 0 is 1, since functions with two branches count 0 as
 * positive. */
UOp *t_abs(UOp *x)
{
	if (x->dtype == DT_BOOL || (dtype_int(x->dtype) && !dtype_signed(x->dtype)))
		return x;
	return t_where(t_lt(x, num(x, 0)), t_neg(x), dtype_float(x->dtype) ? t_addc(x, 0) : x);
}

UOp *t_sign(UOp *x)
{
	UOp *zero, *one;

	if (x->dtype == DT_BOOL)
		return x;
	zero = num(x, 0);
	one = num(x, 1);
	if (dtype_float(x->dtype))
		zero = t_where(t_eq(x, x), zero, x);
	else if (!dtype_signed(x->dtype))
		return t_where(t_eq(x, zero), zero, one);
	return t_where(t_lt(x, num(x, 0)), num(x, -1), t_where(t_lt(num(x, 0), x), one, zero));
}

UOp *t_signbit(UOp *x)
{
	static const DType bits[] = { [2] = DT_I16, [4] = DT_I32, [8] = DT_I64 };

	if (dtype_float(x->dtype))
		x = NODE(OP_BITCAST, bits[dtype_size(x->dtype)], VNIL, x);
	return t_lt(x, num(x, 0));
}

/* an odd function of x from r, its value at |x|; the function is near x when x is near 0 */
static UOp *odd(UOp *x, UOp *r)
{
	return t_where(t_eq(x, num(x, 0)), x, t_where(t_lt(x, num(x, 0)), t_neg(r), r));
}

static UOp *clamp(UOp *x, double limit)
{
	return t_min(t_max(x, num(x, -limit)), num(x, limit));
}

UOp *t_floor(UOp *x)
{
	UOp *t;

	if (!dtype_float(x->dtype))
		return x;
	t = t_op1(OP_TRUNC, x);
	return t_where(t_lt(x, t), t_addc(t, -1), t);
}

UOp *t_ceil(UOp *x)
{
	UOp *t;

	if (!dtype_float(x->dtype))
		return x;
	t = t_op1(OP_TRUNC, x);
	return t_where(t_lt(t, x), t_addc(t, 1), t);
}

/* The distance to TRUNC is exact; at a half, an odd integer is moved away from zero. */
UOp *t_round(UOp *x)
{
	UOp *t, *d, *isodd, *up;

	if (!dtype_float(x->dtype))
		return x;
	t = t_op1(OP_TRUNC, x);
	d = t_abs(t_sub(x, t));
	isodd = t_ne(t_mulc(t_op1(OP_TRUNC, t_mulc(t, 0.5)), 2), t);
	up = t_or(t_lt(num(x, 0.5), d), t_and(t_eq(d, num(x, 0.5)), isodd));
	return t_where(up, t_add(t, t_where(t_lt(x, num(x, 0)), num(x, -1), num(x, 1))), t);
}

/* ---- exponentials ---------------------------------------------------------------------------- */

/* exp(x)·2^k for x that is already clamped where the result is out of range; 1.5 ulp on top of
 * EXP2's own error. x and log2(e) are split into a head and a rest; a factor corrects the
 * rounding error of the exponent. */
static UOp *exp_held(UOp *x, int k)
{
	double first = is_f64(x) ? 48408813.0 / 33554432 : 2955.0 / 2048, log2e = M_LOG2E;
	double rest = is_f64(x) ? -1.0542692476429138e-08 : log2e - first;
	UOp *hi = head(x), *s = t_mulc(x, log2e), *e;

	s = k ? t_addc(s, k) : s;
	e = k ? t_sub(t_addc(t_mulc(hi, first), k), s) : t_mulacc(hi, num(x, first), t_neg(s));
	e = t_mulacc(t_sub(x, hi), num(x, log2e), t_mulacc(hi, num(x, rest), e));
	return t_mul(t_op1(OP_EXP2, s), correction(t_mulacc(e, num(x, M_LN2), num(x, 1))));
}

static double exp_limit(UOp *x) { return is_f64(x) ? 1024 : 128; }

static UOp *exp_scaled(UOp *x, int k) { return exp_held(clamp(x, exp_limit(x)), k); }

/* exp(-|x|) */
static UOp *exp_falling(UOp *x)
{
	return exp_held(t_max(t_neg(t_abs(x)), num(x, -exp_limit(x))), 0);
}

/* exp where its error is small against a term of at least 1 */
static UOp *exp_plain(UOp *x)
{
	return t_op1(OP_EXP2, t_mulc(x, M_LOG2E));
}

static UOp *exp_real(UOp *x) { return exp_scaled(x, 0); }

static UOp *rsqrt_real(UOp *x) { return t_recip(t_sqrt(x)); }

/* x = k·ln 2 + rest, k the integer nearest to x/ln 2, so that |rest| ≤ ln(2)/2. Only the rest
 * depends on x. The first part of ln 2 is short enough for its product with k to be exact. Both
 * parts of ln 2 are positive, so -0 is preserved. */
typedef struct { UOp *k, *rest; } Halvings;

static UOp *to_whole(UOp *x) { return t_addc(x, is_f64(x) ? 0x1.8p52 : 0x1.8p23); }

static Halvings halvings(UOp *x)
{
	double first = is_f64(x) ? 0x1.62e42feep-1 : 0x1.62e4p-1;
	double second = is_f64(x) ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cf79abcap-20;
	UOp *k = correction(t_sub(to_whole(t_mulc(x, M_LOG2E)), to_whole(num(x, 0))));

	return (Halvings){k, t_mulacc(k, num(x, -second), t_mulacc(k, num(x, -first), x))};
}

/* 2^(k + by), a normal number, for integer k: the last bits of k + 1.5·2^mantissa are its
 * exponent */
static UOp *whole_power(UOp *k, int by)
{
	DType it = is_f64(k) ? DT_U64 : DT_U32;
	UOp *bits = NODE(OP_BITCAST, it, VNIL, to_whole(t_addc(k, by + (is_f64(k) ? 1023 : 127))));

	bits = t_op2(OP_SHL, bits, t_num(it, is_f64(k) ? 52 : 23));
	return correction(NODE(OP_BITCAST, k->dtype, VNIL, bits));
}

/* 2^k·expm1(rest) + 2^k - 1, halved until the last step, since the largest 2^k overflows */
static UOp *expm1_real(UOp *x)
{
	UOp *in = t_min(t_max(x, num(x, is_f64(x) ? -700 : -80)), num(x, is_f64(x) ? 709.9 : 89));
	Halvings h = halvings(in);
	UOp *r = h.rest, *half = whole_power(h.k, -1);
	UOp *small = t_mul(r, taylor(r, is_f64(x) ? 14 : 8, 1, 1));
	UOp *big = t_mulc(t_mulacc(half, small, t_addc(half, -0.5)), 2);
	return t_where(t_lt(t_abs(x), num(x, 0.34)), small, big);
}

static UOp *log_real(UOp *x) { return t_mulc(t_op1(OP_LOG2, x), M_LN2); }

/* log(u) for u = 1 + x, plus the derivative of log times the rounding error of u; 0 ≤ x ≤ 1 */
static UOp *log1p_unit(UOp *x)
{
	UOp *u = t_addc(x, 1), *lost = t_sub(x, t_addc(u, -1));

	return t_where(t_eq(x, num(x, 0)), x,
		t_mulacc(t_op1(OP_LOG2, u), num(x, M_LN2), correction(t_div(lost, u))));
}

/* the same for all x */
static UOp *log1p_real(UOp *x)
{
	UOp *u = t_addc(x, 1), *in = t_min(x, num(x, 1e30)), *v = t_addc(in, 1);
	UOp *lost = t_sub(in, t_addc(v, -1));
	UOp *r = t_add(log_real(u), correction(t_div(lost, t_max(v, num(x, 1e-30)))));

	return t_where(t_eq(x, num(x, 0)), x, r);
}

/* f32: a polynomial below 0.625, else 1 - 2/(exp(2|x|) + 1). */
static UOp *tanh_real(UOp *x)
{
	UOp *a, *z, *small, *big;

	if (is_f64(x)) {
		z = expm1_real(t_mulc(clamp(x, 22), 2));
		return t_div(z, t_addc(z, 2));
	}
	a = t_abs(x);
	z = t_min(a, num(x, 0.625));
	z = t_mul(z, z);
	small = POLY(z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
		-3.33332819422e-1);
	small = t_mul(x, t_mulacc(small, z, num(x, 1)));
	/* clamped where the result no longer changes: infinity has no derivative */
	big = t_op1(OP_EXP2, t_mulc(t_min(a, num(x, 22)), 2 * M_LOG2E));
	big = t_sub(num(x, 1), t_div(num(x, 2), t_addc(big, 1)));
	return t_where(t_lt(a, num(x, 0.625)), small, t_where(t_lt(x, num(x, 0)), t_neg(big), big));
}

/* sinh(k·ln 2)·cosh(rest) + cosh(k·ln 2)·sinh(rest), halved until the last step as in expm1 */
static UOp *sinh_real(UOp *x)
{
	Halvings h = halvings(clamp(x, is_f64(x) ? 710.5 : 89.5));
	UOp *r = h.rest, *z = t_mul(r, r), *s, *c, *big;
	UOp *up = whole_power(t_max(h.k, num(x, -60)), -2);
	UOp *down = whole_power(t_neg(t_min(h.k, num(x, 60))), -2), *less = t_sub(up, down);

	s = t_mulacc(t_mul(z, r), taylor(z, is_f64(x) ? 7 : 4, 3, 2), r);
	c = t_mul(z, taylor(z, is_f64(x) ? 7 : 4, 2, 2));
	big = t_mulacc(less, c, t_mul(t_add(up, down), s));
	big = t_mulc(t_add(big, less), 2);
	return t_where(t_lt(t_abs(x), num(x, 0.34)), s, big);
}

static UOp *cosh_real(UOp *x)
{
	UOp *h = exp_scaled(t_abs(x), -1);

	return t_add(h, t_mulc(t_recip(h), 0.25));
}

static UOp *sigmoid_real(UOp *x)
{
	UOp *e = exp_falling(x);

	return t_div(t_where(t_lt(x, num(x, 0)), e, num(x, 1)), t_addc(e, 1));
}

static UOp *softplus_real(UOp *x)
{
	UOp *zero = num(x, 0);

	return t_add(t_where(t_lt(x, zero), zero, x), log1p_unit(exp_falling(x)));
}

UOp *t_exp(UOp *x) { return wide(exp_real, x); }
UOp *t_expm1(UOp *x) { return wide(expm1_real, x); }
UOp *t_rsqrt(UOp *x) { return wide(rsqrt_real, x); }
UOp *t_log(UOp *x) { return wide(log_real, x); }
UOp *t_log1p(UOp *x) { return wide(log1p_real, x); }
UOp *t_tanh(UOp *x) { return wide(tanh_real, x); }
UOp *t_sinh(UOp *x) { return wide(sinh_real, x); }
UOp *t_cosh(UOp *x) { return wide(cosh_real, x); }
UOp *t_sigmoid(UOp *x) { return wide(sigmoid_real, x); }
UOp *t_softplus(UOp *x) { return wide(softplus_real, x); }

/* ---- circular functions ---------------------------------------------------------------------- */

/* SIN(x + π/2) would lose the bits that the addition rounds off. With s = sin x: where |s| > 1/2,
 * cos x is sin 2x / 2s, which is accurate to the last bits near the zeros of cosine too; elsewhere
 * it is 1 - 2 sin²(x/2). Both arguments are exact. u is the second sine, steep
 * selects the first form. */
typedef struct { UOp *s, *u, *steep; } Circle;

static Circle circle(UOp *x)
{
	Circle c;
	UOp *twice = num(x, is_f64(x) ? 0x1p1022 : 0x1p126);

	c.s = t_op1(OP_SIN, x);
	c.steep = t_and(t_lt(num(x, 0.5), t_abs(c.s)), t_lt(t_abs(x), twice));
	c.u = t_op1(OP_SIN, t_where(c.steep, t_mulc(x, 2), t_mulc(x, 0.5)));
	return c;
}

static UOp *cos_of(Circle c)
{
	UOp *d = t_where(c.steep, t_mulc(c.s, 2), num(c.s, 1));

	return t_where(c.steep, t_div(c.u, d), t_sub(num(c.s, 1), t_mulc(t_mul(c.u, c.u), 2)));
}

static UOp *cos_real(UOp *x) { return cos_of(circle(x)); }

static UOp *tan_real(UOp *x)
{
	Circle c = circle(x);

	return t_div(c.s, cos_of(c));
}

/* asin(w)/w - 1 as w² times a polynomial or a rational function, |w| ≤ 1/2 */
static UOp *asin_series(UOp *z)
{
	if (!is_f64(z))
		return t_mul(z, POLY(z, 4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2,
			7.4953002686e-2, 1.6666752422e-1));
	return t_mul(z, t_div(
		POLY(z, 3.479331075960212e-05, 0.0007915349942898145, -0.04005553450067941,
			0.20121253213486293, -0.3255658186224009, 0.16666666666666666),
		POLY(z, 0.07703815055590194, -0.6882839716054533, 2.0209457602335057,
			-2.403394911734414, 1)));
}

/* above 1/2 by the half angle: asin a = π/2 - 2 asin √((1-a)/2). p is the asin there. */
typedef struct { UOp *p, *big; } Arc;

static Arc arc(UOp *x)
{
	Arc r;
	UOp *a = t_abs(x), *z, *w;

	r.big = t_lt(num(x, 0.5), a);
	z = t_where(r.big, t_mulc(t_sub(num(x, 1), a), 0.5), num(x, 0.25));
	w = t_where(r.big, t_sqrt(z), x);
	z = t_where(r.big, z, t_mul(x, x));
	r.p = t_add(w, t_mul(w, asin_series(z)));
	return r;
}

/* c - y plus the rounding error of c: hi + lo is the constant in twice x's precision */
static UOp *from_const(UOp *y, double c, double lo)
{
	double hi = is_f64(y) ? c : (double)(float)c;

	lo = is_f64(y) ? lo : c - hi;
	return t_add(t_sub(num(y, hi), y), num(y, lo));
}

static const double pi_lo = 1.2246467991473532e-16;

static UOp *asin_real(UOp *x)
{
	Arc a = arc(x);
	UOp *r = from_const(t_mulc(a.p, 2), M_PI_2, pi_lo / 2);

	return t_where(a.big, t_where(t_lt(x, num(x, 0)), t_neg(r), r), a.p);
}

static UOp *acos_real(UOp *x)
{
	Arc a = arc(x);
	UOp *twice = t_mulc(a.p, 2), *left = from_const(twice, M_PI, pi_lo);

	return t_where(a.big, t_where(t_lt(x, num(x, 0)), left, twice),
		from_const(a.p, M_PI_2, pi_lo / 2));
}

static UOp *atan_series(UOp *z)
{
	if (!is_f64(z))
		return POLY(z, 8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1,
			-3.33329491539e-1);
	return t_neg(POLY(z, 0.016285820115365782, -0.036531572744216916, 0.049768779946159324,
		-0.058335701337905735, 0.06661073137387531, -0.0769187620504483,
		0.09090887133436507, -0.11111110405462356, 0.14285714272503466,
		-0.19999999999876483, 0.3333333333333293));
}

/* |x| > tan(3π/8): π/2 + atan(-1/|x|); |x| > tan(π/8): π/4 + atan((|x|-1)/(|x|+1)) */
static UOp *atan_real(UOp *x)
{
	UOp *a = t_abs(x), *far = t_lt(num(x, 2.414213562373095), a),
		*mid = t_lt(num(x, 0.4142135623730950), a);
	UOp *in = t_min(a, num(x, 4)), *t, *z, *p, *r;

	t = t_where(mid, t_div(t_addc(in, -1), t_addc(in, 1)), x);
	t = t_where(far, t_neg(t_recip(t_max(a, num(x, 1)))), t);
	z = t_mul(t, t);
	p = t_mul(t, t_addc(t_mul(atan_series(z), z), 1));
	r = t_where(far, from_const(t_neg(p), M_PI_2, pi_lo / 2),
		from_const(t_neg(p), M_PI_4, pi_lo / 4));
	return t_where(mid, t_where(t_lt(x, num(x, 0)), t_neg(r), r), p);
}

static UOp *atan2_real(UOp *y, UOp *x)
{
	UOp *ax = t_abs(x), *ay = t_abs(y), *hi = t_max(ax, ay), *lo = t_min(ax, ay),
		*zero = num(x, 0), *t;

	t = t_div(lo, t_where(t_eq(hi, zero), num(x, 1), hi));
	t = t_where(t_eq(lo, hi), t_where(t_eq(hi, zero), zero, num(x, 1)), t);
	t = atan_real(t);
	t = t_where(t_lt(ax, ay), from_const(t, M_PI_2, pi_lo / 2), t);
	t = t_where(t_signbit(x), from_const(t, M_PI, pi_lo), t);
	return with_sign(y, t);
}

/* the larger times √(1 + (smaller/larger)²): no intermediate overflow; an infinity wins over NaN */
static UOp *hypot_real(UOp *x, UOp *y)
{
	UOp *a = t_abs(x), *b = t_abs(y), *hi = t_max(a, b), *inf = num(x, INFINITY);
	UOp *r = t_div(t_min(a, b), t_where(t_eq(hi, num(x, 0)), num(x, 1), hi));

	r = t_mul(hi, t_sqrt(t_addc(t_mul(r, r), 1)));
	return t_where(t_or(t_eq(a, inf), t_eq(b, inf)), inf, r);
}

UOp *t_cos(UOp *x) { return wide(cos_real, x); }
UOp *t_tan(UOp *x) { return wide(tan_real, x); }
UOp *t_asin(UOp *x) { return wide(asin_real, x); }
UOp *t_acos(UOp *x) { return wide(acos_real, x); }
UOp *t_atan(UOp *x) { return wide(atan_real, x); }
UOp *t_hypot(UOp *x, UOp *y) { return wide2(hypot_real, x, y); }
UOp *t_atan2(UOp *y, UOp *x) { return wide2(atan2_real, y, x); }

/* ---- inverse hyperbolic functions ------------------------------------------------------------ */

/* above this, √(x²±1) equals x to the last bit, while x² is still far from overflow */
static double far_out(UOp *x) { return is_f64(x) ? 1e9 : 1e5; }

static UOp *asinh_real(UOp *x)
{
	UOp *a = t_abs(x), *in = t_min(a, num(x, far_out(x))), *z = t_mul(in, in), *r;

	r = log1p_real(t_add(in, t_div(z, t_addc(t_sqrt(t_addc(z, 1)), 1))));
	return odd(x, t_where(t_lt(a, num(x, far_out(x))), r, t_addc(log_real(a), M_LN2)));
}

static UOp *acosh_real(UOp *x)
{
	UOp *t = t_addc(t_min(x, num(x, far_out(x))), -1), *r;

	r = log1p_real(t_add(t, t_mul(t_sqrt(t), t_sqrt(t_addc(t, 2)))));
	return t_where(t_lt(x, num(x, far_out(x))), r, t_addc(log_real(x), M_LN2));
}

static UOp *atanh_real(UOp *x)
{
	UOp *a = t_abs(x);

	return odd(x, t_mulc(log1p_real(t_div(t_mulc(a, 2), t_sub(num(x, 1), a))), 0.5));
}

UOp *t_asinh(UOp *x) { return wide(asinh_real, x); }
UOp *t_acosh(UOp *x) { return wide(acosh_real, x); }
UOp *t_atanh(UOp *x) { return wide(atanh_real, x); }

/* ---- erf ------------------------------------------------------------------------------------- */

static UOp *erf_f32(UOp *x)
{
	UOp *a = t_abs(x), *in = t_min(a, num(x, 1)), *s = t_mul(in, in), *t, *r, *small;

	small = POLY(s, -5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
		-3.76125336e-1, 1.28379166e-1);
	small = t_mulacc(small, x, x);
	t = t_min(a, num(x, 5));
	r = POLY(t, -1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1,
		-6.34846687e-1, -1.28717512e-1);
	r = t_mulacc(r, t, t_neg(t));
	r = t_sub(num(x, 1), exp_plain(r));
	return t_where(t_lt(num(x, 0.927734375), a),
		t_where(t_lt(x, num(x, 0)), t_neg(r), r), small);
}

/* 1 - exp(-a² - 0.5625 + R/S)/a with R/S a rational function of 1/a², a ≥ 1.25; another one above
 * 1/0.35 */
static UOp *erf_tail(UOp *a)
{
	UOp *z = t_recip(t_mul(a, a)), *near, *far, *q;

	near = t_div(
		POLY(z, -9.814329344169145, -81.2874355063066, -184.60509290671104,
			-162.39666946257347, -62.375332450326006, -10.558626225323291,
			-0.6938585727071818, -0.009864944034847148),
		POLY(z, -0.0604244152148581, 6.570249770319282, 108.63500554177944,
			429.00814002756783, 645.3872717332679, 434.56587747522923,
			137.65775414351904, 19.651271667439257, 1));
	far = t_div(
		POLY(z, -483.5191916086514, -1025.0951316110772, -637.5664433683896,
			-160.63638485582192, -17.757954917754752, -0.799283237680523,
			-0.0098649429247001),
		POLY(z, -22.44095244658582, 474.52854120695537, 2553.0504064331644,
			3199.8582195085955, 1536.729586084437, 325.7925129965739,
			30.33806074348246, 1));
	q = t_where(t_lt(a, num(a, 1 / 0.35)), near, far);
	q = exp_plain(t_add(t_addc(t_neg(t_mul(a, a)), -0.5625), q));
	return t_sub(num(a, 1), t_div(q, a));
}

static UOp *erf_f64(UOp *x)
{
	UOp *a = t_abs(x), *in = clamp(x, 0.84375), *z = t_mul(in, in),
		*s = t_addc(t_min(a, num(x, 1.25)), -1);
	UOp *small, *mid, *r;

	small = t_div(
		POLY(z, -2.3763016656650163e-05, -0.005770270296489442, -0.02848174957559851,
			-0.3250421072470015, 0.12837916709551256),
		POLY(z, -3.960228278775368e-06, 0.00013249473800432164, 0.005081306281875766,
			0.0650222499887673, 0.39791722395915535, 1));
	small = t_add(in, t_mul(in, small));
	mid = t_div(
		POLY(s, -0.002166375594868791, 0.035478304325618236, -0.11089469428239668,
			0.31834661990116175, -0.3722078760357013, 0.41485611868374833,
			-0.0023621185607526594),
		POLY(s, 0.011984499846799107, 0.01363708391202905, 0.12617121980876164,
			0.07182865441419627, 0.540397917702171, 0.10642088040084423, 1));
	mid = t_addc(mid, 8.45062911510467529297e-01);
	r = erf_tail(t_min(t_max(a, num(x, 1.25)), num(x, 6)));
	r = t_where(t_lt(a, num(x, 1.25)), mid, r);
	return t_where(t_lt(a, num(x, 0.84375)), small, t_where(t_lt(x, num(x, 0)), t_neg(r), r));
}

static UOp *erf_real(UOp *x) { return is_f64(x) ? erf_f64(x) : erf_f32(x); }
UOp *t_erf(UOp *x) { return wide(erf_real, x); }

/* x·Φ(x) by Φ(-a) = 2^P(a), P a minimax polynomial of log2(erfc(a/√2)/2) on 0 … 6.5, weighted by
 * the root of Φ(-a): the error is within 1e-7 of max(1, |x|), and within 2e-6 relative above -4.
 * Beyond 6.5, P falls below the smallest exponent. */
static UOp *gelu_f32(UOp *x)
{
	UOp *a = t_abs(x), *below;

	below = POLY(a, -3.131677709478275e-08, 9.067434788120617e-07, -1.1302885156084552e-05,
		7.735737995933365e-05, -0.00027921956759844544, -7.759712373428816e-06,
		0.006963736315832533, -0.05245681223415181, -0.45921462576446503,
		-1.151105040796469, -0.9999999849795019);
	below = t_op1(OP_EXP2, below);
	return t_mul(x, t_where(t_lt(x, num(x, 0)), below, t_sub(num(x, 1), below)));
}

static UOp *gelu_real(UOp *x)
{
	return is_f64(x) ? t_mul(t_mulc(x, 0.5), t_addc(t_erf(t_mulc(x, M_SQRT1_2)), 1)) :
			   gelu_f32(x);
}

UOp *t_gelu(UOp *x) { return wide(gelu_real, x); }
