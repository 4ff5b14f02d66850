/* What the files that choose tiles share (tiles.c): a kernel as it is tiled, and pieces of its
 * plan. */
#ifndef RENDER_CHOOSE_TILING_H
#define RENDER_CHOOSE_TILING_H
#include "index/ix.h"
#include "lower/lower.h"

enum { ITEMS = 16 };            /* in a grid, so that threads get even shares */

/* A kernel as it is tiled. */
typedef struct {
	Plan *p;
	const Facts *f;
	const Folds *k;
	int v;                  /* range in vectors, -1: none */
	int lanes;              /* elements of a vector */
	UOp *heavy;             /* the reduction that costs most, or NULL */
	Contraction c;          /* its operands */
	bool once;              /* the kernel only fills prepared buffers */
} Tiling;

/* ---- tiling.c */

typedef VEC(UOp *) Loads;
/* The loads below u; the caller frees them. */
Loads loads_in(UOp *u);
/* Does each load of the body that moves with r go to its neighbour? */
bool walks(const Tiling *t, UOp *body, int r);
/* The iterations of a reduction. */
int64_t length_of(const Tiling *t, const UOp *u);
/* The innermost range of the heavy reduction. */
int last_of(const Tiling *t);
/* The lanes of a vector, by the widest float that is computed, or where there is none by what is
 * stored; a wider one is a lane. */
int kernel_lanes(const Facts *f);
/* The iterations of the loop over r's tiles, or over r. */
int64_t loops_of(const Tiling *t, int r);
/* The part of whole tiles that n elements fill. */
double fill_of(int64_t n, int64_t tile);
/* Puts range r behind the others of the first n loops; does nothing when it is not among them. */
void order_within(Plan *p, int r, int n);
/* Puts range r last in the order. */
void order_last(Plan *p, int r);
/* Puts the range in vectors last, but outside of the loops on which the reduction does not depend:
 * within these it would be run over again. */
void order_vector(Tiling *t);
/* Adds a tile to the plan: so many vectors of so many elements of r. */
void tile(Plan *p, int r, int unroll, int vector);
/* The grid consists of the outermost loops, at most `most` of them. A loop with a tail ends it; so
 * does a loop inside others that repeat a reduction, or each item would compute that reduction, and
 * one on which much of the work does not depend. */
void choose_items(Tiling *t, int most);

/* ---- contractions.c: rows by vectors that use each other's operands again */

/* A tile of rows of m by vectors, and what part of the time it keeps the units busy. */
typedef struct { int m, rows, vectors; double score; } TileBlock;
/* Is an operand that moves with the vector's range used again along r? */
bool reuses(const Tiling *t, int r, int vector);
/* The best rows for n elements in vectors; m is -1: none use a vector again. */
TileBlock find_rows(const Tiling *t, int64_t n);
/* far: an operand in vectors is not contiguous, so it is packed. */
void tile_contraction(Tiling *t, TileBlock b, bool far);
/* The sum itself in vectors, for a few rows and columns at a time. */
void tile_dot(Tiling *t);

/* ---- panels.c: how the operand that moves with the vectors is read */

/* Does the first cache hold what so many tiles read of an operand in so many vectors? */
bool holds_panels(const Tiling *t, int tiles, int vectors);
/* The bytes that a load reads along some ranges, counted as often as they are read. */
int64_t bytes_of(const Tiling *t, const UOp *load, uint64_t ranges);
/* Elements from the first to the last that are read along ranges that move a place by less than
 * `most`; along that in vectors there are `columns`. */
int64_t extent_along(
	const Tiling *t, const Sum *s, uint64_t ranges, int64_t most, int64_t columns);
/* Do the iterations of a reduction step through memory over more than they read in so many columns?
 * Far: over anything, a page at a time, or so that more values share a set of the second cache than
 * it holds. */
bool strides(const Tiling *t, const UOp *load, int64_t columns, bool far);
/* What is left of the rate of a block of rows by columns, of which there are so many tiles of m and
 * n elements: where each chunk of rows packs its operand again, or each tile reads it in runs. */
double reading(const Tiling *t, int m, int64_t tiles, int rows, int64_t n, int64_t columns);
/* Packs, for so many tiles of m, the operands that are read slowly in place, if any. */
void pack(Tiling *t, int m, int64_t tiles);
/* Does the plan pack any? */
bool packs(const Tiling *t);
/* Chunks of rows, when there are too few tiles of columns to give all threads even shares. */
void choose_chunk(Tiling *t, int m);
/* So many vectors that what a tile of rows reads of an operand leaves room for what the next one
 * reads of it: three panels of [16,512,3,3] take 0.52 ms of a 7×7 convolution, two 0.47. */
int vectors_cached(const Tiling *t, int apart, int vectors);

/* ---- traffic.c: the order of a contraction's loops */

/* Of the iterations of range r, those in which a tile reads what it has not read for the row
 * before: all of them, but where windows overlap. */
int64_t read_newly(const Tiling *t, int r);
/* Each tile of rows meets all columns, where rows do not stay in the second cache until the next
 * tile of columns reads them again, or are better read once, or the first cache holds all columns:
 * as many columns as leave half of the second to what passes, or in chunks of so many, if these are
 * fewer than the tiles. The vectors of a tile are of the range `apart`, if it is not -1. */
void order_rows(Tiling *t, int m, int apart, int vectors);

/* The range that is prefetched of the panels of constants, or 0. Panels that would not stay in the
 * second cache beside the next one are read in blocks of the reduction, each by all rows: a block
 * of [32,4096] @ [4096,4096] is as fast as from the cache, a panel takes 1.3 of it. */
uint64_t block_panels(Tiling *t);

/* ---- tiles.c: the accumulators of a sum */

/* A row by itself has no additions but its own: as many vectors of them as begin before the first
 * is done, in two iterations each at least, within half of the registers. */
void hide_latency(Tiling *t, int lanes);

/* ---- rows.c: rows of accumulators, of reductions that use nothing again */

/* Elements of a row of accumulators: an eighth of the first cache, beside what is summed. */
int row_tile(void);
/* Is memory read more slowly in short runs, each pages from the one before, than in sequence? */
bool slow_in_runs(void);
/* The innermost loop of the heavy reduction. */
int last_fold(const Tiling *t);
/* Vectors of a tile, at most `most`, such that the tiles share the row evenly. */
int even_vectors(const Tiling *t, int most);
/* Is the heavy reduction one over a few terms of known number, in a window that slides, and of so
 * many in all that a compiler's time for what is written out pays? */
bool has_small_window(const Tiling *t);
/* Rows of accumulators, several iterations at a time; without vectors they are registers, and sums
 * enough. */
void tile_rows(Tiling *t);
#endif
