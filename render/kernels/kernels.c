/* The kernels of a document, each visited once with the facts that its calls provide. */
#include "base/progress.h"
#include "document/document.h"
#include "shape/shape.h"
#include "target/target.h"
#include "kernels/kernels.h"
#include <stdarg.h>
#include <stdlib.h>

typedef struct { const Val *kernel, *text; } Reason;

/* What --reasons leaves of the document at hand. */
static ARENA VEC(Reason) told;

void explain(const UOp *kernel, const char *fmt, ...)
{
	Buf text = {0};
	va_list ap;
	if (!lower_opt.explain && !lower_opt.reasons)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (lower_opt.explain) {
		progress_clear();
		fprintf(stderr, "%s: %s: %s\n", process.stage, kernel_name(kernel), buf_str(&text));
	}
	if (lower_opt.reasons)
		vec_push(&told, ((Reason){val_str(kernel_name(kernel)),
			val_str(buf_str(&text))}));
	buf_free(&text);
}

Graph *reasons_leave(Graph *g)
{
	const Val **rows = arena_alloc((told.n + 1) * sizeof *rows);
	for (size_t i = 0; i < told.n; i++)
		rows[i] = VARR(told.at[i].kernel, told.at[i].text);
	if (told.n)
		g->meta = val_set(g->meta, "reasons", val_array(told.n, rows));
	return g;
}

Graph *kernels_map(Graph *g, UOp *(*fn)(const KernelUse *use))
{
	Map uses = {0}, done = {0};
	VEC(UOp *) calls = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (!call_has_kernel(call))
			continue;
		KernelUse *use = map_get(&uses, PKEY(call->src[0]));
		if (!use) {
			use = arena_alloc(sizeof *use);
			*use = (KernelUse){.kernel = call->src[0], .call = call, .once = true};
			map_put(&uses, PKEY(call->src[0]), use);
		}
		use->alias |= call_aliases(call);
		use->once &= call_prepares(call);
		use->calls++;
	}
	Progress progress = progress_start("kernels", g->sink->nsrc, true);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		progress_step(&progress, i);
		UOp *call = g->sink->src[i];
		if (call_has_kernel(call)) {
			UOp *k = map_get(&done, PKEY(call->src[0]));
			if (!k) {
				k = fn(map_get(&uses, PKEY(call->src[0])));
				map_put(&done, PKEY(call->src[0]), k);
			}
			call = call_with_kernel(call, k);
		}
		vec_push(&calls, call);
	}
	progress_end(&progress);
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
			vec_push(&src,
				call->src[k]->op == OP_CUSTOM ? fn(call->src[k], call) :
								call->src[k]);
		vec_push(&calls, node_with(call, src.at));
	}
	Graph *r = graph_with_calls(g, calls.n, calls.at);
	vec_free(&calls);
	vec_free(&src);
	return r;
}

bool slice_starts(const UOp *call)
{
	const Val *slice = val_get(call->src[0]->arg, "slice"), *first = val_get(slice, "first");
	return !slice || (first && first->kind == VAL_BOOL && first->b);
}
