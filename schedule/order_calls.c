/* Writes new content directly into a state, where nothing reads the old content afterwards.
 *
 *     CALL(E, t0, w, g)  CALL(r, out0, w, x)  MEMCPY(w, t0)
 *     →  CALL(r, out0, w, x)  CALL(E', w, g)        E' reads w only at the place that it writes
 *
 * An output that equals the new content is copied from the state at the end: a caller that runs the
 * program many times may do that only after the last call.
 *
 * The call that computes the new content moves to immediately after the last reader of the old
 * content. Where that is impossible (two states that read each other, a reader that needs the new
 * content first) the MEMCPY at the end stays. */
#include "shape/shape.h"
#include "schedule.h"
#include <stdlib.h>

typedef struct {
	UOp *call;              /* NULL once it is removed */
	int64_t key;            /* position in the new order: ties keep the old order */
	size_t at;
	bool shows;             /* copies a state to the output that equals it: its names stay */
} PlacedCall;

/* The uses of a buffer: a state, a temporary or an output. instead: the state that replaces it;
 * changed: the key at which the state gets its new content. */
typedef struct { VEC(size_t) writers, readers; UOp *instead; int64_t changed; } BufferAccess;

typedef struct { PlacedCall *slot; size_t n; Map use; VEC(BufferAccess *) uses; } CallOrder;

static BufferAccess *use_of(CallOrder *o, UOp *buffer)
{
	const char *role = buffer_role(buffer);
	if (strcmp(role, "state") && strcmp(role, "temp") && strcmp(role, "output"))
		return NULL;
	BufferAccess *u = map_get(&o->use, PKEY(buffer));
	if (!u) {
		u = arena_alloc(sizeof *u);
		u->changed = INT64_MAX;
		map_put(&o->use, PKEY(buffer), u);
		vec_push(&o->uses, u);
	}
	return u;
}

static void note_use(CallOrder *o, UOp *buffer, size_t call, bool writes)
{
	BufferAccess *u = use_of(o, buffer);
	if (u && writes)
		vec_push(&u->writers, call);
	else if (u)
		vec_push(&u->readers, call);
}

static CallOrder order_new(const UOp *sink)
{
	CallOrder o = {.slot = arena_alloc(sink->nsrc * sizeof *o.slot), .n = sink->nsrc};
	for (size_t i = 0; i < o.n; i++) {
		UOp *c = sink->src[i];
		size_t first = c->op == OP_CALL;
		o.slot[i] = (PlacedCall){c, (int64_t)i << 20, i, false};
		for (size_t k = first; k < c->nsrc; k++)
			note_use(&o, c->src[k], i, k == first);
	}
	return o;
}

static void order_free(CallOrder *o)
{
	for (size_t i = 0; i < o->uses.n; i++) {
		vec_free(&o->uses.at[i]->writers);
		vec_free(&o->uses.at[i]->readers);
	}
	vec_free(&o->uses);
	map_free(&o->use);
}

/* ---- can a kernel run in place? */

static int slot_find(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = 2; k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return (int)k - 1;
	return -1;
}

/* Are they the same place in different buffers? */
static bool same_place(const UOp *a, const UOp *b)
{
	return a->nsrc == b->nsrc &&
		!memcmp(a->src + 1, b->src + 1, (a->nsrc - 1) * sizeof *a->src);
}

/* Does the kernel read that slot only at the place that it writes, without a reduction, scan or
 * sort along an axis of it? */
static bool reads_own_place(UOp *kernel, int slot)
{
	UOp *store = kernel->src[0];
	Nodes all = walk(kernel);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_RSCAN || u->op == OP_RSORT)
			return false;
		bool reads = u->op == OP_INDEX && param_slot(u->src[0]) == slot;
		if (reads && !same_place(u, store->src[0]))
			return false;
	}
	return true;
}

/* Does the call copy that whole buffer, element by element? */
static bool copies(const UOp *call, const UOp *state)
{
	UOp *store = call->src[0]->src[0], *v = store->src[1];
	return call->nsrc == 3 && call->src[2] == state && v->op == OP_LOAD && v->nsrc == 1 &&
		same_place(v->src[0], store->src[0]);
}

/* ---- the writers of the new content */

typedef struct {
	size_t copy, call;      /* the MEMCPY to the state, the call that computes what it copies */
	size_t fill;            /* a scatter's copy of the state, else the call itself */
	int slot;               /* the slot in which the call reads the state, or -1 */
} Writer;

static bool writer_find(CallOrder *o, size_t copy, Writer *w)
{
	UOp *state = o->slot[copy].call->src[0];
	BufferAccess *t = use_of(o, o->slot[copy].call->src[1]);
	if (!t || t->instead || t->writers.n < 1 || t->writers.n > 2)
		return false;
	*w = (Writer){copy, t->writers.at[t->writers.n - 1], t->writers.at[0], -1};
	UOp *call = o->slot[w->call].call, *fill = o->slot[w->fill].call;
	if (call->op != OP_CALL || fill->op != OP_CALL)
		return false;
	w->slot = slot_find(call, state);
	/* the places that a CUSTOM reads are not known */
	if (call->src[0]->op != OP_KERNEL || fill->src[0]->op != OP_KERNEL)
		return w->slot < 0 && w->fill == w->call;
	if (w->fill != w->call)
		return w->slot < 0 && copies(fill, state);
	return w->slot < 0 || reads_own_place(call->src[0], w->slot);
}

/* ---- the position to which a writer may move */

/* Immediately after the last call that reads the old content; the call's own position when no
 * reader follows it. */
static int64_t behind_readers(const CallOrder *o, const BufferAccess *state, const Writer *w)
{
	int64_t key = o->slot[w->call].key;
	for (size_t i = 0; i < state->readers.n; i++) {
		size_t r = state->readers.at[i];
		if (r != w->call && r != w->fill && o->slot[r].key >= key)
			key = o->slot[r].key + 1;
	}
	return key;
}

/* At key, do all readers of the new content follow, and do the states that the call reads still
 * have their old content? */
static bool may_stand(CallOrder *o, const Writer *w, int64_t key)
{
	UOp *call = o->slot[w->call].call;
	BufferAccess *t = use_of(o, call->src[1]);
	for (size_t i = 0; i < t->readers.n; i++) {
		size_t r = t->readers.at[i];
		if (r != w->copy && r != w->call && o->slot[r].key <= key)
			return false;
	}
	for (uint32_t k = 2; k < call->nsrc; k++) {
		BufferAccess *u = use_of(o, call->src[k]);
		if (u && k != w->slot + 1u && u->changed <= key)
			return false;
	}
	return true;
}

/* The call with the state only in slot 0: the slots after the one in which it read the state move
 * up. */
static UOp *merge_slot(UOp *call, int slot)
{
	UOp *kernel = call->src[0];
	Nodes all = walk(kernel);
	VEC(UOp *) from = {0}, to = {0}, src = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *p = all.at[i];
		if (p->op != OP_PARAM || param_slot(p) < slot)
			continue;
		vec_push(&from, p);
		vec_push(&to, param_moved(p, param_slot(p) == slot ? 0 : param_slot(p) - 1));
	}
	vec_push(&src, substitute(kernel, from.n, from.at, to.at));
	for (uint32_t k = 1; k < call->nsrc; k++)
		if ((int)k - 1 != slot)
			vec_push(&src, call->src[k]);
	UOp *merged = node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL);
	vec_free(&from);
	vec_free(&to);
	vec_free(&src);
	return merged;
}

static void write_in_place(CallOrder *o, size_t copy)
{
	UOp *state = o->slot[copy].call->src[0], *temp = o->slot[copy].call->src[1];
	BufferAccess *s = use_of(o, state);
	Writer w;
	if (!writer_find(o, copy, &w))
		return;
	int64_t key = behind_readers(o, s, &w);
	if (!may_stand(o, &w, key))
		return;
	o->slot[w.call].key = s->changed = key;
	if (w.slot >= 0)
		o->slot[w.call].call = merge_slot(o->slot[w.call].call, w.slot);
	if (w.fill != w.call)
		o->slot[w.fill].call = NULL;
	/* an output that equals the new content is copied from the state, at the end */
	o->slot[copy].shows = buffer_is(temp, "output");
	o->slot[copy].call = o->slot[copy].shows ? NODE(OP_MEMCPY, DT_NONE, VNIL, temp, state) :
						   NULL;
	use_of(o, temp)->instead = state;
}

/* ---- the new list */

static int by_key(const void *a, const void *b)
{
	const PlacedCall *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->at < y->at ? -1 : x->at > y->at);
}

static UOp *call_renamed(CallOrder *o, UOp *call)
{
	VEC(UOp *) src = {0};
	for (uint32_t k = 0; k < call->nsrc; k++) {
		BufferAccess *u = call->src[k]->op == OP_BUFFER ? use_of(o, call->src[k]) : NULL;
		vec_push(&src, u && u->instead ? u->instead : call->src[k]);
	}
	UOp *renamed = node_with(call, src.at);
	vec_free(&src);
	return renamed;
}

static bool is_update(const UOp *call)
{
	return call->op == OP_MEMCPY && buffer_is(call->src[0], "state");
}

Graph *order_calls(Graph *g)
{
	uint32_t k = 0;
	while (k < g->sink->nsrc && !is_update(g->sink->src[k]))
		k++;
	if (k == g->sink->nsrc)
		return g;
	CallOrder o = order_new(g->sink);
	VEC(UOp *) calls = {0};
	for (size_t i = 0; i < o.n; i++)
		if (is_update(o.slot[i].call))
			use_of(&o, o.slot[i].call->src[0])->changed = o.slot[i].key;
	for (size_t i = 0; i < o.n; i++)
		if (is_update(g->sink->src[i]))
			write_in_place(&o, i);
	qsort(o.slot, o.n, sizeof *o.slot, by_key);
	for (size_t i = 0; i < o.n; i++)
		if (o.slot[i].call)
			vec_push(&calls,
				o.slot[i].shows ? o.slot[i].call :
						  call_renamed(&o, o.slot[i].call));
	Graph *r = graph_with_calls(g, calls.n, calls.at);
	vec_free(&calls);
	order_free(&o);
	return r;
}
