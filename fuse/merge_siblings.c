/* Kernels over the same ranges with shared inputs become one with several outputs.
 *
 *     s[i] = Σj x[i,j]          →    one kernel that reads x once and stores s and m
 *     m[i] = max_j x[i,j]
 *
 * The later kernel also joins one whose output it reads, when it reads each element where it is
 * written (a value that must be stored anyway, an output, is then not loaded again). It moves up to
 * the earlier kernel's position, so its inputs must not be written in between, nor its outputs read
 * or written. Contractions stay alone: their loops are made for one result. */
#include "document/document.h"
#include "fuse.h"
#include <stdlib.h>

enum { STORES = 8 };

typedef struct {
	UOp *call;              /* NULL: it has joined an earlier one */
	StepFacts *is;          /* facts of the original step; a joined one's loops are the same */
	bool plain, joined;     /* may join; others have joined it */
	size_t nodes, stores;
} Sibling;
typedef struct { Sibling *step; int n; BufferUses uses; Map latest; Verdicts verdicts; } Siblings;

static bool may_join(StepFacts *f)
{
	int64_t row;
	if (!f->kernel || f->kernel->nsrc > STORES || f->sort || f->scan)
		return false;
	for (uint32_t i = 0; i < f->kernel->nsrc; i++)
		if (!store_is_plain(f->kernel->src[i]))
			return false;
	return !step_contracts(f, &row);
}

static void read_step(Siblings *s, int k, UOp *call)
{
	StepFacts *f = step_facts(call);
	s->step[k] = (Sibling){call, f, may_join(f), false, f->nodes, f->kernel ? f->kernel->nsrc :
		0};
	uses_add(&s->uses, call, f, k);
}

/* Can step b run where a does? */
static bool may_move(Siblings *s, int a, int b)
{
	const UOp *call = s->step[b].call;
	const StepFacts *f = s->step[b].is;
	for (uint32_t i = 0; i < f->nread; i++)
		if (access_from(use_of(&s->uses, step_buffer(call, f->read[i]))->writers, a + 1, b))
			return false;
	for (uint32_t i = 0; i < f->nwritten; i++) {
		const BufferUse *u = use_of(&s->uses, step_buffer(call, f->written[i]));
		if (access_from(u->readers, a, b) || access_from(u->writers, a, b))
			return false;
	}
	return true;
}

static bool writes(const UOp *kernel, const UOp *param)
{
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (store_buffer(kernel->src[i]) == param)
			return true;
	return false;
}

/* b with its loads of what a writes replaced by the values; NULL when it loads them at other
 * places */
static UOp *use_values(UOp *a, UOp *b)
{
	for (uint32_t i = 0; i < a->nsrc; i++) {
		UOp *load = NODE(OP_LOAD, a->src[i]->src[0]->dtype, VNIL, a->src[i]->src[0]);
		b = substitute(b, 1, &load, &a->src[i]->src[1]);
	}
	Nodes loads = kernel_loads(b);
	for (size_t i = 0; i < loads.n; i++)
		if (writes(a, loads.at[i]->src[0]->src[0]))
			return NULL;
	return has_op(b, OP_RREDUCE) ? number_bound(b) : b;
}

static UOp *join(UOp *a, UOp *b)
{
	UOp *src[2 * STORES];
	b = use_values(a, b);
	if (!b)
		return NULL;
	memcpy(src, a->src, a->nsrc * sizeof *src);
	memcpy(src + a->nsrc, b->src, b->nsrc * sizeof *src);
	UOp *k = node_new(OP_KERNEL, DT_NONE, a->nsrc + b->nsrc, src, a->arg);
	node_note(k, a->note);
	return k;
}

static Verdict *judge(Siblings *s, const Pair *pair)
{
	Verdict *v = verdict_of(&s->verdicts, pair, 0);
	if (v->known)
		return v;
	v->known = true;
	v->merged.kernel = join(pair->first, pair_second(pair));
	return v;
}

/* Slots are not in order: joined kernels are put in order at the end. */
static UOp *call_over(UOp *kernel, const Pair *pair)
{
	static ARENA VEC(UOp *) src;
	src.n = 0;
	vec_push(&src, kernel);
	for (uint32_t i = 0; i < pair->buffers; i++)
		vec_push(&src, pair->buffer[i]);
	return node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL);
}

static bool try_join(Siblings *s, int a, int b)
{
	Sibling *x = &s->step[a], *y = &s->step[b];
	if (!x->call || a == b || call_prepares(x->call) != call_prepares(y->call) ||
		x->stores + y->stores > STORES || x->nodes + y->nodes > KERNEL_NODES ||
		!may_move(s, a, b))
		return false;
	Pair pair = pair_of(x->call, y->call);
	Verdict *v = judge(s, &pair);
	explain("%s beside %s: %s", step_label(y->call), step_label(x->call),
		v->merged.kernel ? "one kernel" : "apart, it is read elsewhere");
	if (!v->merged.kernel)
		return false;
	x->call = call_over(v->merged.kernel, &pair);
	x->joined = true;
	x->nodes += y->nodes;
	x->stores += y->stores;
	uses_add(&s->uses, y->call, y->is, a);
	y->call = NULL;
	return true;
}

/* where a kernel over these loops that touches this buffer was last seen: index + 1 */
static uint64_t spot(const Sibling *y, const UOp *buffer)
{
	return hash_mix(y->is->loops, PKEY(buffer));
}

static void remember(Siblings *s, const Sibling *y, const UOp *call, int as)
{
	const StepFacts *f = y->is;
	void *at = (void *)(intptr_t)(as + 1);
	for (uint32_t i = 0; i < f->nread; i++)
		map_put(&s->latest, spot(y, step_buffer(call, f->read[i])), at);
	for (uint32_t i = 0; i < f->nwritten; i++)
		map_put(&s->latest, spot(y, step_buffer(call, f->written[i])), at);
}

static void visit(Siblings *s, int k)
{
	Sibling *y = &s->step[k];
	const UOp *call = y->call;
	/* a shared scalar is not a reason to share loops */
	for (uint32_t i = 0; i < y->is->nmoved; i++) {
		uint64_t at = spot(y, step_buffer(call, y->is->moved[i]));
		int a = (int)(intptr_t)map_get(&s->latest, at) - 1;
		if (a >= 0 && s->step[a].is->loops == y->is->loops && try_join(s, a, k)) {
			remember(s, y, call, a);
			return;
		}
	}
	remember(s, y, call, k);
}

static UOp *in_order(UOp *call)
{
	Seated s = seat_buffers(call->src[0], call->src + 1);
	return seated_call(&s, call->src + 1);
}

Graph *merge_siblings(Graph *g)
{
	Siblings s = {.n = g->sink->nsrc};
	VEC(UOp *) left = {0};
	s.step = xcalloc(s.n + 1, sizeof *s.step);
	for (int i = 0; i < s.n; i++)
		read_step(&s, i, g->sink->src[i]);
	for (int i = 0; i < s.n; i++)
		if (s.step[i].plain)
			visit(&s, i);
	for (int i = 0; i < s.n; i++) {
		UOp *call = s.step[i].call;
		if (call)
			vec_push(&left, s.step[i].joined ? in_order(call) : call);
	}
	Graph *r = graph_with_calls(g, left.n, left.at);
	uses_free(&s.uses);
	map_free(&s.latest);
	map_free(&s.verdicts);
	vec_free(&left);
	free(s.step);
	return r;
}
