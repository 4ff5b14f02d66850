/* The ends of a network: a contraction with constant weights reads an input, or writes an output,
 * whose layout is the user's; a temporary with a copy in between can have channels in blocks and
 * padding.
 *
 *     y = conv(x, w)   →   t0 = x;  t1 = conv(t0, w);  y = t1
 *
 * A copy touches each element once, the contraction many times: it is made when there are enough
 * products for each element that reading them in the right order outweighs the copy. A copy serves
 * later contractions too, until the buffer is written. */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

/* Products that outweigh the copy of an element, and its copy into blocks and out of them. */
static int64_t copy_least(void) { return target->machine.copy; }
static int64_t plain_least(void) { return 4 * target->machine.copy; }

typedef struct { Map copies; VEC(UOp *) out; int count; } Ends;

/* ---- whether a copy pays */

/* Can a copy with another layout stand in for the buffer: is it an input, output or state of known
 * sizes? */
static bool is_end(const UOp *buffer)
{
	int64_t n;
	bool own = !is_constant(buffer) && !buffer_is(buffer, "temp");
	return own && shape_static(buffer->shape, &n) && n > 0;
}

/* Is this range alone the index of an axis of the place that can be in blocks? */
static bool is_channel(const UOp *index, const UOp *range)
{
	const Shape *s = index->src[0]->shape;
	int64_t n;
	bool apart = false;             /* are the axis's neighbours apart in memory? */
	for (int i = s->rank; i-- > 0;) {
		if (index->src[1 + i] == range)
			return apart && range->src[0] == s->dim[i] && ix_is_const(s->dim[i], &n) &&
				block_for(n);
		apart |= !ix_is_const(s->dim[i], &n) || n != 1;
	}
	return false;
}

/* Has the place a channel that moves the weights too? */
static bool wants_blocks(const Roles *r, const UOp *index)
{
	uint64_t both = free_of(r->c.w->src[0]) & free_of(index);
	for (int i = 0; i < r->facts.nrange; i++)
		if (both >> i & 1 && is_channel(index, r->facts.range[i]))
			return true;
	return false;
}

/* The number of products for each element of a buffer. */
static int64_t products(const Roles *r, const UOp *buffer)
{
	int64_t n = 1;
	shape_static(buffer->shape, &n);
	return count_of(&r->facts, free_of(r->c.fold->src[0])) / n;
}

static bool wants_read(const Roles *r, const UOp *buffer)
{
	int64_t n = products(r, buffer);
	if (r->c.x->nsrc > 1)
		return n >= copy_least();
	return n >= plain_least() && wants_blocks(r, r->c.x->src[0]);
}

/* Is every element of the buffer written, each axis by a range of its own? */
static bool covers(const UOp *index)
{
	uint64_t seen = 0;
	for (uint32_t i = 1; i < index->nsrc; i++) {
		UOp *at = index->src[i], *dim = index->src[0]->shape->dim[i - 1];
		int64_t n;
		bool one = ix_is_const(dim, &n) && n == 1 && ix_is_const(at, &n);
		if (!one && (at->op != OP_RANGE || at->src[0] != dim || seen & bit_of(at)))
			return false;
		seen |= one ? 0 : bit_of(at);
	}
	return true;
}

static bool wants_write(const Roles *r, const UOp *store, const UOp *buffer)
{
	return store->nsrc == 2 && covers(store->src[0]) && !r->facts.serial &&
		!r->facts.in_place && products(r, buffer) >= copy_least() &&
		wants_blocks(r, store->src[0]);
}

/* ---- the copies */

static UOp *temporary(Ends *e, const UOp *buffer)
{
	const char *name = arena_printf("%.200s.laid%d", buffer_name(buffer), e->count++);
	return buffer_of(name, "temp", buffer->dtype, buffer->shape);
}

static UOp *place(const UOp *buffer, int slot)
{
	UOp *at[MAX_RANK + 1];
	int rank = buffer->shape->rank;
	at[0] = param_new(slot, buffer);
	for (int i = 0; i < rank; i++)
		at[1 + i] = ix_range(i, "loop", buffer->shape->dim[i]);
	return node_new(OP_INDEX, buffer->dtype, 1 + rank, at, VNIL);
}

static UOp *copy_call(UOp *to, UOp *from)
{
	UOp *load = NODE(OP_LOAD, from->dtype, VNIL, place(from, 1));
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place(to, 0), load);
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str("lay")), store);
	return NODE(OP_CALL, DT_NONE, VNIL, kernel, to, from);
}

/* ---- a call */

/* Replaces the buffer of the slot that an INDEX addresses. */
static void set_buffer(UOp **src, const UOp *index, UOp *buffer)
{
	src[1 + param_slot(index->src[0])] = buffer;
}

static void forget_written(Ends *e, const UOp *call)
{
	uint64_t writes = call->op == OP_CALL ? call_writes(call) : 1;
	uint32_t first = call->op == OP_CALL;
	for (uint32_t k = first; k < call->nsrc; k++)
		if (k - first >= 64 || writes >> (k - first) & 1)
			map_put(&e->copies, PKEY(call->src[k]), NULL);
}

/* True when the contraction reads a buffer whose layout may be chosen. */
static bool read_end(Ends *e, const Roles *r, UOp **src, UOp *call)
{
	UOp *x = place_buffer(call, r->c.x->src[0]), *t = map_get(&e->copies, PKEY(x));
	if (!is_end(x))
		return !is_constant(x);
	if (!wants_read(r, x) || reads_written(&r->facts, r->c.x))
		return false;
	if (!t) {
		t = temporary(e, x);
		map_put(&e->copies, PKEY(x), t);
		vec_push(&e->out, copy_call(t, x));
		explain(call->src[0], "%s is read from a copy", buffer_name(x));
	}
	set_buffer(src, r->c.x->src[0], t);
	return true;
}

static void move_ends(Ends *e, UOp *call)
{
	Roles r;
	VEC(UOp *) after = {0};
	UOp **src = arena_alloc(call->nsrc * sizeof *src);
	memcpy(src, call->src, call->nsrc * sizeof *src);
	bool found = !call_prepares(call) && roles_find(&r, call) && has_weights(&r, call);
	found = found && read_end(e, &r, src, call);
	forget_written(e, call);
	for (uint32_t i = 0; found && i < r.facts.kernel->nsrc; i++) {
		const UOp *store = r.facts.kernel->src[i];
		UOp *y = place_buffer(call, store->src[0]);
		if (!is_end(y) || !wants_write(&r, store, y))
			continue;
		UOp *t = temporary(e, y);
		set_buffer(src, store->src[0], t);
		vec_push(&after, copy_call(y, t));
		map_put(&e->copies, PKEY(y), t);
		explain(call->src[0], "%s is written through a copy", buffer_name(y));
	}
	vec_push(&e->out, node_with(call, src));
	for (size_t i = 0; i < after.n; i++)
		vec_push(&e->out, after.at[i]);
	vec_free(&after);
}

Graph *layout_ends(Graph *g)
{
	Ends e = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		move_ends(&e, g->sink->src[i]);
	Graph *r = graph_with_calls(g, e.out.n, e.out.at);
	map_free(&e.copies);
	vec_free(&e.out);
	return r;
}
