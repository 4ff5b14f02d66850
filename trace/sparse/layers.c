/* Joins layers: views of set numbers, with one set per element.
 *
 *     MUL (EXPAND a [3,1] → [3,4]) (EXPAND b [1,4] → [3,4])     two layers, of 3 and of 4 numbers
 */
#include "sparse/layers.h"
#include <stdlib.h>

int64_t layer_count(const Finder *f, int rank, const int64_t *dim)
{
	int64_t n = 1;

	for (int i = 0; i < rank; i++)
		if (!dim[i])
			return 0;
	for (int i = 0; i < rank; i++)
		if (!mul_ok(n, dim[i], &n) || n > PLACES)
			die(UNSUPPORTED, "%s: its pattern takes more than %d places on the way",
				f->who, PLACES);
	return n;
}

ArrayView *layer_new(const Finder *f, int rank, const int64_t *dim)
{
	layer_count(f, rank, dim);
	return value_new(DT_U32, rank, dim);
}

bool layer_moves(const ArrayView *v, int axis) { return v->s.dim[axis] > 1 && v->s.stride[axis]; }

ArrayView *layer_core(const ArrayView *v, const bool *keep)
{
	Strided s = v->s;

	for (int i = 0; i < s.rank; i++)
		if (!layer_moves(v, i) && !(keep && keep[i]))
			s.dim[i] = 1;
	return value_view((ArrayView *)v, &s);
}

ArrayView *layer_copy(const Finder *f, const ArrayView *v)
{
	ArrayView *w = layer_new(f, v->s.rank, v->s.dim);
	Strided c = strided_collapse(&v->s);

	strided_copy(&c, 0, strided_count(&v->s), value_data(w));
	return w;
}

ArrayView *layer_spread(ArrayView *v, const int64_t *dim)
{
	CHECK(!strided_expand(&v->s, dim));
	return v;
}

void layers_drop(Layers *l)
{
	for (int i = 0; i < l->n; i++)
		value_drop(l->at[i]);
	l->n = 0;
}

/* ---- joining */

static bool same_view(const ArrayView *a, const ArrayView *b)
{
	if (a->s.at != b->s.at)
		return false;
	for (int i = 0; i < a->s.rank; i++)
		if (a->s.dim[i] > 1 && a->s.stride[i] != b->s.stride[i])
			return false;
	return true;
}

/* The number of stored elements of v; and of v and w joined. */
static double own_size(const ArrayView *v, const ArrayView *w)
{
	double n = 1;

	for (int i = 0; i < v->s.rank; i++)
		if (layer_moves(v, i) || layer_moves(w, i))
			n *= (double)v->s.dim[i];
	return n;
}

static ArrayView *join(Finder *f, const ArrayView *a, const ArrayView *b)
{
	bool keep[MAX_RANK];

	for (int i = 0; i < a->s.rank; i++)
		keep[i] = layer_moves(a, i) || layer_moves(b, i);
	ArrayView *ca = layer_core(a, keep), *cb = layer_core(b, keep), *to = layer_copy(f, ca),
		  *from = layer_copy(f, cb);
	uint32_t *x = (uint32_t *)value_data(to), *y = (uint32_t *)value_data(from);
	int64_t n = strided_count(&to->s);
	for (int64_t i = 0; i < n; i++)
		x[i] = set_union(&f->sets, x[i], y[i]);
	value_drop(ca);
	value_drop(cb);
	value_drop(from);
	return layer_spread(to, a->s.dim);
}

/* Layers are joined if that takes no more memory than the larger of the two, or if no further layer
 * fits. */
void layers_add(Finder *f, Layers *l, ArrayView *v)
{
	int with = -1;
	double most = -1;

	for (int i = 0; i < l->n; i++) {
		const ArrayView *w = l->at[i];
		if (same_view(v, w)) {
			value_drop(v);
			return;
		}
		double both = own_size(v, w), a = own_size(v, v), b = own_size(w, w);
		if (both <= (a > b ? a : b) || (l->n == LAYERS && (most < 0 || both < most))) {
			with = i;
			most = both;
			if (both <= (a > b ? a : b))
				break;
		}
	}
	if (with < 0) {
		l->at[l->n++] = v;
		return;
	}
	ArrayView *u = join(f, l->at[with], v);
	value_drop(v);
	value_drop(l->at[with]);
	l->at[with] = u;
}

ArrayView *layers_joined(Finder *f, const Layers *l)
{
	if (!l->n)
		return NULL;
	ArrayView *v = value_view(l->at[0], &l->at[0]->s);
	for (int i = 1; i < l->n; i++) {
		ArrayView *w = join(f, v, l->at[i]);
		value_drop(v);
		v = w;
	}
	return v;
}

ArrayView *layer_masked(Finder *f, const ArrayView *v, const uint8_t *mask)
{
	ArrayView *w = layer_copy(f, v);
	uint32_t *x = (uint32_t *)value_data(w);
	int64_t n = strided_count(&w->s);

	for (int64_t i = 0; i < n; i++)
		if (!mask[i])
			x[i] = 0;
	return w;
}
