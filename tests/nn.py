#!/usr/bin/env python3
"""Writes nn.cases: calls of the nn functions of the tensor library, and what ONNX Runtime and NumPy give for them.

    python3 nn.py > nn.cases                (numpy, onnx, onnxruntime)

Needed only to add a case. The form is that of functions.cases."""
import numpy as np
import onnx
import onnxruntime
from onnx import helper

f4 = np.float32
rng = np.random.default_rng(11)


def normal(*shape):
    return rng.normal(0, 1, shape).astype(f4)


INPUTS = {
    "x1": normal(2, 4, 9), "x2": normal(1, 4, 7, 6), "x3": normal(1, 2, 4, 5, 3), "w1": normal(6, 4, 3), "w2": normal(6, 4, 3, 2),
    "w3": normal(2, 2, 2, 3, 1), "wg": normal(8, 2, 3, 3), "wd": normal(4, 1, 3, 3), "t1": normal(4, 3, 3), "t2": normal(4, 3, 3, 2),
    "t3": normal(2, 1, 2, 2, 2), "tg": normal(4, 2, 2, 2), "b6": normal(6), "b8": normal(8), "b3": normal(3), "b4": normal(4), "g4": normal(4),
    "m4": normal(4), "v4": rng.random(4).astype(f4) + f4(.2), "r": normal(3, 5), "g5": normal(5), "b5": normal(5),
    "q": normal(2, 3, 4), "k": normal(2, 5, 4), "v": normal(2, 5, 6), "mask": rng.random((3, 5)) < .7, "bias": normal(3, 5),
    "ids": np.array([[0, 2], [3, -1]], np.int32), "table": normal(4, 3), "cls": np.array([1, 4, 0], np.int64), "one": normal(1, 1, 5),
    "lab": np.array([[0, 2, 1, 3, 3, 0, 2, 2, 1], [1, 1, 0, 3, 2, 0, 0, 3, 1]], np.int64),
    "h16": normal(3, 5).astype(np.float16), "qh": normal(1, 4, 3, 2), "kh": normal(1, 2, 5, 2),
}
INPUTS["mask"][:, 0] = True
globals().update(INPUTS)
TYPES = {"f4": onnx.TensorProto.FLOAT, "i8": onnx.TensorProto.INT64}


def ort(op, *inputs, version=19, **attrs):
    """the first output of one ONNX operator"""
    names = ["i%d" % i if a is not None else "" for i, a in enumerate(inputs)]
    node = helper.make_node(op, names, ["y"], **attrs)
    ins = [helper.make_tensor_value_info(n, TYPES[a.dtype.str[1:]], a.shape) for n, a in zip(names, inputs) if a is not None]
    graph = helper.make_graph([node], "g", ins, [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9)
    s = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return s.run(None, {n: a for n, a in zip(names, inputs) if a is not None})[0]


def d(x):
    return x.astype("f8")


def softmax(x, axis=-1):
    e = np.exp(d(x) - d(x).max(axis, keepdims=True))
    return (e / e.sum(axis, keepdims=True)).astype(x.dtype)


def log_softmax(x, axis=-1):
    z = d(x) - d(x).max(axis, keepdims=True)
    return (z - np.log(np.exp(z).sum(axis, keepdims=True))).astype(x.dtype)


def norm(x, axes, eps=1e-5):
    x = d(x)
    return ((x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)).astype(f4)


def attention(q, k, v, mask=None, bias=None, scale=None):
    s = d(q) @ np.swapaxes(d(k), -1, -2) * (scale or q.shape[-1] ** -.5)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    if bias is not None:
        s = s + bias
    return (softmax(s) @ d(v)).astype(f4)


def resize(x, sizes, mode, coordinates, **kw):
    return ort("Resize", x, None, None, np.array(list(x.shape[:2]) + sizes, np.int64), mode=mode,
               coordinate_transformation_mode=coordinates, **kw)


causal = np.tril(np.ones((3, 5), bool), 2)
pool = dict(kernel_shape=[3, 2])
CASES = [
    ('conv1d(x1, w1)', lambda: ort("Conv", x1, w1)),
    ('conv1d(x1, w1, b6, stride=2, padding=1, dilation=2)', lambda: ort("Conv", x1, w1, b6, strides=[2], pads=[1, 1], dilations=[2])),
    ('conv2d(x2, w2, b6)', lambda: ort("Conv", x2, w2, b6)),
    ('conv2d(x2, w2, stride=[2,1], padding=[1,2], dilation=[1,2])', lambda: ort("Conv", x2, w2, strides=[2, 1], pads=[1, 2, 1, 2], dilations=[1, 2])),
    ('conv2d(x2, w2, padding=[0,2,1,0])', lambda: ort("Conv", x2, w2, pads=[0, 1, 2, 0])),
    ('conv2d(x2, wg, b8, padding=1, groups=2)', lambda: ort("Conv", x2, wg, b8, pads=[1] * 4, group=2)),
    ('conv2d(x2, wd, padding=1, groups=4)', lambda: ort("Conv", x2, wd, pads=[1] * 4, group=4)),
    ('conv3d(x3, w3, stride=[1,2,1], padding=[1,1,0])', lambda: ort("Conv", x3, w3, strides=[1, 2, 1], pads=[1, 1, 0, 1, 1, 0])),
    ('conv_transpose1d(x1, t1, b3)', lambda: ort("ConvTranspose", x1, t1, b3)),
    ('conv_transpose1d(x1, t1, stride=3, padding=1, output_padding=1)', lambda: ort("ConvTranspose", x1, t1, strides=[3], pads=[1, 1], output_padding=[1])),
    ('conv_transpose2d(x2, t2, b3, stride=2)', lambda: ort("ConvTranspose", x2, t2, b3, strides=[2, 2])),
    ('conv_transpose2d(x2, t2, stride=[1,2], padding=[2,1], dilation=[2,1])', lambda: ort("ConvTranspose", x2, t2, strides=[1, 2], pads=[2, 1, 2, 1], dilations=[2, 1])),
    ('conv_transpose2d(x2, tg, stride=2, groups=2)', lambda: ort("ConvTranspose", x2, tg, strides=[2, 2], group=2)),
    ('conv_transpose3d(x3, t3, stride=2, padding=1)', lambda: ort("ConvTranspose", x3, t3, strides=[2] * 3, pads=[1] * 6)),
    ('max_pool(x2, [3,2])', lambda: ort("MaxPool", x2, strides=[3, 2], **pool)),
    ('max_pool(x2, [3,2], stride=2, padding=1)', lambda: ort("MaxPool", x2, strides=[2, 2], pads=[1] * 4, **pool)),
    ('max_pool(x2, [3,2], stride=2, ceil=true)', lambda: ort("MaxPool", x2, strides=[2, 2], ceil_mode=1, **pool)),
    ('max_pool(x2, 2, stride=1, dilation=2)', lambda: ort("MaxPool", x2, kernel_shape=[2, 2], dilations=[2, 2])),
    ('max_pool(x1, 3, stride=2, padding=1, ceil=true)', lambda: ort("MaxPool", x1, kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1)),
    ('max_pool(x3, 2)', lambda: ort("MaxPool", x3, kernel_shape=[2] * 3, strides=[2] * 3)),
    ('avg_pool(x2, [3,2], stride=2)', lambda: ort("AveragePool", x2, strides=[2, 2], **pool)),
    ('avg_pool(x2, [3,2], stride=2, padding=1)', lambda: ort("AveragePool", x2, strides=[2, 2], pads=[1] * 4, count_include_pad=1, **pool)),
    ('avg_pool(x2, [3,2], stride=2, padding=1, count_include_pad=false)', lambda: ort("AveragePool", x2, strides=[2, 2], pads=[1] * 4, **pool)),
    ('avg_pool(x2, [3,2], stride=2, ceil=true, count_include_pad=false)', lambda: ort("AveragePool", x2, strides=[2, 2], ceil_mode=1, **pool)),
    ('avg_pool(x1, 4, stride=3, padding=1, ceil=true, count_include_pad=false)', lambda: ort("AveragePool", x1, kernel_shape=[4], strides=[3], pads=[1, 1], ceil_mode=1)),
    ('global_avg_pool(x2)', lambda: x2.mean((2, 3), keepdims=True)),
    ('global_max_pool(x3)', lambda: x3.max((2, 3, 4), keepdims=True)),
    ('layernorm(r)', lambda: norm(r, 1)),
    ('layernorm(r, g5, b5, eps=0.001)', lambda: norm(r, 1, 1e-3) * g5 + b5),
    ('layernorm(x2, axis=[2,3])', lambda: norm(x2, (2, 3))),
    ('layernorm(h16)', lambda: norm(h16, 1).astype(np.float16)),
    ('rmsnorm(r, g5)', lambda: (d(r) / np.sqrt((d(r) ** 2).mean(1, keepdims=True) + 1e-5) * g5).astype(f4)),
    ('batchnorm(x2, m4, v4, g4, b4)', lambda: ort("BatchNormalization", x2, g4, b4, m4, v4)),
    ('batchnorm(x1, m4, v4, eps=0.01)', lambda: ort("BatchNormalization", x1, np.ones(4, f4), np.zeros(4, f4), m4, v4, epsilon=.01)),
    ('groupnorm(x2, 2, g4, b4)', lambda: norm(x2.reshape(1, 2, -1), 2).reshape(x2.shape) * g4[:, None, None] + b4[:, None, None]),
    ('instancenorm(x2, g4, b4)', lambda: ort("InstanceNormalization", x2, g4, b4)),
    ('softmax(r)', lambda: softmax(r)),
    ('softmax(x1, axis=1)', lambda: softmax(x1, 1)),
    ('softmax([1000.0, 1001.0, -inf])', lambda: softmax(f4([1000, 1001, -np.inf]))),
    ('softmax(h16)', lambda: softmax(h16)),
    ('log_softmax(r)', lambda: log_softmax(r)),
    ('log_softmax(x1, axis=0)', lambda: log_softmax(x1, 0)),
    ('log_softmax([1000.0, 0.0])', lambda: f4([0, -1000])),
    ('embedding(ids, table)', lambda: table[ids]),
    ('attention(q, k, v)', lambda: attention(q, k, v)),
    ('attention(q, k, v, mask=mask, scale=0.3)', lambda: attention(q, k, v, mask=mask, scale=.3)),
    ('attention(q, k, v, mask=bias)', lambda: attention(q, k, v, bias=bias)),
    ('attention(q, k, v, causal=true)', lambda: attention(q, k, v, mask=causal)),
    ('attention(qh, kh, kh)', lambda: attention(qh, kh.repeat(2, 1), kh.repeat(2, 1))),
    ('cross_entropy(r, cls)', lambda: f4(-log_softmax(d(r))[[0, 1, 2], cls].mean())),
    ('cross_entropy(r, cls, reduction="none")', lambda: (-log_softmax(d(r))[[0, 1, 2], cls]).astype(f4)),
    ('cross_entropy(r, softmax(r), reduction="sum")', lambda: f4(-(log_softmax(d(r)) * softmax(d(r))).sum())),
    ('nll_loss(log_softmax(r), cls)', lambda: f4(-log_softmax(d(r))[[0, 1, 2], cls].mean())),
    ('nll_loss(r, cls, weight=g5, ignore_index=4)', lambda: ort("NegativeLogLikelihoodLoss", r, cls, g5, ignore_index=4)),
    ('nll_loss(x1, lab, reduction="none", ignore_index=2)', lambda: ort("NegativeLogLikelihoodLoss", x1, lab, reduction="none", ignore_index=2) + f4(0)),
    ('nll_loss(x1, lab, weight=g4, reduction="sum")', lambda: ort("NegativeLogLikelihoodLoss", x1, lab, g4, reduction="sum")),
    ('lrn(x2, 3, alpha=0.1, beta=0.6, bias=1.5)', lambda: ort("LRN", x2, size=3, alpha=.1, beta=.6, bias=1.5)),
    ('lrn(x1, 2)', lambda: (x1 / (1 + 5e-5 * (d(x1) ** 2 + np.pad(d(x1)[:, 1:], [(0, 0), (0, 1), (0, 0)]) ** 2)) ** .75).astype(f4)),
    ('mse(r, 2 * r)', lambda: f4((d(r) ** 2).mean())),
    ('mse(r, h16, reduction="none")', lambda: (r - h16.astype(f4)) ** 2),
    ('interpolate(one, size=8)', lambda: resize(one, [8], "nearest", "asymmetric", nearest_mode="floor")),
    ('interpolate(x1, size=4)', lambda: resize(x1, [4], "nearest", "asymmetric", nearest_mode="floor")),
    ('interpolate(x2, scale=2)', lambda: x2.repeat(2, 2).repeat(2, 3)),
    ('interpolate(x2, size=[3,9], mode="linear")', lambda: resize(x2, [3, 9], "linear", "pytorch_half_pixel")),
    ('interpolate(x2, size=[5,4], mode="linear", align_corners=true)', lambda: resize(x2, [5, 4], "linear", "align_corners")),
    ('interpolate(x2, size=[10,4], mode="cubic")', lambda: resize(x2, [10, 4], "cubic", "half_pixel")),
    ('interpolate(x2, size=[4,11], mode="cubic", align_corners=true)', lambda: resize(x2, [4, 11], "cubic", "align_corners")),
]

NAMES = {"f4": "f32", "i4": "i32", "i8": "i64", "b1": "bool", "f2": "f16"}


def type_of(a):
    return "%s[%s]" % (NAMES[a.dtype.str[1:]], ",".join(map(str, a.shape)))


def value(a):
    return ("true" if a else "false") if a.dtype == bool else "%d" % a if a.dtype.kind == "i" else "%.9g" % a


def literal(a):
    return value(a) if a.ndim == 0 else "[" + ", ".join(map(literal, a)) + "]"


for name, a in INPUTS.items():
    print("const %s %s = %s" % (name, type_of(a), literal(a)))
for text, f in CASES:
    out = np.asarray(f())
    print("%s\n\t%s %s" % (text, type_of(out), " ".join(map(value, out.ravel()))))
