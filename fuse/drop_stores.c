/* Drops what nobody reads: from the last call back, a kernel whose buffers are all temporaries that no later call
 * loads is dead, and so are what only it loaded. */
#include "fuse.h"
#include <stdlib.h>

static bool is_wanted(const Map *read, UOp *kernel)
{
	if (kernel->op == OP_MEMCPY)
		return strcmp(buffer_role(kernel->src[0]), "temp") || map_get(read, PKEY(kernel->src[0]));
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *b = store_buffer(kernel->src[i]);
		if (strcmp(buffer_role(b), "temp") || map_get(read, PKEY(b)))
			return true;
	}
	return false;
}

Graph *drop_stores(Graph *g)
{
	Map read = {0};
	VEC(UOp *) kept = {0};
	for (uint32_t i = g->sink->nsrc; i--;) {
		UOp *k = g->sink->src[i];
		if (!is_wanted(&read, k)) {
			explain("%s: dropped, nobody reads it", kernel_label(k));
			continue;
		}
		vec_push(&kept, k);
		if (k->op == OP_MEMCPY) {
			map_put(&read, PKEY(k->src[1]), k);
			continue;
		}
		Nodes loads = kernel_loads(k);
		for (size_t l = 0; l < loads.n; l++)
			map_put(&read, PKEY(loads.at[l]->src[0]->src[0]), k);
	}
	for (size_t i = 0; i < kept.n / 2; i++) {
		UOp *swap = kept.at[i];
		kept.at[i] = kept.at[kept.n - 1 - i];
		kept.at[kept.n - 1 - i] = swap;
	}
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->sink = node_new(OP_SINK, DT_NONE, kept.n, kept.at, g->sink->arg);
	map_free(&read);
	vec_free(&kept);
	return r;
}
