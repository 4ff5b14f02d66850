/* ONNX: Fourier transforms and window functions, computed in f64.
 *
 *     DFT(x[n])   →   sum over n of x * cos and sin of 2 pi (k n mod N) / N
 *
 * The product k n is reduced before the angle is taken, so that no angle is large. A long transform
 * whose length has a small factor is composed of shorter ones (J. W. Cooley, J. W. Tukey, 1965),
 * with n = n1 N2 + n2 and k = k1 + N1 k2:
 *
 *     x[n] → x[n1,n2] → DFT over n1 → times twiddles of n2 k1 → DFT over n2 → y[k1,k2] → y[k] */
#include "onnx/operators/space.h"
#include <math.h>

enum { LONGEST = 1 << 20 };

/* Twiddle factors of N steps, [k,n] for k below rows: cos and sin of 2 pi k n / N. */
static void circle(int64_t size, UOp *rows, UOp *cols, UOp **cosine, UOp **sine)
{
	double *v[2] = { arena_alloc(size * sizeof(double)), arena_alloc(size * sizeof(double)) };
	UOp *at;

	for (int64_t i = 0; i < size; i++) {
		/* this way, multiples of an eighth of the circle are exact */
		int64_t q = 8 * i / size, r = 8 * i % size;
		double t = M_PI / 4 * ((double)r / size), c = cos(t), s = sin(t);
		double h = M_SQRT1_2,
		       e[8][2] = {{c, s}, {h * (c - s), h * (c + s)}, {-s, c},
			       {-h * (c + s), h * (c - s)}, {-c, -s}, {-h * (c - s), -h * (c + s)},
			       {s, -c}, {h * (c + s), -h * (c - s)}};
		v[0][i] = e[q][0];
		v[1][i] = e[q][1];
	}
	at = t_mul(t_unsqueeze(t_arange(DT_I64, rows), 1), t_arange(DT_I64, cols));
	at = t_op2(OP_MOD, at, t_num(DT_I64, (double)size));
	*cosine = table_numbers(DT_F64, size, v[0]);
	*sine = table_numbers(DT_F64, size, v[1]);
	*cosine = t_gather(*cosine, 1, &at);
	*sine = t_gather(*sine, 1, &at);
}

typedef struct { int64_t length; bool inverse, onesided; } Transform;

/* x[...,n] times m[k,n]: [...,k] */
static UOp *along_last(UOp *x, UOp *m)
{
	return t_sum(t_mul(t_unsqueeze(x, t_rank(x) - 1), m), -1, false);
}

static UOp *pair(UOp *re, UOp *im)
{
	int r = t_rank(re);

	return t_concat(2, (UOp *[]){ t_unsqueeze(re, r), t_unsqueeze(im, r) }, r);
}

/* Complex values, each part [...,n]; im may be NULL: 0. */
typedef struct { UOp *re, *im; } Complex;

/* multiplies by m[k,n] = cosine + i sine and sums over n */
static Complex by_circle(Complex x, UOp *cosine, UOp *sine)
{
	Complex y = { along_last(x.re, cosine), along_last(x.re, sine) };

	if (x.im) {
		y.re = t_sub(y.re, along_last(x.im, sine));
		y.im = t_add(y.im, along_last(x.im, cosine));
	}
	return y;
}

/* multiplies element by element */
static Complex rotated(Complex x, UOp *cosine, UOp *sine)
{
	return (Complex){ t_sub(t_mul(x.re, cosine), t_mul(x.im, sine)),
		t_add(t_mul(x.re, sine), t_mul(x.im, cosine)) };
}

/* Splits the last axis into rows and cols, which are exchanged if swap is set. */
static UOp *split(UOp *x, int64_t rows, int64_t cols, bool swap)
{
	int last = t_rank(x) - 1;
	UOp *dim[MAX_RANK];

	for (int i = 0; i < last; i++)
		dim[i] = x->shape->dim[i];
	dim[last] = ix_const(rows);
	dim[last + 1] = ix_const(cols);
	x = t_reshapev(x, last + 2, dim);
	return swap ? t_transpose(x, last, last + 1) : x;
}

/* Exchanges the last two axes and merges them into one. */
static UOp *join(UOp *x)
{
	int last = t_rank(x) - 1;
	UOp *dim[MAX_RANK];

	x = t_transpose(x, last - 1, last);
	for (int i = 0; i < last; i++)
		dim[i] = x->shape->dim[i];
	dim[last - 1] = ix_mul(x->shape->dim[last - 1], x->shape->dim[last]);
	return t_reshapev(x, last, dim);
}

/* The factor of n that splits a long transform first; 1 when it is not split. */
static int64_t factor_of(int64_t n, int rank)
{
	enum { SHORT = 32, MOST = 16 };

	for (int64_t f = MOST; f > 1 && n > SHORT && rank < MAX_RANK - 1; f--)
		if (n % f == 0)
			return f;
	return 1;
}

/* The first k of n sums over x[...,n]. Each iteration splits the rest; the parts are combined after
 * the loop. */
static Complex spectrum(Complex x, int64_t n, int64_t k, bool inverse)
{
	int64_t left = n, f;
	int splits = 0;
	UOp *cosine, *sine;

	for (; (f = factor_of(left, t_rank(x.re))) > 1; left /= f, splits++) {
		x.re = split(x.re, f, left / f, true);
		x.im = x.im ? split(x.im, f, left / f, true) : NULL;
		circle(f, ix_const(f), ix_const(f), &cosine, &sine);
		x = by_circle(x, cosine, inverse ? sine : t_neg(sine));
		circle(left, ix_const(left / f), ix_const(f), &cosine, &sine);
		x = rotated(x, cosine, inverse ? sine : t_neg(sine));
		x.re = t_transpose(x.re, t_rank(x.re) - 2, t_rank(x.re) - 1);
		x.im = t_transpose(x.im, t_rank(x.im) - 2, t_rank(x.im) - 1);
	}
	circle(left, ix_const(splits ? left : k), ix_const(left), &cosine, &sine);
	x = by_circle(x, cosine, inverse ? sine : t_neg(sine));
	for (int last; splits; splits--) {
		x.re = join(x.re);
		x.im = join(x.im);
		last = t_rank(x.re) - 1;
		if (splits == 1 && k < n) {
			x.re = t_shrink_axis(x.re, last, ix_const(0), ix_const(k));
			x.im = t_shrink_axis(x.im, last, ix_const(0), ix_const(k));
		}
	}
	return x;
}

static UOp *over(UOp *x, int64_t n)
{
	return t_div(x, t_num(DT_F64, (double)n));
}

/* x[...,n], n = length, to [...,k,2] */
static UOp *forward(const Transform *t, Complex x)
{
	int64_t n = t->length;
	Complex y = spectrum(x, n, t->onesided ? n / 2 + 1 : n, t->inverse);

	return t->inverse ? pair(over(y.re, n), over(y.im, n)) : pair(y.re, y.im);
}

/* Completes half a spectrum, [...,n / 2 + 1]: appends the conjugate of its elements, reversed. */
static UOp *whole(UOp *half, int64_t n, bool negate)
{
	int last = t_rank(half) - 1;
	UOp *rest = t_shrink_axis(half, last, ix_const(1), ix_const(n - n / 2));

	rest = t_flip(rest, 1, &last);
	return t_concat(2, (UOp *[]){ half, negate ? t_neg(rest) : rest }, last);
}

/* Transforms half a spectrum back to real values, [...,n,1]. */
static UOp *back_to_real(const Transform *t, Complex x)
{
	int64_t n = t->length;
	Complex y = { whole(x.re, n, false), x.im ? whole(x.im, n, true) : NULL };

	y = spectrum(y, n, n, true);
	return t_unsqueeze(over(y.re, n), t_rank(y.re));
}

/* the last axis of x cut or padded with zeros to n */
static UOp *to_length(UOp *x, int64_t n)
{
	int last = t_rank(x) - 1;
	int64_t have = shape_dim(x->shape, last);

	if (have > n)
		return t_shrink_axis(x, last, ix_const(0), ix_const(n));
	return t_pad_axis(x, last, ix_const(0), ix_const(n - have));
}

/* transforms x[...,n,1 or 2] along its last axis but one: [...,k,1 or 2] */
static UOp *transform(OnnxCall *c, const Transform *t, UOp *x)
{
	int last = t_rank(x) - 1;
	int64_t parts = shape_dim(x->shape, last), n = t->length;
	Complex z = { 0 };

	if (parts < 1 || parts > 2)
		onnx_fail(c, MALFORMED, "%s has neither 1 nor 2 parts in its last axis",
			shape_text(x->shape));
	if (n < 1)
		onnx_fail(c, MALFORMED, "a transform of length %lld", (long long)n);
	if (n > LONGEST)
		onnx_fail(c, UNSUPPORTED, "a transform of length %lld", (long long)n);
	n = t->inverse && t->onesided ? n / 2 + 1 : n;
	x = t_cast(x, DT_F64);
	z.re = to_length(t_squeeze(t_shrink_axis(x, last, ix_const(0), ix_const(1)), last), n);
	if (parts == 2)
		z.im = to_length(
			t_squeeze(t_shrink_axis(x, last, ix_const(1), ix_const(2)), last), n);
	return t->inverse && t->onesided ? back_to_real(t, z) : forward(t, z);
}

void onnx_DFT(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *y;
	int rank = t_rank(x), axis;
	Transform t = { .inverse = onnx_attr_int(c, "inverse", 0) != 0,
		.onesided = onnx_attr_int(c, "onesided", 0) != 0 };
	int64_t v = onnx_version(c) < 20 ? onnx_attr_int(c, "axis", 1)
		: onnx_has(c, 2)	 ? onnx_known_int(c, 2)
					 : -2;

	onnx_axes(c, 1, &v, rank, &axis);
	if (rank < 2 || axis == rank - 1)
		onnx_fail(c, MALFORMED, "axis %lld of %s", (long long)v, shape_text(x->shape));
	t.length = onnx_has(c, 1) ? onnx_known_int(c, 1) : shape_dim(x->shape, axis);
	if (!onnx_has(c, 1) && t.inverse && t.onesided)
		t.length = 2 * (t.length - 1);
	y = transform(c, &t, t_move_axis(x, axis, rank - 2));
	onnx_set(c, 0, t_cast(t_move_axis(y, rank - 2, axis), x->dtype));
}

/* cuts x[b,n,1 or 2] into frames and transforms each: [b,frames,k,2] */
void onnx_STFT(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *window = onnx_has(c, 2) ? onnx_in_rank(c, 2, 1) : NULL, *y;
	int64_t step = onnx_known_int(c, 1), one = 1;
	Transform t = { .onesided = onnx_attr_int(c, "onesided", 1) != 0 };

	if (t_rank(x) == 2)
		x = t_unsqueeze(x, 2);
	if (t_rank(x) != 3)
		onnx_fail(c, MALFORMED, "signal%s, not 3 axes", shape_text(x->shape));
	t.length = onnx_has(c, 3) ? onnx_known_int(c, 3)
		: window	  ? shape_dim(window->shape, 0)
				  : shape_dim(x->shape, 1);
	if (step < 1 || t.length < 1)
		onnx_fail(c, MALFORMED, "frames of %lld every %lld", (long long)t.length,
			(long long)step);
	t.onesided &= shape_dim(x->shape, 2) == 1;
	y = t_windows(t_transpose(t_cast(x, DT_F64), 1, 2), 1, &t.length, &step,
		&one); /* [b,parts,frames,n] */
	if (window)
		y = t_mul(y, to_length(t_cast(window, DT_F64), t.length));
	y = transform(c, &t, t_move_axis(y, 1, 3));
	onnx_set(c, 0, t_cast(y, x->dtype));
}

/* ---- window functions: sums of cosines over one period */

static void window(OnnxCall *c, double a0, double a1, double a2)
{
	UOp *size[MAX_RANK], *n, *angle, *y;
	DType dt = onnx_dtype((int)onnx_attr_int(c, "output_datatype", ONNX_FLOAT));

	if (dt == DT_NONE)
		onnx_fail(c, UNSUPPORTED, "output_datatype");
	if (onnx_bound_sizes(c, 0, MAX_RANK, size) != 1)
		onnx_fail(c, MALFORMED, "size is no scalar");
	n = t_size(DT_F64, size[0]);
	if (!onnx_attr_int(c, "periodic", 1))
		n = t_max(t_addc(n, -1), t_num(DT_F64, 1));
	angle = t_div(t_mulc(t_arange(DT_F64, size[0]), 2 * M_PI), n);
	y = t_sub(t_num(DT_F64, a0), t_mulc(t_cos(angle), a1));
	if (a2 != 0)
		y = t_add(y, t_mulc(t_cos(t_mulc(angle, 2)), a2));
	onnx_set(c, 0, t_cast(y, dt));
}

void onnx_HannWindow(OnnxCall *c)
{
	window(c, 0.5, 0.5, 0);
}

void onnx_HammingWindow(OnnxCall *c)
{
	window(c, 25.0 / 46, 1 - 25.0 / 46, 0);
}

void onnx_BlackmanWindow(OnnxCall *c)
{
	window(c, 0.42, 0.5, 0.08);
}

/* ---- MelWeightMatrix: triangular filters over spectral bins, evenly spaced in mel */

static double mel_edge(double low, double step, int64_t i, int64_t length, int64_t rate)
{
	return floor((length + 1) * (700 * expm1((i * step + low) / 2595 * M_LN10)) / rate);
}

static void triangle(double *w, int64_t bins, int64_t stride, double lo, double mid, double hi)
{
	for (int64_t j = 0; j < bins; j++) {
		double v = 0;
		if (j >= mid && j < hi)
			v = (hi - j) / (hi - mid);
		else if (j >= lo && j <= mid)
			v = mid == lo ? 1 : (j - lo) / (mid - lo);
		w[j * stride] = v;
	}
}

void onnx_MelWeightMatrix(OnnxCall *c)
{
	int64_t n = onnx_known_int(c, 0), length = onnx_known_int(c, 1),
		rate = onnx_known_int(c, 2), bins = length / 2 + 1, all;
	double edge[2], step, *w;
	DType dt = onnx_dtype((int)onnx_attr_int(c, "output_datatype", ONNX_FLOAT));

	if (onnx_known_floats(c, 3, &edge[0], 1) != 1 || onnx_known_floats(c, 4, &edge[1], 1) != 1
		|| n < 0 || length < 0 || rate < 1 || dt == DT_NONE)
		onnx_fail(c, MALFORMED, "%lld bands of %lld points at %lld Hz", (long long)n,
			(long long)length, (long long)rate);
	if (!mul_ok(n, bins, &all) || all > 4 * LONGEST)
		onnx_fail(c, UNSUPPORTED, "%lld bands of %lld bins", (long long)n, (long long)bins);
	for (int i = 0; i < 2; i++)
		edge[i] = 2595 * log1p(edge[i] / 700) / M_LN10;
	step = (edge[1] - edge[0]) / (n + 2);
	w = arena_alloc((all + 1) * sizeof *w);
	for (int64_t i = 0; i < n; i++)
		triangle(w + i, bins, n, mel_edge(edge[0], step, i, length, rate),
			mel_edge(edge[0], step, i + 1, length, rate),
			mel_edge(edge[0], step, i + 2, length, rate));
	onnx_set(c, 0,
		t_cast(t_reshape(
			       table_numbers(DT_F64, all, w), shape_ints(2, (int64_t[]){bins, n})),
			dt));
}
