/* Transforms of a graph into another: derivatives, batches.  Sections follow the files. */
#ifndef TRANSFORM_H
#define TRANSFORM_H
#include "graph/graph.h"

/* ---- derive.c: derivatives, by the rules of grad.rules -------------------------------------- */

/* Reverse mode: grad[i] gets the cotangent of wrt[i] for sum_k <cot[k], out[k]>, of wrt[i]'s shape
 * and dtype, or a zero tensor when out does not depend on it. wrt may be any nodes; if one depends
 * on another, the cotangent of the other includes the part through it. Only adds nodes. Dies with
 * UNSUPPORTED at an op that has no derivative (CUSTOM), with MALFORMED when a cot differs from its
 * out in dtype or shape. */
void derive_reverse(size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt, UOp *const *wrt,
	UOp **grad);
/* The same with less memory and more time: values of the forward pass are recomputed when they are
 * needed, from those at the ends of `segments` segments; 0: the square root of the number of
 * reductions. */
void derive_reverse_again(int segments, size_t nout, UOp *const *out, UOp *const *cot,
	size_t nwrt, UOp *const *wrt,
	UOp **grad);
/* Forward mode: dout[k] gets the tangent of out[k] when each wrt[i] moves by tan[i] (in addition to
 * its dependence on the others), or a zero tensor when there is none. */
void derive_forward(size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout, UOp *const *out,
	UOp **dout);

/* ---- vmap_nodes.c: batches ------------------------------------------------------------------ */

/* bout[k] is out[k] with each node in[i] replaced by by[i], which has a new axis 0 of size n before
 * in[i]'s axes. A result that depends on one of them gets that axis in front; any other is out[k]
 * itself. Linear in nodes. A state whose new content is batched must be one of in, with by[i] its
 * BUFFER with the axis, or that with the axis moved to the front by PERMUTE. Dies with UNSUPPORTED
 * at rank 17, and at a CUSTOM unless n is a small number. */
void vmap_nodes(UOp *n, size_t nin, UOp *const *in, UOp *const *by, size_t nout, UOp *const *out,
	UOp **bout);
#endif
