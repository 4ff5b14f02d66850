/* f16 and bf16 arithmetic is computed as f32.  A LOAD keeps its dtype and a CAST makes it f32; what is stored is CAST
 * back, and a CAST that stood in the kernel still rounds.
 *
 *     STORE(y, ADD(LOAD a, LOAD b))  f16  →  STORE(y, CAST f16 (ADD f32 (CAST f32 (LOAD a), CAST f32 (LOAD b))))
 */
#include "render.h"
#include <stdlib.h>

static bool narrow(DType d) { return d == DT_F16 || d == DT_BF16; }

/* By position in walk order: the node that stands for it, and for a narrow value the f32 node of its value. */
typedef struct { UOp *as, *wide; } Both;
static Map both;

static UOp *as_of(const UOp *u) { return ((Both *)map_get(&both, PKEY(u)))->as; }

static UOp *wide_of(const UOp *u)
{
	Both *b = map_get(&both, PKEY(u));
	if (!narrow(u->dtype))
		return b->as;
	if (!b->wide) {
		double v;
		b->wide = const_is_float(b->as, &v) ? const_num(DT_F32, v) : NODE(OP_CAST, DT_F32, VNIL, b->as);
	}
	return b->wide;
}

/* the value in its own dtype: rounded when it was computed wide */
static UOp *narrow_of(const UOp *u)
{
	Both *b = map_get(&both, PKEY(u));
	if (!b->as)
		b->as = NODE(OP_CAST, u->dtype, VNIL, b->wide);
	return b->as;
}

static bool keeps(const UOp *u)
{
	return u->op == OP_LOAD || u->op == OP_CONST || u->op == OP_INDEX || u->op == OP_PARAM || u->op == OP_RSORT ||
		u->op == OP_STORE || u->op == OP_CAST || u->op == OP_BITCAST;
}

static void put(const UOp *u, UOp *as, UOp *wide)
{
	Both *b = arena_alloc(sizeof *b);
	*b = (Both){as, wide};
	map_put(&both, PKEY(u), b);
}

/* Ranges and conditions of a fold or WHERE keep their dtype; wide_of leaves them as they are. */
static void convert(UOp *u)
{
	VEC(UOp *) src = {0};
	bool wide = !keeps(u) || u->op == OP_CAST;
	for (uint32_t i = 0; i < u->nsrc; i++)
		vec_push(&src, narrow(u->src[i]->dtype) && u->src[i]->op != OP_INDEX && u->src[i]->op != OP_PARAM ?
			wide ? wide_of(u->src[i]) : narrow_of(u->src[i]) : as_of(u->src[i]));
	if (narrow(u->dtype) && !keeps(u)) {
		UOp *w = node_new(u->op, DT_F32, src.n, src.at, u->arg);
		node_note(w, u->note);
		put(u, NULL, w);
	} else {
		put(u, u->nsrc ? node_with(u, src.at) : u, NULL);
	}
	vec_free(&src);
}

static UOp *kernel_dtypes(const Use *use)
{
	Nodes all = walk(use->kernel);
	bool any = false;
	for (size_t i = 0; i < all.n; i++)
		any |= narrow(all.at[i]->dtype);
	if (!any)
		return use->kernel;
	both = (Map){0};
	for (size_t i = 0; i < all.n; i++)
		convert(all.at[i]);
	UOp *k = as_of(use->kernel);
	map_free(&both);
	return k;
}

Graph *lower_dtypes(Graph *g) { return kernels_map(g, kernel_dtypes); }
