/* What the files of derivatives share. */
#ifndef DERIVE_H
#define DERIVE_H
#include "derive/transform.h"

/* ---- rules.c: one op, by grad.rules ------------------------------------------------- */

/* Both modes of an op that is not a formula. back gets the cotangent g of u, of u's shape, and
 * makes to[i] for each source with want[i]: its part of that source's cotangent, of the source's
 * shape. along gets the tangents t of u's sources, of their shapes, NULL where there is none
 * (not all are), and gives u's. */
typedef struct {
	const char *name;
	void (*back)(UOp *u, UOp *g, const bool *want, UOp **to);
	UOp *(*along)(UOp *u, UOp *const *t);
} OpPair;
/* each ends with a row of zeros */
extern const OpPair derive_views[], derive_folds[], derive_places[];

/* A derivative by source i is there: it has floats, and the rule a part. */
bool op_follows(const UOp *u, uint32_t i);
/* The op works element by element, so a part for one element comes from g at that element alone. */
bool op_by_element(Op op);
/* back and along of any op; elementwise parts have u's shape, or are scalars. */
void op_back(UOp *u, UOp *g, const bool *want, UOp **to);
UOp *op_along(UOp *u, UOp *const *t);

/* ---- folds.c ------------------------------------------------------------------------ */

/* y[i] = a[i]·y[i-1] + b[i] along axis, y before the first being 0, in log2(n) steps of
 * elementwise ops. */
UOp *linear_recurrence(UOp *a, UOp *b, int axis);
/* x moved by n places along axis, fill for the first ones */
UOp *moved(UOp *x, int axis, int64_t n, double fill);
UOp *fold_all(Op op, UOp *x);                /* over all axes, to a scalar */

/* ---- slices.c: cotangents of slices, put together --------------------------------- */

/* The cotangent of a SHRINK with those bounds */
typedef struct { UOp *value; const Val *bounds; } Slice;
/* One in the shape of the whole, zeros around it; and all of n slices of it, added up. */
UOp *slice_padded(UOp *g, const Val *bounds, const Shape *whole);
UOp *slices_joined(const Slice *s, size_t n, const Shape *whole);

/* ---- again.c: values of the forward pass computed again ----------------------------- */

typedef struct Again Again;
/* The nodes of a sweep in segments, as many as said, or of a number of its own with 0; NULL when
 * one is all. */
Again *again_plan(Nodes all, const bool *follows, int segments);
/* What stands for node i where its cotangent is given on, g being that: NULL for the node
 * itself. */
UOp *again_node(Again *a, size_t i, UOp *g);
void again_end(Again *a);

/* ---- check.c ------------------------------------------------------------------------ */

typedef struct Picked Picked;
/* Instead of g's outputs, for each of wrt the derivative of a random sum over out along a random
 * direction, in f64: reverse_NAME, forward_NAME, and by differences of three sizes by_1e-3_NAME,
 * by_1e-5_NAME, by_1e-7_NAME. */
Graph *derive_check(Graph *g, const Picked *out, const Picked *wrt);

/* ---- pick_nodes.c: outputs and buffers by name --------------------------------------------- */

/* out0, out1, … where the document names none */
const char *output_name(const Graph *g, size_t i);
ptrdiff_t output_find(const Graph *g, const char *name);     /* -1 when there is none */
/* g with n more outputs. Dies with USAGE when a name is taken or not allowed. */
Graph *outputs_add(Graph *g, size_t n, const char *const *name, UOp *const *u);
typedef VEC(const char *) Names;
struct Picked { Names name; VEC(UOp *) node; };
/* The outputs that arguments name, or all of floats when there are none. Dies with USAGE: no
 * such one, not of floats. */
Picked pick_outputs(Graph *g, size_t n, const char *const *arg);
/* The only one picked, of one element. Dies with USAGE otherwise, where what ("a gradient is") is of
 * a scalar; instead: what more the message says. */
UOp *pick_scalar(const Picked *out, const char *what, const char *instead);
/* The buffers they name; with none the states of floats that out reads, or where it reads no
 * state the inputs. */
Picked pick_buffers(Graph *g, size_t n, const char *const *arg, const Picked *out);
/* The same with the inputs beside the states. */
Picked pick_leaves(Graph *g, size_t n, const char *const *arg, const Picked *out);
bool listed(const Val *names, const char *name);
/* g has a BUFFER of that name, or an input that nothing reads any more. */
bool buffer_taken(const Graph *g, const char *name);
/* A new input BUFFER of like's dtype and shape; g's meta gets its name as the last of the
 * inputs. */
UOp *input_add(Graph *g, const char *name, UOp *like);

/* ---- fix_sizes.c */

/* g where the variables that "NAME=N" names are numbers. Dies with USAGE: no such variable, not
 * within its limits. */
Graph *fix_sizes(Graph *g, size_t n, const char *const *set);
#endif
