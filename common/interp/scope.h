/* A kernel of level schedule laid out for evaluation: scopes of ranges, and in each the nodes that vary with it. */
#ifndef INTERP_SCOPE_H
#define INTERP_SCOPE_H
#include "index/index.h"
#include "interp/elements.h"

enum { NO_CELL = -1 };

/* How an RREDUCE gets its values: lane by lane; from a table over the ranges that it moves with, made once; from a
 * table that is a contraction of its factors' tables. */
typedef enum { FOLD_LANES, FOLD_TABLE, FOLD_CONTRACT } FoldMode;

/* A node's value within a scope, for a block of iterations ("lanes"). */
typedef struct {
	UOp *u;
	int scope;
	FoldMode mode;
	bool guarded;           /* a LOAD of the very place that a gated STORE writes: only done where it does */
	int child;              /* the scope that RREDUCE, RSORT or a slow RSCAN runs; 0: none */
	uint32_t nsrc;
	int *src;               /* cells of the operands */
	char *lane;             /* a value for each lane */
	uint64_t acc;           /* of a running RSCAN */
	char *table;            /* of a fold, once it is made: over its scope's ranges that it moves with */
	char *row;              /* RSORT: the values along its range, and their order */
	int64_t *order;
} KernelCell;

typedef enum { SCOPE_ONCE, SCOPE_STORE, SCOPE_FOLD, SCOPE_ROW } ScopeKind;

/* Ranges bound together: those of a STORE, of a fold, of a row to be sorted or a table (SCOPE_ROW). Scope 0 is the
 * kernel itself. */
typedef struct {
	ScopeKind kind;
	int parent, depth;
	uint64_t bound;         /* mask of axis numbers */
	int nrange;
	UOp **range;            /* outer to inner */
	int64_t *size;
	int *range_cell;        /* the cell of each range's value, or NO_CELL */
	int running;            /* axis of the innermost range, along which RSCANs run; -1: none */
	bool in_order;          /* reads what it writes: lanes within one value of the serial ranges only */
	VEC(int) cell;          /* to be evaluated, in order */
	VEC(UOp *) store;       /* SCOPE_STORE */
	VEC(int) store_src;     /* three cells for each: INDEX, value, gate or NO_CELL */
	int result, owner;      /* SCOPE_FOLD, SCOPE_ROW: the cell that is folded or collected; for which cell */
	size_t at;              /* the lane that child scopes see */
	char *row;              /* SCOPE_ROW: where the values go */
} KernelScope;

typedef struct {
	const char *name;
	UOp *kernel;
	const VarEnv *env;
	KernelCell *cell;
	size_t ncell, capcell;
	KernelScope *scope;
	size_t nscope, capscope;
	Map cell_of;            /* node and scope → cell, plus one */
	uint8_t *dirty;         /* by node id: reads what the kernel writes */
	size_t lanes;
} KernelPlan;

/* ---- tables.c: how RREDUCE u, met in scope s, is to get its values */
FoldMode fold_mode(const KernelPlan *p, UOp *u, int s);
/* ranges of the scope that a node moves with, in its order; at most 64 */
int ranges_of(const KernelScope *s, UOp *u, UOp **range);
/* ranges that a factor of fold u, met in scope s, moves with */
int factor_ranges(const KernelPlan *p, UOp *u, int s, UOp *factor, UOp **range);

/* ---- scopes.c */

/* a range's size as a number, checked */
int64_t range_number(const KernelPlan *p, UOp *range);
/* Places every node of the kernel. Sizes come from env. */
void kernel_plan(KernelPlan *p, UOp *kernel, const VarEnv *env);
void kernel_plan_free(KernelPlan *p);

#endif
