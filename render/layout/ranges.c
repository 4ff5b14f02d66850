/* Ranges of which a contraction takes quotient and remainder become two, so that its operands move
 * by plain ranges and are used again along them. For a transposed convolution whose steps are as
 * long as its window:
 *
 *     y[o,r] = Σc x[c,r//2]*w[c,o,r%2]    r = 2*a + b →    y[o,2*a+b] = Σc x[c,a]*w[c,o,b]
 *
 * So does a range of its sum, in the end, as that over the heads of an attention in the layer
 * behind it, unless a loop over the remainder would be too short to pay:
 *
 *     y[r,o] = Σk x[k//64,r,k%64]*w[k,o]    k = 64*a + b →   y[r,o] = Σa,b x[a,r,b]*w[64*a + b,o]
 *
 * So does the axis of a temporary along which such a range moves, y [o,2*n] → [o,n,2], where
 * every place in it is such a sum: it moves by plain ranges then, and may have blocks along one. */
#include "shape/shape.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { TURNS_LEAST = 16 };

/* The ranges that may be two: of the output, or of sums. One that is of both may not. */
static uint64_t may_part(const Facts *f, bool sums)
{
	return sums ? f->reduced & ~f->out : f->out & ~f->serial & ~f->reduced;
}

/* Is u the quotient or the remainder of one of the ranges by a constant that divides its size? Then
 * *by is that constant. */
static UOp *range_taken(const UOp *u, Op op, uint64_t ranges, int64_t *by)
{
	int64_t rest;
	if (u->op != op || u->src[0]->op != OP_RANGE || !ix_is_const(u->src[1], by) || *by < 2 ||
		!(bit_of(u->src[0]) & ranges))
		return NULL;
	return ix_is_const(ix_mod(u->src[0]->src[0], u->src[1]), &rest) && !rest ? u->src[0] : NULL;
}

/* Several contiguous axes that one range runs through need no quotients in the flat place. */
static bool is_plain(const Roles *r, UOp *range)
{
	int64_t step;
	return place_step(flat_place(r->c.x->src[0]), range, &step) &&
		place_step(flat_place(r->c.w->src[0]), range, &step);
}

/* A range of which quotient and remainder by the same constant occur; NULL: none. */
static UOp *taken_apart(const Roles *roles, bool sums, int64_t *by)
{
	const Facts *f = &roles->facts;
	uint64_t ranges = may_part(f, sums);
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *r = range_taken(f->all.at[i], OP_FLOORMOD, ranges, by);
		for (size_t k = 0; r && k < f->all.n && *by >= (sums ? TURNS_LEAST : 2); k++) {
			int64_t other;
			if (range_taken(f->all.at[k], OP_FLOORDIV, ranges, &other) == r &&
				other == *by && !is_plain(roles, r))
				return r;
		}
	}
	return NULL;
}

/* What stands for a range: its parts, in a sum that is over it too. */
typedef struct { UOp *range, *high, *low, *sum; } InTwo;

static UOp *over_two(UOp *u, void *ctx)
{
	InTwo *t = ctx;
	UOp *src[MAX_RANGES + 2];
	uint32_t n = 1;
	for (uint32_t k = 1; u->op == OP_RREDUCE && k < u->nsrc && n <= MAX_RANGES; k++) {
		src[n++] = u->src[k] == t->range ? t->high : u->src[k];
		if (u->src[k] == t->range)
			src[n++] = t->low;
	}
	if (n == 1 || n == u->nsrc)
		return u;
	src[0] = substitute(u->src[0], 1, &t->range, &t->sum);
	return node_new(u->op, u->dtype, n, src, u->arg);
}

static UOp *in_two(UOp *call, bool sums)
{
	Roles r;
	int64_t by;
	while (roles_find(&r, call) && !call_prepares(call) &&
		last_axis(&r.facts) + 1 < MAX_RANGES) {
		UOp *range = taken_apart(&r, sums, &by);
		if (!range)
			break;
		const char *kind = range_kind(range);
		InTwo t = {.range = range};
		t.high = ix_range(range_axis(range), kind, ix_div(range->src[0], ix_const(by)));
		t.low = ix_range(last_axis(&r.facts) + 1, kind, ix_const(by));
		t.sum = ix_add(ix_mul(t.high, ix_const(by)), t.low);
		explain(call->src[0], "r%d is taken apart by %lld", range_axis(range),
			(long long)by);
		UOp *kernel = sums ? walk_replace(call->src[0], over_two, &t) :
			substitute(call->src[0], 1, &range, &t.sum);
		call = call_with_kernel(call, kernel);
	}
	return call;
}

/* ---- axes of temporaries */

/* A temporary, and its axis of which every place is high * by + low; made: with two axes. */
typedef struct { UOp *buffer, *made; int axis; int64_t by; bool fits; } Axis;
typedef struct { Axis *at; size_t n; UOp *call; } Axes;

/* The factor of the range that moves a place furthest, others being beside it; 0: there is none. */
static int64_t outer_step(UOp *at)
{
	Sum s;
	int64_t step = 0;
	if (at->op != OP_ADD)
		return 0;
	sum_of(&s, at);
	for (int i = 0; i < s.n; i++)
		if (s.t[i].c > step)
			step = s.t[i].m->op == OP_RANGE ? s.t[i].c : 0;
	return step;
}

/* The axis of what a call stores to that can be two; NULL: none, or it stores to no temporary. */
static Axis *axis_of_store(const UOp *call)
{
	const UOp *place = call->src[0]->src[0]->src[0];
	UOp *buffer = place_buffer(call, place);
	int64_t n;
	if (!buffer_is(buffer, "temp") || buffer->shape->rank >= MAX_RANK)
		return NULL;
	for (int k = 0; k < buffer->shape->rank; k++) {
		int64_t by = outer_step(place->src[1 + k]);
		if (by < 2 || !ix_is_const(buffer->shape->dim[k], &n) || n % by)
			continue;
		Axis *a = arena_alloc(sizeof *a);
		*a = (Axis){.buffer = buffer, .axis = k, .by = by, .fits = true};
		return a;
	}
	return NULL;
}

static Axis *axis_at(const Axes *x, const UOp *buffer)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->at[i].buffer == buffer)
			return &x->at[i];
	return NULL;
}

/* Is its place along the axis high * by + low, for a range as high? */
static bool in_digits(const Axis *a, const UOp *index)
{
	return ix_div(index->src[1 + a->axis], ix_const(a->by))->op == OP_RANGE;
}

static void check_axes(const Axes *x, const UOp *call)
{
	Axis *a;
	for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++)
		if (!call_has_kernel(call) && (a = axis_at(x, call->src[k])))
			a->fits = false;
	if (!call_has_kernel(call))
		return;
	Nodes all = walk(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_INDEX && all.at[i]->src[0]->op == OP_PARAM &&
			(a = axis_at(x, place_buffer(call, all.at[i]))))
			a->fits &= in_digits(a, all.at[i]);
}

static void make_axes(Axis *a)
{
	UOp *dim[MAX_RANK + 1];
	int n = 0;
	for (int k = 0; k < a->buffer->shape->rank; k++) {
		dim[n++] = a->buffer->shape->dim[k];
		if (k != a->axis)
			continue;
		dim[n - 1] = ix_div(dim[k], ix_const(a->by));
		dim[n++] = ix_const(a->by);
	}
	a->made = buffer_of(buffer_name(a->buffer), "temp", a->buffer->dtype, shape_new(n, dim));
	node_note(a->made, a->buffer->note);
}

static UOp *place_with_axes(UOp *u, void *ctx)
{
	Axes *x = ctx;
	UOp *src[MAX_RANK + 2];
	Axis *a = u->op == OP_INDEX && u->src[0]->op == OP_PARAM ?
		axis_at(x, place_buffer(x->call, u)) : NULL;
	int n = 0;
	if (!a || !a->made)
		return u;
	src[n++] = param_new(param_slot(u->src[0]), a->made);
	for (uint32_t k = 1; k < u->nsrc; k++) {
		bool two = (int)k - 1 == a->axis;
		src[n++] = two ? ix_div(u->src[k], ix_const(a->by)) : u->src[k];
		if (two)
			src[n++] = ix_mod(u->src[k], ix_const(a->by));
	}
	return node_new(OP_INDEX, u->dtype, n, src, VNIL);
}

static UOp *with_axes(Axes *x, UOp *call)
{
	UOp **src = arena_alloc(call->nsrc * sizeof *src);
	bool any = false;
	for (uint32_t k = 0; k < call->nsrc; k++) {
		Axis *a = axis_at(x, call->src[k]);
		src[k] = a && a->made ? a->made : call->src[k];
		any |= src[k] != call->src[k];
	}
	x->call = call;
	if (!any)
		return call;
	src[0] = walk_replace(call->src[0], place_with_axes, x);
	return node_with(call, src);
}

Graph *layout_ranges(Graph *g)
{
	UOp **call = arena_alloc((g->sink->nsrc + 1) * sizeof *call);
	Axes x = {.at = arena_alloc((g->sink->nsrc + 1) * sizeof *x.at)};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		call[i] = in_two(g->sink->src[i], false);
		Axis *a = call[i] != g->sink->src[i] ? axis_of_store(call[i]) : NULL;
		if (a && !axis_at(&x, a->buffer))
			x.at[x.n++] = *a;
	}
	for (uint32_t i = 0; x.n && i < g->sink->nsrc; i++)
		check_axes(&x, call[i]);
	for (size_t i = 0; i < x.n; i++)
		if (x.at[i].fits)
			make_axes(&x.at[i]);
	for (uint32_t i = 0; x.n && i < g->sink->nsrc; i++)
		call[i] = with_axes(&x, call[i]);
	return graph_with_calls(g, g->sink->nsrc, call);
}

Graph *layout_sums(Graph *g)
{
	UOp **call = arena_alloc((g->sink->nsrc + 1) * sizeof *call);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		call[i] = in_two(g->sink->src[i], true);
	return graph_with_calls(g, g->sink->nsrc, call);
}
