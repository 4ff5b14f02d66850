/* A kernel of level loops, laid out as statements over cells for the interpreter of loops. */
#ifndef INTERP_LOOPS_H
#define INTERP_LOOPS_H
#include "index/index.h"
#include "interp/elements.h"

enum { NO_CELL = -1 };

/* A value while its statement runs: one for all lanes, or one for each when it varies. */
typedef struct {
	UOp *u;
	bool varies;
	uint32_t nsrc;
	int src[3];             /* cells; of a LOAD: its place, then its gate */
	int memory;             /* of a LOAD */
	char *lane;
	InterpFn fn;            /* what it calls on its operands' lanes; NULL for LOAD and casts */
	const void *in[3];
	int step[3];
} LoopCell;

/* What an INDEX points into. Registers within a loop over lanes are each lane's own. */
typedef struct {
	UOp *u;
	char *at;
	int64_t count;          /* elements */
	bool per_lane;          /* element e of lane i at e * lanes + i */
} Memory;

typedef struct {
	UOp *u;
	int match;              /* RANGE, IF: its end; ENDRANGE, ENDIF: its start */
	bool lanes;             /* a RANGE whose iterations are lanes */
	int first_gate, first, end;  /* cells first_gate … first-1 give a STORE's gate; first … end-1 the rest */
	int memory;             /* of a STORE */
	int place, value, gate; /* cells; value: also of LET, IF's condition, RANGE's size */
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
	Map leaf;               /* CONST, VAR, SPECIAL, RANGE, LET → cell, plus one, as it stands at this statement */
	Map memory_of;          /* PARAM, DEFINE_… → memory, plus one */
	size_t group;           /* work items of a group; 0: no groups */
	bool items;             /* the grid's items are lanes (CPU) */
	int64_t local[3], global[3];
	size_t lanes;           /* at most */
} LoopPlan;

/* Lays out the kernel for nbuf buffers; dies when its statements do not nest. */
void loops_plan(LoopPlan *p, UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);
void loops_plan_free(LoopPlan *p);

#endif
