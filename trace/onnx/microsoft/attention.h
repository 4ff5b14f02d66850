/* trace: what ONNX Runtime's attention operators share (attention.c). */
#ifndef ONNX_MICROSOFT_ATTENTION_H
#define ONNX_MICROSOFT_ATTENTION_H
#include "onnx/operators/space.h"

/* The scores q @ k^T * scale, [b,n,s,t], in f32 at least; the scale is the attribute's, or if that
 * is 0 or absent 1/sqrt(d). Heads of k[b,n',t,d] are shared by those of q[b,n,s,d]. */
UOp *attention_scores(OnnxCall *c, UOp *q, UOp *k);
/* p @ v without heads: [b,s,n*d], of v's dtype */
UOp *attention_values(OnnxCall *c, UOp *p, UOp *v);
#endif
