/* Moves calls that fill temporaries to immediately before their readers, and calls that fill none
 * to immediately after the calls that they wait for, where that takes less memory.
 *
 *     k0 = x*w0, k1 = x*w1, y = f(k0), z = g(y, k1)   →   k0, y, k1, z
 *
 * A call moves down to the first that waits for it when it writes more than it would keep alive:
 * temporaries of which it is the last reader. One that writes only outputs (a gradient) moves up.
 * Symbolic sizes are replaced by some number. Where the greatest memory alive at once does not
 * decrease, the order is kept. */
#include "document/document.h"
#include "fuse.h"
#include <stdlib.h>

enum { NOMINAL = 16, STEP_BITS = 20 };

/* place: in the new order; waiting: calls that must come after it, ahead: before it; moved: calls
 * put immediately before it, followed: immediately after */
typedef struct {
	UOp *call;
	int64_t place, moved, followed;
	size_t at;
	bool fills;             /* a temporary */
	VEC(size_t) waiting, ahead;
} Standing;

/* A buffer while the calls are read: its last writer and the readers since then, by number; bytes
 * are 0 unless it is a temporary. */
typedef struct {
	int64_t bytes;
	size_t writer, first, last;
	bool written;
	VEC(size_t) readers;
} Life;

typedef struct { Standing *stand; size_t n; Map life; VEC(Life *) lives; VarEnv env; } Order;

static int64_t bytes_of(const Order *o, const UOp *buffer)
{
	int64_t n = dtype_size(buffer->dtype), d;

	for (int i = 0; i < buffer->shape->rank && buffer_is(buffer, "temp"); i++)
		if (!ix_eval(buffer->shape->dim[i], &o->env, &d) || d < 0 || !mul_ok(n, d, &n))
			return 0;
	return buffer_is(buffer, "temp") && n < INT64_MAX >> STEP_BITS ? n : 0;
}

static Life *life_of(Order *o, const UOp *buffer)
{
	Life *u = map_get(&o->life, PKEY(buffer));

	if (!u) {
		u = arena_alloc(sizeof *u);
		u->bytes = bytes_of(o, buffer);
		map_put(&o->life, PKEY(buffer), u);
		vec_push(&o->lives, u);
	}
	return u;
}

/* Does the call write this source, as far as that is known? Unknown ones count as written. */
static bool writes(const UOp *call, uint32_t source, uint64_t known)
{
	uint32_t slot = source - (call->op == OP_CALL);
	return slot >= 64 || known >> slot & 1;
}

static uint64_t known_writes(const UOp *call)
{
	if (call->op != OP_CALL)
		return 1;
	Nodes all = walk(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RSORT)
			return UINT64_MAX;
	return call_writes(call);
}

static void wait_for(Order *o, size_t before, size_t behind)
{
	if (before == behind)
		return;
	vec_push(&o->stand[before].waiting, behind);
	vec_push(&o->stand[behind].ahead, before);
}

/* Readers wait for the writer; a writer waits for the writer before it and that one's readers. */
static void note_call(Order *o, size_t i)
{
	const UOp *call = o->stand[i].call;
	uint64_t known = known_writes(call);

	for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++) {
		Life *u = life_of(o, call->src[k]);
		if (u->written)
			wait_for(o, u->writer, i);
		for (size_t r = 0; r < u->readers.n && writes(call, k, known); r++)
			wait_for(o, u->readers.at[r], i);
		if (writes(call, k, known)) {
			o->stand[i].fills |= u->bytes > 0;
			u->readers.n = 0;
			u->writer = i;
			u->written = true;
		} else {
			vec_push(&u->readers, i);
		}
	}
}

static Order order_new(const Graph *g)
{
	Order o = {.n = g->sink->nsrc};

	for (size_t i = 0; i < g->vars->n && g->vars->kind == VAL_MAP && o.env.n < 64; i++) {
		int64_t least = g->vars->a[2 * i + 1]->a[0]->i;
		o.env.name[o.env.n] = g->vars->a[2 * i]->s;
		o.env.value[o.env.n++] = least > NOMINAL ? least : NOMINAL;
	}
	o.stand = arena_alloc((o.n + 1) * sizeof *o.stand);
	for (size_t i = 0; i < o.n; i++) {
		o.stand[i].call = g->sink->src[i];
		o.stand[i].place = (int64_t)i << STEP_BITS;
		o.stand[i].at = i;
		note_call(&o, i);
	}
	return o;
}

/* ---- moving */

/* The greatest memory alive at once when the calls are in that order; each Life gets its first and
 * last place. */
static int64_t most_alive(Order *o, const Standing *stand)
{
	int64_t *more = xcalloc(o->n + 2, sizeof *more), alive = 0, most = 0;

	for (size_t i = 0; i < o->lives.n; i++)
		o->lives.at[i]->first = SIZE_MAX;
	for (size_t i = 0; i < o->n; i++)
		for (uint32_t k = stand[i].call->op == OP_CALL; k < stand[i].call->nsrc; k++) {
			Life *u = life_of(o, stand[i].call->src[k]);
			u->first = u->first == SIZE_MAX ? i : u->first;
			u->last = i;
		}
	for (size_t i = 0; i < o->lives.n; i++) {
		more[o->lives.at[i]->first] += o->lives.at[i]->bytes;
		more[o->lives.at[i]->last + 1] -= o->lives.at[i]->bytes;
	}
	for (size_t i = 0; i < o->n; i++) {
		alive += more[i];
		most = alive > most ? alive : most;
	}
	free(more);
	return most;
}

/* Bytes that become alive with call i, less those that end. */
static int64_t bytes_gained(Order *o, size_t i)
{
	const UOp *call = o->stand[i].call;
	int64_t n = 0;

	for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++) {
		const Life *u = life_of(o, call->src[k]);
		n += u->first == i && u->last != i ? u->bytes : 0;
		n -= u->last == i && u->first != i ? u->bytes : 0;
	}
	return n;
}

/* To immediately before the first call that waits for this one, when that saves memory. */
static void move_down(Order *o, size_t i)
{
	Standing *t = &o->stand[i], *to = NULL;

	if (bytes_gained(o, i) <= 0)
		return;
	for (size_t k = 0; k < t->waiting.n; k++)
		if (!to || o->stand[t->waiting.at[k]].place < to->place)
			to = &o->stand[t->waiting.at[k]];
	if (to && to->place - to->moved - 1 > t->place)
		t->place = to->place - ++to->moved;
}

/* To immediately after the last call that this one waits for, when it fills no memory. */
static void move_up(Order *o, size_t i)
{
	Standing *t = &o->stand[i], *to = NULL;

	if (t->fills)
		return;
	for (size_t k = 0; k < t->ahead.n; k++)
		if (!to || o->stand[t->ahead.at[k]].place > to->place)
			to = &o->stand[t->ahead.at[k]];
	/* calls that prepare constants stay first */
	if (to && !call_prepares(to->call) && to->place + to->followed + 1 < t->place)
		t->place = to->place + ++to->followed;
}

static int by_place(const void *a, const void *b)
{
	const Standing *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void order_free(Order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		vec_free(&o->stand[i].waiting);
		vec_free(&o->stand[i].ahead);
	}
	for (size_t i = 0; i < o->lives.n; i++)
		vec_free(&o->lives.at[i]->readers);
	vec_free(&o->lives);
	map_free(&o->life);
}

/* All calls moved up, or down; g itself where that saves no memory. */
static Graph *reordered(Graph *g, bool up)
{
	Order o = order_new(g);
	Standing *stand = arena_alloc((o.n + 1) * sizeof *stand);
	UOp **call = arena_alloc((o.n + 1) * sizeof *call);
	int64_t before = most_alive(&o, o.stand);

	for (size_t k = 0; k < o.n; k++) {
		size_t i = up ? k : o.n - 1 - k;
		if (!call_prepares(o.stand[i].call))
			(up ? move_up : move_down)(&o, i);
	}
	memcpy(stand, o.stand, o.n * sizeof *stand);
	qsort(stand, o.n, sizeof *stand, by_place);
	for (size_t i = 0; i < o.n; i++)
		call[i] = stand[i].call;
	if (most_alive(&o, stand) < before)
		g = graph_with_calls(g, o.n, call);
	order_free(&o);
	return g;
}

Graph *order_calls(Graph *g) { return reordered(reordered(g, true), false); }
