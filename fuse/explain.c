/* --explain: the decisions and their reasons, a line for each pair that was examined; then the
 * buffers that each kernel reads and writes. */
#include "base/progress.h"
#include "shape/shape.h"
#include "fuse.h"
#include <stdarg.h>
#include <stdlib.h>

void explain(const char *fmt, ...)
{
	va_list ap;
	if (!fuse_opt.explain)
		return;
	progress_clear();
	va_start(ap, fmt);
	fputs("fuse: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

const char *step_label(const UOp *step)
{
	if (step->op != OP_CALL)
		return "copy";
	return step->src[0]->op == OP_CUSTOM ? custom_name(step->src[0]->arg) :
					       buffer_name(step->src[1]);
}

static void print_names(Buf *b, const UOp *call, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		buf_printf(b, " %s", buffer_name(call->src[i]));
}

Graph *explain_result(Graph *g)
{
	if (!fuse_opt.explain)
		return g;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		Buf b = {0};
		if (call->op != OP_CALL) {
			explain("copy: 1 read, 1 write: %s -> %s", buffer_name(call->src[1]),
				buffer_name(call->src[0]));
			continue;
		}
		/* slots in order: written, then read; a buffer that is updated in place counts as
		 * both */
		const StepFacts *f = step_facts(call);
		uint32_t writes = f->nwritten, reads = f->nread;
		print_names(&b, call, writes + 1, call->nsrc);
		buf_printf(&b, " ->");
		print_names(&b, call, 1, writes + 1);
		explain("%s: %u read%s, %u write%s:%s", val_get(call->src[0]->arg, "name")->s,
			reads, reads == 1 ? "" : "s", writes, writes == 1 ? "" : "s", buf_str(&b));
		buf_free(&b);
	}
	const Val *w = val_get(g->meta, "workspace");
	if (w && w->kind == VAL_ARRAY)
		explain("workspace %lld bytes, lower bound %lld", (long long)w->a[0]->i,
			(long long)w->a[1]->i);
	return g;
}
