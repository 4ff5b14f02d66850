#!/usr/bin/env python3
"""Recurrences over a length and a batch that are open, against ONNX Runtime: one program for all lengths.

    onnx_recurrences.py BIN [WORD]            only the cases whose name has WORD

Each model is interpreted at level graph and, for one length, at every later level, which prove accepts; compiled it runs at
all lengths. Prints what differs, then "N right, N wrong"; ends with 1 when something is wrong."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
rng = np.random.default_rng(5)
GATES = dict(RNN=1, GRU=3, LSTM=4)
I, H = 3, 5
LENGTHS = (1, 1), (2, 3), (30, 2)
cases = {}


def r(*shape):
    return rng.standard_normal(shape).astype(np.float32) / 2


def info(name, dt, shape):
    return helper.make_tensor_value_info(name, dt, shape)


def model(nodes, inputs, outputs, held, ms=False):
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=o) for o in outputs],
                              [numpy_helper.from_array(v, k) for k, v in held.items()])
    imports = [helper.make_opsetid("", 17)] + ([helper.make_opsetid("com.microsoft", 1)] if ms else [])
    m = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return onnx.shape_inference.infer_shapes(m)


def add(name, op, ways=1, lengths=False, states=False, peepholes=False, t="t", **attrs):
    """One node; its optional inputs as said. t: the length, "t" where it is open."""
    g, d = GATES[op], {1: "forward", -1: "reverse", 2: "bidirectional"}[ways]
    ways = abs(ways)
    held = dict(w=r(ways, g * H, I), r=r(ways, g * H, H), b=r(ways, 2 * g * H))
    inputs = [info("x", TensorProto.FLOAT, [t, "n", I])]
    names = ["x", "w", "r", "b", "", "", "", ""]
    if lengths:
        names[4] = "len"
        inputs.append(info("len", TensorProto.INT32, ["n"]))
    for k in range(2 if g == 4 else 1):
        if states:
            names[5 + k] = f"s{k}"
            inputs.append(info(f"s{k}", TensorProto.FLOAT, [ways, "n", H]))
    if peepholes:
        names[7] = "p"
        held["p"] = r(ways, 3 * H)
    outputs = ["y", "h", "c"][:3 if g == 4 else 2]
    node = helper.make_node(op, names if g == 4 else names[:6], outputs, hidden_size=H, direction=d, name="cell", **attrs)
    cases[name] = (model([node], inputs, outputs, held), t)


def quantized(name, ways):
    codes = lambda *s: rng.integers(-99, 99, s).astype(np.int8)
    d = "bidirectional" if ways == 2 else "forward"
    held = dict(w=codes(ways, I, 4 * H), r=codes(ways, H, 4 * H), b=r(ways, 8 * H), ws=abs(r(ways)) / 99,
                wz=np.zeros(ways, np.int8), rs=abs(r(ways)) / 99, rz=np.zeros(ways, np.int8))
    node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
                            ["y", "h", "c"], hidden_size=H, direction=d, domain="com.microsoft")
    cases[name] = (model([node], [info("x", TensorProto.FLOAT, ["t", "n", I])], ["y", "h", "c"], held, True), "t")


def packed(name):
    """As PyTorch writes a packed LSTM of two directions and layers: zero states by the open batch, lengths per row"""
    n = helper.make_node
    held = dict(zero=np.array(0, np.int64), one=np.array([1], np.int64), two=np.array([2], np.int64),
                h=np.array([H], np.int64), none=np.zeros((1, 1, 1), np.float32), flat=np.array([0, 0, -1], np.int64),
                first=np.array([0], np.int64), last=np.array([2], np.int64), whole=np.array([1 << 62], np.int64))
    nodes = [n("Transpose", ["x"], ["x0"], perm=[1, 0, 2]), n("Shape", ["x"], ["all"]),
             n("Gather", ["all", "zero"], ["count"], axis=0), n("Unsqueeze", ["count", "first"], ["batch"]),
             n("Concat", ["two", "batch", "h"], ["shape"], axis=0), n("Expand", ["none", "shape"], ["s"]),
             n("Concat", ["s", "s"], ["both"], axis=0), n("Cast", ["len"], ["len32"], to=TensorProto.INT32)]
    for k in range(2):
        size = I if k == 0 else 2 * H
        held.update({f"w{k}": r(2, 4 * H, size), f"r{k}": r(2, 4 * H, H), f"b{k}": r(2, 8 * H),
                     f"from{k}": np.array([2 * k], np.int64), f"to{k}": np.array([2 * k + 2], np.int64)})
        nodes += [n("Slice", ["both", f"from{k}", f"to{k}", "first"], [f"s{k}"]),
                  n("LSTM", [f"x{k}", f"w{k}", f"r{k}", f"b{k}", "len32", f"s{k}", f"s{k}"], [f"y{k}", f"h{k}", f"c{k}"],
                    hidden_size=H, direction="bidirectional"),
                  n("Transpose", [f"y{k}"], [f"z{k}"], perm=[0, 2, 1, 3]), n("Reshape", [f"z{k}", "flat"], [f"x{k + 1}"])]
    nodes += [n("Transpose", ["x2"], ["y"], perm=[1, 0, 2]), n("Concat", ["h0", "h1"], ["hs"], axis=0),
              n("Slice", ["hs", "last", "whole", "first"], ["top"])]
    inputs = [info("x", TensorProto.FLOAT, ["n", "t", I]), info("len", TensorProto.INT64, ["n"])]
    cases[name] = (model(nodes, inputs, ["y", "hs", "top"], held), "t")


def all_cases():
    for op in GATES:
        add(f"{op} forward", op)
        add(f"{op} bidirectional, lengths, states", op, 2, lengths=True, states=True)
    add("LSTM reverse, lengths, states, peepholes, clip", "LSTM", -1, True, True, True, clip=.4)
    add("LSTM reverse", "LSTM", -1)
    add("LSTM input_forget", "LSTM", input_forget=1)
    add("GRU linear_before_reset", "GRU", 2, linear_before_reset=1, states=True)
    add("RNN activations by direction", "RNN", 2, lengths=True, activations=["Relu", "Tanh"])
    add("LSTM activations by direction", "LSTM", 2, activations="HardSigmoid Softsign Relu Sigmoid Tanh Elu".split())
    for t in 0, 1, 2, 30:
        add(f"LSTM of a known length {t}", "LSTM", 2 if t else 1, t=t)
    quantized("DynamicQuantizeLSTM", 1)
    quantized("DynamicQuantizeLSTM bidirectional", 2)
    packed("packed LSTM of PyTorch")


def given(m, t, n):
    values = {}
    for i in m.graph.input:
        sizes = {"t": t, "n": n}
        shape = [sizes.get(d.dim_param, d.dim_value) for d in i.type.tensor_type.shape.dim]
        if i.name == "len":
            values["len"] = np.minimum(rng.integers(1, t + 1, shape) if t else np.zeros(shape), t)
            values["len"][0] = t                               # ONNX Runtime wants one row of the whole length
            values["len"] = values["len"].astype(helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type))
        else:
            values[i.name] = r(*shape)
    return values


def tool(name, *args, input=None):
    p = subprocess.run([name, *args], input=input, capture_output=True)
    if p.returncode:
        raise RuntimeError(f"{os.path.basename(name)}: status {p.returncode}: {p.stderr.decode().strip()}")
    return p.stdout


def wrong(m, length, folder, bin):
    onnx.save(m, f"{folder}/m.onnx")
    how = onnxruntime.SessionOptions()
    # else processors without VNNI add pairs of products in 16 bits, which saturate
    how.add_session_config_entry("session.x64quantprecision", "1")
    how.intra_op_num_threads = 1               # threads share out rows, which DynamicQuantizeLSTM then quantizes apart
    s = onnxruntime.InferenceSession(m.SerializeToString(), how, providers=["CPUExecutionProvider"])
    levels = {"graph": tool(f"{bin}/trace", f"{folder}/m.onnx")}
    last = levels["graph"]
    for stage in "schedule", "fuse", "lower", "render":
        last = levels[stage] = tool(f"{bin}/{stage}", *(["-t", "clang"] if stage in ("lower", "render") else []), input=last)
        tool(f"{bin}/prove", "-q", input=last)
    runs = [("compiled", ["--allow-code"], last, t, n) for t, n in LENGTHS]
    runs += [(k, ["--interpret"], d, 2, 3) for k, d in levels.items()] + [("graph", ["--interpret"], levels["graph"], 30, 1)]
    for what, options, document, t, n in runs:
        values = given(m, t if length == "t" else length, n)
        want = s.run(None, values)
        if length == 0:                        # ONNX Runtime writes no last states
            want[1:] = [np.zeros_like(w) for w in want[1:]]
        args = []
        for k, v in values.items():
            np.save(f"{folder}/{k}.npy", v)
            args.append(f"{k}={folder}/{k}.npy")
        tool(f"{bin}/run", *options, "-o", folder, "--numbered", *args, input=document)
        for k, w in enumerate(want):
            y = np.load(f"{folder}/output_{k}.npy")
            if y.shape != w.shape or not np.allclose(y, w, rtol=1e-4, atol=1e-4):
                most = abs(y - w).max() if y.shape == w.shape and y.size else ""
                return f"{what}, length {t}, batch {n}: output {k} {y.shape}, wanted {w.shape} {most}"
    return None


def main():
    bad = count = 0
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    all_cases()
    with tempfile.TemporaryDirectory() as folder:
        for name, (m, length) in cases.items():
            if word not in name:
                continue
            count += 1
            try:
                why = wrong(m, length, folder, os.path.abspath(sys.argv[1]))
            except Exception as e:
                why = f"{type(e).__name__}: {e}"
            if why:
                bad += 1
                print(f"{name}: {why.strip()}")
    print(f"{count - bad} right, {bad} wrong")
    sys.exit(bad > 0)


main()
