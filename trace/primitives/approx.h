/* Helpers shared by the functions of the reals (approx.c, divide.c). */
#ifndef APPROX_H
#define APPROX_H
#include "primitives/primitives.h"

static inline bool is_f64(UOp *x) { return x->dtype == DT_F64; }
static inline UOp *num(UOp *x, double v) { return t_num(x->dtype, v); }

/* f(a, b) in f32 at least, cast back to the dtype that both promote to */
static inline UOp *wide2(UOp *(*f)(UOp *, UOp *), UOp *a, UOp *b)
{
	DType dt = dtype_promote(a->dtype, b->dtype), acc;

	dt = dtype_float(dt) ? dt : float_dtype();
	acc = dtype_acc(dt);
	return t_cast(f(t_cast(a, acc), t_cast(b, acc)), dt);
}

/* r with the sign of x, including that of -0, for r ≥ 0 */
static inline UOp *with_sign(UOp *x, UOp *r)
{
	return t_where(t_signbit(x), t_neg(r), r);
}

/* x with the low half of its mantissa cleared, so that the product of two such numbers is exact */
static inline UOp *head(UOp *x)
{
	DType it = is_f64(x) ? DT_U64 : DT_U32;
	uint64_t mask = is_f64(x) ? ~(uint64_t)0x7ffffff : 0xfffff000;

	return NODE(OP_BITCAST, x->dtype, VNIL,
		t_op2(OP_AND, NODE(OP_BITCAST, it, VNIL, x), const_bits(it, &mask)));
}
#endif
