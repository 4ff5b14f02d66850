/* Programs, and the objects compiled from them. Sections follow the files. */
#ifndef RUN_BUILD_BUILD_H
#define RUN_BUILD_BUILD_H
#include "graph/graph.h"
#include "host/host.h"

/* ---- programs.c: the PROGRAM nodes of a document */

typedef struct Object Object;
typedef enum { RUNTIME_CPU, RUNTIME_OPENCL, RUNTIME_CUDA } Runtime;
typedef struct {
	UOp *u;                         /* the PROGRAM node */
	const char *name, *src, *target, *flags;
	const char *digest;             /* of src; in the node once lean.c has removed src */
	const char *object, *entry;     /* NULL until compiled; object: its path, if it has one */
	const char *key;                /* of the cache's entry that the document names; or NULL */
	bool given;                     /* the object is that which the document names */
	Object *file;                   /* opened and checked; NULL until then */
	void *function;                 /* of the entry, on a CPU, once it is loaded */
	const char *made;               /* what determined the object, for keys; NULL: not known */
	Runtime runtime;
	bool ir;                        /* its source is LLVM IR, not C */
	bool alone;                     /* its source cannot share a file with another */
	size_t nvars, nslots;
	const Val *const *vars;         /* names, as STR */
	const Val *ins, *outs;          /* slots */
	UOp *global[3], *local[3];      /* sizes; all 1 when there are none */
	UOp *work;                      /* nanoseconds an item takes (CPU) */
	bool brief;                     /* it takes too little of the time to be optimised */
	bool alternate;                 /* launches run its items from either end in turn */
	const char *where;              /* "node 17 PROGRAM (r_64)" for messages */
} Program;
typedef struct { Program *at; size_t n; } Programs;
/* The distinct PROGRAMs that the document's CALLs name, in order of first call (in the arena). Dies
 * with MALFORMED when an arg does not have the form in common/README.md, and with UNSUPPORTED for a
 * target that no device here executes. */
Programs programs_of(const Graph *g);
/* The symbol that run looks for in p's object: on a CPU. */
const char *program_entry(const Program *p);
/* of its object's entry in the cache */
const char *program_suffix(const Program *p);
/* Whether g has something for another device than the CPU, whose drivers need what walls take away.
 */
bool programs_elsewhere(const Graph *g);
bool target_elsewhere(const char *target);
/* g with each Program's object and entry put into its PROGRAM node. */
Graph *programs_put(const Graph *g, const Programs *p);

/* ---- flags.c: the flags that a program may give to its compiler */

/* Dies with MALFORMED when p has another flag than its target's. */
void flags_check(const Program *p);
/* The next word of *text, n bytes, and *text after it; NULL at the end. */
const char *flag_next(const char **text, size_t *n);

/* ---- lean.c */

/* At level program, removes from g, which is verified, what calling compiled programs does not
 * need: their sources, and everything in their kernels except the buffers and sizes they use. If
 * that changes anything, g is copied and the arena is reset, so the arena may hold nothing else
 * that is still needed. */
Graph *lean(Graph *g);

/* ---- object.c: files of machine code or PTX, opened and checked once */

/* The object of an open file that is known already, which closes fd; NULL for another file. */
Object *object_held(int fd);
/* A new object of `bytes` bytes, which the file starts with. It keeps fd. */
Object *object_hold(int fd, size_t bytes);
/* The same for bytes in memory. */
Object *object_new(const void *p, size_t n);
/* Its content and a NUL; malloc'd. */
char *object_text(const Object *o);
/* Loads machine code, at the first call, and returns its function of that name, or NULL. */
void *object_function(Object *o, const char *name);
/* Opens the object that the document names for p, and compares its bytes with object_hash; load: on
 * a CPU, loads it. False when that is not possible: p has to be built. */
bool object_given(Program *p, bool load);

/* ---- cache.c: objects by content, in the user's cache folder */

typedef Digest Key;
/* A key is built from parts; the length of each part is hashed too. */
Key key_start(const char *kind);
Key key_add(Key k, const void *p, size_t n);
Key key_adds(Key k, const char *s);
/* The object of an intact entry, and its path (in the arena); NULL when there is none. A damaged
 * entry is removed. */
Object *cache_object(Key k, const char *suffix, const char **path);
/* The object of an intact entry at a path, which is left alone otherwise; NULL when it is none. */
Object *cache_object_at(const char *path, const char *suffix);
/* Stores bytes under each of n keys: one file, many names, whose paths path gets; NULL for what
 * cannot be stored. Other processes may do the same at the same time. */
void cache_store(size_t n, const Key *keys, const char *suffix, const void *p, size_t bytes,
	const char **path);
/* Removes an entry. */
void cache_drop(Key k, const char *suffix);
/* Maps n entries of the given sizes and checks them with `threads` threads. at gets their
 * addresses, NULL for an entry that is missing or damaged; the mappings are private, so writing to
 * them does not change the files. leave: drop the pages after checking, until they are read. */
void cache_map(size_t n, const Key *key, const char *suffix, const size_t *bytes, void **at,
	bool leave, int threads);
/* NULL is allowed. */
void cache_unmap(void *p, size_t bytes);
/* Stores n entries with `threads` threads, if there is space. at gets them mapped as by cache_map,
 * with no page in memory yet; NULL, without a message, where there was no space. */
void cache_keep(size_t n, const Key *key, const char *suffix, const void *const *p,
	const size_t *bytes, void **at, int threads);
/* The content of an entry, mapped read-only; NULL when there is none. */
const void *cache_read(Key k, const char *suffix, size_t *n);
/* How many of a file's n bytes are content: an entry has a trailer. */
size_t cache_content(int fd, size_t n);

/* ---- cache_folder.c: where the cache is, and temporary files */

/* The cache folder, or NULL when none can be written. Found once. */
const char *cache_folder(void);
/* How many bytes the folder may hold, by SLUICE_CACHE_SIZE; 0 when nothing can be stored. */
int64_t cache_limit(void);
/* A folder for temporary files of this process, removed when it exits. */
const char *cache_scratch(void);
/* Path of a file there that is not taken yet: "…/STEM-7". */
const char *cache_new(const char *stem);
/* The same, on the cache's file system; NULL when there is no room. */
const char *cache_beside(const char *stem);

/* ---- cache_prune.c: the cache's size limit */

/* Records that bytes were stored in the folder. Once it holds more than limit, the least recently
 * used entries are removed. */
void cache_grown(const char *folder, size_t bytes, int64_t limit);

/* ---- build.c: builds every missing object of a document, in parallel */

typedef struct {
	int jobs;                       /* 0: one per core */
	bool progress; /* show a progress bar after a second, on a terminal */
	bool load;                      /* for a CPU: load the objects too */
} BuildOptions;
/* Sets file and entry of every Program that runs from an object, object when it lies in a file, and
 * function when it is loaded. Dies with FAILED and the first line of the compiler's message. */
void build_programs(size_t n, Program *const *p, const BuildOptions *o);

/* ---- build_cpu.c: C to a shared object through the system's compiler */

/* The first call of all in this file. cc: --cc, or NULL: cc, gcc or clang of PATH; fast:
 * unoptimised, compiled in a tenth of the time; target: what will be compiled for, or NULL. */
void build_offer(const char *cc, bool fast, const char *target);
/* Classes of kernels, which are not optimised alike: plain loops; kernels with explicit vectors;
 * those that are estimated to take little of a call, or run once, before the first. */
typedef enum { PLAIN, VECTORS, BRIEF, CLASSES } KernelClass;
/* The numbers of workers of `run` and `compile`. */
enum { BUILD_WORKER, DEVICE_WORKER };

void build_cpu(size_t n, Program *const *p, const BuildOptions *o);

/* Adds everything about this machine's processor that -march=native depends on. */
Key key_processor(Key k);

/* ---- canonical.c */

/* The part of a C source that decides its object: without comments, and with the names of the
 * kernel and its parameters replaced by their positions (in the arena). It is not valid C. */
const char *source_canonical(const char *name, const char *src);
/* The same of LLVM IR. */
const char *ir_canonical(const char *name, const char *src);

/* ---- build_llvm.c: LLVM IR to an object, and that to functions, by LLVM's library, which is
 * loaded when it is needed */

/* Opens the library, if it is there, so that workers that are forked later share its memory. */
void llvm_offer(void);
/* Whether a source has vectors, and no arithmetic on floating-point numbers beside them. */
bool llvm_has_vectors(const char *src);
/* everything that an object depends on but its source */
Key llvm_key(KernelClass class, bool fast);
/* Adds p, whose functions get names by its key, to a unit. */
void llvm_unit(Buf *b, const Program *p, const char *key);
/* A unit's object, or (FAILED) what LLVM said, or (UNSUPPORTED) that it is not there; in a process
 * that ends then. attempt: how many failed before */
int llvm_compile(const char *flags, KernelClass class, bool fast, int attempt, const char *unit,
	const char *end, Buf *out);
/* Loads an object's n bytes, or dies with UNSUPPORTED; finds a function in what that gave, NULL
 * when it has none. */
void *llvm_load(const char *object, size_t n);
void *llvm_function(void *jit, const char *name);

/* ---- build_cuda.c: CUDA C to PTX or a cubin through NVRTC */

void build_cuda(size_t n, Program *const *p, const BuildOptions *o);
#endif
