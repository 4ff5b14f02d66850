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
	size_t number;                  /* K3: its number among the kernel calls */
	const Program *program;
	size_t nbuf, *slot;             /* numbers of its buffers in Buffers */
	void **mem;
	void **read;                    /* --check-nan: its buffers as they were before it */
	Launch launch;
	int64_t *vars;                  /* its size variables, and their numbers in the env */
	int *var;
	size_t nevict, *evict;          /* weights to evict after it */
	bool empty;                     /* the grid has no items: nothing to launch */
	bool deferred;                      /* a copy that waits until the outputs are read */
	double ms;                      /* total over all calls, and how often it ran */
	size_t runs;
	struct ValueRange *range;       /* --check-range, of a list: what it wrote, by slot */
} Step;

/* a fed input: its buffer, and the elements of steps' mem that point to it */
typedef struct { size_t slot; VEC(void **) mem; } Fed;

typedef struct { const char *name; Array at; } NamedState;

/* --profile: a run of a step */
typedef struct { const char *layer, *name; double begin, ms; } Event;

typedef struct List List;

/* The programs of a document, compiled and loaded on a device. */
typedef struct {
	Programs programs;
	void **kernel;                  /* for each of them */
	Map by;                         /* id + 1 of the node → number + 1 */
	const Exec *exec;
} Loaded;

struct Session {
	Graph *g;
	Session *whole;                 /* of a segment: the session of its document, else NULL */
	size_t number, before_steps;    /* the kernel calls and steps before it */
	List *list;                     /* of a document with steps, else NULL */
	Loaded *loaded;
	const Inputs *in;
	SessionOptions o;
	Programs programs;
	Buffers b;
	Step *step;
	size_t nsteps, ncalls, first;   /* first: how many steps run once, before the first call */
	int threads;
	int64_t shareable;              /* work of a call that threads may share, in ns */
	Prepared *prepared;
	States states;
	Fed *fed;                       /* for each of the inputs */
	const char **names;
	Array *out;
	const size_t *output;           /* the numbers of their BUFFERs, once they were asked for */
	size_t nout;
	bool headed, dumped;            /* --check-range has a head; --dump has found something */
	bool asked;                     /* --check-nan: the origin was interpreted in this call */
	VEC(Event) events;              /* --profile */
	NamedState *before;             /* --check-nan: the states before this call */
	size_t nbefore;
};

/* The session of the whole document. */
static inline Session *session_top(Session *s) { return s->whole ? s->whole : s; }

static inline UOp *kernel_of(UOp *callee)
{
	return callee->op == OP_PROGRAM ? callee->src[0] : callee;
}

/* Runs step i, saves what it wrote (--keep) and measures its time. */
void session_step(Session *s, size_t i);

/* profile.c: a step has run */
void session_event(Session *s, const Step *t, double begin, double ms);

/* ---- inspect.c: --keep, --dump, --check-range, --check-nan */

/* Whether every call is looked at. */
bool session_inspects(const SessionOptions *o);
/* Whether a list such as "K3,r_64" has the name. */
bool listed(const char *list, const char *name);
/* bit k: the step reads slot k */
uint64_t step_reads(const Step *t);
/* "K3 r_64", or "K3 r_64, turn 2", in the arena */
const char *step_name(const Session *s, size_t i);
/* To be called before and after step i, before and after each call, and when the session closes. */
void inspect_before(Session *s, size_t i);
void inspect_after(Session *s, size_t i);
void inspect_call(Session *s);
void inspect_called(Session *s);
void inspect_done(Session *s);
/* What looks at the nodes of a document of level graph; NULL: nothing. */
Watch *inspect_graph(Session *s);

/* ---- nonfinite.c: which op made a NaN or an infinity */

double element_value(DType dt, const void *at, size_t i);
/* Whether n elements are all finite; else *where gets the first that is not. */
bool values_finite(DType dt, const void *at, size_t n, size_t *where);
/* A watch that dies with FAILED at the first op that made one of finite values, with its line,
 * name, place, operands, and context at the end. */
Watch *nonfinite_watch(const UOp *kernel, const char *context);
/* Finds the op when the compiled step i has written one to the buffer of this slot. read has the
 * step's buffers as they were before it, and is written to. Returns when it came in from before. */
void nonfinite_ask(Session *s, size_t i, size_t slot, void *const *read);

/* The session of a segment, with what its document has loaded: as many kernel calls and steps as
 * said come before it. It has no memory for inputs, outputs, states and temporaries: its steps get
 * pointers. */
Session *session_part(
	Session *whole, Graph *segment, const Inputs *in, size_t number, size_t first);
/* Gives its launches the variables' values where neither buffers nor grids depend on what has
 * changed, as a loop's turn; makes it fit sizes that have. */
void session_turn(Session *s);
void session_resize(Session *s);
/* Its temporaries are there from now on: b.plan bytes on the device. */
void session_workspace(Session *s, void *workspace);
void session_part_close(Session *s);

/* ---- list.c: documents whose lists have steps besides calls and copies */

/* Sets s->list. */
void list_open(Session *s);
void list_call(Session *s);
/* The content of an output after a call; old is the one of the call before. */
Array list_output(const Session *s, const char *name, Array *old);
/* "3" or, in a loop in a loop, "3,0": the turns of what runs; "" outside of loops. */
const char *list_turn(const List *l);
/* The i-th of its segments' sessions that have been opened, in the order of the list; NULL: there
 * are no more. */
Session *list_session(const List *l, size_t i);
MemoryUse list_memory(const List *l);
void list_close(Session *s);

/* ---- data.c */

/* Finds where steps point to inputs that change, and which copies can be deferred. */
void session_fed(Session *s);
void session_defer(Session *s);
#endif
