/* A plan: the actions of a kernel, read from its arg and written to it. */
#ifndef RENDER_ACTIONS_ACTIONS_H
#define RENDER_ACTIONS_ACTIONS_H
#include "kernels/kernels.h"
#include "process/process.h"

/* ---- choose/choose.c: what to do to a kernel ------------------------------------------------- */

typedef enum { PLAN_LOOPS, PLAN_ITEMS, PLAN_GROUP, PLAN_TILES } PlanMode;
enum { MAX_STAGED = 16 };
/* Elements of a range side by side: `unroll` vectors of `vector` lanes. */
typedef struct { int unroll, vector; } Tile;
/* A value held in a row buffer over the ranges `over`; without any, in registers for the lanes of
 * the tiles around it. Where `along` is not 0: a load that is contiguous along that tiled range,
 * not along the one in vectors; a tile of it is loaded in vectors of that range and transposed in
 * registers. */
/* outside: those loops of a reduction that run around the row buffer's; its accumulators are in the
 * buffer. */
/* In the buffer dims[0] is outermost; its steps are `pad` elements longer than they need to be. */
typedef struct {
	UOp *value;
	uint64_t over, along, outside;
	int dims[MAX_RANGES], ndims, pad;
} Staged;
/* The list of actions (render/README.md), parsed, after those that rewrite the kernel; the empty
 * one is plain loops. */
typedef struct {
	PlanMode mode;
	/* output ranges, outermost first, as places in range[] */
	int order[MAX_RANGES], norder;
	/* ranges that reductions run over, outermost first; those that are not here, by number, are
	 * outside of them */
	int folds[MAX_RANGES], nfolds;
	int listed[MAX_RANGES], nlisted;   /* both, as the list has them */
	/* by place in range[]: elements of the inner piece of one that loops split, and of that
	 * piece's; 0: not split. The last of them shorter, or overlapping the one before. */
	int piece[MAX_RANGES], vector[MAX_RANGES];
	uint64_t peeled, overlapped;
	/* of a peeled one that is no tile: how many loops of order, or folds, stand around the loop
	 * within a block (0: the one over blocks does, last); which are written out */
	int within[MAX_RANGES];
	uint64_t written;
	Tile tile[MAX_RANGES];             /* by place in range[]; {0, 0}: one element at a time */
	int lanes[MAX_RANGES], nlanes;     /* the tiled ranges, in the order of their lane loops */
	int chunk[MAX_RANGES];             /* tiles of a range in a loop outside all others */
	int grid;                          /* how many outermost loops form the grid's items */
	int partial;                         /* partial accumulators; 0: one */
	uint64_t parted;                   /* reductions' ranges of which parts have them */
	int jam;                           /* iterations of a reduction within the lanes; 0: one */
	bool apart;                        /* each iteration from another part of the reduction */
	uint64_t jammed;                   /* reductions' ranges of which that is said */
	bool nontemporal;                       /* stores go past the cache */
	bool prefetch_stores;              /* of a transposed tile, or of a row */
	uint64_t prefetch_loads;           /* the range whose next iteration is, or 0 */
	int items;                         /* of a work group */
	uint64_t bound;                    /* ranges that the grid runs over */
	/* PLAN_TILES: those of them that are work groups, and items of one */
	uint64_t groups, members;
	uint64_t unrolled;                 /* ranges whose loops are written out */
	Staged stage[MAX_STAGED];
	int nstage;
} Plan;
/* Elements of a tile; 0 when range r has none. */
static inline int tile_size(const Plan *p, int r) { return p->tile[r].unroll * p->tile[r].vector; }
/* The ranges that loops split into blocks, not tiles; those in tiles. */
uint64_t block_ranges(const Plan *p);
uint64_t tiled_ranges(const Plan *p);
/* Can the last tile of range r begin before the one before it ends, so that all are whole? It can
 * when the range always has at least a tile's elements, no buffer that is written is read and no
 * STORE is gated. */
bool tile_fixed(const Plan *p, const Facts *f, int r);
/* Is the answer known only when the kernel runs? Then the kernel has two parts, one with tiles and
 * one element by element, and runs one of them. */
bool tile_open(const Plan *p, const Facts *f, int r);

/* A row of actions.def: what reads the action into a plan, or what rewrites the kernel. */
typedef struct Rewriting Rewriting;
typedef struct Reading Reading;
typedef struct {
	const char *name, *args, *help;
	void (*read)(Plan *p, const Facts *f, const Val *a);
	void (*rewrite)(Rewriting *w, const Val *a);
	void (*word)(Reading *w, const Val *a);
	int round;              /* of a word: those of lower rounds are written out before */
	bool schedule;          /* it stands in the SINK, and layout carries it out */
} Action;
/* The row of a, an action of this kernel, or of the SINK; dies with MALFORMED when it is none. */
const Action *action_find(const UOp *of, const Val *a);
/* All rows. */
const Action *action_rows(size_t *n);
/* The letter of a form for word number `word` of an action, from 1 on; one with a * stands for all
 * that are left. */
char form_letter(const char *form, size_t word);
/* Does the word of the action name a range? */
bool is_range_word(const Action *row, const Val *a, size_t word);
/* Prints the actions for --help. */
void actions_help(void);

/* binders.c: the kernel in which the reductions of which its list names ranges, as RREDUCE.1.2,
 * have their own; in its arg, "binders" says which numbers these have. */
UOp *kernel_binders(const KernelUse *use);
/* Pass: that of each kernel. */
Graph *lower_binders(Graph *g);

/* ---- rewrites.c: actions that are carried out on the kernel's graph */

/* A kernel and the names of its ranges. A range that was split into two is no longer named; its
 * pieces have its name and .0 or .1. */
typedef struct { const char *path; int axis; } RangeName;
struct Rewriting {
	UOp *kernel;
	bool alias, behind;     /* behind: inner pieces get numbers behind all others, which stay */
	RangeName name[MAX_RANGES];
	int nnames;
	const char *overlap[MAX_RANGES];        /* the paths whose pieces overlap */
	int noverlaps;
	const char *held[8 * MAX_RANGES];       /* pieces that loops make, not the graph */
	int nheld;
	const Val *done;                        /* the actions that were carried out */
	/* the range that was split last, its pieces, and what stands for it since */
	UOp *was, *piece[2], *index;
};
/* Begins with the names that a kernel's ranges have; the name of the range of that number. */
void rewriting_begin(Rewriting *w, const KernelUse *use);
const char *rewriting_path(const Rewriting *w, int axis);
/* A word of a list that names a range, as text. */
const char *range_path(const Val *v);
/* The axis number of the range that v names, or of which it names a piece; dies with MALFORMED. */
int rewriting_axis(const Rewriting *w, const Val *v);
/* The pieces of axis, which is about to be split, overlap. */
void rewriting_overlap(Rewriting *w, int axis);
/* Renames: axis is split into axis and inner; if that is the next, all above move up. */
void rewriting_split(Rewriting *w, int axis, int inner);
/* The kernel as the actions of its list that rewrite it leave it, and the names of its ranges. What
 * is left of the list is in its arg as "plan". */
UOp *kernel_rewritten(const KernelUse *use, Rewriting *w);
/* Pass: carries out the actions that rewrite kernels, in the order of their list, as many as its
 * parts say. The others stay, with axis numbers for names, in the kernel's arg as "plan". */
Graph *lower_rewrites(Graph *g);
extern PassParts rewrites_parts;
/* Names a range that is new, by the number behind all names. */
void rewriting_new(Rewriting *w, int axis);

/* split.c: ["split", r, n], ["split", r, n, "guard"], "pad" or "overlap" */
void split_range(Rewriting *w, const Val *a);

/* scans.c: why scans cannot be in parts; NULL when they can. */
const char *scan_parts_misfit(const Facts *f);
/* rfactor.c: ["rfactor", r] */
void rfactor_range(Rewriting *w, const Val *a);

/* ---- swap.c: pieces of a kernel as instructions of the target */

/* What a value lies between, inclusive; lo is INT64_MIN where that is not known. */
typedef struct { int64_t lo, hi; } Extent;
bool extent_within(Extent e, Extent of);
/* Of a value of integers of up to 32 bits; of_load gives that of a LOAD of memory. */
Extent extent_of(UOp *value, Extent (*of_load)(const UOp *load, void *ctx), void *ctx);
/* A row of patterns.def; the op's factors in the pattern's order, with what is added to each for it
 * to be within the pattern's dtype. */
typedef struct { Op op; DType part[2]; int n; } Pattern;
typedef struct { UOp *value; int64_t add; } Factor;
typedef struct { const Pattern *pattern; Factor factor[2]; } Swap;
/* The two factors of which an RREDUCE is the i32 sum of products, or NULL. */
UOp *const *swap_factors(const UOp *fold);
/* Which pattern fits two factors: of n products, or (n 0) of those that the target has. e: their
 * extents; constant: which of them are. */
bool swap_find(Swap *s, UOp *const *factor, int n, const Extent *e, const bool *constant);
/* The i32 that has these values of a factor side by side, as many as the pattern takes. */
UOp *swap_packed(const Swap *s, UOp *const *part);
/* ["swap", r] */
void swap_range(Rewriting *w, const Val *a);

/* fits.c: why the plan cannot be carried out, NULL when it can */
const char *plan_misfit(const Plan *p, const Facts *f);
/* can the value be staged? It must be of the kernel's own arithmetic, the same whenever computed */
bool stage_fits(const Facts *f, const Staged *s);
/* Does it prefetch the next iteration of one of the output's loops, what tiles that follow read, or
 * the next panel of constants? Tiles? Are the places known where the transposed tiles go? */
bool prefetch_loads_fits(const Plan *p, const Facts *f);
bool prefetches_tiles(const Plan *p);
bool prefetch_stores_fits(const Plan *p, const Facts *f);
/* Is the value held once for all items of a group, which fill its buffer together? */
bool stage_shared(const Plan *p, const Staged *s);
/* Do all ranges but the first have sizes that divide, or are multiples of, the number of items in a
 * group? Then the algebra takes quotients and remainders of a flat number of them apart. */
bool digits_even(const Plan *p, const Facts *f, const int *range, int n);
/* Bytes of the plan's row buffers, a row for every lane of the tiles around it; saturates. */
int64_t plan_bytes(const Plan *p, const Facts *f);

/* ---- order.c: the order of a kernel's loops */

/* A loop over an output range: its elements, its tiles, or chunks of these; blocks of it, of which
 * the last may be shorter, and the elements of one. */
typedef struct { int r; enum { SINGLES, TILES, CHUNKS, BLOCKS, IN_BLOCK } what; } PlanLoop;
/* They, outermost first; returns how many. */
int plan_loops(const Plan *p, PlanLoop *level);
/* The same of a reduction over the ranges of set: blocks of those in `blocks`, elements in a block
 * of those in `within`. */
int fold_loops(const Plan *p, uint64_t set, uint64_t blocks, uint64_t within, PlanLoop *level);

/* The outermost reductions of a kernel, and its scans. */
typedef struct {
	VEC(UOp *) reduce, scan;
	int weight[MAX_RANGES];         /* reductions that depend on the output range */
} Folds;
void reductions_find(const Facts *f, Folds *k);
void choose_order(Plan *p, const Facts *f, const Folds *k);
/* Puts the output ranges into a plan in the order that suits the kernel's reductions. */
void plan_order(Plan *p, const Facts *f);
/* Where the n ranges in order[], outermost first, are output ranges and reductions': a reduction of
 * which loops stand outside of loops on which its value depends gets a row buffer over these. False
 * where loops of a reduction stand between them. */
bool order_folds(Plan *p, const Facts *f, const int *order, int n);
/* order_without removes those `count` ranges from the n in order[] and returns how many are left;
 * order_in_front puts ranges that are not in order[] in front. */
int order_without(int *order, int n, const int *range, int count);
void order_in_front(Plan *p, const int *range, int count);

/* ---- pieces.c: what a list says of ranges and their pieces */

/* The range that a name means, or of which it means a piece. Two reductions may each have a range
 * of the same axis number: `among` says which are meant. */
int range_of(const Facts *f, const Val *name, uint64_t among);
/* The names of the loop over range r, its tiles or blocks, and of any loop. */
const Val *loop_name(const Plan *p, const Facts *f, int r);
const Val *named_loop(const Plan *p, const Facts *f, PlanLoop v);
/* Word i of an action, a number up to `most`. */
int action_number(const Facts *f, const Val *a, size_t i, int64_t most);
/* The range that a split reduction runs in lanes, of those in `among`: the innermost one if it is
 * long enough, or if it is a block inside others; else the longest; -1 when none is long enough. */
int partial_range(const Plan *p, const Facts *f, uint64_t over, uint64_t among);
/* Several accumulators pay when what a reduction folds is small, for as many vectors, and has no
 * loop of its own: what is read from a row buffer has none. */
bool parts_pay(const Plan *p, const UOp *reduce);
void read_split(Plan *p, const Facts *f, const Val *a);
void read_order(Plan *p, const Facts *f, const Val *a);
void read_kind(Plan *p, const Facts *f, const Val *a);
void read_rfactor(Plan *p, const Facts *f, const Val *a);

/* plan.c: what it says of the rest */
void read_nontemporal(Plan *p, const Facts *f, const Val *a);
void read_prefetch_stores(Plan *p, const Facts *f, const Val *a);
void read_prefetch_loads(Plan *p, const Facts *f, const Val *a);
void read_staged(Plan *p, const Facts *f, const Val *a);
void read_pad(Plan *p, const Facts *f, const Val *a);

/* ---- words.c: actions that are a few others */

void word_tile(Reading *w, const Val *a);
void word_chunk(Reading *w, const Val *a);
void word_grid(Reading *w, const Val *a);
void word_partial(Reading *w, const Val *a);
void word_jam(Reading *w, const Val *a);
void word_transpose(Reading *w, const Val *a);
void word_items(Reading *w, const Val *a);
/* Reads the actions of the kernel's arg into p; returns them with primitives for words. */
const Val *plan_primitives(Plan *p, const Facts *f);

/* values.c: the name of a value of a kernel, "LOAD.1": its op, and its number among the kernel's
 * values of that op, sources first; places and gates are no values. */
const char *value_name(const Facts *f, const UOp *u);
/* The value of that name; dies with MALFORMED when there is none. */
UOp *value_named(const Facts *f, const Val *name);

/* A list from text, "tile 0 8 1; grid 2", and the text of a list. What cannot be one dies with that
 * status, naming `what`. */
const Val *actions_parse(const char *text, int status, const char *what);
void actions_text(Buf *out, const Val *list);
/* What --opt gives a kernel of that name, as its arg has it, or 'SINK: …' the schedule, or NULL. */
const Val *plan_given(const char *opt, const UOp *kernel);
const Val *schedule_given(const char *opt);
/* Reads the actions of the kernel's arg; plan_read dies with MALFORMED when they do not fit it. */
void plan_parse(Plan *p, const Facts *f);
void plan_read(Plan *p, const Facts *f);
/* The kernel's arg with the plan's actions; how many loops of order the grid's items are. */
const Val *plan_write(const Plan *p, const Facts *f);
int plan_grid(const Plan *p);

/* ---- panels.c */

extern int64_t lower_constants; /* bytes that the document's calls read; set by pass `actions` */
/* Constants that all rows read, in panels: those of r's tiles lie one after another. */
typedef struct {
	const UOp *load;
	int r, v;               /* the range of panels; the range of contiguous elements */
	/* r, where its blocks are the panels; ranges that move the place too, by many panels */
	uint64_t blocks, others;
	int64_t between, bytes; /* how many panels are used from one r to the next; their bytes */
	int64_t step, size;     /* elements from one r to the next; in a panel, a tile of r */
	uint64_t rows;          /* the ranges inside that of panels, which do not move the place */
} Panel;
/* Is u a load of such constants, v being the range in vectors? Then *n describes its panels. */
bool panel_is(const Plan *p, const Facts *f, const UOp *u, int v, Panel *n);
/* The largest panels that a tiled contraction reads; false: it reads none. */
bool panel_find(const Plan *p, const Facts *f, int v, Panel *n);

/* The stage of value u, or -1. */
int stage_of(const Plan *p, const UOp *u);
#endif
