/* Finds values that are computed inside the only reduction that reads them, and get no buffer.
 *
 *     a [64,1,32] → EXPAND ┐
 *                          MUL [64,48,32] → REDUCE ADD [2]    64·48·32 products of 64·32 and 48·32
 *     b [1,48,32] → EXPAND ┘
 *
 * From a REDUCE down, the elementwise nodes of as many elements as its source, each read by only
 * one node, are candidates. They are computed inside when everything they read, through views, is
 * smaller: a buffer for them would be larger than its own sources. Otherwise they are computed
 * inside when the reduction is a contraction (common/index/contraction.c) of what they read: a
 * matrix by a vector, of which only the vector is expanded. */
#include "index/index.h"
#include "shape/shape.h"
#include "schedule.h"
#include <stdlib.h>

/* For each axis of a node, the axes of the REDUCE's source along which a place moves with it. */
typedef struct { uint64_t in[MAX_RANK]; } Moves;
typedef struct { UOp *u; Moves m; } Inner;
typedef struct {
	uint32_t *readers;      /* by id: the number of nodes that read it */
	uint8_t *inside;
	VEC(Inner) tree;        /* candidates of the current REDUCE */
	bool full, expanded;    /* they read a value of their own size; a smaller one */
} Inside;

/* The value that u reads through views that only u reads; further views lead to the same base. */
static UOp *base_of(const Inside *s, UOp *u, bool *alone)
{
	*alone = true;
	for (; ; u = content(u->src[0])) {
		*alone &= s->readers[u->id] == 1 && u->op != OP_ASSIGN;
		u = content(u);
		if (!op_movement(u->op))
			return u;
	}
}

/* The candidate for this node, or NULL. */
static Inner *inner_of(const Inside *s, const UOp *u)
{
	for (size_t i = 0; i < s->tree.n; i++)
		if (s->tree.at[i].u == u)
			return &s->tree.at[i];
	return NULL;
}

/* Adds u to the tree, or notes the size of what the tree reads. */
static void visit(Inside *s, UOp *u, UOp *top)
{
	bool alone;
	UOp *base = base_of(s, u, &alone);
	bool same = shape_count(base->shape) == shape_count(top->shape);
	if (alone && same && op_elementwise(base->op)) {
		if (!inner_of(s, base))
			vec_push(&s->tree, ((Inner){.u = base}));
	} else if (shape_max_count(base->shape) >= shape_max_count(top->shape)) {
		s->full = true;
	} else if (has_buffer(base)) {
		s->expanded = true;
	}
}

/* ---- operands */

/* The value of a constant size, else 0. */
static int64_t number(UOp *size)
{
	int64_t n = 0;
	ix_is_const(size, &n);
	return n;
}

/* The moves of a RESHAPE's source: the smallest groups of axes with equally many elements on both
 * sides move together. After a symbolic size all axes are one group. */
static Moves reshaped(const Shape *from, const Shape *to, const Moves *m)
{
	Moves r = {0};
	for (int i = 0, k = 0; i < from->rank || k < to->rank;) {
		int first = i;
		int64_t a = 1, b = 1;
		uint64_t all = 0;
		if (i < from->rank && k < to->rank && from->dim[i] == to->dim[k]) {
			r.in[i++] = m->in[k++];
			continue;
		}
		do {
			if (i < from->rank && (a <= b || k == to->rank)) {
				a *= number(from->dim[i++]);
			} else {
				b *= number(to->dim[k]);
				all |= m->in[k++];
			}
		} while ((a != b || !a) && (i < from->rank || k < to->rank));
		while (first < i)
			r.in[first++] = all;
	}
	return r;
}

/* The moves of a movement op's source. */
static Moves moves_below(const UOp *view, Moves m)
{
	const Shape *from = view->src[0]->shape;
	Moves r = m;
	int axis[MAX_RANK];
	if (view->op == OP_RESHAPE)
		return reshaped(from, view->shape, &m);
	for (int i = 0; view->op == OP_EXPAND && i < from->rank; i++)
		r.in[i] = number(from->dim[i]) == 1 ? 0 : m.in[i];
	for (int i = view->op == OP_PERMUTE ? arg_axes(view->arg, axis) : 0; i-- > 0;)
		r.in[axis[i]] = m.in[i];
	return r;
}

/* u is read at places that move so. If u is in the tree it gets these moves; else it is an operand,
 * provided that it moves with the reduction. */
static void read_at(Inside *s, UOp *u, Moves m, uint64_t bound, Operands *o)
{
	for (u = content(u); op_movement(u->op); u = content(u->src[0]))
		m = moves_below(u, m);
	Inner *in = inner_of(s, u);
	uint64_t moves = 0;
	if (in)
		in->m = m;
	for (int i = 0; i < u->shape->rank; i++)
		moves |= m.in[i];
	if (!in && has_buffer(u) && moves & bound)
		vec_push(o, ((Operand){u, moves}));
}

/* Is the REDUCE a contraction of the values its tree reads? */
static bool contracts(Inside *s, const UOp *reduce)
{
	const Shape *shape = reduce->src[0]->shape;
	Moves m = {0};
	int axis[MAX_RANK];
	uint64_t bound = 0;
	Operands o = {0};
	for (int i = 0; i < shape->rank; i++)
		m.in[i] = number(shape->dim[i]) == 1 ? 0 : 1ull << i;
	for (int i = arg_axes(reduce->arg->a[1], axis); i-- > 0;)
		bound |= 1ull << axis[i];
	read_at(s, reduce->src[0], m, bound, &o);
	for (size_t i = 0; i < s->tree.n; i++)
		for (uint32_t k = 0; k < s->tree.at[i].u->nsrc; k++)
			read_at(s, s->tree.at[i].u->src[k], s->tree.at[i].m, bound, &o);
	bool yes = operands_contract(o.n, o.at);
	vec_free(&o);
	return yes;
}

static void search(Inside *s, UOp *reduce)
{
	UOp *top = reduce->src[0];
	s->tree.n = 0;
	s->full = s->expanded = false;
	visit(s, top, top);
	for (size_t i = 0; i < s->tree.n; i++) {
		if (s->tree.n > INSIDE_NODES)
			return;
		for (uint32_t k = 0; k < s->tree.at[i].u->nsrc; k++)
			visit(s, s->tree.at[i].u->src[k], top);
	}
	if (s->full && !(s->expanded && contracts(s, reduce)))
		return;
	for (size_t i = 0; i < s->tree.n; i++)
		s->inside[s->tree.at[i].u->id] = 1;
}

/* A node that reads another twice counts as one reader; the SINK, whose sources are outputs, counts
 * once for each of them. */
static void count_readers(uint32_t *readers, const UOp *u)
{
	for (uint32_t k = 0; k < u->nsrc; k++) {
		bool again = false;
		for (uint32_t j = 0; j < k && u->op != OP_SINK && !again; j++)
			again = u->src[j] == u->src[k];
		if (!again)
			readers[u->src[k]->id]++;
	}
}

uint8_t *find_inside(const Nodes *all)
{
	Inside s = {0};
	s.readers = arena_alloc(node_limit() * sizeof *s.readers);
	s.inside = arena_alloc(node_limit());
	for (size_t i = 0; i < all->n; i++)
		count_readers(s.readers, all->at[i]);
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_REDUCE)
			search(&s, all->at[i]);
	vec_free(&s.tree);
	return s.inside;
}
