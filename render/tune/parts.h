/* A search for lists of actions. Sections follow the files. */
#ifndef RENDER_TUNE_PARTS_H
#define RENDER_TUNE_PARTS_H
#include "actions/actions.h"
#include "tuned/tuned.h"

/* Kernels that are timed together: that of one call, or those of calls that share slices. */
typedef struct {
	UOp *call[MAX_SLICE_CALLS];             /* their kernels have no lists */
	const Val *list[MAX_SLICE_CALLS];       /* by which the heuristic has chosen, or better */
	int n;
	double times;           /* how often the document calls such kernels */
	double ns;              /* of one such call; 0: not known */
	double start;           /* the same by the heuristic's lists */
	size_t tried;           /* lists */
	const char *why;        /* why it cannot be timed by itself, or NULL */
} Unit;
typedef VEC(Unit) Units;

/* ---- legal.c */

/* A list read for its kernel: what its rewrites leave, and the plan for that. */
typedef struct { Rewriting w; Facts f; Plan p; } Fitted;
/* Reads a list as lower does, from the names of ranges to whether the plan fits; false, and *why
 * (NULL: not asked), where lower would refuse it. */
bool list_fits(UOp *kernel, const Val *list, Fitted *to, const char **why);

/* ---- moves.c */

/* kind: the action that changed, and its first word. */
typedef struct { const Val *list, *kind; } Move;
typedef VEC(Move) MoveList;
/* The lists that one change makes of a list that fits: a number that is another, a loop at another
 * place, an action that is left out, or one of any row of actions.def with operands from the roles
 * of the kernel's ranges and values. Most of them fit. */
void moves_of(const Val *list, const Fitted *of, MoveList *to);

/* ---- estimate.c */

/* About how many nanoseconds a kernel takes by a plan, from the target's row. The order of two
 * plans of one kernel means more than the number. */
double plan_estimate(const Plan *p, const Facts *f);

/* ---- propose.c */

/* Lists for kernel k of a unit, best first: candidates that one change makes of those in a trial
 * document, by estimate. A worker's body, for trial documents with meta.trial.ratios; the answer
 * is meta.lists, [[list as text, estimated ratio], …]. */
int propose_worker(const void *in, size_t n, Buf *out);

/* ---- trial.c: documents in which a unit is called once for each candidate */

/* How a trial runs: for so many seconds, with so many threads (0: all), and values of sizes; after
 * now_ms() `until` no other begins. */
typedef struct { double seconds, until; int threads; const Val *sizes; } TrialOptions;
/* The document, NULL and u->why when the unit cannot be timed by itself. lists: u->n for each of
 * the n candidates, the first of which the others are compared with. Inputs are i0, i1 …; outputs
 * of candidate 3 o3_0, o3_1 …; its kernels c3_0 …; meta.trial has the number of candidates. */
Graph *trial_document(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o);
/* Bytes of what one candidate writes. */
int64_t trial_bytes(const Unit *u);

/* ---- measure.c: a trial carried out by the project's own tools, each a process of its own */

/* What came of a candidate. SLOW: it did not end in time. */
typedef enum { TIMED, REFUSED, CRASHED, WRONG } Outcomes;
typedef struct { Outcomes what; double ns; const char *why; } Lap;
/* A worker's body: a trial document, to the same with meta.laps, [[outcome, ns, why], …]. When what
 * failed cannot be said of one candidate, all laps have that outcome. */
int measure_worker(const void *in, size_t n, Buf *out);
/* The laps of a document that came back; dies with MALFORMED when they are not n. */
void laps_read(const Graph *g, size_t n, Lap *laps);

/* ---- clocks.c: who carries out trials */

/* Workers of this process (worker_offer), by number. */
enum { MEASURE, PROPOSE };
/* Asks such a worker of this machine; NULL when it has died. */
Graph *worker_ask(int worker, const Graph *g);
/* Connects to the machines of a list "IN,OUT …": each runs tune --measure -i IN -o OUT. */
void clocks_open(const char *endpoints);
void clocks_close(void);
/* Times n candidates of a unit, the first of which is the reference; halves a batch of which
 * something cannot be said of one candidate alone. */
void trials_run(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o, Lap *laps);

/* ---- search.c */

/* What a search may take, and whom it tells: better is called when a unit has better lists that a
 * second timing has confirmed. stop: set by a signal. */
typedef struct {
	double seconds;
	TrialOptions trial;
	void (*better)(const Unit *u, void *ctx);
	void *ctx;
	const volatile int *stop;
} SearchOptions;
/* Beam search over each unit, the longest first, each for its share of the time. */
void units_search(const Graph *g, Units *units, const SearchOptions *o);
#endif
