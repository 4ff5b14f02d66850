/* Derivatives of views. They are linear, so forward mode applies the view itself; in reverse mode
 *
 *     EXPAND [3,1] to [3,4]        sums the axis that grew
 *     PAD by 2 before, 1 after     cuts those off
 *     SHRINK to 2 … 5              pads by zeros
 *
 * and the other views are inverted. */
#include "primitives/primitives.h"
#include "derive/derive.h"

static UOp *same_view(UOp *u, UOp *const *t) { return NODE(u->op, u->dtype, u->arg, t[0]); }

static void reshape_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	to[0] = t_reshape(g, u->src[0]->shape);
}

/* An axis of size 1 has grown if its new size is anything else, even a variable that may be 1. */
static void expand_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	int axes[MAX_RANK], n = 0;
	UOp *one = ix_const(1);

	for (int i = 0; i < t_rank(u); i++)
		if (t_dim(u->src[0], i) == one && t_dim(u, i) != one)
			axes[n++] = i;
	to[0] = t_reduce(OP_ADD, g, n, axes, true);
}

static void permute_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	int axes[MAX_RANK], back[MAX_RANK];

	for (int i = 0, n = arg_axes(u->arg, axes); i < n; i++)
		back[axes[i]] = i;
	to[0] = t_permute(g, back);
}

static void pad_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	UOp *p[MAX_RANK][2];

	arg_pairs(u->arg, p);
	for (int i = 0; i < t_rank(u); i++)
		p[i][1] = ix_add(p[i][0], t_dim(u->src[0], i));
	to[0] = t_shrink(g, p);
}

static void shrink_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	to[0] = slice_padded(g, u->arg, u->src[0]->shape);
}

static void flip_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	to[0] = NODE(OP_FLIP, g->dtype, u->arg, g);
}

const OpPair derive_views[] = {
	{"reshape", reshape_back, same_view}, {"expand", expand_back, same_view},
	{"permute", permute_back, same_view}, {"pad", pad_back, same_view},
	{"shrink", shrink_back, same_view}, {"flip", flip_back, same_view}, {0},
};
