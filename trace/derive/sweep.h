/* A sweep over a graph (derive.c), for loops and branches, which have sweeps over their bodies. */
#ifndef SWEEP_H
#define SWEEP_H
#include "derive/derive.h"

/* value where mask equals `when`, and 0 elsewhere; value everywhere if mask is NULL. clean: value
 * itself is 0 elsewhere. */
typedef struct { UOp *value, *mask; bool when, clean; } Part;
enum { PARTS = 4 };
typedef struct { Part part[PARTS]; int n; VEC(Slice) slices; } Cotangent;

typedef struct {
	Nodes all;
	const Map *given;       /* nodes (PKEY) behind which it does not go; NULL: none */
	size_t nout;
	UOp *const *out;
	uint32_t lo, span;
	uint32_t *place;        /* of each node in all, from 1, by id; 0: not in the sweep */
	bool *follows;          /* it depends on a variable */
	Cotangent *cot;         /* reverse mode */
	Again *again;
	UOp **tan;              /* forward mode */
	Map inside;             /* forward mode: what only a branch needs */
	Map step;               /* forward mode: LOOP or IF → the one with tangents */
} Sweep;

/* ---- derive.c */

bool sweep_follows(const Sweep *s, const UOp *u);
void sweep_mark(Sweep *s, const UOp *u);        /* from now on it follows */
bool sweep_given(const Sweep *s, const UOp *u);
/* The sum of what u's users gave, of u's shape, or NULL; a part more. */
UOp *sweep_cotangent(Sweep *s, UOp *u);
void sweep_give(Sweep *s, UOp *u, UOp *g);
UOp *sweep_tangent(const Sweep *s, const UOp *u);
UOp *zero_of(UOp *u);
/* derive_reverse and derive_forward over what is not behind the given nodes, NULL for zeros. A
 * given node in wrt gets its cotangent, and passes nothing on. */
void reverse_within(const Map *given, size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt,
	UOp *const *wrt, UOp **grad);
void forward_within(const Map *given, size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout,
	UOp *const *out, UOp **dout);

/* ---- steps_along.c: which steps follow; forward mode */

/* Whether a LOOP's state or value, a branch's value, or an init has a derivative. */
bool step_follows(const Sweep *s, const UOp *u);
/* States follow what their loop gives them. Returns whether one more does. */
bool states_follow(Sweep *s);
/* To be called before the tangents of a sweep; the tangent of a step. */
void steps_along(Sweep *s);
UOp *step_along(Sweep *s, UOp *u);
/* What a branch's body and values read from outside (the caller frees it), and how a copy reads it:
 * selected by the condition. */
NodeList branch_reads(const Body *b, UOp *branch, bool other, Map *to, Map *given);

/* ---- loop_back.c, branch_back.c: reverse mode, given the cotangents of the step's PICKs */

void loop_back(Sweep *s, UOp *loop);
void branch_back(Sweep *s, UOp *branch);
#endif
