/* ONNX Runtime's Attention, MultiHeadAttention and QAttention: heads attend to keys, which masks
 * hide by a large negative number added to their scores.
 *
 *     Attention(x, w, b)   →   softmax(q @ k^T * scale + mask) @ v with [q k v] = x @ w + b */
#include "onnx/microsoft/attention.h"
#include <math.h>

UOp *attention_scores(OnnxCall *c, UOp *q, UOp *k)
{
	DType acc = dtype_acc(q->dtype);
	double scale = onnx_attr_float(c, "scale", 0);
	UOp *by = scale != 0 ? t_num(acc, scale) : t_rsqrt(t_size(acc, t_dim(q, -1)));

	k = t_transpose(onnx_shared_heads(c, k, q), -2, -1);
	return t_mul(t_matmul(t_cast(q, acc), t_cast(k, acc)), by);
}

UOp *attention_values(OnnxCall *c, UOp *p, UOp *v)
{
	UOp *y = t_matmul(p, t_cast(onnx_shared_heads(c, v, p), p->dtype));

	return onnx_without_heads(t_cast(y, v->dtype));
}

/* ---- masks: [b,1,s,t], each axis of these sizes or 1; true: seen */

static UOp *by_row(UOp *x) { return t_along(t_cast(x, DT_I64), 0, 4); }

static bool is_multiple(UOp *size, UOp *of, int64_t times)
{
	int64_t rest;

	return ix_is_const(ix_sub(size, ix_mul(of, ix_const(times))), &rest) && !rest;
}

/* mask[b]: the number of keys; mask[2b]: their ends, then their starts */
static UOp *within(OnnxCall *c, UOp *mask, UOp *b, UOp *t)
{
	UOp *place = t_arange(DT_I64, t), *n = t_dim(mask, 0), *zero = ix_const(0);

	if (is_multiple(n, b, 2) && !is_multiple(n, b, 1)) {
		UOp *start = by_row(t_shrink_axis(mask, 0, b, n));
		mask = t_shrink_axis(mask, 0, zero, b);
		return t_and(t_lt(place, by_row(mask)), t_not(t_lt(place, start)));
	}
	if (is_multiple(ix_sub(n, ix_const(2)), b, 3))
		onnx_fail(c, UNSUPPORTED, "a mask of cumulated lengths");
	if (!size_equal(n, b))
		onnx_fail(c, MALFORMED, "a mask%s for a batch of %s", shape_text(mask->shape),
			shape_text(shape_new(1, &b)));
	return t_lt(place, by_row(mask));
}

/* the mask of input k for scores[b,n,s,t] */
static UOp *seen_by_mask(OnnxCall *c, int k, UOp *s)
{
	UOp *mask = onnx_in(c, k), *dim[4];
	int rank = t_rank(mask);

	if (rank == 1)
		return within(c, mask, t_dim(s, 0), t_dim(s, 3));
	if (rank != 2 && rank != 3)
		onnx_fail(c, UNSUPPORTED, "a mask of %d axes", rank);
	for (int i = 0; i < 4; i++)
		dim[i] = i == 0 ? t_dim(mask, 0) : i == 3 ? t_dim(mask, -1) : ix_const(1);
	if (rank == 3)
		dim[2] = t_dim(mask, 1);
	return t_lt(t_num(mask->dtype, 0), t_reshapev(mask, 4, dim));
}

/* s plus the bias of input `bias` and the mask of input `mask`. Causal: the last query sees all
 * keys, each one before it a key less. */
static UOp *masked(OnnxCall *c, UOp *s, int mask, int bias)
{
	double hidden = onnx_attr_float(c, "mask_filter_value", -10000);

	if (bias >= 0 && onnx_has(c, bias))
		s = t_add(s, t_cast(onnx_in_rank(c, bias, 4), s->dtype));
	if (onnx_has(c, mask))
		s = t_add(s, t_where(seen_by_mask(c, mask, s), t_num(s->dtype, 0),
			t_num(s->dtype, hidden)));
	if (onnx_attr_int(c, "unidirectional", 0)) {
		UOp *row = t_unsqueeze(t_arange(DT_I64, t_dim(s, 2)), 1);
		row = t_add(row, t_size(DT_I64, ix_sub(t_dim(s, 3), t_dim(s, 2))));
		s = t_where(t_lt(row, t_arange(DT_I64, t_dim(s, 3))),
			t_num(s->dtype, -INFINITY), s);
	}
	return s;
}

/* ---- Attention, QAttention: one product makes queries, keys and values */

/* the columns of x[b,s,3h] that are queries, keys and values, each with its heads */
static void parts_of(OnnxCall *c, UOp *x, UOp *part[3])
{
	int64_t heads = onnx_attr_int(c, "num_heads", 0), size[3], whole = shape_dim(x->shape, 2);
	int n = onnx_attr_ints(c, "qkv_hidden_sizes", size, 3);
	UOp *at = ix_const(0), *end;

	if (n > 0 && (n != 3 || size[0] < 1 || size[0] != size[1] || size[2] < 1 ||
		size[0] > whole || size[2] != whole - 2 * size[0]))
		onnx_fail(c, MALFORMED, "qkv_hidden_sizes does not fit weights of %lld columns",
			(long long)whole);
	if (n <= 0 && whole % 3)
		onnx_fail(c, MALFORMED, "weights of %lld columns have no three parts",
			(long long)whole);
	for (int i = 0; i < 3; i++, at = end) {
		end = ix_add(at, ix_const(n > 0 ? size[i] : whole / 3));
		part[i] = onnx_with_heads(c, t_shrink_axis(x, 2, at, end), heads);
	}
}

static UOp *half(UOp *x, int k)
{
	return t_squeeze(t_shrink_axis(x, 0, ix_const(k), ix_const(k + 1)), 0);
}

/* Attention of x[b,s,3h]; past and present are [2,b,n,t,d]. */
static void attend(OnnxCall *c, UOp *x, int mask, int past, int bias)
{
	UOp *part[3], *s;

	if (onnx_attr_int(c, "past_present_share_buffer", 0) || onnx_attr_int(c, "do_rotary", 0))
		onnx_fail(c, UNSUPPORTED, "past_present_share_buffer and do_rotary");
	parts_of(c, x, part);
	for (int i = 0; onnx_has(c, past) && i < 2; i++)
		part[1 + i] = t_concat(
			2, (UOp *[]){ half(onnx_in_rank(c, past, 5), i), part[1 + i] }, 2);
	if (onnx_wants(c, 1))
		onnx_set(c, 1, t_concat(2, (UOp *[]){ t_unsqueeze(part[1], 0),
			t_unsqueeze(part[2], 0) }, 0));
	s = masked(c, attention_scores(c, part[0], part[1]), mask, bias);
	onnx_set(c, 0, attention_values(c, t_softmax(s, 3), part[2]));
}

void onnx_microsoft_Attention(OnnxCall *c)
{
	UOp *y = t_matmul(onnx_in_rank(c, 0, 3), onnx_in_rank(c, 1, 2));

	attend(c, onnx_has(c, 2) ? t_add(y, onnx_in_rank(c, 2, 1)) : y, 3, 4, 5);
}

/* input k minus the zero point of input `zero`, exactly */
static UOp *whole(OnnxCall *c, int k, int zero)
{
	UOp *x = t_cast(onnx_in(c, k), DT_I32);

	return onnx_has(c, zero) ? t_sub(x, t_cast(onnx_in(c, zero), DT_I32)) : x;
}

void onnx_microsoft_QAttention(OnnxCall *c)
{
	UOp *y = t_matmul(whole(c, 0, 6), whole(c, 1, 7)), *scale;

	scale = t_mul(onnx_in(c, 3), onnx_in(c, 4));
	y = t_add(t_mul(t_cast(y, scale->dtype), scale), onnx_in_rank(c, 2, 1));
	if (t_rank(y) != 3)
		onnx_fail(c, MALFORMED, "input%s needs 3 axes", shape_text(onnx_in(c, 0)->shape));
	attend(c, y, 5, 8, -1);
}

/* ---- MultiHeadAttention: queries, keys and values come as they are */

/* element k of axis 3 of x[b,s,n,parts,d]; x[b,s,h] with its heads apart: [b,s,n,d] */
static UOp *by_head(OnnxCall *c, UOp *x, int k, int64_t heads)
{
	if (t_rank(x) == 5)
		return t_squeeze(t_shrink_axis(x, 3, ix_const(k), ix_const(k + 1)), 3);
	return t_transpose(onnx_with_heads(c, x, heads), 1, 2);
}

/* Part k of the bias [h+h+hv] added to x[b,s,n,d]: the part is the last one, or that after k
 * parts as long. */
static UOp *with_bias(OnnxCall *c, UOp *x, int k)
{
	UOp *b, *n, *end;

	if (onnx_has(c, 3)) {
		b = onnx_in_rank(c, 3, 1);
		n = ix_mul(t_dim(x, 2), t_dim(x, 3));
		end = k == 2 ? t_dim(b, 0) : ix_mul(n, ix_const(k + 1));
		b = t_shrink_axis(b, 0, ix_sub(end, n), end);
		x = t_add(x, t_split_axis(b, 0, t_dim(x, 2), t_dim(x, 3)));
	}
	return t_transpose(x, 1, 2);
}

/* Keys (k 1) or values (k 2), [b,n,t,d]: packed with the queries or with each other, or by
 * themselves, with heads (and without a bias then) or not. */
static UOp *keys_or_values(OnnxCall *c, int k, int64_t heads)
{
	UOp *x = onnx_in(c, 0);

	if (t_rank(x) == 5)
		return with_bias(c, by_head(c, x, k, heads), k);
	x = onnx_in(c, 1);
	if (t_rank(x) == 5)
		return with_bias(c, by_head(c, x, k - 1, heads), k);
	x = onnx_in(c, k);
	return t_rank(x) == 4 ? x : with_bias(c, by_head(c, x, 0, heads), k);
}

void onnx_microsoft_MultiHeadAttention(OnnxCall *c)
{
	int64_t heads = onnx_attr_int(c, "num_heads", 0);
	UOp *q, *kv[2], *s;

	if (onnx_has(c, 8) || onnx_has(c, 9))
		onnx_fail(c, UNSUPPORTED, "past_sequence_length and cache_indirection");
	q = with_bias(c, by_head(c, onnx_in(c, 0), 0, heads), 0);
	for (int i = 0; i < 2; i++) {
		kv[i] = keys_or_values(c, i + 1, heads);
		if (onnx_has(c, 6 + i))
			kv[i] = t_concat(2, (UOp *[]){ onnx_in_rank(c, 6 + i, 4), kv[i] }, 2);
		if (onnx_wants(c, 1 + i))
			onnx_set(c, 1 + i, kv[i]);
	}
	s = masked(c, attention_scores(c, q, kv[0]), 4, 5);
	onnx_set(c, 0, attention_values(c, t_softmax(s, 3), kv[1]));
}
