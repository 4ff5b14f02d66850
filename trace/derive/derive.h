/* Shared by the files of derivatives. */
#ifndef DERIVE_H
#define DERIVE_H
#include "derive/transform.h"

/* ---- rules.c: one op, by grad.rules ------------------------------------------------- */

/* Both modes of an op that has no formula. back gets the cotangent g of u, of u's shape, and sets
 * to[i] for each source with want[i] to its part of that source's cotangent, of the source's shape.
 * along gets the tangents t of u's sources, of their shapes, NULL for a source without one (at
 * least one has one), and returns u's. */
typedef struct {
	const char *name;
	void (*back)(UOp *u, UOp *g, const bool *want, UOp **to);
	UOp *(*along)(UOp *u, UOp *const *t);
} OpPair;
/* each is terminated by a row of zeros */
extern const OpPair derive_views[], derive_folds[], derive_places[];

/* There is a derivative by source i: it is a float tensor, and the rule has a part for it. */
bool op_follows(const UOp *u, uint32_t i);
/* The op is elementwise, so a part for one element depends on g at that element alone. */
bool op_by_element(Op op);
/* back and along for any op; elementwise parts have u's shape, or are scalars. */
void op_back(UOp *u, UOp *g, const bool *want, UOp **to);
UOp *op_along(UOp *u, UOp *const *t);

/* ---- folds.c ------------------------------------------------------------------------ */

/* y[i] = a[i]·y[i-1] + b[i] along axis, with y 0 before the first, in log2(n) steps of elementwise
 * ops. */
UOp *linear_recurrence(UOp *a, UOp *b, int axis);
/* x shifted by n places along axis, with fill in the first places */
UOp *moved(UOp *x, int axis, int64_t n, double fill);
UOp *fold_all(Op op, UOp *x);                /* over all axes, to a scalar */

/* ---- slices.c: joining the cotangents of slices ---------------------------------------------- */

/* The cotangent of a SHRINK with these bounds. */
typedef struct { UOp *value; const Val *bounds; } Slice;
/* One slice in the shape of the whole, padded with zeros; and the sum of n such slices. */
UOp *slice_padded(UOp *g, const Val *bounds, const Shape *whole);
UOp *slices_joined(const Slice *s, size_t n, const Shape *whole);

/* ---- copy_steps.c: what runs in a loop or branch, and copies of it --------------------------- */

/* Those of `all`, in its order, that these nodes need; given: nodes (PKEY) whose sources are not
 * looked at, or NULL. */
Nodes nodes_within(Nodes all, size_t n, UOp *const *root, const Map *given);
/* nodes: sources, and BINDs that a node mentions, before users. in: the same by PKEY; of a loop
 * also its own TURN and CARRYs. */
typedef struct { NodeList nodes; Map in; } Body;
/* What runs in each turn of a loop; `all` has what needs it, and the BINDs, in walk's order. */
Body loop_body(Nodes all, UOp *loop);
/* What only the branch of true (`other`: of false) needs among what these nodes need. given: nodes
 * (PKEY) that are outside of it, or NULL. */
Body branch_body(Nodes all, const Map *given, size_t n, UOp *const *root, UOp *branch, bool other);
void body_free(Body *b);
/* Which nodes outside, the roots too, the body's nodes or the roots read. The caller frees it. */
NodeList body_reads(const Body *b, size_t n, UOp *const *root);
/* Copies what the roots need of a body: adds to `to` (PKEY(node) → its copy), which has beforehand
 * what the copies read for nodes outside, where that is not the node itself. */
void body_copy(const Body *b, size_t n, UOp *const *root, Map *to);
/* Copies what the roots need of `all`, into `to` in the same way; make, unless it is NULL, makes a
 * node's copy of its copied sources and its arg, in which loops and bound sizes have new names. */
typedef UOp *NodeMade(UOp *u, UOp *const *src, const Val *arg);
void nodes_copy(Nodes all, size_t n, UOp *const *root, Map *to, NodeMade *make);
/* What these nodes need, sources first, and all BINDs. */
Nodes nodes_with_binds(size_t n, UOp *const *root);
/* root as it is when `from` is `to`: only what depends on it is copied, loops and branches too.
 * What is behind a DETACH stays, but in loops that are copied. */
UOp *node_moved(UOp *root, UOp *from, UOp *to);
/* The LOOP with a body of its own. */
UOp *loop_copy(UOp *loop);
/* A CARRY more of the loop that `carry` is of. */
UOp *state_add(const UOp *carry, UOp *init, const Shape *shape);
/* The LOOP with these states and values in place of its own, or behind them; its id stays
 * (join_loops). */
typedef struct { NodeList carry, state, value; } LoopMore;
UOp *loop_version(UOp *loop, const LoopMore *of);
UOp *loop_with(UOp *loop, const LoopMore *more);
/* Which value a PICK takes; the PICK of another, of the same dtype, with the shape that it says. */
int64_t pick_place(const UOp *pick);
UOp *pick_like(const UOp *pick, UOp *of, int64_t k);

/* ---- join_loops.c: the last pass of a tool that derives */

/* Makes one LOOP of all those of one id, which derivatives by saved states leave behind: it has all
 * states and values that are needed. */
Graph *join_loops(Graph *g);

/* ---- again.c: recomputing values of the forward pass ----------------------------------------- */

typedef struct Again Again;
/* Cuts the nodes of a sweep into this many segments (0: a number of its own choice); NULL when
 * there is just one. */
Again *again_plan(Nodes all, const bool *follows, int segments);
/* The replacement of node i when its cotangent g is passed on; NULL for the node itself. */
UOp *again_node(Again *a, size_t i, UOp *g);
void again_end(Again *a);

/* ---- check.c ------------------------------------------------------------------------ */

typedef struct Picked Picked;
/* A graph whose outputs are, for each buffer in wrt, the derivative of a random weighted sum of out
 * along a random direction, in f64: reverse_NAME, forward_NAME, and by finite differences of three
 * step sizes by_1e-3_NAME, by_1e-5_NAME, by_1e-7_NAME. */
Graph *derive_check(Graph *g, const Picked *out, const Picked *wrt);

/* ---- pick_nodes.c: outputs and buffers by name --------------------------------------------- */

/* out0, out1, … when the document names none */
const char *output_name(const Graph *g, size_t i);
ptrdiff_t output_find(const Graph *g, const char *name);     /* -1 when there is none */
/* g with n more outputs. Dies with USAGE when a name is taken or not allowed. */
Graph *outputs_add(Graph *g, size_t n, const char *const *name, UOp *const *u);
typedef VEC(const char *) Names;
struct Picked { Names name; VEC(UOp *) node; };
/* The outputs that the arguments name, or all float outputs when there are none. Dies with USAGE
 * when there is no such output, or it is not a float tensor. */
Picked pick_outputs(Graph *g, size_t n, const char *const *arg);
/* The only picked output, which must have one element. Otherwise dies with USAGE: the message says
 * that what ("a gradient is") needs a scalar, and suggests `instead`. */
UOp *pick_scalar(const Picked *out, const char *what, const char *instead);
/* The buffers that the arguments name; without arguments the float states that out reads, or, if it
 * reads none, the inputs. */
Picked pick_buffers(Graph *g, size_t n, const char *const *arg, const Picked *out);
/* The same, but the default includes the inputs beside the states. */
Picked pick_leaves(Graph *g, size_t n, const char *const *arg, const Picked *out);
bool listed(const Val *names, const char *name);
/* g has a BUFFER of that name, or an input that is no longer read. */
bool buffer_taken(const Graph *g, const char *name);
/* A new input BUFFER of like's dtype and shape; its name is appended to the inputs in g's meta. */
UOp *input_add(Graph *g, const char *name, UOp *like);

/* ---- fix_sizes.c */

/* g with the variables replaced that "NAME=N" gives a number. Dies with USAGE for an unknown
 * variable, or a number outside its limits. */
Graph *fix_sizes(Graph *g, size_t n, const char *const *set);
/* u's arg with these size variables replaced. */
const Val *sizes_replaced(const UOp *u, size_t n, UOp *const *from, UOp *const *to);
#endif
