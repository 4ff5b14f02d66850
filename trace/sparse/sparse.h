/* Sparse and dense derivatives as outputs: what jac and hess share.  Sections follow the files. */
#ifndef SPARSE_H
#define SPARSE_H
#include "derive/derive.h"
#include "sparse/pattern.h"

/* ---- jacobian.c: derivatives as new outputs, for jac and hess -------------------------------- */

/* The options of both tools. */
typedef struct {
	Names of, wrt, sizes;
	bool sparse, pattern, only;
	const char *mode;
} JacobianOptions;
extern JacobianOptions jacobian_opt;
#define JACOBIAN_OPTIONS \
	{0, "sparse", NULL, "only the values that can be nonzero, by columns (CSC)", \
		&jacobian_opt.sparse}, \
	{0, "pattern", NULL, "with --sparse: also output NAME_indptr and NAME_indices", \
		&jacobian_opt.pattern}, \
	{0, "mode", "MODE", "forward (columns) or reverse (rows); default: fewer products", \
		&jacobian_opt.mode}, \
	{0, "only", NULL, "drop the original outputs", &jacobian_opt.only}, \
	{0, "set", "SIZE=N", "replace a size variable by N", &jacobian_opt.sizes, .many = true}

/* The new outputs, and their entries for meta.sparse. */
typedef struct { Graph *g; Names name; VEC(UOp *) node; const Val *sparse; } Derived;

/* Checks the options and replaces the sizes that --set names. */
Graph *jacobian_begin(Graph *g);
/* Adds the derivative of y with respect to x, in y's dtype, as output name; symmetric: y is the
 * gradient of something with respect to the same x, so this is a Hessian. */
void jacobian_add(Derived *d, const char *name, UOp *y, UOp *x, bool symmetric);
Graph *jacobian_end(Derived *d);

#endif
