/* Which ranges a value depends on: a mask of axis numbers for each node, cached by id.
 *
 *     y = RREDUCE ADD (x[r0, r1], r1)   depends on {r0}: the reduction binds r1
 */
#include "index/index.h"
#include <stdlib.h>

static ARENA TABLE(uint64_t) mask;
static ARENA TABLE(bool) known;

int range_axis(const UOp *r) { return (int)r->arg->a[0]->i; }
const char *range_kind(const UOp *r) { return r->arg->a[1]->s; }

int64_t range_size(const UOp *r)
{
	int64_t n = 0;
	ix_is_const(r->src[0], &n);
	return n;
}

static uint64_t own_mask(const UOp *u)
{
	uint64_t m = 0;
	for (uint32_t i = 0; i < u->nsrc; i++)
		m |= mask.at[u->src[i]->id];
	if (u->op == OP_RANGE)
		m |= 1ull << range_axis(u);
	if (u->op == OP_RREDUCE)
		for (uint32_t i = 1; i < u->nsrc; i++)
			m &= ~(1ull << range_axis(u->src[i]));
	/* the size of a bound range depends only on variables, so the order does not matter */
	return m;
}

uint64_t range_mask(UOp *root)
{
	if (root->id < known.cap && known.at[root->id])
		return mask.at[root->id];
	table_fit(&mask);
	table_fit(&known);
	static ARENA VEC(UOp *) stack;
	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1];
		size_t before = stack.n;
		for (uint32_t i = 0; !known.at[u->id] && i < u->nsrc; i++)
			if (!known.at[u->src[i]->id])
				vec_push(&stack, u->src[i]);
		if (stack.n > before)
			continue;
		if (!known.at[u->id]) {
			mask.at[u->id] = own_mask(u);
			known.at[u->id] = true;
		}
		stack.n--;
	}
	return mask.at[root->id];
}
