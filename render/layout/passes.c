/* The passes of layout in order, for the tool and for lower, and their common helpers. */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"
#include <stdlib.h>

UOp *call_compact(UOp *call)
{
	Nodes all = walk(call->src[0]);
	VEC(UOp *) src = {0};
	VEC(UOp *) from = {0};
	VEC(UOp *) to = {0};
	/* a slot's new number among those named; 0: not named */
	int64_t *now = arena_alloc(call->nsrc * sizeof *now);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			now[param_slot(all.at[i])] = 1;
	vec_push(&src, call->src[0]);
	for (uint32_t k = 0; k + 1 < call->nsrc; k++)
		if (now[k]) {
			now[k] = (int64_t)src.n - 1;
			vec_push(&src, call->src[k + 1]);
		}
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM) {
			vec_push(&from, all.at[i]);
			vec_push(&to, param_moved(all.at[i], now[param_slot(all.at[i])]));
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

/* Does the target have vectors, and has the document not been laid out? */
static bool wanted(const Graph *g)
{
	return !target->gpu && target->vector && !val_get(g->meta, "layout");
}

/* Has it not been laid out, and may calls be split? */
static bool may_part(const Graph *g) { return target->local && !val_get(g->meta, "layout"); }

/* Is it for a GPU, for which there are these passes alone: narrow, reductions, scans, weights? */
static bool for_gpu(const Graph *g) { return target->gpu && may_part(g); }

/* Marks the document as laid out, so that it is not done twice. */
static Graph *done(Graph *g)
{
	Graph *r = plan_memory(g);
	r->meta = val_set(r->meta, "layout", val_str(target->name));
	return r;
}

/* Has a place one index for all its axes? Then the document comes from between the passes of lower,
 * and is left as it is. */
static bool is_flat(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_INDEX && u->nsrc == 2 && u->src[0]->shape->rank != 1)
			return true;
	}
	return false;
}

static Graph *begin(Graph *g)
{
	g = target_choose(g);
	if ((wanted(g) || for_gpu(g)) && is_flat(g))
		g->meta = val_set(g->meta, "layout", val_str(target->name));
	return g;
}

/* May it take more memory than the buffers that are there? */
static bool may_grow(const Graph *g) { return wanted(g) && target->local; }

static Graph *narrow(Graph *g) { return for_gpu(g) ? layout_narrow(g) : g; }
static Graph *reductions(Graph *g)
{
	return may_grow(g) || for_gpu(g) ? layout_reductions(g) : g;
}
static Graph *scans(Graph *g) { return may_part(g) ? layout_scans(g) : g; }
static Graph *ranges(Graph *g) { return wanted(g) ? layout_ranges(g) : g; }
static Graph *swaps(Graph *g) { return may_grow(g) ? layout_swaps(g) : g; }
static Graph *ends(Graph *g) { return may_grow(g) ? layout_ends(g) : g; }
static Graph *winograd(Graph *g)
{
	return may_grow(g) && !lower_opt.strict ? layout_winograd(g) : g;
}
static Graph *blocks(Graph *g) { return may_grow(g) ? layout_blocks(g) : g; }
static Graph *weights(Graph *g)
{
	return wanted(g) || for_gpu(g) ? layout_weights(g) : g;
}
static Graph *operands(Graph *g) { return may_grow(g) ? layout_operands(g) : g; }
static Graph *masks(Graph *g) { return may_grow(g) && !target_masks(target) ? layout_masks(g) : g; }
static Graph *online(Graph *g)
{
	return may_grow(g) && !lower_opt.strict ? layout_online(g) : g;
}
static Graph *faint(Graph *g)
{
	return wanted(g) && !lower_opt.strict ? layout_faint(g) : g;
}
/* Those that the document brings, or --opt gives; the list leaves the SINK. */
static Graph *actions(Graph *g)
{
	const Val *list = schedule_list(g);
	if (!list)
		return g;
	if (!wanted(g))
		die(MALFORMED, "SINK: its actions cannot be carried out: the document has been "
			"laid out, or the target has no vectors");
	g = layout_actions(g, list->n, list->a);
	g->sink = node_like(g->sink, g->sink->nsrc, g->sink->src,
		val_set(g->sink->arg, "actions", NULL));
	return g;
}
static Graph *tables(Graph *g) { return wanted(g) ? layout_tables(g) : g; }
static Graph *sums(Graph *g) { return wanted(g) ? layout_sums(g) : g; }
static Graph *slices(Graph *g) { return wanted(g) ? layout_slices(g) : g; }
/* Has a call been split for a GPU? Its parts have no place in the workspace yet. */
static bool has_parts(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; for_gpu(g) && i < all.n; i++)
		if (buffer_is(all.at[i], "temp") && !val_get(all.at[i]->arg, "offset"))
			return true;
	return false;
}
static Graph *plan(Graph *g) { return wanted(g) || has_parts(g) ? done(g) : g; }

const Pass layout_passes[] = {
	{"target", begin, "read the target's description"},
	{"narrow", narrow, "axes of images as one, which a GPU's groups fill", .optional = true},
	{"reductions", reductions, "long reductions that leave few elements, in parts",
		.optional = true},
	{"scans", scans, "long scans beside few others, in parts", .optional = true},
	{"ranges", ranges, "ranges that contractions divide, as two", .optional = true},
	{"swaps", swaps, "products of narrow integers by instructions of the target",
		.optional = true},
	{"ends", ends, "inputs and outputs of contractions copied where that pays",
		.optional = true},
	{"winograd", winograd, "3x3 convolutions with fewer products", .optional = true},
	{"blocks", blocks, "channels in blocks of a vector, padding in buffers", .optional = true},
	{"weights", weights, "constants in the order in which they are read", .optional = true},
	{"operands", operands, "operands in the wrong order transposed", .optional = true},
	{"masks", masks, "conditions of sums that vectors use again, as words", .optional = true},
	{"online", online, "softmax and the product behind it with a running maximum and sum",
		.optional = true},
	{"faint", faint, "weights of an attention that are faint beside the greatest are 0",
		.optional = true},
	{"actions", actions, "actions of the schedule, as the SINK says", .optional = true},
	{"tables", tables, "tables that are also looked up, in their copies", .optional = true},
	{"sums", sums, "ranges of sums that contractions divide, as two", .optional = true},
	{"slices", slices, "temporaries in slices, never whole in memory", .optional = true},
	{"plan", plan, "temporaries packed into one workspace again"},
	{0},
};

Graph *layout_all(Graph *g)
{
	for (const Pass *p = layout_passes; p->name; p++)
		g = p->fn(g);
	return g;
}
