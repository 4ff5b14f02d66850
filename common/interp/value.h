/* Values of the graph interpreter: strided views of reference-counted elements. */
#ifndef INTERP_VALUE_H
#define INTERP_VALUE_H
#include "graph/graph.h"
#include "interp/elements.h"

/* Elements of dtype, at + Σ index·stride (in elements; 0 repeats, negative runs backwards). */
typedef struct {
	DType dtype;
	int rank;
	int64_t dim[MAX_RANK], stride[MAX_RANK];
	const char *at;
} Strided;

/* The memory of one or more values; data is NULL when it belongs to someone else. */
typedef struct { void *data; int refs; } Storage;
typedef struct { Strided s; Storage *store; } ArrayView;

/* ---- view.c ---- */

int64_t strided_count(const Strided *s);
/* row-major without gaps */
bool strided_contiguous(const Strided *s);
/* the same elements with fewer, longer axes; for strided_copy only */
Strided strided_collapse(const Strided *s);
/* the elements at row-major places pos … pos+n-1 into out */
void strided_copy(const Strided *s, int64_t pos, int64_t n, void *out);
/* Views with the shape that the target node has; NULL when it fits, else the reason. strided_reshape returns
 * false when the elements would have to move. */
bool strided_reshape(Strided *s, int rank, const int64_t *dim);
const char *strided_expand(Strided *s, const int64_t *dim);
void strided_permute(Strided *s, const int *axis);
const char *strided_shrink(Strided *s, int64_t (*pair)[2]);
void strided_flip(Strided *s, int n, const int *axis);

/* A new value with room for its elements, row-major and not zeroed. */
ArrayView *value_new(DType dt, int rank, const int64_t *dim);
/* A value that shares the elements of v, as s sees them. */
ArrayView *value_view(ArrayView *v, const Strided *s);
/* v itself when it is row-major (with one more reference), else a copy. */
ArrayView *value_packed(ArrayView *v);
void value_drop(ArrayView *v);
static inline char *value_data(ArrayView *v) { return (char *)v->s.at; }

/* ---- cluster.c: elementwise nodes, together with what only they read, and reductions over them ---- */

/* What a cluster asks of its caller: the value of a node that is not part of it (NULL when it is). */
typedef struct { ArrayView *(*get)(UOp *u, void *ctx); void *ctx; } ClusterEnv;
/* u is elementwise, or a REDUCE; dim is its shape and xdim that of its first source, of the same rank. Sources
 * that get does not know are computed on the way. */
ArrayView *cluster_run(UOp *u, int rank, const int64_t *dim, const int64_t *xdim,
	const ClusterEnv *env);

/* the places that u, elementwise, is computed at: those of dim without axes on which nothing it reads moves */
int64_t cluster_count(UOp *u, int rank, const int64_t *dim, const ClusterEnv *env);

/* ---- product.c ---- */

/* REDUCE u as a contraction of its factors; NULL when it is none. As cluster_run. */
ArrayView *product_run(UOp *u, int rank, const int64_t *dim, const int64_t *xdim,
	const ClusterEnv *env);

/* ---- index.c: along an axis and by index; sources are row-major ---- */

ArrayView *axis_scan(UOp *u, const ArrayView *x);
ArrayView *axis_sort(UOp *u, const ArrayView *x);
ArrayView *index_gather(UOp *u, ArrayView *const *src, int rank, const int64_t *dim);
ArrayView *index_scatter(UOp *u, ArrayView *const *src);
ArrayView *pad_zeros(const ArrayView *x, const int64_t *dim, const int64_t (*pair)[2]);

#endif
