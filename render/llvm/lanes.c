/* Values with lanes as LLVM IR, which has vectors: the types and constants, loads and stores, and
 * what becomes of text that was written for one element.
 *
 *     LOAD x[RAMP e 1]        →  load <16 x float>, <16 x float>* %t1, align 4
 *     LOAD x[RAMP e 1] gate   →  call <16 x float> @llvm.masked.load.v16f32.p0v16f32(…)
 *     LOAD x[RAMP e 40]       →  16 loads and insertelements
 *     BROADCAST v             →  insertelement, shufflevector */
#include "llvm/llvm.h"
#include <ctype.h>

const char *llvm_type(const Printer *p, DType d)
{
	const char *t = p->d->type[dtype_element(d)];
	return dtype_lanes(d) == 1 ? t : arena_printf("<%d x %s>", dtype_lanes(d), t);
}

const char *llvm_suffix(DType d)
{
	DType e = dtype_element(d);
	const char *bits = arena_printf("%c%d", dtype_float(d) && !dtype_half(d) ? 'f' : 'i',
		e == DT_BOOL ? 1 : 8 * dtype_size(e));
	return dtype_lanes(d) == 1 ? bits : arena_printf("v%d%s", dtype_lanes(d), bits);
}

static const char *repeated(const char *type, const char *number, int lanes)
{
	Buf b = {0};

	if (lanes == 1)
		return number;
	if (!number[strspn(number, "0x.")])
		return "zeroinitializer";
	for (int i = 0; i < lanes; i++)
		buf_printf(&b, "%s%s %s", i ? ", " : "<", type, number);
	buf_printf(&b, ">");
	return buf_keep(&b);
}

const char *llvm_each(const Printer *p, DType d, const char *number)
{
	return repeated(llvm_type(p, dtype_element(d)), number, dtype_lanes(d));
}

/* ---- the text of a function on elements, on lanes of them */

static bool is_type(const char *s, size_t n)
{
	static const char *const types[] = {"i1", "i8", "i16", "i32", "i64", "float", "double"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (n == strlen(types[i]) && !memcmp(s, types[i], n))
			return true;
	return false;
}

/* Each type of `i32 %a, 31` is one of lanes, and each number one that they all have. */
void llvm_widen(Buf *out, const char *text, int lanes)
{
	const char *type = "";

	while (*text) {
		size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_.%@-");
		const char *word = arena_printf("%.*s", (int)n, text);
		if (is_type(text, n) && lanes > 1) {
			type = word;
			buf_printf(out, "<%d x %s>", lanes, word);
		} else if (n && (isdigit((unsigned char)*text) || *text == '-')) {
			buf_printf(out, "%s", repeated(type, word, lanes));
		} else {
			buf_add(out, text, n ? n : 1);
		}
		text += n ? n : 1;
	}
}

/* ---- values */

/* x in each lane of d */
static const char *splat(Printer *p, DType d, const char *x)
{
	const char *t = llvm_type(p, d);

	x = llvm_put_lane(p, d, "undef", x, 0);
	return llvm_emit(p, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", t, x, t,
		dtype_lanes(d));
}

const char *llvm_broadcast(Printer *p, UOp *u)
{
	const char *x = llvm_operand(p, u->src[0]);
	return is_const(u->src[0]) ? llvm_each(p, u->dtype, x) : splat(p, u->dtype, x);
}

/* base + 0, base + step, … */
const char *llvm_ramp(Printer *p, UOp *u)
{
	DType e = dtype_element(u->dtype);
	const char *base = splat(p, u->dtype, llvm_operand(p, u->src[0]));
	Buf b = {0};

	for (int i = 0; i < dtype_lanes(u->dtype); i++)
		buf_printf(&b, "%s%s %lld", i ? ", " : "<", llvm_type(p, e),
			(long long)i * (long long)u->arg->i);
	buf_printf(&b, ">");
	return llvm_emit(p, "add %s %s, %s", llvm_type(p, u->dtype), base, buf_keep(&b));
}

const char *llvm_shuffle(Printer *p, UOp *u)
{
	const char *t = llvm_type(p, u->src[0]->dtype), *a = llvm_operand(p, u->src[0]);
	const char *b = u->nsrc > 1 ? llvm_operand(p, u->src[1]) : "undef", *x = "undef";
	int lanes = dtype_lanes(u->src[0]->dtype), k = (int)u->arg->a[0]->i;
	Buf m = {0};

	if (dtype_lanes(u->dtype) == 1)
		return llvm_lane(p, u->src[0]->dtype, k < lanes ? a : b, k % lanes);
	if (lanes == 1) {       /* two scalars side by side, or one again and again */
		for (uint32_t i = 0; i < u->arg->n; i++)
			x = llvm_put_lane(p, u->dtype, x, u->arg->a[i]->i ? b : a, (int)i);
		return x;
	}
	for (uint32_t i = 0; i < u->arg->n; i++)
		buf_printf(&m, "%si32 %d", i ? ", " : "", (int)u->arg->a[i]->i);
	return llvm_emit(p, "shufflevector %s %s, %s %s, <%d x i32> <%s>", t, a, t, b,
		(int)u->arg->n, buf_keep(&m));
}

const char *llvm_lane(Printer *p, DType d, const char *x, int k)
{
	if (dtype_lanes(d) == 1)
		return x;
	return llvm_emit(p, "extractelement %s %s, i32 %d", llvm_type(p, d), x, k);
}

const char *llvm_put_lane(Printer *p, DType d, const char *x, const char *lane, int k)
{
	return llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", llvm_type(p, d), x,
		llvm_type(p, dtype_element(d)), lane, k);
}

/* ---- places */

static bool contiguous(const UOp *index)
{
	return index->src[1]->op == OP_RAMP && index->src[1]->arg->i == 1;
}

static const char *lane_address(Printer *p, UOp *index, int k)
{
	UOp *e = index->src[1];
	const char *place;

	if (e->op != OP_RAMP)
		place = llvm_lane(p, e->dtype, llvm_operand(p, e), k);
	else
		place = llvm_emit(p, "add i64 %s, %lld", llvm_operand(p, e->src[0]),
			(long long)k * (long long)e->arg->i);
	return llvm_address(p, index, place, true);
}

/* the address of successive elements, as that of a vector */
static const char *vector_address(Printer *p, UOp *index, bool inside)
{
	const char *at = llvm_address(
		p, index, llvm_operand(p, index->src[1]->src[0]), inside);
	return llvm_emit(p, "bitcast %s* %s to %s*", llvm_stored(p, dtype_element(index->dtype)),
		at, llvm_stored(p, index->dtype));
}

/* addresses in the lanes of a vector of pointers */
static const char *addresses(Printer *p, UOp *index)
{
	const char *name = map_get(&p->names, PKEY(index->src[0]));
	const char *t = llvm_stored(p, dtype_element(index->dtype));
	return llvm_emit(p, "getelementptr %s, %s* %s, %s %s", t, t, name,
		llvm_type(p, index->src[1]->dtype), llvm_operand(p, index->src[1]));
}

/* "masked.load.v16f32.p0v16f32", "masked.gather.v16f32.v16p0f32": of what is in memory */
static const char *masked_name(const char *what, DType d, bool line)
{
	DType s = dtype_element(d) == DT_BOOL ? dtype_in_lanes(DT_U8, dtype_lanes(d)) : d;
	const char *all = llvm_suffix(s), *one = llvm_suffix(dtype_element(s));
	return line ? arena_printf("masked.%s.%s.p0%s", what, all, all) :
		arena_printf("masked.%s.%s.v%dp0%s", what, all, dtype_lanes(d), one);
}

static const char *masked(Printer *p, UOp *index, const char *gate, const char *value)
{
	bool line = contiguous(index);
	DType d = index->dtype, e = dtype_element(d);
	int lanes = dtype_lanes(d);
	const char *t = llvm_stored(p, d), *at = line ? vector_address(p, index, false) :
		addresses(p, index);
	const char *pointers = line ? arena_printf("%s*", t) :
		arena_printf("<%d x %s*>", lanes, llvm_stored(p, e));
	const char *mask = arena_printf("<%d x i1>", lanes), *fn;
	const char *what = value ? (line ? "store" : "scatter") : line ? "load" : "gather";

	if (value) {
		fn = llvm_declare(&p->helpers, masked_name(what, d, line), "void",
			arena_printf("%s, %s, i32, %s", t, pointers, mask));
		print_line(p, "call void %s(%s %s, %s %s, i32 %d, %s %s)", fn, t, value, pointers,
			at, dtype_size(e), mask, gate);
		return NULL;
	}
	fn = llvm_declare(&p->helpers, masked_name(what, d, line), t,
		arena_printf("%s, i32, %s, %s", pointers, mask, t));
	return llvm_emit(p, "call %s %s(%s %s, i32 %d, %s %s, %s zeroinitializer)", t, fn, pointers,
		at, dtype_size(e), mask, gate, t);
}

static const char *load_each(Printer *p, UOp *index)
{
	const char *t = llvm_stored(p, index->dtype), *x = "undef";
	const char *e = llvm_stored(p, dtype_element(index->dtype));

	for (int k = 0; k < dtype_lanes(index->dtype); k++) {
		const char *one = llvm_emit(p, "load %s, %s* %s", e, e, lane_address(p, index, k));
		x = llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", t, x, e, one, k);
	}
	return x;
}

const char *llvm_load_lanes(Printer *p, UOp *index, const char *gate)
{
	const char *t = llvm_stored(p, index->dtype);

	if (gate)
		return masked(p, index, gate, NULL);
	if (!contiguous(index))
		return load_each(p, index);
	return llvm_emit(p, "load %s, %s* %s, align %d", t, t, vector_address(p, index, true),
		dtype_size(dtype_element(index->dtype)));
}

void llvm_store_lanes(Printer *p, UOp *index, const char *value, const char *gate)
{
	const char *t = llvm_stored(p, index->dtype);
	const char *e = llvm_stored(p, dtype_element(index->dtype));

	if (gate) {
		masked(p, index, gate, value);
		return;
	}
	if (contiguous(index)) {
		print_line(p, "store %s %s, %s* %s, align %d", t, value, t,
			vector_address(p, index, true), dtype_size(dtype_element(index->dtype)));
		return;
	}
	for (int k = 0; k < dtype_lanes(index->dtype); k++) {
		const char *one = llvm_emit(p, "extractelement %s %s, i32 %d", t, value, k);
		print_line(p, "store %s %s, %s* %s", e, one, e, lane_address(p, index, k));
	}
}
