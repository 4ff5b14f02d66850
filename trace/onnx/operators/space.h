/* trace: what the ONNX operators with windows and with tables share. */
#ifndef ONNX_SPACE_H
#define ONNX_SPACE_H
#include "onnx/onnx.h"

/* ---- space.c ------------------------------------------------------------------- */

/* nd numbers of an attribute, each least or more; otherwise for all when there is none */
void onnx_space_ints(
	OnnxCall *c, const char *name, int nd, int64_t otherwise, int64_t least, int64_t *out);
/* input k, which must have that rank */
UOp *onnx_in_rank(OnnxCall *c, int k, int rank);
/* Windows by the attributes kernel_shape, strides, dilations, pads and auto_pad.  kernel, when not
 * NULL, is the weight x is folded with, [o,c,k...]; else kernel_shape must be there.  Strides are 1
 * unless given.  auto_pad SAME needs known sizes unless the stride is 1. */
Window onnx_window(OnnxCall *c, UOp *x, UOp *kernel);
/* Convolution as the attributes say, without a bias; x less a zero point may be padded with 0. */
UOp *onnx_convolution(OnnxCall *c, UOp *x, UOp *f);

/* an axis that is unrolled: its size; UNSUPPORTED beyond what a graph should hold */
int64_t onnx_steps(OnnxCall *c, UOp *x, int axis);
/* x as f32 when it is narrower or no float: what means and sums are taken in */
UOp *onnx_wide(UOp *x);
/* p[c] along axis 1 of a tensor of rank r: [c,1,...] */
UOp *onnx_channels(UOp *p, int rank);

/* ---- sample.c ------------------------------------------------------------------ */

/* How x[n,c,...] is read between its elements: 1 tap an axis, 2 or 4. Outside: zeros, the border
 * repeated, or reflected about the outer elements (corners) or their outer edges. */
typedef enum { SAMPLE_NEAREST = 1, SAMPLE_LINEAR = 2, SAMPLE_CUBIC = 4 } SampleTaps;
typedef enum { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECT } SampleOutside;
/* x at the places at[0..nd) [n,o...] (floats, in elements, one for each of the last nd axes):
 * [n,c,o...] */
UOp *onnx_sample(
	UOp *x, int nd, UOp *const *at, SampleTaps taps, SampleOutside outside, bool corners);
#endif
