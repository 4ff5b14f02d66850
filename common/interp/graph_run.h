/* The state of the graph interpreter, shared by graph.c and steps.c. */
#ifndef INTERP_GRAPH_RUN_H
#define INTERP_GRAPH_RUN_H
#include "interp/interp.h"
#include "interp/value.h"
#include "shape/regions.h"

typedef struct { int rank; int64_t dim[]; } Dims;

/* What a LOOP or an IF leaves for its PICKs: n values; turns is -1 for an IF. */
typedef struct { int64_t turns; size_t n; ArrayView *at[]; } Outcome;

typedef struct {
	UOp *u;
	ArrayView *value;       /* NULL: not computed yet, waiting, or dropped */
	Outcome *outcome;       /* of a LOOP or IF */
	UOp *user;              /* the last user found, if it is in the same region */
	uint32_t uses, left;    /* uses in a run of its region, and those still to come */
	uint8_t waiting;        /* nodes that wait with this one, plus 1; 0: it does not wait */
} NodePlace;

/* A loop that is being run: its id, the turn, and the states that the turn begins with. */
typedef struct LoopRun LoopRun;
struct LoopRun { int64_t id, turn; ArrayView **state; const LoopRun *outer; };

typedef struct {
	Regions *regions;
	NodePlace *place;
	uint32_t *index;        /* by node id */
	VarEnv env;
	Map dims;               /* shape → Dims */
	Map held;               /* a LOOP or IF → Held, what its regions use from outside */
	const LoopRun *loop;    /* the innermost */
	Array (*get)(UOp *buffer, void *ctx);
	void *ctx;
	Watch *watch;           /* or NULL */
} GraphRun;

typedef VEC(UOp *) Held;

/* ---- graph.c */

_Noreturn void graph_fault(const UOp *u, const char *what);
NodePlace *place_of(GraphRun *r, const UOp *u);
/* A size as a number; dies at u if it has none. */
int64_t graph_size(GraphRun *r, UOp *u, UOp *size);
/* u's shape as numbers, valid until a size is bound. */
const Dims *graph_dims(GraphRun *r, UOp *u);
void graph_dims_forget(GraphRun *r);
/* Runs the nodes of a region. */
void region_run(GraphRun *r, Region *region);
/* Counts one use of u, which is the last one when none is left. */
void use_done(GraphRun *r, UOp *u);

/* ---- steps.c */

/* The value of BIND, SIZE, TURN, CARRY or PICK; that of a LOOP or IF. */
ArrayView *step_value(GraphRun *r, UOp *u);
Outcome *step_outcome(GraphRun *r, UOp *u);
void outcome_free(Outcome *o);
/* Dies when sources whose shapes were not known to agree do not. */
void step_check_shapes(GraphRun *r, UOp *u);
#endif
