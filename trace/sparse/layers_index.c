/* Layers by index. An index computed from constants alone is followed element by element; one that
 * depends on an input may be any place of its axis, so all elements along that axis count.
 *
 *     GATHER x [5], i = [0, 3]     {0} {3}
 *     GATHER x [5], i an input     {0 1 2 3 4} for all of them: one set, expanded
 */
#include "sparse/layers.h"
#include <stdlib.h>

/* The k indexed axes of a tensor of shape dim: known[a] is NULL for an open axis, whose index may
 * be any. n: the number of index elements. */
typedef struct {
	int k;
	int64_t n, size[MAX_RANK];
	int64_t *known[MAX_RANK];
	bool open[MAX_RANK], all_open;
} Indices;

static Indices read_indices(const Finder *f, const UOp *u, int k, const int64_t *dim)
{
	Indices x = {.k = k, .n = 1, .all_open = true};

	CHECK(shape_static(u->src[1]->shape, &x.n));
	for (int a = 0; a < k; a++) {
		const Array *v = f->known[u->src[a + 1]->id];
		x.size[a] = dim[a];
		x.open[a] = !v;
		if (!v)
			continue;
		x.all_open = false;
		x.known[a] = xmalloc((x.n + 1) * sizeof *x.known[a]);
		interp_cast(DT_I64, x.known[a], v->dtype, v->data, x.n);
	}
	return x;
}

static void indices_free(Indices *x)
{
	for (int a = 0; a < x->k; a++)
		free(x->known[a]);
}

/* The row that index element p selects, where open axes have size 1; -1 outside. */
static int64_t row_of(const Indices *x, int64_t p)
{
	int64_t row = 0;

	for (int a = 0; a < x->k; a++) {
		if (x->open[a])
			continue;
		int64_t at = x->known[a][p];
		if (at < 0 || at >= x->size[a])
			return -1;
		row = row * x->size[a] + at;
	}
	return row;
}

/* v with open axes reduced to size 1; behind the k indexed axes only axes that vary, or that keep
 * names, keep their size */
static ArrayView *closed(Finder *f, const Indices *x, const ArrayView *v, const bool *keep)
{
	bool along[MAX_RANK];
	ArrayView *folded = layer_reduced(f, v, x->open);

	for (int i = 0; i < v->s.rank; i++)
		along[i] = i < x->k || (keep && keep[i]);
	ArrayView *core = layer_core(folded, along), *packed = value_packed(core);
	value_drop(folded);
	value_drop(core);
	return packed;
}

static int64_t behind(const ArrayView *v, int k)
{
	int64_t n = 1;

	for (int i = k; i < v->s.rank; i++)
		n *= v->s.dim[i];
	return n;
}

void gather_layers(Finder *f, UOp *u, const Layers *l, const int64_t *dim, Layers *out)
{
	int k = (int)u->nsrc - 1, ri = u->src[1]->shape->rank;

	for (int j = 0; j < l->n; j++) {
		Indices x = read_indices(f, u, k, l->at[j]->s.dim);
		ArrayView *v = closed(f, &x, l->at[j], NULL);
		int64_t rest = behind(v, k), to[MAX_RANK];
		for (int i = 0; i < u->shape->rank; i++)
			to[i] = i >= ri ? v->s.dim[i - ri + k] : x.all_open ? 1 : dim[i];
		ArrayView *w = layer_new(f, u->shape->rank, to);
		uint32_t *at = (uint32_t *)value_data(w), *from = (uint32_t *)value_data(v);
		for (int64_t p = 0; p < (x.all_open ? 1 : x.n); p++) {
			int64_t row = row_of(&x, p);
			for (int64_t i = 0; i < rest; i++)
				at[p * rest + i] = row < 0 ? 0 : from[row * rest + i];
		}
		layers_add(f, out, layer_spread(w, dim));
		value_drop(v);
		indices_free(&x);
	}
}

/* ---- SCATTER */

/* the axes behind the indexed ones along which one of the layers varies */
static void moving_axes(
	const Layers *x, const Layers *v, int k, int ri, int rank, bool *keep, bool *vkeep)
{
	for (int i = k; i < rank; i++) {
		keep[i] = false;
		for (int j = 0; j < x->n; j++)
			keep[i] |= layer_moves(x->at[j], i);
		for (int j = 0; j < v->n; j++)
			keep[i] |= layer_moves(v->at[j], i - k + ri);
		vkeep[i - k + ri] = keep[i];
	}
}

static void put(Finder *f, uint32_t *to, const uint32_t *from, int64_t rest, bool set)
{
	for (int64_t i = 0; i < rest; i++)
		to[i] = set ? from ? from[i] : 0 : set_union(&f->sets, to[i], from ? from[i] : 0);
}

/* Unites all values written to one place at once, not one after the other. */
static void put_all(
	Finder *f, const Indices *x, uint32_t *to, const uint32_t *from, int64_t rest, int64_t rows)
{
	int64_t *first = xcalloc(rows + 2, sizeof *first),
		*order = xmalloc((x->n + 1) * sizeof *order), most = 0;

	for (int64_t p = 0; p < x->n; p++)
		first[row_of(x, p) + 2] += row_of(x, p) >= 0;
	for (int64_t r = 2; r < rows + 2; r++) {
		most = first[r] > most ? first[r] : most;
		first[r] += first[r - 1];
	}
	for (int64_t p = 0; p < x->n; p++)
		if (row_of(x, p) >= 0)
			order[first[row_of(x, p) + 1]++] = p;
	uint32_t *set = xmalloc((most + 1) * sizeof *set);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t i = 0; i < rest && first[r + 1] > first[r]; i++) {
			int64_t n = 0;
			set[n++] = to[r * rest + i];
			for (int64_t p = first[r]; p < first[r + 1]; p++)
				set[n++] = from[order[p] * rest + i];
			to[r * rest + i] = set_union_many(&f->sets, n, set);
		}
	free(first);
	free(order);
	free(set);
}

/* Writes to the places that known indices select; open axes have size 1 and are expanded
 * afterwards. */
static ArrayView *scattered(Finder *f, const Indices *x, const UOp *u, ArrayView *base,
	const ArrayView *v, int64_t rest)
{
	bool set = val_is_str(u->arg, "SET") && x->k && !memchr(x->open, 1, x->k);
	uint32_t *to = (uint32_t *)value_data(base), *from = v ?
		(uint32_t *)value_data((ArrayView *)v) : NULL;
	int64_t rows = 1;

	for (int a = 0; a < x->k; a++)
		rows *= x->open[a] ? 1 : x->size[a];
	if (!set && from) {
		put_all(f, x, to, from, rest, rows);
		return base;
	}
	for (int64_t p = 0; p < x->n; p++)
		if (row_of(x, p) >= 0)
			put(f, to + row_of(x, p) * rest, from ? from + p * rest : NULL, rest, set);
	return base;
}

/* The values written, all layers joined: the indices' axes in full, and of the axes behind only
 * those that vary. */
static ArrayView *values_of(Finder *f, const Layers *v, const bool *keep)
{
	if (!v->n)
		return NULL;
	ArrayView *all = layers_joined(f, v), *core = layer_core(all, keep),
		*packed = value_packed(core);
	value_drop(all);
	value_drop(core);
	return packed;
}

void scatter_layers(
	Finder *f, UOp *u, const Layers *xl, const Layers *vl, const int64_t *dim, Layers *out)
{
	int k = (int)u->nsrc - 2, ri = u->src[1]->shape->rank, rank = u->shape->rank;
	bool keep[MAX_RANK] = {0}, vkeep[MAX_RANK] = {0};
	int64_t to[MAX_RANK], rest = 1;
	Indices x = read_indices(f, u, k, dim);
	bool open = memchr(x.open, 1, k) != NULL;

	moving_axes(xl, vl, k, ri, rank, keep, vkeep);
	for (int i = 0; i < ri; i++)
		vkeep[i] = true;
	for (int i = 0; i < rank; i++) {
		to[i] = i < k ? (x.open[i] ? 1 : dim[i]) : keep[i] ? dim[i] : 1;
		keep[i] |= i < k;
		rest *= i >= k ? to[i] : 1;
	}
	ArrayView *v = values_of(f, vl, vkeep), *base = NULL;
	if (!open && xl->n) {
		ArrayView *all = layers_joined(f, xl), *core = layer_core(all, keep);
		base = layer_copy(f, core);
		value_drop(all);
		value_drop(core);
	} else {
		base = layer_new(f, rank, to);
		memset(value_data(base), 0, strided_count(&base->s) * sizeof(uint32_t));
	}
	layers_add(f, out, layer_spread(scattered(f, &x, u, base, v, rest), dim));
	for (int j = 0; open && j < xl->n; j++)
		layers_add(f, out, value_view(xl->at[j], &xl->at[j]->s));
	value_drop(v);
	indices_free(&x);
}
