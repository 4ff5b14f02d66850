/* One kernel for each op: the STORE that computes a graph node over ranges.
 *
 *     REDUCE ADD [1] of t [8,3,1]   →   STORE(INDEX(PARAM 0, r0, 0, 0),
 *                                             RREDUCE ADD(LOAD(INDEX(PARAM 1, r0, r1, 0)), r1))
 *
 * Loop axes are numbered from 0, reduced ones after them; an axis of one element has no range and
 * the index 0. */
#include "shape/shape.h"
#include "schedule.h"

/* The index along an axis of this size: a new range, or 0. */
static UOp *axis_index(UOp *size, int *axis, const char *kind)
{
	int64_t n;
	return ix_is_const(size, &n) && n == 1 ? ix_const(0) : ix_range((*axis)++, kind, size);
}

static void loop_indices(const Shape *s, UOp **idx)
{
	int axis = 0;
	for (int i = 0; i < s->rank; i++)
		idx[i] = axis_index(s->dim[i], &axis, "loop");
}

/* The place in a slot to which the kernel writes. */
static UOp *place_in(Body *b, int slot, UOp *const *idx)
{
	UOp *out = b->buffer.at[slot], *src[MAX_RANK + 1] = {body_param(b, out)};
	for (int i = 0; i < out->shape->rank; i++)
		src[i + 1] = idx[i];
	return node_new(OP_INDEX, out->dtype, out->shape->rank + 1, src, VNIL);
}

static UOp *cast(UOp *v, DType dt)
{
	return v->dtype == dt ? v : NODE(OP_CAST, dt, VNIL, v);
}

static bool accumulates(const Val *op) { return val_is_str(op, "ADD") || val_is_str(op, "MUL"); }

/* The dtype in which REDUCE, SCAN and SCATTER by op fold values of dt. */
static DType fold_dtype(const Val *op, DType dt) { return accumulates(op) ? dtype_acc(dt) : dt; }

static UOp *store(UOp *place, UOp *v) { return NODE(OP_STORE, DT_NONE, VNIL, place, v); }

UOp *build_copy(Body *b, UOp *x)
{
	UOp *idx[MAX_RANK], *out = b->buffer.at[0];
	loop_indices(out->shape, idx);
	return store(place_in(b, 0, idx), cast(value_at(b, x, idx), out->dtype));
}

static UOp *build_elementwise(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK];
	loop_indices(u->shape, idx);
	return store(place_in(b, 0, idx), op_at(b, u, idx));
}

static UOp *build_reduce(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK], *at[MAX_RANK], *src[MAX_RANK + 1], *x = u->src[0];
	const Val *op = u->arg->a[0];
	int axes[MAX_RANK], n = arg_axes(u->arg->a[1], axes), axis = 0, bound = 1;
	bool reduced[MAX_RANK] = {0};
	for (int i = 0; i < n; i++)
		reduced[axes[i]] = true;
	UOp *const *size = x->shape->dim;
	for (int i = 0; i < x->shape->rank; i++)
		idx[i] = at[i] = reduced[i] ? ix_const(0) : axis_index(size[i], &axis, "loop");
	for (int i = 0; i < x->shape->rank; i++) {
		if (!reduced[i])
			continue;
		at[i] = axis_index(size[i], &axis, "reduce");
		if (at[i]->op == OP_RANGE)
			src[bound++] = at[i];
	}
	if (shape_empty(x->shape))
		return store(place_in(b, 0, idx), const_identity(op_find(op->s), u->dtype));
	DType dt = fold_dtype(op, u->dtype);
	src[0] = cast(value_at(b, x, at), dt);
	return store(place_in(b, 0, idx), cast(node_new(OP_RREDUCE, dt, bound, src, op), u->dtype));
}

/* Loop indices over u; the axis `along` is serial. */
static UOp *serial_indices(UOp *u, int along, UOp **idx)
{
	int axis = 0;
	for (int i = 0; i < u->shape->rank; i++)
		idx[i] = axis_index(u->shape->dim[i], &axis, i == along ? "serial" : "loop");
	return idx[along];
}

static UOp *build_scan(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK], *range = serial_indices(u, u->arg->a[1]->i, idx);
	const Val *op = u->arg->a[0];
	DType dt = fold_dtype(op, u->dtype);
	UOp *v = cast(value_at(b, u->src[0], idx), dt);
	return store(place_in(b, 0, idx), cast(NODE(OP_RSCAN, dt, op, v, range), u->dtype));
}

/* Slot 1 is scratch memory for the merge. Equal keys keep their order: with no key or only one to
 * load, each place holds its own index, and no scratch memory is needed. */
static UOp *build_sort(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK], *range = serial_indices(u, u->arg->a[0]->i, idx);
	UOp *key = value_at(b, u->src[0], idx);
	if (key->op != OP_LOAD || range->op != OP_RANGE) {
		b->buffer.n = 1;
		loop_indices(u->shape, idx);
		return store(place_in(b, 0, idx), idx[u->arg->a[0]->i]);
	}
	UOp *v = NODE(OP_RSORT, DT_I64, u->arg->a[1], key, range, place_in(b, 1, idx));
	return store(place_in(b, 0, idx), v);
}

/* Places in the first axes of x, read from the index tensors at idx, and whether all of them are in
 * bounds. Casting u64 to i64 makes values that are too large negative, so they are out of bounds as
 * well. */
static UOp *indices_at(Body *b, UOp *x, UOp *const *index, int n, UOp *const *idx, UOp **at)
{
	UOp *inside = NULL;
	for (int k = 0; k < n; k++) {
		at[k] = cast(value_at(b, index[k], idx), DT_I64);
		UOp *in = ix_inside(at[k], x->shape->dim[k]);
		inside = inside ? ix_and(inside, in) : in;
	}
	return inside;
}

static UOp *build_gather(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK], *at[MAX_RANK], *x = u->src[0];
	int n = u->nsrc - 1, rank = u->src[1]->shape->rank;
	loop_indices(u->shape, idx);
	UOp *inside = indices_at(b, x, u->src + 1, n, idx, at);
	for (int i = n; i < x->shape->rank; i++)
		at[i] = idx[rank + i - n];
	return store(place_in(b, 0, idx), gated(value_at(b, x, at), inside));
}

/* A loop that occurs nowhere in a STORE is not run. Where all iterations of a loop send one value
 * to one place, the loop becomes a reduction; SET only needs the loop not to be empty. */
static void fold_loops(const Val *op, int n, UOp *const *idx, UOp *place, UOp **value, UOp **gate)
{
	uint64_t has = range_mask(place) | range_mask(*value) | range_mask(*gate);
	UOp *src[MAX_RANK + 1] = {*value};
	int k = 1;
	for (int i = 0; i < n; i++) {
		if (idx[i]->op != OP_RANGE || has >> range_axis(idx[i]) & 1)
			continue;
		*gate = ix_and(*gate, ix_lt(ix_const(0), idx[i]->src[0]));
		src[k++] = ix_range(range_axis(idx[i]), "reduce", idx[i]->src[0]);
	}
	if (k > 1 && !val_is_str(op, "SET"))
		*value = node_new(OP_RREDUCE, (*value)->dtype, k, src, op);
}

UOp *build_scatter(Body *b, UOp *u)
{
	UOp *idx[MAX_RANK], *at[MAX_RANK], *x = u->src[0], *v = u->src[u->nsrc - 1];
	int n = u->nsrc - 2, rank = u->src[1]->shape->rank, axis = 0;
	for (int i = 0; i < v->shape->rank; i++)
		idx[i] = axis_index(v->shape->dim[i], &axis, i < rank ? "serial" : "loop");
	UOp *place, *value, *gate;
	gate = indices_at(b, x, u->src + 1, n, idx, at);
	for (int i = n; i < x->shape->rank; i++)
		at[i] = idx[rank + i - n];
	place = place_in(b, 0, at);
	value = cast(value_at(b, v, idx), place->dtype);
	fold_loops(u->arg, rank, idx, place, &value, &gate);
	if (!val_is_str(u->arg, "SET"))
		value = NODE(op_find(u->arg->s), place->dtype, VNIL,
			NODE(OP_LOAD, place->dtype, VNIL, place), value);
	int64_t known;
	if (const_is_int(gate, &known) && known)
		return store(place, value);
	return NODE(OP_STORE, DT_NONE, VNIL, place, value, gate);
}

UOp *build_store(Body *b, UOp *u)
{
	switch (u->op) {
	case OP_REDUCE: return build_reduce(b, u);
	case OP_SCAN: return build_scan(b, u);
	case OP_SORT: return build_sort(b, u);
	case OP_GATHER: return build_gather(b, u);
	case OP_CONTIGUOUS:
	case OP_COPY: return build_copy(b, u->src[0]);
	default: return build_elementwise(b, u);
	}
}
