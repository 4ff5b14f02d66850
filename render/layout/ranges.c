/* Ranges of which a contraction takes quotient and remainder become two, so that its operands move
 * by plain ranges and are used again along them. For a transposed convolution whose steps are as
 * long as its window:
 *
 *     y[o,r] = Σc x[c,r//2]*w[c,o,r%2]    r = 2*a + b →    y[o,2*a+b] = Σc x[c,a]*w[c,o,b] */
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

/* Is u the quotient or the remainder of an output range by a constant that divides its size? Then
 * *by is that constant. */
static UOp *range_taken(const Facts *f, const UOp *u, Op op, int64_t *by)
{
	int64_t rest;
	if (u->op != op || u->src[0]->op != OP_RANGE || !ix_is_const(u->src[1], by) || *by < 2 ||
		!(bit_of(u->src[0]) & f->out & ~f->serial & ~f->reduced))
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
static UOp *taken_apart(const Roles *roles, int64_t *by)
{
	const Facts *f = &roles->facts;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *r = range_taken(f, f->all.at[i], OP_FLOORMOD, by);
		for (size_t k = 0; r && k < f->all.n; k++) {
			int64_t other;
			if (range_taken(f, f->all.at[k], OP_FLOORDIV, &other) == r &&
				other == *by && !is_plain(roles, r))
				return r;
		}
	}
	return NULL;
}

static UOp *in_two(UOp *call)
{
	Roles r;
	int64_t by;
	while (roles_find(&r, call) && !call_prepares(call) &&
		last_axis(&r.facts) + 1 < MAX_RANGES) {
		UOp *range = taken_apart(&r, &by);
		if (!range)
			break;
		const char *kind = range_kind(range);
		UOp *high = ix_range(range_axis(range), kind, ix_div(range->src[0], ix_const(by)));
		UOp *low = ix_range(last_axis(&r.facts) + 1, kind, ix_const(by));
		UOp *sum = ix_add(ix_mul(high, ix_const(by)), low);
		explain(call->src[0], "r%d is taken apart by %lld", range_axis(range),
			(long long)by);
		call = call_with_kernel(call, substitute(call->src[0], 1, &range, &sum));
	}
	return call;
}

Graph *layout_ranges(Graph *g)
{
	UOp **call = arena_alloc((g->sink->nsrc + 1) * sizeof *call);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		call[i] = in_two(g->sink->src[i]);
	return graph_with_calls(g, g->sink->nsrc, call);
}
