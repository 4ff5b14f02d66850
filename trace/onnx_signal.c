/* ONNX: Fourier transforms and the windows before them, in f64 inside.
 *
 *     DFT(x[n])   →   sum over n of x * cos and sin at (k n mod N), out of one turn in N steps
 *
 * The product k n is reduced before the angle is taken, so that no angle is large. */
#include "onnx_space.h"
#include <math.h>

enum { LONGEST = 1 << 20 };

/* Twiddle factors of N steps, [k,n] for k below rows: cos and sin of 2 pi k n / N. */
static void circle(int64_t size, UOp *rows, UOp *cols, UOp **cosine, UOp **sine)
{
	double *v[2] = { arena_alloc(size * sizeof(double)), arena_alloc(size * sizeof(double)) };
	UOp *at;

	for (int64_t i = 0; i < size; i++) {
		/* eighths of the turn are exact this way */
		int64_t q = 8 * i / size, r = 8 * i % size;
		double t = M_PI / 4 * ((double)r / size), c = cos(t), s = sin(t);
		double h = M_SQRT1_2, e[8][2] = { { c, s }, { h * (c - s), h * (c + s) }, { -s, c },
			{ -h * (c + s), h * (c - s) }, { -c, -s }, { -h * (c - s), -h * (c + s) }, { s, -c },
			{ h * (c + s), -h * (c - s) } };
		v[0][i] = e[q][0];
		v[1][i] = e[q][1];
	}
	at = t_mul(t_unsqueeze(t_arange(DT_I64, rows), 1), t_arange(DT_I64, cols));
	at = t_op2(OP_MOD, at, t_num(DT_I64, (double)size));
	*cosine = onnx_table(DT_F64, size, v[0]);
	*sine = onnx_table(DT_F64, size, v[1]);
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

/* re[...,n] and im (NULL: 0), n = length, to [...,k,2] */
static UOp *forward(const Transform *t, UOp *re, UOp *im)
{
	UOp *n = ix_const(t->length), *k = t->onesided ? ix_const(t->length / 2 + 1) : n, *cs, *sn,
	    *yr, *yi;

	circle(t->length, k, n, &cs, &sn);
	sn = t->inverse ? sn : t_neg(sn);
	yr = along_last(re, cs);
	yi = along_last(re, sn);
	if (im) {
		yr = t_sub(yr, along_last(im, sn));
		yi = t_add(yi, along_last(im, cs));
	}
	if (t->inverse) {
		yr = t_div(yr, t_num(DT_F64, (double)t->length));
		yi = t_div(yi, t_num(DT_F64, (double)t->length));
	}
	return pair(yr, yi);
}

/* Half a spectrum back to real values, [...,n,1]: what is missing is the conjugate of what is
 * there. */
static UOp *back_to_real(const Transform *t, UOp *re, UOp *im)
{
	int64_t have = t->length / 2 + 1;
	double *twice = arena_alloc(have * sizeof *twice);
	UOp *n = ix_const(t->length), *k = ix_const(have), *cs, *sn, *y, *w;

	for (int64_t i = 0; i < have; i++)
		twice[i] = i == 0 || (t->length % 2 == 0 && i == t->length / 2) ? 1 : 2;
	w = onnx_table(DT_F64, have, twice);
	circle(t->length, n, k, &cs, &sn);
	y = along_last(t_mul(re, w), cs);
	if (im)
		y = t_sub(y, along_last(t_mul(im, w), sn));
	y = t_div(y, t_num(DT_F64, (double)t->length));
	return t_unsqueeze(y, t_rank(y));
}

/* the last axis of x cut or filled with zeros to n */
static UOp *to_length(UOp *x, int64_t n)
{
	int last = t_rank(x) - 1;
	int64_t have = shape_dim(x->shape, last);

	if (have > n)
		return t_shrink_axis(x, last, ix_const(0), ix_const(n));
	return t_pad_axis(x, last, ix_const(0), ix_const(n - have));
}

/* x[...,n,1 or 2] along its last axis but one: [...,k,1 or 2] */
static UOp *transform(OnnxCall *c, const Transform *t, UOp *x)
{
	int last = t_rank(x) - 1;
	int64_t parts = shape_dim(x->shape, last), n = t->length;
	UOp *re, *im = NULL;

	if (parts < 1 || parts > 2)
		onnx_fail(c, MALFORMED, "%s has neither 1 nor 2 parts in its last axis", shape_text(x->shape));
	if (n < 1)
		onnx_fail(c, MALFORMED, "a transform of length %lld", (long long)n);
	if (n > LONGEST)
		onnx_fail(c, UNSUPPORTED, "a transform of length %lld", (long long)n);
	n = t->inverse && t->onesided ? n / 2 + 1 : n;
	x = t_cast(x, DT_F64);
	re = to_length(t_squeeze(t_shrink_axis(x, last, ix_const(0), ix_const(1)), last), n);
	if (parts == 2)
		im = to_length(t_squeeze(t_shrink_axis(x, last, ix_const(1), ix_const(2)), last), n);
	return t->inverse && t->onesided ? back_to_real(t, re, im) : forward(t, re, im);
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

/* x[b,n,1 or 2] cut into frames, each transformed: [b,frames,k,2] */
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
		onnx_fail(c, MALFORMED, "frames of %lld every %lld", (long long)t.length, (long long)step);
	t.onesided &= shape_dim(x->shape, 2) == 1;
	y = t_windows(t_transpose(t_cast(x, DT_F64), 1, 2), 1, &t.length, &step,
		&one); /* [b,parts,frames,n] */
	if (window)
		y = t_mul(y, to_length(t_cast(window, DT_F64), t.length));
	y = transform(c, &t, t_move_axis(y, 1, 3));
	onnx_set(c, 0, t_cast(y, x->dtype));
}

/* ---- windows: sums of cosines over one turn */

static void window(OnnxCall *c, double a0, double a1, double a2)
{
	UOp *size[MAX_RANK], *n, *turn, *y;
	DType dt = onnx_dtype((int)onnx_attr_int(c, "output_datatype", ONNX_FLOAT));

	if (dt == DT_NONE)
		onnx_fail(c, UNSUPPORTED, "output_datatype");
	if (onnx_known_sizes(c, 0, size) != 1)
		onnx_fail(c, MALFORMED, "size is no scalar");
	n = t_size(DT_F64, size[0]);
	if (!onnx_attr_int(c, "periodic", 1))
		n = t_max(t_addc(n, -1), t_num(DT_F64, 1));
	turn = t_div(t_mulc(t_arange(DT_F64, size[0]), 2 * M_PI), n);
	y = t_sub(t_num(DT_F64, a0), t_mulc(t_cos(turn), a1));
	if (a2 != 0)
		y = t_add(y, t_mulc(t_cos(t_mulc(turn, 2)), a2));
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

/* ---- MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced as the ear hears */

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
		onnx_fail(c, MALFORMED, "%lld bands of %lld points at %lld Hz", (long long)n, (long long)length,
			(long long)rate);
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
		t_cast(t_reshape(onnx_table(DT_F64, all, w), shape_ints(2, (int64_t[]){ bins, n })),
			dt));
}
