/* run: a document to numbers.  compile: sources to objects.  Sections follow the files. */
#ifndef RUN_H
#define RUN_H
#include "uop.h"

/* ---- programs.c: the PROGRAM nodes of a document */

typedef enum { RUNTIME_CPU, RUNTIME_OPENCL, RUNTIME_CUDA } Runtime;
typedef struct {
	UOp *u;                         /* the PROGRAM node */
	const char *name, *src, *target, *flags;
	const char *digest;             /* of src; given where lean.c has taken src away */
	const char *object, *entry;     /* NULL until compiled */
	Runtime runtime;
	bool alone;                     /* its source shares no file with another */
	size_t nvars, nslots;
	const Val *const *vars;         /* names, as STR */
	const Val *ins, *outs;          /* slots */
	UOp *global[3], *local[3];      /* sizes; all 1 when there are none */
	UOp *work;                      /* nanoseconds of an item (CPU) */
	bool once;                      /* only calls that prepare buffers call it */
	const char *where;              /* "node 17 PROGRAM (r_64)" for messages */
} Program;
typedef struct { Program *at; size_t n; } Programs;
/* The distinct PROGRAMs that the document's CALLs name, in order of first call (in the arena). Dies
 * with MALFORMED when one's arg is not as common/README.md has it, with UNSUPPORTED for a target
 * that nothing here executes. */
Programs programs_of(const Graph *g);
/* g with each Program's object and entry put into its PROGRAM node. */
Graph *programs_put(const Graph *g, const Programs *p);

/* ---- lean.c */

/* g checked, and, of level program, without what compiled programs do not need to be called:
 * sources, and all of their kernels but the buffers and sizes that they ask for. Where that changes
 * anything g is copied and the arena reset, so nothing else may be in it that is wanted. */
Graph *lean(Graph *g);

/* ---- cache.c: objects by content, in the user's cache folder */

typedef struct { uint64_t hi, lo; } Key;
typedef struct { char s[33]; } KeyText;         /* 32 hexadecimal digits */
/* A key is built from parts; each part counts with its length. */
Key key_start(const char *kind);
Key key_add(Key k, const void *p, size_t n);
Key key_adds(Key k, const char *s);
KeyText key_text(Key k);
/* Path of a whole, unharmed entry in the arena, or NULL (a harmed one is removed). */
const char *cache_find(Key k, const char *suffix);
/* Puts a file's bytes under each of n keys (one file, many names); returns the path of the first.
 * Safe against other processes that do the same. */
const char *cache_store(size_t n, const Key *keys, const char *suffix, const void *p, size_t bytes);
/* n entries of so many bytes each, mapped and checked by that many threads: at gets their places, as
 * memory that may be written without the file's knowing, NULL for one that is missing or harmed.
 * leave: what was checked leaves memory until it is read. */
void cache_map(size_t n, const Key *key, const char *suffix, const size_t *bytes, void **at,
	bool leave, int threads);
/* NULL is nothing. */
void cache_unmap(void *p, size_t bytes);
/* Puts bytes under a key if there is room, and returns them mapped as by cache_map, none of them in
 * memory yet; NULL without a word when there is not. */
void *cache_keep(Key k, const char *suffix, const void *p, size_t bytes);
/* Bytes that the folder may hold, SLUICE_CACHE_SIZE; 0 when nothing can be kept. */
int64_t cache_limit(void);
/* True when the file at path is an entry. */
bool cache_owns(const char *path);
/* The bytes of an entry without its check, mapped read-only. */
const void *cache_read(const char *path, size_t *n);
/* A folder of this process for passing files, removed at its end. */
const char *cache_scratch(void);
/* Path of a file there that is not taken yet: "…/STEM-7". */
const char *cache_new(const char *stem);

/* ---- cache_prune.c: the cache's bound */

/* Told of bytes that were stored in the folder: the least recently used entries go once it holds
 * more than limit. */
void cache_grown(const char *folder, size_t bytes, int64_t limit);

/* ---- build.c: every missing object of a document, in parallel */

typedef struct {
	const char *cc;                 /* --cc, or NULL: cc, gcc or clang of PATH */
	int jobs;                       /* 0: as many as there are cores */
	bool progress; /* draw it when it takes over a second and standard error is a terminal */
	bool fast;                      /* unoptimised C: compiled in a tenth of the time */
} BuildOptions;
/* Fills object and entry of every Program that runs from an object. Dies with FAILED and the
 * compiler's first line. */
void build_programs(size_t n, Program *const *p, const BuildOptions *o);

/* ---- cores.c */

/* Processors that this process may keep busy: by its affinity and its control group's quota; from 1
 * to MOST_THREADS. */
int cores(void);
enum { MOST_THREADS = 256 };

/* ---- build_cpu.c: C to a shared object through the system's compiler */

void build_cpu(size_t n, Program *const *p, const BuildOptions *o);

/* With everything about this machine's processor that -march=native looks at. */
Key key_processor(Key k);

/* ---- raise.c */

/* g at level program, by the stages or from the cache. */
Graph *program_raise(Graph *g, const char *target);

/* ---- canonical.c */

/* What of a C source decides its object: without comments, names of the kernel and its parameters
 * by their place. In the arena; no C text itself. */
const char *source_canonical(const char *name, const char *src);

/* ---- build_cuda.c: CUDA C to PTX or a cubin through NVRTC */

void build_cuda(size_t n, Program *const *p, const BuildOptions *o);

/* ---- progress.c: one line on a terminal */

void progress_start(const char *what, size_t of, bool wanted);
void progress_step(size_t done);
void progress_end(void);

/* ---- pool.c: threads that share the items of a launch */

/* A kernel's entry on the CPU (common/README.md, level program). */
typedef void (*Items)(void *const *bufs, const int64_t *vars, int64_t from, int64_t to);
/* How threads share a launch: at most so many, chunk items at a time. work: nanoseconds of all its
 * items together. wake: so much work is ahead that threads are woken for it. */
typedef struct { int threads; bool wake; int64_t chunk, work; } Split;
/* For items of `work` nanoseconds each over at most `most` threads; one thread when more would not
 * gain. wake is the caller's to decide, from the work of this launch and of those after it. */
Split pool_split(int64_t items, int64_t work, int most);
bool pool_worth_waking(int64_t work);
/* n threads, this one among them, which takes the processor it is on for its own. */
void pool_start(int n);
/* Calls for the items 0 … items-1 and returns when all are done. */
void pool_run(Items call, void *const *buf, const int64_t *vars, int64_t items, const Split *s);
/* Ends the threads; this one may run anywhere again. */
void pool_stop(void);

/* ---- memory.c: memory of buffers on the CPU */

enum { HUGE_PAGE = 2 << 20 };
/* Zeroed, aligned to 64 bytes, in huge pages when it is large; no two in a row start at the same
 * place of their 4 KB. Dies with FAILED. */
void *memory_take(size_t bytes);
/* NULL is nothing. */
void memory_give(void *p);
/* The most memory that this process has had, in bytes. */
size_t memory_peak(void);
/* A copy of from, which lies in a mapped file: its pages leave memory as they are copied, so that
 * both are never there whole. */
void *memory_move(const void *from, size_t bytes);

/* ---- exec_cpu.c, exec_opencl.c, exec_cuda.c: devices behind one struct of functions */

/* A launch made ready once for all calls. */
typedef struct {
	void *kernel;                   /* from load */
	size_t nbuf, nvars;
	void *const *buf;
	const int64_t *vars;            /* in the program's order */
	int64_t groups[3], items[3];    /* groups, and work items of a group */
	Split split;                    /* on the CPU */
} Launch;
typedef struct Exec Exec;
struct Exec {
	const char *name;               /* "cpu", "opencl", "cuda": a device is NAME or NAME:NUMBER */
	bool host;                      /* device memory is this process's own: no copies are needed */
	int align;                      /* bytes, of a slice of device memory */
	/* Calls tell(ctx, device, description) for each device; never dies. Returns how many. */
	int (*list)(void (*tell)(void *ctx, const char *device, const char *text), void *ctx);
	/* Takes device number i; dies with UNSUPPORTED when it is not there. */
	void (*open)(int i);
	/* Device memory, zeroed; a part of it (freed with its parent); dies with FAILED when there is
	 * none left. */
	void *(*alloc)(size_t bytes);
	void *(*slice)(void *mem, size_t offset, size_t bytes);
	void (*release)(void *mem);
	/* Copies, in the order of the launches. get waits for them. */
	void (*put)(void *mem, const void *host, size_t bytes);
	void (*get)(void *host, void *mem, size_t bytes);
	void (*copy)(void *to, void *from, size_t bytes);
	/* A kernel ready to launch; dies with FAILED and the device compiler's first line. Programs
	 * arrive together so that a device may build them in parallel; kernel[i] stands for p[i]. */
	void (*load)(size_t n, Program *const *p, void **kernel);
	void (*launch)(const Launch *l);
	void (*sync)(void);
};
extern const Exec exec_cpu, exec_opencl, exec_cuda;
/* The Exec of a device's name and its number there; NULL when no Exec has that name. */
const Exec *exec_find(const char *device, int *number);
void exec_list(FILE *f);
/* Dies with UNSUPPORTED when a COPY names a device that is not there. */
void devices_check(const Graph *g);

typedef struct Session Session;

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
/* Pages of a mapped file leave memory; they are read again when they are needed. */
void pages_drop(const void *p, size_t n);
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
#endif
