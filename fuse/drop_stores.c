/* Drops dead stores. From the last call backwards: a STORE to a temporary that no later call loads
 * is removed, a kernel without STOREs too, and so are the stores that only they loaded. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

static bool is_wanted(const Map *read, const UOp *buffer)
{
	bool ours = buffer_is(buffer, "temp") || buffer_is(buffer, "prepared");
	return !ours || map_get(read, PKEY(buffer));
}

/* step with only its wanted STOREs; NULL when there are none */
static UOp *wanted(const Map *read, UOp *step)
{
	VEC(UOp *) stores = {0};
	UOp *kernel = step_facts(step)->kernel, *r = step;
	if (!kernel)
		return is_wanted(read, step_buffer(step, 0)) ? step : NULL;
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (is_wanted(read, step_buffer(step, param_slot(store_buffer(kernel->src[i])))))
			vec_push(&stores, kernel->src[i]);
	if (stores.n < kernel->nsrc)
		r = NULL;
	if (!r && stores.n) {
		UOp *left = node_new(OP_KERNEL, DT_NONE, stores.n, stores.at, kernel->arg);
		node_note(left, kernel->note);
		Seated s = seat_buffers(left, step->src + 1);
		r = seated_call(&s, step->src + 1);
	}
	vec_free(&stores);
	return r;
}

Graph *drop_stores(Graph *g)
{
	Map read = {0};
	uint32_t n = g->sink->nsrc, first = n;
	UOp **kept = xcalloc(n, sizeof *kept);
	for (uint32_t i = n; i--;) {
		UOp *k = wanted(&read, g->sink->src[i]);
		if (!k) {
			explain("%s: dropped, nobody reads it", step_label(g->sink->src[i]));
			continue;
		}
		kept[--first] = k;
		const StepFacts *f = step_facts(k);
		for (uint32_t r = 0; r < f->nread; r++)
			map_put(&read, PKEY(step_buffer(k, f->read[r])), k);
	}
	g = graph_with_calls(g, n - first, kept + first);
	map_free(&read);
	free(kept);
	return g;
}
