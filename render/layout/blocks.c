/* Channels of temporaries in blocks of a vector, and padding stored around what a contraction pads:
 *
 *     t[n,c,h,w]                    t [1,64,56,56]  →  t' [1,4,58,58,16]
 *     INDEX(t, n, c, h+kh-1, w+kw-1) where inside   →  INDEX(t', n, c//16, h+kh, w+kw, c%16)
 *
 * A contraction with constant weights asks for blocks along the axis of its column in what it
 * writes, and along the axis of its summed channels in what it reads; kernels in between pass the
 * request on. A buffer has blocks when every place in it has a plain range on that axis; that range
 * becomes two, c = cb*16 + cl, and the algebra removes the quotients. The padding is filled with
 * zeros before the buffer is written, so the load needs no condition. */
#include "shape/shape.h"
#include "target/target.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { MAX_ROOM = 16, ROUNDS = 16 };

/* The layout of a temporary. */
typedef struct {
	UOp *buffer, *made;
	bool fixed;             /* keeps its layout */
	bool padded;            /* has padding around it, */
	bool filled;            /* which has been filled */
	int axis, block;        /* -1: no blocks */
	int before[16], after[16];
} Lay;
typedef struct { Map lays; VEC(UOp *) out; Graph *g; } Blocks;

static Lay *lay_of(const Blocks *b, const UOp *buffer) { return map_get(&b->lays, PKEY(buffer)); }

static bool blocked(const Lay *y) { return y && !y->fixed && y->axis >= 0; }

/* Has it blocks or padding? */
static bool lies_anew(const Lay *y) { return y && !y->fixed && (y->axis >= 0 || y->padded); }

static int64_t dim_of(const UOp *buffer, int axis)
{
	int64_t n = -1;
	ix_is_const(buffer->shape->dim[axis], &n);
	return n;
}

/* ---- requests */

/* A vector, or a part of one of which blocks are full. A few vectors' channels that whole ones do
 * not divide are one block, since tiles that overlap in it are fewer than parts of vectors. */
int block_for(int64_t n)
{
	enum { FEW_VECTORS = 4 };
	int whole = target->vector / 4, v = whole;
	while (v >= 4 && (n < 1 || n % v))
		v /= 2;
	if (v < 4)
		return 0;
	return v < whole && n > whole && n < FEW_VECTORS * whole ? (int)n : v;
}

/* Does more than one element follow each element of this axis? Otherwise it is contiguous
 * already. */
static bool lies_apart(const UOp *buffer, int axis)
{
	for (int i = axis + 1; i < buffer->shape->rank; i++)
		if (dim_of(buffer, i) != 1)
			return true;
	return false;
}

static bool ask(const Blocks *b, UOp *buffer, int axis)
{
	Lay *y = lay_of(b, buffer);
	if (!y || y->fixed || y->axis == axis || !lies_apart(buffer, axis) ||
		buffer->shape->rank > 15)
		return false;
	int block = block_for(dim_of(buffer, axis));
	if (!block || y->axis >= 0) {
		y->fixed |= y->axis >= 0;
		return y->fixed;
	}
	y->axis = axis;
	y->block = block;
	return true;
}

/* The axis of a place whose index is exactly this range, or -1. */
static int axis_with(const UOp *index, const UOp *range)
{
	for (uint32_t i = 1; i < index->nsrc; i++)
		if (index->src[i] == range)
			return (int)i - 1;
	return -1;
}

static void ask_with(const Blocks *b, const UOp *call, const UOp *index, const UOp *range)
{
	int axis = axis_with(index, range);
	if (axis >= 0)
		ask(b, place_buffer(call, index), axis);
}

static bool is_transform(const UOp *call)
{
	return call_has_kernel(call) && val_get(call->src[0]->arg, "winograd");
}

/* A transform of a Winograd convolution needs its channels in vectors. */
static void ask_transform(const Blocks *b, UOp *call)
{
	Nodes all = walk(call->src[0]);
	UOp *channels = NULL;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && range_axis(all.at[i]) == WINOGRAD_CHANNELS)
			channels = all.at[i];
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_INDEX)
			ask_with(b, call, all.at[i], channels);
}

/* The requests of a call's contraction. */
static void ask_roles(const Blocks *b, UOp *call)
{
	Roles r;
	if (is_transform(call))
		ask_transform(b, call);
	if (!roles_find(&r, call) || !has_weights(&r, call))
		return;
	uint64_t x = free_of(r.c.x->src[0]), w = free_of(r.c.w->src[0]);
	for (int i = 0; i < r.facts.nrange; i++) {
		UOp *range = r.facts.range[i];
		bool out = r.facts.out >> i & 1;
		if (!(w >> i & 1))
			continue;
		for (uint32_t s = 0; out && s < r.facts.kernel->nsrc; s++)
			ask_with(b, call, r.facts.kernel->src[s]->src[0], range);
		if (x >> i & 1)
			ask_with(b, call, r.c.x->src[0], range);
	}
}

/* The range that a place equals up to a constant offset, or NULL. */
static UOp *range_near(UOp *at, int64_t *offset)
{
	Sum s;
	if (at->op != OP_RANGE && at->op != OP_ADD)
		return NULL;
	sum_of(&s, at);
	*offset = s.k;
	return s.n == 1 && s.t[0].c == 1 && s.t[0].m->op == OP_RANGE ? s.t[0].m : NULL;
}

/* The range whose blocks the place addresses, possibly some blocks further on, as for one operand
 * behind another in a concatenation; NULL: none. */
static UOp *range_of_blocks(const Lay *y, UOp *at)
{
	int64_t n, offset;
	UOp *r = range_near(at, &offset);
	bool good = r && ix_is_const(r->src[0], &n) && block_for(n) == y->block &&
		!(offset % y->block);
	return good ? r : NULL;
}

/* A store that writes only a part writes whole blocks. True when something changed. */
static bool check_gates(const Blocks *b, const UOp *call)
{
	const UOp *kernel = call->src[0];
	bool changed = false;
	for (uint32_t s = 0; s < kernel->nsrc; s++) {
		const UOp *store = kernel->src[s];
		Lay *y = lay_of(b, place_buffer(call, store->src[0]));
		if (store->nsrc < 3 || !blocked(y) ||
			!(free_of(store->src[2]) & free_of(store->src[0]->src[1 + y->axis])))
			continue;
		changed = y->fixed = true;
	}
	return changed;
}

/* Every place in a blocked buffer must have a range of blocks on its axis; other buffers in which
 * one of these ranges occurs are asked to have blocks too. True when something changed. */
static bool check_call(const Blocks *b, UOp *call)
{
	Nodes all = walk(call->src[0]);
	bool changed = check_gates(b, call);
	Map ranges = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		Lay *y = u->op == OP_INDEX ? lay_of(b, place_buffer(call, u)) : NULL;
		if (!blocked(y))
			continue;
		UOp *r = range_of_blocks(y, u->src[1 + y->axis]);
		if (!r)
			changed = y->fixed = true;
		else
			map_put(&ranges, PKEY(r), r);
	}
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		for (uint32_t k = 1; u->op == OP_INDEX && k < u->nsrc; k++) {
			int64_t offset;
			UOp *r = range_near(u->src[k], &offset);
			if (r && map_get(&ranges, PKEY(r)) && lay_of(b, place_buffer(call, u)))
				changed |= ask(b, place_buffer(call, u), (int)k - 1);
		}
	}
	map_free(&ranges);
	return changed;
}

static void fix_all(const Blocks *b, const UOp *call)
{
	for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++) {
		Lay *y = lay_of(b, call->src[k]);
		if (y)
			y->fixed = true;
	}
}

/* Kernels whose order of stores matters keep the layout of their outputs. */
static void check_stores(const Blocks *b, const UOp *call)
{
	Facts f;
	facts_find(&f, call->src[0], false);
	for (uint32_t s = 0; s < f.kernel->nsrc; s++) {
		const UOp *store = f.kernel->src[s];
		Lay *y = lay_of(b, place_buffer(call, store->src[0]));
		if (y && (f.serial || f.in_place || f.sort))
			y->fixed = true;
	}
}

static void choose(Blocks *b)
{
	const UOp *sink = b->g->sink;
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		if (!call_has_kernel(sink->src[i]))
			fix_all(b, sink->src[i]);
		else
			check_stores(b, sink->src[i]);
	}
	for (uint32_t i = 0; i < sink->nsrc; i++)
		if (call_has_kernel(sink->src[i]))
			ask_roles(b, sink->src[i]);
	bool changed = true;
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (uint32_t i = 0; i < sink->nsrc; i++)
			if (call_has_kernel(sink->src[i]))
				changed |= check_call(b, sink->src[i]);
	}
	for (uint32_t i = 0; changed && i < sink->nsrc; i++)
		fix_all(b, sink->src[i]);
}

/* ---- padding around a buffer */

typedef VEC(UOp *) Conditions;

/* The operands of an AND, at any depth: those that are ANDs themselves are replaced by their two
 * sides. */
static void conditions_of(UOp *gate, Conditions *c)
{
	vec_push(c, gate);
	for (size_t i = 0; i < c->n;) {
		UOp *u = c->at[i];
		if (u->op == OP_AND) {
			c->at[i] = u->src[0];
			vec_push(c, u->src[1]);
		} else {
			i++;
		}
	}
}

/* Is a < b equivalent to 0 <= at, or to at < n? */
static bool says_inside(UOp *cond, UOp *at, UOp *n)
{
	if (cond->op != OP_CMPLT)
		return false;
	UOp *left = ix_sub(ix_sub(cond->src[1], cond->src[0]), ix_const(1));
	return left == at || left == ix_sub(ix_sub(n, at), ix_const(1));
}

/* How far its last place is beyond the axis of n elements, which may be symbolic. False when the
 * distance is not a constant. */
static bool last_beyond(UOp *at, UOp *n, int64_t *beyond)
{
	Sum s;
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	int64_t lo, hi, size;
	int count = 0;
	ix_bounds(at, &lo, &hi);
	if (ix_is_const(n, &size)) {
		*beyond = hi - size + 1;
		return true;
	}
	sum_of(&s, at);
	for (int i = 0; i < s.n; i++) {
		if (s.t[i].m->op != OP_RANGE)
			continue;
		if (count == MAX_RANGES)
			return false;
		from[count] = s.t[i].m;
		to[count++] = s.t[i].c > 0 ? ix_sub(s.t[i].m->src[0], ix_const(1)) : ix_const(0);
	}
	return ix_is_const(ix_add(ix_sub(substitute(at, count, from, to), n), ix_const(1)), beyond);
}

/* Does the load always read within its padding, and does its gate test nothing else? Then *before
 * and *after become at least what it needs. */
static bool padding_for(const Lay *y, const UOp *load, int *before, int *after)
{
	Conditions c = {0};
	const UOp *at = load->src[0];
	conditions_of(load->src[1], &c);
	bool ok = true;
	for (size_t i = 0; i < c.n && ok; i++) {
		bool found = false;
		for (uint32_t k = 1; k < at->nsrc; k++)
			found |= says_inside(c.at[i], at->src[k], y->buffer->shape->dim[k - 1]);
		ok = found;
	}
	vec_free(&c);
	for (uint32_t k = 1; k < at->nsrc && ok; k++) {
		int64_t lo, hi, beyond;
		ix_bounds(at->src[k], &lo, &hi);
		ok = last_beyond(at->src[k], y->buffer->shape->dim[k - 1], &beyond) &&
			lo >= -MAX_ROOM && beyond <= MAX_ROOM;
		before[k - 1] = ok && lo < 0 ? (int)-lo : 0;
		after[k - 1] = ok && beyond > 0 ? (int)beyond : 0;
	}
	return ok;
}

/* The padded operand of a call's contraction, or all conditional loads of a transform. */
static Nodes padded_loads(UOp *call)
{
	Roles r = {0};
	Nodes all = {0}, loads = {0};
	if (is_transform(call))
		all = walk(call->src[0]);
	else if (call_has_kernel(call) && roles_find(&r, call))
		all = (Nodes){&r.c.x, 1};
	loads.at = arena_alloc((all.n + 1) * sizeof *loads.at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && all.at[i]->nsrc > 1)
			loads.at[loads.n++] = all.at[i];
	return loads;
}

/* Can the places that the load reads beyond the edge be stored as padding? */
static bool can_pad(const Blocks *b, UOp *call, const UOp *load, int *before, int *after)
{
	Lay *y = lay_of(b, place_buffer(call, load->src[0]));
	return y && !y->fixed && y->buffer->shape->rank < 16 && padding_for(y, load, before, after);
}

static void choose_room(Blocks *b)
{
	for (uint32_t i = 0; i < b->g->sink->nsrc; i++) {
		UOp *call = b->g->sink->src[i];
		Nodes loads = padded_loads(call);
		for (size_t l = 0; l < loads.n; l++) {
			int before[16], after[16];
			if (!can_pad(b, call, loads.at[l], before, after))
				continue;
			Lay *y = lay_of(b, place_buffer(call, loads.at[l]->src[0]));
			y->padded = true;
			for (int k = 0; k < y->buffer->shape->rank; k++) {
				y->before[k] = before[k] > y->before[k] ? before[k] : y->before[k];
				y->after[k] = after[k] > y->after[k] ? after[k] : y->after[k];
			}
		}
	}
}

/* ---- the new buffers */

static const Shape *new_shape(const Lay *y)
{
	UOp *dim[17];
	int rank = y->buffer->shape->rank;
	for (int i = 0; i < rank; i++)
		dim[i] = i == y->axis ? ix_const(dim_of(y->buffer, i) / y->block) :
			ix_add(y->buffer->shape->dim[i], ix_const(y->before[i] + y->after[i]));
	if (blocked(y))
		dim[rank++] = ix_const(y->block);
	return shape_new(rank, dim);
}

static void make_buffer(Lay *y)
{
	y->made = buffer_of(buffer_name(y->buffer), "temp", y->buffer->dtype, new_shape(y));
	node_note(y->made, y->buffer->note);
}

/* Which loops the calls that fill a buffer's room share: those over its leading axes, up to one
 * with room. lower makes one kernel of calls that agree on slices. NULL: none, or the sizes behind
 * them are not known: that the items of such a kernel write apart could not be proved. */
static const Val *room_slices(const Lay *y, bool first)
{
	const Val *axis[MAX_SLICE_AXES];
	int n = 0, i = 0;
	int64_t size;
	UOp *const *dim = y->made->shape->dim;
	for (; i < y->buffer->shape->rank && !(y->before[i] + y->after[i]); i++)
		if (n < MAX_SLICE_AXES && (!ix_is_const(dim[i], &size) || size != 1))
			axis[n++] = val_int(i);
	for (; i < y->made->shape->rank; i++)
		if (!ix_is_const(dim[i], &size))
			return NULL;
	return n ? VMAP(val_str("first"), val_bool(first), val_str("axes"), val_array(n, axis),
			   val_str("local"), val_array(0, NULL)) :
		   NULL;
}

/* A call that writes zeros at from … from+n-1 of axis k; first: of those that fill the buffer's
 * room. */
static UOp *zero_call(const Lay *y, int k, UOp *from, int64_t n, bool first)
{
	const Val *arg = VMAP(val_str("name"), val_str("room")), *slices = room_slices(y, first);
	UOp *at[18] = {param_new(0, y->made)};
	int rank = y->made->shape->rank;
	for (int i = 0; i < rank; i++) {
		UOp *loop = ix_range(i, "loop", i == k ? ix_const(n) : y->made->shape->dim[i]);
		at[1 + i] = i == k ? ix_add(loop, from) : loop;
	}
	UOp *place = node_new(OP_INDEX, y->made->dtype, 1 + rank, at, VNIL);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place, const_num(y->made->dtype, 0));
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, slices ? val_set(arg, "slice", slices) : arg, store);
	return NODE(OP_CALL, DT_NONE, VNIL, kernel, y->made);
}

static void fill_room(Blocks *b, Lay *y)
{
	bool first = true;
	for (int k = 0; k < y->buffer->shape->rank; k++) {
		if (y->before[k]) {
			vec_push(&b->out, zero_call(y, k, ix_const(0), y->before[k], first));
			first = false;
		}
		if (y->after[k]) {
			UOp *end = ix_add(y->buffer->shape->dim[k], ix_const(y->before[k]));
			vec_push(&b->out, zero_call(y, k, end, y->after[k], first));
			first = false;
		}
	}
	y->filled = true;
}

/* ---- the kernels */

typedef struct {
	const Blocks *b;
	UOp *call, *from[MAX_RANGES], *high[MAX_RANGES], *low[MAX_RANGES], *sum[MAX_RANGES];
	int n;
} RangeSplit;

/* The two ranges that replace a range on a blocked axis. */
static void ranges_in_blocks(RangeSplit *s)
{
	Nodes all = walk(s->call->src[0]);
	int axis = 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && range_axis(all.at[i]) >= axis)
			axis = range_axis(all.at[i]) + 1;
	for (size_t i = 0; i < all.n; i++) {
		Lay *y = all.at[i]->op == OP_INDEX ?
			lay_of(s->b, place_buffer(s->call, all.at[i])) :
			NULL;
		if (!blocked(y))
			continue;
		UOp *r = range_of_blocks(y, all.at[i]->src[1 + y->axis]);
		int k = 0;
		while (k < s->n && s->from[k] != r)
			k++;
		if (k < s->n)
			continue;
		if (axis > 62)
			die(UNSUPPORTED, "a kernel with more than 63 ranges");
		const char *kind = range_kind(r);
		s->from[k] = r;
		s->high[k] = ix_range(range_axis(r), kind, ix_div(r->src[0], ix_const(y->block)));
		s->low[k] = ix_range(axis++, kind, ix_const(y->block));
		s->sum[k] = ix_add(ix_mul(s->high[k], ix_const(y->block)), s->low[k]);
		s->n++;
	}
}

/* A place in a buffer whose layout has changed; a reduction over a range that has become two. */
static UOp *new_place(UOp *u, void *ctx)
{
	RangeSplit *s = ctx;
	UOp *src[MAX_RANGES + 2];
	uint32_t n = 0;
	if (u->op == OP_INDEX && u->src[0]->op == OP_PARAM) {
		Lay *y = lay_of(s->b, place_buffer(s->call, u));
		if (!lies_anew(y))
			return u;
		src[n++] = param_new(param_slot(u->src[0]), y->made);
		for (uint32_t k = 1; k < u->nsrc; k++)
			src[n++] = (int)k - 1 == y->axis ? ix_div(u->src[k], ix_const(y->block)) :
				ix_add(u->src[k], ix_const(y->before[k - 1]));
		if (blocked(y))
			src[n++] = ix_mod(u->src[1 + y->axis], ix_const(y->block));
		return node_new(OP_INDEX, u->dtype, n, src, VNIL);
	}
	if (u->op != OP_RREDUCE)
		return u;
	UOp *low[MAX_RANGES];
	int lows = 0;
	src[n++] = u->src[0];
	for (uint32_t i = 1; i < u->nsrc; i++) {
		int k = 0;
		while (k < s->n && s->from[k] != u->src[i])
			k++;
		src[n++] = k < s->n ? s->high[k] : u->src[i];
		if (k < s->n)
			low[lows++] = s->low[k];
	}
	for (int i = 0; i < lows; i++)
		src[n++] = low[i];
	return n == u->nsrc ? u : node_new(OP_RREDUCE, u->dtype, n, src, u->arg);
}

/* The kernel with the gates removed from loads that find zeros beyond the edge. */
static UOp *without_conditions(const Blocks *b, UOp *call)
{
	Nodes loads = padded_loads(call);
	UOp **bare = arena_alloc((loads.n + 1) * sizeof *bare);
	size_t n = 0;
	for (size_t i = 0; i < loads.n; i++) {
		int before[16], after[16];
		UOp *u = loads.at[i];
		if (!can_pad(b, call, u, before, after))
			continue;
		bare[n] = NODE(OP_LOAD, u->dtype, VNIL, u->src[0]);
		loads.at[n++] = u;
	}
	return n ? substitute(call->src[0], n, loads.at, bare) : call->src[0];
}

static UOp *apply(Blocks *b, UOp *call)
{
	RangeSplit s = {.b = b, .call = call};
	ranges_in_blocks(&s);
	UOp *kernel = walk_replace(without_conditions(b, call), new_place, &s);
	kernel = substitute(kernel, s.n, s.from, s.sum);
	UOp **src = arena_alloc(call->nsrc * sizeof *src);
	src[0] = kernel;
	for (uint32_t k = 1; k < call->nsrc; k++) {
		Lay *y = lay_of(b, call->src[k]);
		src[k] = lies_anew(y) ? y->made : call->src[k];
		if (lies_anew(y) && !y->filled)
			fill_room(b, y);
	}
	return node_with(call, src);
}

/* ---- the pass */

static void find_temporaries(Blocks *b)
{
	for (uint32_t i = 0; i < b->g->sink->nsrc; i++) {
		const UOp *call = b->g->sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++) {
			UOp *t = call->src[k];
			if (lay_of(b, t) || strcmp(buffer_role(t), "temp"))
				continue;
			Lay *y = arena_alloc(sizeof *y);
			*y = (Lay){.buffer = t, .axis = -1};
			map_put(&b->lays, PKEY(t), y);
		}
	}
}

Graph *layout_blocks(Graph *g)
{
	Blocks b = {.g = g};
	find_temporaries(&b);
	choose(&b);
	choose_room(&b);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		for (uint32_t k = 1; k < call->nsrc; k++) {
			Lay *y = lay_of(&b, call->src[k]);
			if (!lies_anew(y) || y->made)
				continue;
			make_buffer(y);
			if (blocked(y))
				explain(call->src[0], "%s in blocks of %d along axis %d",
					buffer_name(y->buffer), y->block, y->axis);
			if (y->padded)
				explain(call->src[0], "%s with room around it",
					buffer_name(y->buffer));
		}
	}
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (call_has_kernel(call))
			call = apply(&b, call);
		vec_push(&b.out, call);
	}
	Graph *r = graph_with_calls(g, b.out.n, b.out.at);
	map_free(&b.lays);
	vec_free(&b.out);
	return r;
}
