/* Shapes and their inference, calls, custom kernels, views. Sections follow the files. */
#ifndef COMMON_SHAPE_SHAPE_H
#define COMMON_SHAPE_SHAPE_H
#include "index/index.h"

/* ---- shape.c: shapes, symbolic sizes, inference */

/* A size or index is a node of dtype i64 made of CONST, VAR, RANGE, ADD, MUL, FLOORDIV, FLOORMOD
 * (and, in kernels, any i64 value as a leaf). Make them with the ix_ functions only (expr.c), which
 * keep them normal: then equal linear expressions are the same node. */
const Shape *shape_ints(int rank, const int64_t *dim);
/* The shape in an arg (an array of ints and size expressions); on failure NULL, and *err is set. */
const Shape *shape_from_val(const Val *v, const char **err, int *status);
const Val *shape_to_val(const Shape *s);
/* shape_new that checks the contract's limits; on failure NULL, and *err is set. */
const Shape *shape_checked(int rank, UOp *const *dim, const char **err, int *status);
/* Whether two sizes are equal (or a at most b). If the algebra cannot decide it, or this check has
 * been recorded, the answer is true and a check ["eq", a, b] (or ["le", a, b]) is recorded, which
 * checks_remember keeps and run evaluates when the sizes are known. */
bool size_equal(UOp *a, UOp *b);
/* From here on also sizes that differ as expressions count as equal, with a check, if they may be
 * equal for some values: a branch in a document need not fit every size. */
void sizes_defer(void);
bool shape_equal(const Shape *a, const Shape *b);
void size_check(const char *how, UOp *a, UOp *b);
/* all checks recorded so far, or VNIL */
const Val *size_checks(void);
/* How many there are; and without those from … to-1, which a part made that is not needed. */
size_t size_checks_made(void);
void size_checks_drop(size_t from, size_t to);
/* only those rows [how, size, size] that are wanted */
void size_checks_keep(bool (*wanted)(const Val *row, void *ctx), void *ctx);
void size_checks_reset(void);
/* The number of elements as a size. */
UOp *shape_count(const Shape *s);
/* True, and *n is the number of elements, when all sizes are numbers. */
bool shape_static(const Shape *s, int64_t *n);
/* The same in bytes; also false when they do not fit int64. */
bool shape_bytes(const Shape *s, DType d, int64_t *bytes);
/* Whether some size is known to be 0. */
bool shape_empty(const Shape *s);
/* Size i as a number; dies with UNSUPPORTED when it is symbolic. What is cut to at most a number
 * (min(n, 5)) counts as that number, which is recorded for checking. */
int64_t shape_dim(const Shape *s, int i);
/* What a reader adds to the refusal of a size that is no number: until arena_reset. */
void shape_advise(const char *(*fn)(UOp *size));
/* The largest number of elements, from the variables' bounds (saturates at 2^62). */
int64_t shape_max_count(const Shape *s);
/* "[3,n*2]", in the arena. */
const char *shape_text(const Shape *s);
/* Broadcasts two shapes as NumPy does; NULL when they do not match. */
const Shape *shape_broadcast(const Shape *a, const Shape *b);

/* ---- infer.c */
/* the contract's rule for names of buffers and outputs: 1 to 255 bytes, no control characters, / or
 * =, no leading . or - */
bool name_ok(const Val *v);
/* forms.c: NULL if the arg of op has a form that levels.def allows at one of the levels (a mask of
 * 1 << Level), else an error. */
const char *arg_check(Op op, int levels, const Val *arg);
/* The same as JSON Schema, for one level (1 << Level). */
void arg_schema(Buf *out, Op op, int levels);
/* Readers for args that infer.c has checked: axes of REDUCE/PERMUTE/FLIP, pairs of PAD/SHRINK. */
int arg_axes(const Val *v, int *axes);                       /* count */
void arg_pairs(const Val *v, UOp *(*pair)[2]);               /* sizes as index nodes */

/* ---- infer_flow.c: steps whose sizes and branches are data */

/* Whether two sizes, or shapes, may be equal: false only where the bounds rule it out. */
bool size_may_equal(UOp *a, UOp *b);
bool shape_may_equal(const Shape *a, const Shape *b);
/* The parts of a LOOP; limit, start and next are NULL where it has none. carry: the CARRYs of its
 * states, in order, behind what the contract lists; NULL in documents that are read raw. */
typedef struct {
	int64_t id, states, values;
	UOp *limit, *start, *next;
	UOp *const *state, *const *value, *const *carry;
} LoopParts;
LoopParts loop_parts(const UOp *loop);
/* How many turns a loop has, if the contract lets that be known: a size, else NULL. */
UOp *loop_turns_known(const LoopParts *p);

/* ---- calls.c: calls of kernels, their slots and buffers */

int64_t param_slot(const UOp *param);
/* The PARAM for this buffer in that slot; the same PARAM in another slot. */
UOp *param_new(int64_t slot, const UOp *buffer);
UOp *param_moved(const UOp *param, int64_t slot);
/* A BUFFER without data. */
UOp *buffer_of(const char *name, const char *role, DType dt, const Shape *shape);
/* Whether u is a CALL of a KERNEL; whether a call passes one buffer in two slots. */
bool call_has_kernel(const UOp *u);
bool call_aliases(const UOp *call);
/* The call with another kernel. */
UOp *call_with_kernel(UOp *call, UOp *kernel);
/* The call with another kernel and one more buffer, in slot call->nsrc - 1. */
UOp *call_with_buffer(const UOp *call, UOp *kernel, UOp *buffer);
/* bit k: a STORE in the CALL's kernel writes slot k */
uint64_t call_writes(const UOp *call);
/* The first slot of a CALL in which the buffer is; -1: in none. */
int call_slot(const UOp *call, const UOp *buffer);
/* Whether an entry of the list has the buffer, and whether it may write it: what is no CALL may
 * write all that it has. */
bool call_touches(const UOp *call, const UOp *buffer);
bool call_stores(const UOp *call, const UOp *buffer);
/* as well as the slot in which an RSORT keeps its scratch, whose content before does not matter */
uint64_t call_fills(const UOp *call);
const char *kernel_name(const UOp *kernel);                  /* "kernel" when it has none */
const char *call_name(const UOp *call);                      /* its kernel's name */
/* g with its calls replaced. */
Graph *graph_with_calls(const Graph *g, size_t n, UOp *const *calls);

/* ---- custom.c: CUSTOM, a user-written kernel (its interface is in render/README.md) */

extern const char custom_refusal[];      /* the message without --allow-custom */
/* Whether a name is allowed for a target (whose program is render-TARGET) or a processor. */
bool name_plain(const char *s, size_t n);
/* Checks a CUSTOM's arg except its shape; returns an error or NULL. */
const char *custom_check(const Val *arg, int *status);
const char *custom_name(const Val *arg); /* its function's name, an identifier */
/* The names of the size variables that it takes after the buffers: those in `vars`, else those in
 * `shape`, in order. */
const Val *custom_vars(const Val *arg);
bool custom_in(const Graph *g);

/* ---- views.c: chains of movement ops as views */

/* mask NULL: none */
typedef struct { const Shape *shape; UOp **stride; UOp *offset; UOp *(*mask)[2]; } View;
/* Follows u's movement ops to their source and sets `at` to the index expressions into it for
 * ranges idx over u's shape. *gate gets a bool node that is true where the element is not padding
 * (NULL: everywhere). */
UOp *views_index(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
/* The same for one movement op u; PAD adds its conditions to *gate, which is NULL while there are
 * none. */
void views_step(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
void views_print(Buf *out, const Graph *g);                  /* show --views; view_stack.c */

/* ---- check_sizes.c, remember_inputs.c: data kept in meta */

/* check_sizes.c: puts the size_checks() of a graph just read into meta.checks, unless it has them;
 * run evaluates them. */
void checks_remember(Graph *g);
/* Whether sizes meet meta.checks, as far as these have values then. */
bool checks_hold(const Graph *g, const VarEnv *sizes);
/* Raises the least values of size variables at which a check that speaks of one variable alone
 * fails; whether there were some. Sizes made before still go by the old ones. */
bool checks_raise(Graph *g);
/* Whether a check, a row of meta.checks, holds for all sizes. */
bool check_holds(const Val *row);
/* Values of g's size variables, the number `round` of several choices; false when none of some
 * meets meta.checks. */
bool sizes_draw(const Graph *g, int round, VarEnv *sizes);
/* remember_inputs.c: puts the names of the input BUFFERs, in the document's order, into
 * meta.inputs, unless it has them. */
void inputs_remember(Graph *g);
#endif
