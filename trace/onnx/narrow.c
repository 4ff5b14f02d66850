/* Types without a dtype in the graph, as arithmetic on their carriers (OnnxValue in onnx.h).
 *
 *     float8 → f32   a load from a table of 256 numbers
 *     f32 → float8   round(|x| / quantum) + (exponent << bits), quantum by the bits of x
 *     int4 → f32     CAST of the i8; f32 → int4 keeps the low four bits */
#include "onnx/onnx.h"
#include <math.h>

/* A small float: the number of its fraction bits, the exponent of its smallest normal number, its
 * largest code, the code of NaN, and the code of an overflow that does not saturate (an infinity,
 * or NaN again). If NaN is 0x80 there is no -0. */
typedef struct { int type, fraction, least, most, nan, over; } FloatFormat;

static const FloatFormat formats[] = {
	{ ONNX_FLOAT8E4M3FN, 3, -6, 0x7e, 0x7f, 0x7f },
	{ ONNX_FLOAT8E4M3FNUZ, 3, -7, 0x7f, 0x80, 0x80 },
	{ ONNX_FLOAT8E5M2, 2, -14, 0x7b, 0x7e, 0x7c },
	{ ONNX_FLOAT8E5M2FNUZ, 2, -15, 0x7f, 0x80, 0x80 },
	{ ONNX_FLOAT4E2M1, 1, 0, 7, 0, 7 },
};

static const FloatFormat *format_of(int type)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].type == type)
			return &formats[i];
	return NULL;
}

static double value_of(const FloatFormat *f, int code)
{
	int top = f->type == ONNX_FLOAT4E2M1 ? 8 : 0x80, low = code & (top - 1),
		mask = (1 << f->fraction) - 1;
	int biased = low >> f->fraction;
	double v;

	if (f->nan == 0x80 ? code == 0x80 : f->type == ONNX_FLOAT8E4M3FN && low == 0x7f)
		return NAN;
	if (f->type == ONNX_FLOAT8E5M2 && low >= 0x7c)
		return low > 0x7c ? NAN : code & top ? -INFINITY : INFINITY;
	v = biased ? ldexp((low & mask) + mask + 1, f->least + biased - 1 - f->fraction)
		: ldexp(low & mask, f->least - f->fraction);
	return code & top ? -v : v;
}

static UOp *by_table(UOp *x, int type)
{
	const FloatFormat *f = format_of(type);
	Array a = { .dtype = DT_F32, .rank = 1, .dim = { 256 }, .bytes = 256 * sizeof(float) };
	float *v = a.data = arena_alloc(a.bytes);

	for (int i = 0; i < 256; i++)
		v[i] = f ? value_of(f, i) : i == 255 ? NAN : ldexp(1, i - 127);
	return t_gather(array_tensor(&a), 1, &x);
}

UOp *onnx_widen(UOp *x, int type)
{
	switch (type) {
	case ONNX_INT4: case ONNX_UINT4: case ONNX_INT2: case ONNX_UINT2:
		return t_cast(x, DT_F32);
	case ONNX_FLOAT8E8M0:
		return by_table(x, type);
	default:
		return format_of(type) ? by_table(x, type) : x;
	}
}

/* ---- to a small float ------------------------------------------------------------------------ */

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }
static UOp *bits_of(UOp *x) { return NODE(OP_BITCAST, DT_I32, VNIL, x); }
static UOp *float_of(UOp *bits) { return NODE(OP_BITCAST, DT_F32, VNIL, bits); }

/* The fraction is |x| in units of its last place, rounded half to even. One step of the exponent is
 * 2^fraction codes, so a carry out of the fraction needs no special treatment. */
static UOp *magnitude_code(UOp *a, const FloatFormat *f)
{
	UOp *e, *quantum, *q;

	e = t_addc(t_op2(OP_SHR, bits_of(a), t_num(DT_I32, 23)), -127);
	e = t_max(e, t_num(DT_I32, f->least));
	quantum = float_of(t_op2(OP_SHL, t_addc(e, 127 - f->fraction), t_num(DT_I32, 23)));
	q = t_cast(t_round(t_div(a, quantum)), DT_I32);
	return t_add(t_op2(OP_SHL, t_addc(e, -f->least), t_num(DT_I32, f->fraction)), q);
}

static UOp *to_small_float(UOp *x, const FloatFormat *f, bool saturate)
{
	UOp *sign = t_num(DT_I32, f->type == ONNX_FLOAT4E2M1 ? 8 : 0x80), *zero = t_num(DT_I32, 0),
		*code, *a;
	bool full = f->nan == 0x80;
	UOp *most = t_num(DT_I32, f->most), *over = t_num(DT_I32, saturate ? f->most : f->over);

	x = t_cast(x, DT_F32);
	a = t_min(t_abs(x), num(x, 0x1p18));
	a = t_where(t_ne(x, x), num(x, 0), a);
	code = magnitude_code(a, f);
	code = t_where(t_lt(most, code), over, code);
	sign = t_where(t_signbit(x), sign, zero);
	/* without -0, a sign on code 0 or on NaN would make another number */
	if (full)
		sign = t_where(t_or(t_eq(code, zero), t_eq(code, t_num(DT_I32, 0x80))), zero, sign);
	code = t_add(code, sign);
	return t_cast(t_where(t_ne(x, x), t_num(DT_I32, f->nan), code), DT_U8);
}

/* A power of two has no sign and no zero. "up" rounds away from zero, "nearest" rounds ties up. */
static UOp *to_power(UOp *x, bool saturate, const char *mode)
{
	UOp *b, *e, *rest, *limit, *over, *bad, *one = t_num(DT_I32, 1), *zero = t_num(DT_I32, 0);

	x = t_cast(x, DT_F32);
	b = t_op2(OP_AND, bits_of(x), t_num(DT_I32, 0x7fffffff));
	e = t_op2(OP_SHR, b, t_num(DT_I32, 23));
	rest = t_op2(OP_AND, b, t_num(DT_I32, 0x7fffff));
	limit = one;
	if (!strcmp(mode, "nearest")) /* 2^-127, code 0, has this bit in its fraction */
		limit = t_where(t_eq(e, zero), t_num(DT_I32, 0x400001), t_num(DT_I32, 0x400000));
	bad = t_eq(e, t_num(DT_I32, 255));
	if (strcmp(mode, "down"))
		e = t_add(e, t_where(t_lt(rest, limit), zero, one));
	over = t_num(DT_I32, saturate ? 254 : 255);
	return t_cast(t_where(bad, t_num(DT_I32, 255), t_min(e, over)), DT_U8);
}

/* ---- to a small integer ---------------------------------------------------------------------- */

static UOp *low_bits(UOp *x, int type)
{
	int n = type == ONNX_INT4 || type == ONNX_UINT4 ? 4 : 2;
	bool is_signed = type == ONNX_INT4 || type == ONNX_INT2;
	UOp *shift = t_num(DT_I32, 32 - n);

	x = t_cast(x, DT_I32);
	if (!is_signed)
		return t_cast(t_op2(OP_AND, x, t_num(DT_I32, (1 << n) - 1)), DT_U8);
	return t_cast(t_op2(OP_SHR, t_op2(OP_SHL, x, shift), shift), DT_I8);
}

UOp *onnx_narrowed(UOp *x, int type, bool saturate, const char *round_mode)
{
	const FloatFormat *f = format_of(type);

	if (f)
		return to_small_float(x, f, saturate);
	return type == ONNX_FLOAT8E8M0 ? to_power(x, saturate, round_mode) : low_bits(x, type);
}
