/* Programs, and the objects compiled from them. Sections follow the files. */
#ifndef RUN_BUILD_BUILD_H
#define RUN_BUILD_BUILD_H
#include "graph/graph.h"
#include "host/host.h"

/* ---- programs.c: the PROGRAM nodes of a document */

typedef enum { RUNTIME_CPU, RUNTIME_OPENCL, RUNTIME_CUDA } Runtime;
typedef struct {
	UOp *u;                         /* the PROGRAM node */
	const char *name, *src, *target, *flags;
	const char *digest;             /* of src; in the node once lean.c has removed src */
	const char *object, *entry;     /* NULL until compiled */
	Runtime runtime;
	bool alone;                     /* its source cannot share a file with another */
	size_t nvars, nslots;
	const Val *const *vars;         /* names, as STR */
	const Val *ins, *outs;          /* slots */
	UOp *global[3], *local[3];      /* sizes; all 1 when there are none */
	UOp *work;                      /* nanoseconds an item takes (CPU) */
	bool once;                      /* only calls that prepare buffers call it */
	const char *where;              /* "node 17 PROGRAM (r_64)" for messages */
} Program;
typedef struct { Program *at; size_t n; } Programs;
/* The distinct PROGRAMs that the document's CALLs name, in order of first call (in the arena). Dies
 * with MALFORMED when an arg does not have the form in common/README.md, and with UNSUPPORTED for a
 * target that no device here executes. */
Programs programs_of(const Graph *g);
/* g with each Program's object and entry put into its PROGRAM node. */
Graph *programs_put(const Graph *g, const Programs *p);

/* ---- lean.c */

/* Verifies g and, at level program, removes what calling compiled programs does not need: their
 * sources, and everything in their kernels except the buffers and sizes they use. If that changes
 * anything, g is copied and the arena is reset, so the arena may hold nothing else that is still
 * needed. */
Graph *lean(Graph *g);

/* ---- cache.c: objects by content, in the user's cache folder */

typedef struct { uint64_t hi, lo; } Key;
typedef struct { char s[33]; } KeyText;         /* 32 hexadecimal digits */
/* A key is built from parts; the length of each part is hashed too. */
Key key_start(const char *kind);
Key key_add(Key k, const void *p, size_t n);
Key key_adds(Key k, const char *s);
KeyText key_text(Key k);
/* Path of an intact entry (in the arena), or NULL. A damaged entry is removed. */
const char *cache_find(Key k, const char *suffix);
/* Stores bytes under each of n keys (one file, many names); returns the path of the first. Other
 * processes may do the same at the same time. */
const char *cache_store(size_t n, const Key *keys, const char *suffix, const void *p, size_t bytes);
/* Maps n entries of the given sizes and checks them with `threads` threads. at gets their
 * addresses, NULL for an entry that is missing or damaged; the mappings are private, so writing to
 * them does not change the files. leave: drop the pages after checking, until they are read. */
void cache_map(size_t n, const Key *key, const char *suffix, const size_t *bytes, void **at,
	bool leave, int threads);
/* NULL is allowed. */
void cache_unmap(void *p, size_t bytes);
/* Stores bytes under a key if there is space, and returns them mapped as by cache_map, with no page
 * in memory yet; returns NULL, without a message, when there is no space. */
void *cache_keep(Key k, const char *suffix, const void *p, size_t bytes);
/* How many bytes the folder may hold, by SLUICE_CACHE_SIZE; 0 when nothing can be stored. */
int64_t cache_limit(void);
/* The cache folder, or NULL when none can be written. */
const char *cache_where(void);
/* True when path lies in the cache folder. */
bool cache_owns(const char *path);
/* The content of an entry without its trailer, mapped read-only. */
const void *cache_read(const char *path, size_t *n);
/* A folder for temporary files of this process, removed when it exits. */
const char *cache_scratch(void);
/* Path of a file there that is not taken yet: "…/STEM-7". */
const char *cache_new(const char *stem);

/* ---- cache_prune.c: the cache's size limit */

/* Records that bytes were stored in the folder. Once it holds more than limit, the least recently
 * used entries are removed. */
void cache_grown(const char *folder, size_t bytes, int64_t limit);

/* ---- build.c: builds every missing object of a document, in parallel */

typedef struct {
	const char *cc;                 /* --cc, or NULL: cc, gcc or clang of PATH */
	int jobs;                       /* 0: one per core */
	bool progress; /* show a progress bar after a second, on a terminal */
	bool fast;                      /* unoptimised C: compiled in a tenth of the time */
} BuildOptions;
/* Sets object and entry of every Program that runs from an object. Dies with FAILED and the first
 * line of the compiler's message. */
void build_programs(size_t n, Program *const *p, const BuildOptions *o);

/* ---- build_cpu.c: C to a shared object through the system's compiler */

void build_cpu(size_t n, Program *const *p, const BuildOptions *o);

/* Adds everything about this machine's processor that -march=native depends on. */
Key key_processor(Key k);

/* ---- canonical.c */

/* The part of a C source that decides its object: without comments, and with the names of the
 * kernel and its parameters replaced by their positions (in the arena). It is not valid C. */
const char *source_canonical(const char *name, const char *src);

/* ---- build_cuda.c: CUDA C to PTX or a cubin through NVRTC */

void build_cuda(size_t n, Program *const *p, const BuildOptions *o);
#endif
