/* trace: what several families of ONNX operators share.  Sections follow the files. */
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

/* ---- pool.c --------------------------------------------------------------------- */

/* MaxPool of x by the attributes; stores what it goes over */
UOp *onnx_max_pool(OnnxCall *c, UOp *x, Window *w, UOp **windows);

/* ---- linear.c, nn.c ------------------------------------------------------------- */

/* the result of Gemm, and of Conv, for inputs and attributes of these meanings */
UOp *onnx_gemm(OnnxCall *c);
UOp *onnx_conv(OnnxCall *c);

/* ---- attention.c ---------------------------------------------------------------- */

/* x[b,s,heads*d] as [b,heads,s,d] (a tensor of rank 4 as it is), and the reverse */
UOp *onnx_with_heads(OnnxCall *c, UOp *x, int64_t heads);
UOp *onnx_without_heads(UOp *y);
/* each head of x[b,h',s,d] repeated for the heads of q[b,h,..] that share it */
UOp *onnx_shared_heads(OnnxCall *c, UOp *x, UOp *q);
/* The first dim elements (0: all) of the last axis of x[b,s,h,d], in pairs, rotated by angles whose
 * cos and sin are [b,s,1,dim/2]. The pairs are neighbours when interleaved, else of both halves. */
UOp *onnx_rotated(
	OnnxCall *c, UOp *x, UOp *cos, UOp *sin, int64_t dim, bool interleaved);

/* ---- quant.c -------------------------------------------------------------------- */

/* (x - zero)·scale and its reverse, rounded half to even within the limits of the integer type.
 * scale and zero broadcast against x, zero may be NULL. */
UOp *onnx_dequantized(UOp *x, UOp *scale, UOp *zero);
UOp *onnx_quantized(UOp *x, UOp *scale, UOp *zero, int type);
/* x quantized to u8 by the range of its values and 0: the codes minus their zero point as i32;
 * stores the scale. With apart > 0 each x[k] along the first `apart` axes has a range of its own,
 * and the scale x's rank. */
UOp *onnx_dynamic(UOp *x, int apart, UOp **scale);

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
