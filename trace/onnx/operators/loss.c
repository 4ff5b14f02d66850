/* ONNX: losses over classes.
 *
 *     NegativeLogLikelihoodLoss(x[n,c,...], t[n,...])   →   -x at class t, weighted, then reduced */
#include "onnx/operators/space.h"

/* x[n,c,...] at the classes t[n,...]: [n,...] */
static UOp *at_class(UOp *x, UOp *t)
{
	return t_squeeze(t_take_along(x, t_unsqueeze(t, 1), 1), 1);
}

static void all_axes(UOp *x, int *axes)
{
	for (int i = 0; i < t_rank(x); i++)
		axes[i] = i;
}

static UOp *total(UOp *x)
{
	int axes[MAX_RANK];

	all_axes(x, axes);
	return t_reduce(OP_ADD, x, t_rank(x), axes, false);
}

/* logp[n,c,...] and classes t; weights by class (may be NULL) */
static UOp *likelihood(OnnxCall *c, UOp *logp, UOp *t, UOp *weight)
{
	const char *how = onnx_attr_str(c, "reduction", "mean");
	UOp *loss, *w = NULL, *zero = t_num(logp->dtype, 0);

	if (t_rank(logp) < 2 || t_rank(t) != t_rank(logp) - 1)
		onnx_fail(c, MALFORMED, "scores%s and classes%s do not fit",
			shape_text(logp->shape), shape_text(t->shape));
	t = t_cast(t, DT_I64);
	if (weight)
		w = t_gather(t_cast(weight, logp->dtype), 1, &t);
	if (onnx_attr_has(c, "ignore_index")) {
		UOp *ignored = t_eq(t, t_num(DT_I64, onnx_attr_int(c, "ignore_index", 0)));
		w = t_where(ignored, zero, w ? w : t_num(logp->dtype, 1));
	}
	loss = t_neg(at_class(logp, t));
	if (w)
		loss = t_where(t_eq(w, zero), zero, t_mul(loss, w));
	if (!strcmp(how, "none"))
		return loss;
	if (!strcmp(how, "sum"))
		return total(loss);
	if (strcmp(how, "mean"))
		onnx_fail(c, MALFORMED, "reduction is none, sum or mean, not '%s'", how);
	if (w)
		return t_div(total(loss), total(t_expand_to(w, t->shape)));
	return t_div(total(loss), t_size(loss->dtype, shape_count(t->shape)));
}

void onnx_NegativeLogLikelihoodLoss(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);

	onnx_set(c, 0,
		t_cast(likelihood(c, onnx_wide(x), onnx_in(c, 1),
			       onnx_has(c, 2) ? onnx_in_rank(c, 2, 1) : NULL),
			x->dtype));
}

void onnx_SoftmaxCrossEntropyLoss(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *logp = onnx_log_softmax(onnx_wide(x), 1);

	if (t_rank(x) < 2)
		onnx_fail(c, MALFORMED, "scores%s have no classes", shape_text(x->shape));
	onnx_set(c, 0,
		t_cast(likelihood(c, logp, onnx_in(c, 1),
			       onnx_has(c, 2) ? onnx_in_rank(c, 2, 1) : NULL),
			x->dtype));
	if (onnx_wants(c, 1))
		onnx_set(c, 1, t_cast(logp, x->dtype));
}
