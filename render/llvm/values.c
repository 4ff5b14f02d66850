/* Expressions as LLVM IR. Each node of a statement is one instruction or a few, sources first, and
 * its operand is kept for the statement:
 *
 *     a[i] * 2 + y[i]  →  %t0 = getelementptr inbounds float, float* %a, i64 %r0
 *                         %t1 = load float, float* %t0
 *                         %t2 = fmul float %t1, 0x4000000000000000
 *                         …
 *
 * A bool is an i1, and a byte in memory; f16 and bf16 are their bits in an i16. There are no
 * fast-math flags: what may be rounded once is llvm.fmuladd. */
#include "index/index.h"
#include "llvm/llvm.h"

static const char **slot(Printer *p, const UOp *u)
{
	if (u->id >= p->texts->cap)
		table_fit(p->texts);
	return &p->texts->at[u->id].text.s;
}

/* the operand of a source, which is there */
static const char *at(Printer *p, const UOp *u, uint32_t i) { return *slot(p, u->src[i]); }
static const char *type(const Printer *p, DType d) { return p->d->type[d]; }

/* ---- constants */

static const char *float_text(double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	return arena_printf("0x%016llX", (unsigned long long)bits);
}

static const char *zero_of(DType d)
{
	return dtype_half(d) || !dtype_float(d) ? "0" : float_text(0);
}

static const char *const_text(Printer *p, UOp *u)
{
	uint64_t bits = 0;
	int64_t i = 0;
	double v;

	if (!dtype_half(u->dtype) && const_is_float(u, &v))
		return float_text(v);
	if (u->dtype == DT_BOOL)
		return const_is_int(u, &i) && i ? "true" : "false";
	if (!dtype_half(u->dtype) && const_is_int(u, &i))
		return arena_printf("%lld", (long long)i);
	const_get(u, &bits);
	return arena_printf("%llu", (unsigned long long)bits);
}

/* ---- arithmetic */

static const char *const ints[OP_COUNT] = {
	[OP_ADD] = "add", [OP_SUB] = "sub", [OP_MUL] = "mul", [OP_AND] = "and", [OP_OR] = "or",
	[OP_XOR] = "xor", [OP_IDIV] = "udiv", [OP_FLOORDIV] = "udiv", [OP_MOD] = "urem",
	[OP_FLOORMOD] = "urem", [OP_CMPEQ] = "eq", [OP_CMPNE] = "ne",
};
static const char *const floats[OP_COUNT] = {
	[OP_ADD] = "fadd", [OP_SUB] = "fsub", [OP_MUL] = "fmul", [OP_FDIV] = "fdiv",
	[OP_CMPLT] = "olt", [OP_CMPEQ] = "oeq", [OP_CMPNE] = "une",
};
/* those of a bool */
static const char *const bools[OP_COUNT] = {
	[OP_ADD] = "or", [OP_MUL] = "and", [OP_MAX] = "or", [OP_MIN] = "and", [OP_AND] = "and",
	[OP_OR] = "or", [OP_XOR] = "xor",
};

static const char *instruction(Printer *p, const UOp *u, const char *name)
{
	if (!name)
		die(MALFORMED, "node %u %s: not for %s", u->id, op_name(u->op),
			dtype_name(u->dtype));
	return llvm_emit(p, "%s %s %s, %s", name, type(p, u->src[0]->dtype), at(p, u, 0),
		at(p, u, 1));
}

static const char *of_dtype(const UOp *u)
{
	return dtype_float(u->dtype) ? floats[u->op] :
		u->dtype == DT_BOOL  ? bools[u->op] :
				       ints[u->op];
}

static const char *infix_text(Printer *p, UOp *u) { return instruction(p, u, of_dtype(u)); }

/* Places are known not to wrap, which lets loops be analysed. */
static const char *sum_text(Printer *p, UOp *u)
{
	int64_t lo = INT64_MIN, hi;
	const char *name = of_dtype(u);
	if (u->dtype == DT_I64)
		ix_bounds(u, &lo, &hi);
	return instruction(p, u, lo != INT64_MIN && hi != INT64_MAX && name ?
		arena_printf("%s nsw", name) : name);
}

static const char *call(Printer *p, const UOp *u, const char *fn)
{
	const char *t = type(p, u->src[0]->dtype), *result = type(p, u->dtype);
	if (u->nsrc == 1)
		return llvm_emit(p, "call %s %s(%s %s)", result, fn, t, at(p, u, 0));
	return llvm_emit(p, "call %s %s(%s %s, %s %s)", result, fn, t, at(p, u, 0), t, at(p, u, 1));
}

static const char *helper_text(Printer *p, UOp *u)
{
	return call(p, u, llvm_binary(&p->helpers, u->op, u->dtype));
}

static const char *extreme_text(Printer *p, UOp *u)
{
	return u->dtype == DT_BOOL ? infix_text(p, u) : helper_text(p, u);
}

/* unsigned division where the bounds show that no operand is negative and no divisor is zero */
static const char *division_text(Printer *p, UOp *u)
{
	int64_t lo, hi, dlo, dhi, by;
	bool by_const = const_is_int(u->src[1], &by) && by > 0;
	ix_bounds(u->src[0], &lo, &hi);
	ix_bounds(u->src[1], &dlo, &dhi);
	if ((by_const && !dtype_signed(u->dtype)) ||
		(u->dtype == DT_I64 && lo >= 0 && (by_const || dlo > 0)))
		return instruction(p, u, ints[u->op]);
	return helper_text(p, u);
}

static const char *shift_text(Printer *p, UOp *u)
{
	int64_t by;
	if (!const_is_int(u->src[1], &by) || by < 0 || by >= 8 * dtype_size(u->dtype))
		return helper_text(p, u);
	return instruction(p, u,
		u->op == OP_SHL ? "shl" : dtype_signed(u->dtype) ? "ashr" : "lshr");
}

static const char *compare_text(Printer *p, UOp *u)
{
	DType d = u->src[0]->dtype;
	bool less = u->op == OP_CMPLT;
	if (dtype_float(d))
		return instruction(p, u, arena_printf("fcmp %s", floats[u->op]));
	return instruction(p, u, arena_printf("icmp %s", !less ? ints[u->op] :
		dtype_signed(d) ? "slt" : "ult"));
}

static const char *neg_text(Printer *p, UOp *u)
{
	const char *t = type(p, u->dtype), *x = at(p, u, 0);
	return dtype_float(u->dtype) ? llvm_emit(p, "fneg %s %s", t, x) :
				       llvm_emit(p, "sub %s 0, %s", t, x);
}

static const char *recip_text(Printer *p, UOp *u)
{
	return llvm_emit(p, "fdiv %s %s, %s", type(p, u->dtype), float_text(1), at(p, u, 0));
}

static const char *function_text(Printer *p, UOp *u)
{
	const char *t = type(p, u->dtype);
	if (!dtype_float(u->dtype))
		return helper_text(p, u);
	return call(p, u, llvm_intrinsic(&p->helpers,
		arena_printf("%s.%s", op_info[u->op].c_text, dtype_name(u->dtype)), t,
		u->nsrc == 1 ? t : arena_printf("%s, %s", t, t)));
}

static const char *where_text(Printer *p, UOp *u)
{
	const char *t = type(p, u->dtype);
	return llvm_emit(p, "select i1 %s, %s %s, %s %s", at(p, u, 0), t, at(p, u, 1), t,
		at(p, u, 2));
}

const char *llvm_mulacc(Printer *p, DType d, const char *a, const char *b, const char *c)
{
	const char *t = type(p, d), *fn = llvm_intrinsic(&p->helpers,
		arena_printf("fmuladd.%s", dtype_name(d)), t, arena_printf("%s, %s, %s", t, t, t));
	return llvm_emit(p, "call %s %s(%s %s, %s %s, %s %s)", t, fn, t, a, t, b, t, c);
}

static const char *mulacc_text(Printer *p, UOp *u)
{
	bool is_bool = u->dtype == DT_BOOL;
	if (dtype_float(u->dtype))
		return llvm_mulacc(p, u->dtype, at(p, u, 0), at(p, u, 1), at(p, u, 2));
	return llvm_emit(p, "%s %s %s, %s", is_bool ? "or" : "add", type(p, u->dtype),
		instruction(p, u, is_bool ? "and" : "mul"), at(p, u, 2));
}

/* ---- conversions */

static const char *convert(Printer *p, const char *how, DType to, DType from, const char *x)
{
	return llvm_emit(p, "%s %s %s to %s", how, type(p, from), x, type(p, to));
}

static const char *to_bool(Printer *p, DType from, const char *x)
{
	if (dtype_half(from))
		return llvm_emit(p, "icmp ne i16 %s, 0", llvm_emit(p, "and i16 %s, 32767", x));
	if (dtype_float(from))
		return llvm_emit(p, "fcmp une %s %s, %s", type(p, from), x, float_text(0));
	return llvm_emit(p, "icmp ne %s %s, 0", type(p, from), x);
}

/* truncated; NaN is 0, and what is beyond the limits becomes them */
static const char *float_to_int(Printer *p, DType to, DType from, const char *x)
{
	const char *fn = llvm_intrinsic(&p->helpers, arena_printf("fpto%si.sat.i%d.%s",
		dtype_signed(to) ? "s" : "u", (int)(8 * dtype_size(to)), dtype_name(from)),
		type(p, to), type(p, from));
	return llvm_emit(p, "call %s %s(%s %s)", type(p, to), fn, type(p, from), x);
}

static const char *call_cast(Printer *p, DType to, DType from, const char *x)
{
	const char *fn = llvm_cast(&p->helpers, to, from);
	return llvm_emit(p, "call %s %s(%s %s)", type(p, to), fn, type(p, from), x);
}

static const char *int_to_float(Printer *p, DType to, DType from, const char *x)
{
	return convert(p, dtype_signed(from) ? "sitofp" : "uitofp", to, from, x);
}

/* f16: every integer below its limit is exact in f32, or far from halfway */
static const char *to_half(Printer *p, DType to, DType from, const char *x)
{
	if (!dtype_float(from) && !(to == DT_BF16 && dtype_size(from) >= 4))
		return call_cast(p, to, DT_F32, int_to_float(p, DT_F32, from, x));
	return call_cast(p, to, from, x);
}

static const char *int_to_int(Printer *p, DType to, DType from, const char *x)
{
	int more = (int)dtype_size(to) - (int)dtype_size(from);
	if (from == DT_BOOL)
		return convert(p, "zext", to, from, x);
	if (!more)
		return x;
	return convert(p, more < 0 ? "trunc" : dtype_signed(from) ? "sext" : "zext", to, from, x);
}

static const char *cast_text(Printer *p, UOp *u)
{
	const char *x = at(p, u, 0);
	DType to = u->dtype, from = u->src[0]->dtype;

	if (to == from)
		return x;
	if (to == DT_BOOL)
		return to_bool(p, from, x);
	if (dtype_half(from)) {
		x = call_cast(p, DT_F32, from, x);
		from = DT_F32;
	}
	if (to == from)
		return x;
	if (dtype_half(to))
		return to_half(p, to, from, x);
	if (!dtype_float(to))
		return dtype_float(from) ? float_to_int(p, to, from, x) : int_to_int(p, to, from, x);
	if (!dtype_float(from))
		return int_to_float(p, to, from, x);
	return convert(p, to == DT_F32 ? "fptrunc" : "fpext", to, from, x);
}

static const char *bitcast_text(Printer *p, UOp *u)
{
	DType to = u->dtype, from = u->src[0]->dtype;
	if (to == from || !strcmp(type(p, to), type(p, from)))
		return at(p, u, 0);
	if (to == DT_BOOL)
		return to_bool(p, from, at(p, u, 0));
	return convert(p, from == DT_BOOL ? "zext" : "bitcast", to, from, at(p, u, 0));
}

/* ---- places */

const char *llvm_address(Printer *p, UOp *index, bool exists)
{
	const char *name = map_get(&p->names, PKEY(index->src[0])), *t;
	if (!name || index->nsrc != 2)
		die(MALFORMED, "node %u INDEX: its storage is not declared, or it is not flat",
			index->id);
	t = llvm_stored(p, index->dtype);
	return llvm_emit(p, "getelementptr %s%s, %s* %s, i64 %s", exists ? "inbounds " : "", t, t,
		name, llvm_value(p, index->src[1]));
}

static const char *load_text(Printer *p, UOp *u)
{
	bool gated = u->nsrc > 1 && u->src[1] != p->gate;
	const char *t = llvm_stored(p, u->dtype), *from = llvm_address(p, u->src[0], true), *x;
	const char *before = p->block;          /* its sources have values: they begin no other */
	int n = p->lets++;

	if (gated) {
		print_line(p, "br i1 %s, label %%then%d, label %%load%d", at(p, u, 1), n, n);
		llvm_label(p, "then", n);
	}
	x = llvm_emit(p, "load %s, %s* %s", t, t, from);
	if (gated) {
		llvm_label(p, "load", n);
		x = llvm_emit(p, "phi %s [%s, %%then%d], [%s, %%%s]", t, x, n,
			zero_of(u->dtype), before);
	}
	return u->dtype == DT_BOOL ? llvm_emit(p, "icmp ne i8 %s, 0", x) : x;
}

/* ---- the forms of ops.h */

static const char *(*const forms[C_COUNT])(Printer *, UOp *) = {
#define FORM(NAME, fn) [C_##NAME] = fn,
	C_FORMS(FORM)
#undef FORM
};

static void make_value(Printer *p, UOp *u)
{
	const char *s = map_get(&p->names, PKEY(u));
	if (!s && forms[op_info[u->op].c])
		s = forms[op_info[u->op].c](p, u);
	else if (!s && u->op != OP_INDEX)
		die(MALFORMED, "node %u %s: used where it has no value", u->id, op_name(u->op));
	*slot(p, u) = s;
	p->texts->at[u->id].statement = p->texts->round;
}

static bool has_value(Printer *p, UOp *u)
{
	slot(p, u);
	return p->texts->at[u->id].statement == p->texts->round;
}

/* a node that has a name (a LET, a range, storage) needs no values of its sources */
static bool needs_value(Printer *p, UOp *u, uint32_t i) { return !map_get(&p->names, PKEY(u)); }

const char *llvm_value(Printer *p, UOp *u)
{
	static const Making values = {has_value, needs_value, make_value};
	make_first(p, u, &values);
	return *slot(p, u);
}
