/* Random numbers from a key: the same key and offset give the same numbers on every target.
 *
 *     rand([n], key=7)   →   THREEFRY(ARANGE n, 7), 23 of its bits under the exponent of 1, less 1
 *
 * Element number i uses the counter offset + i (two counters for randn in f64), so calls with
 * rising offsets draw successive parts of one stream. */
#include "library/library.h"
#include <math.h>

static UOp *u64(uint64_t v) { return const_bits(DT_U64, &v); }
static UOp *u32(uint32_t v) { return const_bits(DT_U32, &v); }

/* argument k as a u64 scalar: a number, or a tensor of one element */
static UOp *scalar_u64(Args *a, int k)
{
	UOp *x = a->at[k].kind == V_NUMBER && a->at[k].is_int && a->at[k].i < 0
		? u64(a->at[k].i) : t_cast(arg_tensor_like(a, k, DT_U64), DT_U64);

	if (t_rank(x) && shape_count(x->shape) != ix_const(1))
		die(MALFORMED, "%s: a key has one element, not %s", a->fn->name,
			shape_text(x->shape));
	return t_reshape(x, shape_scalar());
}

/* 64 random bits for each element of the shape; each element uses `by` counters, of which this is
 * number `which` */
static UOp *draw(const Shape *s, UOp *key, UOp *offset, int by, int which)
{
	UOp *i = t_arange(DT_U64, shape_count(s));

	i = by > 1 ? t_mul(i, u64(by)) : i;
	i = t_add(i, which ? t_add(offset, u64(which)) : offset);
	return t_reshape(NODE(OP_THREEFRY, DT_U64, VNIL, t_expand_to(i, i->shape),
		t_expand_to(key, i->shape)), s);
}

static UOp *low_word(UOp *bits) { return t_cast(t_op2(OP_AND, bits, u64(0xffffffff)), DT_U32); }
static UOp *high_word(UOp *bits) { return t_cast(t_op2(OP_SHR, bits, u64(32)), DT_U32); }

/* [0, 1) in steps of 2^-23 from one word, of 2^-52 from two */
static UOp *unit_f32(UOp *word)
{
	UOp *x = t_op2(OP_OR, t_op2(OP_SHR, word, u32(9)), u32(0x3f800000));

	return t_addc(NODE(OP_BITCAST, DT_F32, VNIL, x), -1);
}

static UOp *unit_f64(UOp *bits)
{
	UOp *x = t_op2(OP_OR, t_op2(OP_SHR, bits, u64(12)), u64(0x3ff0000000000000));

	return t_addc(NODE(OP_BITCAST, DT_F64, VNIL, x), -1);
}

/* f16 and bf16 use as many bits as they can hold below 1: rounding a longer number could give 1. */
static UOp *uniform(UOp *bits, DType dt)
{
	int keep = dt == DT_F16 ? 11 : 8;

	if (dt == DT_F64)
		return unit_f64(bits);
	if (dt == DT_F32)
		return unit_f32(low_word(bits));
	bits = t_cast(t_op2(OP_SHR, low_word(bits), u32(32 - keep)), DT_F32);
	return t_cast(t_mulc(bits, ldexp(1, -keep)), dt);
}

static const Shape *arg_shape(Args *a, int k)
{
	UOp *dim[MAX_RANK];
	int rank = arg_sizes(a, k, dim), status = MALFORMED;
	const char *err;
	const Shape *s = shape_checked(rank, dim, &err, &status);

	if (!s)
		die(status, "%s: %s", a->fn->name, err);
	return s;
}

static DType drawn_dtype(Args *a, int k)
{
	DType dt = arg_dtype(a, k);

	if (dt != DT_NONE && !dtype_float(dt))
		die(MALFORMED, "%s: dtype %s is no float", a->fn->name, dtype_name(dt));
	return dt == DT_NONE ? float_dtype() : dt;
}

Value fn_random_bits(Args *a)
{
	return v_tensor(draw(arg_shape(a, 0), scalar_u64(a, 1), scalar_u64(a, 2), 1, 0));
}

Value fn_rand(Args *a)
{
	return v_tensor(uniform(draw(arg_shape(a, 0), scalar_u64(a, 1), scalar_u64(a, 2), 1, 0),
		drawn_dtype(a, 3)));
}

/* The Box-Muller transform: √(-2 log u)·cos(2πv), u in (0, 1]. f32 takes u and v from the two words
 * of one draw. */
Value fn_randn(Args *a)
{
	const Shape *s = arg_shape(a, 0);
	UOp *key = scalar_u64(a, 1), *offset = scalar_u64(a, 2), *u, *v, *r;
	DType dt = drawn_dtype(a, 3);

	if (dt == DT_F64) {
		u = unit_f64(draw(s, key, offset, 2, 0));
		v = unit_f64(draw(s, key, offset, 2, 1));
	} else {
		r = draw(s, key, offset, 1, 0);
		u = unit_f32(low_word(r));
		v = unit_f32(high_word(r));
	}
	r = t_sqrt(t_mulc(t_log(t_sub(t_num(u->dtype, 1), u)), -2));
	return v_tensor(t_cast(t_mul(r, t_op1(OP_SIN, t_mulc(t_addc(v, 0.25), 2 * M_PI))), dt));
}

/* low + ⌊range·word/2^32⌋ if one word covers the range, else 64 bits modulo the range */
Value fn_randint(Args *a)
{
	int64_t low = arg_int(a, 1), high = arg_int(a, 2);
	uint64_t range = (uint64_t)high - (uint64_t)low;
	DType dt = arg_dtype(a, 5);
	UOp *r;

	if (high <= low)
		die(MALFORMED, "randint: nothing from %lld up to %lld", (long long)low,
			(long long)high);
	r = draw(arg_shape(a, 0), scalar_u64(a, 3), scalar_u64(a, 4), 1, 0);
	if (range <= 0xffffffff)
		r = t_op2(OP_SHR, t_mul(t_op2(OP_AND, r, u64(0xffffffff)), u64(range)), u64(32));
	else
		r = t_op2(OP_MOD, r, u64(range));
	return v_tensor(t_cast(t_add(r, u64(low)), dt == DT_NONE ? DT_I64 : dt));
}

/* 0 … n-1 in a random order: the argsort of n draws */
Value fn_randperm(Args *a)
{
	UOp *n = arg_size(a, 0);

	return v_tensor(t_sort(draw(shape_new(1, &n), scalar_u64(a, 1), scalar_u64(a, 2), 1, 0), 0,
		false));
}

/* Drops the elements whose f32 draw is below p, and scales the others so that the mean is
 * preserved. */
Value fn_dropout(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *keep;
	double p = arg_float(a, 1);

	if (!(p >= 0 && p <= 1))
		die(MALFORMED, "dropout: p is %g, not within 0 and 1", p);
	if (p == 0)
		return v_tensor(x);
	if (p == 1)
		return v_tensor(t_full(x->shape, t_num(x->dtype, 0)));
	keep = uniform(draw(x->shape, scalar_u64(a, 2), scalar_u64(a, 3), 1, 0), DT_F32);
	keep = t_not(t_lt(keep, t_num(DT_F32, p)));
	return v_tensor(t_where(keep, t_mulc(x, 1 / (1 - p)), t_num(x->dtype, 0)));
}
