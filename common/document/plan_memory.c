/* Packs temporaries into one workspace. Each is alive from the first call that uses it to the last.
 *
 *     BUFFER t3 {…, role: "temp"}   →   BUFFER t3 {…, role: "temp", offset: 4096}
 *
 * With symbolic sizes run computes the offsets when the sizes are known, from the same lifetimes.
 */
#include "document/document.h"
#include <stdlib.h>

enum { ALIGN = 64 };

typedef struct {
	VEC(UOp *) buffer;
	VEC(int64_t) size;
	VEC(int) first;
	VEC(int) last;
	Map index;
	bool symbolic;
} Lives;

static void touch(Lives *l, UOp *b, int call)
{
	if (!buffer_is(b, "temp"))
		return;
	intptr_t i = (intptr_t)map_get(&l->index, PKEY(b)) - 1;
	if (i >= 0) {
		l->last.at[i] = call;
		return;
	}
	int64_t bytes;
	if (!shape_bytes(b->shape, b->dtype, &bytes)) {
		l->symbolic = true;
		bytes = 0;
	}
	vec_push(&l->buffer, b);
	vec_push(&l->size, bytes);
	vec_push(&l->first, call);
	vec_push(&l->last, call);
	map_put(&l->index, PKEY(b), (void *)(intptr_t)l->buffer.n);
}

Graph *plan_memory(Graph *g)
{
	Lives l = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++)
			touch(&l, call->src[k], i);
	}
	if (l.symbolic)
		return g;
	size_t n = l.buffer.n;
	int64_t *offset = xcalloc(n + 1, sizeof *offset), bound = 0;
	int64_t bytes = memory_plan(n, l.size.at, l.first.at, l.last.at, ALIGN, offset, &bound);
	VEC(UOp *) to = {0};
	for (size_t i = 0; i < n; i++) {
		UOp *b = l.buffer.at[i];
		vec_push(&to, node_like(b, 0, NULL, val_set(b->arg, "offset", val_int(offset[i]))));
	}
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = substitute(g->sink, n, l.buffer.at, to.at);
	r->meta = val_set(g->meta, "workspace", VARR(val_int(bytes), val_int(bound)));
	free(offset);
	vec_free(&to);
	vec_free(&l.buffer);
	vec_free(&l.size);
	vec_free(&l.first);
	vec_free(&l.last);
	map_free(&l.index);
	return r;
}
