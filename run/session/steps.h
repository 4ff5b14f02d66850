/* A session's inside: session.c opens and calls it, data.c gives it inputs and states and
 * takes its results. */
#ifndef SESSION_H
#define SESSION_H
#include "session/session.h"

typedef enum { STEP_LAUNCH, STEP_INTERPRET, STEP_COPY } StepKind;
typedef struct {
	StepKind kind;
	UOp *node, *callee;             /* the CALL or MEMCPY; what is called */
	const char *name;
	const Program *program;
	size_t nbuf, *slot;             /* numbers of buffers */
	void **mem;
	Launch launch;
	size_t nleave, *leave;          /* buffers that leave memory with it */
	bool empty;                     /* a grid without work items */
	bool late;                      /* a copy that waits until an output is asked for */
	double ms;                      /* over all calls */
} Step;

/* where an input's memory is named: its buffer, and the steps' places for it */
typedef struct { size_t slot; VEC(void **) mem; } Fed;

struct Session {
	Graph *g;
	const Inputs *in;
	SessionOptions o;
	Programs programs;
	Buffers b;
	Step *step;
	size_t nsteps, ncalls, first;   /* first: steps that are done once, before the first call */
	int threads;
	Prepared *prepared;
	States states;
	Fed *fed;                       /* for each of the inputs */
	const char **names;
	Array *out;
	size_t nout;
};

static inline UOp *kernel_of(UOp *callee)
{
	return callee->op == OP_PROGRAM ? callee->src[0] : callee;
}

/* Runs step i, keeps what it wrote, takes its time. */
void session_step(Session *s, size_t i);

/* ---- data.c */

/* Finds where the memory of inputs that change is named, and the copies that can wait. */
void session_fed(Session *s);
void session_late(Session *s);
#endif
