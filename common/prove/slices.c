/* Calls that say they share their outermost loops as slices (`slice` in a KERNEL's arg): lower
 * makes one kernel of them, each item of which runs all of them for one slice. So what one of them
 * writes, the others touch within the same slice alone, and what stays within slices nobody else
 * touches.
 *
 *     K0: t[r0, r1] = …  slice {first, axes: [0]}
 *     K1: y[r0] = t[r0, 3]      slice {axes: [0]}        apart: r0 is the same where the place is
 *     K1: y[r0] = t[7 - r0, 3]                           not: another slice may not be there yet
 */
#include "prove/apart.h"
#include "shape/shape.h"
#include <stdlib.h>

typedef struct { ProvedCall call; UOp *loop[MAX_SLICE_AXES]; int n; const Val *local; } Member;
typedef struct { Member at[MAX_SLICE_CALLS]; int n; UOp *slice[MAX_SLICE_AXES]; } Group;

static const Val *slice_of(const ProvedCall *c)
{
	const Val *v = c->kernel ? val_get(c->kernel->arg, "slice") : NULL;
	const Val *axes = v && v->kind == VAL_MAP ? val_get(v, "axes") : NULL;
	return axes && axes->kind == VAL_ARRAY && axes->n ? v : NULL;
}

static bool is_first(const Val *slice)
{
	const Val *first = val_get(slice, "first");
	return first && first->kind == VAL_BOOL && first->b;
}

/* The loop of a kernel with this axis number; of turns it may be a reduction's. NULL when there is
 * none. */
static UOp *loop_of(const ProvedCall *c, const Val *axis, bool turn)
{
	Nodes all = walk(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && axis->kind == VAL_INT &&
			range_axis(all.at[i]) == axis->i &&
			(!strcmp(range_kind(all.at[i]), "loop") ||
				(turn && !strcmp(range_kind(all.at[i]), "reduce"))))
			return all.at[i];
	return NULL;
}

static void add_member(Group *g, const ProvedCall *c, const Val *slice)
{
	const Val *axes = val_get(slice, "axes"), *turn = val_get(slice, "turn");
	Member *m = &g->at[g->n++];
	*m = (Member){.call = *c, .local = val_get(slice, "local")};
	for (size_t i = 0; i < axes->n + (turn != NULL); i++) {
		bool last = i == axes->n;
		UOp *loop = i < MAX_SLICE_AXES ? loop_of(c, last ? turn : axes->a[i], last) : NULL;
		if (!loop)
			prove_fault(c, "slice names a loop that the kernel does not have");
		m->loop[m->n++] = loop;
	}
	for (int i = 0; i < m->n && m != g->at; i++)
		if (m->n != g->at->n || ix_plain(m->loop[i]->src[0]) !=
			ix_plain(g->at->loop[i]->src[0]))
			prove_fault(c, "its slices are not those of K%u: %d loops, of which r%d "
				"has size %s", g->at->call.number, m->n, range_axis(m->loop[i]),
				index_text(m->loop[i]->src[0]));
}

/* ---- what one of the calls writes, and others touch */

/* A place of a call with the numbers of slices in the place of its loops; axis -1: row-major. */
static UOp *sliced(const Group *g, const Member *m, UOp *u)
{
	return substitute(ix_plain(u), m->n, m->loop, g->slice);
}

static UOp *place_of(const Group *g, const Member *m, const Access *a, int axis)
{
	const UOp *index = a->index, *memory = memory_of(a);
	UOp *at = sliced(g, m, index->src[axis < 0 ? 1 : 1 + axis]);
	for (uint32_t i = 2; axis < 0 && i < index->nsrc; i++)
		at = ix_add(ix_mul(at, memory->shape->dim[i - 1]), sliced(g, m, index->src[i]));
	return at;
}

typedef VEC(const Access *) Found;
typedef struct { Found at; VEC(const Member *) by; bool writes, shared, same_shape; } Touches;

static void find_touches(Touches *t, const Group *g, const UOp *buffer)
{
	t->same_shape = true;
	for (int k = 0; k < g->n; k++) {
		const Member *m = &g->at[k];
		Accesses all = kernel_accesses(m->call.kernel);
		for (size_t i = 0; i < all.n; i++) {
			if (access_buffer(m->call.call, &all.at[i]) != buffer)
				continue;
			vec_push(&t->at, &all.at[i]);
			vec_push(&t->by, m);
			t->writes |= all.at[i].store;
			t->shared |= m != t->by.at[0];
			t->same_shape &= memory_of(&all.at[i])->shape ==
				memory_of(t->at.at[0])->shape;
		}
	}
}

static void places_along(const Group *g, const Touches *t, int axis, Place *p)
{
	for (size_t i = 0; i < t->at.n; i++) {
		const Access *a = t->at.at[i];
		UOp **gate = arena_alloc(sizeof *gate);
		*gate = a->gate ? sliced(g, t->by.at[i], a->gate) : NULL;
		p[i] = (Place){.at = place_of(g, t->by.at[i], a, axis), .cond = gate,
			.n = a->gate != NULL, .call = &t->by.at[i]->call};
	}
}

static void check_touches(const Group *g, const Touches *t, const UOp *buffer)
{
	Digits d = {.schedule = true, .n = t->at.n};
	Place *p = arena_alloc((t->at.n + 1) * sizeof *p);
	int rank = t->same_shape ? (int)t->at.at[0]->index->nsrc - 1 : 1;
	for (int axis = 0; axis < rank; axis++) {
		places_along(g, t, t->same_shape ? axis : -1, p);
		digits_of(&d, p);
	}
	for (int i = 0; i < g->at->n; i++)
		if (!determined(&d, p, g->slice[i]))
			prove_fault(&g->at[g->n - 1].call, "it shares slices with K%u, and they "
				"may touch the same place of %.80s in different slices",
				g->at->call.number, buffer_name(buffer));
	digits_free(&d);
}

static void check_shared(const Group *g)
{
	Map done = {0};
	for (int k = 0; k < g->n; k++)
		for (uint32_t i = 1; i < g->at[k].call.call->nsrc; i++) {
			const UOp *buffer = g->at[k].call.call->src[i];
			Touches t = {0};
			if (map_get(&done, PKEY(buffer)))
				continue;
			map_put(&done, PKEY(buffer), (void *)buffer);
			find_touches(&t, g, buffer);
			if (t.writes && t.shared)
				check_touches(g, &t, buffer);
			vec_free(&t.at);
			vec_free(&t.by);
		}
	map_free(&done);
}

/* ---- what stays within slices */

static void check_alone(const Graph *graph, const Group *g, const Member *m, const UOp *buffer)
{
	uint32_t from = g->at->call.number, to = from + g->n;
	if (!buffer_is(buffer, "temp"))
		prove_fault(&m->call, "buffer %.80s stays within slices, and is no temporary",
			buffer_name(buffer));
	for (uint32_t k = 0; k < graph->sink->nsrc; k++)
		for (uint32_t i = 0; (k < from || k >= to) && i < graph->sink->src[k]->nsrc; i++)
			if (graph->sink->src[k]->src[i] == buffer)
				prove_fault(&m->call, "buffer %.80s stays within slices, and K%u "
					"touches it", buffer_name(buffer), k);
}

static void check_locals(const Graph *graph, const Group *g)
{
	for (int k = 0; k < g->n; k++) {
		const Member *m = &g->at[k];
		size_t n = m->local && m->local->kind == VAL_ARRAY ? m->local->n : 0;
		for (size_t i = 0; i < n; i++) {
			const Val *slot = m->local->a[i];
			if (slot->kind != VAL_INT || slot->i < 0 ||
				slot->i >= (int64_t)m->call.call->nsrc - 1)
				prove_fault(&m->call, "a slot of slice has no buffer");
			check_alone(graph, g, m, m->call.call->src[1 + slot->i]);
		}
	}
}

/* ---- groups */

static uint32_t find_group(Group *g, const Graph *graph, uint32_t from)
{
	uint32_t k = from;
	for (; k < graph->sink->nsrc && g->n < MAX_SLICE_CALLS; k++) {
		const ProvedCall c = proved_call(graph, k);
		const Val *slice = slice_of(&c);
		if (!slice || (k > from && is_first(slice)))
			break;
		add_member(g, &c, slice);
	}
	for (int i = 0; i < g->at->n; i++)
		g->slice[i] = NODE(OP_SPECIAL, DT_I64, val_str(arena_printf("slice%d", i)),
			g->at->loop[i]->src[0]);
	return k > from ? k : from + 1;
}

void prove_slices(const Graph *graph)
{
	for (uint32_t k = 0; graph->level == LV_SCHEDULE && k < graph->sink->nsrc; ) {
		Group *g = arena_alloc(sizeof *g);
		k = find_group(g, graph, k);
		if (g->n < 2)
			continue;
		check_shared(g);
		check_locals(graph, g);
	}
}
