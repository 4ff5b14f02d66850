/* The properties of a target. */
#ifndef RENDER_TARGET_TARGET_H
#define RENDER_TARGET_TARGET_H
#include "graph/graph.h"

enum { WARP = 32 }; /* the shortest there is */

/* ---- target.c -------------------------------------------------------------------------------- */

/* What a target's processor is like; targets.def has the usual one's figures, render/README.md the
 * keys. Two choices that today's figures do not decide alike may do so by others, so a row that is
 * measured (--measured) gives other bytes. */
typedef struct {
	/* cores (of a GPU: multiprocessors); vector operations and loads that begin in a cycle;
	 * cycles from the start of an operation to its result; cycles in a microsecond;
	 * nanoseconds until other threads share a loop */
	int cores, ops, loads, latency, clock, start;
	int line, page;         /* bytes of a cache's line; of a page of memory */
	/* multiply-adds of f32 in the time that an element is copied; that have to be spared for
	 * each element that is read besides */
	int copy, spared;
	int64_t cache[3];       /* bytes of a core's first and second cache, and of the last */
	int read[4];            /* bytes that a core reads of each, and of memory, in a ns */
} Machine;

typedef struct {
	char name[64];
	bool gpu;               /* work items in groups; else plain loops */
	int lanes; /* partial accumulators of a reduction (a power of two); 0: one */
	int vector;             /* bytes of a vector register; 0: none */
	int registers;          /* the number of them */
	bool fixed;             /* these two are as said here, whatever --march says */
	int group;              /* work items of a group */
	int dims;               /* grid dimensions, 1 to 3 */
	int warp;               /* work items that exchange values (a power of two); 0: none do */
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
/* The lines of its figures alone. */
void machine_print(Buf *out, const Machine *m);
static inline bool target_lacks(const Target *t, Op op) { return t->lacks[op / 64] >> op % 64 & 1; }
static inline bool target_swaps(const Target *t, Op op) { return t->swaps[op / 64] >> op % 64 & 1; }
/* The options of layout, lower and render. */
typedef struct {
	const char *target, *processor;         /* -t, --march */
	const char *actions;                    /* --opt: "NAME*: action; action", or NULL */
	const char *tuned, *machine;            /* --tuned, --machine, or NULL */
	bool explain, reasons, strict, measured, measure;
} LowerOptions;
extern LowerOptions lower_opt;
/* The target for which layout, lower or render works. */
extern const Target *target;
/* --measured: reads the row that `lower --measure` has left in the cache; before the walls. */
void target_remember(void);
/* Pass: sets target, unless it is set. */
Graph *target_choose(Graph *g);

/* ---- measure.c: this machine's figures */

/* Measures them, in about a second; what cannot be is left as it is. */
void machine_measure(Machine *m);
/* The file in which they are kept, in the user's cache; NULL where there is none. */
const char *machine_file(void);
void machine_keep(const Machine *m);
#endif
