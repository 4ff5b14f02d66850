/* trace: non-maximum suppression of boxes that are not known while tracing. */
#ifndef ONNX_BOXES_H
#define ONNX_BOXES_H
#include "graph/graph.h"

/* suppress.c: boxes [b,n,4] and scores [b,c,n] of f32, scalars iou and least (NULL: any score but
 * NaN); returns i64 [count,3], at most `limit` (an i64 scalar) boxes of each class */
UOp *onnx_suppress(UOp *boxes, UOp *scores, bool center, UOp *limit, UOp *iou, UOp *least);
#endif
