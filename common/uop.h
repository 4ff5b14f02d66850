/* libcommon: the graph and its only bytes, text, rules and meaning.  Sections follow the files. */
#ifndef UOP_H
#define UOP_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- die.c: the one way to fail ------------------------------------------------------------ */

/* Exit statuses of every tool (contract, section 4). */
enum { DONE = 0, FAILED = 1, USAGE = 2, UNSUPPORTED = 3, MALFORMED = 4 };

extern const char *die_stage;      /* name of the running tool; set once by stage_main */
/* When set, its text is put before the message: a front end points it at "file:line:col". */
extern const char *die_where;
/* When set, printed after the message line: a source line and a caret. */
extern const char *die_context;

/* Prints "stage: [where: ]message" as one line of at most 1000 bytes, control characters escaped,
 * on standard error, runs the registered cleanups and exits with status. */
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, and errno's text after a colon. Status FAILED. */
_Noreturn void die_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Exits like die, but says nothing: the cause has been told by another process. */
_Noreturn void die_silent(int status);
/* A bug in the project itself: prints file and line, exits with FAILED. */
_Noreturn void die_bug(const char *file, int line, const char *what);
#define CHECK(c) ((c) ? (void)0 : die_bug(__FILE__, __LINE__, #c))
/* One line on standard error, same form as die, without exiting. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* fn(arg) runs when die exits (removes a partial output). */
void die_cleanup(void (*fn)(void *), void *arg);

/* ---- util.c: arena, growing arrays, string buffers, checked sizes, hash map -------------------- */

/* Memory from the arena: zeroed, 16-byte aligned, freed only by arena_reset. Never NULL. */
void *arena_alloc(size_t bytes);
char *arena_strdup(const char *s);
char *arena_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Forgets every node, value, shape and map: between two documents of a stream. */
void arena_reset(void);
/* The same, but what was there can be read, to be copied, until arena_drop of what this returns. */
void *arena_aside(void);
void arena_drop(void *aside);

/* malloc family that dies on failure; for what outlives or outgrows the arena. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
/* Zeroed memory for large tables, on large pages where there are such; freed with its size. */
void *pages_new(size_t n);
void pages_free(void *p, size_t n);
/* Bytes that this machine can give at most: memory and swap, or the limit of its control group. */
size_t memory_most(void);

/* A growing array: VEC(int) v = {0}; vec_push(&v, 3); v.at[i]; v.n; vec_free(&v). */
#define VEC(T) struct { T *at; size_t n, cap; }
#define vec_push(v, x) ((v)->n == (v)->cap ? vec_grow((void **)&(v)->at, &(v)->cap, sizeof *(v)->at) : (void)0, (v)->at[(v)->n++] = (x))
#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)
void vec_grow(void **at, size_t *cap, size_t size);

/* A string buffer; s is always NUL-terminated after the first call (buf_str never returns NULL). */
typedef struct { char *s; size_t n, cap; } Buf;
void buf_add(Buf *b, const void *bytes, size_t n);
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* the same with its arguments in ap */
void buf_vprintf(Buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
const char *buf_str(Buf *b);
void buf_free(Buf *b);

/* Products and sums of sizes; return false on overflow beyond int64. */
static inline bool mul_ok(int64_t a, int64_t b, int64_t *r) { return !__builtin_mul_overflow(a, b, r); }
static inline bool add_ok(int64_t a, int64_t b, int64_t *r) { return !__builtin_add_overflow(a, b, r); }

/* Open-addressing map from a 64-bit key (a pointer, an id, a hash that is good enough) to a pointer.
 * Map m = {0}; map_get returns NULL when absent. Putting NULL takes the key out. */
typedef struct { uint64_t *key; void **val; size_t n, cap; } Map;
void *map_get(const Map *m, uint64_t key);
void map_put(Map *m, uint64_t key, void *val);
void map_free(Map *m);
#define PKEY(p) ((uint64_t)(uintptr_t)(p))

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);   /* XXH3 */
uint64_t hash_mix(uint64_t h, uint64_t x);

/* Monotonic clock in milliseconds. */
double now_ms(void);

/* ---- val.c: args, notes, meta: immutable interned values, as msgpack has them -------------------- */

typedef enum { VAL_NIL, VAL_BOOL, VAL_INT, VAL_UINT, VAL_FLOAT, VAL_STR, VAL_BIN, VAL_ARRAY, VAL_MAP } ValKind;
typedef struct Val Val;
struct Val {
	ValKind kind;
	uint32_t seq;               /* order of creation */
	size_t n;                   /* bytes of STR and BIN, elements of ARRAY, pairs of MAP */
	uint64_t hash;
	union {
		bool b;
		int64_t i;          /* VAL_INT: any integer that fits int64 */
		uint64_t u;         /* VAL_UINT: only what does not fit int64 */
		double f;           /* compared and interned by its bits */
		const char *s;      /* STR (NUL-terminated too; may hold NULs within n) and BIN */
		const Val *const *a; /* ARRAY: n; MAP: 2n, key then value, in document order */
	};
};
/* Equal values are one Val: compare with ==. */
extern const Val val_nil;      /* a NULL const Val * is never a Val: nil is &val_nil */
#define VNIL (&val_nil)
const Val *val_bool(bool b);
const Val *val_int(int64_t i);
const Val *val_uint(uint64_t u);
const Val *val_float(double f);
const Val *val_str(const char *s);
const Val *val_strn(const char *s, size_t n);
const Val *val_bin(const void *p, size_t n);      /* refers to p, which must live on; not copied */
const Val *val_array(size_t n, const Val *const *a);
const Val *val_map(size_t n, const Val *const *kv);
/* VARR(val_int(1), val_str("a")) */
#define VARR(...) val_array(sizeof((const Val *[]){__VA_ARGS__}) / sizeof(Val *), (const Val *[]){__VA_ARGS__})
/* VMAP(val_str("name"), v, …): keys and values in turn */
#define VMAP(...) val_map(sizeof((const Val *[]){__VA_ARGS__}) / sizeof(Val *) / 2, (const Val *[]){__VA_ARGS__})
const Val *val_ints(size_t n, const int64_t *v);
/* The value at a string key, or NULL (also when m is no map). */
const Val *val_get(const Val *m, const char *key);
/* m with key set to v (m may be nil); with v NULL, without key. */
const Val *val_set(const Val *m, const char *key, const Val *v);
static inline bool val_is_str(const Val *v, const char *s);   /* below */
/* Text of a value as the text form has it (JSON-like; NaN, inf; b"hex" for bin). */
void val_print(Buf *out, const Val *v);

/* ---- dtypes, ops, levels: enums from the .def tables ------------------------------------------- */

typedef enum {
#define DTYPE(NAME, ...) DT_##NAME,
#include "dtypes.def"
#undef DTYPE
	DT_NONE, DT_COUNT = DT_NONE
} DType;
typedef struct { const char *name; int size; char kind; const char *ctype, *npy; } DTypeInfo;
extern const DTypeInfo dtype_info[DT_COUNT + 1];
DType dtype_find(const char *name);      /* DT_NONE when there is no such dtype */
static inline int dtype_size(DType d) { return dtype_info[d].size; }
static inline const char *dtype_name(DType d) { return dtype_info[d].name; }
static inline bool dtype_float(DType d) { return dtype_info[d].kind == 'F'; }
/* one of 16 bits */
static inline bool dtype_half(DType d) { return dtype_float(d) && dtype_size(d) == 2; }
static inline bool dtype_int(DType d) { return dtype_info[d].kind == 'I' || dtype_info[d].kind == 'U'; }
static inline bool dtype_signed(DType d) { return dtype_info[d].kind == 'I'; }
/* least and greatest value of an integer dtype (greatest of u64 as uint64) */
int64_t dtype_min(DType d);
uint64_t dtype_max(DType d);
/* the dtype in which sums and products of d accumulate: f32 for f16 and bf16, else d */
static inline DType dtype_acc(DType d) { return d == DT_F16 || d == DT_BF16 ? DT_F32 : d; }

#include "ops.h"

typedef enum { LV_TENSOR, LV_GRAPH, LV_SCHEDULE, LV_LOOPS, LV_PROGRAM, LV_COUNT } Level;
extern const char *const level_name[LV_COUNT];

/* ---- uop.c: nodes ------------------------------------------------------------------------------ */

typedef struct UOp UOp;
typedef struct { int rank; uint64_t hash; UOp *dim[]; } Shape;   /* interned: compare with == */
enum { MAX_RANK = 16 };

struct UOp {
	uint32_t id;            /* order of creation: a source's id is less than its users' */
	uint16_t op;            /* Op */
	uint8_t dtype;          /* DType; DT_NONE for nodes without a value */
	uint8_t infer_err;      /* raw nodes only: it did not check */
	uint32_t nsrc;
	uint32_t hash;
	const Val *arg;         /* VNIL when there is none */
	const Val *note;        /* map or VNIL; not part of the node's identity */
	const Shape *shape;     /* derived; NULL for a node that has no value (STORE, SINK, …) */
	UOp *src[];
};

/* The node; equal nodes are one node. Shape and dtype rules are checked: on a breach it dies with
 * MALFORMED and the reason (a caller that knows better sets die_where, or uses node_try). */
UOp *node_new(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg);
/* The same with a message instead of dying: returns NULL and sets *err (in the arena). *status gets
 * MALFORMED or UNSUPPORTED. */
UOp *node_try(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const char **err, int *status);
/* NODE(OP_ADD, DT_F32, VNIL, a, b) */
#define NODE(op, dt, arg, ...) node_new(op, dt, sizeof((UOp *[]){__VA_ARGS__}) / sizeof(UOp *), (UOp *[]){__VA_ARGS__}, arg)
#define LEAF(op, dt, arg) node_new(op, dt, 0, NULL, arg)
/* For documents read raw: a node of its own, never merged, not checked and without a shape. */
UOp *node_plain(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const Val *note);
/* a node like u with other sources (u itself when they are the same); keeps u's note */
UOp *node_with(UOp *u, UOp *const *src);
/* the same with as many sources as one likes, and an arg */
UOp *node_like(const UOp *u, size_t nsrc, UOp *const *src, const Val *arg);
/* puts a note on a node that has none yet; merges missing keys when it has one */
void node_note(UOp *u, const Val *note);
/* one more than the greatest id: the size for side tables indexed by id */
uint32_t node_limit(void);
/* A side table that is kept between uses, with room for every node there is now; what is new is zero. cap: its entries. */
void *table_fit(void *table, size_t size, size_t *cap);
#define TABLE_FIT(table, cap) ((table) = table_fit(table, sizeof *(table), &(cap)))
/* The same, and *round is one more, never 0: entries that hold a round's number count in that round alone, so nothing is
 * cleared between uses. */
void *table_round(void *table, size_t size, size_t *cap, uint32_t *round);
#define TABLE_ROUND(table, cap, round) ((table) = table_round(table, sizeof *(table), &(cap), &(round)))

/* CONST helpers. const_num makes a constant of any dtype from a double (exactly representable or rounded);
 * const_int from an int64 (must fit integers); const_bits from the element's own bytes. */
UOp *const_num(DType dt, double v);
UOp *const_int(DType dt, int64_t v);
UOp *const_bits(DType dt, const void *bytes);
/* a CONST's arg in normal form for dt (see const.c), NULL when dt cannot hold it */
const Val *const_normal(DType dt, const Val *v);
/* the value of a CONST as the element's bytes (8 bytes, zero-filled) */
void const_get(const UOp *u, void *bytes8);
/* true and *v set when u is an integer (or bool) CONST that fits int64 */
bool const_is_int(const UOp *u, int64_t *v);
/* true and *v set when u is a float CONST */
bool const_is_float(const UOp *u, double *v);
static inline bool is_const(const UOp *u) { return u->op == OP_CONST; }
/* REDUCE identity of op (ADD MUL MAX MIN) for dt as a CONST */
UOp *const_identity(Op op, DType dt);
/* name of a BUFFER, its role, and so on: the value at a key of arg as text, "" when absent */
const char *buffer_name(const UOp *u);
const char *buffer_role(const UOp *u);
static inline bool buffer_is(const UOp *u, const char *role);   /* below */

/* ---- shape.c: shapes, symbolic sizes, inference ---------------------------------------------------- */

/* A size or index is a node of dtype i64 made of CONST, VAR, RANGE, ADD, MUL, FLOORDIV, FLOORMOD (and, in
 * kernels, any i64 value as a leaf). Make them with the ix_ functions only (expr.c), which keep them normal:
 * then equal linear expressions are the same node. */
const Shape *shape_new(int rank, UOp *const *dim);
const Shape *shape_ints(int rank, const int64_t *dim);
extern const Shape *shape_scalar(void);
/* shape from an arg (array of ints and size expressions); NULL and *err on failure */
const Shape *shape_from_val(const Val *v, const char **err, int *status);
const Val *shape_to_val(const Shape *s);
/* shape_new with the contract's limits checked: NULL and *err on failure */
const Shape *shape_checked(int rank, UOp *const *dim, const char **err, int *status);
/* Equality of two sizes. What the algebra cannot decide counts as equal and is noted as a check ["eq", a, b] (or
 * ["le", a, b]), which checks_remember keeps and run makes when the sizes are known. */
bool size_equal(UOp *a, UOp *b);
bool shape_equal(const Shape *a, const Shape *b);
void size_check(const char *how, UOp *a, UOp *b);
const Val *size_checks(void);                                /* all noted so far, or VNIL */
void size_checks_reset(void);
/* number of elements as a size */
UOp *shape_count(const Shape *s);
/* true and *n when all sizes are known numbers */
bool shape_static(const Shape *s, int64_t *n);
/* the same for the bytes of so many elements; false, too, when no int64 holds them */
bool shape_bytes(const Shape *s, DType d, int64_t *bytes);
/* a size is known to be 0, whatever the others are */
bool shape_empty(const Shape *s);
/* size i as a number: dies with UNSUPPORTED when symbolic */
int64_t shape_dim(const Shape *s, int i);
/* the most elements it can have, from the variables' bounds (saturates at 2^62) */
int64_t shape_max_count(const Shape *s);
/* "[3,n*2]" in the arena */
const char *shape_text(const Shape *s);
/* NumPy broadcasting of two shapes; NULL when they do not fit */
const Shape *shape_broadcast(const Shape *a, const Shape *b);
/* ---- infer.c */
/* Derives shape and checks a node about to be made. Returns NULL when right, else the reason. */
const char *node_infer(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const Shape **out, int *status);
/* the contract's rule for names of buffers and outputs: 1 to 255 bytes, no control characters, / or =, no leading . or - */
bool name_ok(const Val *v);
/* arg readers that infer.c has checked: axes of REDUCE/PERMUTE/FLIP, pairs of PAD/SHRINK */
int arg_axes(const Val *v, int *axes);                       /* count */
void arg_pairs(const Val *v, UOp *(*pair)[2]);               /* sizes as index nodes */
UOp *size_from_val(const Val *v, const char **err);          /* int or expression text; NULL and *err */
const Val *size_to_val(UOp *size);                           /* int, or text in the contract's grammar */

/* ---- expr.c, conditions.c, bounds.c, divmod.c, ixtext.c: the integer algebra (inside: ix.h) -------- */

UOp *ix_const(int64_t v);
UOp *ix_var(const char *name, int64_t min, int64_t max);
UOp *ix_range(int axis, const char *kind, UOp *size);        /* RANGE; kinds in common/README.md */
UOp *ix_add(UOp *a, UOp *b);
UOp *ix_sub(UOp *a, UOp *b);
UOp *ix_mul(UOp *a, UOp *b);
UOp *ix_div(UOp *a, UOp *b);                                 /* floor */
UOp *ix_mod(UOp *a, UOp *b);                                 /* floor */
/* mod is x % n, n a number. Under lo <= mod < hi it is *y, and x // n is *q, both of fewer divisions: true when that can be
 * proved of all x. Elsewhere y and q mean nothing. */
bool ix_unwrap(UOp *mod, int64_t lo, int64_t hi, UOp **q, UOp **y);
/* a bool node for the comparison, folded when the bounds decide: a < b; 0 <= a < n; both */
UOp *ix_lt(UOp *a, UOp *b);
UOp *ix_inside(UOp *a, UOp *n);
UOp *ix_and(UOp *a, UOp *b);
/* bounds of an index node, inclusive; INT64_MIN / INT64_MAX when unknown */
void ix_bounds(UOp *u, int64_t *lo, int64_t *hi);
bool ix_is_const(const UOp *u, int64_t *v);
/* true when a < b (a <= b) can be proved, symbolically as well */
bool ix_prove_lt(UOp *a, UOp *b);
bool ix_prove_le(UOp *a, UOp *b);
/* value with VARs taken from env (parallel arrays); false when a variable is missing or a division by 0 */
typedef struct { int n; const char *name[64]; int64_t value[64]; } VarEnv;
bool ix_eval(UOp *u, const VarEnv *env, int64_t *v);
/* u with other sources, index arithmetic and conditions through the ix_ functions, anything else by node_with */
/* a op b for an op of which indices are made (its row says index), else NULL */
UOp *ix_op(Op op, UOp *a, UOp *b);
UOp *ix_remake(UOp *u, UOp *const *src);
/* forgets bounds and results: arena_reset calls it */
void ix_reset(void);
/* "((idx1*10)+idx0)" style text; name(u, ctx) names leaves (NULL: r0, n, …) */
void ix_print(Buf *out, UOp *u, const char *(*name)(UOp *, void *), void *ctx);
/* parses the contract's size grammar; names must be declared by vars_declare */
UOp *ix_parse(const char *text, size_t n, const char **err);
/* declares the document's variables for ix_parse (map name → [min,max] as Val); NULL or reason */
const char *vars_declare(const Val *vars);
UOp *vars_find(const char *name, size_t n);
/* One more, 0 to max, until arena_reset: a size that is data (trace/data_sizes.c), which no document declares. */
UOp *vars_add(const char *name, int64_t max);

/* ---- walk.c: the one walker ------------------------------------------------------------------------- */

typedef struct { UOp **at; size_t n; } Nodes;                /* in the arena */
/* Every node that root reaches, sources before users (root last). Linear; no recursion. */
Nodes walk(UOp *root);
Nodes walk_many(size_t n, UOp *const *roots);
/* The same, but only until the next walk of any kind (or a node is made): for a look that keeps nothing. */
Nodes walk_brief(UOp *root);
/* Rebuilds what root reaches, sources first: fn gets each node with its sources already replaced and returns
 * what stands for it (u itself for no change). Linear. */
UOp *walk_replace(UOp *root, UOp *(*fn)(UOp *u, void *ctx), void *ctx);
/* Substitution: every occurrence of from[i] becomes to[i]. Index arithmetic is rebuilt through ix_. */
UOp *substitute(UOp *root, size_t n, UOp *const *from, UOp *const *to);

/* ---- ranges.c: what a kernel's values depend on --------------------------------------------------------- */

/* The axis numbers of the ranges that are free in u, as a bit mask. Amortised: each node is looked at once. */
uint64_t range_mask(UOp *u);
int range_axis(const UOp *range);
const char *range_kind(const UOp *range);
/* How many turns it has, 0 when that is not known. */
int64_t range_size(const UOp *range);

/* ---- graph: a document ------------------------------------------------------------------------------ */

typedef struct {
	Level level;
	const Val *vars;        /* map name → [min, max], or VNIL */
	const Val *meta;        /* map or VNIL; carried through */
	UOp *sink;
	Nodes all;              /* every node of the document as read, dead ones too; n is 0 for a graph made here */
	bool raw;               /* read with READ_RAW: all is what there is to write, in its order */
} Graph;

/* ---- document.c: a document put together from its parts, each checked, for wire.c and text.c ------------- */

typedef struct Doc Doc;
/* A key that stands twice in a map's keys and values, or NULL. */
const Val *val_key_twice(size_t n, const Val *const *kv);
/* vars and meta: maps or VNIL. Declares the vars; *err gets the reason when they are wrong (then NULL). */
Doc *doc_begin(Level level, const Val *vars, const Val *meta, int flags, const char **err);
/* The next node; op and dtype as text (dtype NULL: nil). Returns NULL, or the message ("node 17 ADD (h): …") and *status. */
const char *doc_node(Doc *d, const char *op, size_t nop, const char *dtype, size_t ndtype, size_t nsrc,
	const uint64_t *src, const Val *arg, const Val *note, int *status);
/* The whole; NULL and *err when there is no SINK at the end. */
Graph *doc_end(Doc *d, const char **err);

/* ---- verify.c: a graph against levels.def -------------------------------------------------------------- */

/* Dies with MALFORMED (or UNSUPPORTED) naming node, op and name, when g breaks a rule of its level. */
void verify(const Graph *g);
/* check_prepared.c: the rules of buffers of role prepared, for a level below graph; verify calls it. */
void check_prepared(const Graph *g);
/* True when a CALL or MEMCPY writes prepared buffers: it runs once, before the first of the calls that run each time. */
bool call_prepares(const UOp *call);

/* ---- calls.c: calls of kernels, their slots and buffers ------------------------------------------------ */

int64_t param_slot(const UOp *param);
/* The PARAM that stands for this buffer in that slot; the one that is param, in another slot. */
UOp *param_new(int64_t slot, const UOp *buffer);
UOp *param_moved(const UOp *param, int64_t slot);
/* A BUFFER without data. */
UOp *buffer_of(const char *name, const char *role, DType dt, const Shape *shape);
/* Is it a CALL of a KERNEL? Does a call give one buffer to two slots? */
bool call_has_kernel(const UOp *u);
bool call_aliases(const UOp *call);
/* The call with another kernel. */
UOp *call_with_kernel(UOp *call, UOp *kernel);
/* The call with another kernel and one buffer more, whose slot is call->nsrc - 1. */
UOp *call_with_buffer(const UOp *call, UOp *kernel, UOp *buffer);
uint64_t call_writes(const UOp *call);                       /* bit k: a STORE in the CALL's kernel writes slot k */
const char *kernel_name(const UOp *kernel);                  /* "kernel" when it has none */
const char *call_name(const UOp *call);                      /* its kernel's */
/* g with these calls instead of its own */
Graph *graph_with_calls(const Graph *g, size_t n, UOp *const *calls);

/* ---- custom.c: CUSTOM, a kernel of the user's own (its interface: render/README.md) ----------------------- */

extern bool custom_allowed;              /* --allow-custom: without it such a node is refused, status 3 */
extern const char custom_refusal[];      /* by this message */
/* May a target, whose program is render-TARGET, or a processor be named so? */
bool name_plain(const char *s, size_t n);
/* What is wrong with a CUSTOM's arg, its shape apart; NULL when nothing is. */
const char *custom_check(const Val *arg, int *status);
const char *custom_name(const Val *arg); /* of its function: an identifier */
/* Names of the size variables that it takes after the buffers: those of `vars`, else those in `shape` as they come. */
const Val *custom_vars(const Val *arg);
bool custom_in(const Graph *g);

/* ---- wire_scan.c, wire.c, text.c, text_parse.c: bytes into whole values; document ↔ bytes, document ↔ text ----------------- */

enum { READ_RAW = 1 };   /* keep equal nodes apart and dead ones too (show, diff); no stage does */
enum { WIRE_DEPTH = 100 };
enum { WIRE_BAD = -1, WIRE_MORE = 0, WIRE_WHOLE = 1 };
/* Where a scan stands; starts as zeros. It goes on where it stopped when more bytes have come. */
typedef struct {
	size_t at;              /* bytes looked at; the value's length when whole, the place of the fault when bad */
	int depth;
	const char *err;
	struct { uint64_t left; bool map; } open[WIRE_DEPTH];
} WireScan;
/* Checks that one msgpack value starts at p: form, depth, UTF-8, keys that are strings. Allocates nothing. */
int wire_scan(WireScan *s, const void *p, size_t n);
bool utf8_ok(const void *s, size_t n);
/* what stands at p, decoded: n is the count or length, int, bits or bool; returns its head's bytes, 0 when cut short or bad */
typedef struct { ValKind kind; uint64_t n; bool bad; } WireHead;
size_t wire_head(const uint8_t *p, size_t left, WireHead *h);
/* The document in n bytes that wire_scan has found whole; dies with MALFORMED when it is no document. */
Graph *wire_build(const void *p, size_t n, int flags);
/* One document from bytes; dies with MALFORMED when it is not one. *used gets its length. Bins refer into p. */
Graph *wire_read(const void *p, size_t n, size_t *used, int flags);
/* Appends the document's bytes: what the sink reaches, in walk order; all nodes for a raw graph. */
void wire_write(Buf *out, const Graph *g);
void text_print(Buf *out, const Graph *g);
/* The next document of a text that may hold several; *at moves past it. NULL at the end. Dies with "file:line:column:
 * message", then the line and a caret. */
Graph *text_next(const char *s, size_t n, const char *file, size_t *at);
void text_value(Buf *out, const Val *v);                     /* an arg or such, in the text form */
/* One line for node i of g.all, without its newline and comment; index: place of each node in the text, by id */
void text_node(Buf *out, const Graph *g, size_t i, const uint32_t *index);
/* place in g.all (or in walk order) of each node, by id; malloc'd */
uint32_t *text_index(const Graph *g);

/* ---- dot.c, html.c: a document (raw) to look at ----------------------------------------------------------------- */

void dot_print(Buf *out, const Graph *g);                    /* Graphviz text */
void html_print(Buf *out, const Graph *g);                   /* one self-contained page */

/* ---- stream.c: standard input and output, files, ZeroMQ endpoints ----------------------------------------- */

typedef struct Stream Stream;
Stream *stream_open(const char *path_or_endpoint);           /* NULL or "-": standard input */
/* The next document, or NULL at the end. An empty input is no document at all. The bins of a document live until the
 * next call. */
Graph *stream_next(Stream *s, int flags);
/* The pages of a file that is mapped leave memory, and come back where its bytes are asked for. */
void stream_rest(const Stream *s);
size_t stream_count(const Stream *s);                        /* documents read so far */
const char *stream_name(const Stream *s);                    /* for messages: the path, "standard input", the endpoint */
/* Writes whole documents to standard output or an endpoint. */
void stream_write(const char *endpoint, const Graph *g);
void stream_put(const char *endpoint, const void *p, size_t n);   /* the same for bytes: a document, or text */
/* Opens an output endpoint early, so that the reader learns of the end also when nothing is written. */
void stream_out_open(const char *endpoint);
/* Ends what was written: the last bytes are out, or it dies. */
void stream_out_close(void);
/* the whole of a file, mapped read-only; dies when it cannot be opened */
const void *file_map(const char *path, size_t *n);
/* writes bytes to path through a temporary file and rename: whole or not at all */
void file_write(const char *path, const void *p, size_t n);

/* ---- endpoint.c: ZeroMQ, loaded when an endpoint is named --------------------------------------------------- */

bool endpoint_is(const char *name);                          /* has "://" */
void *endpoint_in(const char *name);                         /* binds */
/* The next message, valid until the next call; false at the sender's end. */
bool endpoint_get(void *e, const void **p, size_t *n);
void *endpoint_out(const char *name);                        /* connects; closes with an end mark when the process dies */
void endpoint_put(void *e, const void *p, size_t n);
void endpoint_close(void *e);                                /* sends the end mark; waits until all is delivered */

/* ---- stage.c: the form of every main ------------------------------------------------------------------------ */

typedef struct { const char *name; Graph *(*fn)(Graph *g); const char *help; bool optional; } Pass;
typedef struct {
	char letter;            /* 'o', or 0 */
	const char *word;       /* "explain", or NULL */
	const char *arg;        /* "FILE" for the help text; NULL for a flag */
	const char *help;
	void *to;               /* bool *, const char **, or (for many) VEC(const char *) * */
	bool many;
	bool optional_arg;      /* --bench or --bench=FILE */
} Option;
typedef struct {
	const char *name, *summary, *usage;   /* usage: "[FILE]" */
	const Option *options;                /* ends with a row of zeros; -h -d -i -o -v --stop-after are added */
	int level_in, level_out;              /* Level; level_in is what the body takes; level_out -1: as it came */
	const Pass *passes;                   /* ends with a row of zeros; run in this order */
	Graph *(*body)(Graph *g);             /* instead of passes, when set */
	int level_most;                       /* the highest level it also takes as it is; 0: level_in alone */
	/* Reads FILE when it is no document (source text, another format): NULL when it is one. */
	Graph *(*read)(const char *file);
} Stage;
/* The whole of a stage's main: options, read, run missing stages, verify, passes, verify, write. */
int stage_main(const Stage *s, int argc, char **argv);
/* Option parsing alone, for the tools that are not stages. Returns the index of the first operand (operands
 * are moved to the end, as GNU getopt does). Prints help and exits 0 for --help. */
int options_parse(const Stage *s, int argc, char **argv);
/* options.c: the same with the rows that are added to the tool's own; *want_help is what the help row sets. */
int options_read(const Stage *s, const Option *standard, const bool *want_help, int argc, char **argv);
/* brings g up to a level by running the stages between as processes found on the stage path (target and extra
 * flags from the running tool's options) */
Graph *stage_raise(Graph *g, Level to, const char *target, bool with_fuse);
/* remember_inputs.c: puts the names of the input BUFFERs, in the document's order, into meta.inputs when it is not there. */
void inputs_remember(Graph *g);
/* check_sizes.c: puts the size_checks() of a graph just read into meta.checks when it is not there; run makes them. */
void checks_remember(Graph *g);
/* end of main: flush, test standard output, status */
int stage_end(void);
extern bool opt_verbose;
extern const char *opt_input;            /* -i ENDPOINT, or NULL */
/* A tool that is no stage starts with this (stage_main does it itself): name, descriptors, SIGPIPE. */
void stage_begin(const char *name);

/* ---- spawn.c: children, stage path ---------------------------------------------------------------------------- */

/* Full path of a tool: SLUICE_PATH's folders, then the one this program is in. NULL when there is none. */
const char *tool_find(const char *name);
const char *stage_path(void);            /* the folders with colons */
const char *program_find(const char *name);      /* full path of a program in PATH; NULL when there is none */
void show_command(char *const argv[]);   /* as a shell would take it, on standard error */
/* A file of the project that is no tool, by its path below the folder of the project's tools or the folder above (as
 * built) or two above (as installed): "include/sluice/tensor.h". NULL when there is none. */
const char *own_file(const char *path);
/* Runs argv with in as standard input; returns its standard output in out. Returns the exit status. */
int spawn_filter(char *const argv[], const void *in, size_t n, Buf *out);
/* a pipeline of filters; argvs ends with NULL; names the first that failed in *failed */
int spawn_pipeline(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed);

/* ---- interp.c: the meaning of each elementwise op ---------------------------------------------------------------- */

/* n elements of op: out[i] = op(in[0][i*step[0]], …) with contiguous elements of the dtype's stored form;
 * step is 0 (one element for all) or 1. dt is the node's dtype, sdt the sources' (WHERE: of its values). */
void interp_op(Op op, DType dt, DType sdt, size_t n, void *out, const void *const *in, const int *step);
/* acc = op(acc, x) for ADD MUL MAX MIN over n elements with stride (in elements) xs; acc is one element of dtype_acc(dt) */
void interp_fold(Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs);
/* one element converted, as CAST */
void interp_cast(DType to, void *out, DType from, const void *in, size_t n);
/* stable argsort of n keys with stride xs (elements) into out with stride os */
void interp_sort(DType dt, size_t n, const void *x, ptrdiff_t xs, int64_t *out, ptrdiff_t os, bool descending);
/* the CONST that op gives on CONST sources; NULL when a source is not one */
UOp *fold_const(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg);

/* ---- array.c, npy.c: arrays in memory and in files --------------------------------------------------------------- */

typedef struct { DType dtype; int rank; int64_t dim[MAX_RANK]; void *data; size_t bytes; bool owned; } Array;
int64_t array_count(const Array *a);
Array array_new(DType dt, int rank, const int64_t *dim);     /* zeroed, 64-byte aligned */
Array array_raw(DType dt, int rank, const int64_t *dim);     /* the same, not zeroed */
void array_free(Array *a);
/* Reads .npy (v1–3, both orders, both endiannesses); want: the dtype expected, so that <u2 and V2 can be bf16
 * (DT_NONE: as the file says). Native C-order data is mapped, not copied. Dies: FAILED cannot open, MALFORMED. */
Array npy_read(const char *path, DType want);
Array npz_read(const char *path, const char *name, DType want);     /* one member; NULL: the only one */
size_t npz_names(const char *path, const char ***names);            /* of all members, without .npy; in the arena */
Array safetensors_read(const char *path, const char *name);
/* where an array's raw data lies in such a file, for a BUFFER's file arg; false when it cannot be read in place */
bool npy_locate(const char *path, DType want, Array *head, int64_t *offset);
bool npz_locate(const char *path, const char *name, DType want, Array *head, int64_t *offset);
bool safetensors_locate(const char *path, const char *name, Array *head, int64_t *offset);
void npy_bytes(Buf *out, const Array *a);                    /* the file's bytes */
void npy_write(const char *path, const Array *a);            /* whole or not at all */
void npz_write(const char *path, size_t n, const char *const *names, const Array *a);
/* What stands before the arrays' bytes, which follow one another; key: a note of plain text in its metadata, or NULL. */
void safetensors_head(Buf *out, size_t n, const char *const *names, const Array *a, const char *key, const char *note);
bool safetensors_has(const char *path, const char *name);
const char *safetensors_note(const char *path, const char *key);     /* in the arena; NULL when there is none */
/* ---- array_diff.c: results compared: .npy, .npz, folders of .npy. A line in out for each array that differs by more
 * than how allows (integers: at all), in dtype or in shape, or that one side lacks; true when there is none. */
typedef struct {
	double rtol, atol;
	int64_t ulp;            /* from 0: floats by units in the last place instead */
	bool zeros, bf16;       /* -0 is not 0; u16 arrays are the bits of bf16 */
	const char *only;       /* the names that count, as the shell matches file names; NULL: all */
} Closeness;
bool arrays_are(const char *path);
bool arrays_diff(Buf *out, const char *path_a, const char *path_b, const Closeness *how);
/* as NumPy prints it (summarised beyond 1000 elements) */
void array_print(FILE *f, const Array *a);

/* ---- interp_graph.c, interp_kernel.c, interp_loops.c: documents and kernels ----------------------------------------- */

/* Evaluates graph-level nodes. get(buffer, ctx) gives each BUFFER's content. Results in out[i] for roots[i]. */
void interp_graph(size_t n, UOp *const *roots, const VarEnv *env, Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out);
/* such a get, of BUFFERs with data or a file alone */
Array constant_content(UOp *u, void *ctx);
/* Runs one KERNEL of level schedule, or of level loops or program, on buffers by slot. */
void interp_kernel(UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);
void interp_loops(UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);

/* ---- match.c, rules.c, rewrite.c: rewriting by rules ------------------------------------------------------------------ */

typedef struct Rules Rules;
/* Compiles the text of a .rules file (grammar in common/README.md); dies with file:line:column. */
Rules *rules_parse(const char *text, size_t n, const char *file);
/* The built-in file of that name (compiled in at build time). */
Rules *rules_builtin(const char *name);
Rules *rules_join(const Rules *a, const Rules *b);
/* Rewrites to a fixed point, sources first; linear in nodes. *count gets the number of rules applied when not NULL. */
UOp *rewrite(UOp *root, const Rules *rules, size_t *count);
/* One sweep: each node by the first rule that matches, what that makes left as it is (so a rule may grow what it matches). */
UOp *rewrite_once(UOp *root, const Rules *rules, size_t *count);

/* ---- views.c: chains of movement ops as views -------------------------------------------------------------------------- */

typedef struct { const Shape *shape; UOp **stride; UOp *offset; UOp *(*mask)[2]; } View;   /* mask NULL: none */
/* The source under u's movement ops, and the index expressions into it for ranges idx over u's shape. *gate gets the bool
 * node under which the element is not padding (NULL: always). */
UOp *views_index(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
/* One movement op of it: the index into u's source; *gate, NULL when there is none yet, gets PAD's conditions added. */
void views_step(UOp *u, UOp *const *idx, UOp **at, UOp **gate);
void views_print(Buf *out, const Graph *g);                  /* show --views; view_stack.c */

/* ---- name_kernel.c ------------------------------------------------------------------------------------------------------- */

/* A schedule's names so far; starts as zeros. kernel_named gives the KERNEL under its own name, distinct from those of
 * the others: equal kernels, whatever their names were, are one. */
typedef struct { Map named, taken; } KernelNames;
UOp *kernel_named(KernelNames *n, UOp *kernel);
void kernel_names_free(KernelNames *n);
/* The same for all kernels of a schedule. */
Graph *name_kernels(Graph *g);

/* ---- memplan.c: temporaries packed by lifetime -------------------------------------------------------------------------- */

/* n temporaries of size[i] bytes, alive in calls first[i]..last[i]: offsets so that none that live together overlap.
 * Returns the workspace size; *bound gets the greatest sum alive at once. Large ones do not all start at the same
 * place of a page, which may cost 4 KB each. */
int64_t memory_plan(size_t n, const int64_t *size, const int *first, const int *last, int align, int64_t *offset, int64_t *bound);
/* plan_memory.c: offsets for the temporaries of a schedule, meta.workspace; symbolic ones are left to run. */
Graph *plan_memory(Graph *g);

#include <string.h>
static inline bool val_is_str(const Val *v, const char *s)
{
	return v && v->kind == VAL_STR && v->n == strlen(s) && !memcmp(v->s, s, v->n);
}
static inline bool buffer_is(const UOp *u, const char *role) { return !strcmp(buffer_role(u), role); }
#endif
