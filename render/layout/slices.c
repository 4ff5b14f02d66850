/* Successive calls over the same outer loops, run slice by slice, so that the temporaries between
 * them are never whole in memory:
 *
 *     s[b,i,j] = Σk q[b,i,k]*k[b,j,k]                   for each b, for i in parts of 128:
 *     p[b,i,j] = softmax of the row s[b,i]        →         128 rows of s; of p; of y
 *     y[b,i,d] = Σj p[b,i,j]*v[b,j,d]
 *
 * This pass only makes the calls agree: the last of the outer ranges they share becomes two, i =
 * part*128 + row, and each kernel says in its arg which loops are the slices and which slots stay
 * within one:
 *
 *     slice: {first: true, axes: [0, 3], local: [0]}
 *
 * lower makes one kernel of them (lower/slices.c). Run one after another they are correct too. */
#include "target/target.h"
#include "document/document.h"
#include "lower/lower.h"
#include "layout/layout.h"
#include <stdlib.h>

/* Of a slice at most: it is on the stack, in a core's second cache; of a buffer that stays there
 * beside them. */
int64_t slice_bytes(void) { return target->machine.cache[1] / 2; }
static int64_t near_bytes(void) { return target->machine.cache[1]; }
int64_t sliced_bytes(void) { return target->machine.cache[1]; }

/* What is known of a call, found once: for each of its slots the loops of the call that index the
 * leading axes of its places, as far as all places agree. */
typedef struct { int n; UOp *loop[MAX_SLICE_AXES]; } Front;
typedef struct {
	UOp *call;
	bool looked;
	bool plain;                     /* may its loops be divided, and run in any order? */
	int axis;                       /* the greatest axis number of its kernel */
	uint64_t writes;
	Front *front;
} SlicedCall;

/* A call and those of its ranges that form the slices, outermost first. */
typedef struct { const SlicedCall *is; UOp *outer[MAX_SLICE_AXES]; } SliceMember;
typedef struct {
	SliceMember at[MAX_SLICE_CALLS];
	int n, axes;                    /* the number of leading axes in which all members agree */
	/* temporaries that only they touch, over all of these axes */
	VEC(UOp *) inside;
} SliceGroup;
typedef struct {
	Map readers;                    /* the number of calls that touch each buffer */
	SlicedCall *known;
	uint32_t n;
	VEC(UOp *) out;
} Slices;

/* ---- how a call touches a buffer */

static bool writes(const SlicedCall *c, const UOp *buffer)
{
	int slot = call_slot(c->call, buffer);
	return slot >= 0 && slot < 64 && c->writes >> slot & 1;
}

/* The loops whose iterations are independent: a reduction may use the range of a loop around it
 * again, and then runs over all of it in each iteration. */
static uint64_t own_loops(const Facts *f)
{
	uint64_t set = f->out;
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RREDUCE)
			set &= ~bound_of(f->all.at[i]);
	return set;
}

/* The loops among `own` that index a place's leading axes, each over its whole axis and no two the
 * same; axes of one element do not count. Returns how many. */
static int loops_in_front(uint64_t own, const UOp *index, UOp **loop)
{
	const Shape *s = index->src[0]->shape;
	int n = 0;
	for (int k = 0; k < s->rank && n < MAX_SLICE_AXES; k++) {
		UOp *at = index->src[1 + k];
		int64_t one;
		if (ix_is_const(s->dim[k], &one) && one == 1)
			continue;
		if (at->op != OP_RANGE || at->src[0] != s->dim[k] || !(bit_of(at) & own))
			break;
		for (int i = 0; i < n; i++)
			if (loop[i] == at)
				return n;
		loop[n++] = at;
	}
	return n;
}

/* Intersects the loops with those of another place of the slot. */
static void agree_in_front(Front *f, int n, UOp *const *loop, bool first)
{
	int k = 0;
	while (k < n && (first || (k < f->n && f->loop[k] == loop[k]))) {
		f->loop[k] = loop[k];
		k++;
	}
	f->n = k;
}

static void find_front(SlicedCall *c, const Facts *f)
{
	uint64_t own = own_loops(f);
	bool *seen = arena_alloc(c->call->nsrc * sizeof *seen);
	c->front = arena_alloc(c->call->nsrc * sizeof *c->front);
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i], *loop[MAX_SLICE_AXES];
		if (u->op != OP_INDEX || u->src[0]->op != OP_PARAM)
			continue;
		int64_t slot = param_slot(u->src[0]);
		agree_in_front(&c->front[slot], loops_in_front(own, u, loop), loop, !seen[slot]);
		seen[slot] = true;
	}
}

/* Does the member run over the buffer's leading axes by the loops that are its slices already, as
 * far as it has any? Returns in how many axes it does, at most `axes`. */
static int agree(SliceMember *m, const UOp *buffer, int axes)
{
	const Front *f = &m->is->front[call_slot(m->is->call, buffer)];
	for (int k = 0; k < f->n && k < axes; k++) {
		if (m->outer[k] && m->outer[k] != f->loop[k])
			return k;
		m->outer[k] = f->loop[k];
	}
	return f->n < axes ? f->n : axes;
}

/* ---- groups */

static void find_slices(SlicedCall *c)
{
	Facts f;
	c->looked = true;
	if (!call_has_kernel(c->call) || call_prepares(c->call) || call_aliases(c->call) ||
		val_get(c->call->src[0]->arg, "slice"))
		return;
	facts_find(&f, c->call->src[0], false);
	c->axis = last_axis(&f);
	c->writes = call_writes(c->call);
	/* splitting into a slice's rows adds one range */
	c->plain = c->axis + 1 < MAX_RANGES && !f.serial && !f.in_place && !f.sort;
	if (c->plain)
		find_front(c, &f);
}

/* What is known of call i; NULL unless its loops may be divided, and run in any order. */
static const SlicedCall *plain_call(const Slices *s, uint32_t i)
{
	SlicedCall *c = &s->known[i];
	if (!c->looked)
		find_slices(c);
	return c->plain ? c : NULL;
}

/* Joins the call to the group when it reads by slices what the group writes, and writes no buffer
 * that the group touches. */
static bool join(SliceGroup *g, const SlicedCall *c)
{
	SliceGroup with = *g;
	SliceMember *m = &with.at[with.n++];
	bool reads = false;
	if (!c)
		return false;
	*m = (SliceMember){.is = c};
	for (uint32_t k = 1; k < c->call->nsrc; k++) {
		UOp *b = c->call->src[k];
		for (int i = 0; i < g->n; i++) {
			if (call_slot(g->at[i].is->call, b) >= 0 && writes(c, b))
				return false;
			if (!writes(g->at[i].is, b))
				continue;
			reads = true;
			with.axes = agree(&with.at[i], b, with.axes);
			with.axes = agree(m, b, with.axes);
		}
	}
	if (!reads || with.axes < 1)
		return false;
	*g = with;
	return true;
}

/* The number of leading axes of a buffer up to its last symbolic size; axes of one element do not
 * count. */
static int axes_open(const UOp *buffer)
{
	int n = 0, open = 0;
	for (int k = 0; k < buffer->shape->rank; k++) {
		int64_t size = 0;
		bool known = ix_is_const(buffer->shape->dim[k], &size);
		n += size != 1;
		open = known ? open : n;
	}
	return open;
}

/* Temporaries that the group writes, and that no other call touches. */
static void find_inside(const Slices *s, SliceGroup *g)
{
	g->inside.n = 0;
	for (int i = 0; i < g->n; i++) {
		const UOp *call = g->at[i].is->call;
		for (uint32_t k = 1; k < call->nsrc; k++) {
			UOp *b = call->src[k];
			intptr_t touched = 0;
			for (int j = 0; j < g->n; j++)
				touched += call_slot(g->at[j].is->call, b) >= 0;
			if (writes(g->at[i].is, b) && buffer_is(b, "temp") &&
				axes_open(b) <= g->axes && touched > 1 &&
				touched == (intptr_t)map_get(&s->readers, PKEY(b)))
				vec_push(&g->inside, b);
		}
	}
}

/* ---- whether slices pay */

/* The least value of a size; 1 where it may be 0. */
static int64_t least(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	return lo > 1 ? lo : 1;
}

static int64_t bytes_of(const UOp *buffer)
{
	int64_t n = dtype_size(buffer->dtype);
	for (int k = 0; k < buffer->shape->rank; k++)
		if (!mul_ok(n, least(buffer->shape->dim[k]), &n))
			return INT64_MAX;
	return n;
}

/* Bytes of the temporaries inside the group, which must lie within one slice along its axes. */
static int64_t bytes_inside(const SliceGroup *g)
{
	int64_t sum = 0;
	for (size_t i = 0; i < g->inside.n; i++)
		if (!add_ok(sum, bytes_of(g->inside.at[i]), &sum))
			return 0;
	return sum;
}

/* The cost of what slices read again but the whole would read once: buffers that do not move with
 * the last axis. Small ones come from a near cache, at a quarter of the cost. */
static double read_again(const SliceGroup *g, int axes, int64_t parts)
{
	double bytes = 0;
	for (int i = 0; i < g->n; i++) {
		UOp *call = g->at[i].is->call;
		Facts f;
		facts_find(&f, call->src[0], false);
		uint64_t last = bit_of(g->at[i].outer[axes - 1]);
		for (size_t k = 0; k < f.all.n; k++)
			if (f.all.at[k]->op == OP_LOAD && !(free_of(f.all.at[k]) & last)) {
				int64_t n = bytes_of(place_buffer(call, f.all.at[k]->src[0]));
				bytes += (n <= near_bytes() ? 0.25 : 1) * (double)n *
					(double)(parts - 1);
			}
	}
	return bytes;
}

/* The rows of a slice when their number is symbolic, n at the least: one; 0: none. */
static int64_t open_row(int64_t n, int64_t row_bytes, int64_t outer)
{
	return row_bytes && row_bytes <= slice_bytes() && outer * n >= SLICES_LEAST;
}

/* How many of n rows of row_bytes bytes form a slice when there are `outer` times as many: the most
 * that divide n; 0: none. */
static int64_t rows_in(int64_t n, int64_t row_bytes, int64_t outer)
{
	int64_t rows = row_bytes ? slice_bytes() / row_bytes : 0;
	for (rows = rows < n ? rows : n; rows > 0; rows--)
		if (n % rows == 0 && outer * (n / rows) >= SLICES_LEAST)
			break;
	return rows;
}

/* Chooses the number of axes, and of rows of the last axis, that form a slice; false when slices do
 * not pay. */
static bool choose(SliceGroup *g, int64_t *rows)
{
	int64_t bytes = bytes_inside(g), outer = 1, known;
	int first = 1;
	for (size_t i = 0; i < g->inside.n; i++)
		first = axes_open(g->inside.at[i]) > first ? axes_open(g->inside.at[i]) : first;
	for (int a = 1; a <= g->axes && bytes >= sliced_bytes(); a++) {
		UOp *size = g->at[0].outer[a - 1]->src[0];
		int64_t n = least(size), each = bytes / (outer * n);
		*rows = ix_is_const(size, &known) ? rows_in(n, each, outer) :
						    open_row(n, each, outer);
		if (*rows && a >= first) {
			g->axes = a;
			return read_again(g, a, n / *rows) < (double)bytes;
		}
		outer *= n;
	}
	return false;
}

/* ---- the kernels */

static UOp *member_call(const SliceGroup *g, int i, int64_t rows)
{
	const SliceMember *m = &g->at[i];
	UOp *call = m->is->call, *kernel = call->src[0], *last = m->outer[g->axes - 1];
	VEC(const Val *) axes = {0}, local = {0};
	for (int k = 0; k < g->axes; k++)
		vec_push(&axes, val_int(range_axis(m->outer[k])));
	if (rows > 1) {
		UOp *part = ix_range(range_axis(last), "loop", ix_const(range_size(last) / rows));
		UOp *row = ix_range(m->is->axis + 1, "loop", ix_const(rows));
		UOp *at = ix_add(ix_mul(part, ix_const(rows)), row);
		kernel = substitute(kernel, 1, &last, &at);
	}
	for (size_t k = 0; k < g->inside.n; k++)
		if (call_slot(call, g->inside.at[k]) >= 0)
			vec_push(&local, val_int(call_slot(call, g->inside.at[k])));
	const Val *slice = VMAP(val_str("first"), val_bool(!i), val_str("axes"),
		val_array(axes.n, axes.at), val_str("local"), val_array(local.n, local.at));
	vec_free(&axes);
	vec_free(&local);
	return call_with_kernel(call,
		node_like(call->src[0], kernel->nsrc, kernel->src,
			val_set(kernel->arg, "slice", slice)));
}

/* The longest group from call i on, of at most `most` calls. */
static void find_group(const Slices *s, SliceGroup *g, uint32_t i, int most)
{
	const SlicedCall *c = plain_call(s, i);
	*g = (SliceGroup){.axes = MAX_SLICE_AXES};
	if (!c)
		return;
	g->at[g->n++].is = c;
	while (g->n < most && join(g, plain_call(s, i + g->n)))
		;
	find_inside(s, g);
}

static void put_group(Slices *s, const SliceGroup *g, int64_t rows)
{
	for (size_t k = 0; k < g->inside.n; k++)
		explain(g->at[0].is->call->src[0], "%s is never whole: %lld at a time along r%d",
			buffer_name(g->inside.at[k]), (long long)rows,
			range_axis(g->at[0].outer[g->axes - 1]));
	for (int i = 0; i < g->n; i++)
		vec_push(&s->out, member_call(g, i, rows));
}

/* Do these n calls name enough temporaries for a group to pay? A buffer counts each time it is
 * named. */
static bool has_enough(const SlicedCall *c, int n)
{
	int64_t sum = 0;
	for (int i = 0; i < n; i++)
		for (uint32_t k = 1; k < c[i].call->nsrc; k++) {
			int64_t bytes = buffer_is(c[i].call->src[k], "temp") ?
				bytes_of(c[i].call->src[k]) :
				0;
			if (bytes >= sliced_bytes() - sum)
				return true;
			sum += bytes;
		}
	return false;
}

/* The group that begins with call i and pays: all that can join, else as many calls as it takes
 * (the last may share fewer of the loops). Returns its rows, or 0 when no group pays. */
static int64_t best_group(const Slices *s, SliceGroup *g, uint32_t i)
{
	int64_t rows = 0;
	int most = s->n - i < MAX_SLICE_CALLS ? (int)(s->n - i) : MAX_SLICE_CALLS;
	for (; most > 1 && has_enough(s->known + i, most); most--) {
		find_group(s, g, i, most);
		if (g->n > 1 && choose(g, &rows))
			return rows;
		most = g->n < most ? g->n : most;
		vec_free(&g->inside);
	}
	return 0;
}

/* Emits the group that begins with call i, or that call alone, as where the next call begins a
 * better group; returns how many calls were emitted. */
static uint32_t put_calls(Slices *s, uint32_t i)
{
	SliceGroup g, next;
	int64_t rows = best_group(s, &g, i), later = rows ? best_group(s, &next, i + 1) : 0;
	bool waits = later && bytes_inside(&next) > bytes_inside(&g);
	int n = rows && !waits ? g.n : 1;
	if (rows && !waits)
		put_group(s, &g, rows);
	else
		vec_push(&s->out, s->known[i].call);
	if (rows)
		vec_free(&g.inside);
	if (later)
		vec_free(&next.inside);
	return n;
}

static void count_touches(Slices *s, const UOp *sink)
{
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		const UOp *call = sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++)
			map_put(&s->readers, PKEY(call->src[k]),
				(void *)(PKEY(map_get(&s->readers, PKEY(call->src[k]))) + 1));
	}
}

Graph *layout_slices(Graph *g)
{
	Slices s = {.n = g->sink->nsrc, .known = xcalloc(g->sink->nsrc + 1, sizeof *s.known)};
	for (uint32_t i = 0; i < s.n; i++)
		s.known[i].call = g->sink->src[i];
	count_touches(&s, g->sink);
	for (uint32_t i = 0; i < s.n;)
		i += put_calls(&s, i);
	Graph *r = graph_with_calls(g, s.out.n, s.out.at);
	map_free(&s.readers);
	vec_free(&s.out);
	free(s.known);
	return r;
}
