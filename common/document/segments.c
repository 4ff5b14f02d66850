/* Documents whose lists have steps: each run of calls and copies between two steps is a document of
 * its own, to which passes and checks apply that know nothing of steps.
 *
 *     SINK(CALL a t0 x, BIND t0, CALL b y t0, CALL c t1 y)
 *     →  SINK(CALL a t0 x)  and  SINK(CALL b y t0, CALL c t1 y)       t0: output of one, input of
 *                                                                     the other
 */
#include "document/document.h"
#include <stdlib.h>

typedef struct {
	Map owner;              /* temporary → the only segment that uses it + 1, or SHARED */
	Map names;              /* hash of a buffer's name → the BUFFER that has it */
	Map kernels;            /* hash of a kernel's name → the KERNEL that has it */
	size_t number;          /* of the segment at hand */
	Graph *g;               /* as it was */
	Level level;            /* of what comes out */
	const Val *meta;
	Graph *(*fn)(Graph *segment, void *ctx);
	void *ctx;
} Segments;

#define SHARED ((void *)UINTPTR_MAX)

bool steps_listed(const Graph *g)
{
	for (uint32_t i = 0; g->level > LV_GRAPH && i < g->sink->nsrc; i++)
		if (list_step(g->sink->src[i]))
			return true;
	return false;
}

static uint64_t name_key(const char *s) { return hash_bytes(s, strlen(s), 1); }

/* ---- which buffers are shared */

static void own(Segments *s, UOp *u, bool by_step)
{
	void *mine = by_step ? SHARED : (void *)(uintptr_t)(s->number + 1);
	void *old = map_get(&s->owner, PKEY(u));
	if (u->op != OP_BUFFER)
		return;
	map_put(&s->owner, PKEY(u), !old || old == mine ? mine : SHARED);
	map_put(&s->names, name_key(buffer_name(u)), u);
}

/* Numbers the segments of a list as rebuild() does. */
static void own_list(Segments *s, const UOp *list)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		bool step = list_step(u);
		s->number += step;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			if (u->src[k]->op == OP_REGION)
				own_list(s, u->src[k]);
			else
				own(s, u->src[k], step);
		}
		s->number += step;
	}
	s->number++;
}

/* ---- a segment as a document */

typedef struct { NodeList from, to; } Renamed;

static UOp *with_role(UOp *u, const char *role)
{
	return LEAF(OP_BUFFER, u->dtype, val_set(u->arg, "role", val_str(role)));
}

static bool written(size_t n, UOp *const *call, const UOp *buffer)
{
	for (size_t i = 0; i < n; i++) {
		bool kernel = call[i]->op == OP_CALL;
		uint64_t slots = kernel ? call_writes(call[i]) : 1;
		for (uint32_t k = kernel; k < call[i]->nsrc; k++)
			if (call[i]->src[k] == buffer && k - kernel < 64 &&
				slots >> (k - kernel) & 1)
				return true;
	}
	return false;
}

static UOp *replaced(const Renamed *r, UOp *u)
{
	for (size_t i = 0; i < r->from.n; i++)
		if (r->from.at[i] == u)
			return r->to.at[i];
	return u;
}

static UOp *call_replaced(const Renamed *r, UOp *call)
{
	NodeList src = {0};
	for (uint32_t k = 0; k < call->nsrc; k++)
		vec_push(&src, replaced(r, call->src[k]));
	UOp *u = node_with(call, src.at);
	vec_free(&src);
	return u;
}

static bool listed(const NodeList *l, const UOp *u)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == u)
			return true;
	return false;
}

/* The calls over buffers with the roles that they have in the segment. */
static Graph *segment_new(Segments *s, NodeList *calls, Renamed *r)
{
	VEC(const Val *) names = {0};
	NodeList seen = {0};
	for (size_t i = 0; i < calls->n; i++)
		for (uint32_t k = 0; k < calls->at[i]->nsrc; k++) {
			UOp *u = calls->at[i]->src[k], *to = u;
			if (u->op != OP_BUFFER || listed(&seen, u))
				continue;
			vec_push(&seen, u);
			if (buffer_is(u, "temp") && map_get(&s->owner, PKEY(u)) == SHARED) {
				to = with_role(u, written(calls->n, calls->at, u) ? "output" :
									    "input");
				vec_push(&r->from, u);
				vec_push(&r->to, to);
			}
			if (buffer_is(to, "output"))
				vec_push(&names, val_get(to->arg, "name"));
		}
	for (size_t i = 0; i < calls->n; i++)
		calls->at[i] = call_replaced(r, calls->at[i]);
	Graph *g = arena_alloc(sizeof *g);
	*g = (Graph){.level = s->g->level, .vars = s->g->vars, .meta = s->meta};
	g->sink = node_new(OP_SINK, DT_NONE, calls->n, calls->at,
		VMAP(val_str("names"), val_array(names.n, names.at)));
	vec_free(&names);
	vec_free(&seen);
	return g;
}

/* ---- and back */

static const char *free_name(const Map *taken, const char *name)
{
	const char *s = name;
	for (unsigned k = 1; map_get(taken, name_key(s)); k++)
		s = arena_printf("%s_%u", name, k);
	return s;
}

/* A buffer that came out of a segment: as it was, or a new one with a name of its own. */
static UOp *buffer_back(Segments *s, const Renamed *r, Renamed *fresh, UOp *u)
{
	for (size_t i = 0; i < r->to.n; i++)
		if (val_get(r->to.at[i]->arg, "name") == val_get(u->arg, "name"))
			return r->from.at[i];
	UOp *known = replaced(fresh, u), *plain = u;
	if (known != u)
		return known;
	if (val_get(u->arg, "offset"))
		plain = LEAF(OP_BUFFER, u->dtype, val_set(u->arg, "offset", NULL));
	UOp *other = map_get(&s->names, name_key(buffer_name(u)));
	void *mine = (void *)(uintptr_t)(s->number + 1);
	if (other && other != plain && map_get(&s->owner, PKEY(other)) != mine)
		plain = LEAF(OP_BUFFER, u->dtype, val_set(plain->arg, "name",
			val_str(free_name(&s->names, buffer_name(u)))));
	map_put(&s->names, name_key(buffer_name(plain)), plain);
	if (!map_get(&s->owner, PKEY(plain)))
		map_put(&s->owner, PKEY(plain), mine);
	vec_push(&fresh->from, u);
	vec_push(&fresh->to, plain);
	return plain;
}

/* The kernel, with another name if another kernel has its. */
static UOp *kernel_back(Segments *s, UOp *kernel)
{
	const char *name = kernel_name(kernel);
	UOp *other = map_get(&s->kernels, name_key(name));
	if (kernel->op != OP_KERNEL || other == kernel)
		return kernel;
	if (other)
		kernel = node_like(kernel, kernel->nsrc, kernel->src, val_set(kernel->arg, "name",
			val_str(free_name(&s->kernels, name))));
	map_put(&s->kernels, name_key(kernel_name(kernel)), kernel);
	return kernel;
}

static void segment_done(Segments *s, NodeList *calls, NodeList *out)
{
	Renamed r = {0}, fresh = {0}, kernels = {0};
	NodeList src = {0};
	if (calls->n) {
		Graph *g = s->fn(segment_new(s, calls, &r), s->ctx);
		s->meta = val_set(g->meta, "workspace", NULL);
		s->level = g->level;
		for (uint32_t i = 0; i < g->sink->nsrc; i++) {
			UOp *call = g->sink->src[i];
			src.n = 0;
			for (uint32_t k = 0; k < call->nsrc; k++) {
				UOp *u = call->src[k], *back = replaced(&kernels, u);
				if (u->op == OP_BUFFER) {
					back = buffer_back(s, &r, &fresh, u);
				} else if (back == u) {
					back = kernel_back(s, u);
					vec_push(&kernels.from, u);
					vec_push(&kernels.to, back);
				}
				vec_push(&src, back);
			}
			vec_push(out, node_with(call, src.at));
		}
	}
	calls->n = 0;
	vec_free(&src);
	vec_free(&r.from);
	vec_free(&r.to);
	vec_free(&fresh.from);
	vec_free(&fresh.to);
	vec_free(&kernels.from);
	vec_free(&kernels.to);
}

static UOp *rebuild(Segments *s, UOp *list)
{
	NodeList calls = {0}, out = {0}, src = {0};
	for (uint32_t i = 0; i < list->nsrc; i++) {
		UOp *u = list->src[i];
		if (!list_step(u)) {
			vec_push(&calls, u);
			continue;
		}
		segment_done(s, &calls, &out);
		s->number++;
		src.n = 0;
		for (uint32_t k = 0; k < u->nsrc; k++)
			vec_push(&src,
				u->src[k]->op == OP_REGION ? rebuild(s, u->src[k]) : u->src[k]);
		vec_push(&out, node_with(u, src.at));
		s->number++;
	}
	segment_done(s, &calls, &out);
	s->number++;
	UOp *r = node_like(list, out.n, out.at, list->arg);
	vec_free(&calls);
	vec_free(&out);
	vec_free(&src);
	return r;
}

Graph *segments_map(Graph *g, Graph *(*fn)(Graph *segment, void *ctx), void *ctx)
{
	if (!steps_listed(g))
		return fn(g, ctx);
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	Segments s = {.g = g, .level = g->level, .meta = g->meta, .fn = fn, .ctx = ctx};
	own_list(&s, g->sink);
	s.number = 0;
	r->sink = rebuild(&s, g->sink);
	r->meta = s.meta;
	r->level = s.level;
	map_free(&s.owner);
	map_free(&s.names);
	map_free(&s.kernels);
	return r;
}
