/* Values of the graph interpreter: strided views of reference-counted elements. */
#ifndef INTERP_VALUE_H
#define INTERP_VALUE_H
#include "graph/graph.h"
#include "interp/elements.h"

/* Elements of dtype at at + Σ index·stride. Strides are in elements; 0 repeats an element, a
 * negative stride runs backwards. */
typedef struct {
	DType dtype;
	int rank;
	int64_t dim[MAX_RANK], stride[MAX_RANK];
	const char *at;
} Strided;

/* The memory of one or more values; data is NULL when the memory is not theirs to free. */
typedef struct { void *data; int refs; } Storage;
typedef struct { Strided s; Storage *store; } ArrayView;

/* ---- view.c ---- */

int64_t strided_count(const Strided *s);
/* Whether the elements are row-major without gaps. */
bool strided_contiguous(const Strided *s);
/* The same elements with fewer, longer axes; for strided_copy only. */
Strided strided_collapse(const Strided *s);
/* Copies the elements at row-major positions pos … pos+n-1 to out. */
void strided_copy(const Strided *s, int64_t pos, int64_t n, void *out);
/* Movement ops on a view. Those with a result return NULL on success, or the error. strided_reshape
 * returns false when it would need a copy. */
bool strided_reshape(Strided *s, int rank, const int64_t *dim);
const char *strided_expand(Strided *s, const int64_t *dim);
void strided_permute(Strided *s, const int *axis);
const char *strided_shrink(Strided *s, int64_t (*pair)[2]);
void strided_flip(Strided *s, int n, const int *axis);

/* A new value with memory for its elements, row-major and not zeroed. */
ArrayView *value_new(DType dt, int rank, const int64_t *dim);
/* A value that shares the elements of v, seen through s. */
ArrayView *value_view(ArrayView *v, const Strided *s);
/* v itself, with one more reference, if it is row-major, else a copy. */
ArrayView *value_packed(ArrayView *v);
void value_drop(ArrayView *v);
static inline char *value_data(ArrayView *v) { return (char *)v->s.at; }

/* ---- cluster.c: elementwise nodes and reductions, computed together with the nodes that only they
 * read ---- */

/* What a cluster needs from its caller: get returns the value of a node outside the cluster, NULL
 * for a node inside. */
typedef struct { ArrayView *(*get)(UOp *u, void *ctx); void *ctx; } ClusterEnv;
/* Computes u, which is elementwise or a REDUCE, together with the sources for which get returns
 * NULL. dim is its shape and xdim that of its first source, of the same rank. */
ArrayView *cluster_run(
	UOp *u, int rank, const int64_t *dim, const int64_t *xdim, const ClusterEnv *env);

/* How many elements of the elementwise node u are computed: the product of dim, without axes along
 * which nothing that it reads moves. */
int64_t cluster_count(UOp *u, int rank, const int64_t *dim, const ClusterEnv *env);

/* ---- product.c ---- */

/* Computes REDUCE u as a contraction of its factors, with arguments as for cluster_run; NULL when
 * it is not one. */
ArrayView *product_run(
	UOp *u, int rank, const int64_t *dim, const int64_t *xdim, const ClusterEnv *env);

/* ---- index.c: ops along an axis or by index; sources are row-major ---- */

ArrayView *axis_scan(UOp *u, const ArrayView *x);
ArrayView *axis_sort(UOp *u, const ArrayView *x);
ArrayView *index_gather(UOp *u, ArrayView *const *src, int rank, const int64_t *dim);
ArrayView *index_scatter(UOp *u, ArrayView *const *src);
ArrayView *pad_zeros(const ArrayView *x, const int64_t *dim, const int64_t (*pair)[2]);

#endif
