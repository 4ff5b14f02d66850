"""Whole networks for workloads.py: those of tests/models with fixed sizes, and transformers without their embeddings."""
import os, sys
import numpy as np
from onnx import helper as h

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../models"))
import make

F32 = np.float32

def fixed(net):
    """Net's model for batch 1, and inputs for it."""
    ins = [h.make_tensor_value_info(i.name, i.type.tensor_type.elem_type,
                                    [d.dim_value or 1 for d in i.type.tensor_type.shape.dim]) for i in net.ins]
    outs = [h.make_tensor_value_info(o.name, o.type.tensor_type.elem_type,
                                     [d.dim_value or 1 for d in o.type.tensor_type.shape.dim]) for o in net.outs]
    g = h.make_graph(net.nodes, net.name, ins, outs, net.weights)
    rng = np.random.default_rng(1)
    return h.make_model(g, opset_imports=[h.make_opsetid("", net.opset)], ir_version=9), {k: d(rng, dict(batch=1)) for k, d in net.feeds}

def given(value): return lambda rng, size: value

def heads_of(n, x, rows, heads, each): return n.op("Transpose", n.reshape(x, 1, rows, heads, each), perm=[0, 2, 1, 3])

def attend(n, q, k, v, rows, width, each):
    """q, k, v [1, heads, rows, each] to [1, rows, width]."""
    s = n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), n.f(each ** -0.5))
    y = n.op("Transpose", n.op("MatMul", n.op("Softmax", s, axis=-1), v), perm=[0, 2, 1, 3])
    return n.reshape(y, 1, rows, width)

def encoder(name, depth, width, heads, rows=128):
    """BERT's layers: x [1, rows, width]."""
    n = make.Net(name, 20)
    x = n.input("x", [1, rows, width], make.drawn_of(1, rows, width))
    for b in range(depth):
        n.at("/layer.%d" % b)
        q, k, v = (heads_of(n, make.linear(n, x, width, width), rows, heads, width // heads) for _ in range(3))
        y = make.linear(n, attend(n, q, k, v, rows, width, width // heads), width, width)
        x = make.norm(n, n.op("Add", y, x), width, 1e-12)
        y = make.linear(n, make.gelu(n, make.linear(n, x, width, 4 * width)), 4 * width, width)
        x = make.norm(n, n.op("Add", y, x), width, 1e-12)
    n.output(x, "y", [1, rows, width])
    return n

def gpt2_decode(depth=12, width=768, heads=12, vocabulary=50257, positions=1024, past=256):
    """One token of GPT-2 after `past` others: logits, and what is to be added to the caches of keys and values."""
    n, each = make.Net("gpt2_decode", 20), width // heads
    token = n.input("token", [1, 1], given(np.array([[1234]])), make.T.INT64)
    place = n.input("position", [1, 1], given(np.array([[past]])), make.T.INT64)
    caches = [n.input(k, [depth, 1, heads, past, each], make.drawn_of(depth, 1, heads, past, each)) for k in ("keys", "values")]
    table = n.drawn(vocabulary, width, scale=0.02)
    x = n.op("Add", n.op("Gather", table, token, axis=0), n.op("Gather", n.drawn(positions, width, scale=0.02), place, axis=0))
    added = ([], [])
    for b in range(depth):
        n.at("/h.%d" % b)
        y = make.linear(n, make.norm(n, x, width), width, 3 * width)
        q, k, v = (heads_of(n, p, 1, heads, each) for p in n.op("Split", y, n.const([width] * 3), n=3, axis=2))
        for to, new in zip(added, (k, v)):
            to.append(n.op("Unsqueeze", new, n.const([0])))
        k, v = (n.op("Concat", n.op("Gather", c, n.const(b), axis=0), new, axis=2) for c, new in zip(caches, (k, v)))
        x = n.op("Add", x, make.linear(n, attend(n, q, k, v, 1, width, each), width, width))
        y = n.op("Gelu", make.linear(n, make.norm(n, x, width), width, 4 * width), approximate="tanh")
        x = n.op("Add", x, make.linear(n, y, 4 * width, width))
    x = n.reshape(make.norm(n.at("/ln_f"), x, width), 1, width)
    n.output(n.op("Gemm", x, table, alpha=1.0, beta=1.0, transB=1), "logits", [1, vocabulary])
    for to, name in zip(added, ("new_keys", "new_values")):
        n.output(n.op("Concat", *to, axis=0), name, [depth, 1, heads, 1, each])
    return n

NETWORKS = dict(
    resnet50=lambda: make.resnet50()[0], mobilenetv2=lambda: make.mobilenetv2()[0], gpt2_decode=gpt2_decode,
    bert4=lambda: encoder("bert4", 4, 768, 12), minilm=lambda: encoder("minilm", 6, 384, 12))

def build(name): return fixed(NETWORKS[name]())
