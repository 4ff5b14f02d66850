/* ONNX: RNN, GRU and LSTM, unrolled over the steps of a known length.
 *
 *     LSTM(x[t,b,i], w, r)   →   g = x w^T for all steps at once; each step adds h r^T to its own
 *
 * Where sequence_lens says that a sequence has ended, its state is kept and its output is zero; in
 * the backward direction it has not begun yet there. */
#include "onnx/operators/space.h"
#include <strings.h>

enum { MOST_GATES = 4, MOST_ACTS = 3 };
typedef struct { const char *name; double alpha, beta; } Act;
/* One direction: weights [g*h,i] and [g*h,h], the biases of the products with x and with h, [g*h]
 * each or NULL. Quantized weights are integers, with scales (one, or [g*h]) beside them. */
typedef struct {
	OnnxCall *c;
	int gates;
	UOp *size, *w, *r, *w_scale, *r_scale, *wb, *rb, *peep[3], *length;
	Act act[MOST_ACTS];
	double clip;
	bool backward, couple, linear_first;
} RnnCell;

/* ---- activations */

static const struct { const char *name; bool has_alpha, has_beta; double alpha, beta;
} acts[] = {
	{ "Relu", 0, 0, 0, 0 },
	{ "Tanh", 0, 0, 0, 0 },
	{ "Sigmoid", 0, 0, 0, 0 },
	{ "Softsign", 0, 0, 0, 0 },
	{ "Softplus", 0, 0, 0, 0 },
	{ "Affine", 1, 1, 1, 0 },
	{ "LeakyRelu", 1, 0, 0.01, 0 },
	{ "ThresholdedRelu", 1, 0, 1, 0 },
	{ "ScaledTanh", 1, 1, 1, 1 },
	{ "HardSigmoid", 1, 1, 0.2, 0.5 },
	{ "Elu", 1, 0, 1, 0 },
};

static UOp *applied(const Act *a, UOp *x)
{
	UOp *zero = t_num(x->dtype, 0), *one = t_num(x->dtype, 1);

	if (!strcasecmp(a->name, "Tanh"))
		return t_tanh(x);
	if (!strcasecmp(a->name, "Sigmoid"))
		return t_sigmoid(x);
	if (!strcasecmp(a->name, "Relu"))
		return t_max(x, zero);
	if (!strcasecmp(a->name, "Softsign"))
		return t_div(x, t_addc(t_abs(x), 1));
	if (!strcasecmp(a->name, "Softplus"))
		return t_softplus(x);
	if (!strcasecmp(a->name, "Affine"))
		return t_addc(t_mulc(x, a->alpha), a->beta);
	if (!strcasecmp(a->name, "LeakyRelu"))
		return t_where(t_lt(x, zero), t_mulc(x, a->alpha), x);
	if (!strcasecmp(a->name, "ThresholdedRelu"))
		return t_where(t_lt(x, t_num(x->dtype, a->alpha)), zero, x);
	if (!strcasecmp(a->name, "ScaledTanh"))
		return t_mulc(t_tanh(t_mulc(x, a->beta)), a->alpha);
	if (!strcasecmp(a->name, "HardSigmoid"))
		return t_min(t_max(t_addc(t_mulc(x, a->alpha), a->beta), zero), one);
	return t_where(t_lt(x, zero), t_mulc(t_expm1(x), a->alpha), x);
}

/* Reads the activations of direction d; alphas and betas list the parameters of those activations
 * that take one, in order. */
static void read_acts(OnnxCall *c, RnnCell *cell, int d, int per, const char *const *standard)
{
	const char *name[2 * MOST_ACTS];
	double alpha[2 * MOST_ACTS], beta[2 * MOST_ACTS];
	int n = onnx_attr_strs(c, "activations", name, 2 * MOST_ACTS), na, nb, ia = 0, ib = 0;

	na = onnx_attr_floats(c, "activation_alpha", alpha, 2 * MOST_ACTS);
	nb = onnx_attr_floats(c, "activation_beta", beta, 2 * MOST_ACTS);
	for (int i = 0; i < per * (d + 1); i++) {
		const char *want = n > 0 ? (i < n ? name[i] : name[i % n]) : standard[i % per];
		size_t k = 0, count = sizeof acts / sizeof *acts;
		while (k < count && strcasecmp(acts[k].name, want))
			k++;
		if (k == count)
			onnx_fail(c, UNSUPPORTED, "activation '%s'", want);
		Act *a = &cell->act[i % per];
		*a = (Act){ acts[k].name, acts[k].alpha, acts[k].beta };
		if (acts[k].has_alpha && ia < na)
			a->alpha = alpha[ia++];
		if (acts[k].has_beta && ib < nb)
			a->beta = beta[ib++];
	}
}

/* ---- one step */

static UOp *gate(const RnnCell *cell, UOp *g, int k)
{
	UOp *at = ix_mul(cell->size, ix_const(k));

	return t_shrink_axis(g, t_rank(g) - 1, at, ix_add(at, cell->size));
}

static UOp *clipped(const RnnCell *cell, UOp *x)
{
	if (cell->clip <= 0)
		return x;
	return t_min(t_max(x, t_num(x->dtype, -cell->clip)), t_num(x->dtype, cell->clip));
}

static UOp *act(const RnnCell *cell, int k, UOp *x)
{
	return applied(&cell->act[k], clipped(cell, x));
}

/* x @ w^T; with quantized weights x is quantized too, by its range */
static UOp *product(UOp *x, UOp *w, UOp *w_scale)
{
	UOp *scale, *y;

	w = t_transpose(w, 0, 1);
	if (!w_scale)
		return t_matmul(x, w);
	y = t_matmul(onnx_dynamic(x, &scale), w);
	return t_mul(t_cast(y, scale->dtype), t_mul(scale, w_scale));
}

/* h[b,h] @ r^T, plus its bias */
static UOp *recurrent(const RnnCell *cell, UOp *h)
{
	UOp *g = product(h, cell->r, cell->r_scale);

	return cell->rb ? t_add(g, cell->rb) : g;
}

static void rnn_step(const RnnCell *cell, UOp *x, UOp **h, UOp **c)
{
	*h = act(cell, 0, t_add(x, recurrent(cell, *h)));
}

static void gru_step(const RnnCell *cell, UOp *x, UOp **h, UOp **c)
{
	UOp *g = recurrent(cell, *h), *z, *r, *n;

	z = act(cell, 0, t_add(gate(cell, x, 0), gate(cell, g, 0)));
	r = act(cell, 0, t_add(gate(cell, x, 1), gate(cell, g, 1)));
	if (cell->linear_first) {
		n = t_mul(r, gate(cell, g, 2));
	} else {
		UOp *at = ix_mul(cell->size, ix_const(2));
		n = t_matmul(t_mul(r, *h),
			t_transpose(t_shrink_axis(cell->r, 0, at, t_dim(cell->r, 0)), 0, 1));
		if (cell->rb)
			n = t_add(n, gate(cell, cell->rb, 2));
	}
	n = act(cell, 1, t_add(gate(cell, x, 2), n));
	*h = t_add(t_mul(t_sub(t_num(z->dtype, 1), z), n), t_mul(z, *h));
}

static UOp *peeped(const RnnCell *cell, UOp *g, int k, UOp *c)
{
	return cell->peep[k] ? t_add(g, t_mul(cell->peep[k], c)) : g;
}

static void lstm_step(const RnnCell *cell, UOp *x, UOp **h, UOp **c)
{
	UOp *g = t_add(x, recurrent(cell, *h)), *i, *o, *f, *n;

	i = act(cell, 0, peeped(cell, gate(cell, g, 0), 0, *c));
	if (cell->couple)
		f = t_sub(t_num(i->dtype, 1), i);
	else
		f = act(cell, 0, peeped(cell, gate(cell, g, 2), 2, *c));
	n = act(cell, 1, gate(cell, g, 3));
	*c = t_add(t_mul(f, *c), t_mul(i, n));
	o = act(cell, 0, peeped(cell, gate(cell, g, 1), 1, *c));
	*h = t_mul(o, applied(&cell->act[2], *c));
}

/* ---- one direction */

typedef void RnnStep(const RnnCell *cell, UOp *x, UOp **h, UOp **c);

/* Runs x[t,b,i] through the cell; h and c are updated to the last state, and the result is
 * y[t,b,h]. */
static UOp *run_cell(const RnnCell *cell, RnnStep *step, UOp *x, UOp **h, UOp **c)
{
	int64_t n = onnx_steps(cell->c, x, 0);
	UOp **out = arena_alloc((n + 1) * sizeof *out),
	    *all = product(x, cell->w, cell->w_scale);

	if (cell->wb)
		all = t_add(all, cell->wb);
	for (int64_t s = 0; s < n; s++) {
		int64_t t = cell->backward ? n - 1 - s : s;
		UOp *now = t_squeeze(t_shrink_axis(all, 0, ix_const(t), ix_const(t + 1)), 0),
		    *h0 = *h, *c0 = *c, *y;
		step(cell, now, h, c);
		y = *h;
		if (cell->length) {
			UOp *live = t_lt(t_num(DT_I64, t), cell->length);
			*h = t_where(live, *h, h0);
			*c = c0 ? t_where(live, *c, c0) : NULL;
			y = t_where(live, y, t_num(y->dtype, 0));
		}
		out[t] = t_unsqueeze(y, 0);
	}
	return t_concat(n, out, 0);
}

/* the slice of x[d,...] for direction d */
static UOp *of_direction(UOp *x, int d)
{
	return t_squeeze(t_shrink_axis(x, 0, ix_const(d), ix_const(d + 1)), 0);
}

/* The weights of input k for direction d. DynamicQuantizeLSTM has them transposed, their scales and
 * zero points in inputs behind those of LSTM: stored are the integers minus their zero points. */
static UOp *weights_of(OnnxCall *c, int k, int d, UOp **scale)
{
	UOp *w = of_direction(onnx_in_rank(c, k, 3), d), *zero;
	int at = k == 1 ? 8 : 10;

	if (!onnx_has(c, at))
		return w;
	*scale = onnx_in(c, at);
	zero = onnx_in(c, at + 1);
	if (t_rank(*scale) < 1 || t_rank(zero) < 1)
		onnx_fail(c, MALFORMED, "its weights have no scale for each direction");
	*scale = of_direction(*scale, d);
	zero = of_direction(zero, d);
	return t_transpose(t_sub(t_cast(w, DT_I32), t_cast(zero, DT_I32)), 0, 1);
}

static RnnCell cell_of(
	OnnxCall *c, int gates, int acts_each, const char *const *standard, int d, bool backward)
{
	RnnCell cell = {
		.c = c, .gates = gates, .backward = backward, .clip = onnx_attr_float(c, "clip", 0)
	};
	UOp *b = onnx_has(c, 3) ? of_direction(onnx_in_rank(c, 3, 2), d) : NULL, *p;

	cell.w = weights_of(c, 1, d, &cell.w_scale);
	cell.r = weights_of(c, 2, d, &cell.r_scale);
	cell.size = t_dim(cell.r, 1);
	UOp *rows = ix_mul(cell.size, ix_const(gates));
	if (!size_equal(t_dim(cell.w, 0), rows) || !size_equal(t_dim(cell.r, 0), rows))
		onnx_fail(c, MALFORMED, "w%s and r%s do not fit %d gates",
			shape_text(cell.w->shape), shape_text(cell.r->shape), gates);
	if (b) {
		cell.wb = t_shrink_axis(b, 0, ix_const(0), rows);
		cell.rb = t_shrink_axis(b, 0, rows, t_dim(b, 0));
	}
	p = gates == 4 && onnx_has(c, 7) ? of_direction(onnx_in_rank(c, 7, 2), d) : NULL;
	for (int k = 0; p && k < 3; k++)
		cell.peep[k] = gate(&cell, p, k);
	if (onnx_has(c, 4))
		cell.length = t_unsqueeze(t_cast(onnx_in_rank(c, 4, 1), DT_I64), 1);
	cell.couple = onnx_attr_int(c, "input_forget", 0) != 0;
	cell.linear_first = onnx_attr_int(c, "linear_before_reset", 0) != 0;
	read_acts(c, &cell, d, acts_each, standard);
	return cell;
}

/* the initial state of direction d, [b,h]: input k, or zeros */
static UOp *initial(OnnxCall *c, int k, int d, UOp *x, UOp *size, bool batch_first)
{
	UOp *s = onnx_has(c, k) ? onnx_in_rank(c, k, 3) : NULL;

	if (!s)
		return t_full(shape_new(2, (UOp *[]){ t_dim(x, 1), size }), t_num(x->dtype, 0));
	return of_direction(batch_first ? t_transpose(s, 0, 1) : s, d);
}

/* states [b,h] of n directions as an output: [n,b,h], or [b,n,h] */
static void set_states(OnnxCall *c, int k, UOp **s, int n, bool batch_first)
{
	UOp *y;

	if (!onnx_wants(c, k))
		return;
	for (int d = 0; d < n; d++)
		s[d] = t_unsqueeze(s[d], 0);
	y = t_concat(n, s, 0);
	onnx_set(c, k, batch_first ? t_transpose(y, 0, 1) : y);
}

static void recurrence(
	OnnxCall *c, int gates, int acts_each, const char *const *standard, RnnStep *step)
{
	const char *way = onnx_attr_str(c, "direction", "forward");
	int n = strcmp(way, "bidirectional") ? 1 : 2;
	bool batch_first = onnx_attr_int(c, "layout", 0) != 0;
	UOp *x = onnx_in_rank(c, 0, 3), *y[2], *h[2], *cs[2] = { NULL, NULL };

	x = batch_first ? t_transpose(x, 0, 1) : x;
	for (int d = 0; d < n; d++) {
		RnnCell cell = cell_of(c, gates, acts_each, standard, d, d == 1 || !strcmp(way,
			"reverse"));
		h[d] = initial(c, 5, d, x, cell.size, batch_first);
		if (gates == 4)
			cs[d] = initial(c, 6, d, x, cell.size, batch_first);
		y[d] = t_unsqueeze(run_cell(&cell, step, x, &h[d], &cs[d]), 1);
	}
	if (onnx_wants(c, 0)) {
		UOp *all = t_concat(n, y, 1);                                  /* [t,n,b,h] */
		onnx_set(c, 0, batch_first ? t_move_axis(all, 2, 0) : all);
	}
	set_states(c, 1, h, n, batch_first);
	if (gates == 4)
		set_states(c, 2, cs, n, batch_first);
}

void onnx_RNN(OnnxCall *c)
{
	recurrence(c, 1, 1, (const char *const[]){ "Tanh" }, rnn_step);
}

void onnx_GRU(OnnxCall *c)
{
	recurrence(c, 3, 2, (const char *const[]){ "Sigmoid", "Tanh" }, gru_step);
}

void onnx_LSTM(OnnxCall *c)
{
	recurrence(c, 4, 3, (const char *const[]){ "Sigmoid", "Tanh", "Tanh" }, lstm_step);
}
