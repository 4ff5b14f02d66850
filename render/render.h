/* Everything that knows a target: level schedule → loops → program.  Sections follow the files. */
#ifndef RENDER_H
#define RENDER_H
#include "uop.h"

/* ---- target.c: what a target can do ---------------------------------------------------------- */

typedef struct {
	char name[64];
	bool gpu;               /* work items in groups; else plain loops */
	int lanes; /* partial accumulators of a reduction (a power of two); 0: one */
	int vector;             /* bytes of a vector register; 0: none */
	int registers;          /* how many of them */
	int group;              /* work items of a group */
	int dims;               /* grid dimensions, 1 to 3 */
	int64_t local; /* bytes that a row buffer may take (local memory; the stack on a CPU) */
	bool f64;               /* has doubles */
	uint64_t lacks[2];      /* bit of each Op that its language has no spelling for */
	char flags[256];        /* options for its compiler */
	char march[32];         /* the processor to compile for; "": the machine's own */
} Target;

/* The target of that name: a row of targets.def, else what `render-NAME --describe` says. Dies with
 * UNSUPPORTED when there is no such target. */
const Target *target_find(const char *name);
/* The program render-NAME; dies likewise. */
const char *target_tool(const char *name);
/* The row as text, one "key: value" a line, which is what --describe prints and target_find reads.
 */
void target_print(Buf *out, const Target *t);
static inline bool target_lacks(const Target *t, Op op) { return t->lacks[op / 64] >> op % 64 & 1; }
/* The target that layout, lower or render was asked to work for; -t and --march of those that
 * choose it themselves. */
extern const Target *target;
extern const char *target_name, *target_processor;
/* Pass: sets target, unless it is set. */
Graph *target_choose(Graph *g);

/* ---- lower.c: passes over kernels ------------------------------------------------------------ */

/* A kernel and how the document uses it. */
typedef struct {
	UOp *kernel;
	UOp *call;              /* the first CALL of it */
	bool alias;             /* some CALL gives one buffer to two slots, one of them written */
} Use;
/* g with every distinct KERNEL replaced by what fn gives for it. */
Graph *kernels_map(Graph *g, UOp *(*fn)(const Use *use));
/* The same for the CUSTOMs that are called. */
Graph *customs_map(Graph *g, UOp *(*fn)(UOp *custom, const UOp *call));
/* Like walk_replace over the kernel's STOREs; fn is told nothing of statements. */
extern bool lower_explain, lower_strict;
/* Bytes of the constants that the document's calls read; set by the pass actions. */
extern int64_t lower_constants;
/* --opt: "NAME*: action; action", or NULL */
extern const char *lower_opt;
/* One line of --explain about a kernel. */
void explain(const UOp *kernel, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- lower_dtypes.c, lower_decompose.c, lower_index.c: kernels of level schedule, rewritten -- */

/* f16 and bf16 are computed as f32: only LOAD, STORE, CAST, BITCAST and constants keep them. */
Graph *lower_dtypes(Graph *g);
/* Ops that the target lacks, by others. Dies with UNSUPPORTED where there is no way, as for f64. */
Graph *lower_decompose(Graph *g);
/* lower_math.c: EXP2, LOG2, SIN or POW of f32 or f64 as plain arithmetic for a target with vectors;
 * NULL: u stays. Within 3 ulp (`make accuracy`), right at 0, ±inf, NaN and huge arguments. */
UOp *math_op(UOp *u);
/* The row-major place of an INDEX, one expression for each axis. */
UOp *flat_place(const UOp *index);
/* Every INDEX flat: one row-major place. */
Graph *lower_index(Graph *g);
/* lower_collapse.c: loops that follow each other in memory become one. */
Graph *lower_collapse(Graph *g);

/* ---- lower_facts.c: which ranges a value depends on ------------------------------------------ */

enum { MAX_RANGES = 64 };
/* A kernel of level schedule, looked at. Range sets are masks over range[]. */
typedef struct {
	UOp *kernel;
	Nodes all;              /* depth first, sources before users */
	int nrange;
	UOp *range[MAX_RANGES];
	uint64_t out;           /* ranges free in its STOREs */
	uint64_t serial;        /* those of them that run in order */
	bool alias;
	bool in_place;          /* reads what it writes */
	UOp *sort;              /* the RSORT that it stores, or NULL */
	UOp **written;          /* the PARAMs it stores to */
	int nwritten;
} Facts;
/* Fills f for kernel; free_of and bit_of answer for its nodes until the next call. */
void facts_find(Facts *f, UOp *kernel, bool alias);
/* The ranges u depends on: those it needs bound around it. */
uint64_t free_of(const UOp *u);
/* Bit of a RANGE of the kernel. */
uint64_t bit_of(const UOp *range);
/* The ranges an RREDUCE binds. */
uint64_t bound_of(const UOp *reduce);
/* True when u is a LOAD from a PARAM that the kernel writes. */
bool reads_written(const Facts *f, const UOp *u);
/* The axis number of range r; the greatest that a range has (0 without any): those above are
 * free. */
int axis_of(const Facts *f, int r);
int last_axis(const Facts *f);
/* What a size between these bounds counts as where it is judged: one that is open may be any. */
enum { USUAL_SIZE = 64 };
static inline int64_t usual_size(int64_t least, int64_t most)
{
	return least > USUAL_SIZE ? least : most < USUAL_SIZE ? most : USUAL_SIZE;
}
/* Greatest number of iterations of the ranges in set, from the variables' bounds (saturates at
 * 2^62). */
int64_t count_of(const Facts *f, uint64_t set);
/* The least number; that of one range. */
int64_t least_of(const Facts *f, uint64_t set);
static inline int64_t least_size(const Facts *f, int r) { return least_of(f, 1ull << r); }
static inline int64_t most_size(const Facts *f, int r) { return count_of(f, 1ull << r); }

/* ---- lower_actions.c: what to do to a kernel ------------------------------------------------- */

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
/* The outermost reductions of a kernel, and its running folds. */
typedef struct {
	VEC(UOp *) reduce, scan;
	int weight[MAX_RANGES];         /* reductions that depend on the output range */
} Look;
/* Puts the output ranges into a plan in the order that suits the kernel's reductions. */
void plan_order(Plan *p, const Facts *f);
/* n ranges in order[] without those `count`: returns how many are left. These, which are not among
 * them, in front. */
int order_without(int *order, int n, const int *range, int count);
void order_in_front(Plan *p, const int *range, int count);
/* lower_tiles.c: tiles, vectors, chunks and the grid of a CPU, for a plan with order and stages. */
void choose_tiles(Plan *p, const Facts *f, const Look *k);
/* lower_turns.c: tiles for a kernel that moves elements from one order to another, v being the
 * range in vectors; false when no load asks for them. */
bool choose_turns(Plan *p, const Facts *f, int v, int lanes);
/* Does what it turns go to memory that no cache near has? */
bool wants_fetch(const Plan *p, const Facts *f);
/* lower_fits.c: may the plan be carried out? */
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
/* Writes the actions into each kernel that has none yet. */
Graph *lower_actions(Graph *g);
/* Reads them; dies with MALFORMED when they do not fit the kernel. */
void plan_read(Plan *p, const Facts *f);
/* The kernel's arg with them in it. */
const Val *plan_write(const Plan *p, const Facts *f);

/* ---- lower_scopes.c: where each value is computed -------------------------------------------- */

typedef struct Scope Scope;
typedef struct Inst Inst;
typedef struct Nest Nest;

/* Where a tile of a range starts, and how many elements it has. */
typedef struct { UOp *first; Tile tile; } Start;
/* A loop, a condition, or the kernel itself. */
struct Scope {
	uint32_t id, depth;
	uint32_t phase;         /* of the nest it is a loop of; 0: none */
	Scope *parent;
	uint64_t binds;         /* ranges that have a value from here on */
	UOp **at;               /* that value, by place in range[] */
	UOp *open;              /* RANGE or IF statement, NULL when nothing opens */
	VEC(UOp *) pre;         /* statements at its start */
	VEC(Inst *) items;      /* values placed here, sources first */
	VEC(Nest *) nests;      /* reductions and stages placed here */
	VEC(Inst *) scans;      /* running folds along its loop */
	Scope *inner[4];        /* what runs last in it: the next loop, and a tail */
	int ninner;
	Nest *nest;             /* the nest whose innermost scope this is */
	uint64_t starts;        /* ranges of which a tile starts here */
	Start *start;           /* where, by place in range[] */
	UOp **lane;             /* of a lane scope: which element of the tile, by place in range[] */
	UOp *part;              /* of a split reduction's innermost scope: which accumulator */
	Scope *base;            /* of a lane scope: the scope around the lanes */
	bool last;              /* the STOREs stand here */
	bool ahead;             /* the PREFETCHes of plan.ahead stand here */
	UOp *sort;              /* instead of them: the STORE of a sort */
};
typedef enum { INST_VALUE, INST_REDUCE, INST_SCAN, INST_STAGE } InstKind;
/* One value in one scope. */
struct Inst {
	UOp *of;
	Scope *place;
	uint8_t kind;
	bool hoisted;           /* used from an inner scope */
	bool raw;               /* a staged value computed, not read */
	bool let;               /* has a LET */
	uint32_t uses, phase, depth, size, nsrc;
	Inst **src;
	Nest *nest;
	UOp *reg;               /* REDUCE, SCAN: accumulators; STAGE: the row buffer */
	UOp *parts, *tail;      /* of a split REDUCE: partial ones, and those of the rest */
	UOp *ref;               /* what users name */
};
/* loops that fold, with an accumulator a lane of the tiles around; the same by the items of a
 * group; loops that fill a row buffer */
typedef enum { NEST_FOLD, NEST_GROUP, NEST_STAGE } NestKind;
/* Loops that several reductions over the same ranges share. They run in their scope after all
 * values of a lower phase. */
struct Nest {
	Scope *at;
	uint32_t phase;
	NestKind kind;
	bool group;             /* its loops run over the items of a group */
	uint64_t over;          /* the ranges it runs over */
	uint64_t lanes;         /* tiled ranges around it that its values depend on */
	uint64_t along;         /* the one of them along which it fills registers in vectors, or 0 */
	int split;              /* partial accumulators; 0: one */
	DType element;          /* what it folds or stores */
	Scope *first[4], *inner[4];     /* outermost and innermost scopes: main part and tails */
	int nfirst, ninner;
	VEC(Inst *) members;
};
/* A kernel being lowered. */
typedef struct {
	Facts facts;
	Plan plan;
	Map insts;
	VEC(Inst *) all;        /* sources first */
	VEC(Scope *) scopes;
	Scope *top, *shared;    /* the kernel; the scope of a work group (group mode) */
	UOp *lidx;              /* item's place in its group (group mode) */
	int axis;               /* the greatest one that its ranges have */
	int ids;                /* DEFINE and LET numbers */
	UOp *chunk[MAX_RANGES]; /* the first tile of the chunk, of the ranges that have chunks */
	const Val *global, *local;      /* grid sizes, or NULL */
	VEC(UOp *) out;         /* statements */
} Lowering;
Scope *scope_new(Lowering *l, Scope *parent, uint64_t binds, UOp *open);
/* The start of the tile of range r around s. */
const Start *scope_start(const Scope *s, int r);
/* Which element of its tile range r is at in s. */
UOp *scope_lane(const Scope *s, int r);
/* A RANGE of this size with an axis number that no open loop of s has. */
UOp *scope_range(Lowering *l, const Scope *s, UOp *size, const char *kind);
/* The instance of u for a use in ctx, made with all that it needs. */
Inst *inst_get(Lowering *l, UOp *u, Scope *ctx);

/* ---- lower_loops.c: the scopes around the STOREs; lower_nests.c: loops of reductions --------- */

/* Builds l->top and the chain of loops, or of grid places, below it; returns how many innermost
 * scopes there are (main part and tails). */
enum { MAX_LAST = 8 };
int loops_open(Lowering *l, Scope *last[MAX_LAST]);
/* A loop over the tiles of range r within `in`: *last is its scope, with the tile's start; a second
 * one, of single elements, takes the rest when tiles may not overlap. Returns how many. */
int open_tiles(Lowering *l, Scope *in, int r, UOp *count_from, Scope *last[2]);
/* The loops over the lanes of the tiles of set that start around base, vectors innermost, as a
 * chain within `in`; returns the innermost scope (`in` when set is empty), *first the outermost.
 * along: the range whose lanes are the vectors instead, or 0. */
Scope *open_lanes(Lowering *l, Scope *in, Scope *base, uint64_t set, uint64_t along, Scope **first);
/* Puts values for the ranges in set into s->at from their flat number. */
void unflatten(Lowering *l, Scope *s, const int *range, int n, UOp *flat);
/* A loop of the items of a group over the ranges in set, within `in`; *first is its outermost
 * scope, the result the one in which the ranges have values. */
Scope *open_strided(Lowering *l, Scope *in, uint64_t set, Scope **first);
/* the places of the bits of set, ascending; returns how many */
int ranges_in(uint64_t set, int *range);
/* The lanes of a vector that n elements of dtype d can be taken in: a power of two that divides
 * n. */
int vector_lanes(int n, DType d);
/* The nest for the reduction or staged value u, with an element for each lane of the tiles of
 * `lanes`: one that is there already when its loops can be shared. */
Nest *nest_for(Lowering *l, UOp *u, Scope *at, uint32_t phase, bool stage, uint64_t lanes);

/* ---- lower_fetch.c */

/* The PREFETCHes of the tile that a nest fills registers for. */
void fetch_emit(Lowering *l, const Nest *n);
/* Those of what the tile that starts in s loads, one turn of plan.ahead later. */
void ahead_emit(Lowering *l, const Scope *s);
/* The range whose rows those are, for plan.ahead; 0 when they do not pay. v: the range in
 * vectors. */
uint64_t wants_ahead(const Plan *p, const Facts *f, int v);
/* The range of panels of a contraction in tiles, or 0; the same when the next panel is to be
 * fetched, 0 when that does not pay. */
uint64_t panel_range(const Plan *p, const Facts *f, int v);
uint64_t wants_panel(const Plan *p, const Facts *f, int v);

/* ---- lower_stage.c: which values deserve a row buffer ---------------------------------------- */

/* After a first lowering without stages: fills plan->stage. */
void stage_choose(const Lowering *l, Plan *plan);
/* The stage of value u, or -1. */
int stage_of(const Plan *p, const UOp *u);

/* ---- lower_slices.c: calls that share their outermost loops
 * ------------------------------------ */

enum { MAX_SLICE_AXES = 8, MAX_SLICE_CALLS = 16 };
/* The loops that are the slices by what the kernel's arg says in `slice`, which layout writes,
 * outermost first, as places in f->range[]; returns how many. Dies with MALFORMED. */
int slice_ranges(const Facts *f, int *range);
/* Pass: one call for each group of them. */
Graph *lower_slices(Graph *g);

/* ---- linearize.c, lower_sort.c: statements --------------------------------------------------- */

/* Each KERNEL as a list of statements. */
Graph *lower_linearize(Graph *g);
/* Loops of kind unroll written out. */
Graph *lower_unroll(Graph *g);
/* lower_cost.c: nanoseconds that an item of the grid takes on one core, by the sizes that are
 * open. */
const Val *item_work(const Lowering *l);
/* Everything of a lowering before statements: scopes and instances of kernel by plan. */
void lowering_begin(Lowering *l, UOp *kernel, bool alias);
void lowering_fill(Lowering *l);
void lowering_end(Lowering *l);
/* The STORE of a sort in l's innermost scope: a bottom-up merge sort. */
void sort_emit(Lowering *l, Scope *s, UOp *store);
static inline void emit(Lowering *l, UOp *statement) { vec_push(&l->out, statement); }
UOp *make_reg(Lowering *l, DType dt, int64_t n);
UOp *load_at(UOp *storage, UOp *at);
UOp *store_at(UOp *storage, UOp *at, UOp *v);
UOp *let(Lowering *l, UOp *v);

/* ---- cstyle.c, cstyle_expr.c, cstyle_names.c, cstyle_helpers.c: printing C-like source ------- */

/* How a language spells things. A NULL pointer: it has no such thing. */
typedef struct Dialect Dialect;
struct Dialect {
	const char *target;
	const char *type[DT_COUNT];     /* of a value; f16 and bf16 are their bits */
	const char *first_line;         /* before the source, or "" */
	const char *f64_line;           /* the same when doubles are used, or "" */
	const char *kernel;             /* "__kernel void" */
	const char *pointer;            /* address space of a parameter, "__global " */
	const char *restricted;         /* "restrict" */
	const char *inline_fn;          /* "static inline" */
	const char *local, *barrier;    /* address space of local memory; the statement */
	const char *group_id[3], *item_id[3];
	const char *inf[2], *nan[2];    /* f32, f64 */
	const char *function[2];        /* "%sf": a function on f32, on f64; %s: the op's c_text */
	const char *named[OP_COUNT];    /* those that are not named so */
	const char *bitcast; /* body of a reinterpretation of x as $T; NULL: through a union */
	const char *mulacc[2]; /* a*b + c rounded once, where that is fast, f32 and f64; NULL: left to
							  the compiler */
	const char *i64_suffix;         /* "L" */
	bool wraps;                     /* signed arithmetic wraps, by the compiler's flags */
	bool attributes;                /* parameters carry [[buffer(k)]], sizes are references */
	bool on_cpu;                    /* has a NAME_call for run */
	bool vectors;                   /* has GNU C's vector types */
	const char *runtime;            /* PROGRAM's runtime, or NULL */
};

/* A function of the language's own prelude, asked for while expressions are printed. */
typedef struct { VEC(const char *) names; Buf text; const Dialect *d; } Helpers;
/* false when there is none of that name yet: then it is now, and its text is to be put */
bool helper_have(Helpers *h, const char *name);
void helper_put(Helpers *h, const char *name, const char *text);
/* of two sources of dtype t, or of as many as a row of the table has: the op's own meaning */
const char *helper_binary(Helpers *h, Op op, DType t);
/* "max" for MAX: what functions for an op are named after, in the arena */
const char *op_word(Op op);
/* the language's function for an op of form FUNCTION on f32 or f64 */
const char *language_function(const Dialect *d, Op op, DType t);
const char *helper_cast(Helpers *h, DType to, DType from);
const char *helper_bits(Helpers *h, DType to, DType from);
/* a*b + c rounded once; NULL when the language has no such function or t is not f32 or f64 */
const char *helper_mulacc(Helpers *h, DType t);

/* Text of a node within one statement. */
typedef struct { const char *s; int prec, depth; } Text;
typedef struct {
	const Dialect *d;
	UOp *kernel, *call;
	Buf *out;
	int indent;
	Helpers helpers;
	Map names;                      /* node → name: LETs, storage, ranges, variables */
	Map used;                       /* names taken */
	Text *text;                     /* by node id, valid where stamp is the statement's number */
	uint32_t *stamp, statement;
	size_t limit;
	int lets, regs, bufs, temps;
	VEC(UOp *) vars;
	int slots;
	uint64_t *stored;               /* bit by slot */
	bool restricted;
	const UOp *gate; /* of the STORE being printed: what stands under it needs no gate of its own */
	VEC(UOp *) open;                /* RANGEs */
	const char *from, *to;          /* the items it runs (CPU), NULL without a grid */
	struct Vectors *vectors;        /* of cstyle_vector.c; NULL: the language has none */
} Printer;
/* Text of value u where the statement being printed stands; long ones are cut by temporaries before
 * it. */
Text expr_text(Printer *p, UOp *u);
/* The place an INDEX names. */
const char *expr_place(Printer *p, UOp *index);
/* The same, in parentheses when its outermost operator binds weaker than prec. */
const char *expr_at(Printer *p, UOp *u, int prec);
/* Sources first, by an explicit stack: make for every node below root that is needed and not
 * made. */
typedef struct {
	bool (*made)(Printer *p, UOp *u);
	bool (*needs)(Printer *p, UOp *u, uint32_t i);      /* source i, for u */
	void (*make)(Printer *p, UOp *u);
} Making;
void make_first(Printer *p, UOp *root, const Making *m);
/* "0.0f"; "<", "==" or "!=" */
const char *zero_text(DType d);
/* how tightly an operator of C binds */
int operator_prec(const char *operator);
enum {
	PREC_ANY = 0,
	PREC_WHERE = 3,
	PREC_OR = 6,
	PREC_XOR,
	PREC_AND,
	PREC_EQ,
	PREC_REL,
	PREC_SHIFT,
	PREC_ADD,
	PREC_MUL,
	PREC_UNARY,
	PREC_ATOM
};
void print_line(Printer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- cstyle_vector*.c: loops of kind "vector"
 * --------------------------------------------------- */

/* Looks at the registers of the kernel; p->vectors until vectors_end. */
void vectors_begin(Printer *p, const Nodes *all);
void vectors_end(Printer *p);
/* Declares a DEFINE_REG as variables NAME_0, NAME_1, …; false when it is an array. */
bool vector_reg(Printer *p, UOp *reg, const char *name);
/* The place in such a register, as a scalar; NULL for any other. */
const char *vector_place(Printer *p, UOp *index);
/* Prints the loop that statement i opens; returns how many statements that was, 0 when it
 * cannot. */
uint32_t vector_region(Printer *p, uint32_t i);
/* Before each other statement but LET: a scope may begin or end, a register may change. */
void vectors_scope(Printer *p);
/* At the kernel's end: what was stored past the caches comes before what is stored after. */
void vectors_fence(Printer *p);

/* An identifier that means nothing else in any of the languages, made of a user's name. */
const char *name_safe(const char *s, size_t n);
/* name_safe, distinct from those given before */
const char *name_unique(Map *used, const char *name);
/* Text that may stand in a comment: what could end it or the line is replaced. */
const char *comment_safe(const char *s, size_t n);

/* The source of one lowered KERNEL as a function of that name; call gives the names of buffers.
 * restricted: no two slots are the same memory. Returns the size variables it takes, in order. */
const Val *cstyle_print(
	Buf *out, const Dialect *d, UOp *kernel, const char *name, UOp *call, bool restricted);

/* ---- custom_program.c: CUSTOM → PROGRAM ------------------------------------------------------ */

/* The code of a CUSTOM for d's target with its launch data; flags are for the compiler, globals the
 * dtypes of its slots. Dies with UNSUPPORTED when it has none for that target. */
UOp *custom_program(UOp *custom, const Dialect *d, const char *flags, const Val *globals);

/* ---- programs.c, render-X.c: KERNEL → PROGRAM ------------------------------------------------ */

/* The main of a render-X. */
int render_main(const Dialect *d, int argc, char **argv);

#endif
