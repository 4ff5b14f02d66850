/* Remainders and the matching quotients, from division and rounding. */
#include "primitives/approx.h"
#include <math.h>

/* |a| minus multiples of |b|·2^(bits·k), k falling to 0. Each quotient has few enough bits, and b
 * is split in two, so that every product and difference is exact as long as the whole quotient
 * stays below 2^(bits·steps). */
static UOp *fmod_real(UOp *a, UOp *b)
{
	int bits = is_f64(a) ? 25 : 11, steps = is_f64(a) ? 2 : 3;
	UOp *r = t_abs(a), *d = t_abs(b), *zero = num(a, 0);

	for (int k = steps - 1; k >= 0; k--) {
		UOp *m = k ? t_mulc(d, ldexp(1, bits * k)) : d, *hi = head(m), *q = t_div(r, m),
		    *rest;
		q = t_op1(OP_TRUNC, t_add(q, t_where(t_lt(q, zero), num(a, -0.5), num(a, 0.5))));
		rest = t_sub(t_sub(r, t_mul(q, hi)), t_mul(q, t_sub(m, hi)));
		r = t_where(t_eq(q, zero), r, rest);
	}
	return with_sign(a, t_where(t_lt(r, zero), t_add(r, d), r));
}

/* whether the remainder is not 0 and its sign is not the divisor's */
static UOp *signs_differ(UOp *m, UOp *b)
{
	UOp *zero = num(m, 0);

	return t_and(t_ne(m, zero), t_ne(t_lt(m, zero), t_lt(b, zero)));
}

static UOp *mod_real(UOp *a, UOp *b)
{
	UOp *m = fmod_real(a, b), *zero = num(a, 0);
	UOp *none = t_where(t_lt(b, zero), num(a, -0.0), zero);

	return t_where(t_eq(m, zero), none, t_where(signs_differ(m, b), t_add(m, b), m));
}

/* (a - remainder) / b is an integer up to rounding. */
static UOp *floordiv_real(UOp *a, UOp *b)
{
	UOp *q = t_div(a, b), *m = fmod_real(a, b), *d = t_div(t_sub(a, m), b);
	UOp *f, *zero = num(a, 0);

	d = t_where(signs_differ(m, b), t_addc(d, -1), d);
	f = t_floor(d);
	f = t_where(t_lt(num(a, 0.5), t_sub(d, f)), t_addc(f, 1), f);
	f = t_where(t_eq(d, zero), t_mulc(q, 0), f);
	return t_where(t_eq(b, zero), q, f);
}

UOp *t_fmod(UOp *a, UOp *b) { return wide2(fmod_real, a, b); }
UOp *t_mod(UOp *a, UOp *b) { return wide2(mod_real, a, b); }
UOp *t_floordiv(UOp *a, UOp *b) { return wide2(floordiv_real, a, b); }
