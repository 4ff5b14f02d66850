/* ONNX Runtime's GroupQueryAttention, and RotaryEmbedding.
 *
 *     present[t]   →   t < past ? past_key[t] : key[t - past], with past a number for each row
 *
 * The new keys follow the first `past` keys of the cache, seqlens_k + 1 in all; in the first call
 * (total_sequence_length is the number of queries) there are none before. Rows may have different
 * lengths; the cache may be longer than all of them. */
#include "onnx/microsoft/attention.h"
#include <math.h>

typedef struct {
	OnnxCall *c;
	int64_t heads, kv_heads;
	UOp *q, *k, *v;         /* [b,s,n,d], [b,s,n',d] */
	UOp *past, *total;      /* i64 [b,1]: keys before the new ones; a size: keys of the cache */
} Query;

enum { IN_PAST = 3, IN_LENGTHS = 5, IN_TOTAL, IN_COS, IN_SIN, IN_PLACES, IN_BIAS, IN_SINK };

static UOp *one_of(UOp *x) { return t_cast(t_reshape(x, shape_scalar()), DT_I64); }

static void refuse(OnnxCall *c)
{
	static const char *const inputs[] = {
		"k_scale", "v_scale", "q_norm_weight", "k_norm_weight", "query_seqlens"
	};
	static const char *const attributes[] = {
		"sliding_window_cache", "kv_cache_bit_width", "qk_output"
	};

	for (int i = 0; i < 5; i++)
		if (onnx_has(c, IN_SINK + 1 + i))
			onnx_fail(c, UNSUPPORTED, "input %s", inputs[i]);
	for (int i = 0; i < 3; i++)
		if (onnx_attr_int(c, attributes[i], 0))
			onnx_fail(c, UNSUPPORTED, "%s", attributes[i]);
}

/* ---- queries, keys, values */

static UOp *by_head(OnnxCall *c, UOp *x, int64_t heads)
{
	if (t_rank(x) != 3)
		onnx_fail(c, MALFORMED, "%s needs 3 axes", shape_text(x->shape));
	return t_transpose(onnx_with_heads(c, x, heads), 1, 2);
}

/* Without keys, the queries' input holds the heads of all three. */
static void read_query(Query *a)
{
	OnnxCall *c = a->c;
	UOp *in = onnx_in(c, 0), *n = ix_const(a->heads), *kv = ix_const(a->kv_heads);

	if (a->heads < 1 || a->kv_heads < 1 || a->heads > 1 << 20 || a->kv_heads > 1 << 20)
		onnx_fail(c, MALFORMED, "%lld heads and %lld", (long long)a->heads,
			(long long)a->kv_heads);
	if (onnx_has(c, 1)) {
		a->q = by_head(c, in, a->heads);
		a->k = by_head(c, onnx_in(c, 1), a->kv_heads);
		a->v = by_head(c, onnx_in(c, 2), a->kv_heads);
		return;
	}
	in = by_head(c, in, a->heads + 2 * a->kv_heads);
	a->q = t_shrink_axis(in, 2, ix_const(0), n);
	a->k = t_shrink_axis(in, 2, n, ix_add(n, kv));
	a->v = t_shrink_axis(in, 2, ix_add(n, kv), t_dim(in, 2));
}

/* ---- lengths */

/* How many keys of the cache each row has from calls before. */
static UOp *past_lengths(Query *a)
{
	OnnxCall *c = a->c;
	UOp *s = t_size(DT_I64, t_dim(a->q, 1)), *rows = t_dim(a->q, 0), *lengths, *first;

	if (!onnx_has(c, IN_PAST))
		return t_num(DT_I64, 0);
	lengths = t_reshapev(onnx_in(c, IN_LENGTHS), 2, (UOp *[]){ rows, ix_const(1) });
	lengths = t_sub(t_addc(t_cast(lengths, DT_I64), 1), s);
	first = t_eq(one_of(onnx_in(c, IN_TOTAL)), s);
	return t_where(first, t_num(DT_I64, 0), lengths);
}

/* The length of the cache afterwards: the one before, or total_sequence_length if that is more. */
static UOp *present_length(Query *a)
{
	UOp *s = t_dim(a->q, 1), *before, *total = NULL;
	size_t n;

	if (!onnx_has(a->c, IN_PAST))
		return s;
	before = t_dim(onnx_in_rank(a->c, IN_PAST, 4), 2);
	if (onnx_try_sizes(onnx_in(a->c, IN_TOTAL), 1, &total, &n) && n == 1) {
		if (ix_prove_le(before, total))
			return total;
		if (ix_prove_le(total, before))
			return before;
	}
	return t_bind("present",
		t_max(one_of(onnx_in(a->c, IN_TOTAL)), t_size(DT_I64, before)), before,
		ix_add(before, s));
}

/* ---- rotation, cache */

/* the place of each query, [b|1,s] */
static UOp *places_of(const Query *a)
{
	if (onnx_has(a->c, IN_PLACES))
		return t_cast(onnx_in_rank(a->c, IN_PLACES, 2), DT_I64);
	return t_add(a->past, t_unsqueeze(t_arange(DT_I64, t_dim(a->q, 1)), 0));
}

static UOp *angles(UOp *cache, UOp *places)
{
	return t_unsqueeze(t_gather(cache, 1, &places), 2);
}

static void rotate(Query *a)
{
	OnnxCall *c = a->c;
	bool interleaved = onnx_attr_int(c, "rotary_interleaved", 0) != 0;
	UOp *places = places_of(a), *cos = onnx_in_rank(c, IN_COS, 2), *sin;
	int64_t dim = 2 * shape_dim(cos->shape, 1);

	cos = angles(cos, places);
	sin = angles(onnx_in_rank(c, IN_SIN, 2), places);
	a->q = onnx_rotated(c, a->q, cos, sin, dim, interleaved);
	a->k = onnx_rotated(c, a->k, cos, sin, dim, interleaved);
}

/* x[b,s,n,d] behind the first keys of the cache, input k: [b,n,total,d] */
static UOp *cached(const Query *a, int k, UOp *x)
{
	UOp *before, *place, *at[2], *row;

	if (!onnx_has(a->c, k))
		return t_transpose(x, 1, 2);
	before = onnx_in_rank(a->c, k, 4);
	before = t_pad_axis(before, 2, ix_const(0), ix_sub(a->total, t_dim(before, 2)));
	place = t_unsqueeze(t_arange(DT_I64, a->total), 0);
	row = t_unsqueeze(t_arange(DT_I64, t_dim(x, 0)), 1);
	at[0] = row;
	at[1] = t_sub(place, a->past);
	x = t_transpose(t_gather(x, 2, at), 1, 2);
	row = t_lt(place, a->past);
	return t_where(t_unsqueeze(t_unsqueeze(row, 1), 3), before, x);
}

/* ---- scores */

/* scores[b,n,s,t] of keys that the query may not see are -inf: those behind it, before its window,
 * or behind the last one */
static UOp *seen_scores(const Query *a, UOp *s)
{
	int64_t window = onnx_attr_int(a->c, "local_window_size", -1);
	UOp *key = t_arange(DT_I64, t_dim(s, 3)), *place, *seen;

	place = t_add(t_unsqueeze(t_arange(DT_I64, t_dim(s, 2)), 1),
		t_rank(a->past) ? t_unsqueeze(t_unsqueeze(a->past, 1), 1) : a->past);
	if (!onnx_attr_int(a->c, "causal", 1)) {
		UOp *n = t_add(a->past, t_size(DT_I64, t_dim(s, 2)));
		seen = t_lt(key, t_rank(n) ? t_unsqueeze(t_unsqueeze(n, 1), 1) : n);
	} else {
		seen = t_not(t_lt(place, key));
	}
	if (window > 0)
		seen = t_and(seen, t_lt(place, t_addc(key, (double)window)));
	return t_where(seen, s, t_num(s->dtype, -INFINITY));
}

/* Adds input attention_bias; behind its last key, where the cache may go on, places read 0. */
static UOp *biased(const Query *a, UOp *s)
{
	UOp *bias;

	if (!onnx_has(a->c, IN_BIAS))
		return s;
	bias = t_cast(onnx_in_rank(a->c, IN_BIAS, 4), s->dtype);
	if (t_dim(bias, 3) != t_dim(s, 3))
		bias = t_take_inside(bias, t_arange(DT_I64, t_dim(s, 3)), 3);
	return t_add(s, bias);
}

/* The softmax with one more score in each row, which no key has: sink[n], or 0. */
static UOp *with_sink(UOp *s, UOp *sink)
{
	int last = 3;
	UOp *most, *e, *all;

	sink = sink ? t_along(t_cast(sink, s->dtype), 1, 4) : t_num(s->dtype, 0);
	most = t_max(t_reduce(OP_MAX, s, 1, &last, true), sink);
	e = t_exp(t_sub(s, most));
	all = t_add(t_sum(e, last, true), t_exp(t_sub(sink, most)));
	return t_div(e, all);
}

void onnx_microsoft_GroupQueryAttention(OnnxCall *c)
{
	Query a = { .c = c, .heads = onnx_attr_int(c, "num_heads", 0),
		.kv_heads = onnx_attr_int(c, "kv_num_heads", 0) };
	double cap = onnx_attr_float(c, "softcap", 0);
	UOp *s;

	refuse(c);
	read_query(&a);
	a.past = past_lengths(&a);
	a.total = present_length(&a);
	if (onnx_attr_int(c, "do_rotary", 0))
		rotate(&a);
	a.q = t_transpose(a.q, 1, 2);
	a.k = cached(&a, IN_PAST, a.k);
	a.v = cached(&a, IN_PAST + 1, a.v);
	s = attention_scores(c, a.q, a.k);
	if (cap > 0)
		s = t_mulc(t_tanh(t_mulc(s, 1 / cap)), cap);
	s = seen_scores(&a, biased(&a, s));
	if (onnx_has(c, IN_SINK) || onnx_attr_int(c, "smooth_softmax", 0))
		s = with_sink(s, onnx_has(c, IN_SINK) ? onnx_in_rank(c, IN_SINK, 1) : NULL);
	else
		s = t_softmax(s, 3);
	onnx_set(c, 0, attention_values(c, s, a.v));
	onnx_set(c, 1, a.k);
	onnx_set(c, 2, a.v);
}

/* ---- RotaryEmbedding */

/* position_ids[1] is the place of the first element of each row, [b,s] that of every one */
static UOp *given_places(OnnxCall *c, UOp *x)
{
	UOp *at = t_cast(onnx_in(c, 1), DT_I64);

	if (t_rank(at) == 1)
		at = t_unsqueeze(t_add(at, t_arange(DT_I64, t_dim(x, 1))), 0);
	if (t_rank(at) != 2)
		onnx_fail(c, MALFORMED, "position_ids%s", shape_text(at->shape));
	return at;
}

/* num_heads may be missing: then the tables say how long a head is. */
void onnx_microsoft_RotaryEmbedding(OnnxCall *c)
{
	UOp *in = onnx_in(c, 0), *cos = onnx_in_rank(c, 2, 2), *x, *at, *y;
	int64_t dim = 2 * shape_dim(cos->shape, 1), heads = onnx_attr_int(c, "num_heads", 0);

	if (onnx_attr_int(c, "is_packed_batching", 0) || onnx_attr_float(c, "scale", 1) != 1)
		onnx_fail(c, UNSUPPORTED, "is_packed_batching and scale");
	if (t_rank(in) == 3 && heads < 1)
		heads = dim ? shape_dim(in->shape, 2) / dim : 0;
	x = t_transpose(onnx_with_heads(c, in, heads), 1, 2);
	at = given_places(c, x);
	y = onnx_rotated(c, x, angles(cos, at), angles(onnx_in_rank(c, 3, 2), at), dim,
		onnx_attr_int(c, "interleaved", 0) != 0);
	onnx_set(c, 0, t_rank(in) == 3 ? t_merge_axes(y, 2, 2) : t_transpose(y, 1, 2));
}
