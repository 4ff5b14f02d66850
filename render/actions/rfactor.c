/* ["rfactor", r]: a reduction over r and other ranges becomes one over r of one over the others,
 * for each r:
 *
 *     split 2 8; rfactor 2.1
 *     Σ k<K x[k]   →   Σ l<8 (Σ j<K/8 x[j*8 + l])
 *
 * So a part of it is a value with an axis of its own, which can be staged over r,
 * and is folded afterwards in the order of r. Folds of tuples have as many parts as components. */
#include "actions/actions.h"

typedef struct { const UOp *range; bool any; } Factored;

/* The same fold of what is left of its ranges, or over r alone. */
static UOp *fold_of(const UOp *u, UOp *value, const Factored *by, bool outer)
{
	UOp **src = arena_alloc(u->nsrc * sizeof *src);
	uint32_t n = 0;
	src[n++] = value;
	for (uint32_t i = 1; i < u->nsrc; i++)
		if ((u->src[i] == by->range) == outer)
			src[n++] = u->src[i];
	return node_new(OP_RREDUCE, u->dtype, n, src, u->arg);
}

/* A gate that is the same for all that the inner fold takes stands outside of it: where it does not
 * hold, both are the identity. */
static UOp *inner_fold(const UOp *u, const Factored *by)
{
	UOp *x = u->src[0], *inner = fold_of(u, x, by, false);
	uint64_t bound = 0;
	for (uint32_t i = 1; i < inner->nsrc; i++)
		bound |= range_mask(inner->src[i]);
	if (x->op != OP_WHERE || x->src[2] != fold_identity(u) || range_mask(x->src[0]) & bound)
		return inner;
	return NODE(OP_WHERE, u->dtype, VNIL, x->src[0], fold_of(u, x->src[1], by, false),
		x->src[2]);
}

/* What the outer fold is of: the inner one, of a tuple one for each component. */
static UOp *parts_of(UOp *u, const Factored *by)
{
	UOp *x = u->src[0];
	if (!folds_tuple(u))
		return inner_fold(u, by);
	UOp **src = arena_alloc(x->nsrc * sizeof *src);
	memcpy(src, x->src, x->nsrc * sizeof *src);
	for (uint32_t i = 0; i < tuple_size(x); i++)
		src[i] = fold_of(fold_component(u, i), x, by, false);
	return node_with(x, src);
}

static UOp *factored(UOp *u, void *ctx)
{
	Factored *by = ctx;
	bool has = false;
	if (u->op != OP_RREDUCE || u->nsrc < 3)
		return u;
	for (uint32_t i = 1; i < u->nsrc; i++)
		has |= u->src[i] == by->range;
	by->any |= has;
	return has ? fold_of(u, parts_of(u, by), by, true) : u;
}

static _Noreturn void refuse(const Rewriting *w, const Val *a, const char *why)
{
	die(MALFORMED, "node %u KERNEL: rfactor %s: %s", w->kernel->id, range_path(a->a[1]), why);
}

void rfactor_range(Rewriting *w, const Val *a)
{
	Factored by = {0};
	int axis = rewriting_axis(w, a->a[1]);
	Facts f;
	facts_find(&f, w->kernel, w->alias);
	for (int r = 0; r < f.nrange; r++)
		if (axis_of(&f, r) == axis) {
			if (by.range || f.out >> r & 1)
				refuse(w, a, "it is not of a reduction alone");
			by.range = f.range[r];
		}
	UOp *kernel = walk_replace(w->kernel, factored, &by);
	if (!by.any)
		refuse(w, a, "no reduction has it and other ranges");
	w->kernel = kernel;
}
