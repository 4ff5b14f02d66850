/* Programs, and objects made of them.  Sections follow the files. */
#ifndef RUN_BUILD_BUILD_H
#define RUN_BUILD_BUILD_H
#include "graph/graph.h"
#include "host/host.h"

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

/* ---- build_cpu.c: C to a shared object through the system's compiler */

void build_cpu(size_t n, Program *const *p, const BuildOptions *o);

/* With everything about this machine's processor that -march=native looks at. */
Key key_processor(Key k);

/* ---- canonical.c */

/* What of a C source decides its object: without comments, names of the kernel and its parameters
 * by their place. In the arena; no C text itself. */
const char *source_canonical(const char *name, const char *src);

/* ---- build_cuda.c: CUDA C to PTX or a cubin through NVRTC */

void build_cuda(size_t n, Program *const *p, const BuildOptions *o);
#endif
