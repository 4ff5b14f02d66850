/* Elementwise functions of the library: they give names and arguments to the ops of tensor.c and
 * approx.c.
 *
 *     leaky_relu(x, alpha=0.1)   →   WHERE(CMPLT(x, 0), MUL(x, 0.1), x) */
#include "library/library.h"
#include <math.h>

#define UNARY(name, result) \
	Value fn_##name(Args *a) { UOp *x = arg_tensor(a, 0); return v_tensor(result); }
#define BINARY(name, result) \
	Value fn_##name(Args *a) { UOp *x, *y; pair(a, &x, &y); return v_tensor(result); }

static UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }
static UOp *real(Args *a) { return t_float(arg_tensor(a, 0)); }

static bool fraction(const Value *v) { return v->kind == V_NUMBER && !v->is_int; }

/* Argument k as an operand beside *x: a plain number takes x's dtype, and a fraction makes integers
 * f32. */
static UOp *beside(Args *a, int k, UOp **x)
{
	*x = fraction(&a->at[k]) ? t_float(*x) : *x;
	return arg_tensor_like(a, k, (*x)->dtype);
}

/* Arguments k and k + 1 */
static void pair_at(Args *a, int k, UOp **x, UOp **y)
{
	if (a->at[k].kind == V_TENSOR || a->at[k + 1].kind != V_TENSOR) {
		*x = arg_tensor(a, k);
		*y = beside(a, k + 1, x);
	} else {
		*y = arg_tensor(a, k + 1);
		*x = beside(a, k, y);
	}
}

static void pair(Args *a, UOp **x, UOp **y) { pair_at(a, 0, x, y); }

/* ---- arithmetic ------------------------------------------------------------------------------ */

UNARY(neg, t_neg(x))

/* Made of a maximum, so its derivative at 0 is 0. */
Value fn_abs(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(dtype_float(x->dtype) ? t_addc(t_max(t_neg(x), x), 0) : t_abs(x));
}

UNARY(sign, t_sign(x))
UNARY(signbit, t_signbit(x))
UNARY(floor, t_floor(x))
UNARY(ceil, t_ceil(x))
UNARY(trunc, dtype_float(x->dtype) ? t_op1(OP_TRUNC, x) : x)
UNARY(square, t_mul(x, x))
UNARY(sqrt, t_sqrt(x))
UNARY(rsqrt, t_rsqrt(x))
UNARY(reciprocal, t_recip(x))
UNARY(recip, t_recip(x))
BINARY(add, t_add(x, y))
BINARY(sub, t_sub(x, y))
BINARY(mul, t_mul(x, y))
BINARY(div, t_div(x, y))
BINARY(floordiv, t_op2(OP_FLOORDIV, x, y))
BINARY(idiv, t_op2(OP_IDIV, x, y))
BINARY(mod, t_op2(OP_FLOORMOD, x, y))
BINARY(fmod, t_op2(OP_MOD, x, y))
BINARY(pow, t_pow(x, y))
BINARY(minimum, t_min(x, y))
BINARY(maximum, t_max(x, y))
BINARY(atan2, t_atan2(x, y))
BINARY(hypot, t_hypot(x, y))

/* to `decimals` decimals as NumPy does it: scale, round, scale back */
Value fn_round(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int64_t n = arg_int(a, 1);
	double by = pow(10, fabs((double)n));

	if (n == 0 || !dtype_float(x->dtype))
		return v_tensor(t_round(x));
	if (n > 0)
		return v_tensor(t_div(t_round(t_mulc(x, by)), num(x, by)));
	return v_tensor(t_mulc(t_round(t_div(x, num(x, by))), by));
}

Value fn_clip(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	x = fraction(&a->at[1]) || fraction(&a->at[2]) ? t_float(x) : x;
	x = arg_given(a, 1) ? t_max(x, beside(a, 1, &x)) : x;
	return v_tensor(arg_given(a, 2) ? t_min(x, beside(a, 2, &x)) : x);
}

Value fn_where(Args *a)
{
	UOp *x, *y;

	pair_at(a, 1, &x, &y);
	return v_tensor(t_where(arg_tensor(a, 0), x, y));
}

/* ---- exponentials, circular functions -------------------------------------------------------- */

UNARY(exp, t_exp(x))
UNARY(exp2, t_op1(OP_EXP2, x))
UNARY(expm1, t_expm1(x))
UNARY(log, t_log(x))
UNARY(log2, t_op1(OP_LOG2, x))
UNARY(log1p, t_log1p(x))
UNARY(sin, t_op1(OP_SIN, x))
UNARY(cos, t_cos(x))
UNARY(tan, t_tan(x))
UNARY(asin, t_asin(x))
UNARY(acos, t_acos(x))
UNARY(atan, t_atan(x))
UNARY(sinh, t_sinh(x))
UNARY(cosh, t_cosh(x))
UNARY(tanh, t_tanh(x))
UNARY(asinh, t_asinh(x))
UNARY(acosh, t_acosh(x))
UNARY(atanh, t_atanh(x))
UNARY(erf, t_erf(x))

Value fn_log10(Args *a)
{
	UOp *x = real(a), *y = t_op1(OP_LOG2, t_cast(x, dtype_acc(x->dtype)));

	return v_tensor(t_cast(t_mulc(y, 0.30102999566398119521), x->dtype));
}

/* ---- activations ----------------------------------------------------------------------------- */

/* Each is computed in f32 at least and rounded once. */
#define ACTIVATION(name) \
	static UOp *name##_of(UOp *x, Args *a); \
	Value fn_##name(Args *a) \
	{ \
		UOp *x = real(a); \
		return v_tensor(t_cast(name##_of(t_cast(x, dtype_acc(x->dtype)), a), x->dtype)); \
	} \
	static UOp *name##_of(UOp *x, Args *a)

/* a for x > 0 (and NaN), else b */
static UOp *by_sign(UOp *x, UOp *a, UOp *b) { return t_where(t_lt(x, num(x, 0)), b, a); }

UNARY(sigmoid, t_sigmoid(x))
UNARY(softplus, t_softplus(x))
UNARY(relu, t_max(x, num(x, 0)))
UNARY(relu6, t_min(t_max(x, num(x, 0)), num(x, 6)))

ACTIVATION(leaky_relu) { return by_sign(x, x, t_mulc(x, arg_float(a, 1))); }
static UOp *silu(UOp *x, double alpha)
{
	return t_mul(x, t_sigmoid(alpha == 1 ? x : t_mulc(x, alpha)));
}

ACTIVATION(silu) { return silu(x, arg_float(a, 1)); }
ACTIVATION(mish) { return t_mul(x, t_tanh(t_softplus(x))); }
ACTIVATION(softsign) { return t_div(x, t_addc(t_abs(x), 1)); }
ACTIVATION(logsigmoid) { return t_neg(t_softplus(t_neg(x))); }

/* The branch for x <= 0 must not overflow where x > 0 and it is not selected. */
static UOp *expm1_below(UOp *x) { return t_expm1(t_min(x, num(x, 0))); }

ACTIVATION(elu) { return by_sign(x, x, t_mulc(expm1_below(x), arg_float(a, 1))); }

/* alpha may be negative */
ACTIVATION(celu)
{
	double alpha = arg_float(a, 1);
	UOp *below = t_div(t_min(x, num(x, 0)), num(x, alpha));

	return by_sign(x, x, t_mulc(t_expm1(below), alpha));
}

/* Klambauer et al., Self-Normalizing Neural Networks: the fixed point of mean 0 and variance 1 */
ACTIVATION(selu)
{
	return t_mulc(by_sign(x, x, t_mulc(expm1_below(x), arg_float(a, 1))), arg_float(a, 2));
}

ACTIVATION(hardsigmoid)
{
	return t_min(t_max(t_addc(t_mulc(x, arg_float(a, 1)), arg_float(a, 2)), num(x, 0)),
		num(x, 1));
}

ACTIVATION(hardswish)
{
	return t_mul(x, t_min(t_max(t_addc(t_mulc(x, 1.0 / 6), 0.5), num(x, 0)), num(x, 1)));
}

/* (1 + tanh u)/2 is computed as sigmoid(2u), which has no cancellation. */
ACTIVATION(gelu)
{
	const char *how = arg_str(a, 1);
	UOp *u;

	if (!strcmp(how, "tanh")) {
		u = t_add(x, t_mulc(t_mul(t_mul(x, x), x), 0.044715));
		return t_mul(x, t_sigmoid(t_mulc(u, 2 * 0.79788456080286535588)));
	}
	if (strcmp(how, "none"))
		die(MALFORMED, "gelu: approximate is \"none\" or \"tanh\", not \"%s\"", how);
	return t_gelu(x);
}

ACTIVATION(swiglu)
{
	UOp *y = t_cast(arg_tensor(a, 1), x->dtype);

	if (!shape_equal(x->shape, y->shape))
		die(MALFORMED, "swiglu: shapes %s and %s differ", shape_text(x->shape),
			shape_text(y->shape));
	return t_mul(silu(x, arg_float(a, 2)), y);
}

BINARY(prelu, by_sign(x, x, t_mul(x, y)))

/* Integers are compared and shifted as f64, since lambd and bias are fractions. */
Value fn_shrink(Args *a)
{
	UOp *in = arg_tensor(a, 0), *x, *y;
	double lambd = arg_float(a, 1), bias = arg_float(a, 2);

	x = t_cast(in, dtype_float(in->dtype) ? in->dtype : DT_F64);
	y = t_where(t_lt(num(x, lambd), x), t_addc(x, -bias), num(x, 0));
	y = t_where(t_lt(x, num(x, -lambd)), t_addc(x, bias), y);
	return v_tensor(t_cast(y, in->dtype));
}

/* ---- comparisons and bits -------------------------------------------------------------------- */

BINARY(equal, t_eq(x, y))
BINARY(not_equal, t_ne(x, y))
BINARY(less, t_lt(x, y))
BINARY(greater, t_lt(y, x))
BINARY(less_equal, t_or(t_lt(x, y), t_eq(x, y)))
BINARY(greater_equal, t_or(t_lt(y, x), t_eq(x, y)))
BINARY(logical_and, t_and(x, y))
BINARY(logical_or, t_or(x, y))
BINARY(logical_xor, t_ne(t_cast(x, DT_BOOL), t_cast(y, DT_BOOL)))
UNARY(logical_not, t_not(x))
BINARY(bitwise_and, t_op2(OP_AND, x, y))
BINARY(bitwise_or, t_op2(OP_OR, x, y))
BINARY(bitwise_xor, t_op2(OP_XOR, x, y))
BINARY(shift_left, t_op2(OP_SHL, x, y))
BINARY(shift_right, t_op2(OP_SHR, x, y))
UNARY(isnan, t_ne(x, x))
UNARY(isinf, dtype_float(x->dtype) ? t_eq(t_abs(x), num(x, INFINITY)) : t_ne(x, x))
/* x - x is 0 for finite elements only */
UNARY(isfinite, dtype_float(x->dtype) ? t_eq(t_sub(x, x), num(x, 0)) : t_eq(x, x))

Value fn_bitwise_not(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	if (x->dtype == DT_BOOL)
		return v_tensor(t_not(x));
	if (!dtype_int(x->dtype))
		die(MALFORMED, "bitwise_not: no bits of %s", dtype_name(x->dtype));
	return v_tensor(t_op2(OP_XOR, x, dtype_signed(x->dtype) ? const_int(x->dtype, -1)
		: const_bits(x->dtype, &(uint64_t){ dtype_max(x->dtype) })));
}

/* ---- types and marks ------------------------------------------------------------------------- */

Value fn_cast(Args *a) { return v_tensor(t_cast(arg_tensor(a, 0), arg_dtype(a, 1))); }

Value fn_bitcast(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	DType dt = arg_dtype(a, 1);

	return v_tensor(dt == x->dtype ? x : NODE(OP_BITCAST, dt, VNIL, x));
}

UNARY(contiguous, NODE(OP_CONTIGUOUS, x->dtype, VNIL, x))
UNARY(detach, NODE(OP_DETACH, x->dtype, VNIL, x))

Value fn_copy(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(NODE(OP_COPY, x->dtype, val_str(arg_str(a, 1)), x));
}
