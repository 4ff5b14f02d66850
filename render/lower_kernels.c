/* The kernels of a document, each seen once with what its calls tell about it. */
#include "render.h"
#include <stdarg.h>
#include <stdlib.h>

bool lower_explain, lower_strict;
const char *lower_opt;

void explain(const UOp *kernel, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	if (!lower_explain)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s: %s: %s\n", die_stage, kernel_name(kernel), text);
}

/* Does a call give one buffer to two slots?  Slots are few; the check is quadratic in them alone.
 */
static bool call_aliases(const UOp *call)
{
	for (uint32_t i = 1; i < call->nsrc; i++)
		for (uint32_t j = i + 1; j < call->nsrc; j++)
			if (call->src[i] == call->src[j])
				return true;
	return false;
}

Graph *graph_with_calls(Graph *g, size_t n, UOp *const *calls)
{
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = node_new(OP_SINK, DT_NONE, n, (UOp **)calls, g->sink->arg);
	node_note(r->sink, g->sink->note);
	return r;
}

Graph *kernels_map(Graph *g, UOp *(*fn)(const Use *use))
{
	Map uses = {0}, done = {0};
	VEC(UOp *) calls = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (call->op != OP_CALL || call->src[0]->op != OP_KERNEL)
			continue;
		Use *use = map_get(&uses, PKEY(call->src[0]));
		if (!use) {
			use = arena_alloc(sizeof *use);
			*use = (Use){call->src[0], call, false};
			map_put(&uses, PKEY(call->src[0]), use);
		}
		use->alias |= call_aliases(call);
	}
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (call->op == OP_CALL && call->src[0]->op == OP_KERNEL) {
			UOp *k = map_get(&done, PKEY(call->src[0]));
			if (!k) {
				k = fn(map_get(&uses, PKEY(call->src[0])));
				map_put(&done, PKEY(call->src[0]), k);
			}
			UOp **src = arena_alloc(call->nsrc * sizeof *src);
			memcpy(src, call->src, call->nsrc * sizeof *src);
			src[0] = k;
			call = node_with(call, src);
		}
		vec_push(&calls, call);
	}
	Graph *r = graph_with_calls(g, calls.n, calls.at);
	vec_free(&calls);
	map_free(&uses);
	map_free(&done);
	return r;
}

Graph *customs_map(Graph *g, UOp *(*fn)(UOp *custom, const UOp *call))
{
	VEC(UOp *) calls = {0}, src = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		src.n = 0;
		for (uint32_t k = 0; k < call->nsrc; k++)
			vec_push(&src, call->src[k]->op == OP_CUSTOM ? fn(call->src[k], call) : call->src[k]);
		vec_push(&calls, node_with(call, src.at));
	}
	Graph *r = graph_with_calls(g, calls.n, calls.at);
	vec_free(&calls);
	vec_free(&src);
	return r;
}
