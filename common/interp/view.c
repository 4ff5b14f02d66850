/* Strided views: movement ops without moving elements, and the copy for those that need one.
 *
 *     a [3,4]           dim 3 4   stride 4 1
 *     PERMUTE [1,0]     dim 4 3   stride 1 4
 *     FLIP [0]          dim 4 3   stride -1 4, starting at the last row
 *     EXPAND            stride 0
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/value.h"

int64_t strided_count(const Strided *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] == 0)
			return 0;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];         /* checked when the node's shape was evaluated */
	return n;
}

bool strided_contiguous(const Strided *s)
{
	int64_t want = 1;

	if (strided_count(s) == 0)
		return true;
	for (int i = s->rank - 1; i >= 0; i--) {
		if (s->dim[i] != 1 && s->stride[i] != want)
			return false;
		want *= s->dim[i];
	}
	return true;
}

Strided strided_collapse(const Strided *s)
{
	Strided c = {.dtype = s->dtype, .at = s->at};

	for (int i = 0; i < s->rank; i++) {
		int last = c.rank - 1;
		int64_t span;
		if (s->dim[i] == 1)
			continue;
		if (c.rank && mul_ok(s->stride[i], s->dim[i], &span) && c.stride[last] == span) {
			c.dim[last] *= s->dim[i];
			c.stride[last] = s->stride[i];
		} else {
			c.dim[c.rank] = s->dim[i];
			c.stride[c.rank++] = s->stride[i];
		}
	}
	return c;
}

static char *copy_run(char *out, const char *at, int64_t n, int64_t stride, int size)
{
	if (stride == 1) {
		memcpy(out, at, n * size);
		return out + n * size;
	}
#define RUN(T) \
	for (int64_t i = 0; i < n; i++) \
		((T *)out)[i] = ((const T *)at)[i * stride]; \
	return out + n * sizeof(T);
	switch (size) {
	case 1: RUN(uint8_t)
	case 2: RUN(uint16_t)
	case 4: RUN(uint32_t)
	default: RUN(uint64_t)
	}
#undef RUN
}

void strided_copy(const Strided *s, int64_t pos, int64_t n, void *out)
{
	const int size = element_size(s->dtype), last = s->rank - 1;
	int64_t at[MAX_RANK], off = 0;
	char *o = out;

	if (n == 0)
		return;
	if (s->rank == 0) {
		memcpy(o, s->at, size);
		return;
	}
	for (int i = last; i >= 0; i--) {
		at[i] = pos % s->dim[i];
		pos /= s->dim[i];
		off += at[i] * s->stride[i];
	}
	while (n > 0) {
		int64_t run = s->dim[last] - at[last] < n ? s->dim[last] - at[last] : n;
		o = copy_run(o, s->at + off * size, run, s->stride[last], size);
		n -= run;
		off += run * s->stride[last];
		at[last] += run;
		for (int i = last; i > 0 && at[i] == s->dim[i]; i--) {
			off += s->stride[i - 1] - s->dim[i] * s->stride[i];
			at[i] = 0;
			at[i - 1]++;
		}
	}
}

/* Strides of n axes over elements that are `step` apart: products from the last axis. Beside an
 * axis of size 0 they may overflow, but then there are no elements. */
static void split_strides(int64_t *stride, const int64_t *dim, int n, int64_t step)
{
	for (int i = n - 1; i >= 0; i--) {
		stride[i] = step;
		step = (int64_t)((uint64_t)step * (uint64_t)dim[i]);
	}
}

/* Finds groups of old and new axes with equal products, from the front; the elements of each old
 * group must be evenly spaced. */
bool strided_reshape(Strided *s, int rank, const int64_t *dim)
{
	Strided c = strided_collapse(s), out = {.dtype = s->dtype, .rank = rank, .at = s->at};
	int i = 0, j = 0;

	if (rank)
		memcpy(out.dim, dim, rank * sizeof *dim);
	if (strided_contiguous(s)) {
		split_strides(out.stride, dim, rank, 1);
		*s = out;
		return true;
	}
	while (i < c.rank) {
		int start = j;
		int64_t n = 1;
		while (j < rank && n < c.dim[i])
			n *= dim[j++];
		if (n != c.dim[i])
			return false;
		split_strides(out.stride + start, dim + start, j - start, c.stride[i]);
		i++;
	}
	*s = out;               /* the remaining sizes are 1 */
	return true;
}

const char *strided_expand(Strided *s, const int64_t *dim)
{
	for (int i = 0; i < s->rank; i++) {
		if (s->dim[i] == dim[i])
			continue;
		if (s->dim[i] != 1)
			return "an axis that is not of size 1 is expanded";
		s->dim[i] = dim[i];
		s->stride[i] = 0;
	}
	return NULL;
}

void strided_permute(Strided *s, const int *axis)
{
	Strided old = *s;

	for (int i = 0; i < s->rank; i++) {
		s->dim[i] = old.dim[axis[i]];
		s->stride[i] = old.stride[axis[i]];
	}
}

const char *strided_shrink(Strided *s, int64_t (*pair)[2])
{
	uint64_t off = 0;

	for (int i = 0; i < s->rank; i++) {
		if (pair[i][0] < 0 || pair[i][0] > pair[i][1] || pair[i][1] > s->dim[i])
			return "a range outside the axis";
		off += (uint64_t)pair[i][0] * (uint64_t)s->stride[i];
		s->dim[i] = pair[i][1] - pair[i][0];
	}
	if (strided_count(s))           /* an empty view may start past the end */
		s->at += (int64_t)off * element_size(s->dtype);
	return NULL;
}

void strided_flip(Strided *s, int n, const int *axis)
{
	const int size = element_size(s->dtype);

	if (strided_count(s) == 0)
		return;
	for (int i = 0; i < n; i++) {
		s->at += (s->dim[axis[i]] - 1) * s->stride[axis[i]] * size;
		s->stride[axis[i]] = -s->stride[axis[i]];
	}
}

ArrayView *value_new(DType dt, int rank, const int64_t *dim)
{
	Array a = array_raw(dt, rank, dim);
	ArrayView *v = xcalloc(1, sizeof *v);

	v->store = xmalloc(sizeof *v->store);
	*v->store = (Storage){a.data, 1};
	v->s.dtype = dt;
	v->s.rank = rank;
	v->s.at = a.data;
	if (rank)
		memcpy(v->s.dim, dim, rank * sizeof *dim);
	split_strides(v->s.stride, v->s.dim, rank, 1);
	return v;
}

ArrayView *value_view(ArrayView *v, const Strided *s)
{
	ArrayView *w = xmalloc(sizeof *w);

	w->s = *s;
	w->store = v->store;
	if (w->store)
		w->store->refs++;
	return w;
}

ArrayView *value_packed(ArrayView *v)
{
	Strided c;
	ArrayView *w;

	if (strided_contiguous(&v->s))
		return value_view(v, &v->s);
	w = value_new(v->s.dtype, v->s.rank, v->s.dim);
	c = strided_collapse(&v->s);
	strided_copy(&c, 0, strided_count(&v->s), value_data(w));
	return w;
}

void value_drop(ArrayView *v)
{
	if (v && v->store && --v->store->refs == 0) {
		free(v->store->data);
		free(v->store);
	}
	free(v);
}
