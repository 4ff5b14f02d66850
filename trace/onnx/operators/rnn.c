/* ONNX: RNN, GRU and LSTM, as one loop over the steps.
 *
 *     LSTM(x[t,b,i], w, r)   →   g = x w^T for all steps at once; each turn adds h r^T to its own
 *
 * Both directions of a cell are the axis d of its states [d,b,h]: in turn k the backward one reads
 * step t-1-k. Where sequence_lens says that a sequence has ended, its state is kept and its output
 * is zero; in the backward direction it has not begun yet there. A loop of any length costs what
 * one of its turns does to compile, and runs as fast as the steps one by one. */
#include "onnx/operators/space.h"
#include <strings.h>

enum { MOST_GATES = 4, MOST_ACTS = 3 };
typedef struct { const char *name; double alpha, beta; } Act;
/* Weights [d,g*h,i] and [d,g*h,h]; the bias of the gates [d,g*h], and what of it is added to the
 * product with h alone, [d,1,h], or NULL. Quantized weights are integers, with scales (broadcast to
 * [d,b,g*h]) beside them. The activations are those of each direction. */
typedef struct {
	OnnxCall *c;
	int gates, ways;
	UOp *size, *w, *r, *w_scale, *r_scale, *bias, *late, *peep[3], *length;
	Act act[2][MOST_ACTS];
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

/* Reads the activations of all directions; alphas and betas list the parameters of those that take
 * one, in order. */
static void read_acts(OnnxCall *c, RnnCell *cell, int per, const char *const *standard)
{
	const char *name[2 * MOST_ACTS];
	double alpha[2 * MOST_ACTS], beta[2 * MOST_ACTS];
	int n = onnx_attr_strs(c, "activations", name, 2 * MOST_ACTS), na, nb, ia = 0, ib = 0;

	na = onnx_attr_floats(c, "activation_alpha", alpha, 2 * MOST_ACTS);
	nb = onnx_attr_floats(c, "activation_beta", beta, 2 * MOST_ACTS);
	for (int i = 0; i < per * cell->ways; i++) {
		const char *want = n > 0 ? (i < n ? name[i] : name[i % n]) : standard[i % per];
		size_t k = 0, count = sizeof acts / sizeof *acts;
		while (k < count && strcasecmp(acts[k].name, want))
			k++;
		if (k == count)
			onnx_fail(c, UNSUPPORTED, "activation '%s'", want);
		Act *a = &cell->act[i / per][i % per];
		*a = (Act){ acts[k].name, acts[k].alpha, acts[k].beta };
		if (acts[k].has_alpha && ia < na)
			a->alpha = alpha[ia++];
		if (acts[k].has_beta && ib < nb)
			a->beta = beta[ib++];
	}
}

/* ---- one step */

/* Direction d alone of x[d,..], the axis kept. */
static UOp *of_way(UOp *x, int d)
{
	return t_shrink_axis(x, 0, ix_const(d), ix_const(d + 1));
}

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

/* Activation k of x[d,b,h]. */
static UOp *activated(const RnnCell *cell, int k, UOp *x)
{
	const Act *a = &cell->act[0][k], *b = &cell->act[1][k];
	if (cell->ways == 1 ||
		(a->name == b->name && a->alpha == b->alpha && a->beta == b->beta))
		return applied(a, x);
	return t_concat(2, (UOp *[]){applied(a, of_way(x, 0)), applied(b, of_way(x, 1))}, 0);
}

static UOp *act(const RnnCell *cell, int k, UOp *x)
{
	return activated(cell, k, clipped(cell, x));
}

/* x @ w^T; with quantized weights x is quantized too, by the range of each x[k] along the first
 * `apart` axes. */
static UOp *product(UOp *x, UOp *w, UOp *w_scale, int apart)
{
	UOp *scale;
	w = t_transpose(w, -2, -1);
	if (!w_scale)
		return t_matmul(x, w);
	UOp *y = t_matmul(onnx_dynamic(x, apart, &scale), w);
	return t_mul(t_cast(y, scale->dtype), t_mul(scale, w_scale));
}

static UOp *recurrent(const RnnCell *cell, UOp *h)
{
	return product(h, cell->r, cell->r_scale, 1);
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
		n = gate(cell, g, 2);
		n = t_mul(r, cell->late ? t_add(n, cell->late) : n);
	} else {
		UOp *at = ix_mul(cell->size, ix_const(2));
		n = product(t_mul(r, *h), t_shrink_axis(cell->r, 1, at, t_dim(cell->r, 1)), NULL,
			1);
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
	*h = t_mul(o, activated(cell, 2, *c));
}

/* ---- all steps */

typedef void RnnStep(const RnnCell *cell, UOp *x, UOp **h, UOp **c);

static UOp *size_node(UOp *size) { return LEAF(OP_SIZE, DT_I64, size_to_val(size)); }

/* The steps that the directions are at in a turn of n: i64, a scalar or [2]. */
static UOp *steps_at(const RnnCell *cell, UOp *turn, UOp *n)
{
	UOp *back = t_sub(t_sub(size_node(n), turn), t_num(DT_I64, 1));
	if (cell->ways == 1)
		return cell->backward ? back : turn;
	return t_concat(2, (UOp *[]){t_unsqueeze(turn, 0), t_unsqueeze(back, 0)}, 0);
}

/* all[t,d,b,g*h] at these steps: [d,b,g*h] */
static UOp *gates_at(const RnnCell *cell, UOp *all, UOp *at)
{
	if (cell->ways == 1)
		return t_gather(all, 1, &at);
	return t_gather(all, 2, (UOp *[]){at, t_arange(DT_I64, ix_const(2))});
}

/* One turn: h and c become the next states; returns the output [d,b,h]. */
static UOp *turn_of(const RnnCell *cell, RnnStep *step, UOp *all, UOp *turn, UOp **h, UOp **c)
{
	UOp *at = steps_at(cell, turn, t_dim(all, 0)), *h0 = *h, *c0 = *c;
	step(cell, gates_at(cell, all, at), h, c);
	if (!cell->length)
		return *h;
	UOp *live = t_lt(cell->ways == 1 ? at : t_along(at, 0, 3), cell->length),
	    *y = t_where(live, *h, t_num((*h)->dtype, 0));
	*h = t_where(live, *h, h0);
	*c = c0 ? t_where(live, *c, c0) : NULL;
	return y;
}

/* y[t,d,b,h] with the backward direction's steps, which come last first, in order */
static UOp *in_order(const RnnCell *cell, UOp *y)
{
	if (cell->ways == 1)
		return cell->backward ? t_flip(y, 1, (int[]){0}) : y;
	UOp *ahead = t_shrink_axis(y, 1, ix_const(0), ix_const(1)),
	    *back = t_shrink_axis(y, 1, ix_const(1), ix_const(2));
	return t_concat(2, (UOp *[]){ahead, t_flip(back, 1, (int[]){0})}, 1);
}

static UOp *looped(const RnnCell *cell, RnnStep *step, UOp *all, UOp **h, UOp **c)
{
	TurnLoop l = loop_new();
	UOp *state[2] = {loop_state(&l, *h, NULL)}, *y;
	state[1] = *c ? loop_state(&l, *c, NULL) : NULL;
	y = turn_of(cell, step, all, l.turn, &state[0], &state[1]);
	UOp *loop = loop_end(&l, &(LoopEnd){.limit = size_node(t_dim(all, 0)), .state = state,
		.value = &y, .values = 1});
	*h = loop_last(loop, 0, NULL);
	*c = *c ? loop_last(loop, 1, NULL) : NULL;
	return loop_stacked(loop, 0, NULL);
}

/* Runs x[t,b,i] through the cell; h and c become the last states, and the result is y[t,d,b,h]. A
 * single step is no loop: models that keep their states between calls have one. */
static UOp *run_cell(const RnnCell *cell, RnnStep *step, UOp *x, UOp **h, UOp **c)
{
	int64_t n;
	UOp *all = product(t_unsqueeze(x, 1), cell->w, cell->w_scale, 0);
	if (cell->bias)
		all = t_add(all, t_unsqueeze(cell->bias, 1));
	if (ix_is_const(t_dim(x, 0), &n) && n == 1)
		return t_unsqueeze(turn_of(cell, step, all, t_num(DT_I64, 0), h, c), 0);
	return in_order(cell, looped(cell, step, all, h, c));
}

/* ---- the cell of a node */

/* [d] or [d,g*h] beside a tensor [d,..,g*h] of rank 3 */
static UOp *beside(UOp *s)
{
	return t_rank(s) == 1 ? t_along(s, 0, 3) : t_unsqueeze(s, 1);
}

/* The weights of input k. DynamicQuantizeLSTM has them transposed, their scales and zero points in
 * inputs behind those of LSTM: stored are the integers minus their zero points. */
static UOp *weights_of(OnnxCall *c, int k, UOp **scale)
{
	UOp *w = onnx_in_rank(c, k, 3), *zero;
	int at = k == 1 ? 8 : 10;

	if (!onnx_has(c, at))
		return w;
	*scale = onnx_in(c, at);
	zero = onnx_in(c, at + 1);
	if (t_rank(*scale) < 1 || t_rank(zero) < 1)
		onnx_fail(c, MALFORMED, "its weights have no scale for each direction");
	*scale = beside(*scale);
	zero = beside(zero);
	return t_transpose(t_sub(t_cast(w, DT_I32), t_cast(zero, DT_I32)), 1, 2);
}

/* The biases of the products with x and with h, which GRU may multiply before it adds them. */
static void read_bias(OnnxCall *c, RnnCell *cell, UOp *rows)
{
	if (!onnx_has(c, 3))
		return;
	UOp *b = onnx_in_rank(c, 3, 2), *of_x = t_shrink_axis(b, 1, ix_const(0), rows),
	    *of_h = t_shrink_axis(b, 1, rows, t_dim(b, 1)), *at = ix_mul(cell->size, ix_const(2));
	cell->bias = t_add(of_x, of_h);
	if (cell->gates != 3 || !cell->linear_first)
		return;
	cell->late = t_unsqueeze(gate(cell, of_h, 2), 1);
	cell->bias = t_concat(2, (UOp *[]){t_shrink_axis(cell->bias, 1, ix_const(0), at),
		gate(cell, of_x, 2)}, 1);
}

static RnnCell cell_of(OnnxCall *c, int gates, int acts_each, const char *const *standard)
{
	const char *way = onnx_attr_str(c, "direction", "forward");
	RnnCell cell = {.c = c, .gates = gates, .ways = strcmp(way, "bidirectional") ? 1 : 2,
		.backward = !strcmp(way, "reverse"), .clip = onnx_attr_float(c, "clip", 0),
		.couple = onnx_attr_int(c, "input_forget", 0) != 0,
		.linear_first = onnx_attr_int(c, "linear_before_reset", 0) != 0};
	UOp *p = gates == 4 && onnx_has(c, 7) ? onnx_in_rank(c, 7, 2) : NULL;
	cell.w = weights_of(c, 1, &cell.w_scale);
	cell.r = weights_of(c, 2, &cell.r_scale);
	cell.size = t_dim(cell.r, 2);
	UOp *rows = ix_mul(cell.size, ix_const(gates)), *ways = ix_const(cell.ways);
	if (!size_equal(t_dim(cell.w, 1), rows) || !size_equal(t_dim(cell.r, 1), rows) ||
		!size_equal(t_dim(cell.w, 0), ways) || !size_equal(t_dim(cell.r, 0), ways))
		onnx_fail(c, MALFORMED, "w%s and r%s do not fit %d gates%s",
			shape_text(cell.w->shape), shape_text(cell.r->shape), gates,
			cell.ways == 2 ? " in 2 directions" : "");
	read_bias(c, &cell, rows);
	for (int k = 0; p && k < 3; k++)
		cell.peep[k] = t_unsqueeze(gate(&cell, p, k), 1);
	if (onnx_has(c, 4))
		cell.length = t_unsqueeze(t_cast(onnx_in_rank(c, 4, 1), DT_I64), 1);
	read_acts(c, &cell, acts_each, standard);
	return cell;
}

/* The initial states [d,b,h]: input k, or zeros. */
static UOp *initial(const RnnCell *cell, int k, UOp *x, bool batch_first)
{
	const Shape *s = shape_new(3, (UOp *[]){ix_const(cell->ways), t_dim(x, 1), cell->size});
	if (!onnx_has(cell->c, k))
		return t_full(s, t_num(x->dtype, 0));
	UOp *given = onnx_in_rank(cell->c, k, 3);
	given = batch_first ? t_transpose(given, 0, 1) : given;
	return t_expand_to(t_agree(given, 1, t_dim(x, 1)), s);
}

static void set_states(OnnxCall *c, int k, UOp *s, bool batch_first)
{
	if (onnx_wants(c, k))
		onnx_set(c, k, batch_first ? t_transpose(s, 0, 1) : s);
}

static void recurrence(
	OnnxCall *c, int gates, int acts_each, const char *const *standard, RnnStep *step)
{
	RnnCell cell = cell_of(c, gates, acts_each, standard);
	bool batch_first = onnx_attr_int(c, "layout", 0) != 0;
	UOp *x = onnx_in_rank(c, 0, 3), *h, *s = NULL, *y;

	x = batch_first ? t_transpose(x, 0, 1) : x;
	h = initial(&cell, 5, x, batch_first);
	if (gates == 4)
		s = initial(&cell, 6, x, batch_first);
	y = run_cell(&cell, step, x, &h, &s);
	if (onnx_wants(c, 0))
		onnx_set(c, 0, batch_first ? t_move_axis(y, 2, 0) : y);
	set_states(c, 1, h, batch_first);
	if (gates == 4)
		set_states(c, 2, s, batch_first);
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
