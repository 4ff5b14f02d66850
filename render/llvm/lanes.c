/* Values with lanes as LLVM IR, which has vectors:
 *
 *     BROADCAST v        →  insertelement, shufflevector
 *     RAMP e 40          →  the same, and an add of <i64 0, i64 40, …>
 *     SHUFFLE a b        →  shufflevector, or extractelement of one lane */
#include "llvm/llvm.h"

const char *llvm_lane(Printer *p, DType d, const char *x, int k)
{
	return llvm_emit(p, "extractelement %s %s, i32 %d", llvm_type(p, d), x, k);
}

const char *llvm_with_lane(Printer *p, DType d, const char *x, const char *one, int k)
{
	return llvm_emit(p, "insertelement %s %s, %s %s, i32 %d", llvm_type(p, d), x,
		llvm_type(p, dtype_element(d)), one, k);
}

const char *llvm_lane_by_lane(Printer *p, const char *name, const char *text, DType d,
	const char *a, const char *b)
{
	const char *x = "undef";

	for (int k = 0; k < dtype_lanes(d); k++)
		x = llvm_with_lane(p, d, x, llvm_apply(p, name, text, dtype_element(d), dtype_element(d),
			(const char *[]){llvm_lane(p, d, a, k), llvm_lane(p, d, b, k), NULL}), k);
	return x;
}

/* x in each lane of d */
static const char *splat(Printer *p, DType d, const char *x)
{
	const char *t = llvm_type(p, d);
	return llvm_emit(p, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", t,
		llvm_with_lane(p, d, "undef", x, 0), t, dtype_lanes(d));
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
		x = llvm_with_lane(p, u->dtype, x, u->arg->a[i]->i ? b : a, i);
	if (lanes == 1)
		return x;
	if (n == 1)
		return llvm_lane(p, d, k < lanes ? a : b, k % lanes);
	return llvm_emit(p, "shufflevector %s %s, %s %s, <%d x i32> %s", t, a, t, b, n,
		numbers("i32", n, u->arg, 0));
}
