/* A kernel of level schedule, prepared for evaluation: scopes of ranges and, in each scope, the
 * nodes that vary with it. */
#ifndef INTERP_SCOPE_H
#define INTERP_SCOPE_H
#include "index/index.h"
#include "interp/elements.h"

enum { NO_CELL = -1 };

/* How an RREDUCE is computed: lane by lane; from a table over the ranges that it depends on, which
 * is filled once; or from a table that is a contraction of its factors' tables. */
typedef enum { REDUCE_LANES, REDUCE_TABLE, REDUCE_CONTRACT } ReduceMode;

/* tuples.c: a running fold of tuples. */
typedef struct TupleFold TupleFold;
TupleFold *tuple_fold_new(UOp *tuple);
void tuple_fold_free(TupleFold *t);
/* Begins with the identities. */
void tuple_fold_start(TupleFold *t);
/* Folds n tuples; x, step: of each component its elements, and their step (0 or 1). */
void tuple_fold_add(TupleFold *t, size_t n, const char *const *x, const int *step);
/* A component of what was folded, in its dtype's form. */
const void *tuple_fold_value(const TupleFold *t, int64_t component);

/* A node's values within a scope, for a block of iterations ("lanes"). */
typedef struct {
	UOp *u;
	int scope;
	ReduceMode mode;
	bool guarded;           /* a LOAD at the index of a gated STORE: done under its gate */
	int child;              /* the scope that RREDUCE, RSORT or a slow RSCAN runs; 0: none */
	uint32_t nsrc;
	int *src;               /* cells of the operands */
	char *lane;             /* one value per lane */
	uint64_t acc;           /* the accumulator of a running RSCAN */
	TupleFold *tuple;       /* of an RREDUCE of tuples */
	char *table;            /* of an RREDUCE, once filled: over the ranges that it depends on */
	char *row;              /* RSORT: the values along its range, and their order */
	int64_t *order;
} KernelCell;

typedef enum { SCOPE_ONCE, SCOPE_STORE, SCOPE_REDUCE, SCOPE_ROW } ScopeKind;

/* Ranges bound together: those of a STORE, of a reduction, or of a row to sort or a table to fill
 * (SCOPE_ROW). Scope 0 is the kernel itself. */
typedef struct {
	ScopeKind kind;
	int parent, depth;
	uint64_t bound;         /* mask of axis numbers */
	int nrange;
	UOp **range;            /* outer to inner */
	int64_t *size;
	int *range_cell;        /* the cell of each range's value, or NO_CELL */
	int running;            /* axis of the innermost range, along which RSCANs run; -1: none */
	bool in_order;          /* reads what it writes: serial ranges stay fixed in a block */
	VEC(int) cell;          /* cells to evaluate, in order */
	VEC(UOp *) store;       /* SCOPE_STORE */
	VEC(int) store_src;     /* three cells for each: INDEX, value, gate or NO_CELL */
	/* SCOPE_REDUCE, SCOPE_ROW: the cell to reduce or collect, for which cell */
	int result, owner;
	size_t at;              /* the lane for which a child scope runs */
	char *row;              /* SCOPE_ROW: the collected values */
} KernelScope;

typedef struct {
	const char *name;
	UOp *kernel;
	const VarEnv *env;
	KernelCell *cell;
	size_t ncell, capcell;
	KernelScope *scope;
	size_t nscope, capscope;
	Map cell_of;            /* node and scope → 1 + its cell */
	uint8_t *dirty;         /* by node id: whether it reads what the kernel writes */
	size_t lanes;
} KernelPlan;

/* ---- tables.c: how RREDUCE u in scope s is computed */
ReduceMode reduce_mode(const KernelPlan *p, UOp *u, int s);
/* The scope's ranges that a node depends on, in the scope's order; at most 64. */
int ranges_of(const KernelScope *s, UOp *u, UOp **range);
/* The ranges that a factor of reduction u in scope s depends on. */
int factor_ranges(const KernelPlan *p, UOp *u, int s, UOp *factor, UOp **range);

/* ---- scopes.c */

/* A range's size as a number; dies when it is negative or cannot be computed. */
int64_t range_number(const KernelPlan *p, UOp *range);
/* Assigns every node of the kernel to a scope. Sizes come from env. */
void kernel_plan(KernelPlan *p, UOp *kernel, const VarEnv *env);
void kernel_plan_free(KernelPlan *p);

#endif
