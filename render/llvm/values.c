/* Expressions as LLVM IR. Each node of a statement is one instruction or a few, sources first, and
 * its operand is kept for the statement:
 *
 *     a[i] * 2  →  %t0 = getelementptr inbounds float, float* %a, i64 %r0
 *                  %t1 = load float, float* %t0
 *                  %t2 = fmul float %t1, 0x4000000000000000
 *
 * Lanes are a vector, whose elements BROADCAST, RAMP and SHUFFLE put in their places.
 * A bool is an i1, and a byte in memory; f16 and bf16 are their bits in an i16. There are no
 * fast-math flags: what may be rounded once is llvm.fmuladd. */
#include "llvm/llvm.h"

/* ---- constants */

static const char *const_text(UOp *u)
{
	uint64_t bits = 0;
	int64_t i = 0;
	double v;

	if (dtype_float(u->dtype) && !dtype_half(u->dtype) && const_is_float(u, &v)) {
		memcpy(&bits, &v, sizeof bits);
		return arena_printf("0x%016llX", (unsigned long long)bits);
	}
	if (const_is_int(u, &i) && u->dtype == DT_BOOL)
		return i ? "true" : "false";
	if (const_is_int(u, &i))
		return arena_printf("%lld", (long long)i);
	const_get(u, &bits);
	return arena_printf("%llu", (unsigned long long)bits);
}

/* ---- conversions */

/* A bool's bits are its number. */
static const char *cast_text(Printer *p, UOp *u)
{
	DType to = u->dtype, from = u->src[0]->dtype;
	bool truth = dtype_element(to) == DT_BOOL || dtype_element(from) == DT_BOOL;

	return u->op == OP_CAST || truth ? llvm_cast(p, to, from, llvm_operand(p, u->src[0])) :
		llvm_op(p, u);
}

/* ---- lanes */

const char *llvm_lane(Printer *p, DType d, const char *x, int k)
{
	return llvm_emit(p, "extractelement %s %s, i32 %d", llvm_type(p, d), x, k);
}

const char *llvm_with_lane(Printer *p, DType d, const char *x, const char *one, int k)
{
	return llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", llvm_type(p, d), x,
		llvm_type(p, dtype_element(d)), one, k);
}

/* x in each lane of d */
static const char *splat(Printer *p, DType d, const char *x)
{
	const char *t = llvm_type(p, d);
	return llvm_emit(p, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", t,
		llvm_with_lane(p, d, "undef", x, 0), t, dtype_lanes(d));
}

static const char *broadcast_text(Printer *p, UOp *u)
{
	const char *x = llvm_operand(p, u->src[0]);
	return is_const(u->src[0]) ? llvm_each(p, u->dtype, x) : splat(p, u->dtype, x);
}

/* "<i32 0, i32 3>" */
static const char *numbers(const char *type, int n, const Val *at, int64_t step)
{
	Buf b = {0};

	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s%s %lld", i ? ", " : "<", type,
			(long long)(at ? at->a[i]->i : i * step));
	buf_printf(&b, ">");
	return buf_keep(&b);
}

/* base + 0, base + step, … */
static const char *ramp_value(Printer *p, UOp *u)
{
	const char *base = splat(p, u->dtype, llvm_operand(p, u->src[0]));
	return llvm_emit(p, "add %s %s, %s", llvm_type(p, u->dtype), base,
		numbers(llvm_type(p, u->src[0]->dtype), dtype_lanes(u->dtype), NULL, u->arg->i));
}

static const char *shuffle_text(Printer *p, UOp *u)
{
	DType d = u->src[0]->dtype;
	const char *t = llvm_type(p, d), *a = llvm_operand(p, u->src[0]), *x = "undef";
	const char *b = u->nsrc > 1 ? llvm_operand(p, u->src[1]) : "undef";
	int lanes = dtype_lanes(d), n = (int)u->arg->n, k = (int)u->arg->a[0]->i;

	for (int i = 0; lanes == 1 && i < n; i++)       /* scalars side by side */
		x = llvm_with_lane(p, u->dtype, x, u->arg->a[i]->i ? b : a, i);
	if (lanes == 1)
		return x;
	if (n == 1)
		return llvm_lane(p, d, k < lanes ? a : b, k % lanes);
	return llvm_emit(p, "shufflevector %s %s, %s %s, <%d x i32> %s", t, a, t, b, n,
		numbers("i32", n, u->arg, 0));
}

/* ---- any */

/* A ramp is mostly a place, which takes its base alone. */
const char *llvm_operand(Printer *p, UOp *u)
{
	const char *known = expr_text(p, u).s;
	return *known ? known : ramp_value(p, u);
}

const char *llvm_value(Printer *p, UOp *u)
{
	switch (u->op) {
	case OP_CONST: return const_text(u);
	case OP_LOAD: return llvm_load(p, u);
	case OP_CAST: case OP_BITCAST: return cast_text(p, u);
	case OP_BROADCAST: return broadcast_text(p, u);
	case OP_SHUFFLE: return shuffle_text(p, u);
	case OP_RAMP: return "";        /* llvm_operand() */
	default: return llvm_op(p, u);
	}
}
