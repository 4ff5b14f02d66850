/* Pass: data-dependent sizes become their maximum, and each op ignores the elements beyond the
 * actual size.
 *
 *     REDUCE ADD of x [count_0]   →   REDUCE ADD of WHERE(ARANGE(64) < count, x [64], 0)
 *     x [count_0] in the SINK     →   x [64]; meta {trims: {x: ["count_0"]}, counts: ["count_0"]}
 *
 * The invariant of every node: its elements within the actual sizes are right, those beyond are
 * arbitrary. So elementwise ops stay as they are; reductions, sorts and indices leave out the
 * elements beyond; and movement by a data-dependent amount becomes a GATHER. */
#include "library/library.h"
#include <math.h>
#include <stdlib.h>

static ARENA Map made;                /* node → its replacement */

static UOp *of(UOp *u) { return map_get(&made, PKEY(u)); }

static bool shape_is_data(const Shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (size_is_data(s->dim[i]))
			return true;
	return false;
}

static const Shape *most_shape(const Shape *s)
{
	UOp *dim[MAX_RANK];
	for (int i = 0; i < s->rank; i++)
		dim[i] = size_most(s->dim[i]);
	return shape_new(s->rank, dim);
}

/* x with n elements along axis: cut, or extended with elements that do not count. */
static UOp *fit_axis(UOp *x, int axis, UOp *n)
{
	UOp *is = t_dim(x, axis), *zero = ix_const(0);
	if (is == n)
		return x;
	if (ix_prove_le(n, is))
		return t_shrink_axis(x, axis, zero, n);
	if (ix_prove_le(is, n))
		return t_pad_axis(x, axis, zero, ix_sub(n, is));
	die(UNSUPPORTED, "sizes that depend on data do not compare: %s and %s",
		shape_text(shape_new(1, &is)), shape_text(shape_new(1, &n)));
}

/* The replacement of u, with the maximum sizes of want (axes of size 1 stay 1 if broad). */
static UOp *fitted(UOp *u, const Shape *want, bool broad)
{
	UOp *x = of(u);
	for (int i = 0; i < t_rank(x); i++)
		if (!broad || t_dim(u, i) != ix_const(1))
			x = fit_axis(x, i, size_most(want->dim[i]));
	return x;
}

/* the index along an axis, i64, with size 1 along all other axes of that rank */
static UOp *index_along(int rank, int axis, UOp *n)
{
	UOp *d[MAX_RANK];
	for (int i = 0; i < rank; i++)
		d[i] = i == axis ? n : ix_const(1);
	return t_reshapev(t_arange(DT_I64, n), rank, d);
}

/* bool: whether the index along axis is below size */
static UOp *within(UOp *x, int axis, UOp *size)
{
	return t_lt(index_along(t_rank(x), axis, t_dim(x, axis)), size_value(size));
}

/* x with fill in the elements beyond the sizes s, along those of the n axes whose size is data */
static UOp *masked(UOp *x, const Shape *s, int n, const int *axes, UOp *fill)
{
	for (int i = 0; i < n; i++)
		if (size_is_data(s->dim[axes[i]]))
			x = t_where(within(x, axes[i], s->dim[axes[i]]), x, fill);
	return x;
}

/* the elements of x along one axis at idx [n] */
static UOp *taken(UOp *x, int axis, UOp *idx)
{
	return t_move_axis(t_gather(t_move_axis(x, axis, 0), 1, &idx), 0, axis);
}

/* ---- reductions and sorts */

static UOp *bound_reduce(UOp *u)
{
	int axes[MAX_RANK], n = arg_axes(u->arg->a[1], axes);
	UOp *fill = const_identity(op_find(u->arg->a[0]->s), u->dtype);
	return NODE(OP_REDUCE, u->dtype, u->arg,
		masked(of(u->src[0]), u->src[0]->shape, n, axes, fill));
}

/* Elements beyond come last: the sort is stable, so ties with them do not matter. */
static UOp *bound_sort(UOp *u)
{
	int axis = u->arg->a[0]->i;
	bool descending = u->arg->a[1]->b;
	DType dt = u->src[0]->dtype;
	UOp *greatest = dtype_float(dt) ? const_num(dt, NAN) : const_identity(OP_MIN, dt);
	UOp *fill = descending ? const_identity(OP_MAX, dt) : greatest;
	return NODE(
		OP_SORT, u->dtype, u->arg, masked(of(u->src[0]), u->src[0]->shape, 1, &axis, fill));
}

/* ---- indices */

/* the index nodes of GATHER or SCATTER, all in the shape of the first */
static void indices_of(UOp *u, int k, UOp **idx)
{
	for (int i = 0; i < k; i++)
		idx[i] = fitted(u->src[1 + i], u->src[1]->shape, false);
}

static UOp *bound_gather(UOp *u)
{
	int k = u->nsrc - 1;
	UOp *idx[MAX_RANK], *x = u->src[0], *y, *ok;
	indices_of(u, k, idx);
	y = t_gather(of(x), k, idx);
	for (int i = 0; i < k; i++) {
		if (!size_is_data(t_dim(x, i)))
			continue;
		ok = t_lt(t_cast(idx[i], DT_I64), size_value(t_dim(x, i)));
		for (int r = t_rank(ok); r < t_rank(y); r++)
			ok = t_unsqueeze(ok, r);
		y = t_where(ok, y, t_num(y->dtype, 0));
	}
	return y;
}

/* Values beyond are dropped: their first index is set outside the axis. */
static UOp *bound_scatter(UOp *u)
{
	int k = u->nsrc - 2, all[MAX_RANK], rank = t_rank(u->src[1]);
	UOp *idx[MAX_RANK], *v = of(u->src[1 + k]), *outside = const_int(DT_I64, -1);
	indices_of(u, k, idx);
	for (int i = 0; i < rank; i++) {
		all[i] = i;
		v = fit_axis(v, i, t_dim(idx[0], i));
	}
	for (int i = k; i < t_rank(u); i++)
		v = fit_axis(v, rank + i - k, t_dim(of(u->src[0]), i));
	if (shape_is_data(u->src[1]->shape))
		idx[0] = masked(t_cast(idx[0], DT_I64), u->src[1]->shape, rank, all, outside);
	return t_scatter(of(u->src[0]), k, idx, v, u->arg->s);
}

/* ---- movement */

/* The sizes [from, to) of a shape without ones; their count in *n. */
static UOp *const *sizes_between(const Shape *s, int from, int to, int *n)
{
	UOp **d = arena_alloc((to - from + 1) * sizeof *d);
	*n = 0;
	for (int i = from; i < to; i++)
		if (s->dim[i] != ix_const(1))
			d[(*n)++] = s->dim[i];
	return d;
}

/* Whether elements keep their order when both lists of sizes are replaced by their maximum: true
 * when only the outermost sizes are data. */
static bool order_kept(UOp *const *a, int na, UOp *const *b, int nb)
{
	UOp *x = ix_const(1), *y = ix_const(1);
	for (int i = 0; i < na; i++) {
		if (i && size_is_data(a[i]))
			return false;
		x = ix_mul(x, size_most(a[i]));
	}
	for (int i = 0; i < nb; i++) {
		if (i && size_is_data(b[i]))
			return false;
		y = ix_mul(y, size_most(b[i]));
	}
	return x == y;
}

/* The row-major place of each element over axes [from, to) of s, by the actual sizes, as a tensor
 * over the maximum sizes. */
static UOp *row_major(const Shape *s, int from, int to)
{
	UOp *at = const_int(DT_I64, 0);
	for (int i = from; i < to; i++)
		at = t_add(t_mul(at, size_value(s->dim[i])),
			index_along(s->rank, i, size_most(s->dim[i])));
	return at;
}

/* The general case: each element computes its place in the source. The first `lead` axes are the
 * same in both. */
static UOp *reshape_gathered(UOp *u, int lead, int tail)
{
	const Shape *in = u->src[0]->shape, *out = u->shape;
	int k = in->rank - tail;
	UOp *idx[MAX_RANK],
		*at = row_major(shape_new(out->rank - tail, out->dim), lead, out->rank - tail);
	for (int i = 0; i < lead; i++)
		idx[i] = index_along(out->rank - tail, i, size_most(out->dim[i]));
	for (int i = k - 1; i >= lead; i--) {
		idx[i] = i > lead ? t_op2(OP_FLOORMOD, at, size_value(in->dim[i])) : at;
		at = t_op2(OP_FLOORDIV, at, size_value(in->dim[i]));
	}
	return t_reshape(k ? t_gather(of(u->src[0]), k, idx) : of(u->src[0]), most_shape(out));
}

static UOp *bound_reshape(UOp *u)
{
	const Shape *in = u->src[0]->shape, *out = u->shape;
	int lead = 0, tail = 0, na, nb;
	while (lead < in->rank && lead < out->rank && in->dim[lead] == out->dim[lead])
		lead++;
	while (tail < in->rank - lead && tail < out->rank - lead &&
		in->dim[in->rank - 1 - tail] == out->dim[out->rank - 1 - tail])
		tail++;
	UOp *const *a = sizes_between(in, lead, in->rank - tail, &na),
		   *const *b = sizes_between(out, lead, out->rank - tail, &nb);
	if (order_kept(a, na, b, nb))
		return t_reshape(of(u->src[0]), most_shape(out));
	return reshape_gathered(u, lead, tail);
}

static UOp *bound_flip(UOp *u)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes), m = 0;
	UOp *x = of(u->src[0]), *one = const_int(DT_I64, 1);
	for (int i = 0; i < n; i++) {
		UOp *size = t_dim(u, axes[i]);
		if (size_is_data(size))
			x = taken(x, axes[i],
				t_sub(t_sub(size_value(size), one),
					t_arange(DT_I64, size_most(size))));
		else
			axes[m++] = axes[i];
	}
	return t_flip(x, m, axes);
}

/* One axis of a PAD where sizes are data: x has size `was` along it, and lies in the middle of the
 * result. */
static UOp *pad_axis(UOp *x, int axis, UOp *was, UOp *before, UOp *after)
{
	UOp *n = size_most(ix_add(ix_add(before, was), after)), *zero = ix_const(0);
	UOp *at = t_sub(index_along(t_rank(x), axis, n), size_value(before)),
	    *none = t_num(x->dtype, 0);
	bool one = was == ix_const(1), moves = size_is_data(before);
	if (one)
		return t_where(t_eq(at, const_int(DT_I64, 0)), t_expand_axis(x, axis, n), none);
	if (moves)
		x = taken(x, axis, t_reshapev(at, 1, &n));
	else
		x = fit_axis(t_pad_axis(x, axis, before, zero), axis, n);
	if (moves)                              /* GATHER reads 0 at negative places */
		return t_where(t_lt(at, size_value(was)), x, none);
	return after == zero ? x : t_where(t_lt(at, size_value(was)), x, none);
}

static UOp *bound_pad(UOp *u)
{
	UOp *pair[MAX_RANK][2], *x = of(u->src[0]), *zero = ix_const(0);
	arg_pairs(u->arg, pair);
	for (int i = 0; i < t_rank(u); i++) {
		UOp *was = t_dim(u->src[0], i), **p = pair[i];
		if (!size_is_data(was) && !size_is_data(p[0]) && !size_is_data(p[1]))
			continue;
		if (p[0] != zero || p[1] != zero)
			x = pad_axis(x, i, was, p[0], p[1]);
		p[0] = p[1] = zero;
	}
	return t_pad(x, pair);
}

/* A window of ARANGE whose start is data. */
static UOp *arange_from(UOp *u, UOp *start)
{
	UOp *i = t_arange(DT_I64, size_most(t_dim(u, 0)));
	return t_cast(t_add(i, size_value(start)), u->dtype);
}

static UOp *bound_shrink(UOp *u)
{
	UOp *pair[MAX_RANK][2], *x = of(u->src[0]), *y;
	arg_pairs(u->arg, pair);
	for (int i = 0; i < t_rank(u); i++) {
		UOp *n = size_most(t_dim(u, i)), **p = pair[i];
		if (size_is_data(p[0]) && u->src[0]->op == OP_ARANGE)
			return arange_from(u, p[0]);
		if (size_is_data(p[0])) {
			x = taken(x, i, t_add(t_arange(DT_I64, n), size_value(p[0])));
		} else if (size_is_data(p[1]) || size_is_data(t_dim(u->src[0], i))) {
			y = fit_axis(x, i, ix_add(p[0], n));
			x = t_shrink_axis(y, i, p[0], t_dim(y, i));
		} else {
			x = t_shrink_axis(x, i, p[0], p[1]);
		}
	}
	return x;
}

/* ---- one node */

static UOp *bound_plain(UOp *u)
{
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = u->src[i]->shape && u->shape && t_rank(u->src[i]) == t_rank(u)
			? fitted(u->src[i], u->shape, false) : of(u->src[i]);
	return node_with(u, src);
}

static UOp *bound(UOp *u)
{
	int axes[MAX_RANK];
	switch (u->op) {
	case OP_ARANGE: return t_arange(u->dtype, size_most(t_dim(u, 0)));
	case OP_REDUCE: return bound_reduce(u);
	case OP_SCAN: return NODE(OP_SCAN, u->dtype, u->arg, of(u->src[0]));
	case OP_SORT: return bound_sort(u);
	case OP_GATHER: return bound_gather(u);
	case OP_SCATTER: return bound_scatter(u);
	case OP_RESHAPE: return bound_reshape(u);
	case OP_EXPAND:
		return t_expandv(
			fitted(u->src[0], u->shape, true), t_rank(u), most_shape(u->shape)->dim);
	case OP_PERMUTE:
		arg_axes(u->arg, axes);
		return t_permute(of(u->src[0]), axes);
	case OP_FLIP: return bound_flip(u);
	case OP_PAD: return bound_pad(u);
	case OP_SHRINK: return bound_shrink(u);
	case OP_CUSTOM: case OP_BUFFER:
		if (shape_is_data(u->shape))
			die(UNSUPPORTED, "%s of a size that depends on data", op_name(u->op));
		return bound_plain(u);
	default: return bound_plain(u);
	}
}

static UOp *bound_noted(UOp *u)
{
	const Val *loc = val_get(u->note, "loc");
	uint32_t start = node_limit();
	process.where = loc && loc->kind == VAL_STR ? loc->s : NULL;
	UOp *y = bound(u);
	process.where = NULL;
	if (node_limit() > start && u->note != VNIL) {
		Value v = v_tensor(y);
		note_nodes(&v, start, u->note);
	}
	return y;
}

/* ---- what run needs to know */

static const Val *trims(const Graph *g)
{
	const Val *names = val_get(g->sink->arg, "names"), *all = VNIL;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const Shape *s = g->sink->src[i]->shape;
		const char *name = names ? names->a[i]->s : arena_printf("out%u", i);
		if (shape_is_data(s))
			all = val_set(all, name, shape_to_val(s));
	}
	return all;
}

/* Whether run needs the k-th size, to trim outputs or to check sizes. */
static bool needed(const Graph *g, UOp *var)
{
	const Val *checks = size_checks();
	const char *err;
	VEC(UOp *) all = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		for (int d = 0; d < t_rank(g->sink->src[i]); d++)
			vec_push(&all, t_dim(g->sink->src[i], d));
	for (size_t i = 0; i < checks->n; i++)
		for (int side = 1; side < 3; side++)
			vec_push(&all, size_from_val(checks->a[i]->a[side], &err));
	Nodes in = walk_many(all.n, all.at);
	vec_free(&all);
	for (size_t i = 0; i < in.n; i++)
		if (in.at[i] == var)
			return true;
	return false;
}

/* The counts become outputs behind the others, named after their sizes; run does not show them. */
static void hide_counts(Graph *g, size_t n, UOp *const *var, UOp *const *count)
{
	const Val *names = val_get(g->sink->arg, "names");
	size_t m = g->sink->nsrc, hidden = 0;
	UOp **src = arena_alloc((m + n + 1) * sizeof *src);
	const Val **name = arena_alloc((m + n + 1) * sizeof *name);
	for (size_t i = 0; i < m; i++) {
		src[i] = of(g->sink->src[i]);
		name[i] = names ? names->a[i] : val_str(arena_printf("out%zu", i));
	}
	for (size_t i = 0; i < n; i++)
		if (needed(g, var[i])) {
			src[m + hidden] = of(count[i]);
			name[m + hidden++] = var[i]->arg->a[0];
		}
	if (hidden)
		g->meta = val_set(g->meta, "counts", val_array(hidden, name + m));
	g->sink = node_new(OP_SINK, DT_NONE, m + hidden, src, val_set(g->sink->arg, "names",
		val_array(m + hidden, name)));
}

Graph *bound_sizes(Graph *g)
{
	UOp *const *var, *const *count, **roots;
	size_t n = data_sizes(&var, &count);
	if (!n)
		return g;
	roots = arena_alloc((n + 1) * sizeof *roots);
	memcpy(roots, count, n * sizeof *roots);
	roots[n] = g->sink;
	Nodes all = walk_many(n + 1, roots);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i] == g->sink)
			continue;
		map_put(&made, PKEY(all.at[i]), bound_noted(all.at[i]));
		for (size_t k = 0; k < n; k++)
			if (count[k] == all.at[i])
				data_size_moved(k, of(all.at[i]));
	}
	const Val *t = trims(g);
	hide_counts(g, n, var, count);
	if (t != VNIL)
		g->meta = val_set(g->meta, "trims", t);
	return g;
}
