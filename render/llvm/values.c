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

static const char *where_text(Printer *p, UOp *u)
{
	const char *t = llvm_type(p, u->dtype), *cond = llvm_type(p, u->src[0]->dtype);
	const char *c = llvm_operand(p, u->src[0]), *a = llvm_operand(p, u->src[1]);
	return llvm_emit(p, "select %s %s, %s %s, %s %s", cond, c, t, a, t,
		llvm_operand(p, u->src[2]));
}

const char *llvm_mulacc(Printer *p, DType d, const char *a, const char *b, const char *c)
{
	return llvm_apply(p, "mulacc", llvm_template(OP_MULACC, d, false), d, d,
		(const char *[]){a, b, c});
}

/* ---- conversions */

static const char *instruct(Printer *p, const char *how, DType to, DType from, const char *x)
{
	return llvm_emit(p, "%s %s %s to %s", how, llvm_type(p, from), x, llvm_type(p, to));
}

static const char *to_bool(Printer *p, DType from, const char *x)
{
	bool flt = dtype_float(from) && !dtype_half(from);
	const char *t = llvm_type(p, from);

	if (dtype_half(from))
		x = llvm_emit(p, "and %s %s, %s", t, x, llvm_each(p, from, "32767"));
	return llvm_emit(p, "%sne %s %s, %s", flt ? "fcmp u" : "icmp ", t, x,
		llvm_each(p, from, flt ? "0.0" : "0"));
}

static const char *to_number(Printer *p, DType to, DType from, const char *x)
{
	int more = (int)dtype_size(dtype_element(to)) - (int)dtype_size(dtype_element(from));
	bool sint = dtype_signed(from), truth = dtype_element(from) == DT_BOOL;

	if (dtype_float(to) && dtype_float(from))
		return !more ? x : instruct(p, more < 0 ? "fptrunc" : "fpext", to, from, x);
	if (dtype_float(to))
		return instruct(p, sint ? "sitofp" : "uitofp", to, from, x);
	if (dtype_float(from))  /* beyond the limits of an integer are these; NaN is 0 */
		return llvm_emit(p, "call %s @llvm.fpto%ci.sat.%s.%s(%s %s)", llvm_type(p, to),
			dtype_signed(to) ? 's' : 'u', llvm_suffix(to), llvm_suffix(from),
			llvm_type(p, from), x);
	return !more && !truth ? x :
		instruct(p, more < 0 ? "trunc" : sint ? "sext" : "zext", to, from, x);
}

/* For f16 every integer below its limit is exact in f32, or far from halfway. */
static const char *to_half(Printer *p, DType to, DType from, const char *x)
{
	DType f32 = dtype_in_lanes(DT_F32, dtype_lanes(to)), e = dtype_element(from);
	DType wide = dtype_in_lanes(dtype_signed(e) ? DT_I64 : DT_U64, dtype_lanes(to));
	bool f16 = dtype_element(to) == DT_F16;

	if (e == DT_F64)
		x = llvm_convert(p, "odd", f32, from, x);
	else if (!f16 && !dtype_float(e) && dtype_size(e) >= 4)
		x = llvm_convert(p, "odd", f32, wide, to_number(p, wide, from, x));
	else
		x = to_number(p, f32, from, x);
	return llvm_convert(p, f16 ? "f16" : "bf16", to, f32, x);
}

static const char *cast_text(Printer *p, UOp *u)
{
	const char *x = llvm_operand(p, u->src[0]);
	DType to = u->dtype, from = u->src[0]->dtype;

	if (to == from)
		return x;
	if (dtype_element(to) == DT_BOOL)
		return to_bool(p, from, x);
	if (dtype_half(from)) {
		DType f32 = dtype_in_lanes(DT_F32, dtype_lanes(to));
		x = llvm_convert(p, "f32", f32, from, x);
		from = f32;
	}
	return dtype_half(to) ? to_half(p, to, from, x) : to_number(p, to, from, x);
}

static const char *bitcast_text(Printer *p, UOp *u)
{
	DType to = u->dtype, from = u->src[0]->dtype;
	const char *x = llvm_operand(p, u->src[0]);

	if (to == DT_BOOL && from != to)
		return to_bool(p, from, x);
	return instruct(p, from == DT_BOOL && from != to ? "zext" : "bitcast", to, from, x);
}

/* ---- places */

const char *llvm_address(Printer *p, UOp *index, const char *place, bool inside)
{
	const char *name = map_get(&p->names, PKEY(index->src[0]));
	const char *t = llvm_stored(p, dtype_element(index->dtype));
	if (!name || index->nsrc != 2)
		die(MALFORMED, "node %u INDEX: its storage is not declared, or it is not flat",
			index->id);
	place = place ? place : expr_text(p, index->src[1]).s;
	return llvm_emit(p, "getelementptr%s %s, %s* %s, i64 %s", inside ? " inbounds" : "", t, t,
		name, place);
}

/* Sources have values before it: they begin no block between this one and its own. */
static const char *load_text(Printer *p, UOp *u)
{
	UOp *index = u->src[0], *gate = u->nsrc > 1 && u->src[1] != p->gate ? u->src[1] : NULL;
	bool each = gate && dtype_lanes(gate->dtype) > 1;
	const char *t = llvm_stored(p, u->dtype), *before = p->block, *x;
	const char *zero = *t == '<' ? "zeroinitializer" : *t == 'i' ? "0" : "0.0";
	int n = gate && !each ? llvm_branch(p, gate) : -1;

	if (dtype_lanes(index->dtype) > 1)
		x = llvm_load_lanes(p, index, each ? llvm_operand(p, gate) : NULL);
	else
		x = llvm_emit(p, "load %s, %s* %s", t, t, llvm_address(p, index, NULL, true));
	if (n >= 0) {
		llvm_label(p, "done", n);
		x = llvm_emit(p, "phi %s [%s, %%then%d], [%s, %%%s]", t, x, n, zero, before);
	}
	return dtype_element(u->dtype) == DT_BOOL ?
		llvm_emit(p, "icmp ne %s %s, %s", t, x, zero) : x;
}

const char *llvm_value(Printer *p, UOp *u)
{
	switch (u->op) {
	case OP_CONST: return const_text(u);
	case OP_LOAD: return load_text(p, u);
	case OP_CAST: return cast_text(p, u);
	case OP_BITCAST: return bitcast_text(p, u);
	case OP_WHERE: return where_text(p, u);
	case OP_BROADCAST: return llvm_broadcast(p, u);
	case OP_SHUFFLE: return llvm_shuffle(p, u);
	case OP_RAMP: return "";        /* llvm_operand() */
	default: return op_text(p, u);
	}
}
