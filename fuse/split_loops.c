/* A loop of an elementwise kernel becomes two where it reads a computed temporary by its quotient
 * and its remainder:
 *
 *     y[r0, r1] = t[r0, r1//8, r1%8]   r1 < 64     →     y[r0, r1*8 + r2] = t[r0, r1, r2]
 *
 * The producer's loops and the reader's are then the same, and a value with reductions, which
 * would be computed 8 times as often at t's place in the first form, can be put there. */
#include "fuse.h"
#include "index/index.h"
#include "shape/shape.h"
#include <stdlib.h>

typedef struct { UOp *kernel; Nodes all; uint64_t bound; } Whole;

/* Is u a quotient or remainder of a loop by a number that divides its size? */
static UOp *taken(const Whole *l, const UOp *u, Op op, int64_t *by)
{
	int64_t rest;
	UOp *r = u->nsrc ? u->src[0] : NULL;
	if (u->op != op || r->op != OP_RANGE || !ix_is_const(u->src[1], by) || *by < 2 ||
		strcmp(range_kind(r), "loop") || l->bound >> (range_axis(r) & 63) & 1)
		return NULL;
	return ix_is_const(ix_mod(r->src[0], u->src[1]), &rest) && !rest ? r : NULL;
}

/* Is the loop read in no other pieces? */
static bool in_these_alone(const Whole *l, UOp *range, int64_t by)
{
	uint64_t bit = 1ull << range_axis(range);
	for (size_t i = 0; i < l->all.n; i++) {
		UOp *u = l->all.at[i];
		int64_t other;
		bool piece = u->op == OP_FLOORDIV || u->op == OP_FLOORMOD;
		if (piece && range_mask(u->src[0]) & bit && (u->src[0] != range ||
			!ix_is_const(u->src[1], &other) || other != by))
			return false;
	}
	return true;
}

/* Is each index of the place a loop, or a piece of one? Then the place moves as the producer's
 * loops did. */
static bool moves_plainly(const Whole *l, const UOp *place)
{
	for (uint32_t i = 1; i < place->nsrc; i++) {
		const UOp *at = place->src[i];
		int64_t by;
		if (at->op != OP_RANGE && at->op != OP_CONST && !taken(l, at, OP_FLOORDIV, &by) &&
			!taken(l, at, OP_FLOORMOD, &by))
			return false;
	}
	return true;
}

/* The loop of which this place takes quotient and remainder; NULL: none. */
static UOp *taken_apart(const Whole *l, const UOp *place, int64_t *by)
{
	for (uint32_t i = 1; i < place->nsrc && moves_plainly(l, place); i++) {
		UOp *r = taken(l, place->src[i], OP_FLOORDIV, by);
		for (uint32_t k = 1; r && k < place->nsrc; k++) {
			int64_t other;
			if (taken(l, place->src[k], OP_FLOORMOD, &other) == r && other == *by &&
				in_these_alone(l, r, *by))
				return r;
		}
	}
	return NULL;
}

static Whole whole_of(UOp *kernel)
{
	Whole l = {kernel, walk_brief(kernel), 0};
	for (size_t i = 0; i < l.all.n; i++) {
		const UOp *u = l.all.at[i];
		for (uint32_t k = 1; u->op == OP_RREDUCE && k < u->nsrc; k++)
			l.bound |= 1ull << (range_axis(u->src[k]) & 63);
	}
	return l;
}

/* The kernel with range as two, the second numbered after the first, or NULL where there is no
 * number left. */
static UOp *in_two(const Whole *l, UOp *range, int64_t by)
{
	UOp *from[BOUND], *to[BOUND];
	size_t n = 0;
	int axis = range_axis(range), last = axis;
	for (size_t i = 0; i < l->all.n; i++) {
		UOp *u = l->all.at[i];
		if (u->op != OP_RANGE || u == range)
			continue;
		last = range_axis(u) > last ? range_axis(u) : last;
		if (range_axis(u) <= axis || n + 1 >= BOUND)
			continue;
		from[n] = u;
		to[n++] = ix_range(range_axis(u) + 1, range_kind(u), u->src[0]);
	}
	if (last + 1 >= BOUND)
		return NULL;
	from[n] = range;
	to[n++] = ix_add(ix_mul(ix_range(axis, "loop", ix_div(range->src[0], ix_const(by))),
			ix_const(by)), ix_range(axis + 1, "loop", ix_const(by)));
	return substitute(l->kernel, n, from, to);
}

/* Does the place lie in a temporary whose values come from a fold? Those are not to be computed
 * again for each reader. */
static bool is_folded(const Map *folded, const UOp *call, const UOp *place)
{
	return place->src[0]->op == OP_PARAM &&
		map_get(folded, PKEY(step_buffer(call, param_slot(place->src[0]))));
}

static UOp *split_call(const Map *folded, UOp *call)
{
	for (bool again = true; again;) {
		Whole l = whole_of(call->src[0]);
		again = false;
		if (l.bound)            /* a fold's own loops are laid out by what it reads */
			break;
		for (size_t i = 0; i < l.all.n && !again; i++) {
			const UOp *u = l.all.at[i];
			int64_t by;
			bool reads = u->op == OP_LOAD && u->nsrc == 1 &&
				is_folded(folded, call, u->src[0]);
			UOp *r = reads ? taken_apart(&l, u->src[0], &by) : NULL;
			UOp *kernel = r ? in_two(&l, r, by) : NULL;
			if (!kernel)
				continue;
			explain("%s: r%d is taken apart by %lld", step_label(call), range_axis(r),
				(long long)by);
			call = call_with_kernel(call, kernel);
			again = true;
		}
	}
	return call;
}

static void note_folded(Map *folded, UOp *call)
{
	Nodes all = walk_brief(call->src[0]);
	bool folds = false;
	for (size_t i = 0; i < all.n; i++)
		folds |= all.at[i]->op == OP_RREDUCE ||
			(all.at[i]->op == OP_LOAD && is_folded(folded, call, all.at[i]->src[0]));
	for (uint32_t i = 0; i < call->src[0]->nsrc; i++) {
		UOp *b = step_buffer(call, param_slot(store_buffer(call->src[0]->src[i])));
		map_put(folded, PKEY(b), folds && buffer_is(b, "temp") ? b : NULL);
	}
}

Graph *split_loops(Graph *g)
{
	Map folded = {0};
	UOp **call = arena_alloc((g->sink->nsrc + 1) * sizeof *call);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		call[i] = g->sink->src[i];
		if (call[i]->op != OP_CALL || call[i]->src[0]->op != OP_KERNEL)
			continue;
		call[i] = split_call(&folded, call[i]);
		note_folded(&folded, call[i]);
	}
	map_free(&folded);
	return graph_with_calls(g, g->sink->nsrc, call);
}
