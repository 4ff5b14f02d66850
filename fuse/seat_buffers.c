/* Assigns buffers to slots.
 *
 *     CALL(KERNEL(STORE(INDEX(PARAM 0, r0), LOAD(PARAM 3…) + LOAD(PARAM 1…))), y, x, x, w)
 *     →   CALL(KERNEL(STORE(INDEX(PARAM 0, r0), LOAD(PARAM 1…) + LOAD(PARAM 2…))), y, w, x)
 *
 * Slots are numbered in the kernel's reading order, written ones first, and each buffer has one.
 * Kernels that compute the same are then one node, whatever their buffers, and facts about one hold
 * for all. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>


/* A number for some of the nodes, by id; valid when made in the current round. */
typedef struct { uint32_t round, value; } Mark;
static ARENA TABLE(Mark) mark;

static void marks_begin(void) { table_round(&mark); }

/* The node's number, which becomes value when it has none yet. */
static uint32_t number_of(const UOp *u, uint32_t value)
{
	Mark *m = &mark.at[u->id];
	if (m->round != mark.round)
		*m = (Mark){mark.round, value};
	return m->value;
}

static bool is_new(const UOp *u)
{
	bool yes = mark.at[u->id].round != mark.round;
	number_of(u, 0);
	return yes;
}

/* A kernel's nodes in reading order, from its STOREs to the right: an order that depends only on
 * the kernel. */
static void reading_order(UOp *kernel, NodeList *all)
{
	static ARENA NodeList left;
	marks_begin();
	vec_push(&left, kernel);
	while (left.n) {
		UOp *u = left.at[--left.n];
		if (!is_new(u))
			continue;
		vec_push(all, u);
		for (uint32_t s = u->nsrc; s--;)
			vec_push(&left, u->src[s]);
	}
}

/* PARAMs of a kernel: first those to which it writes (of a sort, that of its result first), then
 * those that it reads. */
static void params_of(UOp *kernel, NodeList *out)
{
	static ARENA NodeList all;
	all.n = 0;
	reading_order(kernel, &all);
	marks_begin();
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (is_new(store_buffer(kernel->src[i])))
			vec_push(out, store_buffer(kernel->src[i]));
	for (int reads = 0; reads < 2; reads++)
		for (size_t i = 0; i < all.n; i++) {
			UOp *u = all.at[i];
			if (u->op != (reads ? OP_LOAD : OP_RSORT))
				continue;
			u = u->src[reads ? 0 : 2]->src[0];
			if (is_new(u))
				vec_push(out, u);
		}
}

Seated seat_buffers(UOp *kernel, UOp *const *buffer)
{
	static ARENA NodeList params, to;
	params.n = to.n = 0;
	params_of(kernel, &params);
	Seated s = {.from = arena_alloc(params.n * sizeof *s.from)};
	marks_begin();
	for (size_t i = 0; i < params.n; i++) {
		uint32_t slot = param_slot(params.at[i]), now = number_of(buffer[slot], s.n);
		if (now == s.n)
			s.from[s.n++] = slot;
		vec_push(&to, param_new(now, buffer[slot]));
	}
	s.kernel = substitute(kernel, params.n, params.at, to.at);
	return s;
}

UOp *seated_call(const Seated *s, UOp *const *buffer)
{
	static ARENA NodeList src;
	src.n = 0;
	vec_push(&src, s->kernel);
	for (uint32_t i = 0; i < s->n; i++)
		vec_push(&src, buffer[s->from[i]]);
	return node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL);
}
