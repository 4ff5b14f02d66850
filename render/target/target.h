/* The properties of a target. */
#ifndef RENDER_TARGET_TARGET_H
#define RENDER_TARGET_TARGET_H
#include "graph/graph.h"
#include "machine/machine.h"

enum { WARP = 32 }; /* the shortest there is */

/* ---- target.c -------------------------------------------------------------------------------- */

typedef struct {
	char name[64];
	bool gpu;               /* work items in groups; else plain loops */
	int lanes; /* partial accumulators of a reduction (a power of two); 0: one */
	int vector;             /* bytes of a vector register; 0: none */
	int registers;          /* the number of them */
	bool vectors;           /* its render-X takes values with lanes */
	bool fixed;             /* these two are as said here, whatever --march says */
	int group;              /* work items of a group */
	int dims;               /* grid dimensions, 1 to 3 */
	int warp;               /* work items that exchange values (a power of two); 0: none do */
	int access;             /* bytes that an item moves at once; 0: an element */
	int64_t local; /* bytes that a row buffer may take (local memory; the stack on a CPU) */
	bool f64;               /* has doubles */
	uint64_t lacks[2];      /* bit of each Op that its language has no spelling for */
	uint64_t swaps[2];      /* of each Op that a contraction becomes (actions/swap.c) */
	Machine machine;
	char flags[256];        /* options for its compiler */
	char march[32];         /* the processor to compile for; "": the machine's own */
} Target;

/* The target of that name: a row of targets.def, or what `render-NAME --describe` prints. Dies with
 * UNSUPPORTED when no such target exists. */
const Target *target_find(const char *name);
/* The program render-NAME, or that of the language of which NAME is a variant; dies likewise. */
const char *target_tool(const char *name);
/* The row as text, one "key: value" a line: the form that --describe prints and target_find
 * reads. */
void target_print(Buf *out, const Target *t);
/* Are there registers of masks, by which lanes are named? Where vectors have 64 bytes. */
static inline bool target_masks(const Target *t) { return t->vector >= 64; }
static inline bool target_lacks(const Target *t, Op op) { return t->lacks[op / 64] >> op % 64 & 1; }
static inline bool target_swaps(const Target *t, Op op) { return t->swaps[op / 64] >> op % 64 & 1; }
/* The options of layout, lower and render. */
typedef struct {
	const char *target, *processor;         /* -t, --march */
	VEC(const char *) actions;              /* each --opt: "NAME*: action; action" */
	const char *tuned, *machine;            /* --tuned, --machine, or NULL */
	bool explain, reasons, strict, measured, measure;
} LowerOptions;
extern LowerOptions lower_opt;
/* The target for which layout, lower or render works. */
extern const Target *target;
/* Items of a GPU that hide what each waits for: 32 warps a multiprocessor. */
static inline int64_t target_items(void) { return 32ll * WARP * target->machine.cores; }
/* --measured: reads the row that `lower --measure` has left in the cache; before the walls. */
void target_remember(void);
/* Pass: sets target, unless it is set. */
Graph *target_choose(Graph *g);

/* ---- measure.c: this machine's figures */

/* Measures them, in about a second; what cannot be is left as it is. */
void machine_measure(Machine *m);
#endif
