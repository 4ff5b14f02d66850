/* fuse: level schedule → schedule, with fewer kernels and less memory traffic.  Passes are in fuse.c.
 *
 * Between open_kernels and close_kernels a document has kernels in open form: the SINK's sources are KERNELs (and
 * MEMCPYs, and CALLs of CUSTOMs) whose INDEXes name BUFFERs directly, loops are RANGEs of axis 0, 1, … in order, and
 * a range that a fold binds has axis BOUND + its depth from the inside, so that equal folds are one node wherever they stand. */
#ifndef FUSE_H
#define FUSE_H
#include "uop.h"

enum { BOUND = 16,              /* axis of the innermost bound range in open form */
	KERNEL_NODES = 200,     /* a merged kernel has at most this many nodes */
	FOLD_NODES = 128,       /* one with folds, whose merging takes more looking */
	KERNEL_BUFFERS = 24 };  /* and this many buffers (GPU launches and registers set the limit) */

extern bool fuse_explain, fuse_strict;

/* ---- open_kernels.c: CALL(KERNEL with PARAMs, buffers) ↔ KERNEL over buffers */
Graph *open_kernels(Graph *g);
/* The other way: slots in order of first use, written buffers first; loops and bound ranges renumbered (a bound
 * range takes over a loop of its size that its value does not depend on); kernels named. */
Graph *close_kernels(Graph *g);
/* A kernel's bound ranges numbered by their depth (see above). */
UOp *number_bound(UOp *kernel);
/* The same value with its bound ranges moved up by shift. */
UOp *shift_bound(UOp *value, int shift);
/* A bound range of the size of a loop that its fold does not depend on becomes that loop: then the value that a fold
 * and the output share is one node. */
UOp *share_loops(UOp *kernel);

/* ---- kernels.c: what a pass asks of a kernel in open form */
/* Of what is no KERNEL, a MEMCPY or a CALL of a CUSTOM, which stay as they are: the buffer written, those read. */
UOp *step_written(const UOp *step);
UOp *const *step_reads(const UOp *step, uint32_t *n);
typedef struct { UOp *at[64]; int n; } Loops;
Loops kernel_loops(UOp *kernel);             /* free ranges, outermost first */
Loops loops_among(const Nodes *all, UOp *kernel);    /* the same, all being a walk of kernel */
UOp *store_buffer(const UOp *store);
Nodes kernel_loads(UOp *kernel);             /* its LOAD nodes */
/* One look at a kernel: its size, whether it has RREDUCE, RSCAN, RSORT, and its loads (until the next walk). */
typedef struct { size_t nodes; bool folds, scan, sort; Nodes loads; } Look;
Look kernel_look(UOp *kernel);
/* True when store writes the whole of its buffer, each element once, at its own loops in order, without a gate. */
bool store_is_plain(UOp *store);
/* True when it writes buffers of role prepared: it runs once, not at each call. */
bool is_prepared(const UOp *kernel);
bool has_op(UOp *root, Op op);
/* True when a fold in it reads nothing that moves with all of the ranges around and in it, but several things that move
 * with some, or is a product with such a factor: the reuse that a contraction has and a row reduction has not. */
bool has_contraction(UOp *root);
/* value with every LOAD in it gated by gate as well */
UOp *gate_loads(UOp *value, UOp *gate);

/* ---- one_to_one.c */
/* True when place, over the kernel's loops, takes no value twice. */
bool wants_once(UOp *place, UOp *kernel);

/* ---- cost.c */
/* Work of one run of a kernel: arithmetic and memory traffic in units of one add, each node counted as often as its
 * place in the loops makes it run. Symbolic sizes count as their bounds' geometric mean. */
double kernel_work(UOp *kernel);
double size_guess(UOp *size);
double count_guess(const Shape *s);
/* size of a buffer; HUGE_VAL when it is symbolic */
double buffer_bytes(const UOp *buffer);
/* how often a run of kernel loads from buffer */
double load_turns(UOp *kernel, UOp *buffer);
/* arithmetic of one element, loads left out; *loads gets their number */
double value_cost(UOp *value, int *loads);

/* ---- prepare_constants.c, merge_producer.c, merge_siblings.c, drop_stores.c, plan_memory.c: the passes */
Graph *prepare_constants(Graph *g);
Graph *merge_producers(Graph *g);
Graph *merge_siblings(Graph *g);
Graph *drop_stores(Graph *g);
Graph *plan_memory(Graph *g);

/* ---- explain.c */
/* One line on standard error when --explain is given. */
void explain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Name of the kernel for such a line: that of what it writes. */
const char *kernel_label(UOp *kernel);
Graph *explain_result(Graph *g);
#endif
