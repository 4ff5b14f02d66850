/* The ends of a network: a contraction with constant weights reads an input, or writes an output,
 * whose layout is the user's; a temporary with a copy in between can have channels in blocks and
 * padding.
 *
 *     y = conv(x, w)   →   t0 = x;  t1 = conv(t0, w);  y = t1
 *
 * A copy touches each element once, the contraction many times: it is made when there are enough
 * products for each element that reading them in the right order outweighs the copy. A copy serves
 * later contractions too, until the buffer is written.
 *
 * Slices (slices.c) are of outermost axes. An output large enough for them has rows of its image
 * outside of the channels in its copy, so that a slice has all channels, and a tile several blocks:
 *
 *     y [n,c,h,w]  →  t1 [n,h,c,w] */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

/* Products that outweigh the copy of an element, and its copy into blocks and out of them. */
static int64_t copy_least(void) { return target->machine.copy; }
static int64_t plain_least(void) { return 4 * target->machine.copy; }

typedef struct { Map copies; VEC(UOp *) out, after; int count; } Ends;

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

/* The axis of the place that is a channel, and moves the weights too; -1: there is none. */
static int channels_of(const Roles *r, const UOp *index)
{
	uint64_t both = free_of(r->c.w->src[0]) & free_of(index);
	for (uint32_t i = 1; i < index->nsrc; i++)
		if (index->src[i]->op == OP_RANGE && both & bit_of(index->src[i]) &&
			is_channel(index, index->src[i]))
			return (int)i - 1;
	return -1;
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
	return n >= plain_least() && channels_of(r, r->c.x->src[0]) >= 0;
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
		channels_of(r, store->src[0]) >= 0;
}

/* The axis of channels that is better within the next one: of an output worth slices, whose image
 * has rows; -1: none. */
static int channels_moved(const Roles *r, const UOp *index)
{
	const Shape *s = index->src[0]->shape;
	int c = channels_of(r, index);
	int64_t n, rows;
	return c + 2 < s->rank && shape_static(s, &n) && ix_is_const(s->dim[c + 1], &rows) &&
		rows > 1 && n * dtype_size(index->dtype) >= sliced_bytes() ? c : -1;
}

/* ---- the copies */

/* Exchanges what belongs to axis c and the next one; c is -1: nothing. */
static void exchange(UOp **axis, int c)
{
	UOp *at = c < 0 ? NULL : axis[c];
	if (c < 0)
		return;
	axis[c] = axis[c + 1];
	axis[c + 1] = at;
}

/* A buffer like this one, with axis c within the next. */
static UOp *temporary(Ends *e, const UOp *buffer, int c)
{
	const char *name = arena_printf("%.200s.laid%d", buffer_name(buffer), e->count++);
	UOp *dim[MAX_RANK];
	memcpy(dim, buffer->shape->dim, buffer->shape->rank * sizeof *dim);
	exchange(dim, c);
	return buffer_of(name, "temp", buffer->dtype, shape_new(buffer->shape->rank, dim));
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

/* The same place in a buffer that has axis c within the next. */
static UOp *place_moved(const UOp *index, int slot, const UOp *buffer, int c)
{
	UOp *at[MAX_RANK + 1];
	memcpy(at, index->src, index->nsrc * sizeof *at);
	at[0] = param_new(slot, buffer);
	exchange(at + 1, c);
	return node_new(OP_INDEX, buffer->dtype, index->nsrc, at, VNIL);
}

static UOp *copy_call(UOp *to, UOp *from, int c)
{
	UOp *at = place(to, 0);
	UOp *load = NODE(OP_LOAD, from->dtype, VNIL, place_moved(at, 1, from, c));
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, at, load);
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
		t = temporary(e, x, -1);
		map_put(&e->copies, PKEY(x), t);
		vec_push(&e->out, copy_call(t, x, -1));
		explain(call->src[0], "%s is read from a copy", buffer_name(x));
	}
	set_buffer(src, r->c.x->src[0], t);
	return true;
}

static bool is_read(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = 0; k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return true;
	return false;
}

/* The call that src is of writes y through a copy: what it stores goes there. Another order of axes
 * is for a copy that none of the calls after it reads. */
static void write_end(Ends *e, const Roles *r, UOp **src, UOp *store, UOp *y, bool read)
{
	int slot = (int)param_slot(store->src[0]->src[0]);
	int c = read ? -1 : channels_moved(r, store->src[0]);
	UOp *t = temporary(e, y, c), *to = place_moved(store->src[0], slot, t, c);
	src[0] = substitute(src[0], 1, &store->src[0], &to);
	src[1 + slot] = t;
	vec_push(&e->after, copy_call(y, t, c));
	map_put(&e->copies, PKEY(y), read ? t : NULL);
}

static void move_ends(Ends *e, UOp *const *calls, uint32_t n)
{
	Roles r;
	UOp *call = calls[0], **src = arena_alloc(call->nsrc * sizeof *src);
	memcpy(src, call->src, call->nsrc * sizeof *src);
	bool found = !call_prepares(call) && roles_find(&r, call) && has_weights(&r, call);
	found = found && read_end(e, &r, src, call);
	forget_written(e, call);
	e->after.n = 0;
	for (uint32_t i = 0; found && i < r.facts.kernel->nsrc; i++) {
		UOp *store = r.facts.kernel->src[i], *y = place_buffer(call, store->src[0]);
		bool read = false;
		if (!is_end(y) || !wants_write(&r, store, y))
			continue;
		for (uint32_t k = 1; k < n; k++)
			read |= is_read(calls[k], y);
		write_end(e, &r, src, store, y, read);
		explain(call->src[0], "%s is written through a copy", buffer_name(y));
	}
	vec_push(&e->out, node_with(call, src));
	for (size_t i = 0; i < e->after.n; i++)
		vec_push(&e->out, e->after.at[i]);
}

Graph *layout_ends(Graph *g)
{
	Ends e = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		move_ends(&e, g->sink->src + i, g->sink->nsrc - i);
	Graph *r = graph_with_calls(g, e.out.n, e.out.at);
	map_free(&e.copies);
	vec_free(&e.out);
	vec_free(&e.after);
	return r;
}
