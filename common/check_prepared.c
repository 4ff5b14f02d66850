/* Buffers of role `prepared` against their rules: they hold what comes out of constants alone, so
 * whoever runs a document may fill them once, before its first call, and an exported program when
 * it starts.
 *
 *     SINK(CALL(E, t0, w), CALL(r, y, x, t0))      t0 prepared, w const: the first call runs once
 *
 * A call that writes one reads only constants and prepared buffers, depends on no symbolic size,
 * and stands before every call that runs each time. */
#include "uop.h"

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

static bool touches_prepared(const UOp *call)
{
	for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++)
		if (call->src[i]->op == OP_BUFFER && buffer_is(call->src[i], "prepared"))
			return true;
	return false;
}

static void check_once(const UOp *call)
{
	int64_t count;
	for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++) {
		const UOp *b = call->src[i];
		if (!buffer_is(b, "prepared") && !buffer_is(b, "const"))
			bad(call, "it prepares a buffer from what is not constant");
		if (buffer_is(b, "prepared") && !shape_static(b->shape, &count))
			bad(call, "it prepares a buffer of symbolic size");
	}
	if (call->op != OP_CALL)
		return;
	Nodes all = walk(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			bad(call, "it prepares a buffer from a symbolic size");
}

static void check_each_time(const UOp *call)
{
	if (!touches_prepared(call) || call->op != OP_CALL)
		return;
	uint64_t writes = call_writes(call);
	for (uint32_t i = 1; i < call->nsrc; i++)
		if (i <= 64 && writes >> (i - 1) & 1 && buffer_is(call->src[i], "prepared"))
			bad(call, "it writes a prepared buffer that is not its first");
}

void check_prepared(const Graph *g)
{
	bool later = false;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		bool once = call_prepares(call);
		if (once && later)
			bad(call, "it prepares a buffer behind a call that runs each time");
		later |= !once;
		if (once)
			check_once(call);
		else
			check_each_time(call);
	}
}
