/* To the open form and back.
 *
 *     CALL(KERNEL(STORE(INDEX(PARAM 0, r3), RREDUCE(LOAD(INDEX(PARAM 2, r3, r5)), r5))), y, w, x)
 *     ↔  CALL(KERNEL(STORE(INDEX(PARAM 0, r0), RREDUCE(LOAD(INDEX(PARAM 1, r0, r16)), r16))), y, x)
 *
 * Each kernel is opened and closed once, whatever the number of its calls. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>


static UOp *range_new(int axis, UOp *like, const char *kind)
{
	return ix_range(axis, kind, like->src[0]);
}

/* Renumbers loops to 0, 1, … and bound ranges to BOUND + their order, all at once. */
static UOp *renumber(UOp *kernel, int bound)
{
	Nodes all = walk(kernel);
	uint64_t loops = range_mask(kernel);
	int loop_axis[64], bound_axis[64], nl = 0, nb = bound;
	uint64_t in_use = 0;
	NodeList from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE)
			in_use |= 1ull << range_axis(all.at[i]);
	for (int a = 0; a < 64; a++)
		if (loops >> a & 1)
			loop_axis[a] = nl++;
	nb = bound < 0 ? nl : bound;
	for (int a = 0; a < 64; a++)
		if (in_use >> a & 1 && !(loops >> a & 1))
			bound_axis[a] = nb++;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_RANGE)
			continue;
		int a = range_axis(u);
		vec_push(&from, u);
		vec_push(&to,
			range_new(loops >> a & 1 ? loop_axis[a] : bound_axis[a], u, range_kind(u)));
	}
	UOp *r = substitute(kernel, from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return r;
}

/* ---- open */

/* A kernel with its loops and ranges in open form; after its first call, its slots as well. */
typedef struct { UOp *kernel, *like; Seated seated; } Opened;

/* Checks that every place is in a PARAM, with an index for each of its axes, and that the PARAM's
 * slot has a buffer of its rank. */
static void check(UOp *kernel, const UOp *call)
{
	Nodes all = walk_brief(kernel);
	const char *name = val_get(kernel->arg, "name")->s;
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i], *to = u->op == OP_INDEX ? u->src[0] : NULL;
		if (to && (to->op != OP_PARAM || to->shape->rank + 1 != (int)u->nsrc))
			die(MALFORMED, "kernel %s: a place is not in a PARAM, or has not an index "
				"for each axis", name);
		if (u->op != OP_PARAM)
			continue;
		int64_t slot = param_slot(u);
		if (slot + 1 >= (int64_t)call->nsrc)
			die(MALFORMED, "kernel %s: slot %lld has no buffer", name, (long long)slot);
		if (call->src[slot + 1]->shape->rank != u->shape->rank)
			die(MALFORMED, "kernel %s: slot %lld and its buffer differ in rank", name,
				(long long)slot);
	}
}

static Opened *open_kernel(Map *opened, UOp *kernel)
{
	Opened *o = map_get(opened, PKEY(kernel));
	if (o)
		return o;
	o = arena_alloc(sizeof *o);
	map_put(opened, PKEY(kernel), o);
	o->kernel = renumber(kernel, BOUND);
	UOp *numbered = has_op(o->kernel, OP_RREDUCE) ? number_bound(o->kernel) : NULL;
	if (numbered)
		o->kernel = numbered;
	return o;
}

/* Are the call's buffers as distinct as those of the call for which the kernel was opened, and of
 * the same shapes? */
static bool fits(const Opened *o, const UOp *call)
{
	const Seated *s = &o->seated;
	if (!o->like || call->nsrc != o->like->nsrc)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		const UOp *b = call->src[1 + s->from[i]], *was = o->like->src[1 + s->from[i]];
		if (b->shape != was->shape || b->dtype != was->dtype)
			return false;
	}
	return true;
}

static UOp *open_call(Map *opened, UOp *call)
{
	Opened *o = open_kernel(opened, call->src[0]);
	bool alone = !call_aliases(call);
	if (alone && fits(o, call))
		return seated_call(&o->seated, call->src + 1);
	check(o->kernel, call);
	Seated s = seat_buffers(o->kernel, call->src + 1);
	node_note(s.kernel, call->src[0]->note);
	if (alone && !o->like) {
		o->like = call;
		o->seated = s;
	}
	return seated_call(&s, call->src + 1);
}

Graph *open_kernels(Graph *g)
{
	NodeList src = {0};
	Map opened = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *u = g->sink->src[i];
		vec_push(&src, call_has_kernel(u) ? open_call(&opened, u) : u);
	}
	g = graph_with_calls(g, src.n, src.at);
	vec_free(&src);
	map_free(&opened);
	return g;
}

/* ---- close */

static UOp *close_call(Map *closed, UOp *call)
{
	UOp *kernel = call->src[0];
	Seated *s = map_get(closed, PKEY(kernel));
	if (!s) {
		s = arena_alloc(sizeof *s);
		map_put(closed, PKEY(kernel), s);
		*s = seat_buffers(renumber(share_loops(kernel), -1), call->src + 1);
		/* one name for all until name_kernels: equal kernels are one node */
		s->kernel = node_new(OP_KERNEL, DT_NONE, s->kernel->nsrc, s->kernel->src,
			val_set(kernel->arg, "name", val_str("kernel")));
		node_note(s->kernel, kernel->note);
	}
	return seated_call(s, call->src + 1);
}

Graph *close_kernels(Graph *g)
{
	NodeList src = {0};
	Map closed = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *u = g->sink->src[i];
		vec_push(&src, call_has_kernel(u) ? close_call(&closed, u) : u);
	}
	g = graph_with_calls(g, src.n, src.at);
	vec_free(&src);
	map_free(&closed);
	return g;
}
