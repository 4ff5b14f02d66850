/* Expressions as LLVM IR. Each node of a statement is one instruction or a few, sources first, and
 * its operand is kept for the statement:
 *
 *     a[i] * 2  →  %t0 = getelementptr inbounds float, float* %a, i64 %r0
 *                  %t1 = load float, float* %t0
 *                  %t2 = fmul float %t1, 0x4000000000000000
 *
 * A bool is an i1, and a byte in memory; f16 and bf16 are their bits in an i16. There are no
 * fast-math flags: what may be rounded once is llvm.fmuladd. */
#include "llvm/llvm.h"

/* A ramp is mostly a place, which takes its base alone. */
const char *llvm_operand(Printer *p, UOp *u)
{
	const char *known = expr_text(p, u).s;
	return *known ? known : llvm_ramp(p, u);
}

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
	if (u->dtype == DT_BOOL)
		return const_is_int(u, &i) && i ? "true" : "false";
	if (dtype_int(u->dtype) && const_is_int(u, &i))
		return arena_printf("%lld", (long long)i);
	const_get(u, &bits);
	return arena_printf("%llu", (unsigned long long)bits);
}

/* ---- arithmetic */

/* NULL: u has no value */
static const char *op_text(Printer *p, UOp *u)
{
	DType from = u->nsrc ? u->src[0]->dtype : u->dtype;
	bool simple = op_is_simple(u);
	const char *text = llvm_template(u->op, from, simple), *operand[3] = {NULL};
	const char *name = arena_printf("%s%s", simple ? "simple_" : "", op_word(u->op));

	if (!text && op_elementwise(u->op))
		die(MALFORMED, "node %u %s: target llvm has none of %s", u->id, op_name(u->op),
			dtype_name(from));
	if (!text)
		return NULL;
	for (uint32_t i = 0; i < u->nsrc; i++)
		operand[i] = llvm_operand(p, u->src[i]);
	if (strstr(text, "br ") && dtype_lanes(from) > 1)
		return llvm_lane_by_lane(p, name, text, from, operand[0], operand[1]);
	return llvm_apply(p, name, text, u->dtype, from, operand);
}

const char *llvm_mulacc(Printer *p, DType d, const char *a, const char *b, const char *c)
{
	return llvm_apply(p, "mulacc", llvm_template(OP_MULACC, d, false), d, d,
		(const char *[]){a, b, c});
}

/* A bool's bits are its number. */
static const char *cast_text(Printer *p, UOp *u)
{
	DType to = u->dtype, from = u->src[0]->dtype;
	bool truth = dtype_element(to) == DT_BOOL || dtype_element(from) == DT_BOOL;

	return u->op == OP_CAST || truth ? llvm_cast(p, to, from, llvm_operand(p, u->src[0])) :
		op_text(p, u);
}

const char *llvm_value(Printer *p, UOp *u)
{
	switch (u->op) {
	case OP_CONST: return const_text(u);
	case OP_LOAD: return llvm_load(p, u);
	case OP_CAST: case OP_BITCAST: return cast_text(p, u);
	case OP_BROADCAST: return llvm_broadcast(p, u);
	case OP_SHUFFLE: return llvm_shuffle(p, u);
	case OP_RAMP: return "";        /* llvm_operand() */
	default: return op_text(p, u);
	}
}
