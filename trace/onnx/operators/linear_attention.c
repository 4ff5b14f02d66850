/* ONNX: LinearAttention, each token decays, corrects and adds to a state [b,h,dk,dv], and its query
 * reads the state.
 *
 *     gated_delta   →   for each token: s = exp(g) s; s = s + k (beta (v - s^T k))^T; o = q^T s */
#include "onnx/operators/space.h"
#include <math.h>

typedef struct { UOp *q, *k, *v, *decay, *beta, *scale; int64_t group; } Tokens;

/* x[b,t,heads*d] as [b,heads,t,d], in f32 at least */
static UOp *unpacked(OnnxCall *c, UOp *x, int64_t heads)
{
	if (t_rank(x) != 3 || heads < 1 || shape_dim(x->shape, 2) % heads)
		onnx_fail(c, MALFORMED, "%s does not fall into %lld heads", shape_text(x->shape),
			(long long)heads);
	x = t_split_axis(onnx_wide(x), 2, ix_const(heads), ix_div(t_dim(x, 2), ix_const(heads)));
	return t_transpose(x, 1, 2);
}

/* token i of x[b,h,t,d], as a column [b,h,d,1] */
static UOp *token(UOp *x, int64_t i)
{
	return t_transpose(t_shrink_axis(x, 2, ix_const(i), ix_const(i + 1)), 2, 3);
}

/* sum over dk of s[b,h,dk,dv] * k[b,h,dk,1]: [b,h,1,dv] */
static UOp *read_state(UOp *s, UOp *k)
{
	return t_sum(t_mul(s, k), 2, true);
}

static UOp *step(const Tokens *x, int64_t i, UOp **state)
{
	UOp *k = token(x->k, i), *v = t_shrink_axis(x->v, 2, ix_const(i), ix_const(i + 1)),
	    *s = *state, *read;

	if (x->decay)
		s = t_mul(s, t_exp(token(x->decay, i)));
	if (x->beta)
		v = t_mul(token(x->beta, i), t_sub(v, read_state(s, k)));
	*state = s = t_add(s, t_mul(k, v));
	read = s;
	if (x->group > 1)
		read = t_merge_axes(t_expand_axis(t_unsqueeze(s, 2), 2, ix_const(x->group)), 1, 2);
	return t_mul(read_state(read, token(x->q, i)), x->scale);
}

static Tokens tokens_of(OnnxCall *c, int64_t heads, int64_t kv)
{
	const char *rule = onnx_attr_str(c, "update_rule", "gated_delta");
	bool gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta"),
	     delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
	double scale = onnx_attr_float(c, "scale", 0);
	Tokens x = { .group = heads / kv };

	if (!gated && !delta && strcmp(rule, "linear"))
		onnx_fail(c, MALFORMED, "update_rule '%s'", rule);
	x.q = unpacked(c, onnx_in(c, 0), heads);
	x.k = unpacked(c, onnx_in(c, 1), kv);
	x.v = unpacked(c, onnx_in(c, 2), kv);
	if (gated)
		x.decay = unpacked(c, onnx_in(c, 4), kv);
	if (delta) {
		UOp *beta = onnx_in(c, 5);
		int64_t last = t_rank(beta) == 3 ? shape_dim(beta->shape, 2) : 0;
		x.beta = unpacked(c, beta, last == 1 ? 1 : kv);
	}
	x.scale = scale != 0 ? t_num(x.q->dtype, scale) :
			       t_rsqrt(t_size(x.q->dtype, t_dim(x.q, 3)));
	return x;
}

void onnx_LinearAttention(OnnxCall *c)
{
	int64_t heads = onnx_attr_int(c, "q_num_heads", 0),
		kv = onnx_attr_int(c, "kv_num_heads", 0), n;
	UOp *in = onnx_in(c, 0), *past = onnx_has(c, 3) ? onnx_in_rank(c, 3, 4) : NULL, *state,
	    **out, *y;
	Tokens x;

	if (heads < 1 || kv < 1 || heads % kv)
		onnx_fail(c, MALFORMED, "%lld query heads cannot share %lld", (long long)heads,
			(long long)kv);
	x = tokens_of(c, heads, kv);
	n = onnx_steps(c, in, 1);
	if (past)
		state = onnx_wide(past);
	else
		state = t_full(shape_new(4,
				       (UOp *[]){ t_dim(in, 0), ix_const(kv), t_dim(x.k, 3),
					       t_dim(x.v, 3) }),
			t_num(x.q->dtype, 0));
	out = arena_alloc((n + 1) * sizeof *out);
	for (int64_t i = 0; i < n; i++)
		out[i] = step(&x, i, &state);
	y = t_concat(n, out, 2);
	onnx_set(c, 0, t_cast(t_merge_axes(t_transpose(y, 1, 2), 2, 2), in->dtype));
	onnx_set(c, 1, t_cast(state, past ? past->dtype : in->dtype));
}
