/* Constants: a CONST's arg has one normal form for each dtype, so that equal constants are one
 * node: bool for bool, an integer for integers, a float (rounded to the dtype, as a double) for
 * floats. */
#include "graph/graph.h"
#include <math.h>

static double round_to(DType dt, double v)
{
	if (dt == DT_F64)
		return v;
	if (dt == DT_F32)
		return (float)v;
	uint16_t half;
	double back;
	interp_cast(dt, &half, DT_F64, &v, 1);
	interp_cast(DT_F64, &back, dt, &half, 1);
	return back;
}

static const Val *normal_int(DType dt, const Val *v)
{
	if (v->kind == VAL_UINT)
		return dt == DT_U64 ? v : NULL;
	if (v->kind != VAL_INT || v->i < dtype_min(dt) ||
		(v->i > 0 && (uint64_t)v->i > dtype_max(dt)))
		return NULL;
	return v;
}

const Val *const_normal(DType dt, const Val *v)
{
	if (dtype_lanes(dt) > 1)
		return NULL;
	if (v->kind == VAL_BOOL && dt != DT_BOOL)
		v = val_int(v->b);
	if (dt == DT_BOOL) {
		if (v->kind == VAL_INT && (v->i == 0 || v->i == 1))
			return val_bool(v->i);
		return v->kind == VAL_BOOL ? v : NULL;
	}
	if (dtype_int(dt))
		return normal_int(dt, v);
	if (!dtype_float(dt))
		return NULL;
	switch (v->kind) {
	case VAL_FLOAT: return val_float(round_to(dt, v->f));
	case VAL_INT:
		if (dt == DT_F32)
			return val_float((float)v->i);
		return val_float(round_to(dt, (double)v->i));
	case VAL_UINT:
		if (dt == DT_F32)
			return val_float((float)v->u);
		return val_float(round_to(dt, (double)v->u));
	default: return NULL;
	}
}

UOp *const_num(DType dt, double v)
{
	if (dtype_float(dt))
		return LEAF(OP_CONST, dt, val_float(v));
	if (dt == DT_BOOL)
		return LEAF(OP_CONST, dt, val_bool(v != 0));
	if (dt == DT_U64 && v >= 9223372036854775808.0)
		return LEAF(OP_CONST, dt, val_uint((uint64_t)v));
	return const_int(dt, (int64_t)v);
}

UOp *const_int(DType dt, int64_t v)
{
	if (dt == DT_BOOL)
		return LEAF(OP_CONST, dt, val_bool(v != 0));
	return LEAF(OP_CONST, dt, val_int(v));
}

UOp *const_bits(DType dt, const void *bytes)
{
	if (dt == DT_BOOL)
		return const_int(dt, *(const uint8_t *)bytes != 0);
	if (dtype_float(dt)) {
		double d;
		interp_cast(DT_F64, &d, dt, bytes, 1);
		return LEAF(OP_CONST, dt, val_float(d));
	}
	uint64_t u = 0;
	memcpy(&u, bytes, dtype_size(dt));
	if (dtype_signed(dt)) {
		int shift = 64 - 8 * dtype_size(dt);
		return LEAF(OP_CONST, dt, val_int((int64_t)(u << shift) >> shift));
	}
	return LEAF(OP_CONST, dt, val_uint(u));
}

void const_get(const UOp *c, void *bytes8)
{
	const Val *v = const_normal(c->dtype, c->arg);
	CHECK(v);
	memset(bytes8, 0, 8);
	if (dtype_float(c->dtype))
		interp_cast(c->dtype, bytes8, DT_F64, &v->f, 1);
	else if (c->dtype == DT_BOOL)
		*(uint8_t *)bytes8 = v->b;
	else
		memcpy(bytes8, &v->u, dtype_size(c->dtype));
}

bool const_is_int(const UOp *u, int64_t *v)
{
	if (u->op != OP_CONST)
		return false;
	if (u->arg->kind == VAL_BOOL)
		return *v = u->arg->b, true;
	return u->arg->kind == VAL_INT && dtype_int(u->dtype) ? (*v = u->arg->i, true) : false;
}

bool const_is_float(const UOp *u, double *v)
{
	if (u->op != OP_CONST || !dtype_float(u->dtype))
		return false;
	const Val *n = const_normal(u->dtype, u->arg);
	return n ? (*v = n->f, true) : false;
}

bool const_is_zero(const UOp *u)
{
	double v;
	return const_is_float(u, &v) && v == 0 && !signbit(v);
}

UOp *const_identity(Op op, DType dt)
{
	switch (op_info[op].identity) {
	case IDENTITY_ZERO: return const_int(dt, 0);
	case IDENTITY_ONE: return const_int(dt, 1);
	case IDENTITY_LEAST:
		return dtype_float(dt) ? const_num(dt, -INFINITY) :
			LEAF(OP_CONST, dt, val_int(dtype_min(dt)));
	case IDENTITY_GREATEST:
		return dtype_float(dt) ? const_num(dt, INFINITY) :
			LEAF(OP_CONST, dt, val_uint(dtype_max(dt)));
	default: CHECK(!"a fold");
	}
}
