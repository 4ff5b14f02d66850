/* States beside steps: an ASSIGN is read by the SINK alone, since what happens to a state stands at
 * the end of the list.
 *
 *     y = SHRINK(ASSIGN(s, v))         y = SHRINK(v)
 *     SINK(y)                     →    SINK(y, ASSIGN(s, v))    the latter has no name */
#include "schedule.h"

/* The node with what its ASSIGNs assign in their place. */
static UOp *without_assigns(UOp *u, void *ctx)
{
	NodeList src = {0};
	for (uint32_t k = 0; k < u->nsrc; k++)
		vec_push(&src, u->op != OP_SINK && u->src[k]->op == OP_ASSIGN ? u->src[k]->src[1] :
			u->src[k]);
	u = node_with(u, src.at);
	vec_free(&src);
	return u;
}

static bool has(const NodeList *out, const UOp *u)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->at[i] == u)
			return true;
	return false;
}

Graph *list_updates(Graph *g)
{
	Nodes all = walk(g->sink);
	NodeList out = {0};
	for (size_t i = 0; i < sink_outputs(g->sink); i++)
		vec_push(&out, g->sink->src[i]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_ASSIGN && !has(&out, all.at[i]))
			vec_push(&out, all.at[i]);
	g->sink = walk_replace(
		sink_with(g->sink, out.n, out.at, g->sink->arg), without_assigns, NULL);
	vec_free(&out);
	return g;
}
