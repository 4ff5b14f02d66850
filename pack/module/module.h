/* What is packed: functions, each a document of level program, and what they share. Sections follow
 * the files. */
#ifndef PACK_MODULE_MODULE_H
#define PACK_MODULE_MODULE_H
#include "document/document.h"
#include "interp/interp.h"

/* ---- function.c: a document becomes a function */

#define NO_CONSTANT ((size_t)-1)
typedef enum { PLACE_INPUT, PLACE_OUTPUT, PLACE_CONST, PLACE_STATE, PLACE_TEMP } Place;
/* Constants and kernels of a module, each distinct one once; functions refer to them by number. */
typedef struct {
	const char *id;                 /* a C identifier, distinct in the module */
	Array at;
	const char *note;               /* the name it has in its document */
	int64_t offset;                 /* among the weights, or -1: it is in the source */
} Constant;
typedef struct {
	const char *id;                 /* its function's name in the module */
	const char *src;                /* without the caller NAME_call, the function static */
	/* void ID_call(…), which takes arrays of buffers and sizes */
	const char *caller;
	const UOp *program;
	int64_t scratch, stack;         /* bytes of arrays: in the workspace; on the stack, -1:
					   not known */
} Kernel;
/* The kernels for a GPU, whose sources are data. */
typedef struct {
	const char *target;             /* "opencl", "cuda" */
	VEC(Kernel) kernel;             /* src: as it is; caller: NULL */
} Code;
/* A buffer of a function. A list's SWAP exchanges the pointers of temporaries. */
typedef struct {
	UOp *u;                         /* the BUFFER */
	Place place;
	/* C identifiers: of a variable, which nothing else in the module has (a constant's is the
	 * module's); of what the caller knows it by, which only this document decides, or NULL */
	const char *id, *member;
	UOp *bytes;                     /* its size, of size variables */
	/* The same for the greatest values of the sizes that are bound within the call: an
	 * expression of the caller's sizes. */
	UOp *room;
	/* Of PLACE_CONST; of PLACE_STATE for its first content, unless that is zeros; of PLACE_TEMP
	 * for the narrow constant that init_ws widens into it; else NO_CONSTANT */
	size_t constant;
	const char *count;              /* an APPEND's: what it has so far; else NULL */
	bool keeps;                     /* a temporary that init_ws fills, and calls only read */
	bool bound;                     /* its size depends on what is bound within the call */
	size_t region;                  /* PLACE_TEMP: where it is in the workspace */
} Buffer;
/* A part of the workspace, for temporaries that are never alive together. Its size is the greatest
 * of theirs. offset is a number when all sizes are. */
typedef struct { UOp *bytes; int64_t offset; } Region;
/* A size variable: the caller's, or one that is bound within the call. */
typedef struct {
	const char *name, *id, *member; /* as of a Buffer */
	const char *limit;              /* of a loop whose turns it counts, or NULL */
	UOp *var;                       /* the VAR, with its bounds */
	int64_t max;                    /* its upper one, or what was asked for, if less */
	UOp *most;                      /* bound ones: an expression of the caller's sizes */
	bool bound, turn;               /* turn: the number of a loop's turn */
	bool returned;                  /* bound, and in the shape of an output */
} SizeVar;
typedef struct Function Function;
struct Function {
	const char *target;             /* NULL: the CPU */
	VEC(Function *) variant;        /* of a function for the CPU: the same for GPUs */
	size_t places;                  /* of a variant: the first that it has on a device */
	const char *name;               /* NULL: the only function of its module */
	const char *prefix;             /* of its names in C: "NAME" or "NAME_FUNCTION" */
	const Graph *g;
	VEC(Buffer) buffer;
	VEC(SizeVar) size;
	VEC(Region) region;             /* in order of place */
	int64_t align;                  /* of the workspace, in bytes */
	bool fixed;                     /* the workspace's size is a number, bytes */
	int64_t bytes, bound;           /* bound: the most that is alive at once */
	bool states;
	int64_t scratch;                /* of each thread, at the workspace's end */
	bool retyped;                   /* parts of the workspace may have several types in turn */
	DType narrow;                   /* as asked for */
	bool widens;                    /* some constants are stored narrow */
	size_t prepares;                /* the first entries of the list, which init_ws runs */
	size_t inputs, outputs;         /* the first buffers, in the document's order */
	Map slot;                       /* BUFFER → 1 + its number */
	Map member, members;            /* BUFFER → its member; those that are taken */
	Map sized;                      /* name of a size (a Val) → 1 + its number */
};
/* Who runs the items of a kernel: the caller of NAME_call alone; or whom it names, of whom
 * THREADS_POOL gives one. */
typedef enum { THREADS_NONE, THREADS_CALLER, THREADS_POOL } Threads;
/* Where constants are: ANY is in the source while they are few. */
typedef enum { WEIGHTS_ANY, WEIGHTS_SOURCE, WEIGHTS_OBJECT, WEIGHTS_FILE } Weights;
typedef struct {
	const char *name;
	Threads threads;
	Weights weights;
	int64_t weight_bytes;
	uint64_t weight_sum;
	VEC(Function *) function;
	VEC(Constant) constant;
	VEC(Kernel) kernel;
	VEC(Code) code;                 /* for GPUs, and the places that their functions have */
	size_t slots;
	Map constants, kernels, ids;    /* by content; identifiers that are taken */
	Map kernel_of;                  /* PROGRAM → 1 + its kernel, of the CPU's or its Code's */
} Module;
/* What a size variable is at most, in all functions that have one of that name. */
typedef struct { const char *name; int64_t max; } Limit;
typedef struct {
	VEC(Limit) limit;
	DType narrow;                   /* DT_F16 or DT_BF16: store f32 so, in the source */
	bool prepare;                   /* compute what is prepared from constants when init_ws is
					   called, instead of storing it */
} ModuleOptions;

/* Adds g, a verified document of level program for a CPU, as the function `name` (NULL: the
 * module's own). Dies with UNSUPPORTED for what cannot be packed. Everything is in the arena. */
Function *module_add(Module *m, const Graph *g, const char *name, const ModuleOptions *o);
/* The GPU that g's kernels are for; NULL: the CPU. */
const char *document_target(const Graph *g);
/* The same for a document for a GPU: a variant of the function of that name, which is there and has
 * the same inputs, outputs, states and sizes, or else dies with MALFORMED. */
void module_add_variant(Module *m, const Graph *g, const char *name, const ModuleOptions *o);
/* Declares the size variables of f, which sizes in its args mention: before they are read. */
void function_sizes(const Function *f);
Buffer *function_buffer(const Function *f, const UOp *u);
/* The kernel of a CALL of a PROGRAM. */
const Kernel *module_kernel(const Module *m, const UOp *program);
/* Dies with USAGE when a limit is for a size that no function has, or for less than its least. */
void limits_check(const Module *m, const ModuleOptions *o);

/* ---- constants.c: each distinct content once */

/* The number of the constant with that content; if it is new it is called like id, and like nothing
 * in `taken`. */
size_t module_constant(Module *m, const Map *taken, const char *id, const Array *at);
/* Runs the calls that prepare, which g's list begins with, by the interpreter, and returns g in
 * which what they wrote, and is read later, is constants. */
const Graph *prepare_now(const Graph *g);

/* ---- narrow.c: f32 in half the bytes */

/* Whether u is a constant that is worth it; its content as `to`, in the arena; g with all such
 * constants rounded so. */
bool constant_narrows(const UOp *u);
Array constant_narrow(const Array *a, DType to);
const Graph *constants_rounded(const Graph *g, DType to);

/* ---- kernels.c: each distinct source once */

size_t module_add_kernel(Module *m, const UOp *program);
/* The same for a GPU. */
size_t module_add_code(Module *m, Code *code, const UOp *program);
/* The number of a PROGRAM's kernel. */
size_t module_kernel_number(const Module *m, const UOp *program);
/* Whether kernels have vectors of GNU C. */
bool module_vectors(const Module *m);

/* ---- workspace.c: where temporaries are */

/* Sets region and bytes of f. */
void workspace_plan(Function *f);

/* ---- scratch.c: what a thread needs for itself */

/* Takes the large arrays of a kernel from the stack: sets k's src, caller, scratch and stack. */
void scratch_take(Kernel *k);
/* The bytes of such arrays of the kernel of f that has most; of those that are left on the stack,
 * -1 when that of one is not known, which is written by hand. */
int64_t scratch_most(const Module *m, const Function *f);
int64_t stack_most(const Module *m, const Function *f);

/* ---- lives.c: what of it is there at once */

/* What statement `at` of a kernel declares: an array, or variables. */
typedef struct { uint32_t at; int64_t bytes; bool variables; } Held;
/* The most bytes of them that are there at once. */
int64_t lives_most(const UOp *kernel, const Held *held, size_t n);

/* ---- names.c: C identifiers */

/* An identifier like `name` that is neither in `taken`, which it is put into, nor in `also` (NULL:
 * nothing), and no word of C or C++. */
const char *identifier_new(Map *taken, const Map *also, const char *name);
bool identifier_ok(const char *s);
/* The C type of an element in memory (uint16_t for f16 and bf16, uint8_t for bool). */
const char *type_name(DType d);
#endif
