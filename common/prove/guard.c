/* Gates for places that cannot be proved.
 *
 *     LOAD(INDEX(x, LOAD(i)))   ->   LOAD(INDEX(x, LOAD(i)), -1 < LOAD(i) and LOAD(i) < 8)
 *
 * A gate is made of values as they are, without the algebra: that takes sizes not to overflow. */
#include "prove/places.h"
#include <stdlib.h>

typedef struct { const Graph *graph; Map index; } Guard;

static UOp *both(UOp *a, UOp *b)
{
	return a ? NODE(OP_AND, DT_BOOL, VNIL, a, b) : b;
}

/* Whether each index is inside, as a condition, joined to a gate that may be there. */
static UOp *inside(const Guard *w, const UOp *index, UOp *gate)
{
	for (uint32_t i = 1; i < index->nsrc; i++) {
		UOp *e = index->src[i], *size = place_size(w->graph, index, i - 1);
		gate = both(gate, NODE(OP_CMPLT, DT_BOOL, VNIL, ix_const(-1), e));
		gate = both(gate, NODE(OP_CMPLT, DT_BOOL, VNIL, e, size));
	}
	return gate;
}

static UOp *guarded(UOp *u, void *guard)
{
	const Guard *w = guard;
	uint32_t gate = u->op == OP_STORE ? 2 : 1;
	UOp *src[3];

	if ((u->op != OP_LOAD && u->op != OP_STORE) || !map_get(&w->index, PKEY(u->src[0])))
		return u;
	memcpy(src, u->src, u->nsrc * sizeof *src);
	src[gate] = inside(w, u->src[0], u->nsrc > gate ? u->src[gate] : NULL);
	return node_like(u, gate + 1, src, u->arg);
}

/* A kernel with gates; one that had to be made anew around another is found in the next turn. */
static UOp *guard_kernel(const Graph *g, const ProvedCall *c)
{
	Unproved bad = {0};
	Guard w = {g, {0}};

	places_unproved(c, &bad);
	for (size_t i = 0; i < bad.n; i++)
		map_put(&w.index, PKEY(bad.at[i]), bad.at[i]);
	if (bad.n && process.verbose)
		fprintf(stderr, "%s: K%u %.80s: gates for %zu places\n", process.stage, c->number,
			call_name(c->call), bad.n);
	UOp *kernel = bad.n ? walk_replace(c->kernel, guarded, &w) : c->kernel;
	vec_free(&bad);
	map_free(&w.index);
	return kernel;
}

/* All nodes, among them the buffers that no call takes. */
static Nodes nodes_of(const Graph *g, UOp *sink)
{
	VEC(UOp *) roots = {0};
	for (size_t i = 0; i < g->all.n; i++)
		if (g->all.at[i]->op == OP_BUFFER)
			vec_push(&roots, g->all.at[i]);
	vec_push(&roots, sink);
	Nodes all = walk_many(roots.n, roots.at);
	vec_free(&roots);
	return all;
}

static Graph *guard_once(Graph *g)
{
	UOp **calls = arena_alloc((g->sink->nsrc + 1) * sizeof *calls);
	bool any = false;

	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		UOp *call = g->sink->src[k];
		const ProvedCall c = proved_call(g, k);
		UOp *kernel = call_has_kernel(call) ? guard_kernel(g, &c) : NULL;
		calls[k] = kernel && kernel != c.kernel ? call_with_kernel(call, kernel) : call;
		any |= calls[k] != call;
	}
	if (!any)
		return g;
	Graph *r = graph_with_calls(g, g->sink->nsrc, calls);
	r->all = nodes_of(g, r->sink);
	return r;
}

Graph *guard_places(Graph *g)
{
	enum { TURNS = 16 };    /* indices within indices */

	if (g->level > LV_GRAPH)
		prove_calls(g);
	for (int turn = 0; g->level > LV_GRAPH && turn < TURNS; turn++) {
		Graph *r = guard_once(g);
		if (r == g)
			break;
		g = r;
	}
	return g;
}
