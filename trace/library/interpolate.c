/* Resizing of the last axes of x[n,c,...], an axis at a time: each place of the result takes one (nearest), two (linear)
 * or four (cubic) places of x, weighted.
 *
 * Place i of n' reads place (i + 0.5) * n / n' - 0.5 of n (pixel centres), or i * (n-1) / (n'-1) with align_corners; cubic
 * is Keys' kernel with a = -0.75 (R. Keys, Cubic convolution interpolation, 1981), edges repeated.  As PyTorch has it. */
#include "library/library.h"
#include <math.h>

typedef struct { double ratio; bool corners; int64_t n, to; } ScaledAxis;

/* the place in x for each of the `to` results, in f64 */
static UOp *source(const ScaledAxis *ax)
{
	UOp *i = t_arange(DT_F64, ix_const(ax->to));

	if (ax->corners)
		return t_mulc(i, ax->to > 1 ? (double)(ax->n - 1) / (ax->to - 1) : 0);
	return t_addc(t_mulc(t_addc(i, 0.5), ax->ratio), -0.5);
}

/* x at whole places (f64), clamped to its ends, along axis */
static UOp *at_places(UOp *x, int axis, UOp *place, const ScaledAxis *ax)
{
	UOp *i = t_cast(t_min(t_max(place, t_num(DT_F64, 0)), t_num(DT_F64, ax->n - 1)), DT_I64);

	return t_move_axis(t_gather(t_move_axis(x, axis, 0), 1, &i), 0, axis);
}

/* w[to] along axis of a tensor of rank r */
static UOp *along(UOp *w, int axis, int rank, DType dt)
{
	w = t_cast(w, dt);
	for (int i = axis + 1; i < rank; i++)
		w = t_unsqueeze(w, t_rank(w));
	return w;
}

static UOp *nearest(UOp *x, int axis, const ScaledAxis *ax)
{
	UOp *i = t_mulc(t_arange(DT_F64, ix_const(ax->to)), ax->ratio);

	return at_places(x, axis, t_floor(i), ax);
}

static UOp *linear(UOp *x, int axis, const ScaledAxis *ax)
{
	UOp *s = t_max(source(ax), t_num(DT_F64, 0)), *lo = t_floor(s), *w = t_sub(s, lo);
	UOp *a = at_places(x, axis, lo, ax), *b = at_places(x, axis, t_addc(lo, 1), ax);

	w = along(w, axis, t_rank(x), x->dtype);
	return t_add(t_mul(a, t_sub(t_num(x->dtype, 1), w)), t_mul(b, w));
}

/* Keys' weight of a place at distance d, within 1 or from 1 to 2 */
static UOp *keys(UOp *d, bool near)
{
	const double a = -0.75;

	if (near)
		return t_addc(t_mul(t_mul(t_addc(t_mulc(d, a + 2), -(a + 3)), d), d), 1);
	return t_addc(t_mul(t_addc(t_mul(t_addc(t_mulc(d, a), -5 * a), d), 8 * a), d), -4 * a);
}

static UOp *cubic(UOp *x, int axis, const ScaledAxis *ax)
{
	UOp *s = source(ax), *lo = t_floor(s), *t = t_sub(s, lo), *sum = NULL;

	for (int k = -1; k <= 2; k++) {
		UOp *d = k <= 0 ? t_addc(t, -k) : t_sub(t_num(DT_F64, k), t);
		UOp *w = along(keys(d, k == 0 || k == 1), axis, t_rank(x), x->dtype);
		UOp *v = t_mul(at_places(x, axis, t_addc(lo, k), ax), w);
		sum = sum ? t_add(sum, v) : v;
	}
	return sum;
}

static UOp *resize(UOp *x, int axis, const ScaledAxis *ax, const char *mode)
{
	if (ax->n == ax->to && (strcmp(mode, "nearest") == 0 || ax->ratio == 1))
		return x;
	if (!strcmp(mode, "nearest"))
		return nearest(x, axis, ax);
	if (!strcmp(mode, "linear"))
		return linear(x, axis, ax);
	if (!strcmp(mode, "cubic"))
		return cubic(x, axis, ax);
	die(MALFORMED, "interpolate: mode is nearest, linear or cubic, not '%s'", mode);
}

Value fn_interpolate(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int nd = t_rank(x) - 2;
	int64_t size[MAX_RANK];
	double scale = 0;
	const char *mode = arg_str(a, 3);

	if (nd < 1 || arg_given(a, 1) == arg_given(a, 2))
		die(MALFORMED, "interpolate: needs x[n,c,...] and one of size and scale");
	if (arg_given(a, 1))
		space_numbers(a, 1, nd, size, 1);
	else
		scale = arg_float(a, 2);
	if (arg_given(a, 2) && !(scale > 0 && scale < 1e6))
		die(MALFORMED, "interpolate: scale %g is out of range", scale);
	if (strcmp(mode, "nearest"))
		x = t_float(x);
	for (int i = 0; i < nd; i++) {
		ScaledAxis ax = { .n = shape_dim(x->shape, 2 + i), .corners = arg_bool(a, 4) };
		if (ax.n < 1)
			die(MALFORMED, "interpolate: axis %d of x is empty", 2 + i);
		ax.to = scale > 0 ? (int64_t)floor(ax.n * scale) : size[i];
		ax.ratio = scale > 0 ? 1 / scale : (double)ax.n / ax.to;
		if (ax.to < 1)
			die(MALFORMED, "interpolate: axis %d would be empty", 2 + i);
		x = resize(x, 2 + i, &ax, mode);
	}
	return v_tensor(x);
}
