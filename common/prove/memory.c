/* What loaded integers can be: what registers hold, from all that is stored in them; what buffers
 * hold, from the calls that filled them.
 *
 *     STORE(r, 0), for j in 0..9: STORE(r, LOAD(r) + LET)  LET in 0..1      r holds 0..9
 *     CALL sort k x      writes all of k, places 0..8
 *
 * A kernel that loads from a buffer which it stores to, such as a sort, is taken to read what it
 * stored before; places.c asks memory_filled() of each such LOAD, and begins anew without that
 * (`plain`) when it is not shown. */
#include "interp/interp.h"
#include "prove/places.h"
#include <stdlib.h>

enum { NESTED = 4 };            /* how many calls a content is followed through */
static const Wide MANY = (Wide)1 << 40, BEYOND = (Wide)1 << 90;

typedef struct { UOp *store; Wide turns; } Written;
typedef VEC(Written) Writes;
/* what is stored, and the sum of what is added; that sum in this turn; what all is below */
typedef struct { Span span, steps, next; bool loaded; UOp *below; } Held;

static Held *held_of(const Known *k, const UOp *storage)
{
	return map_get(&k->held, storage->id + 1);
}

static bool is_integer(const UOp *u)
{
	return dtype_int(u->dtype) || u->dtype == DT_BOOL;
}

static UOp *stored_to(const UOp *store) { return store->src[0]->src[0]; }

/* The stores of integers, and how often each is run at most. */
static void find_writes(Known *k, Writes *out)
{
	VEC(Wide) turns = {0};

	vec_push(&turns, 1);
	for (uint32_t i = 0; i < k->kernel->nsrc; i++) {
		UOp *s = k->kernel->src[i];
		Wide now = turns.at[turns.n - 1];
		if (s->op == OP_RANGE) {
			Span n = span_of(k, s->src[0]);
			now = n.hi <= 0 ? 0 : now * n.hi;
			vec_push(&turns, now > INT64_MAX ? INT64_MAX : now);
		} else if (s->op == OP_ENDRANGE && turns.n > 1) {
			turns.n--;
		} else if (s->op == OP_STORE && is_integer(stored_to(s))) {
			vec_push(out, ((Written){s, now}));
		}
	}
	vec_free(&turns);
}

/* What a store adds to what it loads from the same storage, or NULL. */
static UOp *added(const UOp *store)
{
	UOp *v = store->src[1];

	while (v->op == OP_LET)
		v = v->src[0];
	for (int i = 0; v->op == OP_ADD && i < 2; i++) {
		const UOp *u = v->src[i];
		while (u->op == OP_LET)
			u = u->src[0];
		if (u->op == OP_LOAD && u->src[0]->src[0] == stored_to(store))
			return v->src[1 - i];
	}
	return NULL;
}

/* Adds what a store leaves to what is held. */
static void hold(Known *k, const Written *w)
{
	Held *h = held_of(k, stored_to(w->store));
	/* what items share is added to by all of them */
	bool array = stored_to(w->store)->op == OP_DEFINE_REG;
	UOp *by = array ? added(w->store) : NULL;
	Span v = span_of(k, by ? by : w->store->src[1]);

	if (span_empty(v))
		return;
	if (!by) {
		h->span = span_join(h->span, v);
	} else {
		Wide lo = v.lo < 0 ? v.lo : 0, hi = v.hi > 0 ? v.hi : 0;
		bool fits = w->turns < MANY && lo > -MANY && hi < MANY;
		h->next.lo += fits ? lo * w->turns : -BEYOND;
		h->next.hi += fits ? hi * w->turns : BEYOND;
	}
}

/* Goes over the stores once; whether what is held has changed. */
static bool hold_all(Known *k, const Writes *w)
{
	Held *was = xmalloc((w->n + 1) * sizeof *was);
	bool more = false;

	for (size_t i = 0; i < w->n; i++) {
		Held *h = held_of(k, stored_to(w->at[i].store));
		was[i] = *h;
	}
	for (size_t i = 0; i < w->n; i++)
		held_of(k, stored_to(w->at[i].store))->next = (Span){0, 0};
	for (size_t i = 0; i < w->n; i++) {
		known_changed(k);
		hold(k, &w->at[i]);
	}
	for (size_t i = 0; i < w->n; i++) {
		Held *h = held_of(k, stored_to(w->at[i].store));
		h->steps = h->next;
		more |= was[i].span.lo != h->span.lo || was[i].span.hi != h->span.hi ||
			was[i].steps.lo != h->steps.lo || was[i].steps.hi != h->steps.hi;
	}
	free(was);
	return more;
}

/* Whether the kernel loads integers from what it stores to. */
static void find_loads(Known *k)
{
	Nodes all = walk_kept(k->kernel);
	for (size_t i = 0; i < all.n; i++) {
		Held *h = all.at[i]->op == OP_LOAD ? held_of(k, all.at[i]->src[0]->src[0]) : NULL;
		if (h)
			h->loaded = true;
	}
}

void memory_learn(Known *k)
{
	enum { TURNS = 6 };
	Writes w = {0};
	bool more = true;

	if (k->kernel)
		find_writes(k, &w);
	for (size_t i = 0; i < w.n; i++) {
		UOp *storage = stored_to(w.at[i].store);
		if (!held_of(k, storage)) {
			Held *h = arena_alloc(sizeof *h);
			*h = (Held){.span = {1, 0}};
			map_put(&k->held, storage->id + 1, h);
		}
	}
	if (w.n)
		find_loads(k);
	for (int turn = 0; w.n && more && turn < TURNS; turn++)
		more = hold_all(k, &w);
	for (size_t i = 0; more && i < w.n; i++)
		held_of(k, stored_to(w.at[i].store))->span =
			span_dtype(w.at[i].store->src[0]->dtype);
	known_changed(k);
	vec_free(&w);
}

/* ---- sizes that values are below */

/* A size that a value might be below. */
static UOp *candidate(Known *k, const UOp *v)
{
	for (int i = 0; i < 16; i++) {
		if (v->op == OP_RANGE)
			return ix_fixed(v->src[0]) ? v->src[0] : NULL;
		if (v->op == OP_RSORT)
			return ix_fixed(v->src[1]->src[0]) ? v->src[1]->src[0] : NULL;
		if (v->op == OP_LOAD)
			return held_of(k, v->src[0]->src[0]) ? NULL : load_below(k, v);
		if (v->op != OP_LET && v->op != OP_WHERE)
			return NULL;
		v = v->src[v->op == OP_WHERE];
	}
	return NULL;
}

/* Whether a value is below a size that is at least 1, if what is loaded is below what it was found
 * to be below. */
static bool is_below(Known *k, UOp *v, UOp *size, int depth)
{
	if (v->op == OP_LET && depth)
		return is_below(k, v->src[0], size, depth - 1);
	if (v->op == OP_WHERE && depth)
		return is_below(k, v->src[1], size, depth - 1) &&
			is_below(k, v->src[2], size, depth - 1);
	if (v->op == OP_LOAD)
		return load_below(k, v) == size;
	if (v->op == OP_RSORT)
		return v->src[1]->src[0] == size;
	return follows(k, v, size, 1);
}

/* Finds what the values that are stored are below: first a size for each storage, then those are
 * dropped which some store does not keep to. */
static void find_belows(Known *k)
{
	Writes w = {0};
	bool more = true;

	k->belows = true;
	find_writes(k, &w);
	for (size_t i = 0; i < w.n; i++) {
		Held *h = held_of(k, stored_to(w.at[i].store));
		UOp *size = candidate(k, w.at[i].store->src[1]);
		if (!h->below && size && span_of(k, size).lo > 0)
			h->below = size;
	}
	/* what is loaded from others of them can be below what these are */
	for (size_t i = 0; i < w.n; i++) {
		Held *h = held_of(k, stored_to(w.at[i].store));
		for (size_t j = 0; !h->below && j < w.n; j++)
			h->below = held_of(k, stored_to(w.at[j].store))->below;
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < w.n; i++) {
			Held *h = held_of(k, stored_to(w.at[i].store));
			if (h->below && !is_below(k, w.at[i].store->src[1], h->below, 8)) {
				h->below = NULL;
				more = true;
			}
		}
	}
	vec_free(&w);
}

static Span held_span(const Held *h, Span all)
{
	Span s = {h->span.lo + h->steps.lo, h->span.hi + h->steps.hi};
	if (span_empty(h->span))
		return h->span;
	return s.lo < all.lo || s.hi > all.hi ? all : s;
}

/* ---- a kernel that reads what it stored */

void memory_pass(Known *k, UOp *store)
{
	const Held *h = held_of(k, stored_to(store));
	if (!h || !h->loaded)
		return;
	uint32_t *path = arena_alloc((k->path.n + 1) * sizeof *path);
	if (k->path.n)
		memcpy(path, k->path.at, k->path.n * sizeof *path);
	vec_push(&k->fill, ((Fill){store, k->path.n, path}));
}

/* Whether the place of a LOAD lies among those that a store before it wrote. */
static bool filled_by(Known *k, UOp *load, const Fill *f)
{
	size_t common = 0;
	Sum at, i;
	Cover c;

	while (common < f->depth && common < k->path.n && f->path[common] == k->path.at[common])
		common++;
	return store_covers(k, f, common, false, &c) && place_sum(k, load->src[0], &at) &&
		sum_plus(&at, -1, &c.base) && sum_divided(&at, &c.step, &i) && sum_holds(k, &i) &&
		sum_plus(&c.count, -1, &i) && add_ok(c.count.k, -1, &c.count.k) &&
		sum_holds(k, &c.count);
}

/* Whether statements from..to store to what u loads from. */
static bool stores_between(const Known *k, UOp *u, uint32_t from, uint32_t to)
{
	Nodes all = walk(u);
	for (uint32_t i = from; i < to; i++) {
		const UOp *s = k->kernel->src[i];
		for (size_t j = 0; s->op == OP_STORE && j < all.n; j++)
			if (all.at[j] == stored_to(s))
				return true;
	}
	return false;
}

bool let_is_fresh(const Known *k, UOp *let)
{
	uint32_t from = (uintptr_t)map_get(&k->lets, let->id + 1), to = k->at;

	if (!from || k->graph->level < LV_LOOPS)
		return false;
	/* a loop that was entered since runs all of its statements again */
	for (size_t i = 0; i < k->path.n; i++) {
		const UOp *loop = k->kernel->src[k->path.at[i]];
		bool since = k->path.at[i] >= from && loop->op == OP_RANGE;
		for (uint32_t e = to; since && e < k->kernel->nsrc; e++)
			if (k->kernel->src[e]->op == OP_ENDRANGE &&
				k->kernel->src[e]->src[0] == loop) {
				to = e;
				break;
			}
	}
	return !stores_between(k, let->src[0], from, to);
}

/* Whether what stands around a store and not around this place are loops alone, whose ranges its
 * index names: then it was run with their present values. */
static bool runs_before(const Known *k, const Fill *f)
{
	uint64_t named = range_mask(f->store->src[0]);
	size_t common = 0;

	while (common < f->depth && common < k->path.n && f->path[common] == k->path.at[common])
		common++;
	for (size_t i = common; i < f->depth; i++) {
		const UOp *s = k->kernel->src[f->path[i]];
		if (s->op != OP_RANGE || !(named >> range_axis(s) & 1))
			return false;
	}
	return f->store->nsrc < 3;
}

static bool is_shared(const UOp *storage)
{
	return storage->op != OP_DEFINE_REG && (storage->op != OP_DEFINE_LOCAL ||
		!val_is_str(storage->arg->a[2], "stack"));
}

UOp *load_forwarded(Known *k, UOp *load)
{
	UOp *index = load->src[0], *value = NULL;
	Span at = {0, 0};

	if (is_shared(index->src[0]) || load->nsrc > 1 || !held_of(k, index->src[0]))
		return NULL;
	at = span_of(k, index->src[1]);
	for (uint32_t i = 0; i < k->kernel->nsrc; i++) {
		const UOp *s = k->kernel->src[i];
		if (s->op != OP_STORE || stored_to(s) != index->src[0] || s->src[0] == index)
			continue;
		Span other = span_of(k, s->src[0]->src[1]);
		if (other.lo <= at.hi && at.lo <= other.hi)
			return NULL;
	}
	for (size_t i = 0; i < k->fill.n; i++) {
		const Fill *f = &k->fill.at[i];
		if (f->store->src[0] != index)
			continue;
		if (value || !runs_before(k, f) || value_loads(k, f->store->src[1]))
			return NULL;
		value = f->store->src[1];
	}
	return value;
}

bool memory_counts_on(const Known *k, const UOp *load)
{
	const UOp *storage = load->src[0]->src[0];
	return !k->plain && storage->op == OP_PARAM && held_of(k, storage);
}

bool memory_filled(Known *k, UOp *load)
{
	UOp *storage = load->src[0]->src[0];
	bool filled = false;

	for (size_t i = 0; !filled && i < k->fill.n; i++)
		if (stored_to(k->fill.at[i].store) == storage)
			filled = filled_by(k, load, &k->fill.at[i]);
	return filled;
}

/* ---- what calls leave in buffers */

/* The span of what a call stores to a buffer; whether it writes all of it; a size that is above. */
typedef struct { Span span; bool all; UOp *below; } Left;
typedef VEC(uint32_t) Calls;

static ARENA Known nested[NESTED];
static ARENA Map lefts;                 /* Left, by call and buffer */
static ARENA Map writers;               /* Calls, by buffer; made for written_for */
static ARENA const Graph *written_for;
static ARENA Map constants;             /* Span, by const BUFFER */

static void add_writer(UOp *buffer, uint32_t call)
{
	Calls *c = map_get(&writers, buffer->id + 1);
	if (!c) {
		c = arena_alloc(sizeof *c);
		map_put(&writers, buffer->id + 1, c);
	}
	if (!c->n || c->at[c->n - 1] != call)
		vec_push(c, call);
}

/* Notes which calls write which buffers of integers; a call that is not a kernel's writes all that
 * it takes. */
static void find_writers(const Graph *g)
{
	if (written_for == g)
		return;
	map_free(&writers);
	map_free(&lefts);
	written_for = g;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i], *kernel = call_kernel(call);
		Nodes all = kernel ? walk_kept((UOp *)kernel) : (Nodes){0};
		for (uint32_t b = call->op == OP_CALL; !kernel && b < call->nsrc; b++)
			add_writer(call->src[b], i);
		for (size_t k = 0; k < all.n; k++) {
			const UOp *u = all.at[k];
			bool sort = u->op == OP_RSORT;
			const UOp *to = sort ? u->src[2]->src[0] :
				u->op == OP_STORE ? u->src[0]->src[0] : NULL;
			if (to && to->op == OP_PARAM && is_integer(to))
				add_writer(call->src[1 + param_slot(to)], i);
		}
	}
}

/* A sort's other buffer holds anything. */
static bool is_scratch(const Known *k, const UOp *buffer)
{
	Nodes all = walk_kept(k->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RSORT &&
			k->call->src[1 + param_slot(all.at[i]->src[2]->src[0])] == buffer)
			return true;
	return false;
}

static void left_by_store(Known *k, UOp *s, const UOp *buffer, Left *left)
{
	const UOp *to = s->op == OP_STORE ? stored_to(s) : NULL;
	Fill f = {s, k->path.n, k->path.at};
	Sum size;
	Cover c;

	if (!to || to->op != OP_PARAM || k->call->src[1 + param_slot(to)] != buffer)
		return;
	left->span = span_join(left->span, span_of(k, s->src[1]));
	if (!k->belows)
		find_belows(k);
	left->below = held_of(k, to)->below;
	sum_parts(k, shape_count(to->shape), &size);
	left->all |= store_covers(k, &f, 0, true, &c) && !c.base.n && !c.base.k && !c.step.n &&
		c.step.k == 1 && sum_plus(&c.count, -1, &size) && sum_holds(k, &c.count);
}

static void left_by_kernel(Known *k, const UOp *buffer, Left *left)
{
	for (uint32_t i = 0; i < k->kernel->nsrc; i++) {
		UOp *s = k->kernel->src[i];
		if (s->op == OP_RANGE || s->op == OP_IF)
			vec_push(&k->path, i);
		else if (s->op == OP_ENDRANGE || s->op == OP_ENDIF)
			k->path.n--;
		left_by_store(k, s, buffer, left);
	}
}

static Span content(const Known *at, UOp *buffer, uint32_t before, int depth);

static Left *left_by(const Known *at, uint32_t number, UOp *buffer, int depth)
{
	uint64_t key = (uint64_t)number << 32 | (buffer->id + 1);
	Left *left = map_get(&lefts, key);
	const UOp *call = at->graph->sink->src[number];

	if (left)
		return left;
	left = arena_alloc(sizeof *left);
	*left = (Left){.span = {1, 0}};
	map_put(&lefts, key, left);
	if (call_kernel(call)) {
		Known *k = &nested[depth];
		k->sizes = at->sizes;
		k->depth = depth + 1;
		known_begin(k, at->graph, number);
		if (is_scratch(k, buffer))
			left->span = span_dtype(buffer->dtype);
		else
			left_by_kernel(k, buffer, left);
	} else if (call->op == OP_MEMCPY && call->src[0] == buffer && buffer != call->src[1]) {
		*left = (Left){content(at, call->src[1], number, depth + 1), true, NULL};
	} else if (call->op != OP_MEMCPY || call->src[0] == buffer) {
		left->span = span_dtype(buffer->dtype);
	}
	return left;
}

static Span bytes_span(const UOp *buffer, const Val *data)
{
	Span r = {1, 0};
	int size = dtype_size(buffer->dtype);

	for (size_t i = 0; i + size <= data->n; i += size) {
		uint64_t bits = 0;
		memcpy(&bits, data->s + i, size);
		Wide v = bits;
		if (dtype_signed(buffer->dtype))
			v = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
		r = span_join(r, (Span){v, v});
	}
	return r;
}

/* The least and the greatest number of a constant in the document, looked for once. */
static Span data_span(UOp *buffer)
{
	const Val *data = val_get(buffer->arg, "data");
	Span *known = map_get(&constants, PKEY(buffer));

	if (known)
		return *known;
	if (!buffer_is(buffer, "const") || !data || data->kind != VAL_BIN || !data->n)
		return span_dtype(buffer->dtype);
	known = arena_alloc(sizeof *known);
	*known = bytes_span(buffer, data);
	map_put(&constants, PKEY(buffer), known);
	return *known;
}

/* What a buffer holds before a call. */
static Span content(const Known *at, UOp *buffer, uint32_t before, int depth)
{
	const Calls *c;
	Span s = {1, 0};

	if (depth >= NESTED)
		return span_dtype(buffer->dtype);
	find_writers(at->graph);
	c = map_get(&writers, buffer->id + 1);
	for (size_t i = c ? c->n : 0; i-- > 0; ) {
		if (c->at[i] >= before)
			continue;
		const Left *left = left_by(at, c->at[i], buffer, depth);
		s = span_join(s, left->span);
		if (left->all)
			return s;
	}
	return span_join(s, data_span(buffer));
}

/* The size that the call which last filled a buffer kept to. */
static UOp *content_below(const Known *at, UOp *buffer)
{
	find_writers(at->graph);
	const Calls *c = map_get(&writers, buffer->id + 1);
	for (size_t i = c && at->depth < NESTED ? c->n : 0; i-- > 0; )
		if (c->at[i] < at->number) {
			const Left *left = left_by(at, c->at[i], buffer, at->depth);
			return left->all ? left->below : NULL;
		}
	return NULL;
}

UOp *load_below(Known *k, const UOp *load)
{
	const UOp *storage = load->src[0]->src[0];
	const Held *h = held_of(k, storage);
	UOp *below = NULL;

	if (!is_integer(load))
		return NULL;
	if (h && !k->belows)
		find_belows(k);
	if (h && (storage->op != OP_PARAM || !k->plain))
		below = h->below;
	else if (!h && storage->op == OP_PARAM)
		below = content_below(k, k->call->src[1 + param_slot(storage)]);
	k->looked |= below && !h;
	return below;
}

Span load_span(Known *k, UOp *load)
{
	UOp *storage = load->src[0]->src[0];
	const Held *h = held_of(k, storage);
	Span all = span_dtype(load->dtype), s = all;

	if (h && (storage->op != OP_PARAM || !k->plain))
		s = held_span(h, all);
	else if (!h && storage->op == OP_PARAM)
		s = content(k, k->call->src[1 + param_slot(storage)], k->number, k->depth);
	k->looked |= storage->op == OP_PARAM && (s.lo != all.lo || s.hi != all.hi);
	return load->nsrc > 1 ? span_join(s, (Span){0, 0}) : s;
}

static ARENA Map plain;

bool memory_plain(const UOp *kernel) { return map_get(&plain, PKEY(kernel)); }

void memory_distrust(UOp *kernel) { map_put(&plain, PKEY(kernel), kernel); }

void memory_forget(void)
{
	written_for = NULL;
	map_free(&plain);
}
