/* What the segments and steps of a list share: a table of buffers by name. Segments read and write
 * them where they are, so exchanging two of them is exchanging two pointers.
 *
 * An entry's memory is its own while it is needed; memory that is no longer needed is used again
 * for one of about that size, and freed before more is asked for. So there is never more of it than
 * what was needed at one time. */
#include "document/document.h"
#include "session/list.h"
#include <stdlib.h>

/* The state of that name, or NULL. */
static const Array *state_of(const Session *s, const UOp *u)
{
	for (size_t i = 0; i < s->states.n; i++)
		if (!strcmp(buffer_name(s->states.at[i].buffer), buffer_name(u)))
			return &s->states.at[i].at;
	return NULL;
}

/* What the caller gives, or the state, as it is now; NULL for other buffers. */
static const Array *given_now(const List *l, const UOp *u)
{
	const Array *a = buffer_is(u, "input") ? input_of(l->s->in, u) : NULL;
	return a || (!buffer_is(u, "input") && !buffer_is(u, "state")) ? a : state_of(l->s, u);
}

/* A segment has temporaries as inputs or outputs, which may have the names of inputs, states and
 * constants. */
Shared *shared_of(List *l, const UOp *u)
{
	const Val *name = val_get(u->arg, "name");
	bool temp = map_get(&l->temps, PKEY(name)) && !given_now(l, u) && !buffer_is(u, "const");
	uint64_t key = PKEY(name) * 4 + (temp ? 0 : buffer_is(u, "output") ? 1 : 2);
	Shared *h = map_get(&l->shared, key);
	if (!h) {
		h = xcalloc(1, sizeof *h);
		h->buffer = u;
		h->output = !temp && buffer_is(u, "output");
		h->given = !temp && !h->output;
		map_put(&l->shared, key, h);
	}
	return h;
}

/* ---- memory */

void *list_alloc(List *l, size_t bytes)
{
	l->held += bytes;
	l->most = l->held > l->most ? l->held : l->most;
	return l->exec->alloc(bytes ? bytes : 1);
}

void list_release(List *l, void *mem, size_t bytes)
{
	if (!mem)
		return;
	l->held -= bytes;
	l->exec->release(mem);
}

static void free_blocks(List *l)
{
	while (l->free.n) {
		Block b = l->free.at[--l->free.n];
		list_release(l, b.mem, b.room);
	}
}

/* The free block that fits best, if one is of about that size, or else new memory. The next turn
 * may want a little more. */
static Block block_of(List *l, size_t bytes)
{
	const size_t most = bytes + bytes / 8 + 4096, room = l->turn.n ? bytes + bytes / 8 : bytes;
	Block b = {NULL, room / 64 * 64 + 64}, *best = NULL;
	for (size_t i = 0; i < l->free.n; i++) {
		Block *at = &l->free.at[i];
		if (at->room >= bytes && at->room <= most && (!best || at->room < best->room))
			best = at;
	}
	if (best) {
		b = *best;
		*best = l->free.at[--l->free.n];
		return b;
	}
	free_blocks(l);
	b.mem = list_alloc(l, b.room);
	return b;
}

static void free_memory(List *l, Shared *h)
{
	if (h->mem && !h->given)
		vec_push(&l->free, ((Block){h->mem, h->room}));
	free(h->host);
	h->mem = h->host = NULL;
	h->room = 0;
	h->full = false;
}

void shared_drop(List *l, Shared *h)
{
	enum { SMALL = 1 << 16 };       /* bytes, which are kept for the next turn or call */
	if (h->room >= SMALL)
		free_memory(l, h);
}

void shared_fit(List *l, Shared *h, const Array *a)
{
	if (!h->mem || h->room < a->bytes) {
		if (h->mem)
			vec_push(&l->free, ((Block){h->mem, h->room}));
		Block b = block_of(l, a->bytes);
		h->mem = b.mem;
		h->room = b.room;
	}
	h->a = *a;
	h->a.owned = false;
	h->full = true;
}

/* ---- contents */

/* An entry with what the caller, the document or the state has. */
static void give(List *l, Shared *h, const Array *a)
{
	if (l->exec->host) {
		h->mem = a->data;
	} else {
		if (!h->mem)
			h->mem = l->exec->alloc(a->bytes ? a->bytes : 1);
		l->exec->put(h->mem, a->data, a->bytes);
	}
	h->a = *a;
	h->a.owned = false;
	h->full = true;
}

Shared *shared_read(List *l, const UOp *u, Shared *h)
{
	const Array *now = h->full || !h->given ? NULL : given_now(l, h->buffer);
	if (now) {
		give(l, h, now);
	} else if (!h->full && h->given && buffer_is(u, "const")) {
		Array a = buffer_content(u, &l->env);
		give(l, h, &a);
		h->a.owned = a.owned && l->exec->host;
		if (!l->exec->host)
			array_free(&a);
	}
	if (!h->full)
		list_fault(u, "nothing has been written to it");
	return h;
}

void shared_set(List *l, Shared *h, const Array *a)
{
	shared_fit(l, h, a);
	l->exec->put(h->mem, a->data, a->bytes);
}

void shared_copy(List *l, Shared *to, const Shared *from)
{
	shared_fit(l, to, &from->a);
	l->exec->copy(to->mem, from->mem, from->a.bytes);
}

void shared_get(const List *l, const Shared *h, void *to, size_t n)
{
	if (n)
		l->exec->get(to, h->mem, n);
}

/* ---- stacks */

/* How many elements there will be, as far as its shape says it. */
static size_t stack_length(const List *l, const Shared *h, size_t n)
{
	int64_t all;
	bool known = ix_eval(h->buffer->shape->dim[0], &l->env, &all) && all > 0;
	return known && (size_t)all >= n ? (size_t)all : n + n / 2;
}

/* Room for n elements, where those before the last stay. */
static void stack_fit(List *l, Shared *h, const Array *a, size_t n)
{
	if (h->room < a->bytes || !h->mem) {
		Array room = *a;
		Shared old = *h;
		room.bytes = a->bytes / n * stack_length(l, h, n);
		h->mem = NULL;
		shared_fit(l, h, &room);
		if (old.mem && old.full)
			l->exec->copy(h->mem, old.mem, old.a.bytes);
		if (old.mem)
			vec_push(&l->free, ((Block){old.mem, old.room}));
	}
	h->a = *a;
	h->full = true;
}

/* A device's memory is not written in the middle: the stack grows on the host. */
static void stack_host(List *l, Shared *h, const Array *a)
{
	if (h->hosted < a->bytes || !h->host) {
		h->hosted = a->bytes + a->bytes / 2 + 1;
		h->host = xrealloc(h->host, h->hosted);
	}
	h->a = *a;
	h->full = true;
}

void stack_push(List *l, const UOp *u, Shared *to, const Shared *v)
{
	Array grown = v->a;
	int64_t n = to->full ? to->a.dim[0] : 0;
	if (n && (to->a.rank != v->a.rank + 1 ||
		memcmp(to->a.dim + 1, v->a.dim, (size_t)v->a.rank * sizeof *v->a.dim)))
		list_fault(u, "the values of its turns differ in shape");
	grown.rank = v->a.rank + 1;
	grown.dim[0] = n + 1;
	memcpy(grown.dim + 1, v->a.dim, (size_t)v->a.rank * sizeof *v->a.dim);
	grown.bytes = v->a.bytes * (size_t)(n + 1);
	if (l->exec->host)
		stack_fit(l, to, &grown, (size_t)n + 1);
	else
		stack_host(l, to, &grown);
	char *at = l->exec->host ? to->mem : to->host;
	shared_get(l, v, at + v->a.bytes * (size_t)n, v->a.bytes);
}

/* Without a turn, only its rank is known. */
void stack_end(List *l, Shared *h)
{
	const Shape *shape = h->buffer->shape;
	Array none = {.dtype = h->buffer->dtype, .rank = shape->rank};
	for (int d = 1; d < none.rank; d++)
		none.dim[d] = ANY;
	if (!h->full) {
		shared_fit(l, h, &none);
	} else if (h->host) {
		void *host = h->host;
		Array a = h->a;
		a.data = host;
		h->host = NULL;
		list_release(l, h->mem, h->mem ? h->room : 0);
		h->mem = NULL;
		h->room = 0;
		shared_set(l, h, &a);
		free(host);
	}
}

/* ---- around a call */

void shared_begin(List *l)
{
	for (size_t i = 0; i < l->shared.cap; i++) {
		Shared *h = l->shared.val[i];
		if (h && !(h->given && buffer_is(h->buffer, "const")))
			h->full = false;
	}
}

void shared_end(List *l)
{
	for (size_t i = 0; i < l->shared.cap && !l->exec->host; i++) {
		const Shared *h = l->shared.val[i];
		const Array *state = h && h->given && h->full && !buffer_is(h->buffer, "const") &&
			!input_of(l->s->in, h->buffer) ? state_of(l->s, h->buffer) : NULL;
		if (state)
			l->exec->get(state->data, h->mem, state->bytes);
	}
}

void shared_free(List *l)
{
	for (size_t i = 0; i < l->shared.cap; i++) {
		Shared *h = l->shared.val[i];
		if (h && h->given && !l->exec->host && h->mem)
			l->exec->release(h->mem);
		if (h && h->given)
			array_free(&h->a);
		if (h)
			free_memory(l, h);
		free(h);
	}
	free_blocks(l);
	vec_free(&l->free);
	map_free(&l->shared);
}
