/* Sessions: a document is prepared once, then called any number of times. Sections follow the
 * files. */
#ifndef RUN_SESSION_SESSION_H
#define RUN_SESSION_SESSION_H
#include "exec/exec.h"
#include "interp/interp.h"

/* ---- inputs.c: NAME=… operands against the document */

typedef struct { const char *name, *value; bool used; } Binding;        /* "@K": by position */
typedef VEC(Binding) Bindings;
/* Splits an operand NAME=VALUE or @K=VALUE; false when it has no such form. */
bool binding_parse(const char *operand, Binding *b);
/* Sets size variables from NAME=INT and from the inputs' shapes, and reads the content of every
 * input BUFFER that the sink reaches. Dies with MALFORMED (an input is missing or has the wrong
 * dtype or shape; a variable is unset or has two values) or FAILED (cannot open). */
typedef struct { UOp **buffer; Array *at; bool *fed; size_t n; VarEnv env; } Inputs;
typedef struct Feeds Feeds;
Inputs inputs_bind(const Graph *g, Bindings *b, Feeds *f, bool cast);
/* g as it is written for another process, with the names of inputs that its sink does not reach. */
Graph inputs_written(const Graph *g);
/* Evaluates meta.checks: dies with MALFORMED when one does not hold. Skips checks with a variable
 * that has no value. */
void checks_make(const Graph *g, const VarEnv *env);
const Array *input_of(const Inputs *in, const UOp *buffer);
/* Sets dtype, shape and bytes of *out with the variables' values, but not its data. Dies with
 * MALFORMED when a size is negative or there are too many elements. */
void buffer_array(const UOp *buffer, const VarEnv *env, Array *out);

/* ---- feed.c: inputs that give every call their next rows */

/* Parses --feed NAME=FILE,batch=N; shuffle is the text of --shuffle's key, or NULL. Returns NULL
 * when there are no feeds. Dies with USAGE. */
Feeds *feeds_parse(size_t n, const char *const *given, const char *shuffle);
/* Appends the feeds to the operands as NAME=FILE. */
void feeds_bind(const Feeds *f, Bindings *b);
/* Whether `file` is the file of a feed. If so, *a, which holds the whole file, gets the shape of
 * one batch, for input number `input`. Dies with USAGE when the batch size is not known, and
 * MALFORMED when the file has fewer rows than a batch. */
bool feeds_take(
	Feeds *f, const char *file, const UOp *u, size_t input, const VarEnv *env, Array *a);
/* Starts to prepare the batches from call number `call` on. Dies with MALFORMED when the feeds
 * differ in rows or batch size. */
void feeds_start(Feeds *f, int64_t call);
/* Once they are started: rows of a batch, batches until all is fed once. */
int64_t feeds_rows(const Feeds *f);
int64_t feeds_batches(const Feeds *f);
/* Sets the session's inputs to the next batch. */
void feeds_next(Feeds *f, Session *s);
/* Ends the thread and frees the batches; NULL is allowed. */
void feeds_stop(Feeds *f);

/* ---- buffers.c: where each BUFFER lives */

/* The initial content of a const or state BUFFER, in place where it lies (a file is mapped). */
Array buffer_content(const UOp *buffer, const VarEnv *env);

/* The BUFFERs of a schedule (or a later level) and their memory. The arrays have one element per
 * buffer. */
typedef struct {
	const Exec *exec;
	const Inputs *in;
	size_t n;
	UOp **u;
	Array *host;                    /* data NULL while only the device has it */
	void **mem;                     /* device memory; the data itself for a host Exec */
	void *workspace;                /* memory for the temporaries, its size and their places */
	size_t plan;
	int64_t *offset;
	bool part;                      /* of a segment, whose list has the memory but of constants
					 * and prepared buffers */
	bool *mapped;                   /* in pages of a mapped file, which can be dropped */
	bool once;                      /* one call: its steps load and evict weights */
	size_t freed;                   /* bytes of arrays, not yet given back to the system */
	bool *moved;                    /* copied by buffers_settle; NULL: none */
	Map slot;                       /* BUFFER node → 1 + its number */
} Buffers;
/* Allocates every BUFFER that the sink reaches: inputs and constants stay in place, states get
 * their initial value, and temporaries follow the document's memory plan, or one made here when the
 * sizes were not known before. part: sizes and the plan alone are set, but for constants. */
Buffers buffers_place(const Graph *g, const Exec *exec, const Inputs *in, bool part);
/* Sets the sizes and the plan of a part again, as variables have changed. */
void buffers_resize(Buffers *b, const Graph *g);
/* A part's temporaries are there from now on. */
void buffers_workspace(Buffers *b, void *workspace);
size_t buffer_slot(const Buffers *b, const UOp *u);
/* The buffer's device memory. A constant is read or mapped, and memory for a prepared buffer is
 * allocated, on the first call. */
void *buffer_memory(Buffers *b, size_t i);
/* Frees the memory of a constant or prepared buffer; buffer_memory reads a constant again. */
void buffer_evict(Buffers *b, size_t i);
/* The content on the host, copied from the device if necessary. */
Array *buffer_get(Buffers *b, size_t i);
/* Copies the host's content to the device. */
void buffer_put(Buffers *b, size_t i);
/* For a document that is called many times: copies large inputs in mapped files to memory with huge
 * pages. */
void buffers_settle(Buffers *b);
/* Frees what buffers_place allocated. */
void buffers_release(Buffers *b);

/* ---- account.c */

/* How a document's buffers use memory, in bytes. */
typedef struct { double weights, plan, given, states; } MemoryUse;
MemoryUse memory_use(const Graph *g, const Buffers *b);
/* Prints one line on standard error: that, and the process's peak. */
void memory_report(const MemoryUse *u);

/* ---- prepared.c: buffers of role prepared, which are filled once */

typedef struct Prepared Prepared;
/* Maps the prepared buffers that an earlier run left in the cache. program has the program of each
 * of the sink's calls (NULL for a copy); it is NULL when the cache must not be used, because
 * something is interpreted or every call is inspected. */
Prepared *prepared_find(
	const Graph *g, Buffers *b, const Program *const *program, int threads);
/* How many of the sink's first calls fill prepared buffers and so run once; and whether one of them
 * can be skipped because its results were found in the cache. */
size_t prepared_calls(const Prepared *p);
bool prepared_skips(const Prepared *p, size_t call);
/* To be called after each of those calls, run or skipped: stores its results in the cache and frees
 * buffers that no later call reads, so that constants and what is computed from them are not all in
 * memory at once. */
void prepared_done(Prepared *p, Buffers *b, size_t call);
/* For a document that is called many times: copies large results from the cache to memory with huge
 * pages. */
void prepared_settle(Prepared *p, Buffers *b);
/* Unmaps what came from the cache; to be called before buffers_release. */
void prepared_release(const Prepared *p, Buffers *b);

/* ---- session.c: preparing a document, and calling it */

typedef struct {
	const char *device;             /* NULL: the first that runs the target */
	const char *interpret_only;     /* "K3,r_64", or NULL */
	const char *keep;               /* --keep: a folder for what each call writes, or NULL */
	const char *dump;               /* --dump: "K3,t2", or NULL */
	bool range, check_nan;
	Graph *origin;                  /* --check-nan: the document as given, or NULL */
	const char *context;            /* what --check-nan says after the op; NULL: nothing */
	bool interpret, profile;
	bool sandbox;                   /* confined before the first call */
	/* then it may read this file besides, and write where these are; or NULL */
	const char *reads, *writes[6];
	int threads;                    /* 0: one per core */
	bool often;                     /* many calls follow: worth extra time before the first */
	Feeds *feeds;                   /* inputs fed by rows, or NULL */
	BuildOptions build;
} SessionOptions;
/* seal.c: the folder that a path's last part is in */
const char *folder_of(const char *path);
/* Walls around the process and what it will run; dies where there can be none. */
void session_seal(const Graph *g, const Exec *e, const SessionOptions *o);
/* Compiles and loads the programs and allocates the buffers. g is at level program, or at any level
 * with interpret. */
Session *session_open(Graph *g, const Inputs *in, const SessionOptions *o);
/* Calls the whole document once; states are kept for the next call. */
void session_call(Session *s);
/* Replaces the data of input k of the Inputs from the next call on; the shape stays. */
void session_input(Session *s, size_t k, void *data);
/* The states' contents between two calls, sorted by name. They may be changed; session_states_put
 * then copies them to the device. */
size_t session_states(Session *s, const char *const **names, const Array **at);
void session_states_put(Session *s);
/* The outputs of the last call, in the document's order. */
size_t session_outputs(Session *s, const char *const **names, const Array **at);
/* profile.c: prints the tables of --profile on standard error and returns the document with
 * meta.timings and meta.measured. */
Graph *session_profile(const Session *s);
/* Puts each run of a kernel on the timeline (process/timeline.c). */
void session_trace(const Session *s);
/* --laps: writes a line for each kernel, its name and the nanoseconds of each of its runs. */
void session_laps(const Session *s, const char *file);
/* Frees the session's memory, for the next document of a stream. */
void session_close(Session *s);

/* ---- interpret.c: executing any level without a compiler */

/* the content of a state between the calls of one run */
typedef struct { UOp *buffer; Array at; } State;
typedef VEC(State) States;
/* Every state that the sink reaches, with its initial value. */
void states_open(const Graph *g, const Inputs *in, States *states);
/* Evaluates a document of level graph once. out gets one Array for each source of the SINK, valid
 * until the next call. */
void interpret_graph(
	const Graph *g, const Inputs *in, States *states, Array *out, Watch *watch);
/* Runs one CALL's KERNEL or PROGRAM on buffers in host memory. watch may be NULL. */
void interpret_call(UOp *callee, Level level, const VarEnv *env, size_t nbuf, void *const *buf,
	Watch *watch);
/* The names of the SINK's outputs; out0, out1, … if it gives none. */
const char **output_names(const Graph *g, size_t *n);

/* ---- save.c: states in .safetensors */

/* Writes the states and the number of calls that made them, atomically; the file is on disk when it
 * returns. */
void states_save(Session *s, const char *path, int64_t calls);
/* The same of any arrays; of a file with all of them and no other shape, read into them. */
void states_write(
	size_t n, const char *const *names, const Array *at, const char *path, int64_t calls);
int64_t states_read(size_t n, const char *const *names, const Array *at, const char *path);
/* Reads the states from a file; returns how many calls made them, 0 when the file does not say.
 * Dies with MALFORMED when a state is missing or has another dtype or shape. */
int64_t states_load(Session *s, const char *path);

/* ---- collect.c: the outputs of all calls with feeds */

typedef struct Collected Collected;
Collected *collected_new(const Feeds *f);
/* after a call */
void collected_add(Collected *c, Session *s);
/* As session_outputs, those that have a row for each row of a batch with the rows of all calls;
 * they last until collected_free. */
size_t collected_outputs(Collected *c, Session *s, const char *const **names, const Array **at);
void collected_free(Collected *c);

/* ---- steps.c: the calls of a run, one after another */

typedef struct {
	/* calls of this run (0: one, or once all that is fed); calls in all, unless 0 */
	int64_t times, until;
	int64_t save_every, every;      /* calls between two saves, two reports (0: none) */
	const char *save, *load;        /* or NULL */
	bool progress;                  /* show a progress line on a terminal */
	Collected *collected;           /* gets the outputs of each call, or NULL */
} CallOptions;
/* Loads states and starts feeds, makes the calls, reports and saves. Returns the number of calls
 * made; *first_ms gets the time of the first. */
int64_t calls_run(Session *s, Feeds *f, const CallOptions *o, double *first_ms);

/* ---- outputs.c, bench.c */

/* Removes the outputs that exist only to update a state (meta.updates); returns how many are left.
 */
size_t outputs_asked(const Graph *g, size_t n, const char *const **names, const Array **at);
/* Dies with USAGE when outputs cannot go to `to` by its name. */
void outputs_check_place(const char *to);
/* to is a folder, FILE.npy, FILE.npz, an endpoint, "-" (.npy on standard output), or NULL to print.
 * numbered: output_K instead of names. groups is meta.output_groups, or NULL. */
void outputs_write(size_t n, const char *const *names, const Array *at, const char *to,
	bool numbered, const Val *groups);
/* Repeats call(of) for `seconds` (at least 7 times) and prints minimum and median on standard
 * error; file may be NULL. */
void bench(void (*call)(void *of), void *of, double seconds, double build_ms, double first_ms,
	const char *file);

/* ---- raise.c */

/* Raises g to level program, by the stages or from the cache. */
Graph *program_raise(Graph *g, const char *target);

/* ---- packed.c: libraries that pack has made */

typedef struct Packed Packed;
/* Whether a file is a shared object, which is code. */
bool packed_is(const char *file);
/* Loads it, and binds inputs and sizes of its function (NULL: the only one), on a device (NULL: the
 * CPU). Dies with MALFORMED or USAGE, UNSUPPORTED where there is no such device. */
Packed *packed_open(const char *file, const char *function, const char *device,
	Bindings *operands, int threads);
/* Calls it once; states are kept. */
void packed_call(Packed *p);
/* The states, to be read or set between calls. */
size_t packed_states(Packed *p, const char *const **names, const Array **at);
/* The outputs of the last call. */
size_t packed_outputs(Packed *p, const char *const **names, const Array **at);
void packed_close(Packed *p);
#endif
