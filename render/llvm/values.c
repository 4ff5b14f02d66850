/* Expressions as LLVM IR. Each node of a statement is one instruction or a few, sources first, and
 * its operand is kept for the statement:
 *
 *     a[i] * 2  →  %t0 = getelementptr inbounds float, float* %a, i64 %r0
 *                  %t1 = load float, float* %t0
 *                  %t2 = fmul float %t1, 0x4000000000000000
 *
 * A bool is an i1, and a byte in memory; f16 and bf16 are their bits in an i16. There are no
 * fast-math flags: what may be rounded once is llvm.fmuladd. */
#include "index/index.h"
#include "llvm/llvm.h"

/* A ramp is mostly a place, which takes its base alone. */
const char *llvm_operand(Printer *p, UOp *u)
{
	const char *known = expr_text(p, u).s;
	return *known ? known : llvm_ramp(p, u);
}

/* the operand of a source, which is there */
static const char *at(Printer *p, const UOp *u, uint32_t i) { return llvm_operand(p, u->src[i]); }

static const char *type(const Printer *p, DType d) { return llvm_type(p, d); }

/* that dtype in as many lanes */
static DType as(DType d, DType lanes) { return dtype_in_lanes(d, dtype_lanes(lanes)); }

/* of up to three operands of one dtype; b and c may be NULL */
static const char *call(Printer *p, const char *fn, DType to, DType from, const char *a,
	const char *b, const char *c)
{
	const char *t = type(p, from), *more = b ? arena_printf(", %s %s", t, b) : "";
	const char *last = c ? arena_printf(", %s %s", t, c) : "";
	return llvm_emit(p, "call %s %s(%s %s%s%s)", type(p, to), fn, t, a, more, last);
}

/* the same of LLVM's own function, "llvm.NAME.f32" */
static const char *intrinsic(Printer *p, const char *name, DType to, DType from, const char *a,
	const char *b, const char *c)
{
	const char *t = type(p, from), *sources = c ? arena_printf("%s, %s, %s", t, t, t) :
		b ? arena_printf("%s, %s", t, t) : t;
	const char *fn = llvm_declare(&p->helpers,
		arena_printf("%s.%s", name, llvm_suffix(from)), type(p, to), sources);
	return call(p, fn, to, from, a, b, c);
}

/* ---- constants */

static const char *const_text(Printer *p, UOp *u)
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

/* Instructions by the dtype of the sources. Those of divisions are right where no operand is
 * negative and no divisor zero, those of shifts where the count is below the width. */
static const struct { const char *sint, *uint, *flt, *boolean; } instructions[OP_COUNT] = {
	[OP_ADD] = {"add", "add", "fadd", "or"},
	[OP_SUB] = {"sub", "sub", "fsub"}, [OP_MUL] = {"mul", "mul", "fmul", "and"},
	[OP_FDIV] = {.flt = "fdiv"},
	[OP_IDIV] = {"udiv", "udiv"}, [OP_MOD] = {"urem", "urem"},
	[OP_FLOORDIV] = {"udiv", "udiv"}, [OP_FLOORMOD] = {"urem", "urem"},
	[OP_MAX] = {.boolean = "or"}, [OP_MIN] = {.boolean = "and"},
	[OP_AND] = {"and", "and", NULL, "and"}, [OP_OR] = {"or", "or", NULL, "or"},
	[OP_XOR] = {"xor", "xor", NULL, "xor"},
	[OP_SHL] = {"shl", "shl"}, [OP_SHR] = {"ashr", "lshr"},
	[OP_CMPLT] = {"icmp slt", "icmp ult", "fcmp olt", "icmp ult"},
	[OP_CMPEQ] = {"icmp eq", "icmp eq", "fcmp oeq", "icmp eq"},
	[OP_CMPNE] = {"icmp ne", "icmp ne", "fcmp une", "icmp ne"},
};

static const char *instruct(Printer *p, UOp *u, const char *flags)
{
	DType d = u->src[0]->dtype;
	const char *name = dtype_float(d)     ? instructions[u->op].flt :
		dtype_element(d) == DT_BOOL   ? instructions[u->op].boolean :
		dtype_signed(d)           ? instructions[u->op].sint :
					    instructions[u->op].uint;
	if (!name)
		die(MALFORMED, "node %u %s: target llvm has none of %s", u->id, op_name(u->op),
			dtype_name(d));
	return llvm_emit(p, "%s%s %s %s, %s", name, flags, type(p, d), at(p, u, 0), at(p, u, 1));
}

static const char *infix_text(Printer *p, UOp *u) { return instruct(p, u, ""); }

/* Places are known not to wrap, which lets loops be analysed. */
static const char *sum_text(Printer *p, UOp *u)
{
	int64_t lo = INT64_MIN, hi;
	if (u->dtype == DT_I64)
		ix_bounds(u, &lo, &hi);
	return instruct(p, u, lo != INT64_MIN && hi != INT64_MAX ? " nsw" : "");
}

/* an instruction where that is right, else a function */
static const char *exact(Printer *p, UOp *u, bool plain)
{
	if (plain)
		return infix_text(p, u);
	return call(p, llvm_binary(&p->helpers, u->op, u->dtype), u->dtype, u->dtype, at(p, u, 0),
		at(p, u, 1), NULL);
}

static UOp *one_lane(UOp *u) { return u->op == OP_BROADCAST ? u->src[0] : u; }

/* lane by lane, of an op on integers that is a loop */
static const char *lane_by_lane(Printer *p, UOp *u)
{
	DType d = dtype_element(u->dtype);
	const char *fn = llvm_binary(&p->helpers, u->op, d), *x = "undef";
	const char *a = at(p, u, 0), *b = at(p, u, 1);

	for (int k = 0; k < dtype_lanes(u->dtype); k++)
		x = llvm_put_lane(p, u->dtype, x, call(p, fn, d, d, llvm_lane(p, u->dtype, a, k),
			llvm_lane(p, u->dtype, b, k), NULL), k);
	return x;
}

static const char *helper_text(Printer *p, UOp *u)
{
	return u->op == OP_POW && dtype_lanes(u->dtype) > 1 ? lane_by_lane(p, u) :
							      exact(p, u, false);
}

static const char *extreme_text(Printer *p, UOp *u)
{
	double with;
	/* a NaN is in the first operand alone: unordered is that */
	if (const_is_float(one_lane(u->src[1]), &with) && with == with) {
		const char *t = type(p, u->dtype), *a = at(p, u, 0), *b = at(p, u, 1);
		const char *how = u->op == OP_MAX ? "ugt" : "ult";
		const char *c = llvm_emit(p, "fcmp %s %s %s, %s", how, t, a, b);
		return llvm_emit(p, "select %s %s, %s %s, %s %s", type(p, as(DT_BOOL, u->dtype)), c,
			t, a, t, b);
	}
	return exact(p, u, dtype_element(u->dtype) == DT_BOOL);
}

static const char *division_text(Printer *p, UOp *u)
{
	int64_t lo, hi, least, most, by;
	bool by_const = const_is_int(one_lane(u->src[1]), &by) && by > 0;
	ix_bounds(u->src[0], &lo, &hi);
	ix_bounds(u->src[1], &least, &most);
	return exact(p, u, u->dtype == DT_I64 ? lo >= 0 && (by_const || least > 0) :
						by_const && !dtype_signed(u->dtype));
}

static const char *shift_text(Printer *p, UOp *u)
{
	int64_t by;
	return exact(p, u, const_is_int(one_lane(u->src[1]), &by) && by >= 0 &&
		by < 8 * dtype_size(dtype_element(u->dtype)));
}

static const char *neg_text(Printer *p, UOp *u)
{
	const char *t = type(p, u->dtype), *x = at(p, u, 0);
	return dtype_float(u->dtype) ? llvm_emit(p, "fneg %s %s", t, x) :
		llvm_emit(p, "sub %s %s, %s", t, llvm_each(p, u->dtype, "0"), x);
}

static const char *recip_text(Printer *p, UOp *u)
{
	return llvm_emit(p, "fdiv %s %s, %s", type(p, u->dtype), llvm_each(p, u->dtype, "1.0"),
		at(p, u, 0));
}

static const char *function_text(Printer *p, UOp *u)
{
	if (!dtype_float(u->dtype))
		return helper_text(p, u);
	return intrinsic(p, op_info[u->op].c_text, u->dtype, u->dtype, at(p, u, 0),
		u->nsrc > 1 ? at(p, u, 1) : NULL, NULL);
}

static const char *where_text(Printer *p, UOp *u)
{
	const char *t = type(p, u->dtype);
	return llvm_emit(p, "select %s %s, %s %s, %s %s", type(p, u->src[0]->dtype), at(p, u, 0),
		t, at(p, u, 1), t, at(p, u, 2));
}

const char *llvm_mulacc(Printer *p, DType d, const char *a, const char *b, const char *c)
{
	const char *t = type(p, d);
	if (dtype_float(d))
		return intrinsic(p, "fmuladd", d, d, a, b, c);
	bool truth = dtype_element(d) == DT_BOOL;
	a = llvm_emit(p, "%s %s %s, %s", truth ? "and" : "mul", t, a, b);
	return llvm_emit(p, "%s %s %s, %s", truth ? "or" : "add", t, a, c);
}

static const char *mulacc_text(Printer *p, UOp *u)
{
	return llvm_mulacc(p, u->dtype, at(p, u, 0), at(p, u, 1), at(p, u, 2));
}

/* ---- conversions */

static const char *convert(Printer *p, const char *how, DType to, DType from, const char *x)
{
	return llvm_emit(p, "%s %s %s to %s", how, type(p, from), x, type(p, to));
}

static const char *rounding(Printer *p, const char *name, DType to, DType from, const char *x)
{
	return call(p, llvm_rounding(&p->helpers, name, dtype_lanes(to)), to, from, x, NULL, NULL);
}

static const char *to_bool(Printer *p, DType from, const char *x)
{
	if (dtype_half(from))
		x = llvm_emit(p, "and %s %s, %s", type(p, from), x, llvm_each(p, from, "32767"));
	if (dtype_float(from) && !dtype_half(from))
		return llvm_emit(p, "fcmp une %s %s, %s", type(p, from), x,
			llvm_each(p, from, "0.0"));
	return llvm_emit(p, "icmp ne %s %s, %s", type(p, from), x, llvm_each(p, from, "0"));
}

static const char *widen(Printer *p, DType to, DType from, const char *x)
{
	int more = (int)dtype_size(to) - (int)dtype_size(from);
	if (!more && dtype_element(from) != DT_BOOL)
		return x;
	return convert(p, more < 0 ? "trunc" : dtype_signed(from) ? "sext" : "zext", to, from, x);
}

/* Beyond the limits of an integer are these; NaN is 0. */
static const char *to_int(Printer *p, DType to, DType from, const char *x)
{
	if (!dtype_float(from))
		return widen(p, to, from, x);
	return intrinsic(p, arena_printf("fpto%ci.sat.%s", dtype_signed(to) ? 's' : 'u',
		llvm_suffix(to)), to, from, x, NULL, NULL);
}

static const char *to_float(Printer *p, DType to, DType from, const char *x)
{
	const char *how = dtype_signed(from) ? "sitofp" : "uitofp";
	if (to == from)
		return x;
	return convert(p, !dtype_float(from) ? how :
		dtype_element(to) == DT_F32 ? "fptrunc" : "fpext", to, from, x);
}

/* An integer of 32 bits or more in f32, such that rounding it to bf16 rounds once. */
static const char *to_odd_lane(Printer *p, DType from, const char *x)
{
	const char *wide = widen(p, DT_I64, from, x), *less, *negative, *f;
	if (!dtype_signed(from))
		return rounding(p, "@int_to_odd", DT_F32, DT_I64, wide);
	negative = llvm_emit(p, "icmp slt i64 %s, 0", wide);
	less = llvm_emit(p, "sub i64 0, %s", wide);
	wide = llvm_emit(p, "select i1 %s, i64 %s, i64 %s", negative, less, wide);
	f = rounding(p, "@int_to_odd", DT_F32, DT_I64, wide);
	less = llvm_emit(p, "fneg float %s", f);
	return llvm_emit(p, "select i1 %s, float %s, float %s", negative, less, f);
}

static const char *to_odd(Printer *p, DType from, const char *x)
{
	const char *all = "undef";
	DType e = dtype_element(from);

	if (e == from)
		return to_odd_lane(p, from, x);
	for (int k = 0; k < dtype_lanes(from); k++)
		all = llvm_put_lane(p, as(DT_F32, from), all,
			to_odd_lane(p, e, llvm_lane(p, from, x, k)), k);
	return all;
}

/* For f16 every integer below its limit is exact in f32, or far from halfway. */
static const char *to_half(Printer *p, DType to, DType from, const char *x)
{
	bool f16 = dtype_element(to) == DT_F16;
	if (dtype_element(from) == DT_F64)
		x = rounding(p, "@f64_to_odd", as(DT_F32, to), from, x);
	else if (!f16 && !dtype_float(from) && dtype_size(dtype_element(from)) >= 4)
		x = to_odd(p, from, x);
	else
		x = to_float(p, as(DT_F32, to), from, x);
	return rounding(p, f16 ? "@f32_to_f16" : "@f32_to_bf16", to, as(DT_F32, to), x);
}

static const char *cast_text(Printer *p, UOp *u)
{
	const char *x = at(p, u, 0);
	DType to = u->dtype, from = u->src[0]->dtype;

	if (to == from)
		return x;
	if (dtype_element(to) == DT_BOOL)
		return to_bool(p, from, x);
	if (dtype_half(from)) {
		x = rounding(p, dtype_element(from) == DT_F16 ? "@f16_to_f32" : "@bf16_to_f32",
			as(DT_F32, to), from, x);
		from = as(DT_F32, to);
	}
	return dtype_half(to) ? to_half(p, to, from, x) :
		dtype_float(to) ? to_float(p, to, from, x) : to_int(p, to, from, x);
}

static const char *bitcast_text(Printer *p, UOp *u)
{
	DType to = u->dtype, from = u->src[0]->dtype;
	if (to == DT_BOOL && from != to)
		return to_bool(p, from, at(p, u, 0));
	return convert(p, from == DT_BOOL && from != to ? "zext" : "bitcast", to, from,
		at(p, u, 0));
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

/* an element, or what is in memory in the lanes of a place */
static const char *load_from(Printer *p, UOp *index, const char *each)
{
	const char *t = llvm_stored(p, index->dtype);
	if (dtype_lanes(index->dtype) > 1)
		return llvm_load_lanes(p, index, each);
	return llvm_emit(p, "load %s, %s* %s", t, t, llvm_address(p, index, NULL, true));
}

/* "0", "0.0" or "zeroinitializer" */
static const char *zero_of(const char *t)
{
	return *t == '<' ? "zeroinitializer" : *t == 'i' ? "0" : "0.0";
}

static const char *load_text(Printer *p, UOp *u)
{
	bool gate = u->nsrc > 1 && u->src[1] != p->gate;
	bool each = gate && dtype_lanes(u->src[1]->dtype) > 1, all = gate && !each;
	const char *t = llvm_stored(p, u->dtype), *x;
	const char *before = p->block;          /* its sources have values: they begin no other */
	int n = p->lets++;

	if (all) {
		print_line(p, "br i1 %s, label %%then%d, label %%load%d", at(p, u, 1), n, n);
		llvm_label(p, "then", n);
	}
	x = load_from(p, u->src[0], each ? at(p, u, 1) : NULL);
	if (all) {
		llvm_label(p, "load", n);
		x = llvm_emit(p, "phi %s [%s, %%then%d], [%s, %%%s]", t, x, n, zero_of(t), before);
	}
	return dtype_element(u->dtype) == DT_BOOL ?
		llvm_emit(p, "icmp ne %s %s, %s", t, x, zero_of(t)) : x;
}

/* ---- the forms of ops.h */

static const char *(*const forms[C_COUNT])(Printer *, UOp *) = {
#define compare_text infix_text
#define FORM(NAME, fn) [C_##NAME] = fn,
	C_FORMS(FORM)
#undef FORM
};

const char *llvm_value(Printer *p, UOp *u)
{
	if (u->op == OP_BROADCAST)
		return llvm_broadcast(p, u);
	if (u->op == OP_SHUFFLE)
		return llvm_shuffle(p, u);
	if (u->op == OP_RAMP)
		return "";              /* llvm_operand() */
	return forms[op_info[u->op].c] ? forms[op_info[u->op].c](p, u) : NULL;
}
