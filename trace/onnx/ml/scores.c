/* post_transform: scores as probabilities.
 *
 *     LOGISTIC        sigmoid(x)
 *     SOFTMAX         softmax(x) of each row
 *     SOFTMAX_ZERO    the same over the scores that are not 0
 *     PROBIT          the normal quantile of x */
#include "onnx/ml/ml.h"

/* in the order of the numbers that TreeEnsemble has for them */
typedef enum { POST_NONE, POST_SOFTMAX, POST_LOGISTIC, POST_SOFTMAX_ZERO, POST_PROBIT } Post;

static Post post_of(OnnxCall *c)
{
	return ml_choice(c, "post_transform", POST_NONE, 5, (const char *const[]){ "NONE",
		"SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" });
}

/* Scores of at most 1e-7 count as 0: they keep their value times exp(-max), and add nothing. */
static UOp *softmax_zero(UOp *x)
{
	int axis = 1;
	UOp *m = t_reduce(OP_MAX, x, 1, &axis, true), *zero = t_num(x->dtype, 0);
	UOp *some = t_lt(t_num(x->dtype, 1e-7), t_abs(x)), *e = t_exp(t_sub(x, m));
	UOp *sum = t_sum(t_where(some, e, zero), 1, true);

	return t_div(t_where(some, e, t_mul(x, t_exp(t_neg(m)))), sum);
}

/* Winitzki's approximation of the inverse of erf, with a = 0.147, which ONNX Runtime has. */
static UOp *probit(UOp *p)
{
	const double a = 0.147, pi = 3.14159;
	UOp *x = t_addc(t_mulc(p, 2), -1), *one = t_num(x->dtype, 1);
	UOp *log = t_log(t_mul(t_sub(one, x), t_add(one, x)));
	UOp *v = t_addc(t_mulc(log, 0.5), 2 / (pi * a));
	UOp *y = t_sqrt(t_sub(t_sqrt(t_sub(t_mul(v, v), t_mulc(log, 1 / a))), v));

	y = t_where(t_lt(x, t_num(x->dtype, 0)), t_neg(y), y);
	return t_mulc(y, 1.41421356);
}

bool ml_plain(OnnxCall *c) { return post_of(c) == POST_NONE; }

UOp *ml_scores(OnnxCall *c, UOp *x)
{
	Post post = post_of(c);
	int64_t one;

	if (post == POST_PROBIT)
		return probit(x);
	if (ix_is_const(t_dim(x, 1), &one) && one == 1)
		return x;
	switch (post) {
	case POST_LOGISTIC: return t_sigmoid(x);
	case POST_SOFTMAX: return t_softmax(x, 1);
	case POST_SOFTMAX_ZERO: return softmax_zero(x);
	default: return x;
	}
}

UOp *ml_two_scores(OnnxCall *c, UOp *x, bool centred)
{
	Post post = post_of(c);
	UOp *other = centred ? t_neg(x) : t_sub(t_num(x->dtype, 1), x);

	if (post == POST_PROBIT)
		return t_concat(2, (UOp *[]){ probit(other), probit(x) }, 1);
	if (post == POST_LOGISTIC)
		return t_sigmoid(t_concat(2, (UOp *[]){ t_neg(x), x }, 1));
	return t_concat(2, (UOp *[]){ other, x }, 1);
}
