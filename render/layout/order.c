/* The order in which constants are prepared: the largest first. While a constant is being prepared
 * it is in memory twice, in its original order and in the new one; for the last ones, when all
 * others are already in memory, that should be little.
 *
 *     pack t0 ← w0 [64,64], pack t1 ← w1 [512,512]   →   t1 ← w1, t0 ← w0
 *
 * A buffer that only another such call reads is made immediately before it. */
#include "shape/shape.h"
#include "layout/layout.h"
#include <stdlib.h>

/* Sources from … to - 1 are written, those from `to` on are read. */
typedef struct {
	UOp *call;
	uint32_t from, to;
	int64_t bytes;
	size_t at;
	bool read, done;
} Preparation;

static int by_bytes(const void *a, const void *b)
{
	const Preparation *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static int64_t bytes_read(const Preparation *t)
{
	int64_t n, all = 0;
	for (uint32_t i = t->to; i < t->call->nsrc; i++)
		if (!shape_bytes(t->call->src[i]->shape, t->call->src[i]->dtype, &n) ||
			!add_ok(all, n, &all))
			return INT64_MAX;
	return all;
}

static Preparation preparation_of(UOp *call, size_t at)
{
	bool kernel = call->op == OP_CALL;
	Preparation t = {.call = call, .from = kernel, .at = at};
	t.to = t.from + (kernel ? __builtin_popcountll(call_writes(call)) : 1);
	t.bytes = bytes_read(&t);
	return t;
}

/* Is each buffer filled by only one call? Otherwise the document's order is kept. */
static bool once_each(const Map *made, const Preparation *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = t[i].from; k < t[i].to; k++)
			if (map_get(made, PKEY(t[i].call->src[k])) != &t[i])
				return false;
	return true;
}

/* A call for which t waits; NULL when none is left. */
static Preparation *waits_for(const Map *made, const Preparation *t)
{
	for (uint32_t i = t->to; i < t->call->nsrc; i++) {
		Preparation *before = map_get(made, PKEY(t->call->src[i]));
		if (before && !before->done && before != t)
			return before;
	}
	return NULL;
}

typedef struct { Map made; VEC(Preparation *) stack; UOp **out; size_t n; } SizeOrder;

/* puts t after all calls for which it waits */
static void put(SizeOrder *o, Preparation *t)
{
	vec_push(&o->stack, t);
	while (o->stack.n) {
		Preparation *top = o->stack.at[o->stack.n - 1], *before = waits_for(&o->made, top);
		if (before) {
			vec_push(&o->stack, before);
			continue;
		}
		o->stack.n--;
		if (!top->done)
			o->out[o->n++] = top->call;
		top->done = true;
	}
}

void largest_first(size_t n, UOp **call)
{
	Preparation *t = xmalloc((n + 1) * sizeof *t), *reads;
	SizeOrder o = {.out = call};

	for (size_t i = 0; i < n; i++)
		t[i] = preparation_of(call[i], i);
	qsort(t, n, sizeof *t, by_bytes);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = t[i].from; k < t[i].to; k++)
			map_put(&o.made, PKEY(t[i].call->src[k]), &t[i]);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = t[i].to; k < t[i].call->nsrc; k++)
			if ((reads = map_get(&o.made, PKEY(t[i].call->src[k]))) && reads != &t[i])
				reads->read = true;
	bool once = once_each(&o.made, t, n);
	for (size_t i = 0; i < n && once; i++)
		if (!t[i].read)
			put(&o, &t[i]);
	map_free(&o.made);
	vec_free(&o.stack);
	free(t);
}
