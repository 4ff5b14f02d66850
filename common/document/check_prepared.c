/* Checks the rules for buffers of role `prepared`. They hold values computed from constants only,
 * so `run` may fill them once, before the first call, and an exported program when it starts.
 *
 *     SINK(CALL(E, t0, w), CALL(r, y, x, t0))      t0 prepared, w const: the first call runs once
 *
 * A call that writes one reads only constants and prepared buffers, depends on no symbolic size,
 * and comes before every call that runs each time. */
#include "document/document.h"

bool call_prepares(const UOp *call)
{
	const UOp *to = call->op == OP_CALL ? (call->nsrc > 1 ? call->src[1] : NULL) : call->src[0];
	return to && to->op == OP_BUFFER && buffer_is(to, "prepared");
}

static _Noreturn void bad(const UOp *call, const char *why)
{
	const char *name = call->op == OP_CALL ? call_name(call) : "copy";
	die(MALFORMED, "node %u %s (%.60s): %s", call->id, op_name(call->op), name, why);
}

static void check_once(const UOp *call)
{
	int64_t count;
	for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++) {
		const UOp *b = call->src[i];
		if (!buffer_is(b, "prepared") && !buffer_is(b, "const"))
			bad(call, "it prepares a buffer from a buffer that is not constant");
		if (buffer_is(b, "prepared") && !shape_static(b->shape, &count))
			bad(call, "it prepares a buffer of symbolic size");
	}
	if (call->op != OP_CALL)
		return;
	Nodes all = walk_kept(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			bad(call, "it prepares a buffer from a symbolic size");
}

static bool touches_prepared(const UOp *call)
{
	for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++)
		if (buffer_is(call->src[i], "prepared"))
			return true;
	return false;
}

/* Checks that the prepared buffers that a call reads have been filled, and marks those it fills. */
static void check_filled(Map *filled, const UOp *call, bool once)
{
	uint32_t first = call->op == OP_CALL;
	uint64_t fills = first ? call_fills(call) : 1;
	for (int writes = 0; writes < 2; writes++)
		for (uint32_t i = first; i < call->nsrc; i++) {
			const UOp *b = call->src[i];
			if (!buffer_is(b, "prepared") ||
				(i - first < 64 && fills >> (i - first) & 1) != writes)
				continue;
			if (writes && !once)
				bad(call, "it writes a prepared buffer that is not its first");
			if (writes)
				map_put(filled, PKEY(b), (void *)b);
			else if (!map_get(filled, PKEY(b)))
				bad(call, "it reads a prepared buffer that no call has filled");
		}
}

static Graph *check_segment(Graph *g, void *ctx)
{
	Map filled = {0};
	bool later = false;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		if (call_prepares(call) && later)
			bad(call, "it prepares a buffer after a call that runs each time");
		later |= !call_prepares(call);
	}
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		if (call_prepares(call))
			check_once(call);
		if (touches_prepared(call))
			check_filled(&filled, call, call_prepares(call));
	}
	map_free(&filled);
	return g;
}

void check_prepared(const Graph *g) { segments_map((Graph *)g, check_segment, NULL); }
