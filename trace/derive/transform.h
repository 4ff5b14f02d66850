/* Transforms of a graph into another: derivatives, batches.  Sections follow the files. */
#ifndef TRANSFORM_H
#define TRANSFORM_H
#include "graph/graph.h"

/* ---- derive.c: derivatives, by the rules of grad.rules -------------------------------------- */

/* Reverse mode: grad[i] gets the cotangent of wrt[i] for sum_k <cot[k], out[k]>, of wrt[i]'s
 * shape and dtype; a zero tensor where nothing reaches it. wrt may be any nodes; where one
 * depends on another, that one's cotangent has what comes through it. New nodes only. Dies with
 * UNSUPPORTED at an op that has no derivative (CUSTOM), with MALFORMED when a cot is not of its
 * out's dtype and shape. */
void derive_reverse(size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt, UOp *const *wrt,
	UOp **grad);
/* The same with less memory and more time: values of the forward pass are computed again when
 * they are wanted, from those at the ends of so many segments; 0: the root of the number of
 * folds. */
void derive_reverse_again(int segments, size_t nout, UOp *const *out, UOp *const *cot,
	size_t nwrt, UOp *const *wrt,
	UOp **grad);
/* Forward mode: dout[k] gets the tangent of out[k] when each wrt[i] moves by tan[i] (beside what
 * it moves with the others); a zero tensor where nothing does. */
void derive_forward(size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout, UOp *const *out,
	UOp **dout);

/* ---- vmap_nodes.c: batches ------------------------------------------------------------------ */

/* bout[k] is out[k] where each node in[i] is by[i], which has a new axis 0 of size n before
 * in[i]'s axes. What depends on one of them gets that axis in front; what does not is out[k]
 * itself. Linear in nodes. A state that is to keep what is batched must be one of in, by[i] its
 * BUFFER with the axis, or that with the axis moved in front by PERMUTE. Dies with UNSUPPORTED
 * at rank 17, and at a CUSTOM unless n is a small number. */
void vmap_nodes(UOp *n, size_t nin, UOp *const *in, UOp *const *by, size_t nout, UOp *const *out,
	UOp **bout);
#endif
