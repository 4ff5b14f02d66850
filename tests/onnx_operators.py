#!/usr/bin/env python3
"""Models of one operator, with many attributes, against ONNX Runtime and ONNX's own evaluator.

    onnx_operators.py BIN [WORD]            only the cases whose text has WORD

Windows, norms, recurrence, attention, resizing, signals and losses: where attributes decide most; shapes that are data;
the operators of other domains, written with their domain: "ai.onnx.ml:Scaler".
Prints what differs, then "N right, N wrong"; ends with 1 when something is wrong."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
rng = np.random.default_rng(7)
cases = []


def r(*shape, dt=np.float32):
    return rng.standard_normal(shape).astype(dt)


def ints(*v):
    return np.array(v, np.int64)


def floats(*v):
    return np.array(v, np.float32)


def add(op, version, attrs, inputs, outs=1, const=(), by="ort", tol=1e-4, open=()):
    """const: inputs that the model holds; outs: how many outputs, or which; by: who says what is right; other inputs
    for which ONNX Runtime gives the same; or how trace refuses it; open: names of the inputs' axes, a text of letters each, _
    for a number"""
    outs = list(range(outs)) if isinstance(outs, int) else outs
    inputs = [None if a is None else np.asarray(a) for a in inputs]
    cases.append((op, version, attrs, inputs, outs, const, by, tol, open))


def windows():
    x, w, b = r(2, 4, 9, 8), r(6, 2, 3, 3), r(6)
    for pad in "SAME_UPPER", "SAME_LOWER", "VALID":
        for strides in [1, 1], [2, 3]:
            add("Conv", 11, dict(auto_pad=pad, strides=strides, group=2), [x, w, b])
    add("Conv", 1, dict(pads=[1, 2, 0, 1], dilations=[2, 1], strides=[2, 1], group=2), [x, w, b])
    add("Conv", 22, dict(pads=[1, 1]), [r(2, 3, 10), r(5, 3, 3)])
    add("Conv", 11, dict(pads=[1, 1, 1, 0, 0, 0], strides=[1, 2, 1]), [r(1, 2, 5, 6, 7), r(3, 2, 2, 3, 2)])
    for attrs in (dict(), dict(strides=[2, 3], pads=[1, 0, 1, 2]), dict(dilations=[2, 2]),
                  dict(strides=[2, 2], output_padding=[1, 1]), dict(strides=[3, 2], output_shape=[25, 15]),
                  dict(auto_pad="SAME_UPPER", strides=[2, 2]), dict(auto_pad="SAME_LOWER", strides=[2, 2]),
                  dict(strides=[4, 4]), dict(strides=[2, 1], dilations=[1, 2])):
        add("ConvTranspose", 11, attrs, [x, r(4, 3, 3, 3)])
    add("ConvTranspose", 1, dict(group=2, strides=[2, 1]), [x, r(4, 3, 3, 3), b])
    add("ConvTranspose", 11, dict(strides=[2, 1, 2]), [r(1, 2, 3, 3, 4), r(2, 2, 2, 2, 2)])
    for attrs in (dict(kernel_shape=[3, 2]), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
                  dict(kernel_shape=[3, 3], strides=[2, 3], ceil_mode=1, pads=[0, 1, 1, 0]),
                  dict(kernel_shape=[2, 3], dilations=[2, 3], strides=[1, 2]),
                  dict(kernel_shape=[3, 3], auto_pad="SAME_LOWER", strides=[2, 3])):
        for order in 0, 1:
            add("MaxPool", 12, dict(attrs, storage_order=order), [x], 2)
            add("AveragePool", 19, dict(attrs, count_include_pad=order), [x])
        if "ceil_mode" not in attrs:
            add("LpPool", 18, dict(attrs, p=3), [x])
    add("MaxUnpool", 11, dict(kernel_shape=[2, 2], strides=[2, 2]), [r(1, 1, 2, 2), ints(1, 3, 8, 15).reshape(1, 1, 2, 2)])
    boxes = floats(0, 0, 4, 5, 1.5, 2, 7, 7.5, -3, 2, 20, 9).reshape(3, 4)
    for version in 10, 16:
        for mode in "avg", "max":
            attrs = dict(output_height=3, output_width=2, sampling_ratio=2, spatial_scale=.5, mode=mode)
            add("RoiAlign", version, attrs, [x, boxes, ints(0, 1, 1)])
    boxes = floats(0, 0, 0, 4, 5, 1, 1, 2, 7, 8, 1, 3, 3, 3, 3).reshape(3, 5)
    add("MaxRoiPool", 1, dict(pooled_shape=[3, 2], spatial_scale=.7), [x, boxes])
    attrs = dict(pads=[1] * 4, strides=[2, 1], dilations=[1, 2], offset_group=2, group=2)
    add("DeformConv", 19, attrs, [r(1, 4, 6, 7), r(4, 2, 3, 3), r(1, 36, 3, 5) * .7, r(4), r(1, 18, 3, 5)], by="reference")
    add("LRN", 13, dict(size=3, alpha=.1, beta=.6, bias=1.5), [x])


def norms():
    x, s, b, m, v = r(2, 4, 5, 6), r(4), r(4), r(4), abs(r(4)) + .1
    for version in 7, 9, 14, 15:
        add("BatchNormalization", version, dict(epsilon=1e-3), [x, s, b, m, v])
    add("BatchNormalization", 15, dict(training_mode=1, momentum=.7), [x, s, b, m, v], 3, by="reference")
    add("InstanceNormalization", 6, {}, [x, s, b])
    add("GroupNormalization", 21, dict(num_groups=2), [x, s, b], by="reference")
    add("GroupNormalization", 18, dict(num_groups=2), [x, s[:2], b[:2]])
    for axis in -1, 1, 2:
        shape = x.shape[axis:]
        add("LayerNormalization", 17, dict(axis=axis), [x, r(*shape), r(*shape)], 3)
        add("RMSNormalization", 23, dict(axis=axis), [x, r(*shape)])
    for p in 1, 2:
        add("LpNormalization", 1, dict(p=p, axis=1), [x])
    add("MeanVarianceNormalization", 13, dict(axes=[0, 1]), [x])


def recurrent(gates, direction):
    d, t, b, i, h = 2 if direction == "bidirectional" else 1, 5, 3, 4, 6
    v = [r(t, b, i), r(d, gates * h, i), r(d, gates * h, h), r(d, 2 * gates * h), np.array([5, 2, 3], np.int32), r(d, b, h)]
    return v + [r(d, b, h), r(d, 3 * h)] if gates == 4 else v


def recurrence():
    for op, gates in ("RNN", 1), ("GRU", 3), ("LSTM", 4):
        outs = 3 if gates == 4 else 2
        for direction in "forward", "reverse", "bidirectional":
            attrs = dict(hidden_size=6, direction=direction)
            add(op, 14, attrs, recurrent(gates, direction), outs, tol=1e-3)
            add(op, 7, attrs, recurrent(gates, direction)[:3], outs, tol=1e-3)
    both = recurrent(3, "bidirectional")
    add("GRU", 14, dict(hidden_size=6, linear_before_reset=1, direction="bidirectional"), both, 2)
    add("LSTM", 14, dict(hidden_size=6, clip=.5), recurrent(4, "forward"), 3)
    add("LSTM", 14, dict(hidden_size=6, input_forget=1), recurrent(4, "forward"), 3)
    for act in "Relu LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid Elu Softsign Softplus Affine".split():
        attrs = dict(hidden_size=6, activations=[act], activation_alpha=[.3], activation_beta=[.2])
        add("RNN", 14, attrs, recurrent(1, "forward"), 2)


def attention():
    q, k, v = r(2, 3, 12), r(2, 5, 6), r(2, 5, 10)
    some = rng.integers(0, 2, (2, 1, 3, 5)).astype(bool)
    for attrs in (dict(), dict(is_causal=1), dict(softcap=2., qk_matmul_output_mode=1), dict(scale=.3),
                  dict(qk_matmul_output_mode=2, is_causal=1), dict(qk_matmul_output_mode=3)):
        for mask in [], [r(3, 5)], [some[0, 0]], [some]:
            add("Attention", 24, dict(attrs, q_num_heads=4, kv_num_heads=2), [q, k, v] + mask, [0, 3], by="reference")
    q = r(2, 4, 3, 8)
    past = [r(2, 2, 3, 8), r(2, 2, 3, 6)]
    add("Attention", 24, dict(is_causal=1), [q, r(2, 2, 2, 8), r(2, 2, 2, 6), None] + past, 3, by="reference")
    whole = [q, r(2, 2, 5, 8), r(2, 2, 5, 6)]
    add("Attention", 24, dict(is_causal=1), whole + [None] * 3 + [ints(4, 5)], by="reference")
    add("Attention", 25, dict(left_window_size=1, right_window_size=1), whole + [some[:, 0, :, :3][:1]], by="reference")
    for interleaved in 0, 1:
        at = rng.integers(0, 50, (2, 3))
        add("RotaryEmbedding", 23, dict(interleaved=interleaved), [q, r(50, 4), r(50, 4), at], by="reference")
        attrs = dict(interleaved=interleaved, num_heads=2, rotary_embedding_dim=4)
        add("RotaryEmbedding", 23, attrs, [r(2, 3, 16), r(2, 3, 2), r(2, 3, 2)], by="reference")
    for rule in "linear", "gated", "delta", "gated_delta":
        gates = [-abs(r(2, 6, 2)) if "gated" in rule else None, abs(r(2, 6, 2)) if "delta" in rule else None]
        tokens = [r(2, 6, 12), r(2, 6, 6), r(2, 6, 10), r(2, 2, 3, 5)]
        add("LinearAttention", 27, dict(update_rule=rule, q_num_heads=4, kv_num_heads=2), tokens + gates, 2, by="reference")


def resizing():
    x = r(1, 2, 5, 6)
    for how in "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric":
        for scales in [1, 1, 2, 2], [1, 1, 2.5, 1], [1, 1, .2, .5]:
            scales = floats(*scales)
            for mode in "nearest", "linear", "cubic":
                attrs = dict(mode=mode, coordinate_transformation_mode=how, nearest_mode="round_prefer_ceil")
                whole = how != "align_corners" or scales[2] == 2       # lengths that are no integers: the standard's way
                add("Resize", 19, attrs, [x, None, scales], const=[2], by="ort" if whole else "reference")
    for mode in "linear", "cubic":
        for scales in [1, 1, .6, .7], [1, 1, .2, .25]:
            add("Resize", 18, dict(mode=mode, antialias=1), [x, None, floats(*scales)], const=[2], by="reference")
        add("Resize", 13, dict(mode=mode, exclude_outside=mode == "cubic"), [x, floats(), floats(), ints(1, 2, 7, 3)], const=[1, 2, 3])
    for policy in "not_larger", "not_smaller":
        attrs = dict(axes=[3, 2], keep_aspect_ratio_policy=policy)
        add("Resize", 18, attrs, [x, None, None, ints(7, 9)], const=[3], by="reference")
    attrs = dict(mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.)
    roi = floats(0, 0, .2, -.1, 1, 1, .9, 1.2)
    add("Resize", 11, attrs, [x, roi, floats(), ints(1, 2, 3, 4)], const=[1, 2, 3])
    add("Upsample", 9, dict(mode="linear"), [x, floats(1, 1, 2, 3)], const=[1])
    add("Upsample", 7, dict(mode="nearest", scales=[1., 1, 2, 3]), [x])
    for mode in "linear", "nearest", "cubic":
        for outside in "zeros", "border", "reflection":
            for corners in 0, 1:
                attrs = dict(mode=mode, padding_mode=outside, align_corners=corners)
                add("GridSample", 20, attrs, [r(2, 3, 9, 8), r(2, 3, 5, 2)], tol=1e-3)
                if mode != "cubic":
                    add("GridSample", 20, attrs, [r(2, 2, 4, 5, 6), r(2, 2, 3, 4, 3)], tol=1e-3)
    for corners in 0, 1:
        add("AffineGrid", 20, dict(align_corners=corners), [r(2, 2, 3), ints(2, 3, 4, 5)], const=[1])
        add("AffineGrid", 20, dict(align_corners=corners), [r(2, 3, 4), ints(2, 3, 4, 5, 6)], const=[1])


def signals():
    for n in None, 8, 13:
        length = None if n is None else np.array(n, np.int64)
        for half in 0, 1:
            add("DFT", 17, dict(axis=1, onesided=half), [r(2, 10, 3, 1), length], const=[1])
            add("DFT", 20, dict(onesided=half), [r(2, 3, 10, 1), length, np.array(-2)], const=[1, 2])
        add("DFT", 17, dict(axis=1, inverse=1), [r(2, 10, 3, 2), length], const=[1])
        add("DFT", 20, dict(inverse=1, onesided=1), [r(2, 3, 7, 2), length, np.array(-2)], const=[1, 2], by="reference")
    frames = [np.array(8), r(16), np.array(16)]
    for n in (37, 60, 1024):               # a prime, and what is made of shorter ones, once and twice
        add("DFT", 17, dict(axis=1), [r(1, n, 2)])
        add("DFT", 17, dict(axis=1, onesided=1), [r(1, n, 1)])
        add("DFT", 17, dict(axis=1, inverse=1), [r(1, n, 2)])
        add("DFT", 20, dict(inverse=1, onesided=1), [r(1, n // 2 + 1, 2), np.array(n), np.array(1)], const=[1, 2], by="reference")
    add("STFT", 17, dict(onesided=1), [r(2, 64, 1)] + frames, const=[1, 3])
    for op in "HannWindow", "HammingWindow", "BlackmanWindow":
        for periodic in 0, 1:
            add(op, 17, dict(periodic=periodic), [np.array(10)], const=[0], by="reference")
    edges = [np.array(v) for v in (8, 64, 8192)] + [np.array(v, np.float32) for v in (10, 4000)]
    add("MelWeightMatrix", 17, {}, edges, const=range(5))


def losses():
    x, t, w = r(3, 5, 4), rng.integers(0, 5, (3, 4)), abs(r(5))
    for reduction in "none", "sum", "mean":
        for weights in [], [w]:
            for ignored in {}, dict(ignore_index=2):
                attrs = dict(ignored, reduction=reduction)
                add("NegativeLogLikelihoodLoss", 13, attrs, [x, t] + weights)
                add("SoftmaxCrossEntropyLoss", 13, attrs, [x, t] + weights, 2)


def data_sized():
    x, some = r(2, 3, 4), rng.integers(0, 3, (2, 5)).astype(np.float32)
    for v in x > .5, some, some * 0, rng.integers(0, 2, 6).astype(np.int64):
        add("NonZero", 13, {}, [v])
    for axis in 0, 1, 2, -1:
        add("Compress", 11, dict(axis=axis), [x, rng.integers(0, 2, x.shape[axis]).astype(bool)])
    add("Compress", 11, {}, [x, rng.integers(0, 2, 20).astype(bool)])
    for ordered in 0, 1:
        for v in some, rng.integers(-3, 3, (4, 6)), np.array([3, 1, 1, 0, 3, 2], np.int8):
            add("Unique", 11, dict(sorted=ordered), [v], 4)
        for axis in 0, 1, -1:
            add("Unique", 11, dict(sorted=ordered, axis=axis), [rng.integers(0, 2, (3, 4, 2)).astype(np.float32)], 4)
    add("TopK", 11, dict(axis=1), [x, ints(2)], 2)
    add("TopK", 11, dict(axis=0, largest=0), [x, ints(1)], 2)
    for begin, end in ([1, 0], [3, 9]), ([0, -3], [-1, -1]), ([2, 2], [1, 4]):
        add("Slice", 13, {}, [x, ints(*begin), ints(*end), ints(1, 2)], const=[3])
    add("Slice", 13, {}, [x, ints(0, 1), ints(9, 3), ints(-1, 1), ints(2, 1)], const=[3, 4])
    for begin, end, step in (-1, -9, -1), (9, 0, -2), (0, 2, -1), (2, -4, -2):
        add("Slice", 13, {}, [r(2, 6, 4), ints(begin), ints(end), ints(1), ints(step)], const=[3, 4])
    for shape in (6, 4), (-1, 4), (0, -1), (2, 0, 2, -1), (1, 2, 3, 4, 1):
        add("Reshape", 13, {}, [x, ints(*shape)])
        add("Reshape", 13, {}, [x, ints(*shape)], open=["bcd"])
    add("Reshape", 14, dict(allowzero=1), [r(2, 0, 3), ints(3, 0, 5)])
    for shape in (2, 3, 4), (5, 1, 3, 4), (1, 1), (2, 1, 3, 1):
        add("Expand", 13, {}, [r(2, 1, 4) if len(shape) < 4 else r(3, 1), ints(*shape)])
    add("Tile", 13, {}, [x, ints(1, 2, 3)])
    add("Tile", 13, {}, [x, ints(2, 0, 1)])
    add("ConstantOfShape", 9, dict(value=helper.make_tensor("v", 1, [1], [2.5])), [ints(2, 3)])
    for mode in "constant", "reflect", "edge":
        add("Pad", 13, dict(mode=mode), [x, ints(0, 1, 2, 1, 0, 3)])
    for args in (1, 10, 3), (5, -4, -2), (3, 3, 1), (4, 1, 2), (0, 7, 1):
        for dt in np.int32, np.int64, np.float32, np.float64:
            add("Range", 11, {}, [np.array(v, dt) for v in args])
    add("Range", 11, {}, [np.float32(.1), np.float32(1.75), np.float32(.3)])
    for depth in np.int64(5), ints(4), np.float32(3):
        add("OneHot", 11, dict(axis=1), [rng.integers(-2, 3, (2, 3)), depth, floats(2, 5)])
    add("Split", 13, dict(axis=1), [r(2, 9), ints(2, 0, 7)], 3)
    add("CenterCropPad", 18, dict(axes=[1, 2]), [x, ints(5, 2)], by="reference")
    for mode in "nearest", "linear", "cubic":
        for how in "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel":
            attrs = dict(mode=mode, coordinate_transformation_mode=how)
            add("Resize", 13, attrs, [r(1, 1, 4, 5), floats(), floats(), ints(1, 1, 7, 3)], const=[1, 2])
            add("Resize", 13, attrs, [r(1, 1, 4, 5), floats(), floats(1, 1, 1.5, .6)], const=[1])
    boxes, scores = rng.random((2, 9, 4)).astype(np.float32), rng.random((2, 3, 9)).astype(np.float32)
    scores[0, :, 4] = scores[0, :, 2]
    for center in 0, 1:
        for most, iou, least in (3, .1, None), (20, .5, .3), (9, 0, .05), (2, .3, 2), (0, .3, None):
            given = [boxes, scores, ints(most), floats(iou)] + ([] if least is None else [floats(least)])
            add("NonMaxSuppression", 11, dict(center_point_box=center), given, const=[2] if most != 9 else [])
            add("NonMaxSuppression", 11, dict(center_point_box=center), given, open=["bn", "bcn"])
    boxes, scores = rng.random((1, 700, 4)).astype(np.float32), rng.random((1, 2, 700)).astype(np.float32)
    add("NonMaxSuppression", 11, {}, [boxes, scores, ints(600), floats(.9)])


def ms(op, *rest, **how):
    add("com.microsoft:" + op, 1, *rest, **how)


def codes(*shape, dt=np.uint8):
    return rng.integers(np.iinfo(dt).min, np.iinfo(dt).max + 1, shape).astype(dt)


def scale(*shape):
    return (rng.random(shape) * .02 + .01).astype(np.float32)


def i32(*v):
    return np.array(v, np.int32)


def fused():
    x, w, z = r(2, 4, 7, 6), r(3, 4, 3, 3), r(2, 3, 7, 6)
    for act, params in ("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [.3]), ("Clip", [-.5, 1.]), ("HardSigmoid", [.3, .4]):
        attrs = dict(activation=act, pads=[1] * 4, **(dict(activation_params=params) if params else {}))
        ms("FusedConv", attrs, [x, w, r(3)], open=["b_hw"])
    ms("FusedConv", dict(activation="Relu", pads=[1] * 4), [x, w, r(3), z])
    for act, more in ("Relu", {}), ("LeakyRelu", dict(activation_alpha=.2)), ("Tanh", {}), ("Softsign", {}), ("Sigmoid", {}):
        attrs = dict(more, activation=act, transA=1, alpha=.5, beta=.3)
        ms("FusedGemm", attrs, [r(5, 3), r(5, 4), r(4)], open=["km", "k_"])
    for how in [{}], [dict(transA=1)], [dict(transB=1, alpha=.25)], [dict(transA=1, transB=1)]:
        a, b = r(2, 3, 4, 5), r(2, 3, 5, 6)
        a = a.swapaxes(2, 3).copy() if "transA" in how[0] else a
        b = b.swapaxes(2, 3).copy() if "transB" in how[0] else b
        ms("FusedMatMul", how[0], [a, b], open=["bc", "bc"])
    ms("FusedMatMul", dict(transBatchA=1), [r(4, 2, 3, 5), r(2, 3, 5, 6)])
    ms("FusedMatMul", dict(transBatchB=1, transB=1), [r(2, 3, 4, 5), r(6, 2, 3, 5)])
    ms("FusedMatMul", dict(transBatchA=1, transA=1), [r(5, 2, 3, 4), r(2, 3, 5, 6)])
    for op in "Gelu", "QuickGelu", "FastGelu":
        ms(op, {}, [r(2, 3, 8)], open=["bs"])
    ms("QuickGelu", dict(alpha=1.1), [r(2, 3, 8)])
    for op in "BiasGelu", "FastGelu":
        ms(op, {}, [r(2, 3, 8), r(8)], open=["bs"])


def skips():
    x, skip, g, b = r(2, 3, 8), r(2, 3, 8), r(8), r(8)
    for version in 12, 14:
        add("LayerNormalization", version, {}, [x, g, b])
        add("SimplifiedLayerNormalization", version, dict(epsilon=1e-3), [x, g], 2, open=["bs"])
    for biases in [], [b], [None, b], [b, r(8)]:
        ms("SkipLayerNormalization", dict(epsilon=1e-3), [x, skip, g] + biases, [0, 3], open=["bs", "bs"])
    ms("SkipLayerNormalization", {}, [x, skip[0], g, b], open=["bs", "s"])
    ms("SkipLayerNormalization", {}, [x[0], skip[0], g, b])
    for biases in [], [b]:
        ms("SkipSimplifiedLayerNormalization", {}, [x, skip, g] + biases, [0, 3], open=["bs", "bs"])
    words = [rng.integers(0, 20, (2, 5)).astype(np.int32), rng.integers(0, 2, (2, 5)).astype(np.int32)]
    tables, mask = [r(20, 8), r(9, 8), r(2, 8), g, b], i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 1])
    names = ["bs", "bs", "", "", "", "", "", "bs", "bs"]
    ms("EmbedLayerNormalization", {}, words + tables, 2, open=names)
    ms("EmbedLayerNormalization", dict(epsilon=.1), words + tables + [mask], [0, 1, 2], open=names)
    tables[2] = words[1] = None
    ms("Inverse", {}, [r(2, 4, 4)], tol=1e-3)
    for upper in 0, 1:
        ms("Trilu", dict(upper=upper), [r(2, 4, 5), np.array(1)], const=[1])
    ms("GridSample", dict(mode="bilinear", align_corners=1), [r(2, 3, 5, 6), r(2, 4, 4, 2)])
    held = [codes(20, 8), codes(9, 8), codes(2, 8), codes(8), codes(8)]
    whole = [rng.integers(0, 20, (2, 5)).astype(np.int32), rng.integers(0, 2, (2, 5)).astype(np.int32)] + held + [mask]
    for kinds in True, False:
        some = [floats(.02)[0]] * 5, [codes() for _ in held]
        if not kinds:
            whole[1] = whole[4] = some[0][2] = some[1][2] = None
        ms("QEmbedLayerNormalization", {}, whole + some[0] + some[1], 2, const=[2, 3, 4, 5, 6, *range(8, 18)], open=["bs", "bs"] + [""] * 5 + ["bs"])
    ms("EmbedLayerNormalization", {}, words + tables + [mask, i32([3, 1, 2, 0, 4], [0, 1, 2, 3, 4])], 2, open=names)


def fused_attention():
    x, w, b = r(2, 5, 12), r(12, 24), r(24)
    masks = [None], [i32(3, 5)], [i32(4, 5, 1, 0)], [i32([1, 1, 0, 1, 1], [1, 1, 1, 1, 0])], [rng.integers(0, 2, (2, 5, 5)).astype(np.int32)]
    for causal in 0, 1:
        for mask in masks:
            attrs = dict(num_heads=2, unidirectional=causal)
            ms("Attention", attrs, [x, w, b] + mask, open=["_s" if mask is masks[2] else "bs", "", "", "" if mask is masks[2] else "bs"])
    ms("Attention", dict(num_heads=2, scale=.7, mask_filter_value=-3.), [x, w, None, masks[3][0]])
    ms("Attention", dict(num_heads=2, qkv_hidden_sizes=[8, 8, 12]), [x, r(12, 28), r(28)], open=["bs"])
    past, whole = r(2, 2, 2, 3, 4), i32([1] * 8, [0] + [1] * 7)
    for causal in 0, 1:
        ms("Attention", dict(num_heads=2, unidirectional=causal), [x, w, b, whole, past], 2, open=["bs", "", "", "bt", "_b_p"])
    ms("Attention", dict(num_heads=2), [x, w, b, None, None, r(1, 2, 5, 5)])

    q, k, v = r(2, 3, 8), r(2, 5, 8), r(2, 5, 12)
    names = ["bs", "bt", "bt"]
    for attrs in {}, dict(scale=.4), dict(unidirectional=1):
        k1, v1 = (k, v) if "unidirectional" not in attrs else (k[:, :3].copy(), v[:, :3].copy())
        ms("MultiHeadAttention", dict(attrs, num_heads=2), [q, k1, v1], open=names if k1 is k else ["bs"] * 3)
    ms("MultiHeadAttention", dict(num_heads=2), [q, k, v, r(28)], open=names)
    for mask in i32(3, 5), i32([1, 1, 0, 1, 1], [1, 1, 1, 1, 0]), rng.integers(0, 2, (2, 3, 5)).astype(np.int32):
        ms("MultiHeadAttention", dict(num_heads=2), [q, k, v, None, mask], open=names + ["", "bt"[:mask.ndim] if mask.ndim < 3 else "bst"])
    for shape in (2, 2, 3, 5), (1, 2, 3, 5), (2, 1, 3, 5), (1, 1, 3, 5):
        ms("MultiHeadAttention", dict(num_heads=2), [q, k, v, None, None, r(*shape)], open=names)
    for packed in r(2, 5, 2, 3, 4), r(2, 5, 2, 2, 4):                     # not for CPUs in ONNX Runtime: as apart
        apart = [packed[:, :, :, i].reshape(2, 5, 8) for i in range(packed.shape[3])]
        given = ([] if len(apart) == 3 else [q]) + [packed]
        ms("MultiHeadAttention", dict(num_heads=2), given, open=["bs", "bt"], by=given[:-1] + apart)
    ms("MultiHeadAttention", dict(num_heads=2), [q, r(2, 2, 5, 4), r(2, 2, 5, 4)], open=["bs", "b_t", "b_t"])
    past = [r(2, 2, 4, 4), r(2, 2, 4, 4)]
    same = [q, r(2, 3, 8), r(2, 3, 8)]
    for causal in 0, 1:
        attrs = dict(num_heads=2, unidirectional=causal)
        ms("MultiHeadAttention", attrs, same + [None] * 3 + past, 3, open=["bs"] * 3 + [""] * 3 + ["b_p"] * 2)
    ms("MultiHeadAttention", dict(num_heads=2), same + [r(24), i32([0] + [1] * 6, [1] * 7), r(1, 2, 3, 7)] + past, 3)

    table = [r(50, 4), r(50, 4)]
    at = rng.integers(0, 50, (2, 3))
    for interleaved in 0, 1:
        ms("RotaryEmbedding", dict(interleaved=interleaved), [r(2, 3, 16), at] + table, open=["bs", "bs"])
        ms("RotaryEmbedding", dict(interleaved=interleaved), [r(2, 2, 3, 8), ints(4)] + table, open=["b_s"])
        attrs = dict(interleaved=interleaved, num_heads=2, rotary_embedding_dim=4)
        ms("RotaryEmbedding", attrs, [r(2, 3, 16), at, r(50, 2), r(50, 2)], open=["bs", "bs"])


def group_queries():
    d, heads, kv = 16, 4, 2
    table = [r(30, d // 2), r(30, d // 2)]
    outs = 3

    def query(b, s, past, lengths, total, attrs={}, rotary=None, packed=False, more=(), names=True):
        sizes = [heads * d, kv * d, kv * d]
        new = [r(b, s, sum(sizes)), None, None] if packed else [r(b, s, n) for n in sizes]
        cache = [r(b, kv, past, d), r(b, kv, past, d)] if past is not None else [None, None]
        attrs = dict(attrs, num_heads=heads, kv_num_heads=kv)
        if rotary is not None:
            attrs.update(do_rotary=1, rotary_interleaved=rotary)
        given = new + cache + [i32(*lengths), i32(total)[0]] + (table if rotary is not None else [None, None]) + list(more)
        open = ["bs", "bs", "bs", "b_p", "b_p", "b"] if names else ()
        ms("GroupQueryAttention", attrs, given, outs, open=open, const=() if past in (None, 0) or names else [6])

    for packed in False, True:
        for rotary in None, 0, 1:
            query(2, 5, None, [4, 4], 5, rotary=rotary, packed=packed)
            query(2, 1, 6, [6, 6], 7, rotary=rotary, packed=packed)      # a cache that grows
            query(2, 1, 9, [6, 3], 7, rotary=rotary, packed=packed)      # a longer one, rows of different lengths
    query(1, 3, 6, [8], 9, rotary=0)
    query(2, 5, 0, [4, 4], 5, rotary=0, names=False)                     # an empty cache
    query(1, 3, 12, [8], 9, rotary=0, names=False)
    query(2, 5, 8, [4, 4], 5, rotary=0)                                  # the first call, with a cache
    for attrs in dict(scale=.3), dict(softcap=2.), dict(local_window_size=2), dict(smooth_softmax=1), dict(causal=0):
        query(2, 5, None, [4, 4], 5, attrs)
        query(2, 1, 6, [6, 4], 7, attrs)
    bias = [None] * 3
    query(2, 5, None, [4, 4], 5, more=[None, r(1, heads, 5, 5)])
    query(2, 1, 9, [6, 3], 7, more=[None, r(2, 1, 1, 7)])
    query(2, 5, None, [4, 4], 5, more=[None, None, r(heads)])


def halves():
    def h(*shape):
        return r(*shape, dt=np.float16)

    x, g, b = h(2, 3, 16), h(16), h(16)
    add("SimplifiedLayerNormalization", 14, {}, [x, g], tol=4e-3)
    ms("SkipLayerNormalization", dict(epsilon=1e-3), [x, h(2, 3, 16), g, b, b], [0, 3], tol=4e-3)
    ms("SkipSimplifiedLayerNormalization", {}, [x, h(2, 3, 16), g], [0, 3], tol=4e-3)
    ms("RotaryEmbedding", {}, [h(2, 3, 32), ints(3), h(20, 8), h(20, 8)], tol=4e-3)
    for op in "BiasGelu", "FastGelu":
        ms(op, {}, [x, b], tol=4e-3)
    ms("QuickGelu", {}, [x], tol=4e-3)
    ms("MultiHeadAttention", dict(num_heads=2), [x, h(2, 5, 16), h(2, 5, 16)], tol=4e-3)
    ms("Attention", dict(num_heads=2), [x, h(16, 48) * np.float16(.2), h(48)], tol=1e-2)
    ms("EmbedLayerNormalization", {}, [i32([1, 2, 3]), None, h(9, 16), h(9, 16), None, g, b], 2, tol=1e-2)
    ms("FusedMatMul", dict(transB=1, alpha=.5), [x, h(2, 5, 16)], tol=1e-2)
    cache = [h(2, 2, 6, 16), h(2, 2, 6, 16)]
    given = [h(2, 1, 64), h(2, 1, 32), h(2, 1, 32)] + cache + [i32(6, 6), i32(7)[0], h(30, 8), h(30, 8)]
    ms("GroupQueryAttention", dict(num_heads=4, kv_num_heads=2, do_rotary=1), given, 3, tol=4e-3)
    given = [x, codes(6, 1, 8), scale(6).astype(np.float16), codes(6, 1)]
    ms("MatMulNBits", dict(K=16, N=6, bits=4, block_size=16), given, const=[1, 2, 3], tol=1e-2)


def refused():
    x, w, b = r(2, 5, 12), r(12, 36), r(36)
    ms("Attention", dict(num_heads=2, do_rotary=1), [x, w, b], by="status 3")
    ms("Attention", dict(num_heads=2, past_present_share_buffer=1), [x, w, b], by="status 3")
    ms("Attention", dict(num_heads=2), [x, w, b, np.ones((2, 1, 5, 5), np.int32)], by="status 3")
    ms("Attention", dict(num_heads=5), [x, w, b], by="status 4")
    ms("Attention", dict(num_heads=2, qkv_hidden_sizes=[1 << 62, 1 << 62, 36]), [x, w, b], by="status 4")
    ms("MultiHeadAttention", dict(num_heads=2), [x, x, x, None, i32(*range(8))], by="status 3")
    ms("MultiHeadAttention", dict(num_heads=2), [x, x, x, None, i32(1, 2, 3)], by="status 4")
    ms("MultiHeadAttention", dict(num_heads=2), [x, x, x, r(7)], by="status 4")
    attrs = dict(num_heads=4, kv_num_heads=2)
    new = [r(2, 1, 64), r(2, 1, 32), r(2, 1, 32), None, None, i32(0, 0), i32(1)[0]]
    ms("GroupQueryAttention", dict(attrs, qk_output=1), new, by="status 3")
    ms("GroupQueryAttention", attrs, new + [None] * 5 + [floats(1)], by="status 3")
    ms("GroupQueryAttention", dict(attrs, kv_num_heads=3), new, by="status 4")
    ms("GroupQueryAttention", dict(attrs, num_heads=1 << 62), [new[0], None, None] + new[3:], by="status 4")
    ms("FusedConv", dict(activation="Mish"), [r(1, 3, 5, 5), r(2, 3, 3, 3)], by="status 3")
    ms("MatMulNBits", dict(K=16, N=6, bits=3, block_size=16), [x, codes(6, 1, 6), scale(6)], by="status 3")
    ms("MatMulNBits", dict(K=99, N=6, bits=4, block_size=16), [x, codes(6, 1, 8), scale(6)], by="status 4")
    ms("QLinearConcat", dict(axis=0), [np.float32(1), codes(), codes(2), np.float32(1)], by="status 4")
    ms("GroupQueryAttention", dict(num_heads=4, kv_num_heads=1 << 62), [new[0], None, None] + new[3:], by="status 4")
    ms("GroupQueryAttention", attrs, new + [None] * 4 + [floats(1).reshape(())], by="status 4")
    ms("DynamicQuantizeMatMul", {}, [ints(1, 2), codes(2, 3), scale(1)], by="status 4")
    ms("QLinearSigmoid", {}, [codes(3), floats(1), None, floats(1), floats(0)], by="status 3")
    ms("QLinearSigmoid", {}, [codes(3), floats(1, 2), None, floats(1)], by="status 4")
    for op in "NhwcMaxPool", "QLinearAveragePool", "QLinearConv":
        given = [codes(*[3] * 8)[0, 0, 0, 0, 0, 0, 0, 0], floats(1), None, floats(1), None, None, floats(1), None]
        ms(op, dict(kernel_shape=[2, 2], channels_last=1), given[:1] if op == "NhwcMaxPool" else given, by="status 4")
    ms("EmbedLayerNormalization", {}, [i32([1, 2]), None, floats(1).reshape(()), r(9, 8), None, r(8), r(8)], 2, by="status 4")
    ms("EmbedLayerNormalization", {}, [i32([1, 2]), None, r(9, 8), floats(1).reshape(()), None, r(8), r(8)], 2, by="status 4")
    ms("EmbedLayerNormalization", {}, [i32([1, 2]), None, r(9, 8), r(9, 8), None, r(8), r(8), i32(1)[0]], 2, by="status 4")
    weights = [r(4, 2, 6), codes(1, 6, 32), codes(1, 8, 32)] + [None] * 5
    ms("DynamicQuantizeLSTM", dict(hidden_size=8), weights + [np.float32(1), codes()] * 2, by="status 4")
    for op in "FusedMatMul", "SkipLayerNormalization", "MultiHeadAttention", "RotaryEmbedding", "QAttention", "MatMulIntegerToFloat":
        ms(op, dict(num_heads=2), [floats(1).reshape(())] * 8, by="status 4")
    ms("RotaryEmbedding", dict(is_packed_batching=1), [r(2, 3, 16), ints(4), r(9, 4), r(9, 4)], by="status 3")


def quantized_elements():
    x, y = codes(2, 3, 4, 5), codes(2, 3, 4, 5)
    for dt in np.uint8, np.int8:
        zero = codes(dt=dt)
        x, y = codes(2, 3, 4, 5, dt=dt), codes(2, 3, 4, 5, dt=dt)
        of = lambda v, s=.05: [v, np.float32(s), zero]
        for op in "QLinearAdd", "QLinearMul":
            for other in y, y[:1, :, :1]:
                ms(op, {}, of(x) + of(other.copy(), .03) + of(None, .08)[1:], tol=1, open=["bchw"])
        for op, attrs in ("QLinearSigmoid", {}), ("QLinearLeakyRelu", dict(alpha=.2)):
            ms(op, attrs, of(x) + of(None, .007)[1:], tol=1, const=[1, 2, 3, 4], open=["bchw"])
        for version in 12, 13:
            for axis in 1, -1:
                ms("QLinearSoftmax", dict(axis=axis, opset=version), of(x) + [np.float32(1 / 256), codes(dt=dt) * 0], tol=1, const=[1, 2, 3, 4])
        for last in 0, 1:
            ms("QLinearGlobalAveragePool", dict(channels_last=last), of(x) + of(None, .02)[1:], tol=1, open=["b"])
            attrs = dict(channels_last=last, kernel_shape=[2, 2], strides=[1, 2], pads=[0, 1, 1, 0])
            ms("QLinearAveragePool", attrs, of(x) + of(None, .02)[1:], tol=1)
            ms("QLinearAveragePool", dict(attrs, count_include_pad=1), of(x) + of(None, .02)[1:], tol=1)
        ms("NhwcMaxPool", dict(kernel_shape=[2, 2], strides=[1, 2], pads=[0, 1, 1, 0]), [x], open=["bhw"])
        ms("QLinearConcat", dict(axis=1), of(None, .04)[1:] + of(x) + of(y, .02) + of(x, .03), tol=1)
        some = rng.integers(0, 2, (2, 3, 4, 5)).astype(bool)
        ms("QLinearWhere", {}, [some] + of(x) + of(y, .02) + of(None, .04)[1:], tol=1, const=[2, 3, 5, 6, 7, 8])
    x, w = codes(2, 5, 5, 3), codes(4, 3, 3, 3, dt=np.int8)
    given = [x, np.float32(.02), codes(), w, scale(4), np.zeros(4, np.int8), np.float32(.3), codes(), i32(5, -9, 300, 0)]
    ms("QLinearConv", dict(channels_last=1, pads=[1] * 4), given, tol=1, const=[3, 4, 5])


def quantized_products():
    x, b = r(2, 5, 8), r(6)
    for dt in np.uint8, np.int8:
        for per in (), (6,):
            w, zero = codes(8, 6, dt=dt), codes(*per, dt=dt)
            some = [scale(*per), zero] if per else [scale(1), zero.reshape(1)]
            ms("DynamicQuantizeMatMul", {}, [x, w] + some, const=[1, 2, 3], open=["bs"], tol=2e-3)
            ms("DynamicQuantizeMatMul", {}, [x, w, some[0], None, b], const=[1, 2, 4], tol=2e-3)
            both = [codes(2, 5, 8), w, np.float32(.02), some[0], codes(), zero if per else codes(dt=dt), b]
            ms("MatMulIntegerToFloat", {}, both, const=[1, 3, 5, 6], open=["bs"], tol=1e-3)
            ms("MatMulIntegerToFloat", {}, both[:4], const=[1, 3])
    for to in [], [np.float32(.3), codes()]:
        given = [codes(5, 8), np.float32(.02), codes(), codes(6, 8, dt=np.int8), scale(6), np.zeros(6, np.int8), codes(6).astype(np.int32)]
        ms("QGemm", dict(transB=1, alpha=.5), given + to, const=[3, 4, 5, 6], tol=1 if to else 1e-3)
    x, w = codes(2, 5, 8), codes(8, 24, dt=np.int8)
    ms("QAttention", dict(num_heads=2), [x, w, r(24), np.float32(.02), np.float32(.01), i32(3, 5), codes(), np.int8(0)], const=[1, 2, 3, 4, 6, 7])
    ms("QAttention", dict(num_heads=2, unidirectional=1), [x, w, r(24), np.float32(.02), scale(24), None, codes(), np.zeros(24, np.int8), r(2, 2, 2, 3, 4)], 2, const=[1, 2, 3, 4, 6, 7])
    for bits in 4, 8:
        for zeros in None, "packed":
            n, k, block = 6, 70, 32
            blocks, size = -(-k // block), block * bits // 8
            given = [r(2, 5, k), codes(n, blocks, size), scale(n, blocks), zeros and codes(n, -(-blocks * bits // 8)), None, r(n)]
            ms("MatMulNBits", dict(K=k, N=n, bits=bits, block_size=block), given, const=[1, 2, 3, 5], tol=1e-3, open=["bs"])
    t, b, i, h = 4, 2, 6, 8
    for direction in "forward", "reverse", "bidirectional":
        d = 2 if direction == "bidirectional" else 1
        for per in (d,), (d, 4 * h):
            weights = [codes(d, i, 4 * h, dt=np.int8), codes(d, h, 4 * h, dt=np.int8)]
            some = [scale(*per), np.zeros(per, np.int8)] * 2
            given = [r(t, b, i)] + weights + [r(d, 8 * h), None, None, None, None] + some
            ms("DynamicQuantizeLSTM", dict(hidden_size=h, direction=direction), given, 3, const=[1, 2, 8, 9, 10, 11])


POSTS = "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"


def ml(op, attrs, inputs, outs=1, version=1, **how):
    add("ai.onnx.ml:" + op, version, attrs, inputs, outs, **how)


def columns():
    x = r(6, 3)
    gaps = np.where(abs(x) < .5, np.float32(np.nan), x)
    whole = rng.integers(-3, 4, (6, 3))
    for given in x, x.astype(np.float64), whole:
        ml("Scaler", dict(offset=[.5, -1, 2], scale=[2., .3, -1]), [given])
        ml("Scaler", dict(offset=[.5], scale=[2.]), [given])
        for norm in "MAX", "L1", "L2":
            ml("Normalizer", dict(norm=norm), [given * np.array([1, 0, 1], given.dtype)])
        for post in POSTS:
            ml("LinearRegressor", dict(coefficients=list(r(6)), intercepts=[.1, -.2], targets=2, post_transform=post),
               [given.astype(np.float32)])
    ml("Normalizer", dict(norm="L1"), [np.zeros((2, 3), np.float32)])
    ml("LinearRegressor", dict(coefficients=[1., 2, 3]), [x])
    for attrs in dict(imputed_value_floats=[1., 2, 3], replaced_value_float=float("nan")), dict(imputed_value_floats=[7.]):
        ml("Imputer", attrs, [gaps])
    ml("Imputer", dict(imputed_value_int64s=[9], replaced_value_int64=2), [whole])
    for given in floats(0, 1, 2, 7), ints(2, 1, 0), ints(1, 2, 5, 0).reshape(2, 2):
        ml("OneHotEncoder", dict(cats_int64s=[2, 0, 5]), [given])
    ml("FeatureVectorizer", dict(inputdimensions=[3, 2]), [x, r(6, 2)])
    ml("Binarizer", dict(threshold=.2), [x])
    keys = dict(keys_int64s=[3, -1, 0], values_floats=[.5, 1.5, 2.5], default_float=9.)
    ml("LabelEncoder", keys, [whole], version=2)
    keys = dict(keys_floats=[1., float("nan"), 3], values_int64s=[4, 5, 6])
    ml("LabelEncoder", keys, [floats(1, 2, np.nan, 3)], version=4)
    keys = dict(keys_tensor=numpy_helper.from_array(ints(3, 1)), values_tensor=numpy_helper.from_array(np.array([.5, 2])),
                default_tensor=numpy_helper.from_array(np.array([8.])))
    ml("LabelEncoder", keys, [whole], version=4)


def classes():
    x = np.concatenate([r(9, 3), np.zeros((1, 3), np.float32)])
    for post in POSTS:
        tol = dict(tol=1e-3) if post == "PROBIT" else {}
        for labels in dict(classlabels_ints=[4, 7, 1]), dict(classlabels_strings=["a", "b", "c"]):
            outs = [0, 1] if "classlabels_ints" in labels else [1]
            attrs = dict(labels, coefficients=list(r(9) / 9), intercepts=[.4, .5, .6], post_transform=post)
            ml("LinearClassifier", attrs, [x / 4], outs, **tol)
        if post != "PROBIT":
            attrs = dict(classlabels_ints=[4, 7], coefficients=list(r(3)), intercepts=[.1], post_transform=post)
            ml("LinearClassifier", attrs, [x], 2)


def machines():
    x, vectors, params = r(8, 3), list(r(21)), [.4, .3, 3.]
    for kernel in "LINEAR", "POLY", "RBF", "SIGMOID":
        common = dict(kernel_type=kernel, kernel_params=params)
        for post in "NONE", "LOGISTIC":
            ml("SVMRegressor", dict(common, coefficients=list(r(7)), rho=[.2], n_supports=7, support_vectors=vectors), [x])
            for count in [3, 4], [2, 1, 4], [1, 2, 1, 3]:
                n = len(count)
                pairs = n * (n - 1) // 2
                attrs = dict(common, coefficients=list(r(7 * (n - 1))), rho=list(r(pairs)), support_vectors=vectors,
                             vectors_per_class=count, classlabels_ints=[5, 2, 8, 3][:n], post_transform=post)
                ml("SVMClassifier", attrs, [x], 2)
                ml("SVMClassifier", dict(attrs, prob_a=list(r(pairs) - 2), prob_b=list(r(pairs) / 4)), [x], 2)
    ml("SVMRegressor", dict(coefficients=[1., -2, .5], rho=[.2]), [x])
    ml("SVMRegressor", dict(coefficients=[1., -2, .5], rho=[.2], one_class=1), [x])
    attrs = dict(kernel_type="LINEAR", kernel_params=params, coefficients=list(r(9)), rho=[.2], classlabels_ints=[5, 2, 8])
    ml("SVMClassifier", attrs, [x], 2)


def grown(trees, depth, width, modes, values):
    """Random trees: attributes of nodes, and the leaves as (tree, node)"""
    a = {"nodes_" + k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                                    "missing_value_tracks_true")}
    leaves = []

    def put(*v):
        for k, one in zip(a, v):
            a[k].append(one)

    for tree in range(trees):
        nodes = [[1, 2]]
        level = {0: 0, 1: 1, 2: 1}
        k = 1
        while k < len(level):
            split = level[k] < depth and rng.random() < .8
            nodes.append([len(level), len(level) + 1] if split else None)
            for child in nodes[k] or []:
                level[child] = level[k] + 1
            k += 1
        for k, children in enumerate(nodes):
            yes, no = children or [0, 0]
            put(tree, k, int(rng.integers(width)), str(rng.choice(modes)) if children else "LEAF",
                float(rng.choice(values)), yes, no, int(rng.integers(2)))
            leaves += [] if children else [(tree, k)]
    return a, leaves


def weighted(kind, leaves, targets, weights):
    chosen = [(t, k, i) for t, k in leaves for i in targets]
    return {kind + "_treeids": [t for t, _, _ in chosen], kind + "_nodeids": [k for _, k, _ in chosen],
            kind + "_ids": [i for _, _, i in chosen], kind + "_weights": list(weights(len(chosen)))}


def trees():
    values = floats(-1, -.5, 0, .5, 1)
    x = rng.choice(np.append(values, floats(.2, -.7, np.nan, np.inf, -np.inf)), (40, 4)).astype(np.float32)
    some = lambda n: abs(r(n)) / 9
    modes = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"]
    for mode in modes:
        a, leaves = grown(3, 3, 4, ["BRANCH_" + mode], values)
        ml("TreeEnsembleRegressor", dict(a, **weighted("target", leaves, [0], r), n_targets=1), [x])
    for how in "SUM", "AVERAGE", "MIN", "MAX":
        for targets, base in ((1, []), (1, [.5]), (3, [.1, .2, .3])):
            a, leaves = grown(7, 5, 4, ["BRANCH_" + m for m in modes], values)
            b = dict(a, **weighted("target", leaves, range(targets), r), n_targets=targets, aggregate_function=how)
            if base:
                b["base_values"] = base
            ml("TreeEnsembleRegressor", b, [x])
            ml("TreeEnsembleRegressor", b, [x.astype(np.float64)])
    for post in POSTS[:4]:
        a, leaves = grown(4, 4, 4, ["BRANCH_LEQ"], values)
        for labels, targets, weights in (([5, 2, 8], range(3), r), ([3, 9], [0], r), ([3, 9], [0], some)):
            b = dict(a, **weighted("class", leaves, targets, weights), classlabels_int64s=labels, post_transform=post)
            ml("TreeEnsembleClassifier", b, [x], 2)
    listed()


def listed():
    """TreeEnsemble: nodes and leaves in lists of their own, sets of members"""
    of = numpy_helper.from_array
    for dt in np.float32, np.float64:
        attrs = dict(nodes_featureids=[0, 1, 0], nodes_modes=of(np.array([0, 6, 6], np.uint8)),
                     nodes_splits=of(np.array([.5, 0, 0], dt)), nodes_truenodeids=[1, 0, 2], nodes_falsenodeids=[2, 1, 3],
                     nodes_trueleafs=[0, 1, 1], nodes_falseleafs=[0, 1, 1], tree_roots=[0], n_targets=2,
                     membership_values=of(np.array([1, 3, 2, np.nan, 7, 9, np.nan], dt)), leaf_targetids=[0, 1, 0, 1],
                     leaf_weights=of(np.array([1, 2, 3, 4], dt)))
        x = np.array([[a, b] for a in (0, 7, 8, 9, 10) for b in (0, 1, 2, 2.5, 3, 4)], dt)
        ml("TreeEnsemble", attrs, [x], version=5)


def model(op, version, attrs, inputs, outs, const, open):
    domain, _, op = op.rpartition(":")
    names = ["" if a is None else f"i{k}" for k, a in enumerate(inputs)]
    held = [numpy_helper.from_array(inputs[k], f"i{k}") for k in const if inputs[k] is not None]
    given = {f"i{k}": a for k, a in enumerate(inputs) if a is not None and k not in const}
    node = helper.make_node(op, names, [f"o{k}" if k in outs else "" for k in range(max(outs) + 1)], name="n", domain=domain, **attrs)
    letters = {f"i{k}": text for k, text in enumerate(open)}
    infos = []
    for name, a in given.items():
        axes = zip(a.shape, letters.get(name, "").ljust(a.ndim, "_"))
        infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [n if x == "_" else x for n, x in axes]))
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=f"o{k}") for k in outs], held)
    imports = [helper.make_opsetid(domain, version)] + ([helper.make_opsetid("", 18)] if domain else [])
    m = helper.make_model(graph, opset_imports=imports, ir_version=8 if version < 21 else 10)
    return onnx.shape_inference.infer_shapes(m), given


def expected(m, given, outs, by):
    names = [f"o{k}" for k in outs]
    if by != "reference":
        try:
            how = onnxruntime.SessionOptions()
            # else processors without VNNI add pairs of products in 16 bits, which saturate
            how.add_session_config_entry("session.x64quantprecision", "1")
            how.intra_op_num_threads = 1           # threads share out rows, which DynamicQuantizeLSTM then quantizes apart
            s = onnxruntime.InferenceSession(m.SerializeToString(), how, providers=["CPUExecutionProvider"])
            return s.run(names, given)
        except Exception:
            if m.graph.node[0].domain == "com.microsoft":
                raise
    return ReferenceEvaluator(m).run(names, given)


def wrong(case, folder, bin):
    op, version, attrs, inputs, outs, const, by, tol, open = case
    m, given = model(op, version, attrs, inputs, outs, const, open)
    onnx.save(m, f"{folder}/m.onnx")
    if by[:6] == "status":
        p = subprocess.run([f"{bin}/trace", f"{folder}/m.onnx"], capture_output=True)
        return None if by == f"status {p.returncode}" and not p.stdout else f"status {p.returncode}, not {by}: {p.stderr.decode()}"
    if not isinstance(by, str):
        want = expected(*model(op, version, attrs, by, outs, const, ()), outs, "ort")
    else:
        want = expected(m, given, outs, by)
    args = []
    for k, a in enumerate(given.values()):
        np.save(f"{folder}/{k}.npy", a)
        args.append(f"@{k}={folder}/{k}.npy")
    g = subprocess.run([f"{bin}/trace", f"{folder}/m.onnx"], capture_output=True)
    if g.returncode:
        return g.stderr.decode()
    p = subprocess.run([f"{bin}/run", "--interpret", "-o", folder, "--numbered", *args], input=g.stdout, capture_output=True)
    if p.returncode:
        return p.stderr.decode()
    for k, w in enumerate(want):
        y, w = np.load(f"{folder}/output_{k}.npy"), np.asarray(w)
        if y.shape != w.shape or y.dtype != w.dtype or not np.allclose(y, w, rtol=tol, atol=tol, equal_nan=True):
            most = abs(y.astype(float) - w).max() if y.shape == w.shape and y.size else ""
            return f"output {k}: {y.dtype}{y.shape}, wanted {w.dtype}{w.shape} {most}"
    return None


def main():
    bad = count = 0
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for make in windows, norms, recurrence, attention, resizing, signals, losses, data_sized, fused, skips, fused_attention, \
            group_queries, halves, refused, quantized_elements, quantized_products, columns, classes, machines, trees:
        make()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            text = " ".join(f"{case[0]}-{case[1]} {case[2]}".split())
            if word not in text:
                continue
            count += 1
            try:
                why = wrong(case, folder, os.path.abspath(sys.argv[1]))
            except Exception as e:
                why = f"{type(e).__name__}: {e}"
            if why:
                bad += 1
                print(text, why.strip())
    print(f"{count - bad} right, {bad} wrong")
    sys.exit(bad > 0)


main()
