/* Finds the expanded products that only a reduction reads: they belong to it, and get no buffer.
 *
 *     a [64,1,32] → EXPAND ┐
 *                          MUL [64,48,32] → REDUCE ADD [2]    64·48·32 products of 64·32 and 48·32
 *     b [1,48,32] → EXPAND ┘
 *
 * From a REDUCE down, the elementwise nodes of as many elements as its source, each read by one
 * node alone, are candidates. They are taken when all that they read, through views, is smaller;
 * and where something is not, when they are a product (a matrix by a vector: only the vector is
 * expanded). */
#include "shape/shape.h"
#include "schedule.h"
#include <stdlib.h>

typedef struct {
	uint32_t *readers;      /* by id: nodes that read it */
	uint8_t *inside;
	VEC(UOp *) tree;        /* candidates of the present REDUCE */
	bool full;              /* they read something of their own size */
	bool expanded;          /* and something smaller that is no constant */
	bool product;           /* nothing but MUL and CAST */
} Search;

/* What u reads through views that it alone reads; any further view still leads to the same base. */
static UOp *base_of(const Search *s, UOp *u, bool *alone)
{
	*alone = true;
	for (; ; u = content(u->src[0])) {
		*alone &= s->readers[u->id] == 1 && u->op != OP_ASSIGN;
		u = content(u);
		if (!op_movement(u->op))
			return u;
	}
}

static bool in_tree(const Search *s, const UOp *u)
{
	for (size_t i = 0; i < s->tree.n; i++)
		if (s->tree.at[i] == u)
			return true;
	return false;
}

/* Takes u into the tree, or notes the size of what the tree reads. */
static void visit(Search *s, UOp *u, UOp *top)
{
	bool alone;
	UOp *base = base_of(s, u, &alone);
	bool same = shape_count(base->shape) == shape_count(top->shape);
	if (alone && same && op_elementwise(base->op)) {
		s->product &= base->op == OP_MUL || base->op == OP_CAST;
		if (!in_tree(s, base))
			vec_push(&s->tree, base);
	} else if (shape_max_count(base->shape) >= shape_max_count(top->shape)) {
		s->full = true;
	} else if (base->op != OP_CONST) {
		s->expanded = true;
	}
}

static void search(Search *s, UOp *reduce)
{
	UOp *top = reduce->src[0];
	s->tree.n = 0;
	s->full = s->expanded = false;
	s->product = true;
	visit(s, top, top);
	for (size_t i = 0; i < s->tree.n; i++) {
		if (s->tree.n > CONTRACTION_NODES)
			return;
		for (uint32_t k = 0; k < s->tree.at[i]->nsrc; k++)
			visit(s, s->tree.at[i]->src[k], top);
	}
	if (s->full && !(s->product && s->expanded))
		return;
	for (size_t i = 0; i < s->tree.n; i++)
		s->inside[s->tree.at[i]->id] = 1;
}

/* A node that reads another twice is one reader; the SINK, whose sources are outputs, is one for
 * each. */
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

uint8_t *find_contractions(const Nodes *all)
{
	Search s = {0};
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
