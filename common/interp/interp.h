/* The interpreter: what each op means; arrays in memory.  Sections follow the files. */
#ifndef COMMON_INTERP_INTERP_H
#define COMMON_INTERP_INTERP_H
#include "shape/shape.h"

/* ---- interp.c: the meaning of each elementwise op ---------------------------------------------------------------- */

/* n elements of op: out[i] = op(in[0][i*step[0]], …) with contiguous elements of the dtype's stored form;
 * step is 0 (one element for all) or 1. dt is the node's dtype, sdt the sources' (WHERE: of its values). */
void interp_op(Op op, DType dt, DType sdt, size_t n, void *out, const void *const *in, const int *step);
/* acc = op(acc, x) for ADD MUL MAX MIN over n elements with stride (in elements) xs; acc is one element of dtype_acc(dt) */
void interp_fold(Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs);
/* stable argsort of n keys with stride xs (elements) into out with stride os */
void interp_sort(DType dt, size_t n, const void *x, ptrdiff_t xs, int64_t *out, ptrdiff_t os, bool descending);
/* the CONST that op gives on CONST sources; NULL when a source is not one */
UOp *fold_const(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg);

/* ---- array.c: arrays in memory --------------------------------------------------------------- */

typedef struct { DType dtype; int rank; int64_t dim[MAX_RANK]; void *data; size_t bytes; bool owned; } Array;
int64_t array_count(const Array *a);
Array array_new(DType dt, int rank, const int64_t *dim);     /* zeroed, 64-byte aligned */
Array array_raw(DType dt, int rank, const int64_t *dim);     /* the same, not zeroed */
void array_free(Array *a);

/* ---- graph.c, kernel.c, loops.c: documents and kernels ----------------------------------------- */

/* Evaluates graph-level nodes. get(buffer, ctx) gives each BUFFER's content. Results in out[i] for roots[i]. */
void interp_graph(size_t n, UOp *const *roots, const VarEnv *env, Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out);
/* such a get, of BUFFERs with data or a file alone */
Array constant_content(UOp *u, void *ctx);
/* Runs one KERNEL of level schedule, or of level loops or program, on buffers by slot. */
void interp_kernel(UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);
void interp_loops(UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf);
#endif
