/* The stack of views of each chain of movement ops, for `show --views`. A view describes how
 * elements lie in what is below it: shape, strides, offset, and a mask (for each axis, the range
 * that is not padding). A movement op changes the top view if its index expression keeps that form;
 * otherwise it pushes a new view. At the end, views that can be expressed as one are merged.
 *
 *     %3 = PERMUTE RESHAPE RESHAPE of %0 BUFFER "x" [10,10]
 *       view [5,2,5,2] strides [2,1,20,10] offset 0
 *       view [100] strides [1] offset 0
 *       index (((idx0%10)*10)+(idx0//10))
 *
 * The first view is the lowest. Where there is padding, "mask [1:9,0:4]" and a line "when (0<idx0)"
 * are printed. */
#include "shape/shape.h"
#include "index/ix.h"
#include <stdlib.h>

typedef struct { VEC(View) at; } ViewStack;

static void ranges_of(const Shape *s, UOp **r)
{
	for (int i = 0; i < s->rank; i++)
		r[i] = ix_range(i, "loop", s->dim[i]);
}

static View view_new(const Shape *shape)
{
	View v = {shape, arena_alloc((shape->rank + 1) * sizeof(UOp *)), ix_const(0), NULL};

	for (int i = 0; i < shape->rank; i++)
		v.stride[i] = ix_const(0);
	return v;
}

static View row_major(const Shape *shape)
{
	View v = view_new(shape);
	UOp *step = ix_const(1);

	for (int i = shape->rank - 1; i >= 0; i--) {
		v.stride[i] = step;
		step = ix_mul(step, shape->dim[i]);
	}
	return v;
}

/* The position that v gives for an index, and the gate under which it is valid. */
static UOp *place(const View *v, UOp *const *at, UOp **gate)
{
	UOp *flat = v->offset;

	for (int i = 0; i < v->shape->rank; i++)
		flat = ix_add(flat, ix_mul(v->stride[i], at[i]));
	for (int i = 0; v->mask && i < v->shape->rank; i++) {
		*gate = ix_and(*gate, ix_lt(ix_sub(v->mask[i][0], ix_const(1)), at[i]));
		*gate = ix_and(*gate, ix_lt(at[i], v->mask[i][1]));
	}
	return flat;
}

static bool has_range(UOp *u)
{
	Nodes all = walk(u);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE)
			return true;
	return false;
}

/* If m = r[axis]*rest with no range in rest: the axis. -1 when m has no range, -2 otherwise. */
static int axis_of(UOp *m, int rank, UOp *const *r, UOp **rest)
{
	for (int i = 0; i < rank; i++) {
		UOp *q = mono_div(m, r[i]);
		if (!q)
			continue;
		*rest = q;
		return has_range(q) ? -2 : i;
	}
	*rest = m;
	return has_range(m) ? -2 : -1;
}

/* Adds one condition, "axis < w" or "w < axis", to the mask. */
static bool mask_one(View *v, UOp *cond, UOp *const *r)
{
	Sum d, t;
	UOp *rest;
	int axis = -1;
	int64_t sign = 0;

	if (cond->op != OP_CMPLT)
		return false;
	sum_of(&d, cond->src[0]);
	sum_of(&t, cond->src[1]);
	if (!sum_plus(&d, -1, &t))
		return false;
	for (int i = 0; i < d.n; i++) {
		int a = axis_of(d.t[i].m, v->shape->rank, r, &rest);
		bool unit = rest->op == OP_CONST && (d.t[i].c == 1 || d.t[i].c == -1);
		if (a == -2 || (a >= 0 && (axis >= 0 || !unit)))
			return false;
		if (a >= 0) {
			axis = a;
			sign = d.t[i].c;
		}
	}
	if (axis < 0)
		return false;
	sum_const(&t, sign < 0 ? 1 : 0);          /* r + w < 0: up to -w;  -r + w < 0: from w+1 */
	if (!sum_plus(&t, -sign, &d) || !sum_term(&t, sign * sign, r[axis]))
		return false;
	UOp *end = sum_node(&t), **old = &v->mask[axis][sign > 0];
	if (sign > 0 ? *old != v->shape->dim[axis] : *old != ix_const(0))
		return false;
	*old = end;
	return true;
}

static bool mask_all(View *v, UOp *gate, UOp *const *r)
{
	int rank = v->shape->rank;

	if (gate->op == OP_CONST && gate->arg == val_bool(true))
		return true;
	if (!rank)
		return false;
	v->mask = arena_alloc(rank * sizeof *v->mask);
	for (int i = 0; i < rank; i++) {
		v->mask[i][0] = ix_const(0);
		v->mask[i][1] = gate->op == OP_CONST ? ix_const(0) : v->shape->dim[i];
	}
	if (gate->op == OP_CONST)
		return true;
	for (; gate->op == OP_AND; gate = gate->src[0])
		if (!mask_one(v, gate->src[1], r))
			return false;
	return mask_one(v, gate, r);
}

/* The view of that shape with position `flat`, if flat is linear in the ranges and the gate is a
 * box. */
static bool view_of(const Shape *shape, UOp *const *r, UOp *flat, UOp *gate, View *v)
{
	Sum s;
	UOp *rest;

	*v = view_new(shape);
	sum_of(&s, flat);
	v->offset = ix_const(s.k);
	for (int i = 0; i < s.n; i++) {
		int axis = axis_of(s.t[i].m, shape->rank, r, &rest);
		if (axis == -2)
			return false;
		UOp **to = axis < 0 ? &v->offset : &v->stride[axis];
		*to = ix_add(*to, ix_mul(rest, ix_const(s.t[i].c)));
	}
	return mask_all(v, gate, r);
}

static bool apply(UOp *u, const View *below, View *v)
{
	UOp *r[MAX_RANK], *at[MAX_RANK], *gate = NULL;

	ranges_of(u->shape, r);
	views_step(u, r, at, &gate);
	if (!gate)
		gate = LEAF(OP_CONST, DT_BOOL, val_bool(true));
	UOp *flat = place(below, at, &gate);
	return view_of(u->shape, r, flat, gate, v);
}

static void stack_push(ViewStack *s, UOp *u)
{
	View v, base;

	if (s->at.n && apply(u, &s->at.at[s->at.n - 1], &v)) {
		s->at.at[s->at.n - 1] = v;
		return;
	}
	base = row_major(u->src[0]->shape);
	if (u->op == OP_RESHAPE || !apply(u, &base, &v))
		v = row_major(u->shape);
	vec_push(&s->at, v);
}

/* Merges two views: the upper one's position, decomposed over the shape of the lower one. */
static bool merge(const View *low, const View *high, View *v)
{
	UOp *r[MAX_RANK], *at[MAX_RANK], *gate = LEAF(OP_CONST, DT_BOOL, val_bool(true));

	ranges_of(high->shape, r);
	UOp *flat = place(high, r, &gate);
	for (int i = low->shape->rank - 1; i > 0; i--) {
		at[i] = ix_mod(flat, low->shape->dim[i]);
		flat = ix_div(flat, low->shape->dim[i]);
	}
	if (low->shape->rank)
		at[0] = flat;
	flat = place(low, at, &gate);
	return view_of(high->shape, r, flat, gate, v);
}

static void stack_merge(ViewStack *s)
{
	View v;

	for (size_t i = s->at.n; i-- > 1; ) {
		if (!merge(&s->at.at[i - 1], &s->at.at[i], &v))
			continue;
		s->at.at[i - 1] = v;
		memmove(&s->at.at[i], &s->at.at[i + 1], (s->at.n - i - 1) * sizeof v);
		s->at.n--;
	}
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *idx_name(UOp *u, void *ctx)
{
	return u->op == OP_RANGE ? arena_printf("idx%d", (int)u->arg->a[0]->i) : NULL;
}

static void print_size(Buf *out, UOp *u)
{
	const Val *v = size_to_val(u);

	if (v->kind == VAL_INT)
		buf_printf(out, "%lld", (long long)v->i);
	else
		buf_printf(out, "%s", v->s);
}

static void print_view(Buf *out, const View *v)
{
	buf_printf(out, "  view %s strides [", shape_text(v->shape));
	for (int i = 0; i < v->shape->rank; i++) {
		buf_printf(out, "%s", i ? "," : "");
		print_size(out, v->stride[i]);
	}
	buf_printf(out, "] offset ");
	print_size(out, v->offset);
	for (int i = 0; v->mask && i < v->shape->rank; i++) {
		buf_printf(out, "%s", i ? "," : " mask [");
		print_size(out, v->mask[i][0]);
		buf_printf(out, ":");
		print_size(out, v->mask[i][1]);
	}
	buf_printf(out, "%s\n", v->mask ? "]" : "");
}

static void print_index(Buf *out, UOp *u)
{
	UOp *r[MAX_RANK], *at[MAX_RANK], *gate, *flat = ix_const(0);

	ranges_of(u->shape, r);
	UOp *src = views_index(u, r, at, &gate);
	for (int i = 0; i < src->shape->rank; i++)
		flat = ix_add(ix_mul(flat, src->shape->dim[i]), at[i]);
	buf_printf(out, "  index ");
	ix_print(out, flat, idx_name, NULL);
	buf_printf(out, "\n");
	if (!gate)
		return;
	buf_printf(out, "  when ");
	ix_print(out, gate, idx_name, NULL);
	buf_printf(out, "\n");
}

static void print_chain(Buf *out, UOp *u, const uint32_t *number)
{
	VEC(UOp *) ops = {0};
	ViewStack s = {0};
	UOp *src = u;

	for (; op_movement(src->op); src = src->src[0])
		vec_push(&ops, src);
	buf_printf(out, "%%%u =", number[u->id]);
	for (size_t i = ops.n; i-- > 0; ) {
		buf_printf(out, " %s", op_name(ops.at[i]->op));
		stack_push(&s, ops.at[i]);
	}
	buf_printf(out, " of %%%u %s", number[src->id], op_name(src->op));
	if (src->op == OP_BUFFER) {
		buf_printf(out, " ");
		val_print(out, val_str(buffer_name(src)));
	}
	buf_printf(out, " %s\n", shape_text(src->shape));
	stack_merge(&s);
	for (size_t i = 0; i < s.at.n; i++)
		print_view(out, &s.at.at[i]);
	print_index(out, u);
	vec_free(&s.at);
	vec_free(&ops);
}

void views_print(Buf *out, const Graph *g)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	uint32_t *number = xcalloc(node_limit(), sizeof *number);
	bool *ends = xcalloc(node_limit(), sizeof *ends);

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		number[u->id] = i;
		for (uint32_t k = 0; k < u->nsrc && !op_movement(u->op); k++)
			ends[u->src[k]->id] = true;
	}
	for (size_t i = 0; i < all.n; i++)
		if (ends[all.at[i]->id] && op_movement(all.at[i]->op))
			print_chain(out, all.at[i], number);
	free(number);
	free(ends);
}
