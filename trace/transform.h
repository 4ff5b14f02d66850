/* Transforms of a graph into another: derivatives, batches.  Sections follow the files. */
#ifndef TRANSFORM_H
#define TRANSFORM_H
#include "trace.h"

/* ---- derive.c: derivatives, by the rules of grad.rules -------------------------------------------- */

/* Reverse mode: grad[i] gets the cotangent of wrt[i] for sum_k <cot[k], out[k]>, of wrt[i]'s shape and dtype; a zero
 * tensor where nothing reaches it. wrt may be any nodes, each taken as a variable of its own. New nodes only. Dies with
 * UNSUPPORTED at an op that has no derivative (CUSTOM). */
void derive_reverse(size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt, UOp *const *wrt, UOp **grad);
/* Forward mode: dout[k] gets the tangent of out[k] when each wrt[i] moves by tan[i]; a zero tensor where nothing does. */
void derive_forward(size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout, UOp *const *out, UOp **dout);
#endif
