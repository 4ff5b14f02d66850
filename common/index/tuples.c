/* Tuples that a reduction folds: several values at once, with a rule that combines two of them.
 *
 *     s0 = SIDE [0, 0]; s1 = SIDE [0, 1]      components 0 and 1 of the first of the two
 *     t0 = SIDE [1, 0]; t1 = SIDE [1, 1]      those of the second
 *     m = MAX(s0, t0)
 *     x = TUPLE(v0, v1, -inf, 0, m, s1 * exp2(s0 - m) + t1 * exp2(t0 - m))
 *     RREDUCE(x, r) 1         the sum of v1 * exp2(v0 - maximum), whatever the maximum
 */
#include "index/index.h"

int tuple_side(const UOp *side) { return (int)side->arg->a[0]->i; }
int tuple_component(const UOp *side) { return (int)side->arg->a[1]->i; }

typedef struct { UOp *const *a, *const *b; } Sides;

static UOp *side_as(UOp *u, void *ctx)
{
	const Sides *s = ctx;
	if (u->op == OP_SIDE)
		return (tuple_side(u) ? s->b : s->a)[tuple_component(u)];
	return u;
}

void tuple_combine(UOp *tuple, UOp *const *a, UOp *const *b, UOp **out)
{
	Sides s = {a, b};
	for (uint32_t i = 0; i < tuple_size(tuple); i++)
		out[i] = walk_replace(tuple_rule(tuple, i), side_as, &s);
}

UOp *fold_component(UOp *fold, int64_t i)
{
	if (fold->arg->i == i)
		return fold;
	return node_new(OP_RREDUCE, fold->src[0]->src[i]->dtype, fold->nsrc, fold->src,
		val_int(i));
}

UOp *fold_identity(const UOp *fold)
{
	if (folds_tuple(fold))
		return tuple_identity(fold->src[0], fold->arg->i);
	return const_identity(op_find(fold->arg->s), fold->dtype);
}

UOp *fold_value(const UOp *fold)
{
	return folds_tuple(fold) ? fold->src[0]->src[fold->arg->i] : fold->src[0];
}
