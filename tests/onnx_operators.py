#!/usr/bin/env python3
"""Models of one operator, with many attributes, against ONNX Runtime and ONNX's own evaluator.

    onnx_operators.py BIN [WORD]            only the cases whose text has WORD

Windows, norms, recurrence, attention, resizing, signals and losses: where attributes decide most; shapes that are data.
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


def add(op, version, attrs, inputs, outs=1, const=(), by="ort", tol=1e-4):
    """const: inputs that the model holds; outs: how many outputs, or which; by: who says what is right"""
    outs = list(range(outs)) if isinstance(outs, int) else outs
    cases.append((op, version, attrs, inputs, outs, const, by, tol))


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
    boxes, scores = rng.random((2, 9, 4)).astype(np.float32), rng.random((2, 3, 9)).astype(np.float32)
    scores[0, :, 4] = scores[0, :, 2]
    for center in 0, 1:
        for most, iou, least in (3, .1, None), (20, .5, .3), (9, 0, .05), (2, .3, 2), (0, .3, None):
            given = [boxes, scores, ints(most), floats(iou)] + ([] if least is None else [floats(least)])
            add("NonMaxSuppression", 11, dict(center_point_box=center), given, const=[2] if most != 9 else [])


def model(op, version, attrs, inputs, outs, const):
    names = ["" if a is None else f"i{k}" for k, a in enumerate(inputs)]
    held = [numpy_helper.from_array(inputs[k], f"i{k}") for k in const if inputs[k] is not None]
    given = {f"i{k}": a for k, a in enumerate(inputs) if a is not None and k not in const}
    node = helper.make_node(op, names, [f"o{k}" if k in outs else "" for k in range(max(outs) + 1)], name="n", **attrs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=f"o{k}") for k in outs], held)
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8 if version < 21 else 10)
    return onnx.shape_inference.infer_shapes(m), given


def expected(m, given, outs, by):
    names = [f"o{k}" for k in outs]
    if by == "ort":
        try:
            s = onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
            return s.run(names, given)
        except Exception:
            pass
    return ReferenceEvaluator(m).run(names, given)


def wrong(case, folder, bin):
    op, version, attrs, inputs, outs, const, by, tol = case
    m, given = model(op, version, attrs, inputs, outs, const)
    want = expected(m, given, outs, by)
    onnx.save(m, f"{folder}/m.onnx")
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
            return f"output {k}: {y.dtype}{y.shape}, wanted {w.dtype}{w.shape}"
    return None


def main():
    bad = count = 0
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for make in windows, norms, recurrence, attention, resizing, signals, losses, data_sized:
        make()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            text = f"{case[0]}-{case[1]} {case[2]}"
            if word not in text:
                continue
            count += 1
            why = wrong(case, folder, os.path.abspath(sys.argv[1]))
            if why:
                bad += 1
                print(text, why.strip())
    print(f"{count - bad} right, {bad} wrong")
    sys.exit(bad > 0)


main()
