/* trace: shared by the ONNX operators with windows and with tables. */
#ifndef ONNX_SPACE_H
#define ONNX_SPACE_H
#include "onnx/onnx.h"

/* ---- space.c ------------------------------------------------------------------- */

/* nd numbers of an attribute, each at least `least`; all `otherwise` when it is absent */
void onnx_space_ints(
	OnnxCall *c, const char *name, int nd, int64_t otherwise, int64_t least, int64_t *out);
/* input k, which must have this rank */
UOp *onnx_in_rank(OnnxCall *c, int k, int rank);
/* The Window described by the attributes kernel_shape, strides, dilations, pads and auto_pad.
 * kernel is the convolution's weight [o,c,k...], or NULL, and then kernel_shape is required.
 * Strides default to 1. */
Window onnx_window(OnnxCall *c, UOp *x, UOp *kernel);
/* The same for operators that need the padding as numbers: status 3 when auto_pad SAME has none. */
Window onnx_fixed_window(OnnxCall *c, UOp *x, UOp *kernel);
/* Convolution by the attributes, without a bias; x has its zero point subtracted, so padding is
 * 0. */
UOp *onnx_convolution(OnnxCall *c, UOp *x, UOp *f);

/* the size of an axis that is unrolled; UNSUPPORTED when the graph would get too large */
int64_t onnx_steps(OnnxCall *c, UOp *x, int axis);
/* x as f32 if it is narrower or not a float: means and sums are computed in it */
UOp *onnx_wide(UOp *x);
/* p[c] along axis 1 of a tensor of rank r: [c,1,...] */
UOp *onnx_channels(UOp *p, int rank);

/* ---- sample.c ------------------------------------------------------------------ */

/* Interpolation of x[n,c,...]: 1, 2 or 4 taps per axis. Outside: zeros, the border repeated, or
 * reflection about the outer elements (corners) or their outer edges. */
typedef enum { SAMPLE_NEAREST = 1, SAMPLE_LINEAR = 2, SAMPLE_CUBIC = 4 } SampleTaps;
typedef enum { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECT } SampleOutside;
/* x sampled at the places at[0..nd) [n,o...] (floats, in units of elements, for the last nd axes):
 * [n,c,o...] */
UOp *onnx_sample(
	UOp *x, int nd, UOp *const *at, SampleTaps taps, SampleOutside outside, bool corners);
#endif
