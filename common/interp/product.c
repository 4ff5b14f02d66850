/* A REDUCE ADD over a MUL whose factors are each read many times, as a contraction. A factor that
 * is itself an expression is computed once, over the axes along which it moves.
 *
 *     a [64,1,32] → EXPAND [64,48,32] ┐
 *     b [48,32] → CAST → EXPAND       ┴ MUL → REDUCE ADD [2]     64·32 and 48·32 elements
 */
#include <stdlib.h>
#include "shape/shape.h"
#include "interp/value.h"

/* A factor with nearly as many elements as there are products is not worth its memory. */
enum { REUSE = 4 };

static int64_t product_of(int rank, const int64_t *dim)
{
	Strided s = {.rank = rank};

	if (rank)
		memcpy(s.dim, dim, rank * sizeof *dim);
	return strided_count(&s);
}

static bool worth(UOp *factor, int rank, const int64_t *xdim, const ClusterEnv *env)
{
	return env->get(factor, env->ctx) ||
		cluster_count(factor, rank, xdim, env) <= product_of(rank, xdim) / REUSE;
}

/* The factor's elements over the index space xdim. */
static ArrayView *factor_value(UOp *factor, int rank, const int64_t *xdim, const ClusterEnv *env)
{
	ArrayView *v = env->get(factor, env->ctx), *w;

	if (!v)
		return cluster_run(factor, rank, xdim, NULL, env);
	w = value_view(v, &v->s);
	for (int i = 0; i < rank; i++) {
		if (v->s.rank && v->s.dim[i] != xdim[i])
			die(MALFORMED, "node %u %s: the shapes of its sources do not match",
				factor->id, op_name(factor->op));
		w->s.dim[i] = xdim[i];
		if (v->s.rank == 0 || xdim[i] == 1)
			w->s.stride[i] = 0;
	}
	return w;
}

/* Sets the axes; returns whether along some axis only one factor moves. */
static bool lay_axes(
	ContractAxis *axis, int rank, const ArrayView *a, const ArrayView *b, const ArrayView *out)
{
	bool reuse = false;

	for (int i = 0; i < rank; i++) {
		axis[i].a = a->s.stride[i];
		axis[i].b = b->s.stride[i];
		axis[i].out = out->s.stride[i];
		reuse |= !axis[i].sum && axis[i].n > 1 && !axis[i].a != !axis[i].b;
	}
	return reuse;
}

static ArrayView *contract(UOp *u, int rank, const int64_t *dim, const int64_t *xdim,
	const ArrayView *a, const ArrayView *b)
{
	ContractAxis axis[MAX_RANK] = {0};
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	int64_t left[MAX_RANK];
	ArrayView *out;

	for (int i = 0; i < rank; i++)
		axis[i].n = xdim[i];
	for (int i = 0; i < n; i++)
		axis[axes[i]].sum = true;
	for (int i = 0; i < rank; i++)          /* where no factor moves, the result is repeated */
		left[i] = !axis[i].sum && !a->s.stride[i] && !b->s.stride[i] && dim[i] > 1
			? 1 : dim[i];
	out = value_new(u->dtype, rank, left);
	for (int i = 0; i < rank; i++)
		if (!axis[i].sum)
			axis[i].n = left[i];
	if (!lay_axes(axis, rank, a, b, out)) {
		value_drop(out);
		return NULL;
	}
	interp_contract(u->dtype, rank, axis, a->s.at, b->s.at, value_data(out));
	strided_expand(&out->s, dim);
	return out;
}

ArrayView *product_run(UOp *u, int rank, const int64_t *dim, const int64_t *xdim,
	const ClusterEnv *env)
{
	UOp *x = u->src[0];
	ArrayView *a, *b, *out;

	if (op_find(u->arg->a[0]->s) != OP_ADD || !contractible(u->dtype))
		return NULL;
	if (x->op != OP_MUL || env->get(x, env->ctx))
		return NULL;
	if (!worth(x->src[0], rank, xdim, env) || !worth(x->src[1], rank, xdim, env))
		return NULL;
	a = factor_value(x->src[0], rank, xdim, env);
	b = factor_value(x->src[1], rank, xdim, env);
	out = contract(u, rank, dim, xdim, a, b);
	value_drop(a);
	value_drop(b);
	return out;
}
