/* f16 and bf16 arithmetic is computed as f32 and rounded after each op, so that fused and unfused
 * kernels agree and an overflow of f16 remains one. A LOAD keeps its dtype and a CAST makes it f32.
 *
 *     STORE(y, ADD(LOAD a, LOAD b))
 *     STORE(y, CAST f16 (ADD f32 (CAST f32 (LOAD a), CAST f32 (LOAD b))))
 *
 * A product that is only summed stays in f32: rounding it would cost more than the contraction. */
#include "lower/lower.h"
#include <stdlib.h>

static bool narrow(DType d) { return d == DT_F16 || d == DT_BF16; }

/* By position in walk order: the node that replaces it, and for a narrow value the f32 node of its
 * value. */
typedef struct { UOp *as, *wide, *exact; } Both;     /* exact: before rounding */
static ARENA Map both;

static UOp *as_of(const UOp *u) { return ((Both *)map_get(&both, PKEY(u)))->as; }

static UOp *wide_of(const UOp *u)
{
	Both *b = map_get(&both, PKEY(u));
	if (!narrow(u->dtype))
		return b->as;
	if (!b->wide) {
		double v;
		b->wide = const_is_float(b->as, &v) ? const_num(DT_F32, v) :
						      NODE(OP_CAST, DT_F32, VNIL, b->as);
	}
	return b->wide;
}

/* the value in its own dtype: rounded if it was computed wide */
static UOp *narrow_of(const UOp *u)
{
	Both *b = map_get(&both, PKEY(u));
	if (!b->as)
		b->as = NODE(OP_CAST, u->dtype, VNIL, b->wide);
	return b->as;
}

static bool keeps(const UOp *u)
{
	return u->op == OP_LOAD || u->op == OP_CONST || u->op == OP_INDEX || u->op == OP_PARAM ||
		u->op == OP_RSORT || u->op == OP_STORE || u->op == OP_CAST || u->op == OP_BITCAST;
}

static void put(const UOp *u, UOp *as, UOp *wide)
{
	Both *b = arena_alloc(sizeof *b);
	*b = (Both){as, wide, wide};
	map_put(&both, PKEY(u), b);
}

/* ops whose f32 result is exact in the narrow dtype when their operands are */
static bool exact(const UOp *u)
{
	return u->op == OP_NEG || u->op == OP_MAX || u->op == OP_MIN || u->op == OP_WHERE ||
		u->op == OP_TRUNC || u->op == OP_RREDUCE || u->op == OP_RSCAN;
}

static void put_wide(const UOp *u, UOp *w)
{
	if (exact(u)) {
		put(u, NULL, w);
		return;
	}
	UOp *rounded = NODE(OP_CAST, u->dtype, VNIL, w);
	put(u, rounded, NODE(OP_CAST, DT_F32, VNIL, rounded));
	((Both *)map_get(&both, PKEY(u)))->exact = w;
}

/* RREDUCE ADD over CAST f32 (MUL f16): the product before rounding */
static UOp *summed_product(const UOp *u)
{
	const UOp *cast = u->src[0], *mul = cast->nsrc ? cast->src[0] : cast;
	if (u->op != OP_RREDUCE || !val_is_str(u->arg, "ADD") || cast->op != OP_CAST ||
		u->dtype != DT_F32 || mul->op != OP_MUL || !narrow(mul->dtype))
		return NULL;
	return ((Both *)map_get(&both, PKEY(mul)))->exact;
}

/* The ranges and conditions of a reduction or WHERE keep their dtype; wide_of leaves them as they
 * are. */
static void convert(UOp *u)
{
	VEC(UOp *) src = {0};
	bool wide = !keeps(u) || u->op == OP_CAST;
	for (uint32_t i = 0; i < u->nsrc; i++)
		vec_push(&src,
			narrow(u->src[i]->dtype) && u->src[i]->op != OP_INDEX &&
					u->src[i]->op != OP_PARAM ?
				wide ? wide_of(u->src[i]) : narrow_of(u->src[i]) :
				as_of(u->src[i]));
	if (narrow(u->dtype) && !keeps(u)) {
		UOp *w = node_new(u->op, DT_F32, src.n, src.at, u->arg);
		node_note(w, u->note);
		put_wide(u, w);
	} else {
		UOp *product = u->nsrc ? summed_product(u) : NULL;
		if (product)
			src.at[0] = product;
		bool same = u->op == OP_CAST && src.at[0]->dtype == u->dtype;
		put(u, same ? src.at[0] : u->nsrc ? node_with(u, src.at) : u, NULL);
	}
	vec_free(&src);
}

static UOp *kernel_dtypes(const KernelUse *use)
{
	Nodes all = walk(use->kernel);
	bool any = false;
	for (size_t i = 0; i < all.n; i++)
		any |= narrow(all.at[i]->dtype);
	if (!any)
		return use->kernel;
	for (size_t i = 0; i < all.n; i++)
		convert(all.at[i]);
	UOp *k = as_of(use->kernel);
	map_free(&both);
	return k;
}

Graph *lower_dtypes(Graph *g) { return kernels_map(g, kernel_dtypes); }
