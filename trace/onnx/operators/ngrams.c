/* TfIdfVectorizer: counts each n-gram of a pool in each row of x.
 *
 *     x[n,c], a window at each place   →   CMPEQ with every n-gram, REDUCE ADD over the places,
 *                                          SCATTER ADD to the n-grams' coordinates */
#include "onnx/onnx.h"

typedef struct {
	const int64_t *pool, *start, *index;    /* n-grams by length, where each length starts,
		coordinates */
	size_t npool, nstart, nindex;
	int64_t skips, least, most, width;
} Pool;

static int64_t required(OnnxCall *c, const char *name, int64_t least)
{
	int64_t v = onnx_attr_int(c, name, -1);

	if (v < least || v > 1 << 20)
		onnx_fail(c, MALFORMED, "%s is %lld", name, (long long)v);
	return v;
}

static Pool pool_of(OnnxCall *c)
{
	Pool p = { 0 };

	if (!onnx_attr_has(c, "pool_int64s"))
		onnx_fail(c, UNSUPPORTED, "n-grams of strings");
	p.pool = onnx_attr_int_list(c, "pool_int64s", &p.npool);
	p.start = onnx_attr_int_list(c, "ngram_counts", &p.nstart);
	p.index = onnx_attr_int_list(c, "ngram_indexes", &p.nindex);
	p.skips = required(c, "max_skip_count", 0);
	p.least = required(c, "min_gram_length", 1);
	p.most = required(c, "max_gram_length", p.least);
	for (size_t i = 0; i < p.nindex; i++) {
		if (p.index[i] < 0 || p.index[i] >= 1 << 28)
			onnx_fail(c, MALFORMED, "the coordinate %lld", (long long)p.index[i]);
		p.width = p.index[i] >= p.width ? p.index[i] + 1 : p.width;
	}
	for (size_t i = 0; i < p.nstart; i++)
		if (p.start[i] < 0 || p.start[i] > (int64_t)p.npool || (i
			&& p.start[i] < p.start[i - 1]))
			onnx_fail(c, MALFORMED, "ngram_counts do not fit the pool");
	if (p.width == 0)
		onnx_fail(c, MALFORMED, "no n-grams");
	return p;
}

/* Counts each of n n-grams of length g in x with this step: [rows, n] */
static UOp *count_grams(UOp *x, const int64_t *grams, int64_t n, int64_t g, int64_t step)
{
	UOp *same = NULL, *size = t_dim(x, 1), *places = ix_sub(size, ix_const((g - 1) * step));
	int axis = 1;

	for (int64_t k = 0; k < g; k++) {
		int64_t *v = arena_alloc(n * sizeof *v);
		UOp *part, *eq;
		for (int64_t i = 0; i < n; i++)
			v[i] = grams[i * g + k];
		part = t_shrink_axis(x, 1, ix_const(k * step), ix_add(ix_const(k * step), places));
		eq = t_eq(t_unsqueeze(part, 2), table_ints(n, v));
		same = same ? t_and(same, eq) : eq;
	}
	return t_reduce(OP_ADD, t_cast(same, DT_F32), 1, &axis, false);
}

/* Length 1 is counted only once, since it skips nothing. */
static UOp *all_counts(OnnxCall *c, UOp *x, const Pool *p)
{
	UOp *y = t_full(shape_new(2, (UOp *[]){ ix_const(p->width), t_dim(x, 0) }), t_num(DT_F32,
		0));
	size_t gram = 0;

	for (int64_t g = 1; g <= (int64_t)p->nstart; g++) {
		int64_t from = p->start[g - 1], to = g < (int64_t)p->nstart ? p->start[g]
			: (int64_t)p->npool;
		int64_t n = (to - from) / g, steps = g == 1 ? 0 : p->skips;
		if ((to - from) % g || gram + n > p->nindex)
			onnx_fail(c, MALFORMED, "ngram_counts do not fit the pool");
		for (int64_t s = 0; s <= steps && n && g >= p->least && g <= p->most; s++) {
			UOp *at = table_ints(n, p->index + gram);
			if (ix_prove_lt(t_dim(x, 1), ix_const((g - 1) * (s + 1) + 1)))
				break;
			y = t_scatter(y, 1, &at, t_transpose(count_grams(x, p->pool + from, n, g,
				s + 1), 0, 1),
				"ADD");
		}
		gram += n;
	}
	return t_transpose(y, 0, 1);
}

/* the weight of each n-gram, at its coordinate */
static UOp *weights_of(OnnxCall *c, const Pool *p, size_t n, const double *weight)
{
	Array a = { .dtype = DT_F32, .rank = 1, .dim = { p->width } };
	float *v = a.data = arena_alloc(a.bytes = p->width * sizeof *v);

	if (n < p->nindex)
		onnx_fail(c, MALFORMED, "%zu weights for %zu n-grams", n, p->nindex);
	for (size_t i = 0; i < p->nindex; i++)
		v[p->index[i]] = weight[i];
	return array_tensor(&a);
}

void onnx_TfIdfVectorizer(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *y;
	Pool p = pool_of(c);
	const char *mode = onnx_attr_str(c, "mode", "");
	bool tf = !strcmp(mode, "TF"), row = t_rank(x) < 2;
	size_t n;
	const double *weight = onnx_attr_float_list(c, "weights", &n);

	if (!tf && strcmp(mode, "IDF") && strcmp(mode, "TFIDF"))
		onnx_fail(c, MALFORMED, "mode is TF, IDF or TFIDF, not \"%s\"", mode);
	if (t_rank(x) > 2 || !dtype_int(x->dtype))
		onnx_fail(c, MALFORMED, "%s is not [c] or [n,c] of integers", shape_text(x->shape));
	if (row)
		x = t_reshapev(x, 2, (UOp *[]){ ix_const(1), shape_count(x->shape) });
	y = all_counts(c, t_cast(x, DT_I64), &p);
	if (!strcmp(mode, "IDF"))
		y = t_min(y, t_num(DT_F32, 1));
	if (!tf && weight)
		y = t_mul(y, weights_of(c, &p, n, weight));
	onnx_set(c, 0, row ? t_squeeze(y, 0) : y);
}
