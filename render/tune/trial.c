/* A document in which the kernels of a unit stand once for each candidate, side by side: what is
 * timed then runs in one process, in turns, on the same inputs.
 *
 *     y = K(a, w)   →   o0_0 = K[list 0](i0, i1);  o1_0 = K[list 1](i0, i1);  …
 *
 * What a unit reads from elsewhere is an input of the document, which run fills at random;
 * constants stay, and what is prepared of them is, by the document's own calls: panels that overlap
 * are right only with what these put there. */
#include "document/document.h"
#include "target/target.h"
#include "tune/parts.h"

enum { BUFFERS = 64 * MAX_SLICE_CALLS, SLOTS = 64 };
/* A buffer of the unit: whether some call reads it before one has written it, and whether one
 * writes it. temp: it is used by the unit alone, and read in it. */
typedef struct { UOp *of; bool read, written, temp; } Use;
typedef struct { Use at[BUFFERS]; int n; } Uses;

static Use *use_of(Uses *all, UOp *buffer)
{
	for (int i = 0; i < all->n; i++)
		if (all->at[i].of == buffer)
			return &all->at[i];
	if (all->n == BUFFERS)
		return NULL;
	all->at[all->n] = (Use){.of = buffer};
	return &all->at[all->n++];
}

/* The slots that a call's kernel loads from. */
static uint64_t call_reads(const UOp *call)
{
	uint64_t slots = 0;
	Nodes all = walk(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && all.at[i]->src[0]->src[0]->op == OP_PARAM)
			slots |= 1ull << (param_slot(all.at[i]->src[0]->src[0]) & 63);
	return slots;
}

static const char *call_uses(Uses *all, const UOp *call)
{
	uint64_t writes = call_writes(call), reads = call_reads(call);
	if (call->nsrc > SLOTS)
		return "it has too many buffers";
	for (uint32_t s = 0; s + 1 < call->nsrc; s++) {
		Use *r = use_of(all, call->src[s + 1]);
		if (!r)
			return "it has too many buffers";
		r->temp |= reads >> s & 1 && r->written;
		r->read |= reads >> s & 1 && !r->written;
		if (r->read && writes >> s & 1)
			return "it changes a buffer in place";
		r->written |= writes >> s & 1;
	}
	return call_aliases(call) ? "a buffer is given to it twice" : NULL;
}

/* Does a call of the document that is none of the unit's use the buffer? */
static bool used_elsewhere(const Graph *g, const Unit *u, const UOp *buffer)
{
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		bool own = false, uses = false;
		for (int k = 0; k < u->n; k++)
			own |= u->call[k] == call;
		for (uint32_t s = 0; s < call->nsrc; s++)
			uses |= call->src[s] == buffer;
		if (uses && !own)
			return true;
	}
	return false;
}

static const char *unit_uses(const Graph *g, const Unit *u, Uses *all)
{
	all->n = 0;
	for (int k = 0; k < u->n; k++) {
		const char *why = call_uses(all, u->call[k]);
		if (why)
			return why;
	}
	for (int i = 0; i < all->n; i++) {
		Use *r = &all->at[i];
		r->temp = r->temp && buffer_is(r->of, "temp") && !used_elsewhere(g, u, r->of);
	}
	return NULL;
}

static bool is_known(const UOp *buffer)
{
	return buffer_is(buffer, "const") || buffer_is(buffer, "prepared");
}

static UOp *buffer_for(const Use *r, int number, size_t candidate)
{
	if (!r->written && is_known(r->of))
		return r->of;
	const char *name = r->written ? arena_printf("o%zu_%d", candidate, number) :
		arena_printf("i%d", number);
	return buffer_of(name, !r->written ? "input" : r->temp ? "temp" : "output", r->of->dtype,
		r->of->shape);
}

static UOp *call_for(const Unit *u, int k, Uses *all, size_t candidate, const Val *list)
{
	const UOp *call = u->call[k];
	UOp *src[SLOTS + 1], *kernel = call->src[0];
	const Val *arg = val_set(kernel->arg, "name",
		val_str(arena_printf("c%zu_%d", candidate, k)));
	src[0] = node_like(kernel, kernel->nsrc, kernel->src, val_set(arg, "actions", list));
	for (uint32_t s = 1; s < call->nsrc; s++) {
		const Use *r = use_of(all, call->src[s]);
		src[s] = buffer_for(r, (int)(r - all->at), candidate);
	}
	return node_new(OP_CALL, DT_NONE, call->nsrc, src, VNIL);
}

/* The document's calls that prepare what the unit reads, in their order. */
static size_t add_prepared(const Graph *g, const Uses *all, UOp **calls)
{
	bool *needed = arena_alloc(g->sink->nsrc + 1);
	size_t n = 0;
	for (uint32_t i = g->sink->nsrc; i-- > 0;) {
		const UOp *call = g->sink->src[i];
		if (!call_has_kernel(call) || !call_prepares(call))
			continue;
		for (int b = 0; b < all->n; b++)
			needed[i] |= !all->at[b].written && call_stores(call, all->at[b].of);
		for (uint32_t k = i + 1; k < g->sink->nsrc; k++)
			for (uint32_t s = 1; needed[k] && s < g->sink->src[k]->nsrc; s++)
				needed[i] |= call_stores(call, g->sink->src[k]->src[s]);
	}
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		if (needed[i])
			calls[n++] = g->sink->src[i];
	return n;
}

Graph *trial_document(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o)
{
	Uses *all = arena_alloc(sizeof *all);
	VEC(UOp *) calls = {0};
	VEC(const Val *) names = {0};
	u->why = unit_uses(g, u, all);
	if (u->why)
		return NULL;
	UOp **first = arena_alloc((g->sink->nsrc + 1) * sizeof *first);
	size_t before = add_prepared(g, all, first);
	for (size_t i = 0; i < before; i++)
		vec_push(&calls, first[i]);
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < u->n; k++)
			vec_push(&calls, call_for(u, k, all, i, lists[i * u->n + k]));
		for (int b = 0; b < all->n; b++)
			if (all->at[b].written && !all->at[b].temp)
				vec_push(&names, val_str(arena_printf("o%zu_%d", i, b)));
	}
	Graph *t = arena_alloc(sizeof *t);
	*t = (Graph){.level = LV_SCHEDULE, .vars = g->vars};
	t->sink = node_new(OP_SINK, DT_NONE, calls.n, calls.at,
		VMAP(val_str("names"), val_array(names.n, names.at)));
	const Val *trial = VMAP(val_str("candidates"), val_int((int64_t)n), val_str("calls"),
		val_int(u->n), val_str("before"), val_int((int64_t)before), val_str("seconds"),
		val_float(o->seconds), val_str("threads"), val_int(o->threads), val_str("sizes"),
		o->sizes);
	t->meta = VMAP(val_str("layout"), val_str(target->name), val_str("trial"), trial);
	vec_free(&calls);
	vec_free(&names);
	return u->n > 1 ? plan_memory(t) : t;
}

int64_t trial_bytes(const Unit *u)
{
	int64_t sum = 0, n;
	for (int k = 0; k < u->n; k++) {
		uint64_t writes = call_writes(u->call[k]);
		for (uint32_t s = 1; s < u->call[k]->nsrc; s++)
			if (writes >> (s - 1) & 1 && shape_bytes(u->call[k]->src[s]->shape,
				u->call[k]->src[s]->dtype, &n) && !add_ok(sum, n, &sum))
				sum = INT64_MAX;
	}
	return sum;
}
