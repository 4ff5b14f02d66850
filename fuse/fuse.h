/* fuse: level schedule → schedule, with fewer kernels and less memory traffic. Passes are in
 * fuse.c.
 *
 * Between open_kernels and close_kernels a document's kernels are in open form: each buffer of a
 * call has one slot, in the order in which one reads the kernel, written ones first; loops are
 * RANGEs of axis 0, 1, … in order, and a range that a fold binds has axis BOUND + its depth from
 * the inside, so that equal folds are one node wherever they stand. A step is a CALL of such a
 * kernel, or what stays as it is: a MEMCPY, a CALL of a CUSTOM. */
#ifndef FUSE_H
#define FUSE_H
#include "graph/graph.h"

enum { BOUND = 16,              /* axis of the innermost bound range in open form */
	KERNEL_NODES = 200,     /* a merged kernel has at most this many nodes */
	FOLD_NODES = 128,       /* one with folds, whose merging takes more looking */
	KERNEL_BUFFERS = 24 };  /* and this many buffers, for the sake of GPUs */

typedef struct { bool explain, strict; } FuseOptions;
extern FuseOptions fuse_opt;

typedef VEC(UOp *) NodeList;

/* ---- open_kernels.c: to open form and back */
Graph *open_kernels(Graph *g);
/* Loops and bound ranges renumbered (a bound range takes over a loop of its size that its value
 * does not depend on); slots in reading order again. */
Graph *close_kernels(Graph *g);

/* ---- number_bound.c */
/* A kernel's bound ranges numbered by their depth (see above). */
UOp *number_bound(UOp *kernel);
/* The same value with its bound ranges moved up by shift. */
UOp *shift_bound(UOp *value, int shift);
/* ---- share_loops.c */
/* A bound range of the size of a loop that its fold does not depend on becomes that loop: then the
 * value that a fold and the output share is one node. */
UOp *share_loops(UOp *kernel);

/* ---- seat_buffers.c: buffers and slots */
/* A kernel whose slots are in order; slot k was slot from[k] before. */
typedef struct { UOp *kernel; uint32_t n, *from; } Seated;
/* kernel's slot s stands for buffer[s]; a buffer may stand in several. */
Seated seat_buffers(UOp *kernel, UOp *const *buffer);
/* The call of it, buffer being that of the slots before. */
UOp *seated_call(const Seated *s, UOp *const *buffer);

/* ---- know_kernels.c: what is known of a step, found once for all calls of a kernel */
typedef struct {
	UOp *kernel;                    /* NULL for what stays as it is */
	uint32_t slots, nread, nmoved, nwritten;
	uint32_t *read, *written;               /* slots */
	uint32_t *moved;                        /* those read at places that move with the loops */
	size_t nodes;
	bool folds, scan, sort, sized;  /* has RREDUCE, RSCAN, RSORT, VAR */
	uint64_t loops;                 /* equal for kernels over the same loops */
	bool barrier;                   /* stays: a sort, a scatter, a copy that was asked for */
	/* found when asked for, by the functions below */
	char contracts;
	int64_t row;
	int loads;
	double work, ops, *turns;
} StepFacts;
StepFacts *step_facts(UOp *step);
double step_work(StepFacts *f);                 /* kernel_work */
double step_ops(StepFacts *f, int *loads);      /* value_cost of its first STORE's value */
double step_turns(StepFacts *f, uint32_t slot); /* how often a run of it loads from a slot */
bool step_contracts(StepFacts *f, int64_t *row); /* has_contraction */
UOp *step_buffer(const UOp *step, uint32_t slot);

/* ---- buffer_uses.c: the steps that write and read each buffer, as they came, the last first */
typedef struct Access Access;
struct Access { int step; Access *next; };
typedef struct {
	const UOp *buffer;
	bool temp;                      /* or prepared: fuse may do away with it */
	Access *writers, *readers;
	size_t left;                    /* of the readers: the pass's own */
} BufferUse;
typedef struct { TABLE(BufferUse *) of; } BufferUses;   /* by the buffer's id */
BufferUse *use_of(BufferUses *u, const UOp *buffer);
void uses_add(BufferUses *u, const UOp *call, const StepFacts *f, int step);
bool access_from(const Access *t, int a, int b);        /* some step from a on, before b */
void uses_free(BufferUses *u);

/* ---- judge_pairs.c: what came of a pair of kernels, kept for pairs that are alike but for their
 * buffers */
/* Two calls over one set of buffers: the first's, in its slots, then those that the second has
 * alone. Until the next. */
typedef struct {
	UOp *first, *second;            /* kernels */
	UOp **buffer;
	uint32_t buffers, first_slots;
	uint32_t *slot, slots;          /* where the second's are among buffer, and how many */
} Pair;
Pair pair_of(UOp *first, UOp *second);
UOp *pair_second(const Pair *p);                /* the second kernel over the pair's slots */
typedef struct Verdict Verdict;
struct Verdict {
	bool known;                     /* false: to be filled in now */
	Seated merged;                  /* from the pair's slots; no kernel: they stay apart */
	const char *why;
	double with, without;           /* costs, when they decided */
	double work;                    /* of the merged kernel, when it was looked at */
	UOp *first, *second;
	uint64_t how;
	Verdict *next;
	uint32_t slot[];
};
typedef Map Verdicts;
/* how: what else it depends on, a number of the pass's own */
Verdict *verdict_of(Verdicts *all, const Pair *p, uint64_t how);

/* ---- kernels.c: what a pass asks of a kernel in open form */
typedef struct { UOp *at[64]; int n; } Loops;
Loops kernel_loops(UOp *kernel);             /* free ranges, outermost first */
Loops loops_among(const Nodes *all, UOp *kernel);    /* the same, all being a walk of kernel */
UOp *store_buffer(const UOp *store);         /* its PARAM */
Nodes kernel_loads(UOp *kernel);             /* its LOAD nodes */
/* True when store writes the whole of its buffer, each element once, at its own loops in order,
 * without a gate. */
bool store_is_plain(UOp *store);
bool has_op(UOp *root, Op op);
/* value with every LOAD in it gated by gate as well */
UOp *gate_loads(UOp *value, UOp *gate);

/* ---- has_contraction.c */
/* Whether there is a contraction in a kernel for which it is kept. *row gets the slot of the buffer
 * whose rows it takes an element a turn from, as a product with a vector does; -1 when there is no
 * such buffer, and each operand is used again. */
bool has_contraction(UOp *kernel, int64_t *row);

/* ---- one_to_one.c */
/* True when place, over the kernel's loops, takes no value twice. */
bool wants_once(UOp *place, UOp *kernel);

/* ---- put_in_place.c */
Nodes sites_of(UOp *kernel, UOp *param);     /* LOADs from a slot */
/* kernel, the pair's first, with its loads of slot at replaced by what the second, which writes
 * that buffer, stores: one plain STORE. Slots are from the pair's. No kernel when replacing comes
 * to no end or folds nest too deep. */
Seated put_in_place(const Pair *p, UOp *kernel, uint32_t at, bool folds);
/* A running fold keeps its loops in order: kernel with its loops become those of store, one for
 * one, so that param is read where store writes it; NULL when they differ. */
UOp *loops_of_store(UOp *kernel, UOp *store, UOp *param);

/* ---- cost.c */
/* Work of one run of a kernel: arithmetic and memory traffic in units of one add, each node counted
 * as often as its place in the loops makes it run. Symbolic sizes count as their bounds' geometric
 * mean. */
double kernel_work(UOp *kernel);
double size_guess(UOp *size);
double count_guess(const Shape *s);
/* size of a buffer; HUGE_VAL when it is symbolic */
double buffer_bytes(const UOp *buffer);
/* turns of the loops up to that of an axis, and for a mask of loops up to the innermost one in it */
typedef struct { double upto[64]; } LoopTurns;
LoopTurns turns_of(const Loops *l);
double turns_for(const LoopTurns *t, uint64_t mask);
/* adds to turns, by slot, how often a run of kernel loads from it */
void load_turns(UOp *kernel, double *turns);
/* arithmetic of one element, loads left out; *loads gets their number */
double value_cost(UOp *value, int *loads);

/* ---- prepare_constants.c, merge_producer.c, fold_scales.c, merge_siblings.c, drop_stores.c: the
 * passes */
Graph *prepare_constants(Graph *g);
Graph *merge_producers(Graph *g);
Graph *fold_scales(Graph *g);
Graph *merge_siblings(Graph *g);
Graph *merge_into_joined(Graph *g);
Graph *drop_stores(Graph *g);
Graph *order_calls(Graph *g);

/* ---- explain.c */
/* One line on standard error when --explain is given. */
void explain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Name of a step for such a line: that of what it writes. */
const char *step_label(const UOp *step);
Graph *explain_result(Graph *g);
#endif
