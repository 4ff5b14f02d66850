/* Layers: what each element of a tensor depends on, as views of numbers of sets.  Inside of
 * pattern.c and its neighbours. */
#ifndef LAYERS_H
#define LAYERS_H
#include "interp/interp.h"
#include "sparse/pattern.h"
#include "interp/value.h"

enum { LAYERS = 4, PLACES = 1 << 28 };

/* The set of an element is the union over the layers; each has the tensor's shape and, in u32, the
 * numbers of sets. Axes along which nothing moves have stride 0, so that an outer product takes its
 * factors' room and not its own. */
typedef struct { int n; ArrayView *at[LAYERS]; } Layers;

/* known: by node id, the value of what constants alone make, where a rule asked for it; NULL for
 * others. */
typedef struct { Sets sets; Array **known; const char *who; } Finder;

/* ---- layers.c */

int64_t layer_count(const Finder *f, int rank, const int64_t *dim);     /* dies beyond PLACES */
ArrayView *layer_new(const Finder *f, int rank, const int64_t *dim);    /* not zeroed */
bool layer_moves(const ArrayView *v, int axis);
/* v where each axis has size 1 that does not move and that keep (NULL: none) does not name */
ArrayView *layer_core(const ArrayView *v, const bool *keep);
/* the same in row-major order of its own, which may be written to */
ArrayView *layer_copy(const Finder *f, const ArrayView *v);
/* v, which is dropped, with its axes of size 1 spread to dim */
ArrayView *layer_spread(ArrayView *v, const int64_t *dim);
/* Adds v, which is dropped or kept, to l. */
void layers_add(Finder *f, Layers *l, ArrayView *v);
/* one layer of all, of dim; NULL when there is none */
ArrayView *layers_joined(Finder *f, const Layers *l);
void layers_drop(Layers *l);
/* v without what stands where mask, row-major in v's shape, is 0 */
ArrayView *layer_masked(Finder *f, const ArrayView *v, const uint8_t *mask);

/* ---- layers_fold.c: folds, scans, views */

ArrayView *layer_reduced(Finder *f, const ArrayView *v, const bool *axis);
ArrayView *layer_scanned(Finder *f, const ArrayView *v, int axis);
ArrayView *layer_moved(Finder *f, const UOp *u, const ArrayView *v, const int64_t *dim);

/* ---- layers_index.c: GATHER and SCATTER */

void gather_layers(Finder *f, UOp *u, const Layers *x, const int64_t *dim, Layers *out);
void scatter_layers(
	Finder *f, UOp *u, const Layers *x, const Layers *v, const int64_t *dim, Layers *out);
#endif
