/* A kernel of level loops, prepared for the interpreter as statements that work on cells. */
#ifndef INTERP_LOOPS_H
#define INTERP_LOOPS_H
#include "index/index.h"
#include "interp/elements.h"

enum { NO_CELL = -1 };

/* A value while its statement runs: the same for all lanes or, if it varies, one per lane. A value
 * of dtype f32x16 is 16 elements in each, one after another. */
typedef struct {
	UOp *u;
	bool varies;
	int width;              /* the elements of its dtype */
	uint32_t nsrc;
	int src[3];             /* cells; cells; of a LOAD: its index, then its gate */
	int memory;             /* of a LOAD */
	char *lane;
	InterpFn fn;            /* called on its operands' lanes; NULL for LOAD and casts */
	const void *in[3];
	int step[3];
} LoopCell;

/* What an INDEX points into. Each lane has its own copy of registers declared within a loop over
 * lanes. */
typedef struct {
	UOp *u;
	char *at;
	int64_t count;          /* elements */
	bool per_lane;          /* element e of lane i is at e * lanes + i */
} Memory;

typedef struct {
	UOp *u;
	int match;              /* of RANGE, IF: the end; of ENDRANGE, ENDIF: the start */
	bool lanes;             /* a RANGE whose iterations are lanes */
	/* cells first_gate … first-1 compute a STORE's gate, first … end-1 the rest */
	int first_gate, first, end;
	int memory;             /* of a STORE */
	/* cells; value: or a LET's value, an IF's condition, a RANGE's size */
	int place, value, gate;
	int own;                /* the cell of a RANGE's counter, of a LET's value */
} Statement;

typedef struct {
	const char *name;
	UOp *kernel;
	const VarEnv *env;
	size_t nstatement;
	Statement *statement;
	VEC(LoopCell) cell;
	VEC(int) special;       /* cells of SPECIALs */
	VEC(Memory) memory;
	Map leaf;               /* CONST, VAR, SPECIAL, RANGE, LET → 1 + its current cell */
	Map memory_of;          /* PARAM, DEFINE_… → 1 + its memory */
	size_t group;           /* work items in a group; 0: no groups */
	bool items;             /* the items of the grid are lanes (CPU) */
	int64_t local[3], global[3];
	size_t lanes;           /* at most */
} LoopPlan;

/* Prepares the kernel for nbuf buffers; dies when its statements do not nest. */
void loops_plan(LoopPlan *p, UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);
void loops_plan_free(LoopPlan *p);

#endif
