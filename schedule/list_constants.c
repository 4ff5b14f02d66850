/* Values that depend on constants alone, as weights that a loop's turns read are after they have
 * been cast or scaled. No segment hands them on: each that reads one makes it anew, where fuse
 * prepares it before the first call and the layout may choose its order.
 *
 *     w' = CAST(w) - zero      read in a loop's body: two kernels there, run once */
#include "schedule.h"
#include "shape/shape.h"

static bool is_constant(const uint8_t *constant, const UOp *u)
{
	int64_t n;
	bool all = op_movement(u->op) || op_elementwise(u->op);
	if (u->op == OP_CONST || u->op == OP_BUFFER)
		return u->op == OP_CONST || buffer_is(u, "const");
	for (uint32_t k = 0; k < u->nsrc; k++)
		all &= constant[u->src[k]->id];
	return all && shape_static(u->shape, &n);
}

uint8_t *list_constants(const Nodes *all)
{
	uint8_t *constant = xcalloc(node_limit(), 1);
	for (size_t i = 0; i < all->n; i++)
		constant[all->at[i]->id] = is_constant(constant, all->at[i]);
	return constant;
}
