/* What all printers ask about ops: where an operator of the language has an op's exact meaning, and
 * which sums of products are rounded once. */
#include "index/index.h"
#include "print/print.h"

static UOp *one_lane(UOp *u) { return u->op == OP_BROADCAST ? u->src[0] : u; }

/* Whether an i64 is known by its bounds, as places are. */
static bool is_bounded(UOp *u)
{
	int64_t lo, hi;
	if (u->dtype != DT_I64)
		return false;
	ix_bounds(u, &lo, &hi);
	return lo != INT64_MIN && hi != INT64_MAX;
}

static bool divides_plainly(UOp *u)
{
	int64_t lo, hi, least, most, by;
	bool positive = const_is_int(one_lane(u->src[1]), &by) && by > 0;
	if (u->dtype != DT_I64)
		return positive && !dtype_signed(u->dtype);
	ix_bounds(u->src[0], &lo, &hi);
	ix_bounds(u->src[1], &least, &most);
	return lo >= 0 && (positive || least > 0);
}

bool op_is_simple(UOp *u)
{
	double with;
	int64_t by;
	switch (u->op) {
	case OP_ADD: case OP_SUB: case OP_MUL: return is_bounded(u);
	case OP_IDIV: case OP_MOD: case OP_FLOORDIV: case OP_FLOORMOD: return divides_plainly(u);
	case OP_SHL: case OP_SHR:
		return const_is_int(one_lane(u->src[1]), &by) && by >= 0 &&
			by < 8 * dtype_size(dtype_element(u->dtype));
	case OP_MAX: case OP_MIN:
		return const_is_float(one_lane(u->src[1]), &with) && with == with;
	default: return false;
	}
}

bool loads_place(const UOp *u, const UOp *store)
{
	return u->op == OP_LOAD && u->src[0] == store->src[0] &&
		(u->nsrc == 1 || (store->nsrc > 2 && u->src[1] == store->src[2]));
}

UOp *stored_value(const UOp *store)
{
	UOp *v = store->src[1], *term = v->op == OP_ADD ? v->src[1] : NULL;
	DType d = dtype_element(v->dtype);
	bool sum = term && term->op == OP_MUL && (d == DT_F32 || d == DT_F64) &&
		loads_place(v->src[0], store);
	return sum ? NODE(OP_MULACC, v->dtype, VNIL, term->src[0], term->src[1], v->src[0]) : v;
}
