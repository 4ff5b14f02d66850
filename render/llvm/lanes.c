/* Values with lanes as LLVM IR, which has vectors, and their places in memory:
 *
 *     LOAD x[RAMP e 1]        →  load <16 x float>, <16 x float>* %t1, align 4
 *     LOAD x[RAMP e 1] gate   →  call <16 x float> @llvm.masked.load.v16f32.p0v16f32(…)
 *     LOAD x[RAMP e 40]       →  16 loads and insertelements
 *     BROADCAST v             →  insertelement, shufflevector */
#include "llvm/llvm.h"

/* ---- values */

/* lane k of x, which is a d */
static const char *lane(Printer *p, DType d, const char *x, int k)
{
	return llvm_emit(p, "extractelement %s %s, i32 %d", llvm_type(p, d), x, k);
}

/* x with another one there */
static const char *with_lane(Printer *p, DType d, const char *x, const char *one, int k)
{
	return llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", llvm_type(p, d), x,
		llvm_type(p, dtype_element(d)), one, k);
}

const char *llvm_lane_by_lane(Printer *p, const char *name, const char *text, DType d,
	const char *a, const char *b)
{
	const char *x = "undef";

	for (int k = 0; k < dtype_lanes(d); k++)
		x = with_lane(p, d, x, llvm_apply(p, name, text, dtype_element(d), dtype_element(d),
			(const char *[]){lane(p, d, a, k), lane(p, d, b, k), NULL}), k);
	return x;
}

/* x in each lane of d */
static const char *splat(Printer *p, DType d, const char *x)
{
	const char *t = llvm_type(p, d);
	return llvm_emit(p, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", t,
		with_lane(p, d, "undef", x, 0), t, dtype_lanes(d));
}

const char *llvm_broadcast(Printer *p, UOp *u)
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
const char *llvm_ramp(Printer *p, UOp *u)
{
	const char *base = splat(p, u->dtype, llvm_operand(p, u->src[0]));
	return llvm_emit(p, "add %s %s, %s", llvm_type(p, u->dtype), base,
		numbers(llvm_type(p, u->src[0]->dtype), dtype_lanes(u->dtype), NULL, u->arg->i));
}

const char *llvm_shuffle(Printer *p, UOp *u)
{
	DType d = u->src[0]->dtype;
	const char *t = llvm_type(p, d), *a = llvm_operand(p, u->src[0]), *x = "undef";
	const char *b = u->nsrc > 1 ? llvm_operand(p, u->src[1]) : "undef";
	int lanes = dtype_lanes(d), n = (int)u->arg->n, k = (int)u->arg->a[0]->i;

	for (int i = 0; lanes == 1 && i < n; i++)       /* scalars side by side */
		x = with_lane(p, u->dtype, x, u->arg->a[i]->i ? b : a, i);
	if (lanes == 1)
		return x;
	if (n == 1)
		return lane(p, d, k < lanes ? a : b, k % lanes);
	return llvm_emit(p, "shufflevector %s %s, %s %s, <%d x i32> %s", t, a, t, b, n,
		numbers("i32", n, u->arg, 0));
}

/* ---- places */

static bool contiguous(const UOp *index)
{
	return index->src[1]->op == OP_RAMP && index->src[1]->arg->i == 1;
}

static const char *lane_address(Printer *p, UOp *index, int k)
{
	UOp *e = index->src[1];

	return llvm_address(p, index, e->op != OP_RAMP ?
		lane(p, e->dtype, llvm_operand(p, e), k) :
		llvm_emit(p, "add i64 %s, %lld", llvm_operand(p, e->src[0]),
			(long long)k * (long long)e->arg->i), true);
}

/* the address of successive elements, as that of a vector */
static const char *vector_address(Printer *p, UOp *index, bool inside)
{
	const char *at = llvm_address(
		p, index, llvm_operand(p, index->src[1]->src[0]), inside);
	return llvm_emit(p, "bitcast %s* %s to %s*", llvm_stored(p, dtype_element(index->dtype)),
		at, llvm_stored(p, index->dtype));
}

/* A load, or a store of a value, where the gate of a lane is true: of successive elements, or of
 * addresses in the lanes of a vector of pointers. */
static const char *masked(Printer *p, UOp *index, const char *gate, const char *value)
{
	bool line = contiguous(index);
	int lanes = dtype_lanes(index->dtype), bytes = dtype_size(dtype_element(index->dtype));
	DType e = dtype_element(index->dtype) == DT_BOOL ? DT_U8 : dtype_element(index->dtype);
	const char *t = llvm_stored(p, index->dtype), *one = llvm_type(p, e), *to, *at;
	const char *all = llvm_suffix(dtype_in_lanes(e, lanes));

	if (line) {
		at = arena_printf("%s* %s", t, vector_address(p, index, false));
		to = arena_printf("%s.p0%s", all, all);
	} else {
		at = llvm_emit(p, "getelementptr %s, %s* %s, %s %s", one, one,
			(char *)map_get(&p->names, PKEY(index->src[0])),
			llvm_type(p, index->src[1]->dtype), llvm_operand(p, index->src[1]));
		at = arena_printf("<%d x %s*> %s", lanes, one, at);
		to = arena_printf("%s.v%dp0%s", all, lanes, llvm_suffix(e));
	}
	if (!value)
		return llvm_emit(p, "call %s @llvm.masked.%s.%s(%s, i32 %d, <%d x i1> %s, "
			"%s zeroinitializer)", t, line ? "load" : "gather", to, at, bytes, lanes,
			gate, t);
	llvm_do(p, "call void @llvm.masked.%s.%s(%s %s, %s, i32 %d, <%d x i1> %s)",
		line ? "store" : "scatter", to, t, value, at, bytes, lanes, gate);
	return NULL;
}

const char *llvm_load_lanes(Printer *p, UOp *index, const char *gate)
{
	const char *t = llvm_stored(p, index->dtype), *x = "undef";
	const char *e = llvm_stored(p, dtype_element(index->dtype));

	if (gate)
		return masked(p, index, gate, NULL);
	if (contiguous(index))
		return llvm_emit(p, "load %s, %s* %s, align %d", t, t,
			vector_address(p, index, true), dtype_size(dtype_element(index->dtype)));
	for (int k = 0; k < dtype_lanes(index->dtype); k++) {
		const char *one = llvm_emit(p, "load %s, %s* %s", e, e, lane_address(p, index, k));
		x = llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", t, x, e, one, k);
	}
	return x;
}

void llvm_store_lanes(Printer *p, UOp *index, const char *value, const char *gate)
{
	const char *t = llvm_stored(p, index->dtype);
	const char *e = llvm_stored(p, dtype_element(index->dtype));

	if (gate)
		masked(p, index, gate, value);
	else if (contiguous(index))
		llvm_do(p, "store %s %s, %s* %s, align %d", t, value, t,
			vector_address(p, index, true), dtype_size(dtype_element(index->dtype)));
	for (int k = 0; !gate && !contiguous(index) && k < dtype_lanes(index->dtype); k++) {
		const char *one = llvm_emit(p, "extractelement %s %s, i32 %d", t, value, k);
		llvm_do(p, "store %s %s, %s* %s", e, one, e, lane_address(p, index, k));
	}
}
