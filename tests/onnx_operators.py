#!/usr/bin/env python3
"""Models of one operator, with many attributes, against ONNX Runtime and ONNX's own evaluator.

    onnx_operators.py BIN [WORD]            only the cases whose text has WORD

Windows, norms, recurrence, attention, resizing, signals and losses: where attributes decide most; shapes that are data;
the operators of ai.onnx.ml, which are written with their domain, "ai.onnx.ml:Scaler".
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


def model(op, version, attrs, inputs, outs, const):
    domain, _, op = op.rpartition(":")
    names = ["" if a is None else f"i{k}" for k, a in enumerate(inputs)]
    held = [numpy_helper.from_array(inputs[k], f"i{k}") for k in const if inputs[k] is not None]
    given = {f"i{k}": a for k, a in enumerate(inputs) if a is not None and k not in const}
    node = helper.make_node(op, names, [f"o{k}" if k in outs else "" for k in range(max(outs) + 1)], name="n", domain=domain, **attrs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=f"o{k}") for k in outs], held)
    imports = [helper.make_opsetid(domain, version)] + ([helper.make_opsetid("", 18)] if domain else [])
    m = helper.make_model(graph, opset_imports=imports, ir_version=8 if version < 21 else 10)
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
    for make in windows, norms, recurrence, attention, resizing, signals, losses, data_sized, columns, classes, machines, trees:
        make()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            text = " ".join(f"{case[0]}-{case[1]} {case[2]}".split())
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
