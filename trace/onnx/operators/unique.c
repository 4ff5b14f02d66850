/* Operators whose result shape depends on values. If these are known while tracing, so is the
 * shape; otherwise the library makes a data-dependent size (library/data.c).
 *
 *     Compress with the condition [0,1,1]   →   GATHER at [1, 2]
 *     NonZero, Unique of known data         →   data */
#include "onnx/onnx.h"
#include <stdlib.h>

static size_t count_of(const Array *a) { return array_count(a); }
static const char *item(const Array *a, size_t i)
{
	return (const char *)a->data + i * dtype_size(a->dtype);
}

/* only false and 0 are zero, -0 included */
static bool is_zero(const Array *a, size_t i)
{
	double zero = 0;
	uint8_t eq;
	const void *in[2] = { item(a, i), &zero };

	interp_op(OP_CMPEQ, DT_BOOL, a->dtype, 1, &eq, in, (int[]){ 0, 0 });
	return eq;
}

void onnx_Compress(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *at;
	Array cond;
	int axis = 0;

	if (onnx_attr_has(c, "axis"))
		axis = onnx_attr_axis(c, "axis", 0, t_rank(x));
	else
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) });
	if (!onnx_try_known(c, 1, &cond)) {
		if (t_rank(onnx_in(c, 1)) != 1 ||
			ix_prove_lt(t_dim(x, axis), t_dim(onnx_in(c, 1), 0)))
			onnx_fail(c, MALFORMED, "the condition is %s, for axis %d of %s",
				shape_text(onnx_in(c, 1)->shape), axis, shape_text(x->shape));
		onnx_set(c, 0, t_compress(x, onnx_in(c, 1), axis));
		return;
	}
	int64_t *place = arena_alloc((count_of(&cond) + 1) * sizeof *place), n = 0;
	for (size_t i = 0; i < count_of(&cond); i++)
		if (!is_zero(&cond, i))
			place[n++] = i;
	if (n && ix_prove_le(t_dim(x, axis), ix_const(place[n - 1])))
		onnx_fail(c, MALFORMED, "the condition is longer than axis %d of %s", axis,
			shape_text(x->shape));
	at = table_ints(n, place);
	onnx_set(c, 0, t_move_axis(t_gather(t_move_axis(x, axis, 0), 1, &at), 0, axis));
}

/* One column for each nonzero element, one row for each axis; a scalar counts as [1]. */
void onnx_NonZero(OnnxCall *c)
{
	Array a, out = { .dtype = DT_I64, .rank = 2 };
	size_t n = 0, total, k = 0;
	int rank;
	int64_t *v;

	if (!onnx_try_known(c, 0, &a)) {
		onnx_set(c, 0, t_nonzero_places(onnx_in(c, 0)));
		return;
	}
	total = count_of(&a);
	rank = a.rank ? a.rank : 1;
	for (size_t i = 0; i < total; i++)
		n += !is_zero(&a, i);
	v = out.data = arena_alloc((rank * n + 1) * sizeof *v);
	out.dim[0] = rank;
	out.dim[1] = n;
	out.bytes = rank * n * sizeof *v;
	for (size_t i = 0; i < total; i++) {
		size_t left = i;
		if (is_zero(&a, i))
			continue;
		for (int d = a.rank - 1; d >= 0; d--) {
			v[d * n + k] = left % a.dim[d];
			left /= a.dim[d];
		}
		k++;
	}
	onnx_set(c, 0, array_tensor(&out));
}

/* ---- unique ---------------------------------------------------------------------------------- */

/* Rows to compare: n of them, of len elements each, row-major; rank replaces each element by its
 * rank among all. */
typedef struct { size_t n, len; const int64_t *rank; } UniqueRows;

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const UniqueRows *sorting = ctx;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	for (size_t e = 0; e < sorting->len; e++) {
		int64_t x = sorting->rank[i * sorting->len + e],
			y = sorting->rank[k * sorting->len + e];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return i < k ? -1 : i > k;
}

/* a's elements with the axis first: [size, all else] */
static char *axis_first(const Array *a, int axis)
{
	size_t total = count_of(a), esize = dtype_size(a->dtype), inner = 1, size = a->dim[axis];
	char *out = arena_alloc(total * esize + 1);

	for (int d = axis + 1; d < a->rank; d++)
		inner *= a->dim[d];
	for (size_t i = 0; i < total; i++) {
		size_t at = i / inner % size, rest = i / (inner * size) * inner + i % inner;
		memcpy(out + (at * (total / size) + rest) * esize, item(a, i), esize);
	}
	return out;
}

/* Equal elements get the same rank, in rising order; a NaN equals nothing. */
static int64_t *ranks(DType dt, const void *v, size_t n)
{
	int64_t *order = arena_alloc((n + 1) * sizeof *order),
		*rank = arena_alloc((n + 1) * sizeof *rank), r = 0;
	size_t esize = dtype_size(dt);

	interp_sort(dt, n, v, 1, order, 1, false);
	for (size_t i = 0; i < n; i++) {
		const void *in[2];
		uint8_t eq = 1;
		if (i) {
			in[0] = (const char *)v + order[i - 1] * esize;
			in[1] = (const char *)v + order[i] * esize;
			interp_op(OP_CMPEQ, DT_BOOL, dt, 1, &eq, in, (int[]){ 0, 0 });
		}
		r += !eq;
		rank[order[i]] = r;
	}
	return rank;
}

static bool same_rows(const UniqueRows *r, size_t i, size_t k)
{
	return !memcmp(r->rank + i * r->len, r->rank + k * r->len, r->len * sizeof *r->rank);
}

/* Finds the distinct rows and returns their number. first[u] is the first row of distinct row u,
 * which[i] the distinct row of row i. */
static size_t distinct(const UniqueRows *r, bool sorted, int64_t *first, int64_t *which)
{
	size_t *order = arena_alloc((r->n + 1) * sizeof *order), n = 0;
	int64_t *place = arena_alloc((r->n + 1) * sizeof *place);

	for (size_t i = 0; i < r->n; i++)
		order[i] = i;
	qsort_r(order, r->n, sizeof *order, compare_rows, (void *)r);
	for (size_t i = 0; i < r->n; i++) {
		if (i == 0 || !same_rows(r, order[i - 1], order[i]))
			first[n++] = order[i];
		which[order[i]] = n - 1;
	}
	if (sorted)
		return n;
	/* in order of first occurrence: each row that is the first of its kind gets the next
	 * number */
	n = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (first[which[i]] == (int64_t)i)
			place[which[i]] = n++;
		which[i] = place[which[i]];
	}
	for (size_t i = r->n; i-- > 0;)
		first[which[i]] = i;
	return n;
}

static void set_counts(OnnxCall *c, size_t n, const UniqueRows *r, const int64_t *first,
	const int64_t *which)
{
	int64_t *count = arena_alloc((n + 1) * sizeof *count);

	for (size_t i = 0; i < r->n; i++)
		count[which[i]]++;
	if (onnx_wants(c, 1))
		onnx_set(c, 1, table_ints(n, first));
	if (onnx_wants(c, 2))
		onnx_set(c, 2, table_ints(r->n, which));
	if (onnx_wants(c, 3))
		onnx_set(c, 3, table_ints(n, count));
}

void onnx_Unique(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *at, *out[4];
	Array a;
	bool flat = !onnx_attr_has(c, "axis"), sorted = onnx_attr_int(c, "sorted", 1) != 0;
	int axis = flat ? 0 : onnx_attr_axis(c, "axis", 0, t_rank(x));

	if (flat)
		x = t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) });
	if (!onnx_try_known(c, 0, &a)) {
		t_unique(x, axis, sorted, out);
		for (int k = 0; k < 4; k++)
			if (onnx_wants(c, k))
				onnx_set(c, k, out[k]);
		return;
	}
	size_t total = count_of(&a), n;
	UniqueRows r = { flat ? total : a.dim[axis], 1, NULL };
	int64_t *first = arena_alloc((r.n + 1) * sizeof *first),
		*which = arena_alloc((r.n + 1) * sizeof *which);

	r.len = r.n ? total / r.n : 0;
	r.rank = ranks(a.dtype, flat || !total ? a.data : axis_first(&a, axis), total);
	n = distinct(&r, sorted, first, which);
	at = table_ints(n, first);
	if (onnx_wants(c, 0))
		onnx_set(c, 0, t_move_axis(t_gather(t_move_axis(x, axis, 0), 1, &at), 0, axis));
	set_counts(c, n, &r, first, which);
}
