#!/usr/bin/env python3
"""make.py FOLDER [--small] [NAME…]: models as PyTorch's exporter writes them, node for node, with seeded weights.

No network is needed and no framework: numpy and the onnx package (and ONNX Runtime for the quantized ones).  Each
function below builds one architecture; its arguments are the architecture's own widths and depths, and SMALL has those
of the variant that the suite runs.  Beside
NAME.onnx stand NAME.1.npz and NAME.3.npz, inputs for batch 1 and 3 (other sizes differ as well where the model leaves
them open)."""
import argparse, os, zlib
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper
from quantize import quantize

class Net:
    """A graph being written: op() appends a node and gives the name of its first output."""
    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.weights, self.ins, self.outs, self.feeds = [], [], [], [], []
        self.path, self.count = "", {}
        self.finish = None                                 # what is done to the model as a whole

    def op(self, kind, *ins, n=1, **attrs):
        at = "%s/%s" % (self.path, kind)
        k = self.count[at] = self.count.get(at, -1) + 1
        name = at + ("_%d" % k if k else "")
        outs = ["%s_output_%d" % (name, i) for i in range(n)]
        self.nodes.append(h.make_node(kind, list(ins), outs, name=name, **attrs))
        return outs[0] if n == 1 else outs

    def weight(self, a, name=None):
        name = name or "onnx::w_%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(a), name))
        return name

    def drawn(self, *shape, scale=None, mean=0.0):
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        scale = scale if scale is not None else (2.0 / fan) ** 0.5
        return self.weight((self.rng.standard_normal(shape) * scale + mean).astype(np.float32))

    def const(self, v, dtype=np.int64):
        """A constant as the exporter has it: a node of its own."""
        return self.op("Constant", value=numpy_helper.from_array(np.array(v, dtype)))

    def f(self, v): return self.const(v, np.float32)

    def input(self, name, shape, draw, elem=T.FLOAT):
        """draw(size) gives its content, size the values of the open sizes."""
        self.ins.append(h.make_tensor_value_info(name, elem, shape))
        self.feeds.append((name, draw))
        return name

    def output(self, value, name, shape, elem=T.FLOAT):
        self.nodes.append(h.make_node("Identity", [value], [name], name="/Identity_" + name))
        self.outs.append(h.make_tensor_value_info(name, elem, shape))

    def dim(self, x, axis): return self.op("Gather", self.op("Shape", x), self.const(axis), axis=0)

    def dims(self, *parts):
        """A shape of numbers and sizes: Unsqueeze and Concat, as view(b, -1, heads, width) is exported."""
        parts = [self.const([p]) if isinstance(p, int) else self.op("Unsqueeze", p, self.const([0])) for p in parts]
        return self.op("Concat", *parts, axis=0)

    def reshape(self, x, *parts):
        if all(isinstance(p, int) for p in parts):
            return self.op("Reshape", x, self.const(list(parts)))
        return self.op("Reshape", x, self.dims(*parts))

    def at(self, path):
        self.path = path
        return self

    def save(self, folder, sizes):
        g = h.make_graph(self.nodes, self.name, self.ins, self.outs, self.weights)
        m = h.make_model(g, opset_imports=[h.make_opsetid("", self.opset)], ir_version=8, producer_name="pytorch")
        if self.finish:
            self.finish(m, {k: d(self.rng, dict(sizes.get(1, {}), batch=4)) for k, d in self.feeds})
        onnx.save(m, os.path.join(folder, self.name + ".onnx"))
        for batch in (1, 3):
            size = dict(sizes.get(batch, {}), batch=batch)
            rng = np.random.default_rng(batch)
            stale = os.path.join(folder, "%s.%d.out.npz" % (self.name, batch))
            if os.path.exists(stale):
                os.remove(stale)
            np.savez_compressed(os.path.join(folder, "%s.%d.npz" % (self.name, batch)), **{k: d(rng, size) for k, d in self.feeds})

# ---- layers
def conv(n, x, cin, cout, k, stride=1, pad=None, groups=1, bn=False, bias=True):
    p = (k - 1) // 2 if pad is None else pad
    at = dict(dilations=[1, 1], group=groups, kernel_shape=[k, k], pads=[p] * 4, strides=[stride] * 2)
    w = n.drawn(cout, cin // groups, k, k)
    if not bn:                                             # a norm that was folded leaves a bias
        return n.op("Conv", x, w, *([n.drawn(cout, scale=0.1)] if bias else []), **at)
    y = n.op("Conv", x, w, **at)
    scale, shift, mean = n.drawn(cout, scale=0.1, mean=1), n.drawn(cout, scale=0.1), n.drawn(cout, scale=0.1)
    var = n.weight((0.5 + n.rng.random(cout)).astype(np.float32))
    return n.op("BatchNormalization", y, scale, shift, mean, var, epsilon=1e-5, momentum=0.9)

def gemm(n, x, cin, cout):
    return n.op("Gemm", x, n.drawn(cout, cin, scale=cin ** -0.5), n.drawn(cout, scale=0.1), alpha=1.0, beta=1.0, transB=1)

def linear(n, x, cin, cout, bias=True):
    y = n.op("MatMul", x, n.drawn(cin, cout, scale=cin ** -0.5))
    return n.op("Add", n.drawn(cout, scale=0.1), y) if bias else y

def norm(n, x, width, eps=1e-5, spelled=False):
    g, b = n.drawn(width, scale=0.1, mean=1), n.drawn(width, scale=0.1)
    if not spelled:
        return n.op("LayerNormalization", x, g, b, axis=-1, epsilon=eps)
    mean = (lambda v: n.op("ReduceMean", v, axes=[-1])) if n.opset < 18 else (lambda v: n.op("ReduceMean", v, n.const([-1])))
    d = n.op("Sub", x, mean(x))
    s = n.op("Sqrt", n.op("Add", mean(n.op("Pow", d, n.f(2.0))), n.f(eps)))
    return n.op("Add", n.op("Mul", n.op("Div", d, s), g), b)

def gelu(n, x):
    if n.opset >= 20:
        return n.op("Gelu", x)
    e = n.op("Add", n.op("Erf", n.op("Div", x, n.f(2 ** 0.5))), n.f(1.0))
    return n.op("Mul", n.op("Mul", x, e), n.f(0.5))

def gelu_tanh(n, x):
    cube = n.op("Mul", n.op("Pow", x, n.f(3.0)), n.f(0.044715))
    t = n.op("Tanh", n.op("Mul", n.op("Add", x, cube), n.f((2 / np.pi) ** 0.5)))
    return n.op("Mul", n.op("Mul", x, n.f(0.5)), n.op("Add", t, n.f(1.0)))

def silu(n, x): return n.op("Mul", x, n.op("Sigmoid", x))
def relu6(n, x): return n.op("Clip", x, n.f(0.0), n.f(6.0))
def drawn_of(*shape): return lambda rng, s: np.float32(np.round(rng.standard_normal([s.get(d, d) for d in shape]) * 16) / 16)
def image(size): return drawn_of("batch", 3, size, size)

def pooled(n, x):
    return n.op("Flatten", n.op("GlobalAveragePool", x), axis=1)

# ---- pictures
def resnet50(width=64, blocks=(3, 4, 6, 3), size=224, classes=1000, bn=False):
    n = Net("resnet50_bn" if bn else "resnet50", 17)
    x = n.input("input", ["batch", 3, size, size], image(size))
    x = n.op("Relu", conv(n.at("/conv1"), x, 3, width, 7, 2, bn=bn))
    x = n.op("MaxPool", x, ceil_mode=0, dilations=[1, 1], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    cin = width
    for s, depth in enumerate(blocks):
        mid = width << s
        for b in range(depth):
            n.at("/layer%d/layer%d.%d" % (s + 1, s + 1, b))
            stride = 2 if s and not b else 1
            y = n.op("Relu", conv(n, x, cin, mid, 1, bn=bn))
            y = n.op("Relu", conv(n, y, mid, mid, 3, stride, bn=bn))
            y = conv(n, y, mid, mid * 4, 1, bn=bn)
            if not b:
                x = conv(n, x, cin, mid * 4, 1, stride, bn=bn)
            # the last norm of a block is small, as trained ones are: depth does not blow the values up
            x, cin = n.op("Relu", n.op("Add", n.op("Mul", y, n.f(0.3)) if bn else y, x)), mid * 4
    n.output(gemm(n.at("/fc"), pooled(n, x), cin, classes), "output", ["batch", classes])
    return n, {}

def mobilenetv2(scale=1.0, rows=((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                (6, 320, 1, 1)), size=224, classes=1000, last=1280):
    n = Net("mobilenetv2", 17)
    wide = lambda c: max(8, int(c * scale + 4) // 8 * 8)
    x = n.input("input", ["batch", 3, size, size], image(size))
    cin = wide(32)
    x = relu6(n, conv(n.at("/features.0"), x, 3, cin, 3, 2))
    for k, (t, c, depth, stride) in enumerate(rows):
        for b in range(depth):
            n.at("/features.%d.%d" % (k + 1, b))
            mid, out, s = cin * t, wide(c), stride if not b else 1
            y = relu6(n, conv(n, x, cin, mid, 1)) if t != 1 else x
            y = relu6(n, conv(n, y, mid, mid, 3, s, groups=mid))
            y = conv(n, y, mid, out, 1)
            x, cin = (n.op("Add", x, y) if s == 1 and cin == out else y), out
    x = relu6(n, conv(n.at("/features.last"), x, cin, last, 1))
    n.output(gemm(n.at("/classifier"), pooled(n, x), last, classes), "output", ["batch", classes])
    return n, {}

def efficientnet_b0(scale=1.0, rows=((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
                    (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)), size=224, classes=1000, last=1280):
    n = Net("efficientnet_b0", 18)
    wide = lambda c: max(8, int(c * scale + 4) // 8 * 8)
    x = n.input("input", ["batch", 3, size, size], image(size))
    cin = wide(32)
    x = silu(n, conv(n.at("/features.0"), x, 3, cin, 3, 2))
    for k, (t, kernel, stride, c, depth) in enumerate(rows):
        for b in range(depth):
            n.at("/features.%d.%d" % (k + 1, b))
            mid, out, s = cin * t, wide(c), stride if not b else 1
            y = silu(n, conv(n, x, cin, mid, 1)) if t != 1 else x
            y = silu(n, conv(n, y, mid, mid, kernel, s, groups=mid))
            q = n.op("ReduceMean", y, n.const([2, 3]), keepdims=1)
            q = silu(n, conv(n, q, mid, max(1, cin // 4), 1))
            y = n.op("Mul", n.op("Sigmoid", conv(n, q, max(1, cin // 4), mid, 1)), y)
            y = conv(n, y, mid, out, 1)
            x, cin = (n.op("Add", y, x) if s == 1 and cin == out else y), out
    x = silu(n, conv(n.at("/features.last"), x, cin, last, 1))
    n.output(gemm(n.at("/classifier"), pooled(n, x), last, classes), "output", ["batch", classes])
    return n, {}

def convnext_tiny(widths=(96, 192, 384, 768), blocks=(3, 3, 9, 3), size=224, classes=1000):
    n = Net("convnext_tiny", 20)
    last = lambda v: n.op("Transpose", v, perm=[0, 2, 3, 1])
    first = lambda v: n.op("Transpose", v, perm=[0, 3, 1, 2])
    x = n.input("input", ["batch", 3, size, size], image(size))
    x = first(norm(n, last(conv(n.at("/features.0"), x, 3, widths[0], 4, 4, 0)), widths[0], 1e-6))
    for s, (c, depth) in enumerate(zip(widths, blocks)):
        if s:
            x = first(norm(n.at("/features.%d" % (2 * s)), last(x), widths[s - 1], 1e-6))
            x = conv(n, x, widths[s - 1], c, 2, 2, 0)
        for b in range(depth):
            n.at("/features.%d/features.%d.%d" % (2 * s + 1, 2 * s + 1, b))
            y = norm(n, last(conv(n, x, c, c, 7, groups=c)), c, 1e-6)
            y = first(linear(n, gelu(n, linear(n, y, c, 4 * c)), 4 * c, c))
            x = n.op("Add", n.op("Mul", y, n.drawn(c, 1, 1, scale=0.3)), x)
    x = first(norm(n.at("/classifier"), last(n.op("GlobalAveragePool", x)), c, 1e-6))
    n.output(gemm(n, n.op("Flatten", x, axis=1), c, classes), "output", ["batch", classes])
    return n, {}

def unet(widths=(32, 64, 128, 256), size=128):
    n = Net("unet", 17)
    def double(n, x, cin, cout):
        return n.op("Relu", conv(n, n.op("Relu", conv(n, x, cin, cout, 3, bn=True)), cout, cout, 3, bn=True))
    x = n.input("input", ["batch", 3, "height", "width"], drawn_of("batch", 3, "height", "width"))
    kept, cin = [], 3
    for k, c in enumerate(widths):
        if k:
            x = n.op("MaxPool", x, ceil_mode=0, dilations=[1, 1], kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])
        x = double(n.at("/down%d" % k), x, cin, c)
        kept.append(x)
        cin = c
    for k in reversed(range(len(widths) - 1)):
        c = widths[k]
        n.at("/up%d" % k)
        if k % 2:
            x = n.op("ConvTranspose", x, n.drawn(cin, c, 2, 2, scale=(1 / cin) ** 0.5), n.drawn(c, scale=0.1), dilations=[1, 1],
                     group=1, kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])
        else:                                              # nn.Upsample and a convolution
            x = n.op("Resize", x, "", n.f([1, 1, 2, 2]), coordinate_transformation_mode="half_pixel", mode="linear")
            x = conv(n, x, cin, c, 1)
        x = double(n, n.op("Concat", kept[k], x, axis=1), 2 * c, c)
        cin = c
    n.output(n.op("Sigmoid", conv(n.at("/last"), x, cin, 2, 1)), "mask", ["batch", 2, "height", "width"])
    return n, {1: dict(height=size, width=size), 3: dict(height=size // 2, width=size)}

def vit_b16(width=768, heads=12, depth=12, size=224, patch=16, classes=1000):
    n = Net("vit_b16", 20)
    grid, each = size // patch, width // heads
    x = n.input("input", ["batch", 3, size, size], image(size))
    batch = n.dim(x, 0)
    x = conv(n.at("/conv_proj"), x, 3, width, patch, patch, 0)
    x = n.op("Transpose", n.at("").reshape(x, batch, width, grid * grid), perm=[0, 2, 1])
    shape = n.dims(batch, -1, -1)                          # expand(batch, -1, -1)
    ones = n.op("ConstantOfShape", n.const([3]), value=numpy_helper.from_array(np.array([1], np.int64)))
    minus = n.op("Mul", ones, n.const(-1))
    shape = n.op("Where", n.op("Equal", shape, minus), ones, shape)
    x = n.op("Concat", n.op("Expand", n.drawn(1, 1, width, scale=0.5), shape), x, axis=1)
    x = n.op("Add", x, n.drawn(1, grid * grid + 1, width, scale=0.2))
    for b in range(depth):
        n.at("/encoder/layers/encoder_layer_%d" % b)
        y = n.op("Transpose", norm(n, x, width, 1e-6), perm=[1, 0, 2])
        t, bb = n.dim(y, 0), n.dim(y, 1)
        y = linear(n, y, width, 3 * width)
        y = n.reshape(y, t, bb, 3, width)
        y = n.op("Squeeze", n.op("Transpose", n.op("Unsqueeze", y, n.const([0])), perm=[3, 1, 2, 0, 4]), n.const([3]))
        total = n.op("Mul", bb, n.const(heads))
        q, k, v = (n.reshape(n.op("Gather", y, n.const(i), axis=0), t, total, each) for i in range(3))
        q, k, v = (n.reshape(n.op("Transpose", p, perm=[1, 0, 2]), bb, heads, t, each) for p in (q, k, v))
        root = each ** -0.25
        q, k = n.op("Mul", q, n.f(root)), n.op("Mul", n.op("Transpose", k, perm=[0, 1, 3, 2]), n.f(root))
        y = n.op("MatMul", n.op("Softmax", n.op("MatMul", q, k), axis=-1), v)
        y = n.op("Reshape", n.op("Transpose", y, perm=[2, 0, 1, 3]), n.dims(n.op("Mul", bb, t), width))
        y = n.reshape(gemm(n, y, width, width), t, bb, width)
        x = n.op("Add", n.op("Transpose", y, perm=[1, 0, 2]), x)
        y = gelu(n, linear(n, norm(n, x, width, 1e-6), width, 4 * width))
        x = n.op("Add", x, linear(n, y, 4 * width, width))
    x = n.op("Gather", norm(n.at("/encoder/ln"), x, width, 1e-6), n.const(0), axis=1)
    n.output(gemm(n.at("/heads"), x, width, classes), "output", ["batch", classes])
    return n, {}

# ---- text
def words(count, length): return lambda rng, s: rng.integers(0, count, (s["batch"], s[length]))

def bert_base(width=768, heads=12, depth=12, vocabulary=30522, positions=512):
    n = Net("bert_base", 14)
    each = width // heads
    mask_of = lambda rng, s: (np.arange(s["seq"]) < np.maximum(1, s["seq"] - 2 * np.arange(s["batch"]))[:, None]).astype(np.int64)
    ids = n.input("input_ids", ["batch", "seq"], words(vocabulary, "seq"), T.INT64)
    mask = n.input("attention_mask", ["batch", "seq"], mask_of, T.INT64)
    types = n.input("token_type_ids", ["batch", "seq"], words(2, "seq"), T.INT64)
    n.at("/embeddings")
    seq = n.dim(ids, 1)
    place = n.op("Slice", n.weight(np.arange(positions)[None]), n.const([0]), n.op("Unsqueeze", seq, n.const([0])), n.const([1]),
                 n.const([1]))
    x = n.op("Add", n.op("Gather", n.drawn(vocabulary, width, scale=0.5), ids), n.op("Gather", n.drawn(2, width, scale=0.5), types))
    x = norm(n, n.op("Add", x, n.op("Gather", n.drawn(positions, width, scale=0.5), place)), width, 1e-12, True)
    m = n.op("Unsqueeze", n.op("Unsqueeze", mask, n.const([1])), n.const([2]))
    m = n.op("Mul", n.op("Sub", n.f(1.0), n.op("Cast", m, to=T.FLOAT)), n.f(np.finfo(np.float32).min))
    for b in range(depth):
        n.at("/encoder/layer.%d" % b)
        split = lambda v: n.reshape(v, n.dim(v, 0), n.dim(v, 1), heads, each)
        q, k, v = (split(linear(n, x, width, width)) for _ in range(3))
        s = n.op("MatMul", n.op("Transpose", q, perm=[0, 2, 1, 3]), n.op("Transpose", k, perm=[0, 2, 3, 1]))
        s = n.op("Softmax", n.op("Add", n.op("Div", s, n.f(each ** 0.5)), m), axis=-1)
        y = n.op("Transpose", n.op("MatMul", s, n.op("Transpose", v, perm=[0, 2, 1, 3])), perm=[0, 2, 1, 3])
        y = n.reshape(y, n.dim(y, 0), n.dim(y, 1), width)
        x = norm(n, n.op("Add", linear(n, y, width, width), x), width, 1e-12, True)
        y = linear(n, gelu(n, linear(n, x, width, 4 * width)), 4 * width, width)
        x = norm(n, n.op("Add", y, x), width, 1e-12, True)
    n.output(x, "last_hidden_state", ["batch", "seq", width])
    n.at("/pooler")
    pooler = n.op("Tanh", gemm(n, n.op("Gather", x, n.const(0), axis=1), width, width))
    n.output(pooler, "pooler_output", ["batch", width])
    return n, {1: dict(seq=32), 3: dict(seq=17)}

def gpt2(width=768, heads=12, depth=12, vocabulary=50257, positions=1024):
    n = Net("gpt2", 17)
    each = width // heads
    ids = n.input("input_ids", ["batch", "seq"], words(vocabulary, "seq"), T.INT64)
    shape = ["batch", heads, "past", each]
    past = [[n.input("past_key_values.%d.%s" % (b, kv), shape, drawn_of(*shape)) for kv in ("key", "value")]
            for b in range(depth)]
    n.at("/transformer")
    seq, before = n.dim(ids, 1), n.dim(past[0][0], 2)
    total = n.op("Add", before, seq)
    place = n.op("Unsqueeze", n.op("Range", before, total, n.const(1)), n.const([0]))
    table = n.drawn(vocabulary, width, scale=0.3)
    x = n.op("Add", n.op("Gather", table, ids), n.op("Gather", n.drawn(positions, width, scale=0.3), place))
    tril = n.weight(np.tril(np.ones((positions, positions), bool))[None, None])
    def projected(x, cin, cout):                           # Conv1D: addmm on flat rows
        y = n.op("Gemm", n.reshape(x, -1, cin), n.drawn(cin, cout, scale=cin ** -0.5), n.drawn(cout, scale=0.1), alpha=1.0, beta=1.0)
        return n.op("Reshape", y, n.dims(n.dim(x, 0), n.dim(x, 1), cout))
    for b in range(depth):
        n.at("/transformer/h.%d" % b)
        qkv = projected(norm(n, x, width), width, 3 * width)
        q, k, v = n.op("Split", qkv, n.const([width] * 3), n=3, axis=2)
        q, k, v = (n.op("Transpose", n.reshape(p, n.dim(p, 0), n.dim(p, 1), heads, each), perm=[0, 2, 1, 3]) for p in (q, k, v))
        k, v = n.op("Concat", past[b][0], k, axis=2), n.op("Concat", past[b][1], v, axis=2)
        s = n.op("Div", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), n.f(each ** 0.5))
        keys = n.dim(k, 2)
        start = n.op("Unsqueeze", n.op("Sub", keys, n.dim(q, 2)), n.const([0]))
        end = n.op("Unsqueeze", keys, n.const([0]))
        causal = n.op("Slice", n.op("Slice", tril, start, end, n.const([2]), n.const([1])), n.const([0]), end, n.const([3]), n.const([1]))
        s = n.op("Where", causal, s, n.f(np.finfo(np.float32).min))
        y = n.op("Transpose", n.op("MatMul", n.op("Softmax", s, axis=-1), v), perm=[0, 2, 1, 3])
        y = n.reshape(y, n.dim(y, 0), n.dim(y, 1), width)
        x = n.op("Add", projected(y, width, width), x)
        y = gelu_tanh(n, projected(norm(n, x, width), width, 4 * width))
        x = n.op("Add", x, projected(y, 4 * width, width))
        for kv, t in (("key", k), ("value", v)):
            n.output(t, "present.%d.%s" % (b, kv), ["batch", heads, "total", each])
    x = norm(n.at("/transformer/ln_f"), x, width)
    n.output(n.op("MatMul", x, n.op("Transpose", table, perm=[1, 0])), "logits", ["batch", "seq", vocabulary])
    return n, {1: dict(seq=1, past=20), 3: dict(seq=5, past=9)}

# ---- sound
def attend(n, q, k, v, mask=None):
    """scaled_dot_product_attention as it is exported: the root of the scale on both sides."""
    width = n.op("Cast", n.op("Slice", n.op("Shape", q), n.const([-1]), n.const([2 ** 63 - 1])), to=T.FLOAT)
    scale = n.op("Div", n.f(1.0), n.op("Sqrt", width))
    k = n.op("Transpose", k, perm=[0, 1, 3, 2])
    s = n.op("MatMul", n.op("Mul", q, n.op("Sqrt", scale)), n.op("Mul", k, n.op("Sqrt", scale)))
    return n.op("MatMul", n.op("Softmax", n.op("Add", s, mask) if mask else s, axis=-1), v)

def split_heads(n, x, heads, each):
    return n.op("Transpose", n.reshape(x, n.dim(x, 0), -1, heads, each), perm=[0, 2, 1, 3])

def join_heads(n, x, width):
    x = n.op("Transpose", x, perm=[0, 2, 1, 3])
    return n.reshape(x, n.dim(x, 0), n.dim(x, 1), width)

def whisper_encoder(width=384, heads=6, depth=4, bands=80, frames=3000):
    n = Net("whisper_encoder", 17)
    each = width // heads
    x = n.input("input_features", ["batch", bands, frames], drawn_of("batch", bands, frames))
    for k, (cin, stride) in enumerate(((bands, 1), (width, 2))):
        n.at("/conv%d" % (k + 1))
        x = gelu(n, n.op("Conv", x, n.drawn(width, cin, 3), n.drawn(width, scale=0.1), dilations=[1], group=1, kernel_shape=[3],
                         pads=[1, 1], strides=[stride]))
    x = n.op("Add", n.op("Transpose", x, perm=[0, 2, 1]), n.drawn(frames // 2, width, scale=0.3))
    for b in range(depth):
        n.at("/layers.%d" % b)
        y = norm(n, x, width)
        q, k, v = (split_heads(n, linear(n, y, width, width, bias), heads, each) for bias in (True, False, True))
        x = n.op("Add", x, linear(n, join_heads(n, attend(n, q, k, v), width), width, width))
        y = gelu(n, linear(n, norm(n, x, width), width, 4 * width))
        x = n.op("Add", x, linear(n, y, 4 * width, width))
    n.output(norm(n.at("/layer_norm"), x, width), "last_hidden_state", ["batch", frames // 2, width])
    return n, {}

def whisper_decoder(width=384, heads=6, depth=4, vocabulary=51865, positions=448, frames=1500):
    n = Net("whisper_decoder", 17)
    each = width // heads
    ids = n.input("input_ids", ["batch", "seq"], words(vocabulary, "seq"), T.INT64)
    heard = n.input("encoder_hidden_states", ["batch", frames, width], drawn_of("batch", frames, width))
    shape = ["batch", heads, "past", each]
    past = [[n.input("past_key_values.%d.decoder.%s" % (b, kv), shape, drawn_of(*shape)) for kv in ("key", "value")]
            for b in range(depth)]
    n.at("/decoder")
    seq, before = n.dim(ids, 1), n.dim(past[0][0], 2)
    total = n.op("Add", before, seq)
    one = lambda v: n.op("Unsqueeze", v, n.const([0]))
    table = n.drawn(vocabulary, width, scale=0.3)
    place = n.op("Slice", n.drawn(positions, width, scale=0.3), one(before), one(total), n.const([0]))
    x = n.op("Add", n.op("Gather", table, ids), place)
    # keys after a query's own place are far below: triu of a full matrix, by comparing Ranges
    column = n.op("Range", n.const(0), total, n.const(1))
    row = n.op("Reshape", n.op("Range", before, total, n.const(1)), n.const([-1, 1]))
    far = n.op("Expand", n.f(np.finfo(np.float32).min), n.op("Concat", one(seq), one(total), axis=0))
    mask = n.op("Mul", far, n.op("Cast", n.op("Greater", column, row), to=T.FLOAT))
    mask = n.op("Unsqueeze", n.op("Unsqueeze", mask, n.const([0])), n.const([1]))
    for b in range(depth):
        n.at("/decoder/layers.%d" % b)
        y = norm(n, x, width)
        q, k, v = (split_heads(n, linear(n, y, width, width, bias), heads, each) for bias in (True, False, True))
        k, v = n.op("Concat", past[b][0], k, axis=2), n.op("Concat", past[b][1], v, axis=2)
        x = n.op("Add", x, linear(n, join_heads(n, attend(n, q, k, v, mask), width), width, width))
        for kv, t in (("key", k), ("value", v)):
            n.output(t, "present.%d.decoder.%s" % (b, kv), ["batch", heads, "total", each])
        q = split_heads(n, linear(n, norm(n, x, width), width, width), heads, each)
        k, v = (split_heads(n, linear(n, heard, width, width, bias), heads, each) for bias in (False, True))
        x = n.op("Add", x, linear(n, join_heads(n, attend(n, q, k, v), width), width, width))
        y = gelu(n, linear(n, norm(n, x, width), width, 4 * width))
        x = n.op("Add", x, linear(n, y, 4 * width, width))
    x = norm(n.at("/decoder/layer_norm"), x, width)
    n.output(n.op("MatMul", x, n.op("Transpose", table, perm=[1, 0])), "logits", ["batch", "seq", vocabulary])
    return n, {1: dict(seq=1, past=20), 3: dict(seq=4, past=7)}

def resnet50_bn(**more): return resnet50(bn=True, **more)

def resnet50_u8(signed=False, **more):
    n, sizes = resnet50(**more)
    n.name = "resnet50_i8" if signed else "resnet50_u8"
    n.finish = lambda m, feeds: quantize(m, feeds, signed)
    return n, sizes

def resnet50_i8(**more): return resnet50_u8(signed=True, **more)

MODELS = dict((f.__name__, f) for f in (resnet50, resnet50_bn, mobilenetv2, efficientnet_b0, convnext_tiny, unet, vit_b16, bert_base,
                                        gpt2, whisper_encoder, whisper_decoder, resnet50_u8, resnet50_i8))
SMALL = dict(
    resnet50=dict(width=4, blocks=(2, 2), size=32, classes=10),
    resnet50_bn=dict(width=4, blocks=(2, 2), size=32, classes=10),
    mobilenetv2=dict(scale=0.25, rows=((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 1, 2)), size=32, classes=10, last=32),
    efficientnet_b0=dict(scale=0.25, rows=((1, 3, 1, 16, 1), (6, 5, 2, 24, 2)), size=32, classes=10, last=32),
    convnext_tiny=dict(widths=(8, 16), blocks=(1, 2), size=32, classes=10),
    unet=dict(widths=(4, 8, 12), size=16),
    vit_b16=dict(width=16, heads=2, depth=2, size=32, patch=8, classes=10),
    bert_base=dict(width=16, heads=2, depth=2, vocabulary=50, positions=40),
    gpt2=dict(width=16, heads=2, depth=2, vocabulary=50, positions=40),
    whisper_encoder=dict(width=16, heads=2, depth=2, bands=6, frames=24),
    whisper_decoder=dict(width=16, heads=2, depth=2, vocabulary=50, positions=40, frames=12),
    resnet50_u8=dict(width=4, blocks=(2, 2), size=32, classes=10),
    resnet50_i8=dict(width=4, blocks=(2, 2), size=32, classes=10))

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("folder", nargs="?")
    p.add_argument("names", nargs="*")
    p.add_argument("--small", action="store_true")
    p.add_argument("--depth", type=int, help="layers of the transformers")
    p.add_argument("--list", action="store_true", help="the names, on one line")
    a = p.parse_intermixed_args()
    if a.list or not a.folder:
        print(*MODELS)
        raise SystemExit
    os.makedirs(a.folder, exist_ok=True)
    for name in a.names or MODELS:
        more = dict(SMALL[name]) if a.small else {}
        if a.depth and name in ("vit_b16", "bert_base", "gpt2", "whisper_encoder", "whisper_decoder"):
            more["depth"] = a.depth
        net, sizes = MODELS[name](**more)
        net.save(a.folder, sizes)
