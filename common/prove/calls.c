/* The list of calls: each slot has the buffer that its kernel expects, what is written may be
 * written, and a buffer is written before it is read.
 *
 *     K0: t0 = f(x)    K1: y = g(t0)        without K0, K1 reads a t0 that nobody wrote
 */
#include "prove/accesses.h"
#include "shape/shape.h"
#include <stdlib.h>

/* What the calls so far have done: the buffers that they wrote. */
typedef struct { Map written; } Progress;

static bool starts_empty(const UOp *b)
{
	return !shape_empty(b->shape) &&
		(buffer_is(b, "temp") || buffer_is(b, "output") || buffer_is(b, "prepared"));
}

static void read_buffer(const Progress *p, const ProvedCall *c, const UOp *b)
{
	if (starts_empty(b) && !map_get(&p->written, PKEY(b)))
		prove_fault(c, "it reads buffer %.80s, which no call before it has written",
			buffer_name(b));
}

static void may_write(const ProvedCall *c, const UOp *b)
{
	if (buffer_is(b, "input") || buffer_is(b, "const"))
		prove_fault(c, "it writes buffer %.80s, which is %s", buffer_name(b),
			buffer_is(b, "input") ? "an input" : "a constant");
}

static void write_buffer(Progress *p, const ProvedCall *c, const UOp *b)
{
	may_write(c, b);
	map_put(&p->written, PKEY(b), (void *)b);
}

/* ---- slots */

static bool same_count(const UOp *buffer, const UOp *param)
{
	return buffer->shape == param->shape ||
		index_plain(shape_count(buffer->shape)) == index_plain(shape_count(param->shape));
}

static void check_param(const ProvedCall *c, const UOp *param)
{
	int64_t slot = param_slot(param);
	if (slot >= (int64_t)c->call->nsrc - 1)
		prove_fault(c, "the kernel uses slot %lld, and the call has %u buffers",
			(long long)slot, c->call->nsrc - 1);
	const UOp *b = c->call->src[1 + slot];
	if (b->dtype != param->dtype)
		prove_fault(c, "slot %lld is %s, and buffer %.80s is %s", (long long)slot,
			dtype_name(param->dtype), buffer_name(b), dtype_name(b->dtype));
	if (!same_count(b, param))
		prove_fault(c, "slot %lld has shape %s, and buffer %.80s %s", (long long)slot,
			shape_text(param->shape), buffer_name(b), shape_text(b->shape));
}

static void check_slots(const ProvedCall *c)
{
	Nodes all = kernel_nodes(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			check_param(c, all.at[i]);
}

/* ---- order */

static void check_kernel(Progress *p, const ProvedCall *c)
{
	Accesses all = kernel_accesses(c->kernel);
	Map first = {0};        /* buffer: the first access to it */
	check_slots(c);
	/* what a kernel writes before it reads it need not be written before */
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(c->call, &all.at[i]);
		const Access *a = b ? map_get(&first, PKEY(b)) : NULL;
		if (b && !a)
			map_put(&first, PKEY(b), (void *)(a = &all.at[i]));
		if (b && !all.at[i].store && !(a->store && a->value))
			read_buffer(p, c, b);
	}
	map_free(&first);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(c->call, &all.at[i]);
		if (b && all.at[i].store)
			write_buffer(p, c, b);
	}
}

static void check_copy(Progress *p, const ProvedCall *c)
{
	const UOp *to = c->call->src[0], *from = c->call->src[1];
	if (to->dtype != from->dtype || !same_count(to, from))
		prove_fault(c, "it copies %s %s to buffer %.80s, which is %s %s",
			dtype_name(from->dtype), shape_text(from->shape), buffer_name(to),
			dtype_name(to->dtype), shape_text(to->shape));
	read_buffer(p, c, from);
	write_buffer(p, c, to);
}

/* A CUSTOM writes slot 0 and reads the others. */
static void check_custom(Progress *p, const ProvedCall *c)
{
	for (uint32_t i = 2; i < c->call->nsrc; i++) {
		read_buffer(p, c, c->call->src[i]);
		if (c->call->src[i] == c->call->src[1])
			prove_fault(c, "it reads buffer %.80s, which it writes",
				buffer_name(c->call->src[i]));
	}
	if (c->call->nsrc > 1)
		write_buffer(p, c, c->call->src[1]);
}

static void check_outputs(const Progress *p, const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "output") &&
			starts_empty(all.at[i]) &&
			!map_get(&p->written, PKEY(all.at[i])))
			die(MALFORMED, "no call writes output %.80s", buffer_name(all.at[i]));
}

void prove_calls(const Graph *g)
{
	Progress p = {0};
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		const ProvedCall c = proved_call(g, k);
		if (c.call->op == OP_MEMCPY)
			check_copy(&p, &c);
		else if (c.kernel)
			check_kernel(&p, &c);
		else
			check_custom(&p, &c);
	}
	check_outputs(&p, g);
	map_free(&p.written);
}
