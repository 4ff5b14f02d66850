/* Parts of registers, as loads of their own: what the pass `registers` of lower takes from a vector
 * with a SHUFFLE is side by side in it, and so lies in an array.
 *
 *     SHUFFLE [4, 5, 6, 7] (f32x8 LOAD acc[RAMP 0 1])   →   f32x4 LOAD acc[RAMP 4 1] */
#include "document/document.h"
#include "index/index.h"

/* The place of what the SHUFFLE takes; NULL when it is not side by side in a register. */
static UOp *part_place(const UOp *u)
{
	const UOp *load = u->nsrc == 1 && u->src[0]->op == OP_LOAD ? u->src[0] : NULL;
	const UOp *place = load && load->nsrc == 1 && load->src[0]->nsrc == 2 &&
			load->src[0]->src[0]->op == OP_DEFINE_REG ? load->src[0]->src[1] : NULL;
	if (!place || place->op != OP_RAMP || place->arg->i != 1 || dtype_lanes(u->dtype) < 2)
		return NULL;
	for (size_t i = 0; i < u->arg->n; i++)
		if (u->arg->a[i]->i != u->arg->a[0]->i + (int64_t)i)
			return NULL;
	UOp *first = ix_add(place->src[0], ix_const(u->arg->a[0]->i));
	return NODE(OP_RAMP, dtype_in_lanes(DT_I64, dtype_lanes(u->dtype)), val_int(1), first);
}

static UOp *part_loaded(UOp *u, void *ctx)
{
	(void)ctx;
	if (reg_is_vector(u))
		return node_like(u, 0, NULL, val_array(2, u->arg->a));
	UOp *place = u->op == OP_SHUFFLE ? part_place(u) : NULL;
	if (!place)
		return u;
	UOp *index = NODE(OP_INDEX, u->dtype, VNIL, u->src[0]->src[0]->src[0], place);
	return NODE(OP_LOAD, u->dtype, VNIL, index);
}

UOp *lane_parts(UOp *kernel)
{
	Nodes all = walk_kept(kernel);
	for (size_t i = 0; i < all.n; i++)
		if (reg_is_vector(all.at[i]))
			return walk_replace(kernel, part_loaded, NULL);
	return kernel;
}
