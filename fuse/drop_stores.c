/* Drops what nobody reads: from the last call back, a STORE to a temporary that no later call loads goes, a kernel without
 * STOREs with it, and so does what only they loaded. */
#include "fuse.h"
#include <stdlib.h>

static bool is_wanted(const Map *read, UOp *buffer)
{
	bool ours = buffer_is(buffer, "temp") || buffer_is(buffer, "prepared");
	return !ours || map_get(read, PKEY(buffer));
}

/* kernel (or copy, or call) with its wanted STOREs alone; NULL when there is none */
static UOp *wanted(const Map *read, UOp *kernel)
{
	VEC(UOp *) stores = {0};
	if (kernel->op != OP_KERNEL)
		return is_wanted(read, step_written(kernel)) ? kernel : NULL;
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (is_wanted(read, store_buffer(kernel->src[i])))
			vec_push(&stores, kernel->src[i]);
	UOp *r = stores.n ? node_new(OP_KERNEL, DT_NONE, stores.n, stores.at, kernel->arg) : NULL;
	if (r)
		node_note(r, kernel->note);
	vec_free(&stores);
	return r;
}

Graph *drop_stores(Graph *g)
{
	Map read = {0};
	VEC(UOp *) kept = {0};
	for (uint32_t i = g->sink->nsrc; i--;) {
		UOp *k = wanted(&read, g->sink->src[i]);
		if (!k) {
			explain("%s: dropped, nobody reads it", kernel_label(g->sink->src[i]));
			continue;
		}
		vec_push(&kept, k);
		if (k->op != OP_KERNEL) {
			uint32_t n;
			UOp *const *reads = step_reads(k, &n);
			for (uint32_t r = 0; r < n; r++)
				map_put(&read, PKEY(reads[r]), k);
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
