#!/usr/bin/env python3
"""Whole models as ONNX Runtime's optimizer and quantizers write them, compiled, against ONNX Runtime at several sizes.

    onnx_optimized.py BIN [WORD]            only the models whose name has WORD

An encoder like BERT, a decoder like Llama with its cache, a network of convolutions, an LSTM: optimized (FusedConv,
BiasGelu, SkipLayerNormalization …; with sympy installed also Attention and EmbedLayerNormalization), dynamically
quantized, calibrated as QOperator and QDQ. Prints what differs, then "N right, N wrong"; ends with 1 when something is
wrong."""
import logging
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

onnxruntime.set_default_logger_severity(4)
logging.disable(logging.CRITICAL)
rng = np.random.default_rng(3)
D, N, H, F, V = 32, 4, 16, 64, 50            # width, heads, their size, hidden width, words
MS = dict(domain="com.microsoft")


def r(*shape):
    return (rng.standard_normal(shape) * .15).astype(np.float32)


def f(v):
    return np.array(v, np.float32)


def i(*v):
    return np.array(v, np.int64)


class Builder:
    """Nodes and constants; a call adds a node, whose inputs are names or arrays, and gives its output's name."""

    def __init__(self):
        self.nodes, self.held, self.count = [], [], 0

    def __call__(self, op, *inputs, outs=None, **attrs):
        self.count += 1
        out = outs or [f"t{self.count}"]
        self.nodes.append(helper.make_node(op, [self.name(x) for x in inputs], out, f"{op}_{self.count}", **attrs))
        return out[0] if len(out) == 1 else out

    def name(self, x):
        if isinstance(x, str):
            return x
        self.held.append(numpy_helper.from_array(np.asarray(x), f"c{len(self.held)}"))
        return self.held[-1].name

    def model(self, inputs, outputs, opset=14):
        infos = [[helper.make_tensor_value_info(*v) for v in part] for part in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "g", *infos, self.held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(*MS.values(), 1)], ir_version=8)


def norm(g, x):
    m = g("Sub", x, g("ReduceMean", x, axes=[-1], keepdims=1))
    v = g("ReduceMean", g("Pow", m, f(2)), axes=[-1], keepdims=1)
    return g("Add", g("Mul", g("Div", m, g("Sqrt", g("Add", v, f(1e-5)))), 1 + r(D)), r(D))


def linear(g, x, k, n):
    return g("Add", r(n), g("MatMul", x, r(k, n)))


def heads(g, x, *order):
    return g("Transpose", g("Reshape", x, i(0, 0, N, D // N)), perm=order)


def encoder():
    g = Builder()
    names = "input_ids", "token_type_ids", "attention_mask"
    mask = g("Cast", g("Unsqueeze", g("Unsqueeze", "attention_mask", i(1)), i(2)), to=1)
    mask = g("Mul", g("Sub", f(1), mask), f(-10000))
    n = g("Unsqueeze", g("Gather", g("Shape", "input_ids"), np.array(1)), i(0))
    places = g("Slice", np.arange(64)[None], i(0), n, i(1), i(1))
    x = g("Add", g("Gather", r(V, D), "input_ids"), g("Gather", r(2, D), "token_type_ids"))
    x = norm(g, g("Add", x, g("Gather", r(64, D), places)))
    for _ in range(2):
        q, k, v = [linear(g, x, D, D) for _ in range(3)]
        s = g("Div", g("MatMul", heads(g, q, 0, 2, 1, 3), heads(g, k, 0, 2, 3, 1)), f(8 ** .5))
        y = g("MatMul", g("Softmax", g("Add", s, mask), axis=-1), heads(g, v, 0, 2, 1, 3))
        y = g("Reshape", g("Transpose", y, perm=[0, 2, 1, 3]), i(0, 0, D))
        x = norm(g, g("Add", linear(g, y, D, D), x))
        y = linear(g, x, D, F)
        y = g("Mul", g("Mul", y, g("Add", g("Erf", g("Div", y, f(2 ** .5))), f(1))), f(.5))
        x = norm(g, g("Add", linear(g, y, F, D), x))
    g("MatMul", x, r(D, 8), outs=["y"])
    return g.model([(n, TensorProto.INT64, ["batch", "seq"]) for n in names], [("y", TensorProto.FLOAT, ["batch", "seq", 8])])


def network():
    g = Builder()
    x = first = g("Relu", g("Conv", "x", r(8, 3, 3, 3), r(8), pads=[1] * 4))
    x = g("Relu", g("Conv", x, r(8, 8, 3, 3), r(8), pads=[1] * 4))
    x = g("Relu", g("Add", g("Conv", x, r(8, 8, 3, 3), r(8), pads=[1] * 4), first))
    pool = dict(kernel_shape=[2, 2], strides=[2, 2])
    x = g("Concat", g("AveragePool", x, **pool), g("MaxPool", x, **pool), axis=1)
    x = g("Sigmoid", g("LeakyRelu", g("Conv", x, r(8, 16, 3, 3), r(8), pads=[1] * 4), alpha=.1))
    x = g("Flatten", g("GlobalAveragePool", x), axis=1)
    x = g("Gemm", g("Relu", g("Gemm", x, r(16, 8), r(16), transB=1)), r(10, 16), r(10), transB=1)
    g("Softmax", x, outs=["y"], axis=-1)
    return g.model([("x", TensorProto.FLOAT, ["batch", 3, 16, 16])], [("y", TensorProto.FLOAT, ["batch", 10])])


def recurrent():
    g = Builder()
    x = g("LSTM", "x", r(2, 32, 6), r(2, 32, 8), r(2, 64), hidden_size=8, direction="bidirectional")
    g("MatMul", g("Reshape", g("Transpose", x, perm=[0, 2, 1, 3]), i(0, 0, 16)), r(16, 5), outs=["y"])
    return g.model([("x", TensorProto.FLOAT, [7, "batch", 6])], [("y", TensorProto.FLOAT, [7, "batch", 5])])


def packed(g, x, k, n):
    """x @ w of 4-bit weights in blocks of 16"""
    codes, scales = rng.integers(0, 256, (n, k // 16, 8)), rng.random(n * k // 16) * .02
    return g("MatMulNBits", x, codes.astype(np.uint8), scales.astype(np.float32), K=k, N=n, bits=4, block_size=16, **MS)


def decoder():
    g = Builder()
    table = [g.name(r(64, H // 2)) for _ in "cs"]
    lengths = g("Cast", g("Sub", g("ReduceSum", "attention_mask", i(1), keepdims=0), np.array(1)), to=6)
    total = g("Cast", g("Gather", g("Shape", "attention_mask"), np.array(1)), to=6)
    x = g("Gather", r(V, D), "ids")
    y, caches = g("SimplifiedLayerNormalization", x, 1 + r(D), axis=-1), []
    for k in range(2):
        cache = [f"{k}.key", f"{k}.value"]
        caches += cache
        parts = [packed(g, y, D, n * H) for n in (N, 2, 2)]
        y, *_ = g("GroupQueryAttention", *parts, *["past." + n for n in cache], lengths, total, *table, num_heads=N,
                  kv_num_heads=2, do_rotary=1, outs=[f"heads{k}"] + ["present." + n for n in cache], **MS)
        y, *_, x = g("SkipSimplifiedLayerNormalization", x, packed(g, y, N * H, D), 1 + r(D), outs=[f"b{k}", "", "", f"sum{k}"], **MS)
        gate = packed(g, y, D, F)
        y = packed(g, g("Mul", g("QuickGelu", gate, alpha=1., **MS), packed(g, y, D, F)), F, D)
        y, *_, x = g("SkipSimplifiedLayerNormalization", x, y, 1 + r(D), outs=[f"d{k}", "", "", f"out{k}"], **MS)
    g("MatMul", y, r(D, V), outs=["logits"])
    words = [("ids", TensorProto.INT64, ["batch", "seq"]), ("attention_mask", TensorProto.INT64, ["batch", "total"])]
    past, present = [[(f"{w}.{n}", TensorProto.FLOAT, ["batch", 2, w, H]) for n in caches] for w in ("past", "present")]
    return g.model(words + past, [("logits", TensorProto.FLOAT, ["batch", "seq", V])] + present)


def given(m, **size):
    """Inputs of these sizes; a row of the mask has fewer ones than the row before."""
    values = {}
    for info in m.graph.input:
        shape = [d.dim_value or size[d.dim_param] for d in info.type.tensor_type.shape.dim]
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            values[info.name] = rng.standard_normal(shape).astype(np.float32)
        elif info.name == "attention_mask":
            ends = size.get("ends", [shape[1] - k % 3 for k in range(shape[0])])
            values[info.name] = (np.arange(shape[1]) < np.array(ends)[:, None]).astype(np.int64)
        else:
            values[info.name] = rng.integers(0, 2 if "type" in info.name else V, shape)
    return values


# weights of 7 bits: ONNX Runtime adds pairs of products in 16 bits, which saturate, on processors without VNNI
BITS = dict(reduce_range=True)


class Samples(CalibrationDataReader):
    def __init__(self, m):
        self.rest = iter([given(m, batch=2, seq=6) for _ in range(4)])

    def get_next(self):
        return next(self.rest, None)


def session(path, **options):
    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = 1
    how.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in options.items():
        setattr(how, key, value)
    return onnxruntime.InferenceSession(path, how, providers=["CPUExecutionProvider"])


def optimized(path):
    to = path.replace(".onnx", "_optimized.onnx")
    session(path, graph_optimization_level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, optimized_model_filepath=to)
    return to


def by_transformers(path):
    """As the optimizer for transformers writes it, with Attention, and that quantized (QAttention); none where that is
    not installed."""
    try:
        from onnxruntime.transformers.optimizer import optimize_model
        to = path.replace(".onnx", "_attention.onnx")
        optimize_model(path, "bert", num_heads=N, hidden_size=D, opt_level=0).save_model_to_file(to)
        quantized = path.replace(".onnx", "_qattention.onnx")
        quantize_dynamic(to, quantized, weight_type=QuantType.QInt8, **BITS, extra_options=dict(DefaultTensorType=TensorProto.FLOAT))
        return [to, quantized]
    except ImportError:
        return []


def variants(path, m, channels):
    """The model's file, and those that ONNX Runtime makes of it, with the tolerance of each."""
    base = path.replace(".onnx", "")
    yield path, 1e-4
    yield optimized(path), 1e-4
    quantize_dynamic(path, base + "_dynamic.onnx", weight_type=QuantType.QInt8, per_channel=channels, **BITS)
    yield base + "_dynamic.onnx", 1e-4
    yield optimized(base + "_dynamic.onnx"), 1e-4
    for form in QuantFormat.QOperator, QuantFormat.QDQ:
        to = f"{base}_{form.name}.onnx"
        quantize_static(path, to, Samples(m), form, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=channels, **BITS)
        yield to, .02                                # a number on the edge between two codes
    yield optimized(to), .02


def compiled(path, bin):
    stages = [["trace", path], ["fuse"], ["render", "-t", "clang"]]
    data = b""
    for stage in stages:
        p = subprocess.run([f"{bin}/{stage[0]}", *stage[1:]], input=data, capture_output=True)
        if p.returncode:
            raise RuntimeError(p.stderr.decode())
        data = p.stdout
    return data


def wrong(path, tol, calls, folder, bin):
    program, want = compiled(path, bin), session(path)
    for values in calls:
        args = []
        for k, a in enumerate(values.values()):
            np.save(f"{folder}/{k}.npy", a)
            args.append(f"@{k}={folder}/{k}.npy")
        p = subprocess.run([f"{bin}/run", "-o", folder, "--numbered", *args], input=program, capture_output=True)
        if p.returncode:
            return p.stderr.decode()
        for k, w in enumerate(want.run(None, values)):
            y = np.load(f"{folder}/output_{k}.npy")
            if y.shape != w.shape or not np.allclose(y, w, rtol=tol, atol=tol * abs(w).max()):
                most = abs(y - w).max() if y.shape == w.shape else y.shape
                return f"output {k}{w.shape} of {[a.shape for a in values.values()]}: {most}"
    return None


def cases(folder):
    """Name, tolerance and inputs of each model."""
    for make, channels in (encoder, True), (network, True), (recurrent, False):
        m, path = make(), f"{folder}/{make.__name__}.onnx"
        onnx.save(m, path)
        calls = [given(m, batch=1, seq=5), given(m, batch=3, seq=9)]
        for to, tol in variants(path, m, channels):
            yield to, tol, calls
        if make is encoder:
            for to in by_transformers(path):
                yield to, 1e-4, calls
    m, path = decoder(), f"{folder}/decoder.onnx"
    onnx.save(m, path)
    steps = [dict(batch=2, seq=5, past=9, total=5), dict(batch=2, seq=1, past=6, total=7, ends=[7, 7]),
             dict(batch=2, seq=1, past=9, total=7, ends=[7, 4]), dict(batch=1, seq=3, past=5, total=8)]
    steps[0]["ends"] = [5, 5]
    yield path, 1e-4, [given(m, **step) for step in steps]


def main():
    bad = count = 0
    word, bin = sys.argv[2] if len(sys.argv) > 2 else "", os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for path, tol, calls in cases(folder):
            name = os.path.basename(path)
            if word not in name:
                continue
            count += 1
            try:
                why = wrong(path, tol, calls, folder, bin)
            except Exception as e:
                why = f"{type(e).__name__}: {e}"
            if why:
                bad += 1
                print(name, why.strip())
    print(f"{count - bad} right, {bad} wrong")
    sys.exit(bad > 0)


main()
