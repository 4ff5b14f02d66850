/* How many steps one call of a document takes, estimated before it is run.
 *
 *     graph       the elements of each node's value, and those that it folds
 *     schedule    for each value that is folded or stored, the product of its ranges
 *     loops       for each statement, the product of the loops around it and of the grid
 *     program     the same; where the statements have been dropped, the work that its arg claims
 *
 * All in double: a number that no machine can count to is what it is asked for. A size that data
 * gives counts as its least value until it is known; run counts what comes after it then. */
#include "document/document.h"

/* size with the variables that have a value as numbers; places in a grid or loop are left */
static UOp *with_values(UOp *size, const VarEnv *env)
{
	Nodes all = walk(size);
	UOp **from = arena_alloc((all.n + 1) * 2 * sizeof *from), **to = from + all.n;
	size_t n = 0;
	int64_t v;

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR && ix_eval(all.at[i], env, &v)) {
			from[n] = all.at[i];
			to[n++] = ix_const(v);
		}
	return n ? substitute(size, n, from, to) : size;
}

/* The value of a size; the least that it can be where data is still to give it, the most where it
 * depends on a place in the grid. */
static double value_of(UOp *size, const VarEnv *env)
{
	int64_t v, least;

	if (!ix_eval(size, env, &v)) {
		size = with_values(size, env);
		ix_bounds(size, &least, &v);
		v = size_is_bound(size) ? least : v;
	}
	return v > 0 ? (double)v : 0;
}

static double product(size_t n, UOp *const *size, const VarEnv *env)
{
	double p = 1;

	for (size_t i = 0; i < n; i++)
		p *= value_of(size[i], env);
	return p;
}

/* ---- graph */

static double elements(const UOp *u, const VarEnv *env)
{
	return u->shape ? product(u->shape->rank, u->shape->dim, env) : 0;
}

static double graph_steps(const Graph *g, const VarEnv *env)
{
	Nodes all = walk(g->sink);
	double steps = 0;

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (op_movement(u->op) || u->op == OP_BUFFER)
			continue;
		steps += elements(u->op == OP_REDUCE ? u->src[0] : u, env);
	}
	return steps;
}

/* ---- kernels of level schedule */

static double kernel_steps(UOp *kernel, const VarEnv *env)
{
	double size[64] = {0}, steps = 0;
	Nodes all = walk(kernel);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE)
			size[range_axis(all.at[i])] = value_of(all.at[i]->src[0], env);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool folds = u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT;
		uint64_t mask = folds || u->op == OP_STORE ? range_mask(u) : 0;
		double p = folds || u->op == OP_STORE ? 1 : 0;
		for (uint32_t k = 1; folds && k < u->nsrc; k++)
			mask |= u->src[k]->op == OP_RANGE ? 1ull << range_axis(u->src[k]) : 0;
		for (int axis = 0; axis < 64; axis++)
			p *= mask >> axis & 1 ? size[axis] : 1;
		steps += p;
	}
	return steps;
}

/* ---- kernels of level loops */

static double grid_of(const UOp *u, const char *key, const VarEnv *env)
{
	const Val *sizes = val_get(u->arg, key);
	double p = 1;

	for (size_t i = 0; sizes && sizes->kind == VAL_ARRAY && i < sizes->n; i++) {
		const char *err;
		UOp *size = size_from_val(sizes->a[i], &err);
		p *= size ? value_of(size, env) : 1;
	}
	return p;
}

static double statement_steps(UOp *kernel, const VarEnv *env)
{
	double around[65] = {1}, steps = 0;
	int depth = 0;

	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op == OP_RANGE && depth < 64) {
			around[depth + 1] = around[depth] * value_of(u->src[0], env);
			depth++;
		} else if (u->op == OP_ENDRANGE && depth > 0) {
			depth--;
		} else if (u->op == OP_STORE || u->op == OP_LET) {
			steps += around[depth];
		}
	}
	return steps * grid_of(kernel, "global_size", env) * grid_of(kernel, "local_size", env);
}

static double program_steps(UOp *program, const VarEnv *env)
{
	const Val *work = val_get(program->arg, "work");
	const char *err;
	UOp *size = work ? size_from_val(work, &err) : NULL;
	double claimed = size ? value_of(size, env) * grid_of(program, "global_size", env) : 0;
	double steps = program->nsrc && program->src[0]->op == OP_KERNEL ?
		statement_steps(program->src[0], env) : 0;

	return claimed > steps ? claimed : steps;
}

double count_steps(const Graph *g, const VarEnv *env)
{
	double steps = 0;

	if (g->level <= LV_GRAPH)
		return graph_steps(g, env);
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *call = all.at[i];
		UOp *callee = call->op == OP_CALL ? call->src[0] : NULL;
		if (callee && callee->op == OP_PROGRAM)
			steps += program_steps(callee, env);
		else if (callee && callee->op == OP_KERNEL)
			steps += g->level == LV_SCHEDULE ? kernel_steps(callee, env) :
				statement_steps(callee, env);
	}
	return steps;
}
