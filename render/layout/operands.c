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

static UOp *transpose_call(const Transposed *o, UOp *to)
{
	UOp *loop[MAX_RANK], *at[MAX_RANK + 1] = {param_new(0, to)}, *from = o->load->src[0];
	for (int i = 0; i < o->n; i++)
		at[1 + i] = loop[i] = ix_range(i, "loop", o->order[i]->src[0]);
	UOp *param = param_moved(from->src[0], 1);
	UOp *load = substitute(o->load, 1, &from->src[0], &param);
	load = substitute(load, o->n, o->order, loop);
	UOp *place = node_new(OP_INDEX, to->dtype, 1 + o->n, at, VNIL);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place, load);
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str("turn")), store);
	return NODE(OP_CALL, DT_NONE, VNIL, kernel, to, place_buffer(o->call, from));
}

static UOp *transposed_buffer(const Transposed *o, int number)
{
	UOp *dim[MAX_RANK];
	for (int i = 0; i < o->n; i++)
		dim[i] = o->order[i]->src[0];
	const char *from = buffer_name(place_buffer(o->call, o->load->src[0]));
	const char *name = arena_printf("%.200s.turned%d", from, number);
	return buffer_of(name, "temp", o->load->dtype, shape_new(o->n, dim));
}

static UOp *read_transposed(const Transposed *o, UOp *buffer)
{
	UOp *at[MAX_RANK + 1] = {param_new(o->call->nsrc - 1, buffer)}, *load = o->load;
	memcpy(at + 1, o->order, o->n * sizeof *at);
	UOp *from[] = {load}, *to[] = {NODE(OP_LOAD, load->dtype, VNIL,
		node_new(OP_INDEX, load->dtype, 1 + o->n, at, VNIL))};
	return call_compact(
		call_with_buffer(o->call, substitute(o->call->src[0], 1, from, to), buffer));
}

Graph *layout_operands(Graph *g)
{
	VEC(UOp *) out = {0};
	int number = 0;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		Transposed o;
		if (find_operand(&o, call)) {
			UOp *to = transposed_buffer(&o, number++);
			explain(call->src[0], "%s is turned",
				buffer_name(place_buffer(call, o.load->src[0])));
			vec_push(&out, transpose_call(&o, to));
			call = read_transposed(&o, to);
		}
		vec_push(&out, call);
	}
	Graph *r = graph_with_calls(g, out.n, out.at);
	vec_free(&out);
	return r;
}
