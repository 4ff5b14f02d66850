/* Reductions and running reductions.
 *
 *     argmax(x, axis=1)   →   REDUCE MIN over WHERE(x == REDUCE MAX x, place, n)
 *
 * Each reads its input once per reduction, so all of them are linear. */
#include "library/library.h"
#include <math.h>

/* sum and prod accumulate small integers in 64 bits, as NumPy does */
static UOp *for_sum(Args *a, int k, UOp *x)
{
	DType dt = arg_dtype(a, k);

	if (dt != DT_NONE)
		return t_cast(x, dt);
	if (dtype_float(x->dtype))
		return x;
	return t_cast(x, dtype_int(x->dtype) && !dtype_signed(x->dtype) ? DT_U64 : DT_I64);
}

static UOp *reduce(Args *a, Op op, UOp *x)
{
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes);

	return t_reduce(op, x, n, axes, arg_bool(a, 2));
}

Value fn_sum(Args *a) { return v_tensor(reduce(a, OP_ADD, for_sum(a, 3, arg_tensor(a, 0)))); }
Value fn_prod(Args *a) { return v_tensor(reduce(a, OP_MUL, for_sum(a, 3, arg_tensor(a, 0)))); }
Value fn_max(Args *a) { return v_tensor(reduce(a, OP_MAX, arg_tensor(a, 0))); }
Value fn_min(Args *a) { return v_tensor(reduce(a, OP_MIN, arg_tensor(a, 0))); }
Value fn_any(Args *a) { return v_tensor(reduce(a, OP_MAX, t_cast(arg_tensor(a, 0), DT_BOOL))); }
Value fn_all(Args *a) { return v_tensor(reduce(a, OP_MIN, t_cast(arg_tensor(a, 0), DT_BOOL))); }

Value fn_mean(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes);

	return v_tensor(t_mean(x, n, axes, arg_bool(a, 2)));
}

/* x - c; a known count stays known */
static UOp *less(UOp *x, double c)
{
	double v;

	return const_is_float(x, &v) ? t_num(x->dtype, v - c) : t_addc(x, -c);
}

/* Two passes: the mean, then the squares of the differences from it. */
static UOp *variance(Args *a, UOp *x)
{
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes);
	UOp *d = t_sub(x, t_mean(x, n, axes, true)), *count = t_size(x->dtype, t_count(x, n, axes));

	count = less(count, arg_float(a, 3));
	return t_div(t_reduce(OP_ADD, t_mul(d, d), n, axes, arg_bool(a, 2)), count);
}

Value fn_var(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0));

	return v_tensor(t_cast(variance(a, t_cast(x, dtype_acc(x->dtype))), x->dtype));
}

Value fn_std(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0));

	return v_tensor(t_cast(t_sqrt(variance(a, t_cast(x, dtype_acc(x->dtype)))), x->dtype));
}

/* √x with derivative 1 at 0, so that a norm has derivative 0 there */
static UOp *root(UOp *x) { return t_where(t_eq(x, t_num(x->dtype, 0)), x, t_sqrt(x)); }

/* √(Σ x²); Σ|x| for ord 1, the largest |x| for ord inf, else (Σ|x|^ord)^(1/ord) */
Value fn_norm(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y;
	double ord = arg_float(a, 3);
	DType dt = x->dtype;

	x = t_cast(x, dtype_acc(dt));
	if (ord == 2)
		y = root(reduce(a, OP_ADD, t_mul(x, x)));
	else if (ord == 1)
		y = reduce(a, OP_ADD, t_abs(x));
	else if (isinf(ord))
		y = reduce(a, ord > 0 ? OP_MAX : OP_MIN, t_abs(x));
	else
		y = t_pow(reduce(a, OP_ADD, t_pow(t_abs(x), t_num(x->dtype, ord))),
			t_num(x->dtype, 1 / ord));
	return v_tensor(t_cast(y, dt));
}

/* log Σ exp(x - m) + m; a non-finite m counts as 0, so that inf - inf does not arise. */
Value fn_logsumexp(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *m, *s;
	DType dt = x->dtype;
	int axes[MAX_RANK], n = arg_axes_of(a, 1, t_rank(x), axes);

	x = t_cast(x, dtype_acc(dt));
	m = t_reduce(OP_MAX, x, n, axes, true);
	m = t_where(t_eq(t_sub(m, m), t_num(m->dtype, 0)), m, t_num(m->dtype, 0));
	m = NODE(OP_DETACH, m->dtype, VNIL, m);
	s = t_op1(OP_EXP2, t_mulc(t_sub(x, m), M_LOG2E));
	s = t_reduce(OP_ADD, s, n, axes, arg_bool(a, 2));
	return v_tensor(t_cast(t_add(t_log(s), t_reshape(m, s->shape)), dt));
}

/* ---- places ---------------------------------------------------------------------------------- */

static UOp *arg_extreme(Args *a, Op op)
{
	UOp *x = arg_tensor(a, 0), *m, *hit, *none, *place;
	bool keep = arg_bool(a, 2), flat = !arg_given(a, 1), last = arg_bool(a, 3);
	int rank = t_rank(x), axis;
	int64_t v;

	if (flat)
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) });
	axis = flat ? 0 : arg_axis(a, 1, rank);
	if (ix_is_const(t_dim(x, axis), &v) && v == 0)
		die(MALFORMED, "%s of an axis of size 0", a->fn->name);
	m = t_reduce(op, x, 1, &axis, true);
	hit = t_eq(x, m);
	if (dtype_float(x->dtype))
		hit = t_or(hit, t_ne(x, x));
	none = last ? t_num(DT_I64, -1) : t_size(DT_I64, t_dim(x, axis));
	place = t_where(hit, t_iota(DT_I64, x->shape, axis), none);
	place = t_reduce(last ? OP_MAX : OP_MIN, place, 1, &axis, keep && !flat);
	if (keep && flat)
		for (int i = 0; i < rank; i++)
			place = t_unsqueeze(place, 0);
	return place;
}

Value fn_argmax(Args *a) { return v_tensor(arg_extreme(a, OP_MAX)); }
Value fn_argmin(Args *a) { return v_tensor(arg_extreme(a, OP_MIN)); }

/* ---- scans ----------------------------------------------------------------------------------- */

/* exclusive leaves out the element itself: the identity comes first, and the last element is
 * dropped. */
static UOp *running(Args *a, Op op, UOp *x)
{
	int axis;
	bool exclusive = arg_bool(a, 2), reverse = arg_bool(a, 3);
	UOp *pairs[MAX_RANK][2];

	if (!arg_given(a, 1))
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) });
	axis = arg_given(a, 1) ? arg_axis(a, 1, t_rank(x)) : 0;
	x = reverse ? t_flip(x, 1, &axis) : x;
	if (exclusive) {
		UOp *n = t_dim(x, axis);
		for (int i = 0; i < t_rank(x); i++) {
			pairs[i][0] = ix_const(i == axis);
			pairs[i][1] = ix_const(0);
		}
		x = t_pad_value(x, pairs, const_identity(op, x->dtype));
		x = t_shrink_axis(x, axis, ix_const(0), n);
	}
	x = t_scan(op, x, axis);
	return reverse ? t_flip(x, 1, &axis) : x;
}

Value fn_cumsum(Args *a) { return v_tensor(running(a, OP_ADD, for_sum(a, 4, arg_tensor(a, 0)))); }
Value fn_cumprod(Args *a) { return v_tensor(running(a, OP_MUL, for_sum(a, 4, arg_tensor(a, 0)))); }
Value fn_cummax(Args *a) { return v_tensor(running(a, OP_MAX, arg_tensor(a, 0))); }
Value fn_cummin(Args *a) { return v_tensor(running(a, OP_MIN, arg_tensor(a, 0))); }
