/* Layers: the dependencies of each element of a tensor, as views of set numbers. Internals of
 * pattern.c and its neighbours. */
#ifndef LAYERS_H
#define LAYERS_H
#include "interp/interp.h"
#include "sparse/pattern.h"
#include "interp/value.h"

enum { LAYERS = 4, PLACES = 1 << 28 };

/* The set of an element is the union over the layers. Each layer has the tensor's shape and holds
 * set numbers in u32. Axes along which the sets do not vary have stride 0, so that an outer product
 * takes the memory of its factors. */
typedef struct { int n; ArrayView *at[LAYERS]; } Layers;

/* known: by node id, the value of a node computed from constants alone, if a rule asked for it;
 * NULL for others. */
typedef struct { Sets sets; Array **known; const char *who; } Finder;

/* ---- layers.c */

int64_t layer_count(const Finder *f, int rank, const int64_t *dim);     /* dies beyond PLACES */
ArrayView *layer_new(const Finder *f, int rank, const int64_t *dim);        /* not zeroed */
bool layer_moves(const ArrayView *v, int axis);
/* v with size 1 for each axis along which it does not vary, except those in keep (NULL: none) */
ArrayView *layer_core(const ArrayView *v, const bool *keep);
/* the same, copied in row-major order, and writable */
ArrayView *layer_copy(const Finder *f, const ArrayView *v);
/* v with its axes of size 1 expanded to dim; v is released */
ArrayView *layer_spread(ArrayView *v, const int64_t *dim);
/* Adds v to l, which keeps or releases it. */
void layers_add(Finder *f, Layers *l, ArrayView *v);
/* all layers joined into one of shape dim; NULL when there are none */
ArrayView *layers_joined(Finder *f, const Layers *l);
void layers_drop(Layers *l);
/* v with the empty set where mask, row-major in v's shape, is 0 */
ArrayView *layer_masked(Finder *f, const ArrayView *v, const uint8_t *mask);

/* ---- layers_fold.c: reductions, scans, views */

ArrayView *layer_reduced(Finder *f, const ArrayView *v, const bool *axis);
ArrayView *layer_scanned(Finder *f, const ArrayView *v, int axis);
ArrayView *layer_moved(Finder *f, const UOp *u, const ArrayView *v, const int64_t *dim);

/* ---- layers_index.c: GATHER and SCATTER */

void gather_layers(Finder *f, UOp *u, const Layers *x, const int64_t *dim, Layers *out);
void scatter_layers(
	Finder *f, UOp *u, const Layers *x, const Layers *v, const int64_t *dim, Layers *out);
#endif
