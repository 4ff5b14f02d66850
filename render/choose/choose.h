/* The choice of a plan for a kernel. */
#ifndef RENDER_CHOOSE_CHOOSE_H
#define RENDER_CHOOSE_CHOOSE_H
#include "lower/lower.h"

/* tiles.c: tiles, vectors, chunks and the grid of a CPU, for a plan that has its order and
 * stages. Returns the rule by which it chose, with its figures. */
const char *choose_tiles(Plan *p, const KernelUse *use, const Facts *f, const Folds *k);
/* gpu.c: the list of actions for a GPU and a kernel whose work is a contraction, and the rule by
 * which it was chosen; NULL for any other. */
const Val *choose_gpu(const KernelUse *use, const Facts *f, const Folds *k, const char **rule);
/* The kernel as this list of actions rewrites it, and the names of its ranges. */
UOp *kernel_with(const KernelUse *use, const Val *list, Rewriting *w);
/* The ranges of these paths in the kernel as the splits leave it; none for pieces of one
 * iteration. */
uint64_t set_of(const Facts *f, const Rewriting *w, const char *const *path, int n);
/* grid.c: the list for reductions of a few columns, which choose_gpu takes too; NULL for others. */
const Val *choose_columns(const KernelUse *use, const Facts *f, const Folds *k, const char **rule);
/* A work item for each element, or a group for each row, where choose_gpu has no list. Returns
 * the rule. */
const char *choose_grid(Plan *p, const Facts *f, const Folds *k);
/* transposes.c: tiles for a kernel that moves elements from one order to another, v being the range
 * in vectors; false when no load calls for them. */
bool choose_transposes(Plan *p, const Facts *f, int v, int lanes);
/* Bytes from which on what such tiles store is kept by no cache: those of the second caches where
 * lines that lie pages apart are read slowly, or of the last one. */
int64_t turned_held(void);
/* Are the transposed tiles stored to memory that no near cache holds? */
bool wants_prefetch_stores(const Plan *p, const Facts *f);


/* threads.c: notes how a kernel whose list has been chosen runs; then, when all are: the graph in
 * which those of them run over chunks outside of all other loops where threads read more of what
 * they wrote themselves. */
void threads_note(UOp *kernel, const KernelUse *use);
Graph *threads_keep(Graph *g);

/* Writes the actions into each kernel that has none yet. */
Graph *lower_actions(Graph *g);

/* ---- row_buffers.c: which values deserve a row buffer ---------------------------------------- */

/* After a first lowering without stages: fills plan->stage. */
void stage_choose(const Lowering *l, Plan *plan);
/* After the tiles are chosen: values of lanes alone that an inner loop would compute again. */
void stage_lanes(const KernelUse *use, Plan *plan);
#endif
