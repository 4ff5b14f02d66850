/* How memory was used, on standard error with -v:
 *
 *     run: memory: weights 102.3 MB, plan 7.2 MB, inputs and outputs 0.6 MB, states 0.0 MB; at most
 *     114.4 MB (on one line)
 *
 * Weights are the constants, in the form in which the calls that run each time read them; the plan
 * is the workspace for temporaries, of a list the most that it had for them at one time; "at most"
 * is the peak of this process. */
#include "document/document.h"
#include "session/session.h"

static double bytes_of(const Buffers *b, const bool *read, const char *role)
{
	double n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (read[i] && buffer_is(b->u[i], role))
			n += b->host[i].bytes;
	return n;
}

MemoryUse memory_use(const Graph *g, const Buffers *b)
{
	bool *read = arena_alloc(b->n + 1);

	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc && !call_prepares(call); k++)
			read[buffer_slot(b, call->src[k])] = true;
	}
	return (MemoryUse){
		.weights = bytes_of(b, read, "const") + bytes_of(b, read, "prepared"),
		.plan = (double)b->plan,
		.given = bytes_of(b, read, "input") + bytes_of(b, read, "output"),
		.states = bytes_of(b, read, "state")};
}

void memory_report(const MemoryUse *u)
{
	enum { MB = 1000000 };

	fprintf(stderr, "%s: memory: weights %.1f MB, plan %.1f MB, inputs and outputs %.1f MB, "
		"states %.1f MB; at most %.1f MB\n", process.stage, u->weights / MB,
		u->plan / MB, u->given / MB, u->states / MB, (double)memory_peak() / MB);
}
