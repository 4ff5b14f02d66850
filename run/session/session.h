/* A document made ready, and called.  Sections follow the files. */
#ifndef RUN_SESSION_SESSION_H
#define RUN_SESSION_SESSION_H
#include "exec/exec.h"
#include "interp/interp.h"

/* ---- inputs.c: NAME=… operands against the document */

typedef struct { const char *name, *value; bool used; } Binding;        /* name "@K" by position */
typedef VEC(Binding) Bindings;
/* An operand NAME=VALUE or @K=VALUE split; false when it is not one. */
bool binding_parse(const char *operand, Binding *b);
/* Size variables from NAME=INT and from the inputs' shapes, and the content of every input BUFFER
 * that the sink reaches. Dies with MALFORMED (missing, wrong dtype or shape, variables that are
 * unset or differ), FAILED (cannot open). */
typedef struct { UOp **buffer; Array *at; bool *fed; size_t n; VarEnv env; } Inputs;
typedef struct Feeds Feeds;
Inputs inputs_bind(const Graph *g, Bindings *b, Feeds *f);
/* meta.checks: dies with MALFORMED when one does not hold; those of a variable without a value are passed over. */
void checks_make(const Graph *g, const VarEnv *env);
const Array *input_of(const Inputs *in, const UOp *buffer);
/* The buffer's shape with the variables' values; false when a size is negative or there are too
 * many elements. */
void buffer_array(const UOp *buffer, const VarEnv *env, Array *out);

/* ---- feed.c: inputs of which every call takes the next rows */

/* From --feed NAME=FILE,batch=N; shuffle is the key of random orders as text, or NULL. NULL when
 * none is given. Dies with USAGE. */
Feeds *feeds_parse(size_t n, const char *const *given, const char *shuffle);
/* The same as operands NAME=FILE. */
void feeds_bind(const Feeds *f, Bindings *b);
/* Whether an operand's value is a feed's; then the whole file in *a becomes the shape of a call's
 * part, for input number `input`. Dies with USAGE when its rows are open, MALFORMED when there are
 * fewer. */
bool feeds_take(
	Feeds *f, const char *file, const UOp *u, size_t input, const VarEnv *env, Array *a);
/* Starts to prepare what call number `call` and those after it take. Dies with MALFORMED when the
 * feeds do not go in step. */
void feeds_start(Feeds *f, int64_t call);
/* What the next call takes becomes the session's inputs. */
void feeds_next(Feeds *f, Session *s);
/* NULL is none. */
void feeds_stop(Feeds *f);

/* ---- buffers.c: where each BUFFER lives */

/* Content a const or state BUFFER starts with, in place where it lies (a file is mapped). */
Array buffer_content(const UOp *buffer, const VarEnv *env);

/* The BUFFERs of a schedule (or what is below it), each with its place. Arrays run in parallel. */
typedef struct {
	const Exec *exec;
	const Inputs *in;
	size_t n;
	UOp **u;
	Array *host;                    /* data NULL while only the device has it */
	void **mem;                     /* device memory; for a host Exec the data itself */
	void *workspace;                /* the temporaries', of so many bytes: */
	size_t plan;
	bool *mapped;                   /* in pages of a file, which may leave memory */
	bool once;                      /* there is one call: weights come and leave with its steps */
	bool *moved;                    /* by buffers_settle; NULL: none */
	Map slot;                       /* BUFFER node → 1 + its number */
} Buffers;
/* Places every BUFFER that the sink reaches: inputs and constants in place, states filled with
 * their first value, outputs, temporaries by the document's plan, or by one made here when the
 * sizes are known only now. */
Buffers buffers_place(const Graph *g, const Exec *exec, const Inputs *in);
size_t buffer_slot(const Buffers *b, const UOp *u);
/* Its device memory. A constant's content is read or mapped, and memory for a prepared buffer
 * taken, when this is asked first. */
void *buffer_memory(Buffers *b, size_t i);
/* A constant or prepared buffer leaves memory; buffer_memory brings a constant again. */
void buffer_leave(Buffers *b, size_t i);
/* The content on the host, copied from the device when it must be. */
Array *buffer_get(Buffers *b, size_t i);
/* The host's content to the device. */
void buffer_put(Buffers *b, size_t i);
/* For a document that is called often: large inputs that lie in mapped files move to memory of their
 * own, in huge pages. */
void buffers_settle(Buffers *b);
/* Gives back what buffers_place took. */
void buffers_release(Buffers *b);

/* ---- account.c */

/* One line on standard error: what memory was for, and the most that there was. */
void memory_tell(const Graph *g, const Buffers *b);

/* ---- prepared.c: buffers of role prepared, filled once */

typedef struct Prepared Prepared;
/* What an earlier run left in the cache takes its place. program: of each of the sink's calls
 * (NULL: a copy), or NULL for no cache: when something is interpreted, or every call is to be
 * looked at. */
Prepared *prepared_find(
	const Graph *g, Buffers *b, const Program *const *program, int threads);
/* The sink's first calls, that many, run once; those that skip need not, as what they write was
 * found. */
size_t prepared_calls(const Prepared *p);
bool prepared_skips(const Prepared *p, size_t call);
/* After one of those calls, or where it was skipped: results go to the cache, memory that no later call reads is given
 * back, so that constants and what is made of them are not all there at once. */
void prepared_done(Prepared *p, Buffers *b, size_t call);
/* For a document that is called often: what was found moves to memory of its own, in huge pages. */
void prepared_settle(Prepared *p, Buffers *b);
/* Gives back what was found, before buffers_release. */
void prepared_release(const Prepared *p, Buffers *b);

/* ---- session.c: a document made ready, and called */

typedef struct {
	const char *device;             /* NULL: the first of the target's kind */
	const char *interpret_only;     /* "K3,r_64", or NULL */
	const char *keep;               /* a folder for what each call writes, or NULL */
	bool interpret, profile;
	int threads;                    /* 0: as many as there are cores */
	bool often;                     /* worth some time before the first call */
	Feeds *feeds;                   /* what each call takes the next rows of, or NULL */
	BuildOptions build;
} SessionOptions;
/* Compiled, loaded, its memory placed. The graph is at level program, or at any level with
 * interpret. */
Session *session_open(Graph *g, const Inputs *in, const SessionOptions *o);
/* One call of the whole document; states are kept for the next. */
void session_call(Session *s);
/* Another array for input k of the Inputs from the next call on, of the shape that was bound. */
void session_input(Session *s, size_t k, void *data);
/* The states' contents between two calls, in the order of their names. They may be changed; then
 * session_states_put tells the device. */
size_t session_states(Session *s, const char *const **names, const Array **at);
void session_states_put(Session *s);
/* Outputs of the last call, in the document's order. */
size_t session_outputs(Session *s, const char *const **names, const Array **at);
/* Prints the table of --profile on standard error; the document with meta.timings. */
Graph *session_profile(const Session *s);
/* Gives its memory back: between two documents of a stream. */
void session_close(Session *s);

/* ---- interpret.c: any level without a compiler */

/* state contents between the calls of one run, by BUFFER */
typedef struct { UOp *buffer; Array at; } State;
typedef VEC(State) States;
/* Every state that the sink reaches, with its first value. */
void states_open(const Graph *g, const Inputs *in, States *states);
/* Evaluates a document of level graph once. out has one Array for each source of the SINK, good
 * until the next call. */
void interpret_graph(const Graph *g, const Inputs *in, States *states, Array *out);
/* Runs one CALL's KERNEL or PROGRAM on buffers in host memory. */
void interpret_call(UOp *callee, Level level, const VarEnv *env, size_t nbuf, void *const *buf);
/* names of the SINK's outputs; out0, out1, … where it gives none */
const char **output_names(const Graph *g, size_t *n);

/* ---- trim.c: outputs whose sizes are data (common/README.md, meta.counts and meta.trims) */

/* Makes the counts known as sizes, so that meta can speak of them. */
void counts_declare(const Graph *g);
/* Cuts the outputs to the sizes that their counts say, makes meta.checks that speak of them, and
 * returns how many are the user's: the counts stand behind. at gets the cut ones. */
size_t outputs_trim(const Graph *g, const VarEnv *env, size_t n, const char *const *names,
	const Array **at);

/* ---- save.c: states in .safetensors */

/* The states' contents and how many calls made them, whole or not at all, on the disk when it
 * returns. */
void states_save(Session *s, const char *path, int64_t calls);
/* Takes them from a file; returns how many calls made them, 0 when it does not say. Dies with
 * MALFORMED when a state is not there or is of another dtype or shape. */
int64_t states_load(Session *s, const char *path);

/* ---- steps.c: calls one after another */

typedef struct {
	int64_t times, until;           /* so many calls; or all since the first, when until is not 0 */
	int64_t save_every, every;      /* calls from one save, one report to the next (0: none) */
	const char *save, *load;        /* or NULL */
	bool progress;                  /* a line on a terminal */
} StepOptions;
/* Opens what the calls take, makes them, reports and saves. Returns how many it made; first_ms is
 * what the first took. */
int64_t steps_run(Session *s, Feeds *f, const StepOptions *o, double *first_ms);

/* ---- outputs.c, bench.c */

/* Without those that are there for the update of a state alone (meta.updates); returns how many are
 * left. */
size_t outputs_asked(const Graph *g, size_t n, const char *const **names, const Array **at);
/* to: a folder, a FILE.npz, or NULL: printed. numbered: output_K instead of names. groups:
 * meta.output_groups, or NULL. */
void outputs_write(size_t n, const char *const *names, const Array *at, const char *to,
	bool numbered, const Val *groups);
/* Repeats session_call for some seconds (at least 7 times) and prints minimum and median on
 * standard error; file may be NULL. */
void bench(Session *s, double seconds, double build_ms, double first_ms, const char *file);

/* ---- raise.c */

/* g at level program, by the stages or from the cache. */
Graph *program_raise(Graph *g, const char *target);
#endif
