/* Layers under reductions and views. A reduction over an axis along which a layer does not vary
 * gives the layer itself: a union of equal sets. So a matrix product, a REDUCE over [m,n,k], never
 * takes m·n·k elements. */
#include "sparse/layers.h"

/* v with the axes marked in last moved behind the others, in order; axes gets the permutation */
static ArrayView *with_last(const ArrayView *v, const bool *last, int *axes)
{
	ArrayView *w = value_view((ArrayView *)v, &v->s);
	int n = 0;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < v->s.rank; i++)
			if (last[i] == (k == 1))
				axes[n++] = i;
	strided_permute(&w->s, axes);
	return w;
}

ArrayView *layer_reduced(Finder *f, const ArrayView *v, const bool *axis)
{
	bool reduced[MAX_RANK];
	int axes[MAX_RANK];
	int64_t dim[MAX_RANK], inner = 1;
	ArrayView *core = layer_core(v, NULL);

	for (int i = 0; i < v->s.rank; i++) {
		reduced[i] = axis[i] && layer_moves(v, i);
		dim[i] = axis[i] ? 1 : v->s.dim[i];
		inner *= reduced[i] ? v->s.dim[i] : 1;
	}
	if (inner == 1)
		return layer_spread(core, dim);
	ArrayView *permuted = with_last(core, reduced, axes), *flat = value_packed(permuted);
	for (int i = 0; i < v->s.rank; i++)
		core->s.dim[i] = reduced[i] ? 1 : core->s.dim[i];
	ArrayView *out = layer_new(f, core->s.rank, core->s.dim);
	uint32_t *to = (uint32_t *)value_data(out), *from = (uint32_t *)value_data(flat);
	int64_t n = strided_count(&out->s);
	for (int64_t i = 0; i < n; i++)
		to[i] = set_union_many(&f->sets, inner, from + i * inner);
	value_drop(flat);
	value_drop(permuted);
	value_drop(core);
	return layer_spread(out, dim);
}

ArrayView *layer_scanned(Finder *f, const ArrayView *v, int axis)
{
	bool last[MAX_RANK] = {0};
	int axes[MAX_RANK], back[MAX_RANK];
	int64_t n = v->s.dim[axis];

	if (!layer_moves(v, axis))
		return value_view((ArrayView *)v, &v->s);
	last[axis] = true;
	ArrayView *core = layer_core(v, NULL), *permuted = with_last(core, last, axes),
		  *out = layer_copy(f, permuted);
	uint32_t *x = (uint32_t *)value_data(out);
	int64_t count = strided_count(&out->s);
	for (int64_t i = 0; i < count; i += n)
		for (int64_t k = 1; k < n; k++)
			x[i + k] = set_union(&f->sets, x[i + k - 1], x[i + k]);
	for (int i = 0; i < v->s.rank; i++)
		back[axes[i]] = i;
	strided_permute(&out->s, back);
	value_drop(permuted);
	value_drop(core);
	return layer_spread(out, v->s.dim);
}

/* ---- views */

static ArrayView *reshaped(Finder *f, const ArrayView *v, int rank, const int64_t *dim)
{
	Strided s = v->s;

	if (strided_reshape(&s, rank, dim))
		return value_view((ArrayView *)v, &s);
	ArrayView *w = layer_copy(f, v);
	CHECK(strided_reshape(&w->s, rank, dim));
	return w;
}

static void pairs_of(const UOp *u, int64_t (*pair)[2])
{
	UOp *size[MAX_RANK][2];

	arg_pairs(u->arg, size);
	for (int i = 0; i < u->shape->rank; i++)
		for (int k = 0; k < 2; k++)
			CHECK(ix_is_const(size[i][k], &pair[i][k]));
}

/* Padding has the empty set; an axis without padding is unchanged. */
static ArrayView *padded(Finder *f, const UOp *u, const ArrayView *v, const int64_t *dim)
{
	int64_t pair[MAX_RANK][2], to[MAX_RANK];
	bool keep[MAX_RANK];

	pairs_of(u, pair);
	for (int i = 0; i < v->s.rank; i++)
		keep[i] = pair[i][0] || pair[i][1];
	ArrayView *core = layer_core(v, keep), *packed;
	for (int i = 0; i < v->s.rank; i++)
		to[i] = keep[i] ? dim[i] : core->s.dim[i];
	layer_count(f, v->s.rank, to);
	packed = value_packed(core);
	ArrayView *out = pad_zeros(packed, to, (const int64_t (*)[2])pair);
	value_drop(packed);
	value_drop(core);
	return layer_spread(out, dim);
}

ArrayView *layer_moved(Finder *f, const UOp *u, const ArrayView *v, const int64_t *dim)
{
	int axes[MAX_RANK], n;
	int64_t pair[MAX_RANK][2];
	Strided s = v->s;

	switch (u->op) {
	case OP_RESHAPE: return reshaped(f, v, u->shape->rank, dim);
	case OP_PAD: return padded(f, u, v, dim);
	case OP_EXPAND: CHECK(!strided_expand(&s, dim)); break;
	case OP_PERMUTE:
		arg_axes(u->arg, axes);
		strided_permute(&s, axes);
		break;
	case OP_SHRINK:
		pairs_of(u, pair);
		CHECK(!strided_shrink(&s, pair));
		break;
	default:
		n = arg_axes(u->arg, axes);
		strided_flip(&s, n, axes);
	}
	return value_view((ArrayView *)v, &s);
}
