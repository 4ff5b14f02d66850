/* ONNX: the attention operators, and rotary embeddings.
 *
 *     Attention(q, k, v, mask)   →   softmax(q @ k^T * scale + mask) @ v, past keys first
 *
 * Boolean masks are combined into one and selected by WHERE, so that -inf is never added to a
 * score; a query without any visible key gives zeros. */
#include "onnx/operators/space.h"
#include <math.h>

/* x[b,s,heads*d] as [b,heads,s,d]; a tensor of rank 4 is returned as it is */
UOp *onnx_with_heads(OnnxCall *c, UOp *x, int64_t heads)
{
	if (t_rank(x) == 4)
		return x;
	if (t_rank(x) != 3 || heads < 1 || shape_dim(x->shape, 2) % heads)
		onnx_fail(c, MALFORMED, "%s does not fall into %lld heads", shape_text(x->shape),
			(long long)heads);
	return t_transpose(
		t_split_axis(x, 2, ix_const(heads), ix_div(t_dim(x, 2), ix_const(heads))), 1, 2);
}

UOp *onnx_without_heads(UOp *y)
{
	return t_merge_axes(t_transpose(y, 1, 2), 2, 2);
}

/* repeats each head of x[b,h',s,d] for the query heads that share it */
UOp *onnx_shared_heads(OnnxCall *c, UOp *x, UOp *q)
{
	int64_t have = shape_dim(x->shape, 1), want = shape_dim(q->shape, 1);

	if (have == want)
		return x;
	if (have < 1 || want % have)
		onnx_fail(c, MALFORMED, "%lld query heads cannot share %lld", (long long)want,
			(long long)have);
	return t_merge_axes(t_expand_axis(t_unsqueeze(x, 2), 2, ix_const(want / have)), 1, 2);
}

/* The scores q @ k^T * scale, in f32 at least. f16 and bf16 take half of the scale on each side, as
 * the standard prescribes: the product stays in range. */
static UOp *scores_of(OnnxCall *c, UOp *q, UOp *k)
{
	DType acc = dtype_acc(q->dtype);
	UOp *scale = onnx_attr_has(c, "scale") ? t_num(acc, onnx_attr_float(c, "scale", 1))
		: t_rsqrt(t_size(acc, t_dim(q, -1)));

	k = t_transpose(t_cast(k, q->dtype), -2, -1);
	if (acc == q->dtype)
		return t_mul(t_matmul(q, k), scale);
	scale = t_cast(t_sqrt(scale), q->dtype);
	return t_cast(t_matmul(t_mul(q, scale), t_mul(k, scale)), acc);
}

/* Extends a mask whose last axis is shorter than that of the scores: the keys behind it are not
 * seen. */
static UOp *whole_mask(UOp *mask, UOp *s)
{
	int last = t_rank(mask) - 1;
	UOp *pairs[MAX_RANK][2];
	int64_t missing;

	if (last < 0 || !ix_is_const(ix_sub(t_dim(s, -1), t_dim(mask, -1)), &missing) ||
		missing <= 0)
		return mask;
	for (int i = 0; i <= last; i++) {
		pairs[i][0] = ix_const(0);
		pairs[i][1] = ix_const(i == last ? missing : 0);
	}
	return mask->dtype == DT_BOOL ? t_pad(mask, pairs)
		: t_pad_value(mask, pairs, t_num(mask->dtype, -INFINITY));
}

static UOp *both(UOp *a, UOp *b)
{
	return a ? t_and(a, b) : b;
}

/* The distance of each query from each key, [.., q, k]: the query's place among the keys minus the
 * key's place. */
static UOp *distance(OnnxCall *c, UOp *s)
{
	UOp *row = t_arange(DT_I64, t_dim(s, -2)), *col = t_arange(DT_I64, t_dim(s, -1)), *first;

	row = t_unsqueeze(row, 1);
	if (onnx_has(c, 4)) {
		first = t_size(DT_I64, t_dim(onnx_in_rank(c, 4, 4), 2));
	} else if (onnx_has(c, 6)) {
		first = t_sub(t_cast(onnx_in_rank(c, 6, 1), DT_I64), t_size(DT_I64, t_dim(s, -2)));
		first = t_along(first, 0, 4);
	} else {
		first = t_num(DT_I64, 0);
	}
	return t_sub(t_add(row, first), col);
}

/* The keys that a query may see by is_causal, the window and nonpad_kv_seqlen; NULL: all. */
static UOp *seen_keys(OnnxCall *c, UOp *s)
{
	int64_t left = onnx_attr_int(c, "left_window_size", -1),
		right = onnx_attr_int(c, "right_window_size", -1);
	UOp *seen = NULL;

	if (left < -1 || right < -1)
		onnx_fail(c, MALFORMED, "a window of %lld to %lld", (long long)left,
			(long long)right);
	if (onnx_attr_int(c, "is_causal", 0))
		seen = t_not(t_lt(distance(c, s), t_num(DT_I64, 0)));
	if (left >= 0)
		seen = both(seen, t_not(t_lt(t_num(DT_I64, left), distance(c, s))));
	if (right >= 0)
		seen = both(seen, t_not(t_lt(distance(c, s), t_num(DT_I64, -right))));
	if (onnx_has(c, 6)) {
		UOp *n = t_along(t_cast(onnx_in_rank(c, 6, 1), DT_I64), 0, 4);
		seen = both(seen, t_lt(t_arange(DT_I64, t_dim(s, -1)), n));
	}
	return seen;
}

static UOp *masked(OnnxCall *c, UOp *s)
{
	UOp *seen = seen_keys(c, s), *mask;

	if (onnx_has(c, 3)) {
		mask = whole_mask(onnx_in(c, 3), s);
		if (mask->dtype == DT_BOOL)
			seen = both(seen, mask);
		else
			s = t_add(s, t_cast(mask, s->dtype));
	}
	return seen ? t_where(seen, s, t_num(s->dtype, -INFINITY)) : s;
}

/* softmax over the last axis; rows that are all -inf give zeros */
static UOp *probabilities(UOp *s, bool empty_rows)
{
	UOp *p = t_softmax(s, t_rank(s) - 1), *m;

	if (!empty_rows)
		return p;
	m = t_reduce(OP_MAX, t_cast(s, dtype_acc(s->dtype)), 1, (int[]){ t_rank(s) - 1 }, true);
	return t_where(t_eq(m, t_num(m->dtype, -INFINITY)), t_num(p->dtype, 0), p);
}

static DType softmax_dtype(OnnxCall *c, DType otherwise)
{
	DType dt = otherwise;

	if (onnx_attr_has(c, "softmax_precision"))
		dt = onnx_dtype((int)onnx_attr_int(c, "softmax_precision", 0));
	if (dt == DT_NONE || !dtype_float(dt))
		onnx_fail(c, MALFORMED, "softmax_precision is no float");
	return dt;
}

/* Before version 25, a causal mask without a cache leaves every query at least its first key. */
static bool may_be_empty(OnnxCall *c)
{
	return onnx_has(c, 3) || onnx_has(c, 6) || onnx_attr_int(c, "left_window_size", -1) >= 0
		|| onnx_attr_int(c, "right_window_size", -1) >= 0;
}

static void show_scores(OnnxCall *c, int mode, UOp *s, DType dt)
{
	if (onnx_wants(c, 3) && onnx_attr_int(c, "qk_matmul_output_mode", 0) == mode)
		onnx_set(c, 3, t_cast(s, dt));
}

void onnx_Attention(OnnxCall *c)
{
	UOp *in = onnx_in(c, 0), *q, *k, *v, *s, *y;
	int64_t heads = onnx_attr_int(c, "q_num_heads", 0),
		kv_heads = onnx_attr_int(c, "kv_num_heads", 0);
	double cap = onnx_attr_float(c, "softcap", 0);
	DType dt = in->dtype;

	q = onnx_with_heads(c, in, heads);
	k = onnx_with_heads(c, onnx_in(c, 1), kv_heads);
	v = onnx_with_heads(c, onnx_in(c, 2), kv_heads);
	if (onnx_has(c, 4)) {
		k = t_concat(2, (UOp *[]){ onnx_in_rank(c, 4, 4), k }, 2);
		v = t_concat(2, (UOp *[]){ onnx_in_rank(c, 5, 4), v }, 2);
	}
	if (onnx_wants(c, 1))
		onnx_set(c, 1, k);
	if (onnx_wants(c, 2))
		onnx_set(c, 2, v);
	s = scores_of(c, q, onnx_shared_heads(c, k, q));
	show_scores(c, 0, s, dt);
	if (cap > 0)
		s = t_mulc(t_tanh(t_mulc(s, 1 / cap)), cap);
	show_scores(c, 1, s, dt);
	s = masked(c, s);
	show_scores(c, 2, s, dt);
	s = probabilities(t_cast(s, softmax_dtype(c, s->dtype)), may_be_empty(c));
	show_scores(c, 3, s, dt);
	s = t_cast(s, dtype_acc(dt));
	y = t_cast(t_matmul(s, t_cast(onnx_shared_heads(c, v, q), s->dtype)), dt);
	onnx_set(c, 0, t_rank(in) == 3 ? onnx_without_heads(y) : y);
}

/* ---- FlexAttention: its bodies modify scores and probabilities */

static UOp *changed_by(OnnxCall *c, const char *body, UOp *x)
{
	OnnxValue in = { .kind = ONNX_TENSOR, .type = onnx_type_of(x->dtype), .u = x }, out;

	if (!onnx_attr_has(c, body))
		return x;
	if (onnx_body(c, body, 1, &in, &out, 1) != 1 || out.kind != ONNX_TENSOR)
		onnx_fail(c, MALFORMED, "%s does not give one tensor", body);
	return t_cast(out.u, x->dtype);
}

void onnx_FlexAttention(OnnxCall *c)
{
	UOp *q = onnx_in(c, 0), *k = onnx_in(c, 1), *v = onnx_in(c, 2), *s;
	DType dt = softmax_dtype(c, q->dtype == DT_F64 ? DT_F64 : DT_F32);

	if (t_rank(q) != 4 || t_rank(k) != 4 || t_rank(v) != 4)
		onnx_fail(c, MALFORMED, "q, k and v need 4 axes");
	s = changed_by(c, "score_mod", t_cast(scores_of(c, q, onnx_shared_heads(c, k, q)), dt));
	s = changed_by(c, "prob_mod", t_softmax(s, 3));
	onnx_set(c, 0, t_cast(t_matmul(s, t_cast(onnx_shared_heads(c, v, q), dt)), v->dtype));
}

/* ---- RotaryEmbedding: pairs of elements rotated by an angle that depends on their place */

/* The two halves of the first n elements of x's last axis: the even and the odd ones when
 * interleaved. */
static void halves(UOp *x, UOp *n, bool interleaved, UOp **a, UOp **b)
{
	int last = t_rank(x) - 1, axis = interleaved ? last + 1 : last;
	UOp *two = ix_const(2), *half = ix_div(n, two), *one = ix_const(1);

	x = t_shrink_axis(x, last, ix_const(0), n);
	x = t_split_axis(x, last, interleaved ? half : two, interleaved ? two : half);
	*a = t_squeeze(t_shrink_axis(x, axis, ix_const(0), one), axis);
	*b = t_squeeze(t_shrink_axis(x, axis, one, two), axis);
}

/* cos or sin for x[b,s,h,d]: [b,s,1,n/2] */
static UOp *angles(OnnxCall *c, int k, UOp *x)
{
	UOp *cache = onnx_in(c, k), *at;

	if (onnx_has(c, 3)) {
		at = t_cast(onnx_in(c, 3), DT_I64);
		cache = t_gather(cache, 1, &at);
	}
	if (t_rank(cache) != 3)
		onnx_fail(c, MALFORMED, "cos and sin %s do not fit x%s", shape_text(cache->shape),
			shape_text(x->shape));
	return t_unsqueeze(cache, 2);
}

UOp *onnx_rotated(
	OnnxCall *c, UOp *x, UOp *cos, UOp *sin, int64_t dim, bool interleaved)
{
	UOp *a, *b, *y[2], *n, *whole = t_dim(x, 3);
	int64_t size = shape_dim(x->shape, 3);
	int last = 3;

	if (dim > size || dim < 0 || (dim > 0 ? dim : size) % 2)
		onnx_fail(c, MALFORMED, "rotary_embedding_dim %lld for heads of %lld",
			(long long)dim, (long long)size);
	n = ix_const(dim > 0 ? dim : size);
	halves(x, n, interleaved, &a, &b);
	y[0] = t_sub(t_mul(cos, a), t_mul(sin, b));
	y[1] = t_add(t_mul(sin, a), t_mul(cos, b));
	if (interleaved) {
		y[0] = t_concat(2, (UOp *[]){ t_unsqueeze(y[0], 4), t_unsqueeze(y[1], 4) }, 4);
		y[0] = t_merge_axes(y[0], 3, 2);
	} else {
		y[0] = t_concat(2, y, last);
	}
	if (n != whole)
		y[0] = t_concat(2, (UOp *[]){ y[0], t_shrink_axis(x, last, n, whole) }, last);
	return y[0];
}

void onnx_RotaryEmbedding(OnnxCall *c)
{
	UOp *in = onnx_in(c, 0), *x, *y;

	x = t_transpose(onnx_with_heads(c, in, onnx_attr_int(c, "num_heads", 0)), 1, 2);
	y = onnx_rotated(c, x, angles(c, 1, x), angles(c, 2, x),
		onnx_attr_int(c, "rotary_embedding_dim", 0),
		onnx_attr_int(c, "interleaved", 0) != 0);
	onnx_set(c, 0, t_rank(in) == 3 ? t_merge_axes(y, 2, 2) : t_transpose(y, 1, 2));
}
