/* What the files of derivatives share. */
#ifndef DERIVE_H
#define DERIVE_H
#include "transform.h"

/* ---- derive_rules.c: one op, by grad.rules ------------------------------------------------------ */

/* Both modes of an op that is not a formula. back gets the cotangent g of u, of u's shape, and makes to[i] for each source
 * with want[i]: its part of that source's cotangent, of the source's shape. along gets the tangents t of u's sources,
 * of their shapes, NULL where there is none (not all are), and gives u's. */
typedef struct {
	const char *name;
	void (*back)(UOp *u, UOp *g, const bool *want, UOp **to);
	UOp *(*along)(UOp *u, UOp *const *t);
} OpPair;
extern const OpPair derive_views[], derive_folds[], derive_places[];      /* each ends with a row of zeros */

/* A derivative by source i is there: it has floats, and the rule a part. */
bool op_follows(const UOp *u, uint32_t i);
/* The op works element by element, so a part for one element comes from g at that element alone. */
bool op_by_element(Op op);
/* back and along of any op; elementwise parts have u's shape, or are scalars. */
void op_back(UOp *u, UOp *g, const bool *want, UOp **to);
UOp *op_along(UOp *u, UOp *const *t);

/* ---- derive_folds.c ------------------------------------------------------------------------------------ */

/* y[i] = a[i]·y[i-1] + b[i] along axis, y before the first being 0, in log2(n) steps of elementwise ops. */
UOp *linear_recurrence(UOp *a, UOp *b, int axis);
/* the products of all before (after, with back) each element along axis, 1 for the first (last) */
UOp *products_beside(UOp *x, int axis, bool back);
/* x moved by n places along axis, fill for the first ones */
UOp *moved(UOp *x, int axis, int64_t n, double fill);
UOp *fold_all(Op op, UOp *x);                /* over all axes, to a scalar */
#endif
