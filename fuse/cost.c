/* The cost model: the time of a kernel's run, in units of one add, from its structure alone.
 *
 * A node runs once for each iteration of the loops around it. Outside of reductions those are the
 * loops up to the innermost one that it depends on (a value that depends on outer loops only is
 * hoisted); inside a reduction they include the reduction's own. */
#include "shape/shape.h"
#include "fuse.h"
#include <math.h>
#include <stdlib.h>

double size_guess(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	if (lo == hi)
		return lo;
	lo = lo < 1 ? 1 : lo;
	hi = hi == INT64_MAX ? 1 << 20 : hi < 1 ? 1 : hi;
	return sqrt((double)lo * hi);
}

double buffer_bytes(const UOp *buffer)
{
	int64_t bytes;
	return shape_bytes(buffer->shape, buffer->dtype, &bytes) ? (double)bytes : HUGE_VAL;
}

double count_guess(const Shape *s)
{
	double n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= size_guess(s->dim[i]);
	return n;
}

/* index arithmetic is strength-reduced by any compiler */
static double node_cost(const UOp *u)
{
	return op_info[u->op].index && u->dtype == DT_I64 ? op_cost(u->op) / 4.0 : op_cost(u->op);
}

double value_cost(UOp *value, int *loads)
{
	Nodes all = walk_brief(value);
	double cost = 0;
	*loads = 0;
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op == OP_LOAD)
			++*loads;
		else
			cost += node_cost(all.at[i]);
	}
	return cost;
}

LoopTurns iterations_of(const Loops *l)
{
	double n = 1;
	LoopTurns t;
	for (int i = 0; i < l->n; i++) {
		n *= size_guess(l->at[i]->src[0]);
		t.upto[range_axis(l->at[i])] = n;
	}
	return t;
}

double iterations_for(const LoopTurns *t, uint64_t mask)
{
	return mask ? t->upto[63 - __builtin_clzll(mask)] : 1;
}

static double max2(double a, double b) { return a > b ? a : b; }

/* runs[id]: how often the users of a node inside a reduction need it; only entries of the current
 * kernel count. */
static ARENA TABLE(double) runs;

static void runs_clear(const Nodes *all)
{
	table_fit(&runs);
	for (size_t i = 0; i < all->n; i++)
		runs.at[all->at[i]->id] = 0;
}

static uint64_t folded_mask(const UOp *reduce)
{
	uint64_t mask = 0;
	for (uint32_t s = 1; s < reduce->nsrc; s++)
		mask |= range_mask(reduce->src[s]);
	return mask;
}

/* A reduction within another one, for each of whose iterations it has a value, is run over again
 * where the outer one moves with a loop that it does not: the least of each row in a sum of
 * columns. That is so too where the two use the kernel's loops, in which it seems to stand. */
static void count_inner(UOp *reduce, const LoopTurns *t, uint64_t loop_mask)
{
	uint64_t folded = folded_mask(reduce) & loop_mask, moves = range_mask(reduce);
	double inside = iterations_for(t, moves);
	if (!folded || !moves)
		return;
	for (uint32_t s = 1; s < reduce->nsrc; s++)
		inside *= size_guess(reduce->src[s]->src[0]);
	Nodes body = walk_brief(reduce->src[0]);
	for (size_t i = 0; i < body.n; i++) {
		UOp *u = body.at[i];
		uint64_t m = range_mask(u);
		if (u->op == OP_RREDUCE && m & folded && moves & ~m)
			runs.at[u->id] = max2(runs.at[u->id], inside);
	}
}

/* runs[] for every node of a kernel: how often it is evaluated. The nodes are those of
 * walk_brief. */
static Nodes count_runs(UOp *kernel)
{
	Nodes all = walk_brief(kernel);
	Loops loops = loops_among(&all, kernel);
	LoopTurns iterations = iterations_of(&loops);
	uint64_t loop_mask = range_mask(kernel);
	static ARENA VEC(UOp *) folds;
	runs_clear(&all);
	folds.n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RREDUCE)
			vec_push(&folds, all.at[i]);
	for (size_t i = 0; folds.n > 1 && i < folds.n; i++)
		count_inner(folds.at[i], &iterations, loop_mask);
	if (folds.n > 1)
		all = walk_brief(kernel);
	for (size_t i = all.n; i--;) {
		UOp *u = all.at[i];
		uint64_t m = range_mask(u);
		double n = m & ~loop_mask ? runs.at[u->id] :
			max2(runs.at[u->id], iterations_for(&iterations, m)), inside = n;
		runs.at[u->id] = n;
		if (u->op == OP_RREDUCE)
			for (uint32_t s = 1; s < u->nsrc; s++)
				inside *= size_guess(u->src[s]->src[0]);
		/* a value that moves with a loop inside the reduction runs in each of the
		 * reduction's iterations */
		for (uint32_t s = 0; s < u->nsrc; s++)
			if (range_mask(u->src[s]) & ~loop_mask)
				runs.at[u->src[s]->id] = max2(runs.at[u->src[s]->id], inside);
	}
	return all;
}

double kernel_work(UOp *kernel)
{
	Nodes all = count_runs(kernel);
	double work = 0;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		double n = runs.at[u->id];
		for (uint32_t s = 1; u->op == OP_RREDUCE && s < u->nsrc; s++)
			n *= size_guess(u->src[s]->src[0]);
		work += n * node_cost(u);
	}
	return work;
}

void load_iterations(UOp *kernel, double *iterations)
{
	Nodes all = count_runs(kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			iterations[param_slot(all.at[i]->src[0]->src[0])] += runs.at[all.at[i]->id];
}
