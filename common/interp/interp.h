/* The interpreter: the meaning of each op, and arrays in memory. Sections follow the files. */
#ifndef COMMON_INTERP_INTERP_H
#define COMMON_INTERP_INTERP_H
#include "shape/shape.h"

/* ---- interp.c: the meaning of each elementwise op */

/* Computes n elements of op: out[i] = op(in[0][i*step[0]], …), with contiguous elements in their
 * stored form. step is 0 (one element for all) or 1. dt is the node's dtype, sdt the sources' (for
 * WHERE: of its values). */
void interp_op(
	Op op, DType dt, DType sdt, size_t n, void *out, const void *const *in, const int *step);
/* acc = op(acc, x[i]) for ADD MUL MAX MIN over n elements with stride xs (in elements). acc is one
 * element of dtype_acc(dt). */
void interp_fold(Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs);
/* Stable argsort of n keys with stride xs into out with stride os (in elements). */
void interp_sort(DType dt, size_t n, const void *x, ptrdiff_t xs, int64_t *out, ptrdiff_t os,
	bool descending);
/* The CONST that op gives for CONST sources; NULL when a source is not a CONST. */
UOp *fold_const(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg);

/* ---- array.c: arrays in memory --------------------------------------------------------------- */

typedef struct {
	DType dtype;
	int rank;
	int64_t dim[MAX_RANK];
	void *data;
	size_t bytes;
	bool owned;
} Array;
int64_t array_count(const Array *a);
Array array_new(DType dt, int rank, const int64_t *dim);     /* zeroed, 64-byte aligned */
Array array_raw(DType dt, int rank, const int64_t *dim);     /* 64-byte aligned, not zeroed */
void array_free(Array *a);

/* ---- graph.c, kernel.c, loops.c: documents and kernels */

/* Values of one node as they are computed: n elements of its dtype, and those of its operands where
 * it is elementwise. A dtype with lanes has as many elements; each such value is seen by itself. It
 * lasts as long as the call of `see`. */
typedef struct {
	UOp *u;
	size_t n;
	const void *out;
	const uint8_t *mask;            /* of the elements that count; NULL: all */
	uint32_t nsrc;                  /* 0 unless it is elementwise */
	const void *in[3];
	int step[3];                    /* 0: one element for all */
	int rank;                       /* level graph: its shape */
	const int64_t *dim;
	const void *run;                /* appends where element i stands: "[1,2]", "r0=1 lane=2" */
	void (*place)(Buf *b, const void *run, size_t i);
} SeenValues;
/* Somebody who looks at every value: see is called for each node, after its sources. */
typedef struct Watch Watch;
struct Watch { void (*see)(Watch *w, const SeenValues *v); };

/* Evaluates nodes of level graph: out[i] gets the value of roots[i]. get(buffer, ctx) returns each
 * BUFFER's content. sink has the BINDs whose names they mention; NULL: there are none. */
void interp_graph(size_t n, UOp *const *roots, const UOp *sink, const VarEnv *env,
	Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out);
/* The same; the watch sees each value whole, but products that are summed at once. */
void interp_graph_watched(size_t n, UOp *const *roots, const UOp *sink, const VarEnv *env,
	Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out, Watch *watch);
/* A `get` for graphs whose BUFFERs all have data or a file. */
Array constant_content(UOp *u, void *ctx);
/* Run one KERNEL on buffers, in the order of slots: interp_kernel at level schedule, interp_loops
 * at levels loops and program. watch may be NULL. */
void interp_kernel(
	UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf, Watch *watch);
void interp_loops(
	UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf, Watch *watch);
#endif
