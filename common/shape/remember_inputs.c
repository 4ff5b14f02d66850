/* Keeps the order of a document's inputs, as the user wrote them, in meta: stages drop inputs that
 * nothing reads, and walk order is not the user's order.
 *
 *     meta {inputs: ["x", "unused", "w"], sized: [["unused", "f32", ["n", 4]]]}
 *
 * For an input of symbolic size, meta.sized has its dtype and shape: even if only its size is used,
 * it gives the size variable its value.
 */
#include "shape/shape.h"

static const Val *row(const UOp *u)
{
	return VARR(
		val_get(u->arg, "name"), val_str(dtype_name(u->dtype)), val_get(u->arg, "shape"));
}

void inputs_remember(Graph *g)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	size_t n = 0, nsized = 0;
	int64_t count;
	const char *err;
	int status;

	if (val_get(g->meta, "inputs"))
		return;
	const Val **name = arena_alloc((all.n + 1) * sizeof *name),
		  **sized = arena_alloc((all.n + 1) * sizeof *sized);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op != OP_BUFFER || !buffer_is(u, "input"))
			continue;
		name[n++] = val_str(buffer_name(u));
		/* at level tensor, nodes have no shapes yet */
		const Shape *s = u->shape ? u->shape :
					    shape_from_val(val_get(u->arg, "shape"), &err, &status);
		if (s && !shape_static(s, &count))
			sized[nsized++] = row(u);
	}
	g->meta = val_set(g->meta, "inputs", val_array(n, name));
	if (nsized)
		g->meta = val_set(g->meta, "sized", val_array(nsized, sized));
}
