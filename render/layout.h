/* layout: level schedule → schedule, for targets with vectors.  Constants in the order in which they are
 * read, channels in blocks of a vector, room around what is padded. */
#ifndef LAYOUT_H
#define LAYOUT_H
#include "render.h"
#include "ix.h"

/* ---- layout_stage.c */

extern bool layout_explain, layout_strict;
void layout_tell(const UOp *kernel, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Does the target have vectors, and has the document not been laid out? */
bool layout_wanted(const Graph *g);
/* Memory planned again; meta.layout says for which target. */
Graph *layout_done(Graph *g);
/* The whole stage, for lower, which runs it when it has not been run. */
Graph *layout_all(Graph *g);

/* The call without the buffers that its kernel no longer names. */
UOp *call_compact(UOp *call);

/* ---- layout_roles.c: a contraction in a kernel of level schedule */

/* out[…] = Σ x[…]*w[…]: the reduction with most turns whose body is a product of two loads, w the one
 * whose buffer is constant. facts are of the kernel. */
typedef struct {
	Facts facts;
	UOp *reduce, *x, *w;    /* RREDUCE and two LOADs */
} Roles;
/* Looks for one in the kernel of call; false when there is none. */
bool roles_find(Roles *r, UOp *call);
/* The buffer of the call that an INDEX is a place in. */
UOp *place_buffer(const UOp *call, const UOp *index);
/* Is what the buffer holds known before the first call: role const or prepared? */
bool is_constant(const UOp *buffer);
/* The row-major place of an INDEX of any rank. */
UOp *flat_place(const UOp *index);
/* The factor of range in a place; 0: not in it. False when the place is not linear in it. */
bool place_step(UOp *flat, UOp *range, int64_t *step);
/* A kernel with its arg and note and other STOREs. */
UOp *kernel_with(const UOp *kernel, UOp *const *stores);

/* ---- the passes */

/* layout_reductions.c: long reductions that leave few elements, in parts. */
Graph *layout_reductions(Graph *g);
/* layout_ends.c: copies between contractions and inputs or outputs, so that both may lie as they like. */
Graph *layout_ends(Graph *g);
/* The most lanes that divide n channels; 0 when there are too few for a vector. */
int block_for(int64_t n);
/* layout_blocks.c: channels of temporaries in blocks; room around padded ones. */
Graph *layout_blocks(Graph *g);
/* layout_winograd.c: 3×3 convolutions by F(4×4, 3×3); its transforms say so by `winograd` in their arg, and
 * their channels are the range of this axis. */
enum { WINOGRAD_CHANNELS = 5 };
Graph *layout_winograd(Graph *g);
/* layout_weights.c: constants of contractions copied once, in the order in which they are read. */
Graph *layout_weights(Graph *g);

#endif
