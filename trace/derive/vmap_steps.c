/* Loops and branches over a new axis of size n.
 *
 *     CARRY h0 [4]   LOOP h', value y [4]   PICK 1 [T,4]
 *     CARRY h0 [n,4] LOOP h', value y [n,4] PICK 1 [T,n,4], the axis moved to the front
 *
 * A state has the axis when its init has it, or what a turn gives it: then in all turns. How often
 * a loop turns, which branch is taken, and sizes are the same for all along the axis. */
#include "primitives/primitives.h"
#include "derive/batch.h"
#include <stdlib.h>

/* ---- what moves */

static bool pick_moves(const Batch *b, const UOp *u)
{
	const UOp *of = u->src[0];
	int64_t k = pick_place(u);

	if (of->op == OP_IF)
		return b->moves[of->src[1 + k]->id] || b->moves[of->src[1 + k + of->arg->i]->id];
	LoopParts p = loop_parts(of);
	return k < p.states ? b->moves[p.carry[k]->id] :
		k < p.states + p.values && b->moves[p.state[k]->id];
}

static bool node_moves(const Batch *b, const UOp *u)
{
	if (u->op == OP_PICK)
		return pick_moves(b, u);
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (b->moves[u->src[k]->id])
			return true;
	return false;
}

/* A state moves when what a turn gives it does. */
static bool states_move(Batch *b, Nodes all)
{
	bool more = false;

	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_LOOP)
			continue;
		LoopParts p = loop_parts(all.at[i]);
		for (int64_t k = 0; k < p.states; k++)
			if (b->moves[p.state[k]->id] && !b->moves[p.carry[k]->id]) {
				b->moves[p.carry[k]->id] = 1;
				more = true;
			}
	}
	return more;
}

void find_moving(Batch *b, Nodes all)
{
	b->moves = xcalloc(b->limit, 1);
	for (uint32_t i = 0; i < b->limit; i++)
		b->moves[i] = b->to[i] != NULL;
	do
		for (size_t i = 0; i < all.n; i++)
			b->moves[all.at[i]->id] |= node_moves(b, all.at[i]);
	while (states_move(b, all));
}

/* ---- steps */

static _Noreturn void refuse(const UOp *u, const char *what)
{
	die(UNSUPPORTED, "node %u %s: %s depends on what is batched, and would differ along the "
		"new axis", u->id, op_name(u->op), what);
}

UOp *bind_batched(const Batch *b, UOp *u)
{
	die(UNSUPPORTED, "size %s, a size that is data, depends on what is batched: outputs would "
		"differ in shape", u->arg->a[0]->s);
}

/* shape with the new axis at a place of it */
static const Shape *with_axis(const Batch *b, const Shape *s, int at)
{
	UOp *dim[MAX_RANK + 1];

	for (int i = 0; i <= s->rank; i++)
		dim[i] = i == at ? b->n : s->dim[i - (i > at)];
	return shape_new(s->rank + 1, dim);
}

UOp *carry_batched(const Batch *b, UOp *u)
{
	return state_add(u, batched(b, u->src[0]),
		u->arg->n == 3 ? with_axis(b, u->shape, 0) : NULL);
}

UOp *loop_batched(const Batch *b, UOp *u)
{
	LoopParts p = loop_parts(u);
	LoopMore of = {0};

	if (p.limit && lanes_of(b, p.limit))
		refuse(u, "the number of turns");
	if (p.next && (lanes_of(b, p.start) || lanes_of(b, p.next)))
		refuse(u, "the condition");
	for (int64_t k = 0; k < p.states; k++) {
		UOp *carry = lanes_of(b, p.carry[k]);
		vec_push(&of.carry, carry ? carry : p.carry[k]);
		vec_push(&of.state, carry ? batched(b, p.state[k]) : p.state[k]);
	}
	for (int64_t k = 0; k < p.values; k++)
		vec_push(&of.value, lanes_of(b, p.value[k]) ? lanes_of(b, p.value[k]) : p.value[k]);
	UOp *loop = loop_version(u, &of);
	vec_free(&of.carry);
	vec_free(&of.state);
	vec_free(&of.value);
	return loop;
}

static bool value_moves(const Batch *b, const UOp *branch, int64_t k)
{
	return lanes_of(b, branch->src[1 + k]) || lanes_of(b, branch->src[1 + k + branch->arg->i]);
}

UOp *branch_batched(const Batch *b, UOp *u)
{
	NodeList then = {0}, other = {0};

	if (lanes_of(b, u->src[0]))
		refuse(u, "the condition");
	for (int64_t k = 0; k < u->arg->i; k++)
		if (value_moves(b, u, k)) {
			vec_push(&then, batched(b, u->src[1 + k]));
			vec_push(&other, batched(b, u->src[1 + k + u->arg->i]));
		}
	UOp *branch = if_new(u->src[0], then.n, then.at, other.at);
	vec_free(&then);
	vec_free(&other);
	return branch;
}

UOp *pick_batched(const Batch *b, UOp *u)
{
	UOp *of = u->src[0];
	int64_t k = pick_place(u), at = 0;
	bool stacked = of->op == OP_LOOP && k >= loop_parts(of).states;

	for (int64_t i = 0; i < k; i++)
		at += of->op == OP_LOOP || value_moves(b, of, i);
	const Val *place = val_int(at), *arg = u->arg->kind == VAL_ARRAY ?
		VARR(place, shape_to_val(with_axis(b, u->shape, stacked))) : place;
	UOp *v = NODE(OP_PICK, u->dtype, arg, lanes_of(b, of));
	return t_move_axis(v, stacked, 0);
}
