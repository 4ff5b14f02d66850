/* dtypes, ops and levels: enums and their properties, from the .def tables. */
#ifndef COMMON_GRAPH_OPS_H
#define COMMON_GRAPH_OPS_H
#include "base/base.h"

/* ---- dtypes */

typedef enum {
#define DTYPE(NAME, ...) DT_##NAME,
#include "graph/dtypes.def"
#undef DTYPE
	DT_NONE, DT_COUNT = DT_NONE,
	/* "f32x16", a value with lanes at level loops, is DT_F32 + 4 * DT_LANES */
	DT_LANES = 16, DT_ALL = 7 * DT_LANES
} DType;
typedef struct { const char *name; int size; char kind; const char *ctype, *npy; } DTypeInfo;
extern const DTypeInfo dtype_info[DT_ALL];
DType dtype_find(const char *name);      /* DT_NONE when there is no such dtype */
DType dtype_find_lanes(const char *name);       /* the same of those with lanes too */
/* the dtype of a lane; how many there are (a power of two; 1: a scalar); d in so many lanes */
enum { MOST_LANES = 64 };
static inline DType dtype_element(DType d) { return d % DT_LANES; }
static inline int dtype_lanes(DType d) { return 1 << d / DT_LANES; }
DType dtype_in_lanes(DType d, int lanes);
/* the bytes of all lanes */
static inline int dtype_size(DType d) { return dtype_info[d].size; }
static inline const char *dtype_name(DType d) { return dtype_info[d].name; }
static inline bool dtype_float(DType d) { return dtype_info[d].kind == 'F'; }
/* a float of 16 bits */
static inline bool dtype_half(DType d)
{
	return dtype_float(d) && dtype_size(dtype_element(d)) == 2;
}
static inline bool dtype_int(DType d)
{
	return dtype_info[d].kind == 'I' || dtype_info[d].kind == 'U';
}
static inline bool dtype_signed(DType d) { return dtype_info[d].kind == 'I'; }
/* least and greatest value of an integer dtype (greatest of u64 as uint64) */
int64_t dtype_min(DType d);
uint64_t dtype_max(DType d);
/* the dtype in which sums and products of d accumulate: f32 for f16 and bf16, else d */
static inline DType dtype_acc(DType d) { return d == DT_F16 || d == DT_BF16 ? DT_F32 : d; }

/* ---- ops: the fields of ops.def; a field that a row leaves out is the enumerator of value 0 */

typedef enum {
#define OP(NAME, ...) OP_##NAME,
#include "graph/ops.def"
#undef OP
	OP_COUNT
} Op;

typedef enum { CLASS_LEAF, CLASS_UNARY, CLASS_CASTING, CLASS_BINARY, CLASS_COMPARE, CLASS_TERNARY,
	CLASS_AXES, CLASS_MOVEMENT, CLASS_INDEXING, CLASS_SAME, CLASS_EFFECT, CLASS_ROOT,
	CLASS_KERNEL, CLASS_CALLS, CLASS_LOOPS, CLASS_LANES, CLASS_FLOW } OpClass;

/* The dtypes its sources may have (for a leaf: the node's own). NUM: all but bool; INTB: integers
 * and bool; NONE: the node has no value. */
typedef enum { TAKES_NONE, TAKES_ANY, TAKES_NUM, TAKES_INT, TAKES_FLT, TAKES_INTB,
	TAKES_I32, TAKES_I64, TAKES_U64 } OpTakes;

/* The node's own dtype: that of its sources, a fixed one, or the one stated in the node (SAID). */
typedef enum { GIVES_SOURCE, GIVES_BOOL, GIVES_I64, GIVES_SAID } OpGives;

/* e such that e op a = a; LEAST and GREATEST value of the dtype */
typedef enum { IDENTITY_NONE, IDENTITY_ZERO, IDENTITY_ONE, IDENTITY_LEAST,
	IDENTITY_GREATEST } OpIdentity;

/* Where an arg has sizes: nowhere, anywhere (its texts are sizes), after a name, in a map's keys
 * `shape`, `global_size`, `local_size` and `work`. */
typedef enum { SIZES_NONE, SIZES_ARG, SIZES_AFTER_NAME, SIZES_KEYS } OpSizes;

/* How long an op takes once its sources are computed, in additions. CURVE: a polynomial or an
 * iteration; MEMORY: an access that hits a cache. */
typedef enum { COST_NONE = 0, COST_ADD = 1, COST_DIVIDE = 4, COST_MEMORY = 4,
	COST_CURVE = 12 } OpCost;

/* How tightly an infix operator binds, loosest first (Python's order); 0: not infix. Operators of
 * equal precedence associate to the left, except ** in the text language. */
typedef enum { INFIX_NONE, INFIX_COMPARE, INFIX_OR, INFIX_XOR, INFIX_AND, INFIX_SHIFT, INFIX_SUM,
	INFIX_PRODUCT, INFIX_POWER } OpInfix;

/* How languages like C write an op. For each form, the printer of expressions and that of vectors
 * have one function (`form_text` in render/); c_text is the operator or the function's name.
 *
 *     INFIX      a / b                     SUM       the same, with signed wraparound
 *     FUNCTION   sqrt(a), of the language  HELPER    a function in the project's prelude
 *     EXTREME, DIVISION, SHIFT             an operator where it means the same, else a HELPER */
#define C_FORMS(FORM) \
	FORM(CONST, const_text) FORM(LOAD, load_text) FORM(NEG, neg_text) FORM(RECIP, recip_text) \
	FORM(FUNCTION, function_text) FORM(CAST, cast_text) FORM(BITCAST, bitcast_text) \
	FORM(INFIX, infix_text) FORM(SUM, sum_text) FORM(EXTREME, extreme_text) \
	FORM(DIVISION, division_text) FORM(COMPARE, compare_text) \
	FORM(SHIFT, shift_text) FORM(HELPER, helper_text) FORM(WHERE, where_text) \
	FORM(MULACC, mulacc_text)
typedef enum {
	C_NONE,
#define FORM(NAME, fn) C_##NAME,
	C_FORMS(FORM)
#undef FORM
	C_COUNT
} OpForm;

/* The derivative; every op of level graph states one. */
typedef enum { GRAD_UNSAID, GRAD_NONE, GRAD_RULE } OpGrad;

/* The loops of the interpreter: out[i] = op(in[0][i*step[0]], …) for n elements. An op has one for
 * each dtype of its sources (WHERE: of its values), NULL for dtypes it does not take. ints_ADD is
 * in interp/int.c, floats_ADD in interp/float.c; the declarations here are for the table. */
typedef void (*InterpFn)(size_t n, void *out, const void *const *in, const int *step);
#define OP(NAME, ...) extern const InterpFn ints_##NAME[DT_COUNT], floats_##NAME[DT_COUNT];
#include "graph/ops.def"
#undef OP

typedef struct {
	const char *name;
	int min_src, max_src;           /* max_src -1: any number */
	OpClass cls;
	OpTakes takes;
	OpGives gives;
	int levels;                     /* 1 << Level for each */
	bool commutes, associates;
	OpIdentity identity;
	OpSizes sizes;
	OpCost cost;
	bool index;
	const char *infix;              /* NULL: none */
	OpInfix precedence;
	const InterpFn *interp[2];      /* by the sources' dtype: integers and bool; floats */
	OpForm c;
	const char *c_text, *c_bool;
	OpGrad grad;
} OpInfo;
extern const OpInfo op_info[OP_COUNT];

int op_find(const char *name);           /* an Op, or -1 */
static inline const char *op_name(Op o) { return op_info[o].name; }
/* elementwise: UNARY, CASTING, BINARY, COMPARE, TERNARY */
static inline bool op_elementwise(Op o)
{
	return op_info[o].cls >= CLASS_UNARY && op_info[o].cls <= CLASS_TERNARY;
}
static inline bool op_movement(Op o) { return op_info[o].cls == CLASS_MOVEMENT; }
/* ADD MUL MAX MIN: the ops that REDUCE, SCAN and SCATTER can take */
static inline bool op_folds(Op o) { return op_info[o].identity != IDENTITY_NONE; }
bool op_takes(Op o, DType d);
/* the dtype of a node whose sources have dtype `source` and whose stated dtype is `said` */
DType op_gives(Op o, DType source, DType said);
/* The op with the longest infix operator that s starts with, and its length; -1: none. */
int op_infix(const char *s, size_t n, size_t *length);
/* How long a node takes once its sources are computed, in additions: the one measure of fuse, lower
 * and the derivatives. They account themselves for values computed once and used many times (an
 * index). */
static inline int op_cost(Op o) { return op_info[o].cost; }

/* ---- levels */

typedef enum { LV_TENSOR, LV_GRAPH, LV_SCHEDULE, LV_LOOPS, LV_PROGRAM, LV_COUNT } Level;
extern const char *const level_name[LV_COUNT];

/* The forms of an op's arg, from levels.def: form at the set of levels (1 << Level for each), other
 * at the set others. form NULL: no arg. shape/forms.c reads them. */
typedef struct { int levels; const char *form; int others; const char *other; } OpArg;
extern const OpArg op_arg[OP_COUNT];
#endif
