/* A plan: what to do to a kernel, read from and written to its arg. */
#ifndef RENDER_ACTIONS_ACTIONS_H
#define RENDER_ACTIONS_ACTIONS_H
#include "kernels/kernels.h"

/* ---- choose/actions.c: what to do to a kernel ------------------------------------------------- */

typedef enum { PLAN_LOOPS, PLAN_ITEMS, PLAN_GROUP } PlanMode;
enum { MAX_STAGED = 16 };
/* Elements of a range side by side: unroll vectors of so many lanes. */
typedef struct { int unroll, vector; } Tile;
/* A value held in a row buffer over those ranges; or, where along is not 0, a load whose neighbours
 * lie along that tiled range, not along the one in vectors: a tile of it is loaded in vectors of
 * that range and turned in registers. */
typedef struct { UOp *value; uint64_t over, along; } Staged;
/* The list of actions, read. It stands in the kernel's arg as
 *   [["order", axis…], ["tile", axis, unroll, vector]…, ["chunk", axis, tiles]…, ["grid", loops],
 *    ["split", lanes], ["jam", turns] or ["jam", turns, 1], ["stream"], ["fetch"], ["ahead", axis],
 *    ["bind", items, axis…] or ["group", items, axis…], ["stage", node, axis…] …,
 *    ["turn", node, axis] …]
 * where node counts the kernel's nodes depth first, sources first. The empty list is plain loops.
 */
typedef struct {
	PlanMode mode;
	int order[MAX_RANGES], norder;     /* output ranges, outermost first, as places in range[] */
	Tile tile[MAX_RANGES];             /* by place in range[]; {0, 0}: one element at a time */
	int lanes[MAX_RANGES], nlanes;     /* the tiled ranges, in the order of their lane loops */
	int chunk[MAX_RANGES];             /* tiles of a range that a loop outside all others takes */
	int grid;                          /* how many of the outermost loops the grid's items are */
	int split;                         /* partial accumulators; 0: one */
	int jam;                           /* turns of a reduction within the lanes; 0: one */
	bool apart;                        /* each of them from another part of it */
	bool stream;                       /* stores go past the cache */
	bool fetch;                        /* what a turned tile stores to is fetched first */
	uint64_t ahead;                    /* the range whose next turn's loads are fetched, or 0 */
	int items;                         /* of a work group */
	uint64_t bound;                    /* ranges that the grid runs over */
	Staged stage[MAX_STAGED];
	int nstage;
} Plan;
/* Elements of a tile; 0 when range r has none. */
static inline int tile_size(const Plan *p, int r) { return p->tile[r].unroll * p->tile[r].vector; }
/* The tiled ranges as a set. */
uint64_t tiled_ranges(const Plan *p);
/* Can the last tile of range r begin before the one before it ends, so that all are whole? It can
 * when there are never fewer elements than a tile has and nothing that is written is read. */
bool tile_fixed(const Plan *p, const Facts *f, int r);
/* Is it not known before the kernel runs whether that is so?  Then the kernel has two parts, and
 * runs the one with tiles or the one element by element. */
bool tile_open(const Plan *p, const Facts *f, int r);

/* fits.c: may the plan be carried out? */
bool plan_fits(const Plan *p, const Facts *f);
/* one value that is staged: of the kernel's own arithmetic, the same whenever it is computed */
bool stage_fits(const Facts *f, const Staged *s);
/* Is what it fetches ahead the next turn of one of the output's loops, or the next panel of
 * constants? */
bool ahead_fits(const Plan *p, const Facts *f);
/* Bytes of the plan's row buffers: each has a row for every lane of the tiles around it.
 * Saturates. */
int64_t plan_bytes(const Plan *p, const Facts *f);

/* The actions that --opt gives a kernel of this name as they stand in its arg, or NULL. */
const Val *plan_given(const char *opt, const UOp *kernel);
/* Reads them; dies with MALFORMED when they do not fit the kernel. */
void plan_read(Plan *p, const Facts *f);
/* The kernel's arg with them in it. */
const Val *plan_write(const Plan *p, const Facts *f);

/* ---- order.c: the order of its loops */

/* The outermost reductions of a kernel, and its running folds. */
typedef struct {
	VEC(UOp *) reduce, scan;
	int weight[MAX_RANGES];         /* reductions that depend on the output range */
} Folds;
void reductions_find(const Facts *f, Folds *k);
void choose_order(Plan *p, const Facts *f, const Folds *k);
/* Puts the output ranges into a plan in the order that suits the kernel's reductions. */
void plan_order(Plan *p, const Facts *f);
/* n ranges in order[] without those `count`: returns how many are left. These, which are not among
 * them, in front. */
int order_without(int *order, int n, const int *range, int count);
void order_in_front(Plan *p, const int *range, int count);

/* ---- panels.c */

/* Bytes of the constants that the document's calls read; set by the pass actions. */
extern int64_t lower_constants;
/* Constants that all rows take, panel after panel: of r's tiles one after another, each from its
 * first element on. */
typedef struct {
	const UOp *load;
	int r, v;               /* panels; elements side by side */
	int64_t step, size;     /* elements from one of r to the next; of a panel: a tile of r */
	uint64_t rows;          /* the ranges within that of panels, which do not move it */
} Panel;
/* Is u a load of such constants, v being the range in vectors? Then *n gets what they are. */
bool panel_is(const Plan *p, const Facts *f, const UOp *u, int v, Panel *n);
/* The range of panels of a contraction in tiles, or 0. */
uint64_t panel_range(const Plan *p, const Facts *f, int v);

/* The stage of value u, or -1. */
int stage_of(const Plan *p, const UOp *u);
#endif
