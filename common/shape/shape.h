/* Shapes: what each node has, the checks that go with it, views.  Sections follow the files. */
#ifndef COMMON_SHAPE_SHAPE_H
#define COMMON_SHAPE_SHAPE_H
#include "index/index.h"

/* ---- shape.c: shapes, symbolic sizes, inference ---------------------------------------------------- */

/* A size or index is a node of dtype i64 made of CONST, VAR, RANGE, ADD, MUL, FLOORDIV, FLOORMOD (and, in
 * kernels, any i64 value as a leaf). Make them with the ix_ functions only (expr.c), which keep them normal:
 * then equal linear expressions are the same node. */
const Shape *shape_ints(int rank, const int64_t *dim);
/* shape from an arg (array of ints and size expressions); NULL and *err on failure */
const Shape *shape_from_val(const Val *v, const char **err, int *status);
const Val *shape_to_val(const Shape *s);
/* shape_new with the contract's limits checked: NULL and *err on failure */
const Shape *shape_checked(int rank, UOp *const *dim, const char **err, int *status);
/* Equality of two sizes. What the algebra cannot decide counts as equal and is noted as a check ["eq", a, b] (or
 * ["le", a, b]), which checks_remember keeps and run makes when the sizes are known. */
bool size_equal(UOp *a, UOp *b);
bool shape_equal(const Shape *a, const Shape *b);
void size_check(const char *how, UOp *a, UOp *b);
const Val *size_checks(void);                                /* all noted so far, or VNIL */
void size_checks_reset(void);
/* number of elements as a size */
UOp *shape_count(const Shape *s);
/* true and *n when all sizes are known numbers */
bool shape_static(const Shape *s, int64_t *n);
/* the same for the bytes of so many elements; false, too, when no int64 holds them */
bool shape_bytes(const Shape *s, DType d, int64_t *bytes);
/* a size is known to be 0, whatever the others are */
bool shape_empty(const Shape *s);
/* size i as a number: dies with UNSUPPORTED when symbolic */
int64_t shape_dim(const Shape *s, int i);
/* the most elements it can have, from the variables' bounds (saturates at 2^62) */
int64_t shape_max_count(const Shape *s);
/* "[3,n*2]" in the arena */
const char *shape_text(const Shape *s);
/* NumPy broadcasting of two shapes; NULL when they do not fit */
const Shape *shape_broadcast(const Shape *a, const Shape *b);

/* ---- infer.c */
/* the contract's rule for names of buffers and outputs: 1 to 255 bytes, no control characters, / or =, no leading . or - */
bool name_ok(const Val *v);
/* forms.c: NULL when the arg of op has a form that levels.def gives it at one of the levels (1 << Level
 * for each), else the reason. */
const char *arg_check(Op op, int levels, const Val *arg);
/* arg readers that infer.c has checked: axes of REDUCE/PERMUTE/FLIP, pairs of PAD/SHRINK */
int arg_axes(const Val *v, int *axes);                       /* count */
void arg_pairs(const Val *v, UOp *(*pair)[2]);               /* sizes as index nodes */

/* ---- calls.c: calls of kernels, their slots and buffers ------------------------------------------------ */

int64_t param_slot(const UOp *param);
/* The PARAM that stands for this buffer in that slot; the one that is param, in another slot. */
UOp *param_new(int64_t slot, const UOp *buffer);
UOp *param_moved(const UOp *param, int64_t slot);
/* A BUFFER without data. */
UOp *buffer_of(const char *name, const char *role, DType dt, const Shape *shape);
/* Is it a CALL of a KERNEL? Does a call give one buffer to two slots? */
bool call_has_kernel(const UOp *u);
bool call_aliases(const UOp *call);
/* The call with another kernel. */
UOp *call_with_kernel(UOp *call, UOp *kernel);
/* The call with another kernel and one buffer more, whose slot is call->nsrc - 1. */
UOp *call_with_buffer(const UOp *call, UOp *kernel, UOp *buffer);
uint64_t call_writes(const UOp *call);                       /* bit k: a STORE in the CALL's kernel writes slot k */
const char *kernel_name(const UOp *kernel);                  /* "kernel" when it has none */
const char *call_name(const UOp *call);                      /* its kernel's */
/* g with these calls instead of its own */
Graph *graph_with_calls(const Graph *g, size_t n, UOp *const *calls);

/* ---- custom.c: CUSTOM, a kernel of the user's own (its interface: render/README.md) ----------------------- */

extern const char custom_refusal[];      /* what is said without --allow-custom */
/* May a target, whose program is render-TARGET, or a processor be named so? */
bool name_plain(const char *s, size_t n);
/* What is wrong with a CUSTOM's arg, its shape apart; NULL when nothing is. */
const char *custom_check(const Val *arg, int *status);
const char *custom_name(const Val *arg); /* of its function: an identifier */
/* Names of the size variables that it takes after the buffers: those of `vars`, else those in `shape` as they come. */
const Val *custom_vars(const Val *arg);
bool custom_in(const Graph *g);

/* ---- views.c: chains of movement ops as views -------------------------------------------------------------------------- */

typedef struct { const Shape *shape; UOp **stride; UOp *offset; UOp *(*mask)[2]; } View;   /* mask NULL: none */
/* The source under u's movement ops, and the index expressions into it for ranges idx over u's shape. *gate gets the bool
 * node under which the element is not padding (NULL: always). */
UOp *views_index(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
/* One movement op of it: the index into u's source; *gate, NULL when there is none yet, gets PAD's conditions added. */
void views_step(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
void views_print(Buf *out, const Graph *g);                  /* show --views; view_stack.c */

/* ---- check_sizes.c, remember_inputs.c: what is kept in meta */

/* check_sizes.c: puts the size_checks() of a graph just read into meta.checks when it is not there; run makes them. */
void checks_remember(Graph *g);
/* remember_inputs.c: puts the names of the input BUFFERs, in the document's order, into meta.inputs when it is not there. */
void inputs_remember(Graph *g);
#endif
