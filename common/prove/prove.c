/* The driver: goes over the calls of a document and asks each check of the table. */
#include "base/progress.h"
#include "prove/prove.h"
#include "prove/places.h"
#include "document/document.h"
#include <stdlib.h>

static const ProofCheck checks[] = {
	{"calls", prove_calls, NULL},
	{"workspace", prove_workspace, NULL},
	{"slices", prove_slices, NULL, .order = true},
	{"grid", NULL, prove_grid},
	{"places", check_vars, prove_places},
	{"registers", NULL, prove_registers, .order = true},
	{"apart", NULL, prove_apart, .order = true},
	{"barriers", NULL, prove_barriers, .order = true},
	{"lanes", NULL, prove_lanes, .order = true},
};
enum { CHECKS = sizeof checks / sizeof *checks };

_Noreturn void prove_fault(const ProvedCall *c, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	die(MALFORMED, "K%u %.80s: %s", c->number,
		c->call->op == OP_CALL ? call_name(c->call) : "copy", buf_str(&b));
}

UOp *call_kernel(const UOp *call)
{
	UOp *k = call->op == OP_CALL ? call->src[0] : NULL;
	if (k && k->op == OP_PROGRAM)
		k = k->src[0];
	return k && k->op == OP_KERNEL ? lanes_as_loops(k) : NULL;
}

ProvedCall proved_call(const Graph *g, uint32_t number)
{
	UOp *call = g->sink->src[number];
	return (ProvedCall){g, number, call, call_kernel(call)};
}

Effort *effort(void)
{
	static ARENA Effort left;
	return &left;
}

static void effort_begin(const Graph *g)
{
	enum { STEPS = 1 << 17, CASES = 1 << 24, STEPS_A_CALL = 1 << 11, CASES_A_CALL = 1 << 16 };
	size_t calls = g->sink->nsrc;
	*effort() = (Effort){STEPS + calls * STEPS_A_CALL, CASES + calls * CASES_A_CALL};
}

void prove_sizes(const Graph *g, const VarEnv *sizes)
{
	bool large = false;
	for (int i = 0; i < sizes->n; i++)
		large |= sizes->value[i] > USUAL_SIZE;
	if (!large || g->level < LV_SCHEDULE || g->level > LV_LOOPS || steps_listed(g))
		return;
	places_again(sizes);
	effort_begin(g);
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		const ProvedCall c = proved_call(g, k);
		prove_places(&c);
	}
	places_again(NULL);
}

static bool lenient(void) { return process.guard || process.own_made; }

static void prove_document(const Graph *g)
{
	for (int i = 0; i < CHECKS; i++)
		if (checks[i].document && !(checks[i].order && lenient()))
			checks[i].document(g);
	Progress progress = progress_start("kernels proved", g->sink->nsrc, true);
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		progress_step(&progress, k);
		const ProvedCall c = proved_call(g, k);
		for (int i = 0; i < CHECKS; i++)
			if (checks[i].call && !(checks[i].order && lenient()))
				checks[i].call(&c);
	}
	progress_end(&progress);
}

static Graph *admit_segment(Graph *g, void *ctx)
{
	if (lenient())
		g = guard_places(g);
	prove_document(g);
	return places_doubtful() ? guard_places(g) : g;
}

Graph *prove_admit(Graph *g)
{
	effort_begin(g);
	return g->level < LV_SCHEDULE ? g : segments_map(g, admit_segment, NULL);
}
