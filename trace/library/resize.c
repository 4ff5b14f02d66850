/* Resampling along an axis. The places and weights that each result reads are computed while
 * tracing, so the graph has tables and a few gathers; for a symbolic size the graph computes them.
 *
 *     nearest, [w] → [2w]      a repeated element: EXPAND
 *     linear, [4] → [3]        GATHER(x, [0,1,2]) * [w…] + GATHER(x, [1,2,3]) * [1-w…]
 *
 * cubic is Keys' kernel (R. Keys, Cubic convolution interpolation, 1981). */
#include "library/library.h"
#include <math.h>

/* For each result, `taps` places (they may lie outside: the border repeats) and weights; out marks
 * the results that lie beyond a crop. */
typedef struct { int taps; int64_t *place; double *weight, *out; bool any_out; } Table;

static double source(const ResizeHow *h, const ResizeAxis *x, int64_t i)
{
	double wide = x->scale * x->n, at;

	switch (h->map) {
	case MAP_CORNERS:
		return wide == 1 ? 0 : i * (double)(x->n - 1) / (wide - 1);
	case MAP_ASYMMETRIC:
		return i / x->scale;
	case MAP_CROP:
		at = wide == 1 ? (x->crop[1] - x->crop[0]) * (x->n - 1) / 2
			: i * (x->crop[1] - x->crop[0]) * (x->n - 1) / (wide - 1);
		return at + x->crop[0] * (x->n - 1);
	case MAP_HALF_PYTORCH:
		return x->to == 1 ? 0 : (i + 0.5) / x->scale - 0.5;
	case MAP_HALF_SYMMETRIC:
		return x->n / 2.0 * (1 - x->to / wide) + (i + 0.5) / x->scale - 0.5;
	default:
		return (i + 0.5) / x->scale - 0.5;
	}
}

static double cubic(double d, double a)
{
	d = fabs(d);
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static double nearest(double p, ResizeRound r)
{
	double lo = floor(p), t = p - lo;

	switch (r) {
	case ROUND_FLOOR: return lo;
	case ROUND_CEIL: return ceil(p);
	case ROUND_PREFER_CEIL: return t < 0.5 ? lo : lo + 1;
	default: return t <= 0.5 ? lo : lo + 1;
	}
}

/* The weights of the taps around p; when shrinking with antialias, the kernel is as wide as the
 * elements that one result covers. */
static void weigh(const ResizeHow *h, const ResizeAxis *x, double p, int taps, int64_t *place,
	double *w)
{
	double lo = ceil(p) - 1, squeeze = h->antialias && x->scale < 1 ? x->scale : 1, sum = 0;

	for (int k = 0; k < taps; k++) {
		place[k] = (int64_t)lo + k - (taps / 2 - 1);
		double d = (place[k] - p) * squeeze;
		w[k] = h->mode == 'c' ? cubic(d, h->a) : fmax(0, 1 - fabs(d));
		if (h->inner && (place[k] < 0 || place[k] >= x->n))
			w[k] = 0;
		sum += w[k];
	}
	for (int k = 0; (h->antialias || h->inner) && sum != 0 && k < taps; k++)
		w[k] /= sum;
}

static int count_taps(const ResizeHow *h, const ResizeAxis *x)
{
	double reach = h->mode == 'c' ? 2 : 1;
	double squeeze = h->antialias && x->scale < 1 ? x->scale : 1;

	if (h->mode == 'n')
		return 1;
	return (int)fmin(1 << 20, -2 * floor(-reach / squeeze));
}

static Table tabulate(const ResizeHow *h, const ResizeAxis *x)
{
	Table t = { .taps = count_taps(h, x) };
	int64_t n;

	if (!mul_ok(x->to, t.taps, &n) || n > 1 << 22)
		die(UNSUPPORTED, "resize: an axis of %lld results of %d elements each",
			(long long)x->to, t.taps);
	t.place = arena_alloc(n * sizeof *t.place);
	t.weight = arena_alloc(n * sizeof *t.weight);
	t.out = arena_alloc(x->to * sizeof *t.out);
	for (int64_t i = 0; i < x->to; i++) {
		double p = source(h, x, i);
		t.out[i] = h->map == MAP_CROP && (p < 0 || p > x->n - 1);
		t.any_out |= t.out[i] != 0;
		p = fmin(fmax(p, -4.0 * x->n - 4), 5.0 * x->n + 4);
		if (h->mode == 'n')
			t.place[i] = (int64_t)nearest(p, h->round);
		else
			weigh(h, x, p, t.taps, t.place + i * t.taps, t.weight + i * t.taps);
	}
	for (int64_t i = 0; i < n; i++)
		t.place[i] = t.place[i] < 0 ? 0 : t.place[i] >= x->n ? x->n - 1 : t.place[i];
	return t;
}

/* column k of a table with one row per result */
static int64_t *places_of(const Table *t, int64_t n, int k)
{
	int64_t *v = arena_alloc(n * sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = t->place[i * t->taps + k];
	return v;
}

static double *weights_of(const Table *t, int64_t n, int k)
{
	double *v = arena_alloc(n * sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = t->weight[i * t->taps + k];
	return v;
}

/* each element of an axis repeated r times */
static UOp *repeated(UOp *x, int axis, int64_t r)
{
	x = t_expand_axis(t_unsqueeze(x, axis + 1), axis + 1, ix_const(r));
	return t_merge_axes(x, axis, 2);
}

static bool repeats(const ResizeAxis *ax, const Table *t)
{
	int64_t r = ax->n ? ax->to / ax->n : 0;

	if (t->taps != 1 || r < 1 || r * ax->n != ax->to)
		return false;
	for (int64_t i = 0; i < ax->to; i++)
		if (t->place[i] != i / r)
			return false;
	return true;
}

/* Many taps: all of them are gathered, [.., to, taps, ..], weighted and summed. */
static UOp *gather_many(UOp *x, int axis, const ResizeAxis *ax, const Table *t)
{
	UOp *idx = table_ints(ax->to * t->taps, t->place),
	    *w = table_numbers(x->dtype, ax->to * t->taps, t->weight);
	UOp *to = ix_const(ax->to), *taps = ix_const(t->taps);

	x = t_take_inside(x, t_split_axis(idx, 0, to, taps), axis);
	w = t_split_axis(w, 0, to, taps);
	return t_sum(t_mul(x, t_along(w, axis + 1, t_rank(x))), axis + 1, false);
}

static UOp *resize_axis(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax)
{
	Table t = tabulate(h, ax);
	UOp *y = NULL;

	if (repeats(ax, &t)) {
		y = repeated(x, axis, ax->to / ax->n);
	} else if (h->mode == 'n') {
		y = t_take_inside(x, table_ints(ax->to, t.place), axis);
	} else if (t.taps > 4) {
		y = gather_many(x, axis, ax, &t);
	} else {
		for (int k = 0; k < t.taps; k++) {
			UOp *at = table_ints(ax->to, places_of(&t, ax->to, k));
			UOp *v = t_take_inside(x, at, axis);
			UOp *w = table_numbers(x->dtype, ax->to, weights_of(&t, ax->to, k));
			v = t_mul(v, t_along(w, axis, t_rank(x)));
			y = y ? t_add(y, v) : v;
		}
	}
	if (t.any_out) {
		UOp *out = t_ne(table_numbers(DT_F32, ax->to, t.out), t_num(DT_F32, 0));
		y = t_where(t_along(out, axis, t_rank(y)), t_num(y->dtype, h->beyond), y);
	}
	return y;
}

/* ---- symbolic sizes: the same places, computed by the graph in f64 */

static UOp *nearest_of(UOp *p, ResizeRound r)
{
	switch (r) {
	case ROUND_FLOOR: return t_floor(p);
	case ROUND_CEIL: return t_ceil(p);
	case ROUND_PREFER_CEIL: return t_floor(t_addc(p, 0.5));
	default: return t_ceil(t_addc(p, -0.5));
	}
}

static UOp *source_of(const ResizeHow *h, UOp *n, const ResizeAxis *ax)
{
	UOp *i = t_arange(DT_F64, ax->size), *from = t_size(DT_F64, n),
	    *to = t_size(DT_F64, ax->size), *one = t_num(DT_F64, 1);
	bool given = ax->by || ax->scale;
	UOp *scale = ax->by ? ax->by : given ? t_num(DT_F64, ax->scale) : t_div(to, from),
	    *wide = given ? t_mul(scale, from) : to;

	if (h->map == MAP_CROP || h->antialias || h->inner)
		die(UNSUPPORTED,
			"a symbolic size with tf_crop_and_resize, antialias or exclude_outside");
	if (h->map == MAP_ASYMMETRIC)
		return t_div(i, scale);
	if (h->map == MAP_CORNERS)
		return t_where(t_eq(wide, one), t_num(DT_F64, 0),
			t_div(t_mul(i, t_sub(from, one)), t_sub(wide, one)));
	i = t_addc(t_div(t_addc(i, 0.5), scale), -0.5);
	if (h->map == MAP_HALF_SYMMETRIC && given)
		i = t_add(i, t_mul(t_mulc(from, 0.5), t_sub(one, t_div(to, wide))));
	return h->map == MAP_HALF_PYTORCH ? t_where(t_eq(to, one), t_num(DT_F64, 0), i) : i;
}

void t_cubic_weights(UOp *t, double a, UOp **w)
{
	UOp *d[4] = { t_addc(t, 1), t, t_sub(t_num(t->dtype, 1), t), t_sub(t_num(t->dtype, 2), t) };

	for (int k = 0; k < 4; k++) {
		bool near = k == 1 || k == 2;
		UOp *p = t_addc(t_mulc(d[k], near ? a + 2 : a), near ? -(a + 3) : -5 * a);
		p = near ? t_mul(p, d[k]) : t_addc(t_mul(p, d[k]), 8 * a);
		w[k] = t_addc(t_mul(p, d[k]), near ? 1 : -4 * a);
	}
}

static UOp *resize_symbolic(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax)
{
	UOp *n = t_dim(x, axis), *p = source_of(h, n, ax),
	    *last = t_addc(t_size(DT_F64, n), -1), *lo, *w[4], *y = NULL;
	int taps = h->mode == 'n' ? 1 : h->mode == 'l' ? 2 : 4;

	lo = h->mode == 'n' ? nearest_of(p, h->round) : t_floor(p);
	p = t_sub(p, lo);
	w[0] = t_sub(t_num(DT_F64, 1), p);
	w[1] = p;
	if (taps == 4)
		t_cubic_weights(p, h->a, w);
	for (int k = 0; k < taps; k++) {
		UOp *at = t_addc(lo, taps == 4 ? k - 1 : k), *v;
		at = t_cast(t_min(t_max(at, t_num(DT_F64, 0)), last), DT_I64);
		v = t_take_inside(x, at, axis);
		if (taps > 1)
			v = t_mul(v, t_along(t_cast(w[k], x->dtype), axis, t_rank(x)));
		y = y ? t_add(y, v) : v;
	}
	return y;
}

/* An axis of symbolic size: repeated where a known size with the same integer scale would be,
 * otherwise resampled by the graph. */
static UOp *stretch(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax)
{
	int64_t r = (int64_t)ax->scale;
	ResizeAxis trial = { .n = 8, .to = 8 * r, .scale = ax->scale };

	if (h->mode == 'n' && r >= 1 && r == ax->scale && r < 1024 && h->map != MAP_CROP) {
		Table t = tabulate(h, &trial);
		if (repeats(&trial, &t))
			return repeated(x, axis, r);
	}
	return resize_symbolic(h, x, axis, ax);
}

UOp *t_resize(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax)
{
	bool whole = ax->crop[0] == 0 && ax->crop[1] == 1;

	if (ax->size)
		return stretch(h, x, axis, ax);
	if (ax->n < 0 || (ax->scale == 1 && ax->to == ax->n && whole))
		return x;
	if (ax->n < 1 || ax->to < 1)
		die(MALFORMED, "axis %d from %lld to %lld", axis, (long long)ax->n,
			(long long)ax->to);
	return resize_axis(h, x, axis, ax);
}
