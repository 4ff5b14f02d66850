/* Two axes of an image as one, on a GPU, where a contraction's groups would fill the inner one
 * badly:
 *
 *     y[o,h,w] = Σ x[c,h+i,w+j]*k[o,c,i,j]        h, w < 14
 *     →  y[o,p/14,p%14] = Σ x[c,p/14+i,p%14+j]*k[o,c,i,j]     p < 196
 *
 * The places to which it stores are side by side along p. */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"

/* elements of a side that the items of a group take, several each; products for each element, at
 * least, for which quotients of its place pay */
enum { FILLED = 64, PRODUCTS = 16 };

static bool known(const Facts *f, int r) { return least_size(f, r) == most_size(f, r); }

static int64_t step_along(UOp *flat, UOp *range)
{
	int64_t step;
	return place_step(flat, range, &step) ? step : 0;
}

/* The range around `inner` in memory, of the same role. */
static int outer_of(const Roles *r, UOp *flat, int inner)
{
	const Facts *f = &r->facts;
	Role role = contraction_role(&r->c, f->range[inner]);
	for (int i = 0; i < f->nrange; i++)
		if (i != inner && f->out >> i & 1 && known(f, i) &&
			contraction_role(&r->c, f->range[i]) == role &&
			step_along(flat, f->range[i]) == most_size(f, inner))
			return i;
	return -1;
}

/* The kernel with two of its ranges as one, or NULL. */
static UOp *merged(UOp *call)
{
	Roles r;
	if (!roles_find(&r, call) || call_prepares(call) || r.facts.serial || r.facts.sort ||
		r.facts.in_place || val_get(call->src[0]->arg, "actions") ||
		contraction_is_lopsided(&r.c) ||
		count_of(&r.facts, bound_of(r.c.fold)) < PRODUCTS || call->src[0]->nsrc != 1)
		return NULL;
	const Facts *f = &r.facts;
	UOp *flat = flat_place(call->src[0]->src[0]->src[0]);
	for (int i = 0; i < f->nrange; i++) {
		if (!(f->out >> i & 1) || f->reduced >> i & 1 || !known(f, i) ||
			most_size(f, i) % FILLED == 0 || step_along(flat, f->range[i]) != 1)
			continue;
		int o = outer_of(&r, flat, i);
		if (o < 0 || f->reduced >> o & 1)
			return NULL;
		UOp *from[] = {f->range[o], f->range[i]};
		UOp *p = ix_range(range_axis(from[1]), range_kind(from[1]),
			ix_mul(from[0]->src[0], from[1]->src[0]));
		UOp *to[] = {ix_div(p, from[1]->src[0]), ix_mod(p, from[1]->src[0])};
		explain(call->src[0], "r%d and r%d are one range", axis_of(f, o), axis_of(f, i));
		return substitute(call->src[0], 2, from, to);
	}
	return NULL;
}

Graph *layout_narrow(Graph *g)
{
	UOp **call = arena_alloc(g->sink->nsrc * sizeof *call), *kernel;
	bool changed = false;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		call[i] = g->sink->src[i];
		while ((kernel = merged(call[i]))) {
			call[i] = call_with_kernel(call[i], kernel);
			changed = true;
		}
	}
	return changed ? graph_with_calls(g, g->sink->nsrc, call) : g;
}
