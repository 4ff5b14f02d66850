/* trace: shared by the operators of ai.onnx.ml. */
#ifndef ONNX_ML_H
#define ONNX_ML_H
#include "onnx/onnx.h"

/* ---- features.c: inputs and attributes */

/* input k as rows, [n,c] of the dtype; one row when it has rank 1 */
UOp *ml_rows(OnnxCall *c, int k, DType dt);
/* the rows with n columns, which run checks if their number is open */
UOp *ml_columns(OnnxCall *c, UOp *rows, int64_t n);
/* A list of numbers that the node must have, n of them unless n is 0; their count in *n. */
const double *ml_floats(OnnxCall *c, const char *name, size_t *n);
/* an attribute that is one of n names, or (TreeEnsemble) the number of one */
int ml_choice(OnnxCall *c, const char *name, int otherwise, int n, const char *const *names);
/* the numbers of a list as a tensor [rows,columns]; MALFORMED when the count is another */
UOp *ml_table(OnnxCall *c, const char *name, DType dt, int64_t rows, int64_t columns);

/* ---- scores.c: what the attribute post_transform does to scores */

/* [n,k], two columns or more; a single one keeps its value but for PROBIT */
UOp *ml_scores(OnnxCall *c, UOp *scores);
/* The score of the second of two classes, [n,1], as the scores of both, [n,2]; centred: 0 divides
 * the classes, not one half. */
UOp *ml_two_scores(OnnxCall *c, UOp *score, bool centred);
bool ml_plain(OnnxCall *c);                      /* it is NONE */

/* ---- labels.c: the labels of classes */

int64_t ml_label_count(OnnxCall *c);
/* Output 0 is the label of class number `at`, [n]. */
void ml_set_label(OnnxCall *c, UOp *at);
/* the number of the greatest score of each row, i64 [n] */
UOp *ml_best(UOp *scores);

/* ---- forest.c: trees as arrays of their nodes */

enum { FOREST_NONE = -1 };
/* A branch asks whether feature <= split, of a NaN `missing`, and goes to node yes or no; a leaf
 * has yes FOREST_NONE. */
typedef struct { int64_t feature, yes, no; double split; bool missing; } TreeNode;
typedef VEC(TreeNode) TreeNodes;
typedef struct { int64_t node, target; double weight; } TreeWeight;
typedef struct {
	DType dt;                       /* of features and splits: f32 or f64 */
	TreeNodes node;
	VEC(int64_t) root;
	VEC(TreeWeight) weight;         /* of leaves; several targets each */
	int64_t targets;
	enum { TREES_AVERAGE, TREES_SUM, TREES_MIN, TREES_MAX } how;
	UOp *base;                      /* added at the end: [targets], a scalar, or NULL */
} Forest;
/* Makes node k the branch `mode` (BRANCH_LEQ …, or BRANCH_MEMBER of n sorted values). Nodes are
 * added where one comparison is not enough. */
void forest_branch(OnnxCall *c, Forest *f, int64_t k, const char *mode, TreeNode node, size_t n,
	const double *value);
/* the rows' sums over the trees, [n,targets], in f->dt */
UOp *forest_sums(OnnxCall *c, Forest *f, UOp *rows);
#endif
