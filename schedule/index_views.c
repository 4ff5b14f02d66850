/* Reads a graph's value at a place: movement ops are composed into the indices of the load below
 * them.
 *
 *     value_at(SHRINK(PERMUTE(t, [1,0]), [[2,5],[0,9]]), [r0, r1])
 *     →   LOAD(INDEX(PARAM k, r1, r0+2)) */
#include "shape/shape.h"
#include "schedule.h"

UOp *body_param(Body *b, UOp *buffer)
{
	size_t k = 0;
	while (k < b->buffer.n && b->buffer.at[k] != buffer)
		k++;
	if (k == b->buffer.n)
		vec_push(&b->buffer, buffer);
	return param_new(k, buffer);
}

static UOp *load(Body *b, UOp *buffer, UOp *const *idx)
{
	UOp *src[MAX_RANK + 1] = {body_param(b, buffer)};
	for (int i = 0; i < buffer->shape->rank; i++)
		src[i + 1] = idx[i];
	UOp *place = node_new(OP_INDEX, buffer->dtype, buffer->shape->rank + 1, src, VNIL);
	return NODE(OP_LOAD, buffer->dtype, VNIL, place);
}

UOp *gated(UOp *v, UOp *gate)
{
	int64_t known;
	if (!gate || (const_is_int(gate, &known) && known))
		return v;
	if (is_const(gate))
		return const_num(v->dtype, 0);
	if (v->op == OP_LOAD)
		return NODE(OP_LOAD, v->dtype, VNIL, v->src[0],
			v->nsrc == 1 ? gate : ix_and(v->src[1], gate));
	return NODE(OP_WHERE, v->dtype, VNIL, gate, v, const_num(v->dtype, 0));
}

static UOp *base_value(Body *b, UOp *u, UOp *const *idx)
{
	if (u->op == OP_CONST)
		return u;
	if (u->op == OP_SIZE)
		return size_from_val(u->arg, &(const char *){NULL});
	if (u->op == OP_ARANGE)
		return u->dtype == DT_I64 ? idx[0] : NODE(OP_CAST, u->dtype, VNIL, idx[0]);
	if (b->inside[u->id])
		return op_at(b, u, idx);
	return load(b, u->op == OP_BUFFER ? u : b->home[u->id], idx);
}

/* Nothing can be read from a tensor without elements: then no index is made, and none divided by a
 * size of 0. */
UOp *value_at(Body *b, UOp *u, UOp *const *idx)
{
	UOp *at[2][MAX_RANK], *gate = NULL;
	for (int side = 0; ; side ^= 1) {
		u = content(u);
		for (UOp *v = u; op_movement(v->op); v = v->src[0])
			if (shape_empty(v->src[0]->shape))
				return const_num(u->dtype, 0);
		if (shape_empty(u->shape))
			return const_num(u->dtype, 0);
		if (!op_movement(u->op))
			return gated(base_value(b, u, idx), gate);
		UOp *more = NULL;
		u = views_index(u, idx, at[side], &more);
		gate = gate && more ? ix_and(gate, more) : gate ? gate : more;
		idx = at[side];
	}
}

UOp *op_at(Body *b, UOp *u, UOp *const *idx)
{
	UOp *src[3];
	/* a source that occurs twice is made once: a chain of squares would double at each step */
	for (uint32_t i = 0; i < u->nsrc; i++) {
		uint32_t k = 0;
		while (u->src[k] != u->src[i])
			k++;
		src[i] = k < i ? src[k] : value_at(b, u->src[i], idx);
	}
	return node_new(u->op, u->dtype, u->nsrc, src, u->arg);
}
