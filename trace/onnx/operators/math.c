/* ONNX operators that work element by element, most of them one primitive or one function of the
 * library.
 *
 *     LeakyRelu alpha=0.1   →   WHERE(CMPLT(x, 0), MUL(x, 0.1), x)
 *
 * An older version differs in its broadcasting (before 7: attributes `broadcast` and `axis`), in
 * where its limits stand (Clip before 11: attributes) or in its defaults; each function looks at
 * onnx_version. */
#include "onnx/onnx.h"
#include <math.h>

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }

/* Before version 7 the second operand's axes stand from `axis` on, and ones follow them. */
static void pair(OnnxCall *c, UOp **a, UOp **b)
{
	int64_t axis;
	int rank;

	*a = onnx_in(c, 0);
	*b = onnx_in(c, 1);
	if (onnx_version(c) >= 7 || !onnx_attr_int(c, "broadcast", 0))
		return;
	rank = t_rank(*a);
	axis = onnx_attr_int(c, "axis", rank - t_rank(*b));
	axis = axis < 0 ? axis + rank : axis;
	if (axis < 0 || axis + t_rank(*b) > rank)
		onnx_fail(c, MALFORMED, "axis does not fit shapes %s and %s",
			shape_text((*a)->shape), shape_text((*b)->shape));
	while (axis + t_rank(*b) < rank)
		*b = t_unsqueeze(*b, t_rank(*b));
}

#define UNARY(name, result) \
	void onnx_##name(OnnxCall *c) { UOp *x = onnx_in(c, 0); onnx_set(c, 0, result); }
#define BINARY(name, result) \
	void onnx_##name(OnnxCall *c) { UOp *x, *y; pair(c, &x, &y); onnx_set(c, 0, result); }

/* ---- arithmetic ------------------------------------------------------------------------------ */

UNARY(Abs, t_abs(x))
UNARY(Ceil, t_ceil(x))
UNARY(Exp, t_exp(x))
UNARY(Floor, t_floor(x))
UNARY(Log, t_log(x))
UNARY(Neg, t_neg(x))
UNARY(Reciprocal, t_recip(x))
UNARY(Round, t_round(x))
UNARY(Sign, t_sign(x))
UNARY(Sqrt, t_sqrt(x))
BINARY(Add, t_add(x, y))
BINARY(Mul, t_mul(x, y))
BINARY(Sub, t_sub(x, y))
BINARY(Div, t_op2(dtype_float(x->dtype) ? OP_FDIV : OP_IDIV, x, y))

/* the number that y is everywhere, when it is one that leaves x its shape; else y */
static UOp *one_number(UOp *x, UOp *y)
{
	UOp *k = y;

	while (k->op == OP_RESHAPE || k->op == OP_EXPAND)
		k = k->src[0];
	return is_const(k) && shape_broadcast(x->shape, y->shape) == x->shape ? k : y;
}

/* The result has the base's dtype. A constant exponent that the base's dtype holds takes it. */
static UOp *power(UOp *x, UOp *y)
{
	int64_t i;
	double f;

	y = one_number(x, y);
	if (x->dtype == y->dtype)
		return t_pow(x, y);
	if (dtype_float(x->dtype)) {
		if (const_is_int(y, &i) && i > -2048 && i < 2048)
			return t_pow(x, num(x, (double)i));
		if (const_is_float(y, &f))
			return t_pow(x, num(x, f));
	}
	return t_cast(t_pow(x, y), x->dtype);
}

BINARY(Pow, power(x, y))

/* fmod 0: the sign is the divisor's; 1: the dividend's. */
void onnx_Mod(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *y = onnx_in(c, 1);

	onnx_set(c, 0, t_op2(onnx_attr_int(c, "fmod", 0) ? OP_MOD : OP_FLOORMOD, x, y));
}

static UOp *fold(OnnxCall *c, Op op)
{
	UOp *x = onnx_in(c, 0);

	for (int i = 1; i < onnx_nin(c); i++)
		x = t_op2(op, x, onnx_in(c, i));
	return x;
}

void onnx_Max(OnnxCall *c) { onnx_set(c, 0, fold(c, OP_MAX)); }
void onnx_Min(OnnxCall *c) { onnx_set(c, 0, fold(c, OP_MIN)); }
void onnx_Sum(OnnxCall *c) { onnx_set(c, 0, fold(c, OP_ADD)); }

void onnx_Mean(OnnxCall *c)
{
	UOp *x = fold(c, OP_ADD);

	onnx_set(c, 0, t_div(x, num(x, onnx_nin(c))));
}

/* A limit is a scalar, or a tensor of one element. */
static UOp *limit(OnnxCall *c, int k, const char *attr)
{
	UOp *x = onnx_in(c, 0);

	if (onnx_version(c) < 11)
		return onnx_attr_has(c, attr) ? num(x, onnx_attr_float(c, attr, 0)) : NULL;
	return onnx_has(c, k) ? t_reshape(onnx_in(c, k), shape_scalar()) : NULL;
}

void onnx_Clip(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *lo = limit(c, 1, "min"), *hi = limit(c, 2, "max");

	x = lo ? t_max(x, lo) : x;
	onnx_set(c, 0, hi ? t_min(x, hi) : x);
}

/* ---- circular and hyperbolic functions ------------------------------------------------------- */

UNARY(Acos, t_acos(x))
UNARY(Acosh, t_acosh(x))
UNARY(Asin, t_asin(x))
UNARY(Asinh, t_asinh(x))
UNARY(Atan, t_atan(x))
UNARY(Atanh, t_atanh(x))
UNARY(Cos, t_cos(x))
UNARY(Cosh, t_cosh(x))
UNARY(Erf, t_erf(x))
UNARY(Sin, t_op1(OP_SIN, x))
UNARY(Sinh, t_sinh(x))
UNARY(Tan, t_tan(x))
UNARY(Tanh, t_tanh(x))

/* ---- activations ----------------------------------------------------------------------------- */

/* Each is computed in f32 at least and rounded once. */
#define ACTIVATION(name) \
	static UOp *name##_of(OnnxCall *c, UOp *x); \
	void onnx_##name(OnnxCall *c) \
	{ \
		UOp *x = onnx_in(c, 0); \
		onnx_set(c, 0, t_cast(name##_of(c, t_cast(x, dtype_acc(x->dtype))), x->dtype)); \
	} \
	static UOp *name##_of(OnnxCall *c, UOp *x)

/* the library's function with one attribute */
static UOp *lib(OnnxCall *c, const char *fn, UOp *x, const char *key, double otherwise)
{
	Value v = v_float(onnx_attr_float(c, key, otherwise)), in = v_tensor(x);

	return onnx_lib(fn, 1, &in, 1, &key, &v);
}

static UOp *expm1_below(UOp *x) { return t_expm1(t_min(x, num(x, 0))); }
static UOp *by_sign(UOp *x, UOp *a, UOp *b) { return t_where(t_lt(x, num(x, 0)), b, a); }
static UOp *swish(UOp *x, double alpha) { return t_mul(x, t_sigmoid(t_mulc(x, alpha))); }

UNARY(Relu, t_max(x, num(x, 0)))
UNARY(Sigmoid, t_sigmoid(x))
UNARY(Softplus, t_softplus(x))
ACTIVATION(Elu) { return lib(c, "elu", x, "alpha", 1); }
ACTIVATION(LeakyRelu) { return lib(c, "leaky_relu", x, "alpha", 0.01); }
ACTIVATION(Mish) { return t_mul(x, t_tanh(t_softplus(x))); }
ACTIVATION(Softsign) { return t_div(x, t_addc(t_abs(x), 1)); }
ACTIVATION(Swish) { return swish(x, onnx_attr_float(c, "alpha", 1)); }

/* max(0, x) + min(0, alpha·expm1(x / alpha)), as it stands: alpha may be negative */
ACTIVATION(Celu)
{
	double alpha = onnx_attr_float(c, "alpha", 1);
	UOp *y = t_mulc(t_expm1(t_div(x, num(x, alpha))), alpha);

	return t_add(t_max(x, num(x, 0)), t_min(y, num(x, 0)));
}

ACTIVATION(SwiGLU)
{
	UOp *y = t_cast(onnx_in(c, 1), x->dtype);

	if (!shape_equal(x->shape, y->shape))
		onnx_fail(c, MALFORMED, "shapes %s and %s differ", shape_text(x->shape),
			shape_text(y->shape));
	return t_mul(swish(x, onnx_attr_float(c, "alpha", 1)), y);
}

ACTIVATION(Gelu)
{
	Value how = v_str(onnx_attr_str(c, "approximate", "none")), in = v_tensor(x);

	return onnx_lib("gelu", 1, &in, 1, (const char *[]){ "approximate" }, &how);
}

static UOp *hard_sigmoid(UOp *x, double alpha, double beta)
{
	return t_min(t_max(t_addc(t_mulc(x, alpha), beta), num(x, 0)), num(x, 1));
}

ACTIVATION(HardSigmoid)
{
	return hard_sigmoid(x, onnx_attr_float(c, "alpha", 0.2), onnx_attr_float(c, "beta", 0.5));
}

ACTIVATION(HardSwish)
{
	(void)c;
	return t_mul(x, hard_sigmoid(x, 1.0 / 6, 0.5));
}

ACTIVATION(Selu)
{
	bool old = onnx_version(c) < 6;
	double alpha = onnx_attr_float(c, "alpha", old ? 1.6732 : 1.67326319217681884765625);
	double gamma = onnx_attr_float(c, "gamma", old ? 1.0507 : 1.05070102214813232421875);

	return t_mulc(by_sign(x, x, t_mulc(expm1_below(x), alpha)), gamma);
}

ACTIVATION(ThresholdedRelu)
{
	return t_where(t_lt(num(x, onnx_attr_float(c, "alpha", 1)), x), x, num(x, 0));
}

/* Integers are compared, and moved, as f64: lambd and bias are fractions. */
void onnx_Shrink(OnnxCall *c)
{
	UOp *in = onnx_in(c, 0), *x = t_cast(in, dtype_float(in->dtype) ? in->dtype : DT_F64), *y;
	double lambd = onnx_attr_float(c, "lambd", 0.5), bias = onnx_attr_float(c, "bias", 0);

	y = t_where(t_lt(num(x, lambd), x), t_addc(x, -bias), num(x, 0));
	y = t_where(t_lt(x, num(x, -lambd)), t_addc(x, bias), y);
	onnx_set(c, 0, t_cast(y, in->dtype));
}

/* Before version 7 a slope of one axis is one for each channel. */
void onnx_PRelu(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *slope = onnx_in(c, 1);

	if (onnx_version(c) < 7 && t_rank(slope) == 1 && t_rank(x) > 2)
		while (t_rank(slope) < t_rank(x) - 1)
			slope = t_unsqueeze(slope, t_rank(slope));
	onnx_set(c, 0, by_sign(x, x, t_mul(x, slope)));
}

/* ---- comparisons, bits, choice --------------------------------------------------------------- */

BINARY(Equal, t_eq(x, y))
BINARY(Less, t_lt(x, y))
BINARY(LessOrEqual, t_or(t_lt(x, y), t_eq(x, y)))
BINARY(Greater, t_lt(y, x))
BINARY(GreaterOrEqual, t_or(t_lt(y, x), t_eq(x, y)))
BINARY(And, t_and(x, y))
BINARY(Or, t_or(x, y))
BINARY(Xor, t_ne(t_cast(x, DT_BOOL), t_cast(y, DT_BOOL)))
UNARY(Not, t_not(x))
BINARY(BitwiseAnd, t_op2(OP_AND, x, y))
BINARY(BitwiseOr, t_op2(OP_OR, x, y))
BINARY(BitwiseXor, t_op2(OP_XOR, x, y))

void onnx_BitwiseNot(OnnxCall *c)
{
	Value in = v_tensor(onnx_in(c, 0));

	onnx_set(c, 0, onnx_lib("bitwise_not", 1, &in, 0, NULL, NULL));
}

void onnx_BitShift(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *y = onnx_in(c, 1);
	const char *way = onnx_attr_str(c, "direction", "");

	if (strcmp(way, "LEFT") && strcmp(way, "RIGHT"))
		onnx_fail(c, MALFORMED, "direction is LEFT or RIGHT, not \"%s\"", way);
	onnx_set(c, 0, t_op2(*way == 'L' ? OP_SHL : OP_SHR, x, y));
}

/* Narrow floats are looked at as f32, which has their values, infinities and NaNs. */
static UOp *wide_in(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int type = onnx_type(c, 0);

	return onnx_narrow(type) ? onnx_widen(x, type) : x;
}

void onnx_IsNaN(OnnxCall *c)
{
	UOp *x = wide_in(c);

	onnx_set(c, 0, t_ne(x, x));
}

void onnx_IsInf(OnnxCall *c)
{
	UOp *x = wide_in(c), *up = t_eq(x, num(x, INFINITY)), *down = t_eq(x, num(x, -INFINITY));
	bool pos = onnx_attr_int(c, "detect_positive", 1);
	bool neg = onnx_attr_int(c, "detect_negative", 1);

	onnx_set(c, 0, pos && neg ? t_or(up, down) : pos ? up : neg ? down : t_and(up, down));
}

void onnx_Where(OnnxCall *c)
{
	onnx_set(c, 0, t_where(onnx_in(c, 0), onnx_in(c, 1), onnx_in(c, 2)));
}
