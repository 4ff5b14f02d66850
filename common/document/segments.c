/* Documents whose lists have steps: each run of calls and copies between two steps is a document of
 * its own, to which passes and checks apply that know nothing of steps. Conditions on sizes, of the
 * document and of the regions around, that are known there are its meta.checks.
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
	NodeList bound;         /* the sizes that are bound around it, as VARs */
	VEC(const Val *) checks;        /* rows of the document and of the regions around */
	Graph *g;               /* as it was */
	Level level;            /* of what comes out */
	const Val *meta;        /* of what comes out: each segment begins with the document's */
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

/* ---- conditions on sizes */

static void add_checks(Segments *s, const Val *rows)
{
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		vec_push(&s->checks, rows->a[i]);
}

/* From here on a size is known, and lies within its bounds. */
static void add_bind(Segments *s, UOp *bind)
{
	const Val *const *a = bind->arg->a;
	vec_push(&s->bound, vars_find(a[0]->s, a[0]->n));
	if (a[1]->kind == VAL_STR)
		vec_push(&s->checks, VARR(val_str("le"), a[1], a[0]));
	if (a[2]->kind == VAL_STR)
		vec_push(&s->checks, VARR(val_str("le"), a[0], a[2]));
}

static bool known_here(const Segments *s, const Val *size)
{
	const char *err = NULL;
	UOp *u = size_from_val(size, &err);
	bool known = u != NULL;
	Nodes all = u ? walk(u) : (Nodes){0};
	for (size_t i = 0; known && i < all.n; i++) {
		known = all.at[i]->op != OP_VAR || !var_is_bound(all.at[i]);
		for (size_t k = 0; !known && k < s->bound.n; k++)
			known = s->bound.at[k] == all.at[i];
	}
	return known;
}

static const Val *checks_here(const Segments *s)
{
	VEC(const Val *) rows = {0};
	for (size_t i = 0; i < s->checks.n; i++) {
		const Val *row = s->checks.at[i];
		if (row->kind == VAL_ARRAY && row->n == 3 && known_here(s, row->a[1]) &&
			known_here(s, row->a[2]))
			vec_push(&rows, row);
	}
	const Val *v = rows.n ? val_array(rows.n, rows.at) : NULL;
	vec_free(&rows);
	return v;
}

/* The variables of the document, and the sizes that are bound. */
static const Val *vars_here(const Segments *s)
{
	const Val *vars = s->g->vars;
	for (size_t i = 0; i < s->bound.n; i++) {
		const Val *const *a = s->bound.at[i]->arg->a;
		vars = val_set(vars ? vars : VNIL, a[0]->s, VARR(a[1], a[2]));
	}
	return vars;
}

/* ---- a segment as a document */

/* The buffers and kernels of a segment, as the whole has them and as the segment does. */
typedef struct { Map to, from; } Renamed;

static UOp *with_role(UOp *u, const char *role)
{
	return LEAF(OP_BUFFER, u->dtype, val_set(u->arg, "role", val_str(role)));
}

static void add_written(Map *written, const UOp *call)
{
	bool kernel = call->op == OP_CALL;
	uint64_t slots = kernel ? call_writes(call) : 1;
	for (uint32_t k = kernel; k < call->nsrc && k - kernel < 64; k++)
		if (slots >> (k - kernel) & 1)
			map_put(written, PKEY(call->src[k]), call->src[k]);
}

static UOp *call_renamed(const Map *to, UOp *call)
{
	NodeList src = {0};
	for (uint32_t k = 0; k < call->nsrc; k++) {
		UOp *u = map_get(to, PKEY(call->src[k]));
		vec_push(&src, u ? u : call->src[k]);
	}
	UOp *u = node_with(call, src.at);
	vec_free(&src);
	return u;
}

/* Gives the buffers of the calls the roles that they have in the segment; the names of its outputs.
 */
static const Val *roles_here(Segments *s, const NodeList *calls, Renamed *r)
{
	VEC(const Val *) names = {0};
	Map written = {0};
	for (size_t i = 0; i < calls->n; i++)
		add_written(&written, calls->at[i]);
	for (size_t i = 0; i < calls->n; i++)
		for (uint32_t k = 0; k < calls->at[i]->nsrc; k++) {
			UOp *u = calls->at[i]->src[k], *to = u;
			if (u->op != OP_BUFFER || map_get(&r->to, PKEY(u)))
				continue;
			bool writes = map_get(&written, PKEY(u)) != NULL;
			if (buffer_is(u, "temp") && map_get(&s->owner, PKEY(u)) == SHARED)
				to = with_role(u, writes ? "output" : "input");
			if (buffer_is(u, "state") && !writes)
				to = with_role(u, "input");
			map_put(&r->to, PKEY(u), to);
			if (to != u)
				map_put(&r->from, name_key(buffer_name(u)), u);
			if (buffer_is(to, "output"))
				vec_push(&names, val_get(to->arg, "name"));
		}
	const Val *v = val_array(names.n, names.at);
	vec_free(&names);
	map_free(&written);
	return v;
}

/* The calls over buffers with the roles that they have in the segment. */
static Graph *segment_new(Segments *s, NodeList *calls, Renamed *r)
{
	const Val *names = roles_here(s, calls, r);
	for (size_t i = 0; i < calls->n; i++)
		calls->at[i] = call_renamed(&r->to, calls->at[i]);
	Graph *g = arena_alloc(sizeof *g);
	*g = (Graph){.level = s->g->level, .vars = vars_here(s),
		.meta = val_set(s->g->meta, "checks", checks_here(s))};
	g->sink = node_new(OP_SINK, DT_NONE, calls->n, calls->at, VMAP(val_str("names"), names));
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
static UOp *buffer_back(Segments *s, const Renamed *r, UOp *u)
{
	UOp *plain = map_get(&r->from, name_key(buffer_name(u)));
	void *mine = (void *)(uintptr_t)(s->number + 1);
	if (plain)
		return plain;
	if (!buffer_is(u, "temp") && !buffer_is(u, "prepared"))
		return u;
	plain = val_get(u->arg, "offset") ?
		LEAF(OP_BUFFER, u->dtype, val_set(u->arg, "offset", NULL)) : u;
	if (map_get(&s->owner, PKEY(plain)) == mine)
		return plain;
	if (map_get(&s->names, name_key(buffer_name(u))))
		plain = LEAF(OP_BUFFER, u->dtype, val_set(plain->arg, "name",
			val_str(free_name(&s->names, buffer_name(u)))));
	map_put(&s->names, name_key(buffer_name(plain)), plain);
	map_put(&s->owner, PKEY(plain), mine);
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

static void calls_back(Segments *s, const Graph *g, const Renamed *r, NodeList *out)
{
	Map back = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		for (uint32_t k = 0; k < call->nsrc; k++) {
			UOp *u = call->src[k];
			if (!map_get(&back, PKEY(u)))
				map_put(&back, PKEY(u), u->op == OP_BUFFER ?
					buffer_back(s, r, u) : kernel_back(s, u));
		}
		vec_push(out, call_renamed(&back, call));
	}
	map_free(&back);
}

static void segment_done(Segments *s, NodeList *calls, NodeList *out)
{
	Renamed r = {0};
	if (calls->n) {
		Graph *g = s->fn(segment_new(s, calls, &r), s->ctx);
		s->meta = val_set(g->meta, "workspace", NULL);
		s->level = g->level;
		calls_back(s, g, &r, out);
	}
	calls->n = 0;
	map_free(&r.to);
	map_free(&r.from);
}

static UOp *rebuild(Segments *s, UOp *list);

static UOp *step_rebuilt(Segments *s, UOp *u)
{
	NodeList src = {0};
	size_t bound = s->bound.n;
	s->number++;
	if (u->op == OP_LOOP)
		vec_push(&s->bound, vars_find(val_get(u->arg, "turn")->s,
			val_get(u->arg, "turn")->n));
	for (uint32_t k = 0; k < u->nsrc; k++)
		vec_push(&src, u->src[k]->op == OP_REGION ? rebuild(s, u->src[k]) : u->src[k]);
	s->bound.n = bound;
	if (u->op == OP_BIND)
		add_bind(s, u);
	u = node_with(u, src.at);
	s->number++;
	vec_free(&src);
	return u;
}

static UOp *rebuild(Segments *s, UOp *list)
{
	NodeList calls = {0}, out = {0};
	size_t bound = s->bound.n, checks = s->checks.n;
	if (list->op == OP_REGION)
		add_checks(s, val_get(list->arg, "checks"));
	for (uint32_t i = 0; i < list->nsrc; i++) {
		UOp *u = list->src[i];
		if (list_step(u)) {
			segment_done(s, &calls, &out);
			vec_push(&out, step_rebuilt(s, u));
		} else {
			vec_push(&calls, u);
		}
	}
	segment_done(s, &calls, &out);
	s->number++;
	s->bound.n = bound;
	s->checks.n = checks;
	UOp *r = node_like(list, out.n, out.at, list->arg);
	vec_free(&calls);
	vec_free(&out);
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
	const Val *checks = val_get(g->meta, "checks");
	own_list(&s, g->sink);
	s.number = 0;
	add_checks(&s, checks);
	r->sink = rebuild(&s, g->sink);
	r->meta = val_set(s.meta, "checks", checks);
	r->level = s.level;
	map_free(&s.owner);
	map_free(&s.names);
	map_free(&s.kernels);
	vec_free(&s.bound);
	vec_free(&s.checks);
	return r;
}
