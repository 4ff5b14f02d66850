/* Makes places flat: INDEX(PARAM [n,m], i, j) → INDEX(PARAM, i*m + j), simplified by the algebra. A
 * gated STORE guards the LOAD of its own place; since a value may be computed before the STORE,
 * that LOAD gets the gate itself. */
#include "kernels/kernels.h"

UOp *flat_place(const UOp *index)
{
	const Shape *s = index->src[0]->shape;
	UOp *at = ix_const(0), *stride = ix_const(1);
	for (int i = s->rank; i-- > 0;) {
		at = ix_add(at, ix_mul(index->src[1 + i], stride));
		stride = ix_mul(stride, s->dim[i]);
	}
	return at;
}

static UOp *flatten(UOp *u, void *ctx)
{
	if (u->op == OP_RREDUCE && u->nsrc == 1)        /* over nothing */
		return fold_value(u);
	if (u->op != OP_INDEX || u->src[0]->op != OP_PARAM)
		return u;
	if (u->nsrc == 2)       /* one axis, or flat already: a replayed kernel */
		return u;
	return NODE(OP_INDEX, u->dtype, VNIL, u->src[0], flat_place(u));
}

static UOp *guard_load(UOp *store)
{
	if (store->nsrc < 3)
		return store;
	UOp *load = NODE(OP_LOAD, store->src[0]->dtype, VNIL, store->src[0]);
	UOp *gated = NODE(OP_LOAD, store->src[0]->dtype, VNIL, store->src[0], store->src[2]);
	UOp *value = substitute(store->src[1], 1, &load, &gated);
	return node_with(store, (UOp *[]){store->src[0], value, store->src[2]});
}

static UOp *kernel_index(const KernelUse *use)
{
	UOp *k = walk_replace(use->kernel, flatten, NULL);
	UOp **src = arena_alloc(k->nsrc * sizeof *src);
	for (uint32_t i = 0; i < k->nsrc; i++)
		src[i] = guard_load(k->src[i]);
	return node_with(k, src);
}

Graph *lower_index(Graph *g) { return kernels_map(g, kernel_index); }
