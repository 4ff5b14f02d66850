/* fuse: level schedule → schedule, with fewer kernels and less memory traffic. Passes are in
 * fuse.c.
 *
 * Between open_kernels and close_kernels a document's kernels are in open form: each buffer of a
 * call has one slot, in the reading order of the kernel, written ones first; loops are RANGEs of
 * axis 0, 1, … in order, and a range that a reduction binds has axis BOUND + its depth from the
 * inside, so that equal reductions are one node wherever they occur. A step is a CALL of such a
 * kernel, or a call that fuse leaves unchanged: a MEMCPY, a CALL of a CUSTOM. */
#ifndef FUSE_H
#define FUSE_H
#include "graph/graph.h"
#include "machine/machine.h"

enum { BOUND = 16,              /* axis of the innermost bound range in open form */
	KERNEL_NODES = 200,     /* a merged kernel has at most this many nodes */
	FOLD_NODES = 128,       /* one with reductions, whose merging takes longer */
	KERNEL_BUFFERS = 24 };  /* and this many buffers, for the sake of GPUs */

/* machine: what the processor is like that kernels will run on. */
typedef struct { bool explain, strict, measured; const char *target; Machine machine; } FuseOptions;
extern FuseOptions fuse_opt;


/* ---- open_kernels.c: to open form and back */
Graph *open_kernels(Graph *g);
/* Renumbers loops and bound ranges (a bound range takes over a loop of its size on which its value
 * does not depend) and puts slots in reading order again. */
Graph *close_kernels(Graph *g);

/* ---- split_loops.c: before that */
Graph *split_loops(Graph *g);

/* ---- number_bound.c */
/* The kernel with its bound ranges numbered by their depth (see above). */
UOp *number_bound(UOp *kernel);
/* The same value with its bound ranges moved up by shift. */
UOp *shift_bound(UOp *value, int shift);
/* ---- share_loops.c */
/* A bound range takes over a loop of its size on which its reduction does not depend: then a value
 * that the reduction and the output share is one node. */
UOp *share_loops(UOp *kernel);

/* ---- seat_buffers.c: buffers and slots */
/* A kernel whose slots are in order; slot k was slot from[k] before. */
typedef struct { UOp *kernel; uint32_t n, *from; } Seated;
/* The kernel's slot s stands for buffer[s]; a buffer may occupy several slots. */
Seated seat_buffers(UOp *kernel, UOp *const *buffer);
/* The call of the seated kernel; buffer[] is that of the old slots. */
UOp *seated_call(const Seated *s, UOp *const *buffer);

/* ---- know_kernels.c: facts about a step, found once for all calls of a kernel */
typedef struct {
	UOp *kernel;                    /* NULL for steps that stay unchanged */
	uint32_t slots, nread, nmoved, nwritten;
	uint32_t *read, *written;               /* slots */
	uint32_t *moved;                        /* those read at places that move with the loops */
	size_t nodes;
	bool folds, scan, sort, sized;  /* has RREDUCE, RSCAN, RSORT, VAR */
	uint64_t loops;                 /* equal for kernels over the same loops */
	bool barrier;                   /* not merged: a sort, a scatter, an explicit copy */
	/* computed on demand by the functions below */
	char contracts;
	int64_t row;
	int loads;
	double work, ops, *iterations;
} StepFacts;
StepFacts *step_facts(UOp *step);
double step_work(StepFacts *f);                 /* kernel_work */
double step_ops(StepFacts *f, int *loads);      /* value_cost of its first STORE's value */
double step_iterations(StepFacts *f, uint32_t slot); /* how often one run loads from a slot */
bool step_contracts(StepFacts *f, int64_t *row); /* has_contraction */
UOp *step_buffer(const UOp *step, uint32_t slot);

/* ---- buffer_uses.c: the steps that write and read each buffer, the last first */
typedef struct Access Access;
struct Access { int step; Access *next; };
typedef struct {
	const UOp *buffer;
	bool temp;                      /* temporary or prepared: fuse may remove it */
	Access *writers, *readers;
	size_t left;                    /* readers left; maintained by the pass */
} BufferUse;
typedef struct { TABLE(BufferUse *) of; } BufferUses;   /* by the buffer's id */
BufferUse *use_of(BufferUses *u, const UOp *buffer);
void uses_add(BufferUses *u, const UOp *call, const StepFacts *f, int step);
bool access_from(const Access *t, int a, int b);        /* is there a step from a on, before b? */
void uses_free(BufferUses *u);

/* ---- judge_pairs.c: verdicts on pairs of kernels, shared by pairs that differ only in buffers */
/* Two calls over one set of buffers: the slots of the first, then the buffers that only the second
 * has. Valid until the next pair_of. */
typedef struct {
	UOp *first, *second;            /* kernels */
	UOp **buffer;
	uint32_t buffers, first_slots;
	uint32_t *slot, slots;          /* places of the second's slots in buffer; their number */
} Pair;
Pair pair_of(UOp *first, UOp *second);
UOp *pair_second(const Pair *p);                /* the second kernel over the pair's slots */
typedef struct Verdict Verdict;
struct Verdict {
	bool known;                     /* false: the caller has to fill the verdict in */
	Seated merged;                  /* from the pair's slots; kernel NULL: they stay apart */
	const char *why;
	double with, without;           /* costs, when they decided */
	double work;                    /* of the merged kernel, if it was computed */
	UOp *first, *second;
	uint64_t how;
	Verdict *next;
	uint32_t slot[];
};
typedef Map Verdicts;
/* how: a number of the pass's own for whatever else the verdict depends on */
Verdict *verdict_of(Verdicts *all, const Pair *p, uint64_t how);

/* ---- kernels.c: properties of a kernel in open form */
typedef struct { UOp *at[64]; int n; } Loops;
Loops kernel_loops(UOp *kernel);             /* free ranges, outermost first */
Loops loops_among(const Nodes *all, UOp *kernel);    /* the same, all being a walk of kernel */
UOp *store_buffer(const UOp *store);         /* its PARAM */
Nodes kernel_loads(UOp *kernel);             /* its LOAD nodes */
/* Does the store write the whole of its buffer, each element once, at its own loops in order,
 * without a gate? */
bool store_is_plain(UOp *store);
bool has_op(UOp *root, Op op);
/* value with the gate added to every LOAD in it but those of a place, which need none: they stay
 * the same nodes as in a gate that tests that place */
UOp *gate_loads(UOp *value, UOp *gate, UOp *place);

/* ---- has_contraction.c */
/* Does the kernel contain a contraction for which it is kept apart? *row gets the slot of the
 * buffer from whose rows the contraction takes one element in each iteration, as a product with a
 * vector does; -1 when there is no such buffer and each operand is used again. */
bool has_contraction(UOp *kernel, int64_t *row);

/* ---- one_to_one.c */
/* Does place, over the kernel's loops, take each value at most once? */
bool wants_once(UOp *place, UOp *kernel);

/* ---- put_in_place.c */
Nodes sites_of(UOp *kernel, UOp *param);     /* LOADs from a slot */
/* The pair's first kernel, its loads of slot `at` replaced by the value that the second, which
 * writes that buffer with one plain STORE, stores. Slots are from the pair's. kernel is NULL when
 * replacing does not end or reductions nest too deep. */
Seated put_in_place(const Pair *p, UOp *kernel, uint32_t at, bool folds);
/* A scan keeps its loops in order: the kernel with its loops renamed, one for one, to those of
 * store, so that param is read where store writes it; NULL when they do not correspond. */
UOp *loops_of_store(UOp *kernel, UOp *store, UOp *param);

/* ---- cost.c */
/* Work of one run of a kernel: arithmetic and memory traffic in units of one add, each node counted
 * as often as the loops make it run. Symbolic sizes count as the geometric mean of their bounds. */
double kernel_work(UOp *kernel);
double size_guess(UOp *size);
double count_guess(const Shape *s);
/* bytes of a buffer; HUGE_VAL when symbolic */
double buffer_bytes(const UOp *buffer);
/* iterations of the loops up to an axis; for a mask of loops, up to the innermost in it */
typedef struct { double upto[64]; } LoopTurns;
LoopTurns iterations_of(const Loops *l);
double iterations_for(const LoopTurns *t, uint64_t mask);
/* adds to turns, by slot, the number of loads in one run of the kernel */
void load_iterations(UOp *kernel, double *iterations);
/* arithmetic of one element, without loads; *loads gets their number */
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
/* Prints one line on standard error when --explain is given. */
void explain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The name of a step in such a line: that of the buffer it writes. */
const char *step_label(const UOp *step);
Graph *explain_result(Graph *g);
#endif
