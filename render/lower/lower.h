/* Kernels to statements.  Sections follow the files. */
#ifndef RENDER_LOWER_LOWER_H
#define RENDER_LOWER_LOWER_H
#include "actions/actions.h"

/* ---- dtypes.c, decompose.c, kernels/index.c: kernels of level schedule, rewritten -- */

/* f16 and bf16 are computed as f32: only LOAD, STORE, CAST, BITCAST and constants keep the narrow
 * dtypes. */
Graph *lower_dtypes(Graph *g);
/* Ops that the target lacks, rewritten with others (decompose.rules). Dies with UNSUPPORTED where
 * that is impossible, as for f64. */
Graph *lower_decompose(Graph *g);
/* the functions and guards that decompose.rules uses */
extern const struct RuleNames decompose_names;

/* collapse.c: loops that are contiguous in memory become one. */
Graph *lower_collapse(Graph *g);

/* ---- scopes.c: where each value is computed -------------------------------------------- */

/* The most innermost scopes of a chain of loops: each range may have tiles and a tail. */
enum { MAX_LAST = 12 };
/* A reduction is split into at most 2^(MAX_LEVEL-1) parts. */
enum { MAX_LEVEL = 11 };

typedef struct Scope Scope;
typedef struct Inst Inst;
typedef struct Nest Nest;

/* Where a tile of a range starts, and how many elements it has. */
typedef struct { UOp *first; Tile tile; } Start;
/* The same of a block of a range, whose elements are a loop. */
typedef struct { UOp *first, *size; } Block;
/* A loop, a condition, or the kernel itself. */
struct Scope {
	uint32_t id, depth;
	uint32_t phase;         /* of the nest to which the loop belongs; 0: none */
	Scope *parent;
	uint64_t binds;         /* ranges that have a value from here inward */
	UOp **at;               /* that value, by place in range[] */
	UOp *open;              /* RANGE or IF statement, NULL when nothing opens */
	VEC(UOp *) pre;         /* statements at its start */
	VEC(Inst *) items;      /* values placed here, sources first */
	VEC(Nest *) nests;      /* reductions and stages placed here */
	VEC(Inst *) scans;      /* scans along its loop */
	Scope *inner[MAX_LAST]; /* the loops that run last in it: the next loop, and tails */
	int ninner;
	Nest *nest;             /* the nest whose innermost scope this is */
	Nest *loads;            /* the nest whose accumulators it loads */
	uint64_t starts;        /* ranges of which a tile starts here */
	Start *start;           /* where, by place in range[] */
	uint64_t blocks;        /* ranges of which a block starts here */
	Block *block;           /* by place in range[] */
	UOp **lane;             /* in a lane scope: the element of the tile, by place in range[] */
	/* in a split reduction's innermost scope: how many parts it has there, and which is its */
	int parts;
	UOp *part;
	Scope *base;            /* in a lane scope: the scope around the lanes */
	bool last;              /* the scope holds the STOREs */
	bool shares;            /* its iterations are shared out to the items of a group */
	bool prefetch_loads;             /* the scope holds those of plan.prefetch_loads */
	bool prefetch_rows;              /* and of the row that is stored */
	UOp *sort;              /* instead of them: the STORE of a sort */
};
typedef enum { INST_VALUE, INST_REDUCE, INST_SCAN, INST_STAGE } InstKind;
/* One value in one scope. */
struct Inst {
	UOp *of;
	Scope *place;
	uint8_t kind;
	bool hoisted;           /* used in an inner scope */
	bool raw;               /* a staged value computed, not read */
	bool let;               /* has a LET */
	uint32_t uses, phase, depth, size, nsrc;
	Inst **src;
	Nest *nest;
	UOp *reg;               /* REDUCE, SCAN: accumulators; STAGE: the row buffer */
	uint64_t lanes;         /* SCAN: tiled ranges around it, an accumulator for each element */
	const Inst *into;       /* of a part: the STAGE whose row buffer it goes on from */
	UOp *part[MAX_LEVEL];   /* of a split REDUCE: 2^k partial ones; others for its remainder */
	UOp *ref;               /* what users name */
};
/* loops of a reduction, with an accumulator for each lane of the surrounding tiles; the same,
 * shared by the items of a group; those of a reduction whose other loops stand outside its row
 * buffer's, from which it goes on; loops that fill a row buffer */
typedef enum { NEST_FOLD, NEST_GROUP, NEST_PART, NEST_STAGE } NestKind;
/* Loops that several reductions over the same ranges share. They run in their scope after all
 * values of a lower phase. */
struct Nest {
	Scope *at;
	uint32_t phase;
	NestKind kind;
	bool group;             /* its loops run over the items of a group */
	uint64_t over;          /* the ranges it runs over */
	uint64_t lanes;         /* tiled ranges around it that its values depend on */
	uint64_t along;         /* that of them along which it fills registers in vectors, or 0 */
	const Staged *stage;    /* of a row buffer: its row of the plan */
	UOp *flat;              /* the place that its loops fill, or NULL: made of the ranges */
	uint64_t outside;       /* of a row buffer: the loops of its reduction around it */
	uint64_t inside;        /* of a part: the same, of whose blocks it has the elements */
	int partial;              /* partial accumulators; 0: one */
	DType element;          /* of its accumulators or of what it stores */
	Scope *first[MAX_LAST], *inner[MAX_LAST];       /* outermost and innermost scopes: main
	                                                 * parts and tails */
	int nfirst, ninner;
	/* of a part: the loops that load its accumulators, outermost and innermost (NULL: none) */
	Scope *load_first, *load;
	VEC(Inst *) members;
};
/* A kernel being lowered. */
typedef struct {
	Facts facts;
	Plan plan;
	Map insts;
	VEC(Inst *) all;        /* sources first */
	VEC(Scope *) scopes;
	Scope *top, *shared;    /* the kernel; the scope of a work group, or NULL */
	UOp *lidx;              /* the item's place in its group */
	int axis;               /* the greatest axis number of its ranges */
	int ids;                /* DEFINE and LET numbers */
	UOp *chunk[MAX_RANGES]; /* the first tile of the chunk, for ranges that have chunks */
	const Val *global, *local;      /* grid sizes, or NULL */
	VEC(UOp *) out;         /* statements */
} Lowering;
Scope *scope_new(Lowering *l, Scope *parent, uint64_t binds, UOp *open);
/* The start of the tile of range r around s. */
const Start *scope_start(const Scope *s, int r);
/* The element of its tile at which range r is in s. */
UOp *scope_lane(const Scope *s, int r);
/* A RANGE of this size with an axis number that no open loop of s has. */
UOp *scope_range(Lowering *l, const Scope *s, UOp *size, const char *kind);
/* The instance of u for a use in ctx, with all instances that it needs. */
Inst *inst_get(Lowering *l, UOp *u, Scope *ctx);

/* ---- loops.c: the scopes around the STOREs; nests.c: loops of reductions --------- */

/* Builds l->top and the chain of loops, or of grid places, below it; returns how many innermost
 * scopes there are (main part and tails). */
int loops_open(Lowering *l, Scope *last[MAX_LAST]);
/* A loop over the tiles of range r within `in`: *last is its scope, with the tile's start; a second
 * one, of single elements, takes the rest when tiles may not overlap, as where each element has to
 * be visited `once`. Returns how many. */
int open_tiles(Lowering *l, Scope *in, int r, UOp *count_from, bool once, Scope *last[2]);
/* The loops over the lanes of the tiles of set that start around base, vectors innermost, as a
 * chain within `in`; returns the innermost scope (`in` when set is empty), *first the outermost.
 * along: the range whose lanes are the vectors instead, or 0. */
Scope *open_lanes(Lowering *l, Scope *in, Scope *base, uint64_t set, uint64_t along, Scope **first);
/* A loop over the blocks of range r within `in`, and a scope for what is left; returns how many
 * there are. */
int open_blocks(Lowering *l, Scope *in, int r, const char *kind, Scope *last[2]);
/* The loop over the elements of the block of r around `in`. */
Scope *open_block(Lowering *l, Scope *in, int r, const char *kind);
/* Puts values for the ranges in set into s->at, computed from their flat number. */
void unflatten(Lowering *l, Scope *s, const int *range, int n, UOp *flat);
/* A loop of the items of a group over these ranges, the last one innermost, within `in`. *first is
 * its outermost scope, the result the one in which the ranges have values, made of *number (NULL:
 * nobody asks). */
Scope *open_strided(
	Lowering *l, Scope *in, const int *range, int n, Scope **first, UOp **number);
/* The lanes of a vector in which n elements of dtype d can be taken: a power of two that divides
 * n. */
int vector_lanes(int n, DType d);
/* The nest for the reduction or staged value u, with an element for each lane of the tiles of
 * `lanes`: an existing nest when its loops can be shared. */
Nest *nest_for(Lowering *l, UOp *u, Scope *at, uint32_t phase, NestKind kind, uint64_t lanes);
/* The ranges over which the loops of reduction u run, of a part of it those inside. */
uint64_t nest_over(const Lowering *l, const UOp *u, bool part);

/* ---- prefetch.c */

/* The PREFETCHes for the tile whose registers the nest fills. */
void prefetch_stores_emit(Lowering *l, const Nest *n);
/* The PREFETCHes that plan.prefetch_loads asks for in s: of the next row, tile, panel or block. */
void prefetch_loads_emit(Lowering *l, const Scope *s);
/* Those of the places that the kernel stores to along the tile of s. */
void prefetch_rows_emit(Lowering *l, const Scope *s);
/* Does an item prefetch what the next one reads, or read the same panel of constants? */
bool items_follow(const Lowering *l);
/* The range whose next row to prefetch; 0 when that does not pay. v: the range in vectors. */
uint64_t wants_prefetch_loads(const Plan *p, const Facts *f, int v);
/* Does it pay to prefetch the row that is stored too, where the next row is prefetched? */
bool wants_prefetch_rows(const Plan *p, const Facts *f, int v);
/* Do iterations of a reduction's range r read a large operand in pieces, of the tile along v, that
 * lie too far apart for a processor's own prefetcher? */
bool wants_prefetch_fold(const Plan *p, const Facts *f, int v, int r);
/* Does it pay to prefetch the next panel? Then *n describes the panels. */
bool wants_panel(const Plan *p, const Facts *f, int v, Panel *n);

/* ---- slices.c: calls that share their outermost loops ---------------------------------- */

/* The loops that form the slices according to `slice` in the kernel's arg, which layout writes,
 * outermost first, as places in f->range[]; returns how many. Dies with MALFORMED. */
int slice_ranges(const Facts *f, int *range);
/* The range that `turn` in `slice` names: a loop, or that of the reductions that fold what the
 * turns give; -1: none. */
int slice_turn(const Facts *f);
/* Pass: one call for each group of calls that share slices. */
Graph *lower_slices(Graph *g);

/* brief.c: the ops of one statement, up to the values that LETs hold; places count as nothing. */
int statement_ops(const UOp *statement);
/* Marks the kernels that together take so little of a call's time that a compiler need not
 * optimise them (`brief` in a kernel's arg). */
Graph *lower_brief(Graph *g);

/* ---- linearize.c, sort.c: statements --------------------------------------------------- */

/* Each KERNEL as a list of statements. */
Graph *lower_linearize(Graph *g);
/* Loops of kind unroll written out. */
Graph *lower_unroll(Graph *g);
/* ahead.c: what the items of a group share in each turn of a loop is loaded in the turn before. */
Graph *lower_ahead(Graph *g);
/* wide.c: neighbours that a work item reads or writes one by one are moved together, for a target
 * with `access`. */
Graph *lower_wide(Graph *g);
/* roll.c: kernel, with loops of plain kind where those of kind unroll are too long to be written
 * out. */
UOp *roll_tiles(UOp *kernel);
/* lanes.c: the number of a kernel's last LET, of all its nodes; 0: none. */
int64_t last_let(const Nodes *all);
/* Loops of kind vector as statements on values with lanes, for a target that has them. */
Graph *lower_lanes(Graph *g);
/* legalise.c: lanes as the target has them. */
Graph *lower_legalise(Graph *g);
/* registers.c: accumulators as vectors, or single elements, for a target with vectors. */
Graph *lower_registers(Graph *g);
/* abreast.c: the buffers that statements have stored to; alias: those of the kernel may be the
 * same. */
typedef struct { Map buffers; bool alias, param; } Stored;
/* Adds that of a STORE. */
void stored_add(Stored *s, const UOp *store);
/* May a store have changed what is in a buffer? */
bool stored_holds(const Stored *s, const UOp *buffer);
/* Forgets them, and frees the memory. */
void stored_clear(Stored *s);
/* The values of neighbouring elements side by side, for a target with vectors. */
Graph *lower_abreast(Graph *g);
/* shared.c: names for values with lanes that several operations use, for a target with vectors. */
Graph *lower_shared(Graph *g);
/* interleave.c: stores that lie apart, next to each other, as whole vectors; alias: buffers may be
 * the same */
UOp *kernel_interleaved(UOp *kernel, bool alias);
/* widths.c: a kernel whose statements have no more lanes than a register of the target holds */
UOp *kernel_widths(UOp *kernel);
/* cost.c: nanoseconds that an item of the grid takes on one core, in terms of the symbolic
 * sizes. */
const Val *item_work(const Lowering *l);
/* The part of a lowering before statements: the scopes and instances of a kernel by its plan. */
void lowering_begin(Lowering *l, UOp *kernel, bool alias);
void lowering_fill(Lowering *l);
void lowering_end(Lowering *l);
/* The statements for the STORE of a sort in l's innermost scope: a bottom-up merge sort. */
void sort_emit(Lowering *l, Scope *s, UOp *store);
static inline void emit(Lowering *l, UOp *statement) { vec_push(&l->out, statement); }
UOp *make_reg(Lowering *l, DType dt, int64_t n);
UOp *load_at(UOp *storage, UOp *at);
UOp *store_at(UOp *storage, UOp *at, UOp *v);
UOp *let(Lowering *l, UOp *v);
#endif
