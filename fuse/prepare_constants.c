/* Values that depend only on constants are computed once: their temporaries become `prepared`,
 * their kernels go first.
 *
 *     t0[i] = sqrt(var[i] + eps)      BUFFER t0 {…, role: "temp"}  →  {…, role: "prepared"}
 *     y[n,i] = x[n,i] / t0[i]
 *
 * This happens before anything is merged, so that later passes see from a kernel's buffer whether
 * it runs once or at each call. A value that depends on a symbolic size is not constant, nor is one
 * that would take much more memory than its inputs: it is better computed where it is used. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

/* bytes made from n bytes of constants: at most GROWTH * n and half of the last cache */
enum { GROWTH = 8, ROUNDS = 8 };

/* By the buffer's id: KNOWN while all its writers so far run once, REFUSED permanently; and the
 * bytes of the constants from which it is computed. */
enum { KNOWN = 1, REFUSED = 2 };
typedef struct { uint8_t *mark; double *origin; bool *once; } Preparing;

/* Does a step run once, given what is known of those before it? *from gets the bytes of the
 * constants from which it is computed. */
static bool runs_once(const Preparing *p, const UOp *step, const StepFacts *f, double *from)
{
	*from = 0;
	if (!f->kernel || f->sized)
		return false;
	for (uint32_t k = 0; k < f->nread; k++) {
		const UOp *b = step_buffer(step, f->read[k]);
		if (!buffer_is(b, "const") && p->mark[b->id] != KNOWN)
			return false;
		*from += buffer_is(b, "const") ? buffer_bytes(b) : p->origin[b->id];
	}
	for (uint32_t k = 0; k < f->nwritten; k++) {
		const UOp *b = step_buffer(step, f->written[k]);
		if (!buffer_is(b, "temp") || p->mark[b->id] == REFUSED)
			return false;
		if (buffer_bytes(b) > GROWTH * *from + (double)fuse_opt.machine.cache[2] / 2)
			return false;
	}
	return true;
}

/* One pass over all steps; true when a buffer was refused that had been known. */
static bool mark_calls(Preparing *p, const UOp *sink)
{
	bool again = false;
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		const UOp *step = sink->src[i];
		const StepFacts *f = step_facts(sink->src[i]);
		double from;
		p->once[i] = runs_once(p, step, f, &from);
		for (uint32_t k = 0; k < f->nwritten; k++) {
			uint32_t id = step_buffer(step, f->written[k])->id;
			again |= !p->once[i] && p->mark[id] == KNOWN;
			p->mark[id] = p->once[i] ? KNOWN : REFUSED;
			p->origin[id] += p->once[i] ? from : 0;
		}
	}
	return again;
}

/* Resets what was known; refused buffers stay refused. */
static void forget(Preparing *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		p->mark[i] &= REFUSED;
		p->origin[i] = 0;
	}
}

static UOp *rename_temps(const Preparing *p, UOp *sink)
{
	VEC(UOp *) from = {0}, to = {0};
	Nodes all = walk(sink);
	for (size_t i = 0; i < all.n; i++) {
		UOp *b = all.at[i];
		if (b->op != OP_BUFFER || p->mark[b->id] != KNOWN)
			continue;
		vec_push(&from, b);
		vec_push(&to,
			LEAF(OP_BUFFER, b->dtype, val_set(b->arg, "role", val_str("prepared"))));
		node_note(to.at[to.n - 1], b->note);
	}
	UOp *r = substitute(sink, from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return r;
}

static Graph *in_order(const Preparing *p, Graph *g)
{
	VEC(UOp *) order = {0};
	UOp *sink = rename_temps(p, g->sink);
	for (int once = 1; once >= 0; once--)
		for (uint32_t i = 0; i < sink->nsrc; i++)
			if (p->once[i] == once)
				vec_push(&order, sink->src[i]);
	g = graph_with_calls(g, order.n, order.at);
	vec_free(&order);
	return g;
}

Graph *prepare_constants(Graph *g)
{
	size_t n = node_limit();
	Preparing p = {xcalloc(n, 1), xcalloc(n, sizeof *p.origin), xcalloc(g->sink->nsrc + 1, 1)};
	int round = 1;
	while (mark_calls(&p, g->sink) && round++ < ROUNDS)
		forget(&p, n);
	bool any = false;
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		any |= p.once[i];
	/* a document that takes more rounds than any real schedule does is left unchanged */
	if (any && round <= ROUNDS)
		g = in_order(&p, g);
	free(p.mark);
	free(p.origin);
	free(p.once);
	return g;
}
