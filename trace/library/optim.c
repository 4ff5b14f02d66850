/* Optimizers compute new weights from weights and gradients. An optimizer keeps what it needs from
 * step to step in states that it declares and updates itself, named after the weight.
 *
 *     w, b <- adam([w, b], [dw, db])      states w_m, w_v, b_m, b_v and step, all 0 at first;
 *                                         the new w and b
 *
 * f16 and bf16 weights are updated in f32, and their states are f32. Formulas: Kingma & Ba 2015
 * (Adam), Loshchilov & Hutter 2019 (AdamW), You et al. 2020 (Lamb), Sutskever et al. 2013
 * (momentum, nesterov). */
#include "library/library.h"
#include <math.h>

/* A weight, its gradient, and its new value, in the dtype in which it is updated. */
typedef struct { UOp *w, *x, *g, *out; } Weight;
typedef struct { Weight *at; size_t n; bool list; const char *who; } Weights;

/* ---- the arguments */

static Value *elements(Value *v, size_t *n)
{
	*n = v->kind == V_LIST ? v->n : 1;
	return v->kind == V_LIST ? v->at : v;
}

static UOp *a_state(const char *who, const Value *v)
{
	UOp *w = v->kind == V_TENSOR ? v->u : NULL;

	if (!w || w->op != OP_BUFFER || !buffer_is(w, "state"))
		die(MALFORMED, "%s: a weight is a state that is not updated yet, not %s", who,
			value_text(v));
	if (!dtype_float(w->dtype))
		die(MALFORMED, "%s: the weight %s is %s, not of floats", who, buffer_name(w),
			dtype_name(w->dtype));
	return w;
}

static Weight weight(const char *who, const Value *w, const Value *g)
{
	Weight r = {.w = a_state(who, w)};
	DType dt = dtype_acc(r.w->dtype);

	r.x = t_cast(r.w, dt);
	r.g = value_tensor(g, dt);
	if (!r.g || !dtype_float(r.g->dtype) || t_rank(r.g) != t_rank(r.w))
		die(MALFORMED, "%s: the gradient of %s%s is %s", who, buffer_name(r.w),
			shape_text(r.w->shape), value_text(g));
	for (int i = 0; i < t_rank(r.w); i++)
		if (t_dim(r.g, i) != t_dim(r.w, i))
			die(MALFORMED, "%s: %s is %s, its gradient %s", who, buffer_name(r.w),
				shape_text(r.w->shape), shape_text(r.g->shape));
	r.g = t_cast(r.g, dt);
	return r;
}

/* arguments 0 and 1: a state and its gradient, or lists of them */
static Weights weights(Args *a)
{
	size_t n, grads;
	Value *w = elements(&a->at[0], &n), *g = elements(&a->at[1], &grads);
	Weights all = {
		arena_alloc((n + 1) * sizeof *all.at), n, a->at[0].kind == V_LIST, a->fn->name};

	if (n != grads)
		die(MALFORMED, "%s: %zu weights and %zu gradients", a->fn->name, n, grads);
	for (size_t i = 0; i < n; i++)
		all.at[i] = weight(a->fn->name, &w[i], &g[i]);
	return all;
}

/* Shaped like the argument: one new weight, or a list of them. */
static Value moved(const Weights *all)
{
	Value *at = arena_alloc((all->n + 1) * sizeof *at);

	for (size_t i = 0; i < all->n; i++)
		at[i] = v_tensor(t_cast(all->at[i].out, all->at[i].w->dtype));
	return all->list ? v_list(all->n, at) : at[0];
}

/* a number, or a computed scalar */
static UOp *arg_scalar(Args *a, int k, DType dt)
{
	UOp *u = arg_tensor_like(a, k, dt);

	if (t_rank(u))
		die(MALFORMED, "%s: %s: expected a number or a scalar, got %s", a->fn->name,
			param_name(a->fn, k), value_text(&a->at[k]));
	return t_cast(u, dt);
}

static double arg_share(Args *a, int k)
{
	double v = arg_float(a, k);

	if (!(v >= 0 && v < 1))
		die(MALFORMED, "%s: %s is %g, not from 0 to below 1", a->fn->name,
			param_name(a->fn, k), v);
	return v;
}

/* ---- states */

static UOp *zero_state(const char *name, DType dt, const Shape *s)
{
	int64_t bytes;

	if (!shape_bytes(s, dt, &bytes) || bytes > (int64_t)1 << 40)
		die(UNSUPPORTED, "%s: a state of %s", name, shape_text(s));
	return buffer_new(
		name_fresh(name), "state", dt, s, val_bin(arena_alloc(bytes + 1), bytes), NULL);
}

/* the weight's state with this suffix */
static UOp *memory_of(const Weight *w, const char *suffix)
{
	return zero_state(
		arena_printf("%.240s_%s", buffer_name(w->w), suffix), w->x->dtype, w->w->shape);
}

static UOp *assign(UOp *state, UOp *x) { return NODE(OP_ASSIGN, state->dtype, VNIL, state, x); }

/* The number of this step, from 1. */
static UOp *next_step(void)
{
	UOp *step = zero_state("step", DT_I64, shape_scalar());

	return assign(step, t_add(step, const_int(DT_I64, 1)));
}

/* share * old + (1 - share) * x, stored as the state's next value */
static UOp *running(UOp *state, double share, UOp *x)
{
	return assign(state, t_add(t_mulc(state, share), t_mulc(x, 1 - share)));
}

/* 1 - share^step, exact for a share near 1 */
static UOp *bias_correction(UOp *step, double share, DType dt)
{
	return t_neg(t_expm1(t_mulc(t_cast(step, dt), log(share))));
}

/* ---- the optimizers */

static UOp *decayed(UOp *g, UOp *x, double decay) { return decay ? t_add(g, t_mulc(x, decay)) : g; }

Value fn_sgd(Args *a)
{
	Weights all = weights(a);
	double momentum = arg_float(a, 3), decay = arg_float(a, 5);
	bool nesterov = arg_bool(a, 4);

	if (nesterov && !momentum)
		die(MALFORMED, "sgd: nesterov needs momentum");
	for (size_t i = 0; i < all.n; i++) {
		Weight *w = &all.at[i];
		UOp *g = decayed(w->g, w->x, decay), *m;
		if (momentum) {
			m = memory_of(w, "m");
			m = assign(m, t_add(t_mulc(m, momentum), g));
			g = nesterov ? t_add(g, t_mulc(m, momentum)) : m;
		}
		w->out = t_sub(w->x, t_mul(arg_scalar(a, 2, w->x->dtype), g));
	}
	return moved(&all);
}

/* The running means of the gradient and of its square, each divided by its weight so far: m /
 * (sqrt(v) + eps) = m' * scale / (sqrt(v') * root + eps) with the stored m' and v'. Only the two
 * scalars depend on the step. */
static UOp *adam_direction(Args *a, const Weight *w, UOp *step, UOp *scale)
{
	double beta1 = arg_share(a, 3), beta2 = arg_share(a, 4), eps = arg_float(a, 5);
	DType dt = w->x->dtype;
	UOp *m = running(memory_of(w, "m"), beta1, w->g);
	UOp *v = running(memory_of(w, "v"), beta2, t_mul(w->g, w->g));
	UOp *root = t_rsqrt(bias_correction(step, beta2, dt));

	scale = t_div(scale, bias_correction(step, beta1, dt));
	return t_div(t_mul(m, scale), t_addc(t_mul(t_sqrt(v), root), eps));
}

static Value adam(Args *a, bool decouple)
{
	Weights all = weights(a);
	double decay = arg_float(a, 6);
	UOp *step = next_step();

	for (size_t i = 0; i < all.n; i++) {
		Weight *w = &all.at[i];
		UOp *rate = arg_scalar(a, 2, w->x->dtype), *x = w->x;
		if (decouple && decay)
			x = t_sub(x, t_mul(x, t_mulc(rate, decay)));
		else
			w->g = decayed(w->g, x, decay);
		w->out = t_sub(x, adam_direction(a, w, step, rate));
	}
	return moved(&all);
}

Value fn_adam(Args *a) { return adam(a, false); }
Value fn_adamw(Args *a) { return adam(a, true); }

/* the sum of the squares of all elements, a scalar */
static UOp *sum_squares(UOp *x)
{
	int axes[MAX_RANK], n = t_rank(x);

	for (int i = 0; i < n; i++)
		axes[i] = i;
	return t_reduce(OP_ADD, t_mul(x, x), n, axes, false);
}

Value fn_lamb(Args *a)
{
	Weights all = weights(a);
	double decay = arg_float(a, 6);
	UOp *step = next_step();

	for (size_t i = 0; i < all.n; i++) {
		Weight *w = &all.at[i];
		DType dt = w->x->dtype;
		UOp *one = t_num(dt, 1), *zero = t_num(dt, 0);
		UOp *r = decayed(adam_direction(a, w, step, one), w->x, decay);
		UOp *size = t_sqrt(sum_squares(w->x)), *way = t_sqrt(sum_squares(r));
		UOp *known = t_and(t_lt(zero, size), t_lt(zero, way));
		UOp *trust = t_where(known, t_div(size, t_where(known, way, one)), one);
		w->out = t_sub(w->x, t_mul(r, t_mul(trust, arg_scalar(a, 2, dt))));
	}
	return moved(&all);
}

/* ---- gradients */

static UOp *norm_of(const char *who, const Value *at, size_t n)
{
	UOp *sum = NULL;

	for (size_t i = 0; i < n; i++) {
		UOp *x = value_tensor(&at[i], DT_F32);
		if (!x || !dtype_float(x->dtype))
			die(MALFORMED, "%s: expected tensors of floats, got %s", who,
				value_text(&at[i]));
		x = sum_squares(t_cast(x, dtype_acc(x->dtype)));
		sum = sum ? t_add(sum, x) : x;
	}
	return sum ? t_sqrt(sum) : t_num(DT_F32, 0);
}

Value fn_global_norm(Args *a) { return v_tensor(norm_of(a->fn->name, a->at[0].at, a->at[0].n)); }

/* Multiplies by most / max(norm, most), so a gradient whose norm is small enough stays bit for bit
 * the same. */
Value fn_clip_by_norm(Args *a)
{
	size_t n;
	Value *x = elements(&a->at[0], &n), *out = arena_alloc((n + 1) * sizeof *out);
	UOp *norm = norm_of(a->fn->name, x, n), *most = arg_scalar(a, 1, norm->dtype);
	UOp *scale = t_div(most, t_max(norm, most));

	for (size_t i = 0; i < n; i++) {
		UOp *u = value_tensor(&x[i], DT_F32);
		out[i] = v_tensor(t_cast(t_mul(t_cast(u, dtype_acc(u->dtype)), scale), u->dtype));
	}
	return a->at[0].kind == V_LIST ? v_list(n, out) : out[0];
}
