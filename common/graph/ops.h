/* dtypes, ops and levels: enums and their facts, from the .def tables. */
#ifndef COMMON_GRAPH_OPS_H
#define COMMON_GRAPH_OPS_H
#include "base/base.h"

/* ---- dtypes, ops, levels: enums from the .def tables ------------------------------------------- */

typedef enum {
#define DTYPE(NAME, ...) DT_##NAME,
#include "graph/dtypes.def"
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

typedef enum {
#define OP(NAME, ...) OP_##NAME,
#include "graph/ops.def"
#undef OP
	OP_COUNT
} Op;
typedef enum { CLASS_LEAF, CLASS_UNARY, CLASS_CASTING, CLASS_BINARY, CLASS_COMPARE, CLASS_TERNARY, CLASS_AXES,
	CLASS_MOVEMENT, CLASS_INDEXING, CLASS_SAME, CLASS_EFFECT, CLASS_ROOT, CLASS_KERNEL, CLASS_CALLS, CLASS_LOOPS } OpClass;
typedef enum { TAKES_ANY, TAKES_NUM, TAKES_INT, TAKES_FLT, TAKES_INTB, TAKES_U64, TAKES_NONE } OpTakes;
typedef struct { const char *name; int min_src, max_src; OpClass cls; OpTakes takes; int levels; const char *infix; } OpInfo;
extern const OpInfo op_info[OP_COUNT];
int op_find(const char *name);           /* an Op, or -1 */
static inline const char *op_name(Op o) { return op_info[o].name; }
/* elementwise: UNARY, CASTING, BINARY, COMPARE, TERNARY */
static inline bool op_elementwise(Op o) { return op_info[o].cls >= CLASS_UNARY && op_info[o].cls <= CLASS_TERNARY; }
static inline bool op_movement(Op o) { return op_info[o].cls == CLASS_MOVEMENT; }
bool op_takes(Op o, DType d);

typedef enum { LV_TENSOR, LV_GRAPH, LV_SCHEDULE, LV_LOOPS, LV_PROGRAM, LV_COUNT } Level;
extern const char *const level_name[LV_COUNT];
#endif
