#!/usr/bin/env python3
"""The workloads as ONNX files: workloads.tsv says how much work each is, this what it computes.

    workloads.py FOLDER [NAME…]

writes FOLDER/NAME/ with model.onnx, in_INPUT.npy, ref_K.npy (what evaluate.py gives for output K in float64) and meta.json.
Shapes are fixed; weights are initializers, all from seeds.  What is there already from the same sources is kept."""
import hashlib, json, os, re, sys
import numpy as np
import onnx
from onnx import helper as h, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [os.path.join(HERE, f) for f in ("workloads.py", "networks.py", "evaluate.py", "../models/make.py")]
F32, I64 = np.float32, np.int64

class Graph:
    """A model under construction.  draw() takes numbers from the workload's own seed."""
    def __init__(self, name):
        self.name, self.rng = name, np.random.default_rng(list(name.encode()))
        self.nodes, self.weights, self.feeds, self.outs = [], [], {}, []

    def draw(self, *shape, scale=1.0): return (self.rng.standard_normal(shape) * scale).astype(F32)

    def input(self, name, value):
        self.feeds[name] = np.ascontiguousarray(value)
        return name

    def weight(self, value):
        name = "const_%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind, *ins, **attrs):
        name = "%s_%d" % (kind.lower(), len(self.nodes))
        self.nodes.append(h.make_node(kind, list(ins), [name], name=name, **attrs))
        return name

    def output(self, *names): self.outs += names

    def model(self):
        ins = [h.make_tensor_value_info(k, h.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in self.feeds.items()]
        outs = [onnx.ValueInfoProto(name=o) for o in self.outs]
        g = h.make_graph(self.nodes, self.name, ins, outs, self.weights)
        m = h.make_model(g, opset_imports=[h.make_opsetid("", 20)], ir_version=9)
        typed = onnx.shape_inference.infer_shapes(m)
        known = {v.name: v for v in typed.graph.value_info}
        for k, o in enumerate(self.outs):
            if not m.graph.output[k].type.WhichOneof("value"):
                m.graph.output[k].CopyFrom(known.get(o) or typed.graph.output[k])
        return m

# ---- memory
def gelu(g):
    a, b, c = (g.input(k, g.draw(1 << 24)) for k in "abc")
    g.output(g.op("Gelu", g.op("Add", g.op("Mul", a, b), c), approximate="tanh"))

def summed(g, axes):
    x = g.input("x", g.rng.random((4096, 4096), F32))
    g.output(g.op("ReduceSum", x, *([g.weight(np.array(axes, I64))] if axes else []), keepdims=0))

def softmax(g): g.output(g.op("Softmax", g.input("x", g.draw(4096, 1024)), axis=-1))

def layer_norm(g):
    x = g.input("x", g.draw(4096, 1024))
    g.output(g.op("LayerNormalization", x, g.weight(g.draw(1024)), g.weight(g.draw(1024)), axis=-1, epsilon=1e-5))

def transpose(g): g.output(g.op("Transpose", g.input("x", g.draw(4096, 4096)), perm=[1, 0]))

# ---- contractions
def matmul(g, a, b, constant=False):
    x, w = g.input("a", g.draw(*a)), g.draw(*b)
    g.output(g.op("MatMul", x, g.weight(w) if constant else g.input("b", w)))

def conv(g, cin, cout, size, k, stride=1, groups=1):
    x = g.input("x", g.draw(1, cin, size, size))
    w = g.weight(g.draw(cout, cin // groups, k, k, scale=(2 / (cin // groups * k * k)) ** 0.5))
    g.output(g.op("Conv", x, w, strides=[stride] * 2, pads=[k // 2] * 4, group=groups, kernel_shape=[k, k], dilations=[1, 1]))

def attention(g):
    q, k, v = (g.input(n, g.draw(1, 8, 512, 64)) for n in "qkv")
    s = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.weight(F32(0.125)))
    g.output(g.op("MatMul", g.op("Softmax", s, axis=-1), v))

def mlp_train(g, batch=128, rate=0.1):
    """One step of gradient descent, written out: the loss and the new weights of 784-512-10."""
    c = lambda v, t=F32: g.weight(np.asarray(v, t))
    x = g.input("x", g.rng.random((batch, 784), F32))
    y = g.input("y", g.rng.integers(0, 10, batch))
    shapes = dict(w1=(784, 512), b1=(512,), w2=(512, 10), b2=(10,))
    p = {k: g.input(k, g.draw(*s, scale=0.05)) for k, s in shapes.items()}
    before = g.op("Add", g.op("MatMul", x, p["w1"]), p["b1"])
    hidden = g.op("Relu", before)
    z = g.op("Add", g.op("MatMul", hidden, p["w2"]), p["b2"])
    logp = g.op("LogSoftmax", z, axis=1)
    hot = g.op("Equal", g.op("Unsqueeze", y, c([1], I64)), c(np.arange(10), I64))
    hot = g.op("Cast", hot, to=1)
    loss = g.op("Mul", g.op("ReduceSum", g.op("Mul", logp, hot), keepdims=0), c(-1 / batch))
    dz = g.op("Mul", g.op("Sub", g.op("Exp", logp), hot), c(1 / batch))
    live = g.op("Cast", g.op("Greater", before, c(0)), to=1)
    dh = g.op("Mul", g.op("MatMul", dz, g.op("Transpose", p["w2"], perm=[1, 0])), live)
    rows = c([0], I64)
    d = dict(w1=g.op("MatMul", g.op("Transpose", x, perm=[1, 0]), dh), b1=g.op("ReduceSum", dh, rows, keepdims=0),
             w2=g.op("MatMul", g.op("Transpose", hidden, perm=[1, 0]), dz), b2=g.op("ReduceSum", dz, rows, keepdims=0))
    g.output(loss, *(g.op("Sub", p[k], g.op("Mul", d[k], c(rate))) for k in shapes))

def chain(g, n=10000):
    """n nodes, by turns a reduction and an elementwise op: for the time of compiling alone."""
    x, last = g.input("x", g.draw(64, 64)), g.weight(np.array([1], I64))
    for _ in range(n // 2):
        x = g.op("Sub", g.op("ReduceMax", x, last, keepdims=1), x)
    g.output(x)

OPERATORS = dict(
    gelu=gelu, sum=lambda g: summed(g, []), row_sum=lambda g: summed(g, [1]), column_sum=lambda g: summed(g, [0]),
    softmax=softmax, layer_norm=layer_norm, transpose=transpose,
    matmul_512=lambda g: matmul(g, (512, 512), (512, 512)), matmul_1024=lambda g: matmul(g, (1024, 1024), (1024, 1024)),
    matmul_2048=lambda g: matmul(g, (2048, 2048), (2048, 2048)),
    matmul_1x4096=lambda g: matmul(g, (1, 4096), (4096, 4096), True),
    matmul_32x4096=lambda g: matmul(g, (32, 4096), (4096, 4096), True),
    matmul_batched=lambda g: matmul(g, (64, 128, 128), (64, 128, 64)),
    conv_3x3=lambda g: conv(g, 64, 64, 56, 3), conv_1x1=lambda g: conv(g, 256, 64, 56, 1),
    conv_7x7=lambda g: conv(g, 3, 64, 224, 7, 2), conv_depthwise=lambda g: conv(g, 96, 96, 112, 3, 1, 96),
    attention=attention, mlp_train=mlp_train, chain_10000=chain, chain_1000=lambda g: chain(g, 1000))

# ---- the table
class Work:
    def __init__(self, name, goal, flops, read, written, error):
        number = lambda e: eval(e) if re.fullmatch(r"[0-9+*]+", e) else sys.exit("workloads.tsv: %s: %s" % (name, e))
        self.name, self.goal = name, None if goal == "-" else float(goal)
        self.flops, self.read, self.written, self.error = number(flops), number(read), number(written), float(error)

def table():
    with open(os.path.join(HERE, "workloads.tsv")) as f:
        return [Work(*line.split()) for line in f if line.strip() and not line.startswith("#")]

def build(name):
    """The model and its inputs."""
    if name not in OPERATORS:
        import networks
        return networks.build(name)
    g = Graph(name)
    OPERATORS[name](g)
    return g.model(), g.feeds

def stamp():
    return hashlib.sha256(b"".join(open(f, "rb").read() for f in SOURCES)).hexdigest()

def write(folder, name):
    """The workload's folder, made anew when its sources changed."""
    to, key = os.path.join(folder, name), stamp()
    try:
        if json.load(open(os.path.join(to, "meta.json")))["stamp"] == key:
            return to
    except (OSError, ValueError, KeyError):
        pass
    import evaluate
    os.makedirs(to, exist_ok=True)
    model, feeds = build(name)
    onnx.save(model, os.path.join(to, "model.onnx"))
    wide = {k: v.astype(np.float64) if v.dtype == F32 else v for k, v in feeds.items()}
    refs = evaluate.run(evaluate.read(model), wide)
    for k, v in feeds.items():
        np.save(os.path.join(to, "in_%s.npy" % k), v)
    for k, v in enumerate(refs):
        np.save(os.path.join(to, "ref_%d.npy" % k), v)
    with open(os.path.join(to, "meta.json"), "w") as f:
        json.dump(dict(stamp=key, inputs=list(feeds), outputs=len(refs)), f)
    return to

if __name__ == "__main__":
    for name in sys.argv[2:] or [w.name for w in table()]:
        print(write(sys.argv[1], name), flush=True)
