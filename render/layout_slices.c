/* Calls one after another over the same outer loops, taken slice by slice, so that what one writes and the next reads is
 * never whole in memory:
 *
 *     s[b,i,j] = Σk q[b,i,k]*k[b,j,k]                   for each b, for i in parts of 128:
 *     p[b,i,j] = softmax of the row s[b,i]        →         128 rows of s; of p; of y
 *     y[b,i,d] = Σj p[b,i,j]*v[b,j,d]
 *
 * Here the calls only agree: the last of the outer ranges they share becomes two, i = part*128 + row, and each kernel says
 * in its arg which loops are the slices and which slots stay within one:
 *
 *     slice: {first: true, axes: [0, 3], local: [0]}
 *
 * lower makes one kernel of them (lower_slices.c). By themselves they are right as they are. */
#include "layout.h"
#include <stdlib.h>

enum {
	SLICE_BYTES = 512 << 10,        /* what a slice holds at most: it is on the stack, and stays in a core's cache */
	NEAR_BYTES = 1 << 20,           /* a buffer that stays in a core's cache beside them */
	SLICES_LEAST = 8                /* so that threads get even shares */
};

/* A call and the ranges of it that are the slices, outermost first. */
typedef struct { UOp *call; Facts f; uint64_t writes; UOp *outer[MAX_SLICE_AXES]; } Member;
typedef struct {
	Member at[MAX_SLICE_CALLS];
	int n, axes;                    /* how many axes in front all of them agree in */
	VEC(UOp *) inside;              /* temporaries that only they touch, over all of these axes */
} Group;
typedef struct { Map readers; VEC(UOp *) out; } Slices;         /* how many calls touch each buffer */

/* ---- how a call touches a buffer */

static int slot_of(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = 1; k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return (int)k - 1;
	return -1;
}

static bool writes(const Member *m, const UOp *buffer)
{
	int slot = slot_of(m->call, buffer);
	return slot >= 0 && slot < 64 && m->writes >> slot & 1;
}

/* The places of the kernel in that slot. */
static bool is_place(const UOp *u, int slot)
{
	return u->op == OP_INDEX && u->src[0]->op == OP_PARAM && param_slot(u->src[0]) == slot;
}

/* The loops of which each turn is by itself: a reduction may go over a range again that is a loop around it, and then takes
 * all of it in each turn. */
static uint64_t own_loops(const Facts *f)
{
	uint64_t set = f->out;
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RREDUCE)
			set &= ~bound_of(f->all.at[i]);
	return set;
}

/* The loops, out of those, that a place's axes in front are, each over the whole of its axis and no two the same;
 * axes of one element do not count. Returns how many. */
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

/* The same of all places of the buffer in the call, as far as they agree. */
static int common_loops(Member *m, const UOp *buffer, UOp **loop)
{
	int slot = slot_of(m->call, buffer), n = -1;
	facts_find(&m->f, m->call->src[0], false);
	uint64_t own = own_loops(&m->f);
	for (size_t i = 0; i < m->f.all.n; i++) {
		UOp *here[MAX_SLICE_AXES];
		if (!is_place(m->f.all.at[i], slot))
			continue;
		int have = loops_in_front(own, m->f.all.at[i], here);
		n = n < 0 || have < n ? have : n;
		for (int k = 0; k < n; k++) {
			if (loop[k] && loop[k] != here[k])
				n = k;
			else
				loop[k] = here[k];
		}
	}
	return n < 0 ? 0 : n;
}

/* The member goes over the buffer's axes in front by the loops that are its slices already, as far as it has any. Returns
 * in how many axes it does, of so many. */
static int agree(Member *m, const UOp *buffer, int axes)
{
	UOp *loop[MAX_SLICE_AXES] = {0};
	int n = common_loops(m, buffer, loop);
	for (int k = 0; k < n && k < axes; k++) {
		if (m->outer[k] && m->outer[k] != loop[k])
			return k;
		m->outer[k] = loop[k];
	}
	return n < axes ? n : axes;
}

/* ---- groups */

/* May the loops of this call be shared out, in any order? */
static bool plain_call(Member *m, UOp *call)
{
	*m = (Member){.call = call, .writes = call->op == OP_CALL ? call_writes(call) : 0};
	if (!call_has_kernel(call) || call_prepares(call))
		return false;
	facts_find(&m->f, call->src[0], false);
	if (last_axis(&m->f) + 1 == MAX_RANGES)         /* a slice's rows are one range more */
		return false;
	return !call_aliases(call) && !m->f.serial && !m->f.in_place && !m->f.sort;
}

/* Joins the call to the group when it reads what the group writes by slices, and writes nothing that the group touches. */
static bool join(Group *g, UOp *call)
{
	Member m;
	bool reads = false;
	int axes = g->axes;
	if (g->n == MAX_SLICE_CALLS || !plain_call(&m, call))
		return false;
	Group with = *g;
	for (uint32_t k = 1; k < call->nsrc; k++) {
		UOp *b = call->src[k];
		for (int i = 0; i < g->n; i++) {
			if (slot_of(g->at[i].call, b) >= 0 && writes(&m, b))
				return false;
			if (!writes(&g->at[i], b))
				continue;
			reads = true;
			axes = agree(&with.at[i], b, axes);
			axes = agree(&m, b, axes);
		}
	}
	if (!reads || axes < 1)
		return false;
	*g = with;
	g->axes = axes;
	g->at[g->n++] = m;
	return true;
}

/* Temporaries that the group writes, and nothing else touches. */
static void find_inside(const Slices *s, Group *g)
{
	g->inside.n = 0;
	for (int i = 0; i < g->n; i++)
		for (uint32_t k = 1; k < g->at[i].call->nsrc; k++) {
			UOp *b = g->at[i].call->src[k];
			int64_t n;
			intptr_t touched = 0;
			for (int j = 0; j < g->n; j++)
				touched += slot_of(g->at[j].call, b) >= 0;
			if (writes(&g->at[i], b) && buffer_is(b, "temp") && shape_static(b->shape, &n) && touched > 1 &&
				touched == (intptr_t)map_get(&s->readers, PKEY(b)))
				vec_push(&g->inside, b);
		}
}

/* ---- whether */

static int64_t bytes_of(const UOp *buffer)
{
	int64_t n;
	return shape_bytes(buffer->shape, buffer->dtype, &n) ? n : INT64_MAX;
}

/* Bytes of what stays inside, which must be of one slice each along the group's axes. */
static int64_t bytes_inside(const Group *g)
{
	int64_t sum = 0;
	for (size_t i = 0; i < g->inside.n; i++)
		if (!add_ok(sum, bytes_of(g->inside.at[i]), &sum))
			return 0;
	return sum;
}

/* What slices read again that the whole would read once: buffers that do not move with the last axis. Small ones come
 * out of a near cache, a quarter as dear. */
static double read_again(const Group *g, int axes, int64_t parts)
{
	double bytes = 0;
	for (int i = 0; i < g->n; i++) {
		Facts f;
		facts_find(&f, g->at[i].call->src[0], false);
		uint64_t last = bit_of(g->at[i].outer[axes - 1]);
		for (size_t k = 0; k < f.all.n; k++)
			if (f.all.at[k]->op == OP_LOAD && !(free_of(f.all.at[k]) & last)) {
				int64_t n = bytes_of(place_buffer(g->at[i].call, f.all.at[k]->src[0]));
				bytes += (n <= NEAR_BYTES ? 0.25 : 1) * (double)n * (double)(parts - 1);
			}
	}
	return bytes;
}

/* How many of n rows, of so many bytes, are a slice when there are `outer` times as many: the most that divide n; 0: none. */
static int64_t rows_in(int64_t n, int64_t row_bytes, int64_t outer)
{
	int64_t rows = row_bytes ? SLICE_BYTES / row_bytes : 0;
	for (rows = rows < n ? rows : n; rows > 0; rows--)
		if (n % rows == 0 && outer * (n / rows) >= SLICES_LEAST)
			break;
	return rows;
}

/* Chooses how many axes, and how many rows of the last of them, are a slice; false when it does not pay. */
static bool choose(Group *g, int64_t *rows)
{
	int64_t bytes = bytes_inside(g), outer = 1;
	for (int a = 1; a <= g->axes && bytes >= SLICED_BYTES; a++) {
		int64_t n = range_size(g->at[0].outer[a - 1]);
		*rows = rows_in(n, bytes / (outer * n), outer);
		if (*rows) {
			g->axes = a;
			return read_again(g, a, n / *rows) < (double)bytes;
		}
		outer *= n;
	}
	return false;
}

/* ---- the kernels */

static UOp *member_call(const Group *g, int i, int64_t rows)
{
	const Member *m = &g->at[i];
	UOp *call = m->call, *kernel = call->src[0], *last = m->outer[g->axes - 1];
	VEC(const Val *) axes = {0}, local = {0};
	Facts f;
	facts_find(&f, kernel, false);
	for (int k = 0; k < g->axes; k++)
		vec_push(&axes, val_int(range_axis(m->outer[k])));
	if (rows > 1) {
		UOp *part = ix_range(range_axis(last), "loop", ix_const(range_size(last) / rows));
		UOp *row = ix_range(last_axis(&f) + 1, "loop", ix_const(rows));
		UOp *at = ix_add(ix_mul(part, ix_const(rows)), row);
		kernel = substitute(kernel, 1, &last, &at);
	}
	for (size_t k = 0; k < g->inside.n; k++)
		if (slot_of(call, g->inside.at[k]) >= 0)
			vec_push(&local, val_int(slot_of(call, g->inside.at[k])));
	const Val *slice = VMAP(val_str("first"), val_bool(!i), val_str("axes"), val_array(axes.n, axes.at),
		val_str("local"), val_array(local.n, local.at));
	vec_free(&axes);
	vec_free(&local);
	return call_with_kernel(call,
		node_like(call->src[0], kernel->nsrc, kernel->src, val_set(kernel->arg, "slice", slice)));
}

/* The longest group from call i on, of at most so many calls. */
static void find_group(const Slices *s, Group *g, UOp *const *call, uint32_t left, int most)
{
	*g = (Group){.axes = MAX_SLICE_AXES};
	if (!plain_call(&g->at[0], call[0]))
		return;
	for (g->n = 1; g->n < most && g->n < (int)left && join(g, call[g->n]);)
		;
	find_inside(s, g);
}

static void put_group(Slices *s, const Group *g, int64_t rows)
{
	for (size_t k = 0; k < g->inside.n; k++)
		explain(g->at[0].call->src[0], "%s is never whole: %lld at a time along r%d", buffer_name(g->inside.at[k]),
			(long long)rows, range_axis(g->at[0].outer[g->axes - 1]));
	for (int i = 0; i < g->n; i++)
		vec_push(&s->out, member_call(g, i, rows));
}

/* Do so many calls name temporaries enough for a group to pay? A buffer named often counts as often. */
static bool has_enough(UOp *const *call, uint32_t n)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < n && sum < SLICED_BYTES; i++)
		for (uint32_t k = 1; k < call[i]->nsrc && sum < SLICED_BYTES; k++)
			if (buffer_is(call[i]->src[k], "temp"))
				sum += bytes_of(call[i]->src[k]) < SLICED_BYTES ? bytes_of(call[i]->src[k]) : SLICED_BYTES;
	return sum >= SLICED_BYTES;
}

/* The group that begins with this call and pays: all that can join, else as many as it takes (the last may share fewer of
 * the loops). Its rows, 0 when there is none. */
static int64_t best_group(const Slices *s, Group *g, UOp *const *call, uint32_t left)
{
	int64_t rows = 0;
	for (int most = MAX_SLICE_CALLS; most > 1 && has_enough(call, (int)left < most ? (int)left : most); most--) {
		find_group(s, g, call, left, most);
		if (g->n > 1 && choose(g, &rows))
			return rows;
		most = g->n < most ? g->n : most;
		vec_free(&g->inside);
	}
	return 0;
}

/* Puts the group that begins with this call, or the call alone, as where the next one begins a better group; returns how
 * many calls that is. */
static int put_calls(Slices *s, UOp *const *call, uint32_t left)
{
	Group g, next;
	int64_t rows = best_group(s, &g, call, left), later = rows ? best_group(s, &next, call + 1, left - 1) : 0;
	bool waits = later && bytes_inside(&next) > bytes_inside(&g);
	int n = rows && !waits ? g.n : 1;
	if (rows && !waits)
		put_group(s, &g, rows);
	else
		vec_push(&s->out, call[0]);
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
			map_put(&s->readers, PKEY(call->src[k]), (char *)map_get(&s->readers, PKEY(call->src[k])) + 1);
	}
}

Graph *layout_slices(Graph *g)
{
	Slices s = {0};
	count_touches(&s, g->sink);
	for (uint32_t i = 0; i < g->sink->nsrc;)
		i += put_calls(&s, g->sink->src + i, g->sink->nsrc - i);
	Graph *r = graph_with_calls(g, s.out.n, s.out.at);
	map_free(&s.readers);
	vec_free(&s.out);
	return r;
}
