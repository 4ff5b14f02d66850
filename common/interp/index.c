/* SCAN and SORT along an axis, GATHER and SCATTER by index, and PAD. Their sources are row-major.
 *
 *     GATHER x [5,3], i [2]      out[p, :] = x[i[p], :], or 0 where i[p] is outside 0 … 4
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/value.h"

/* How many elements there are before, along and after an axis. */
typedef struct { int64_t outer, n, inner; } Lines;

static Lines lines_along(const ArrayView *x, int axis)
{
	Lines l = {1, x->s.dim[axis], 1};

	if (strided_count(&x->s) == 0)
		return (Lines){0, 0, 0};
	for (int i = 0; i < x->s.rank; i++)
		*(i < axis ? &l.outer : i > axis ? &l.inner : &(int64_t){1}) *= x->s.dim[i];
	return l;
}

ArrayView *axis_scan(UOp *u, const ArrayView *x)
{
	const Op op = (Op)op_find(u->arg->a[0]->s);
	const Lines l = lines_along(x, (int)u->arg->a[1]->i);
	const int size = element_size(u->dtype);
	ArrayView *out = value_new(u->dtype, x->s.rank, x->s.dim);
	uint64_t none = 0, acc;

	interp_identity(op, u->dtype, &none);
	for (int64_t o = 0; o < l.outer; o++)
		for (int64_t i = 0; i < l.inner; i++) {
			int64_t at = (o * l.n * l.inner + i) * size;
			acc = none;
			interp_scan(op, u->dtype, l.n, &acc, x->s.at + at, l.inner,
				value_data(out) + at, l.inner);
		}
	return out;
}

ArrayView *axis_sort(UOp *u, const ArrayView *x)
{
	const Lines l = lines_along(x, (int)u->arg->a[0]->i);
	const int size = element_size(x->s.dtype);
	ArrayView *out = value_new(DT_I64, x->s.rank, x->s.dim);

	for (int64_t o = 0; o < l.outer; o++)
		for (int64_t i = 0; i < l.inner; i++) {
			int64_t at = o * l.n * l.inner + i;
			interp_sort(x->s.dtype, l.n, x->s.at + at * size, l.inner,
				(int64_t *)value_data(out) + at, l.inner, u->arg->a[1]->b);
		}
	return out;
}

/* For each element of the indices the row of x that it selects, or -1 if it is out of range. A u64
 * index beyond i64 is negative as i64, and so out of range too. */
static int64_t *rows_of(const ArrayView *x, size_t k, ArrayView *const *index, int64_t n)
{
	int64_t *row = xcalloc(n + 1, sizeof *row), *at = xmalloc((n + 1) * sizeof *at);

	for (size_t a = 0; a < k; a++) {
		int64_t size = x->s.dim[a];
		element_cast(DT_I64, at, index[a]->s.dtype, index[a]->s.at, n);
		for (int64_t p = 0; p < n; p++)
			row[p] = row[p] < 0 || at[p] < 0 || at[p] >= size ? -1 :
									    row[p] * size + at[p];
	}
	free(at);
	return row;
}

/* The number of elements of x after its first k axes. */
static int64_t row_size(const ArrayView *x, size_t k)
{
	Strided rest = {.rank = x->s.rank - (int)k};

	memcpy(rest.dim, x->s.dim + k, rest.rank * sizeof *rest.dim);
	return strided_count(&rest);
}

ArrayView *index_gather(UOp *u, ArrayView *const *src, int rank, const int64_t *dim)
{
	const size_t k = u->nsrc - 1;
	const int64_t n = strided_count(&src[1]->s),
		      rest = row_size(src[0], k) * element_size(u->dtype);
	int64_t *row = rows_of(src[0], k, src + 1, n);
	ArrayView *out = value_new(u->dtype, rank, dim);
	char *o = value_data(out);

	for (int64_t p = 0; p < n && rest; p++, o += rest) {
		if (row[p] < 0)
			memset(o, 0, rest);
		else
			memcpy(o, src[0]->s.at + row[p] * rest, rest);
	}
	free(row);
	return out;
}

/* A copy of x in the dtype in which it is accumulated. */
static char *accumulators(const ArrayView *x, DType acc, int64_t n)
{
	char *p = xmalloc(n * element_size(acc) + 1);

	element_cast(acc, p, x->s.dtype, x->s.at, n);
	return p;
}

ArrayView *index_scatter(UOp *u, ArrayView *const *src)
{
	const size_t k = u->nsrc - 2;
	const ArrayView *x = src[0], *v = src[u->nsrc - 1];
	const bool set = val_is_str(u->arg, "SET");
	const Op op = set ? OP_ADD : (Op)op_find(u->arg->s);
	const DType acc = set ? u->dtype : dtype_acc(u->dtype);
	const int64_t n = strided_count(&src[1]->s), rest = row_size(x, k),
		      bytes = rest * element_size(acc);
	const int64_t count = strided_count(&x->s);
	int64_t *row = rows_of(x, k, src + 1, n);
	char *to = accumulators(x, acc, count), *from = accumulators(v, acc, strided_count(&v->s));
	ArrayView *out = value_new(u->dtype, x->s.rank, x->s.dim);

	for (int64_t p = 0; p < n && rest; p++) {
		if (row[p] < 0)
			continue;
		char *place = to + row[p] * bytes;
		if (set)
			memcpy(place, from + p * bytes, bytes);
		else
			interp_op(op, acc, acc, rest, place,
				(const void *[]){place, from + p * bytes}, (int[]){1, 1});
	}
	element_cast(u->dtype, value_data(out), acc, to, count);
	free(row);
	free(to);
	free(from);
	return out;
}

ArrayView *pad_zeros(const ArrayView *x, const int64_t *dim, const int64_t (*pair)[2])
{
	const int rank = x->s.rank, size = element_size(x->s.dtype);
	ArrayView *out = value_new(x->s.dtype, rank, dim);
	int64_t at[MAX_RANK] = {0}, n = strided_count(&x->s), run = rank ? x->s.dim[rank - 1] : 1,
		off = 0;

	memset(value_data(out), 0, strided_count(&out->s) * size);
	for (int i = 0; n && i < rank; i++)
		off += pair[i][0] * out->s.stride[i];
	for (int64_t pos = 0; pos < n; pos += run) {
		memcpy(value_data(out) + off * size, x->s.at + pos * size, run * size);
		for (int i = rank - 2; i >= 0; i--) {
			off += out->s.stride[i];
			if (++at[i] < x->s.dim[i])
				break;
			off -= at[i] * out->s.stride[i];
			at[i] = 0;
		}
	}
	return out;
}
