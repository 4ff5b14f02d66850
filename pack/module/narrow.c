/* Constants stored in half the bytes: f32 as f16 or bf16, which init_ws widens into the workspace.
 *
 *     w f32[4096] = 0.1, …     →   0.0999755859375, …   and in the source the 16 bits of each
 *
 * What it changes is seen by running the document with rounded constants, before anything is
 * packed. */
#include "module/module.h"

enum { LEAST = 256 };           /* bytes; fewer are not worth a copy */

bool constant_narrows(const UOp *u)
{
	int64_t bytes;

	return u->op == OP_BUFFER && buffer_is(u, "const") && u->dtype == DT_F32 &&
		shape_bytes(u->shape, DT_F32, &bytes) && bytes >= LEAST;
}

Array constant_narrow(const Array *a, DType to)
{
	Array r = *a;

	r.dtype = to;
	r.bytes = a->bytes / 2;
	r.data = arena_alloc(r.bytes + 1);
	r.owned = false;
	interp_cast(to, r.data, DT_F32, a->data, r.bytes / 2);
	return r;
}

const Graph *constants_rounded(const Graph *g, DType to)
{
	Nodes all = walk(g->sink);
	NodeList from = {0}, with = {0};

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (!constant_narrows(u))
			continue;
		Array a = constant_content(u, NULL), narrow = constant_narrow(&a, to);
		void *wide = arena_alloc(a.bytes);
		interp_cast(DT_F32, wide, to, narrow.data, a.bytes / 4);
		const Val *arg = val_set(u->arg, "data", val_bin(wide, a.bytes));
		vec_push(&from, u);
		vec_push(&with, node_like(u, 0, NULL, val_set(arg, "file", NULL)));
	}
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = substitute(g->sink, from.n, from.at, with.at);
	vec_free(&from);
	vec_free(&with);
	return r;
}
