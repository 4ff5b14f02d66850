/* Contractions for which a kernel is kept apart: their loops are made for one result, so they only
 * take an epilogue.
 *
 *     y[i,j] = Σk a[i,k]*b[k,j]         always: each operand is used again
 *     y[i] = Σk a[i,k]*b[k]             only one operand is, a row of the other is used once: kept
 *     y[i] = max k (a[i,k] + b[k])      so is this,
 *     e[i,j] = a[i,j] + b[j] - y[i]     but not from a reader of the same rows, which it joins
 *     y[i] = Σk (a[i,k] + b[k])         these are two sums, */
#include "index/index.h"
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

/* Another buffer at exactly the same place */
static bool beside(const UOp *a, const UOp *b)
{
	const UOp *i = a->src[0], *k = b->src[0];
	return i->src[0] != k->src[0] && i->nsrc == k->nsrc &&
		!memcmp(i->src + 1, k->src + 1, (i->nsrc - 1) * sizeof *i->src);
}

/* The load of the rows that a lopsided contraction reduces. NULL when they come from an inner
 * reduction or from two buffers at one place: those are reductions of a row, whatever the
 * weights. */
static const UOp *row_of(const Contraction *c)
{
	const UOp *row = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const UOp *u = c->operand[i].value;
		if (c->operand[i].moves != c->all)
			continue;
		if (u->op != OP_LOAD || (row && beside(row, u)))
			return NULL;
		row = u;
	}
	return row;
}

/* Does the outermost operation on the elements of a row have a side that is used again for each
 * row? Operands joined by the fold's own operation are separate reductions: a bias in a sum does
 * not make a product. */
static bool is_weighed(const Contraction *c)
{
	typedef struct { UOp *u; Op within; } Joined;
	VEC(Joined) stack = {0};
	Op fold = op_find(c->fold->arg->s);
	bool found = false;
	vec_push(&stack, ((Joined){c->fold->src[0], fold}));
	while (stack.n && !found) {
		Joined s = stack.at[--stack.n];
		uint64_t m = range_mask(s.u);
		bool cast = s.u->op == OP_CAST;
		if (!cast && s.within != fold && s.within != s.u->op)
			found = m & c->bound && (m & c->all) != c->all;
		else if (s.u->op != OP_LOAD && s.u->op != OP_RREDUCE)
			for (uint32_t i = 0; i < s.u->nsrc; i++)
				vec_push(&stack, ((Joined){s.u->src[i], cast ? s.within :
					s.u->op}));
	}
	vec_free(&stack);
	return found;
}

static int loads_from(const Nodes *all, const UOp *param)
{
	int n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += all->at[i]->op == OP_LOAD && all->at[i]->src[0]->src[0] == param;
	return n;
}

/* Is the kernel kept apart for this contraction? *row gets the slot of its rows, or -1. */
static bool is_kept(const Contraction *c, const Nodes *all, int64_t *row)
{
	*row = -1;
	if (!contraction_is_lopsided(c))
		return true;
	const UOp *load = row_of(c);
	if (!load || loads_from(all, load->src[0]->src[0]) > 1 || !is_weighed(c))
		return false;
	*row = param_slot(load->src[0]->src[0]);
	return true;
}

bool has_contraction(UOp *kernel, int64_t *row)
{
	Nodes all = walk(kernel);
	bool found = false;
	for (size_t i = 0; i < all.n; i++) {
		Contraction c;
		int64_t slot;
		if (all.at[i]->op != OP_RREDUCE || !contraction_of(&c, all.at[i]) ||
		    !is_kept(&c, &all, &slot))
			continue;
		*row = found && *row != slot ? -1 : slot;
		found = true;
	}
	return found;
}
