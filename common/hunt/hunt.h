/* Finding what is wrong: commands that may crash or hang, and what a changed result comes from.
 * Sections follow the files. */
#ifndef COMMON_HUNT_HUNT_H
#define COMMON_HUNT_HUNT_H
#include "arrays/arrays.h"
#include "io/io.h"
#include "process/process.h"
#include <sys/types.h>

/* ---- command.c: a command with a limit of time */

typedef struct {
	int status;             /* its exit status; -1 when a signal ended it */
	int signal;             /* that signal, or 0 */
	bool late;              /* it was killed because its time was over */
	const char *says;       /* the last line that it wrote to standard error, or "" */
} Outcome;
/* Runs argv with nothing (or the file in) as standard input; its standard output goes to the file
 * out (NULL: nowhere). After `seconds` it is killed with all that it has started. Dies with FAILED
 * when it cannot be started. */
Outcome command_run(char *const argv[], const char *in, const char *out, double seconds);
static inline bool outcome_good(const Outcome *o) { return !o->status && !o->late; }
/* It was killed, ran out of time, or ended with a status that no tool of ours ends with, such as a
 * sanitizer's. */
bool outcome_crash(const Outcome *o);
/* "killed by SIGSEGV", "did not end within 10 s", "ended with status 4: MESSAGE" */
const char *outcome_text(const Outcome *o, double seconds);
/* Makes the process that was just forked one that command_run's rules are for: in a group of its
 * own, killed with its parent, with nothing as standard input, and output to these descriptors. */
void child_begin(int out, int err);
/* Waits for it; when the time is over, kills it with all that it has started and returns true. */
bool child_wait(pid_t pid, double seconds, int *status);
/* A new folder for files, removed with all that is in it by work_remove and when the process that
 * made it dies. The paths live as long as the process. */
typedef struct { const char *path; pid_t owner; } Work;
Work *work_new(void);
void work_remove(void *work);
/* Arguments of a command, which grow; words_end ends them with NULL and returns them. */
typedef VEC(char *) Words;
void words_add(Words *w, const char *word);
char **words_end(Words *w);

/* ---- judge.c: whether a document still has the right results */

typedef struct {
	const char *name;       /* of an output */
	double rtol, atol;
} Tolerance;
typedef struct {
	const char *work;               /* the folder of all files */
	const char *target;
	size_t ninputs;
	const char *const *inputs;      /* NAME=… */
	double seconds;                 /* the limit of each command */
	bool prove;                     /* `prove A B` is the judge, not the results */
	double rtol, atol;              /* given by the user; negative: derived */
	const char *reference;          /* results of the first document, .npz */
	const char *nodes;              /* every node's value of it, when it is a graph; or NULL */
	VEC(Tolerance) tolerance;
	Tolerance other;                /* for buffers that are no outputs */
	Tolerance same;                 /* for a value that is looked for among others: narrow */
	bool compared;                  /* the last verdict was about results, which there are */
	int status;                     /* that of the tool that it came from */
	size_t files;                   /* made so far */
} Hunt;
typedef enum { GOOD, BAD, UNTESTABLE } Verdict;
/* A new file's path in the work folder, with such an end. */
const char *hunt_file(Hunt *h, const char *end);
/* The document in a file, checked. */
Graph *hunt_read(const char *file);
/* Runs a tool of the stage path on a file (NULL: none) with more arguments, which end with NULL;
 * its output goes to out. */
Outcome hunt_tool(Hunt *h, const char *out, const char *tool, const char *file,
	const char *const *more);
/* Interprets the first document and derives tolerances from it: from the dtypes on the way to each
 * output, the number of summed terms, and the magnitude of the values. Returns false, and *why,
 * when it cannot be run. */
bool hunt_begin(Hunt *h, const char *file, const char **why);
/* Whether the document in a file has the right results: interpreted, or run with these arguments
 * instead. before is the document that it was made of, for `prove`. *why gets the reason for BAD
 * and UNTESTABLE. */
Verdict hunt_judge(Hunt *h, const char *before, const char *file, const char *const *how,
	const char **why);
/* Whether two arrays in files are as near as a tolerance allows. *why gets the difference. */
bool arrays_near(
	const char *a, const char *b, const char *only, const Tolerance *t, const char **why);

/* ---- place.c: which pass, action, kernel and op it is */

typedef struct {
	const char *pass, *action, *kernel, *op;        /* NULL: not known */
	const char *before, *after;     /* the nearest documents that were good and bad */
} Place;
/* Goes through the passes of a stage on a file: the first after which the result is wrong, or which
 * writes what cannot be run and no pass after it mends, or in which the stage crashes. */
typedef enum { SEEK_WRONG, SEEK_REFUSED, SEEK_CRASH } Seek;
void place_pass(Hunt *h, const char *const *stage, const char *file, Seek seek, Place *p);
/* The first action of the kernel without which the result is right. */
void place_action(Hunt *h, const char *const *stage, const char *file, Place *p);
/* Which kernel of p->after wrote a value that p->before has otherwise, and which op of it. */
void place_kernel(Hunt *h, Place *p);
/* The compiled kernel of a document of level program without which its result is right; false when
 * no single one is found. */
bool place_compiled(Hunt *h, const char *file, Place *p);

/* ---- given.c: a call that has read wrong values is not to blame */

/* The call to blame in the document g of level schedule, whose call number i of the SINK is the
 * first that is seen to be wrong: that one, or one which wrote a temporary for it, when the results
 * are right as soon as some value of the first document is in its place. */
size_t call_to_blame(Hunt *h, const Graph *g, size_t i);

/* ---- values.c, op.c: the op whose value is nowhere in the right document */

/* Values that are right, to look others up in. */
typedef struct { VEC(double) at; bool nan, plus, minus; } Values;
void values_add(Values *v, DType dt, const void *at, size_t n);
void values_sort(Values *v);
bool values_has(const Values *v, double x, const Tolerance *t);
/* Whether those of n elements that are sampled are all there. */
bool values_have(const Values *v, DType dt, const void *at, size_t n, const Tolerance *t);
/* The op of a graph whose nodes' values are in the folder `kept`. When each value by itself is a
 * right one, that is said instead. */
const char *op_of_graph(const Graph *g, const char *kept, const Values *right, const Tolerance *t);
/* The same for call number k of a schedule; `kept` has the files of what the call reads and writes;
 * NULL when they are not all there. */
const char *op_of_call(
	const Graph *g, size_t k, const char *kept, const Values *right, const Tolerance *t);

/* ---- shrink.c, sizes.c, calls.c, registers.c: smaller documents */

/* A way to make a document smaller, at `count` places of it, one after another. apply does it at
 * the places from … to-1, in one of several variants; it may change g's nodes, die, or return NULL,
 * so it is done in a process of its own. */
typedef struct {
	const char *name;
	size_t (*count)(const Graph *g);
	Graph *(*apply)(Graph *g, size_t from, size_t to, int variant);
	int variants;
} Shrink;
extern const Shrink shrinks[];          /* ends with a row of zeros */
/* How large a document is: nodes and actions first, then sizes, then constants, notes and meta. */
double shrink_measure(const Graph *g);
/* The document again, sources first: edit gets each node and its new sources, and returns what
 * replaces it, NULL for the same node with those sources. */
typedef UOp *(*NodeEdit)(UOp *old, UOp *const *src, void *ctx);
Graph *graph_edit(const Graph *g, NodeEdit edit, void *ctx);
/* The document with these calls, and the names of their outputs. */
Graph *graph_keep_calls(Graph *g, size_t n, UOp *const *src);
/* calls.c: rows of the table */
size_t count_calls(const Graph *g);
Graph *apply_slots(Graph *g, size_t from, size_t to, int variant);
Graph *apply_forward(Graph *g, size_t from, size_t to, int variant);
enum { FORWARD_VARIANTS = 3 };
Graph *apply_cut(Graph *g, size_t from, size_t to, int variant);
enum { CUT_VARIANTS = 2 };
size_t count_inputs(const Graph *g);
Graph *apply_inputs(Graph *g, size_t from, size_t to, int variant);
size_t count_ones(const Graph *g);
Graph *apply_ones(Graph *g, size_t from, size_t to, int variant);
size_t count_axes(const Graph *g);
Graph *apply_axes(Graph *g, size_t from, size_t to, int variant);
/* registers.c: rows of the table */
size_t count_memories(const Graph *g);
Graph *apply_one_memory(Graph *g, size_t from, size_t to, int variant);
enum { ONE_MEMORY_VARIANTS = 4 };
size_t count_memory_loads(const Graph *g);
Graph *apply_stored(Graph *g, size_t from, size_t to, int variant);
enum { STORED_VARIANTS = 4 };
size_t count_lanes(const Graph *g);
Graph *apply_one_lane(Graph *g, size_t from, size_t to, int variant);
/* sizes.c: rows of the table */
size_t count_sizes(const Graph *g);
Graph *apply_size(Graph *g, size_t from, size_t to, int variant);
enum { SIZE_VARIANTS = 12 };
size_t count_vars(const Graph *g);
Graph *apply_vars(Graph *g, size_t from, size_t to, int variant);
enum { VARS_VARIANTS = 3 };
/* The sum of all sizes of shapes and ranges. */
double sizes_sum(const Graph *g);
#endif
