/* Operands of contractions that lie in the wrong order, transposed once for all the rows that use
 * them again:
 *
 *     s[b,i,j] = Σk q[b,i,k]*k[b,j,k]    →    t[b,k,j] = k[b,j,k];  s[b,i,j] = Σk q[b,i,k]*t[b,k,j]
 *
 * s is contiguous in j, along which the elements of k are a row apart. A kernel of its own does the
 * transposition in registers. */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { SUM_LEAST = 8 };

/* An operand to be transposed: its load, and the ranges that move it, that of the vector last. */
typedef struct { Roles r; UOp *call, *load, *order[MAX_RANGES]; int n; } Transposed;

/* Has the load's buffer about as many elements as its ranges have places, and are all sizes
 * known? */
static bool whole(const Transposed *o)
{
	int64_t n = 1, all;
	for (int i = 0; i < o->n; i++)
		if (range_size(o->order[i]) < 1 || !mul_ok(n, range_size(o->order[i]), &n))
			return false;
	return o->n <= MAX_RANK && shape_static(o->load->src[0]->src[0]->shape, &all) && n <= all;
}

static bool wrong_way(Transposed *o, UOp *load, const UOp *other, UOp *vector)
{
	const Facts *f = &o->r.facts;
	uint64_t moves = free_of(load->src[0]), v = bit_of(vector), sum = bound_of(o->r.c.fold);
	int64_t step;
	if (load->nsrc > 1 || is_constant(place_buffer(o->call, load->src[0])) ||
		reads_written(f, load) || !(moves & v) || free_of(other->src[0]) & v ||
		count_of(f, f->out & ~moves) <
			8 * target->machine.copy || count_of(f, sum & moves) < SUM_LEAST ||
		(place_step(flat_place(load->src[0]), vector, &step) && step == 1))
		return false;
	o->load = load;
	o->n = ranges_of(f, moves & f->out & ~v, o->order);
	o->n += ranges_of(f, moves & sum, o->order + o->n);
	o->order[o->n++] = vector;
	return whole(o);
}

static bool find_operand(Transposed *o, UOp *call)
{
	*o = (Transposed){.call = call};
	if (!roles_find(&o->r, call) || call_prepares(call) || o->r.facts.serial ||
		o->r.facts.in_place)
		return false;
	UOp *vector = stored_along(&o->r.facts);
	UOp *x = o->r.c.x, *w = o->r.c.w;
	return vector && (wrong_way(o, w, x, vector) || wrong_way(o, x, w, vector));
}

/* What says so: it is staged in a temporary of its own. */
static const Val *action_for(const Graph *g, const Transposed *o, uint32_t i)
{
	Rewriting w;
	const char *path = call_path(g->sink->nsrc, g->sink->src, i);
	Staging p = {.call = o->call, .value = o->load, .n = o->n};
	call_ranges(&w, o->call);
	memcpy(p.order, o->order, o->n * sizeof *o->order);
	facts_find(&p.f, o->call->src[0], call_aliases(o->call));
	return path && !staging_misfit(&p) ? staging_action(&p, path, &w) : NULL;
}

Graph *layout_operands(Graph *g)
{
	VEC(const Val *) list = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		Transposed o;
		const Val *action = find_operand(&o, call) ? action_for(g, &o, i) : NULL;
		if (!action)
			continue;
		explain(call->src[0], "%s is turned",
			buffer_name(place_buffer(call, o.load->src[0])));
		vec_push(&list, action);
	}
	g = layout_actions(g, list.n, list.at);
	vec_free(&list);
	return g;
}
