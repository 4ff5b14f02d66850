/* Softmax, attention, embeddings and losses.
 *
 *     attention(q, k, v)   →   softmax(q @ k^T * scale + mask) @ v
 */
#include "library/library.h"
#include <math.h>

Value fn_softmax(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0));

	return v_tensor(t_softmax(x, arg_axis(a, 1, t_rank(x))));
}

/* (x - max) - log(sum(exp(x - max))), in f32 at least; the plain exp2 form, as for softmax */
static UOp *log_softmax(UOp *x, int axis)
{
	DType dt = x->dtype;
	UOp *d, *e;

	x = t_cast(x, dtype_acc(dt));
	d = t_sub(x, NODE(OP_DETACH, x->dtype, VNIL, t_reduce(OP_MAX, x, 1, &axis, true)));
	e = t_op1(OP_EXP2, t_mulc(d, M_LOG2E));
	return t_cast(t_sub(d, t_log(t_sum(e, axis, true))), dt);
}

Value fn_log_softmax(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0));

	return v_tensor(log_softmax(x, arg_axis(a, 1, t_rank(x))));
}

/* rows of w[v,d] at i[...]: [...,d]; negative indices count from the end */
Value fn_embedding(Args *a)
{
	UOp *i = arg_tensor(a, 0), *w = arg_tensor(a, 1), *n;

	if (t_rank(w) != 2 || !dtype_int(i->dtype))
		die(MALFORMED, "embedding: needs integers and w[v,d], not %s and w%s",
			dtype_name(i->dtype), shape_text(w->shape));
	if (dtype_signed(i->dtype)) {
		i = t_cast(i, DT_I64);
		n = t_size(DT_I64, t_dim(w, 0));
		i = t_where(t_lt(i, t_num(DT_I64, 0)), t_add(i, n), i);
	}
	return v_tensor(t_gather(w, 1, &i));
}

/* The lower triangle of [...,s,t]; the last row sees all places: the queries are the last s of t
 * places. */
static UOp *causal_mask(UOp *scores)
{
	int r = t_rank(scores);
	UOp *row = t_iota(DT_I64, scores->shape, r - 2),
	    *col = t_iota(DT_I64, scores->shape, r - 1);

	row = t_add(row, t_size(DT_I64, ix_sub(t_dim(scores, -1), t_dim(scores, -2))));
	return t_lt(row, col);
}

/* k or v[...,h',t,d] for h = h' * n query heads: each head repeated n times */
static UOp *repeat_heads(UOp *x, UOp *q)
{
	int axis = t_rank(q) - 3;
	int64_t have, want;

	if (axis < 0 || t_rank(x) != t_rank(q) || t_dim(x, axis) == t_dim(q, axis))
		return x;
	if (!ix_is_const(t_dim(x, axis), &have) || !ix_is_const(t_dim(q, axis), &want) ||
		have < 1 || want % have)
		return x;
	x = t_expand_axis(t_unsqueeze(x, axis + 1), axis + 1, ix_const(want / have));
	return t_merge_axes(x, axis, 2);
}

Value fn_attention(Args *a)
{
	UOp *q = t_float(arg_tensor(a, 0)), *k = arg_tensor(a, 1), *v = arg_tensor(a, 2), *s, *mask;
	DType dt = q->dtype;
	UOp *scale;

	if (t_rank(q) < 2 || t_rank(k) < 2 || t_rank(v) < 2)
		die(MALFORMED, "attention: q, k and v need 2 axes or more");
	k = repeat_heads(k, q);
	v = repeat_heads(v, q);
	s = t_cast(t_matmul(q, t_transpose(k, -2, -1)), dtype_acc(dt));
	scale = arg_given(a, 5) ? t_num(s->dtype, arg_float(a, 5)) :
				  t_rsqrt(t_size(s->dtype, t_dim(q, -1)));
	s = t_mul(s, scale);
	if (arg_bool(a, 4))
		s = t_where(causal_mask(s), t_num(s->dtype, -INFINITY), s);
	if (arg_given(a, 3)) {
		mask = arg_tensor(a, 3);
		s = mask->dtype == DT_BOOL ? t_where(mask, s, t_num(s->dtype, -INFINITY))
			: t_add(s, t_cast(mask, s->dtype));
	}
	return v_tensor(t_matmul(t_cast(t_softmax(s, t_rank(s) - 1), dt), v));
}

/* ---- losses */

static int all_axes(UOp *x, int *axes)
{
	for (int i = 0; i < t_rank(x); i++)
		axes[i] = i;
	return t_rank(x);
}

static UOp *total(UOp *x)
{
	int axes[MAX_RANK];

	return t_reduce(OP_ADD, x, all_axes(x, axes), axes, false);
}

static UOp *reduced(Args *a, int k, UOp *x)
{
	const char *how = arg_str(a, k);
	int axes[MAX_RANK];

	if (!strcmp(how, "none"))
		return x;
	if (!strcmp(how, "sum"))
		return total(x);
	if (strcmp(how, "mean"))
		die(MALFORMED, "%s: reduction is mean, sum or none, not '%s'", a->fn->name, how);
	return t_mean(x, all_axes(x, axes), axes, false);
}

/* x[..,c,..] at classes[...]; c is on axis */
static UOp *at_class(Args *a, UOp *x, UOp *classes, int axis)
{
	if (t_rank(x) < 1 || t_rank(classes) != t_rank(x) - 1)
		die(MALFORMED, "%s: scores%s and classes%s do not match", a->fn->name,
			shape_text(x->shape), shape_text(classes->shape));
	return t_squeeze(t_take_along(x, t_unsqueeze(classes, axis), axis), axis);
}

/* the weights of the classes, 0 for ignored ones; NULL when all count as 1 */
static UOp *class_weights(Args *a, UOp *x, UOp *classes)
{
	UOp *w = NULL;

	if (arg_given(a, 2))
		w = t_gather(t_cast(arg_tensor(a, 2), x->dtype), 1, &classes);
	if (!arg_given(a, 3))
		return w;
	return t_where(t_eq(classes, t_num(DT_I64, arg_int(a, 3))), t_num(x->dtype, 0),
		w ? w : t_num(x->dtype, 1));
}

Value fn_nll_loss(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *classes = t_cast(arg_tensor(a, 1), DT_I64);
	UOp *loss, *w, *zero = t_num(x->dtype, 0);

	if (t_rank(x) < 2)
		die(MALFORMED, "nll_loss: scores%s have no classes", shape_text(x->shape));
	loss = t_neg(at_class(a, x, classes, 1));
	w = class_weights(a, x, classes);
	if (w)
		loss = t_where(t_eq(w, zero), zero, t_mul(loss, w));
	if (!w || strcmp(arg_str(a, 4), "mean"))
		return v_tensor(reduced(a, 4, loss));
	return v_tensor(t_div(total(loss), total(t_expand_to(w, classes->shape))));
}

/* logits[...,c] with classes[...] or probabilities[...,c] */
Value fn_cross_entropy(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0)), *y = arg_tensor(a, 1);
	int axis = arg_axis(a, 2, t_rank(x));

	x = log_softmax(x, axis);
	if (dtype_int(y->dtype))
		return v_tensor(reduced(a, 3, t_neg(at_class(a, x, y, axis))));
	if (!shape_equal(x->shape, y->shape))
		die(MALFORMED, "cross_entropy: logits%s and targets%s do not match",
			shape_text(x->shape), shape_text(y->shape));
	return v_tensor(reduced(a, 3, t_neg(t_sum(t_mul(x, t_cast(y, x->dtype)), axis, false))));
}

Value fn_mse(Args *a)
{
	UOp *d = t_float(t_sub(arg_tensor(a, 0), arg_tensor(a, 1)));

	return v_tensor(reduced(a, 2, t_mul(d, d)));
}
