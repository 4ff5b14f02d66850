/* EXP2, LOG2, SIN and POW of f32 as plain arithmetic.
 *
 *     exp2(x) = (2^n)²·p(f)         n the whole number nearest to x/2, f = x - 2n in -1 … 1
 *       x ≤ 60: 2^(n+64)·(2^-64·p(f))   n the nearest to x, f = x - n in -½ … ½
 *     log2(x) = e + f·q(f)          x = 2^e·(1 + f), 1 + f in √½ … √2
 *     sin(x)  = ±r·s(r²)            r = x/π - n in -½ … ½, in f64, by as many bits of 1/π as needed
 *     pow(x, y) = ±2^(y·log2|x|)    in f64
 *
 * p, q and s are minimax polynomials, fitted by the exchange algorithm of Remez; their relative
 * errors stand beside them. The power of two is applied as two factors, since neither the greatest
 * nor the least one is a float; subnormals come out rounded once. */
#include "lower/math_parts.h"

/* 2e-9; a result so small that 2^n is not a float comes from the last product, rounded once */
static UOp *exp2_below(UOp *x)
{
	static const double p[] = {0x1p-64, 0.6931472028550582 * 0x1p-64,
		0.24022647913639214 * 0x1p-64, 0.055503324711486945 * 0x1p-64,
		0.009618437356465498 * 0x1p-64, 0.0013398874406550458 * 0x1p-64,
		0.00015353362227507275 * 0x1p-64};
	UOp *shifted, *f;
	x = math_hold(x, -152, 60, 60);
	f = m_sub(x, m_round_biased(x, 0, 127 + 64, &shifted));
	return m_mul(M_POLY(f, p), m_real(m_shl(m_bits(shifted), 23)));
}

/* 1e-8 */
UOp *math_exp2_f32(UOp *x)
{
	if (math_bounds(x).hi <= 60)
		return exp2_below(x);
	static const double p[] = {1.0, 0.6931472165932314, 0.24022672884164784,
		0.05550379503228596, 0.009616720006966076, 0.0013339490896987563,
		0.00015653663354788395, 1.5030574080896227e-05};
	UOp *shifted, *f, *scale;
	x = math_hold(x, -152, 130, 250);
	f = m_sub(x, m_round_biased(x, 1, 127, &shifted));
	scale = m_real(m_shl(m_bits(shifted), 23));
	return m_mul(m_mul(M_POLY(f, p), scale), scale);
}

/* 4e-9 */
UOp *math_log2_f32(UOp *x)
{
	static const double q[] = {1.4426950408298964, -0.7213473515013219, 0.4808982410734474,
		-0.3606966493987978, 0.28856740768694106, -0.23961740286553415, 0.20460062947586885,
		-0.19106277027702956, 0.1861749184821991, -0.1099494689205403};
	UOp *small = m_less(x, m_num(x, 0x1p-126));
	UOp *y = m_bits(m_where(small, m_mul(x, m_num(x, 0x1p24)), x));
	UOp *e = m_shr(m_sub(y, m_int(y, 0x3f3504f3)), 23);
	UOp *f = m_sub(m_real(m_sub(y, m_shl(e, 23))), m_num(x, 1));
	UOp *whole = m_add(m_cast(e, DT_F32), m_where(small, m_num(x, -24), m_num(x, 0)));
	UOp *r = m_mulacc(f, M_POLY(f, q), whole);
	r = m_where(m_less(x, m_num(x, 0)), m_num(x, __builtin_nan("")), r);
	r = m_where(m_equal(x, m_num(x, 0)), m_num(x, -__builtin_inf()), r);
	return m_where(m_less(x, m_num(x, __builtin_inf())), r, x);
}

/* Four neighbouring pieces of 1/π, starting where the pieces before them contribute only multiples
 * of 2. x has 24 bits and a piece 27, so each product is exact. */
static void pick_pieces(UOp *x, UOp *wide, UOp *product[4])
{
	static const double piece[] = {0x517cc1bp-28, 0x3939105p-55, 0x253f84ep-82, 0x57d1f53p-109,
		0x26ee06dp-136, 0x58a5664p-163, 0x7887208p-190};
	static const double from[] = {0x1p52, 0x1p79, 0x1p106};
	for (int i = 0; i < 4; i++) {
		UOp *p = m_num(wide, piece[i]);
		for (int k = 0; k < 3; k++)
			p = m_where(m_less(x, m_num(x, from[k])), p, m_num(wide, piece[i + k + 1]));
		product[i] = m_mul(wide, p);
	}
}

/* x/π less a multiple of 2, exact to 2^-57; the last bit of *n says whether the multiple of 1 that
 * was also taken away is odd */
static UOp *reduce_angle(UOp *x, UOp **n)
{
	UOp *t[4], *unused, *wide = m_cast(x, DT_F64);
	pick_pieces(x, wide, t);
	t[0] = m_sub(t[0], m_round(t[0], 1, &unused));
	t[1] = m_sub(t[1], m_round(t[1], 1, &unused));
	UOp *sum = m_add(t[0], t[1]), *second = m_sub(sum, t[0]);
	UOp *lost = m_add(m_sub(t[0], m_sub(sum, second)), m_sub(t[1], second));
	UOp *rest = m_sub(sum, m_round(m_add(sum, t[2]), 0, n));
	return m_add(rest, m_add(m_add(lost, t[2]), t[3]));
}

/* 5e-9 */
UOp *math_sin_f32(UOp *x)
{
	static const double s[] = {3.141592636895582, -5.167709684805419, 2.5500697263663827,
		-0.598242126328702, 0.0775603864638329};
	UOp *n, *r = reduce_angle(m_masked(x, 0x7fffffff), &n);
	r = m_mul(r, m_poly(m_mul(r, r), s, 5));
	r = m_real(m_op(OP_XOR, m_bits(r), m_shl(m_bits(n), 63)));
	UOp *b = m_bits(x);
	b = m_op(OP_AND, b, m_int(b, 0x80000000));
	return m_real(m_op(OP_XOR, m_bits(m_cast(r, DT_F32)), b));
}

/* 1e-10; every f32 is normal in f64 */
static UOp *log2_wide(UOp *x)
{
	static const double q[] = {1.4426950409393453, -0.7213475252131832, 0.48089832072926014,
		-0.36067280054922535, 0.28854064356504494, -0.2405041740688229, 0.20609625626755396,
		-0.1790469527582973, 0.15900149580297698, -0.15698225932554236, 0.15485754010497138,
		-0.08634600864577488};
	LogParts p = math_parts_f64(x);
	return m_mulacc(p.f, M_POLY(p.f, q), p.e);
}

/* 2e-9 */
static UOp *exp2_wide(UOp *x)
{
	static const double p[] = {1.0, 0.6931472028550582, 0.24022647913639214,
		0.055503324711486945, 0.009618437356465498, 0.0013398874406550458,
		0.00015353362227507275};
	UOp *n, *f;
	x = m_clamp(x, -300, 300);
	f = m_sub(x, m_round(x, 0, &n));
	n = m_bits(n);
	return m_mul(M_POLY(f, p), m_real(m_shl(m_add(n, m_int(n, 1023)), 52)));
}

UOp *math_pow_f32(UOp *x, UOp *y)
{
	UOp *a = m_cast(m_masked(x, 0x7fffffff), DT_F64);
	UOp *by = m_cast(m_clamp(y, -0x1.fffffep127, 0x1.fffffep127), DT_F64);
	UOp *r = exp2_wide(m_mul(by, log2_wide(a)));
	return math_pow_special(x, y, m_cast(r, DT_F32));
}
