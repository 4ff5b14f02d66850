/* The internals of a session: session.c opens and calls it, data.c sets its inputs and states and
 * reads its results. */
#ifndef SESSION_H
#define SESSION_H
#include "session/session.h"

typedef enum { STEP_LAUNCH, STEP_INTERPRET, STEP_COPY } StepKind;
typedef struct {
	StepKind kind;
	UOp *node, *callee;             /* the CALL or MEMCPY; its KERNEL or PROGRAM */
	const char *name;
	const Program *program;
	size_t nbuf, *slot;             /* numbers of its buffers in Buffers */
	void **mem;
	Launch launch;
	size_t nevict, *evict;          /* weights to evict after it */
	bool empty;                     /* the grid has no items: nothing to launch */
	bool deferred;                      /* a copy that waits until the outputs are read */
	double ms;                      /* total over all calls */
} Step;

/* a fed input: its buffer, and the elements of steps' mem that point to it */
typedef struct { size_t slot; VEC(void **) mem; } Fed;

struct Session {
	Graph *g;
	const Inputs *in;
	SessionOptions o;
	Programs programs;
	Buffers b;
	Step *step;
	size_t nsteps, ncalls, first;   /* first: how many steps run once, before the first call */
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

/* Runs step i, saves what it wrote (--keep) and measures its time. */
void session_step(Session *s, size_t i);

/* ---- data.c */

/* Finds where steps point to inputs that change, and which copies can be deferred. */
void session_fed(Session *s);
void session_defer(Session *s);
#endif
