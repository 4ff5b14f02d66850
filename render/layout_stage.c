/* The passes of layout in order, for the tool and for lower; and what they share. */
#include "layout.h"
#include <stdarg.h>
#include <stdlib.h>

bool layout_explain, layout_strict;

void layout_tell(const UOp *kernel, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	if (!layout_explain)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const Val *name = val_get(kernel->arg, "name");
	fprintf(stderr, "layout: %s: %s\n", name && name->kind == VAL_STR ? name->s : "kernel", text);
}

UOp *call_compact(UOp *call)
{
	Nodes all = walk(call->src[0]);
	VEC(UOp *) src = {0};
	VEC(UOp *) from = {0};
	VEC(UOp *) to = {0};
	vec_push(&src, call->src[0]);
	for (uint32_t k = 1; k < call->nsrc; k++) {
		bool used = false;
		for (size_t i = 0; i < all.n; i++) {
			UOp *p = all.at[i];
			if (p->op != OP_PARAM || val_get(p->arg, "slot")->i != k - 1)
				continue;
			used = true;
			vec_push(&from, p);
			vec_push(&to, LEAF(OP_PARAM, p->dtype, val_set(p->arg, "slot", val_int(src.n - 1))));
		}
		if (used)
			vec_push(&src, call->src[k]);
	}
	if (src.n < call->nsrc) {
		src.at[0] = substitute(call->src[0], from.n, from.at, to.at);
		call = node_new(OP_CALL, DT_NONE, src.n, src.at, call->arg);
	}
	vec_free(&src);
	vec_free(&from);
	vec_free(&to);
	return call;
}

/* What has been laid out says so, or it would be done twice. */
Graph *layout_done(Graph *g)
{
	Graph *r = plan_memory(g);
	r->meta = val_set(r->meta, "layout", val_str(target->name));
	return r;
}

bool layout_wanted(const Graph *g)
{
	return !target->gpu && target->vector && !val_get(g->meta, "layout");
}

static Graph *winograd(Graph *g) { return layout_strict ? g : layout_winograd(g); }

Graph *layout_all(Graph *g)
{
	if (!layout_wanted(g))
		return g;
	g = winograd(layout_ends(layout_reductions(g)));
	return layout_done(layout_weights(layout_blocks(g)));
}
