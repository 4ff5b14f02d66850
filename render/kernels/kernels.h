/* Kernels of level schedule: facts about them, and passes over them. Sections follow the files. */
#ifndef RENDER_KERNELS_KERNELS_H
#define RENDER_KERNELS_KERNELS_H
#include "index/index.h"

/* ---- kernels.c: passes over kernels ---------------------------------------------------------- */

/* A kernel and its use in the document. */
typedef struct {
	UOp *kernel;
	UOp *call;              /* its first CALL */
	bool alias;             /* some CALL gives one buffer to two slots, one of them written */
	bool once;              /* all CALLs prepare buffers */
	int calls;
} KernelUse;
/* g with every distinct KERNEL replaced by the result of fn. */
Graph *kernels_map(Graph *g, UOp *(*fn)(const KernelUse *use));
/* The same for the CUSTOMs that are called. */
Graph *customs_map(Graph *g, UOp *(*fn)(UOp *custom, const UOp *call));
/* Prints one line of --explain about a kernel, and keeps it for --reasons. */
void explain(const UOp *kernel, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* g with what was kept of its kernels so far, in meta.reasons: [[kernel, text] …]. */
Graph *reasons_leave(Graph *g);

/* ---- index.c */

/* The row-major place of an INDEX, one expression for each axis. */
UOp *flat_place(const UOp *index);
/* Makes every INDEX flat: one row-major place. */
Graph *lower_index(Graph *g);

/* ---- facts.c: which ranges a value depends on ------------------------------------------ */

enum { MAX_RANGES = 64 };
/* The facts of a kernel of level schedule. Range sets are masks over range[]. */
typedef struct {
	UOp *kernel;
	Nodes all;              /* depth first, sources before users */
	int nrange;
	UOp *range[MAX_RANGES];
	uint64_t out;           /* ranges free in its STOREs */
	uint64_t serial;        /* those of them that run in order */
	uint64_t scanned;       /* ranges along which some RSCAN runs; they are serial */
	uint64_t reduced;       /* ranges that some RREDUCE binds: they may be in out too */
	bool alias;
	bool in_place;          /* some buffer is both read and written */
	bool gated;             /* some STORE has a gate */
	UOp *sort;              /* the RSORT that it stores, or NULL */
	UOp **written;          /* the PARAMs it stores to */
	int nwritten;
} Facts;
/* Fills f for kernel; free_of and bit_of refer to its nodes until the next call. */
void facts_find(Facts *f, UOp *kernel, bool alias);
/* The ranges on which u depends, and which have to be bound around it. */
uint64_t free_of(const UOp *u);
/* The same of an index that may have been made of them since. */
uint64_t free_of_made(const UOp *u);
/* Bit of a RANGE of the kernel. */
uint64_t bit_of(const UOp *range);
/* The ranges an RREDUCE binds. */
uint64_t bound_of(const UOp *reduce);
/* True when u is a LOAD from a PARAM that the kernel writes. */
bool reads_written(const Facts *f, const UOp *u);
/* How a load's, or a store's, flat place moves with range r: not at all, to its neighbour, or
 * elsewhere. */
typedef enum { STILL, NEXT, FAR } Movement;
Movement movement_of(const Facts *f, const UOp *load, int r);
/* The axis number of range r; the greatest axis number of all ranges (0 without any): greater ones
 * are free. */
int axis_of(const Facts *f, int r);
int last_axis(const Facts *f);
/* The assumed value of a size between these bounds, where a decision needs a number. */
enum { USUAL_SIZE = 64 };
static inline int64_t usual_size(int64_t least, int64_t most)
{
	return least > USUAL_SIZE ? least : most < USUAL_SIZE ? most : USUAL_SIZE;
}
/* Greatest number of iterations of the ranges in set, from the variables' bounds (saturates at
 * 2^48). */
int64_t count_of(const Facts *f, uint64_t set);
/* The least number of iterations; that of one range. */
int64_t least_of(const Facts *f, uint64_t set);
static inline int64_t least_size(const Facts *f, int r) { return least_of(f, 1ull << r); }
static inline int64_t most_size(const Facts *f, int r) { return count_of(f, 1ull << r); }
/* ---- products.c: contractions on a GPU, in groups that share their operands */

/* y[i,j] of others × side[0] × side[1] elements, each the sum of so many products of two operands
 * of `size` bytes. */
typedef struct { double others; int64_t side[2], sum; int size; } Product;
enum {
	PRODUCT_ITEMS = 16, PRODUCT_EACH = 8, /* along a side, at most: of a group; of an item */
	PRODUCT_SIDE = 6,               /* the least side for which groups pay */
	PRODUCT_LEAST = 4,              /* elements of an item, where there are as many */
	PRODUCT_PART = 64               /* products of a part of a sum, at least */
};
/* The items of a group along a side of that size. */
int product_items(int64_t size);
/* How many groups there are where an item has each[0] × each[1] elements. */
double product_groups(const Product *p, const int *each);
/* The elements of an item with which it takes least time, and that time in nanoseconds. */
double product_tile(const Product *p, int *each);
/* The parts of each sum, to be added up by a call of its own, with which it takes least time. */
int64_t product_parts(const Product *p);

/* Is the call the first of those that share slices, or none of them? */
bool slice_starts(const UOp *call);
/* the positions of the bits of set, ascending; returns how many */
int ranges_in(uint64_t set, int *range);
#endif
