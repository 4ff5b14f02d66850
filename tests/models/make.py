#!/usr/bin/env python3
"""Models of the usual families in the form that PyTorch's exporter writes, with seeded weights, for models.bats.

    make.py FOLDER [NAME…]      NAME.onnx, NAME_K_IN.npy inputs and NAME_K_OUT.npy, what ONNX Runtime gives, for two batches

Needs onnx, onnxruntime and NumPy. --small makes them narrow: the same graphs with few channels."""
import sys
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

SMALL = "--small" in sys.argv

class Net:
    def __init__(self, name):
        self.name, self.nodes, self.weights, self.ins, self.count = name, [], [], [], 0
        self.rng = np.random.default_rng(sum(map(ord, name)))

    def fresh(self, op):
        self.count += 1
        return f"/{self.name}/{op}_{self.count}_output_0"

    def __call__(self, op, *ins, n=1, **attrs):
        outs = [self.fresh(op) for _ in range(n)]
        self.nodes.append(h.make_node(op, [i if i else "" for i in ins], outs, name=outs[0].replace("_output_0", ""), **attrs))
        return outs[0] if n == 1 else outs

    def const(self, v, dtype=np.int64):
        return self("Constant", value=nh.from_array(np.asarray(v, dtype)))

    def weight(self, *shape, scale=None, mean=0.0):
        fan = np.prod(shape[1:]) if len(shape) > 1 else shape[0]
        scale = scale if scale is not None else (2.0 / max(1, fan)) ** 0.5
        name = f"{self.name}.w{len(self.weights)}"
        self.weights.append(nh.from_array((mean + self.rng.standard_normal(shape) * scale).astype(np.float32), name))
        return name

    def input(self, name, shape, dtype=T.FLOAT):
        self.ins.append(h.make_tensor_value_info(name, dtype, shape))
        return name

    # ---- layers
    def conv(self, x, cin, cout, k, stride=1, pad=None, groups=1, bias=True):
        pad = k // 2 if pad is None else pad
        w = self.weight(cout, cin // groups, k, k)
        b = [self.weight(cout, scale=0.1)] if bias else []
        return self("Conv", x, w, *b, kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1], group=groups)

    def bn(self, x, c):
        return self("BatchNormalization", x, self.weight(c, scale=0.1, mean=1), self.weight(c, scale=0.1),
                    self.weight(c, scale=0.1), self.positive(c), epsilon=1e-5, momentum=0.9)

    def positive(self, c):
        name = f"{self.name}.w{len(self.weights)}"
        self.weights.append(nh.from_array(self.rng.uniform(0.5, 1.5, c).astype(np.float32), name))
        return name

    def linear(self, x, cin, cout, bias=True):
        y = self("MatMul", x, self.weight(cin, cout, scale=cin ** -0.5))
        return self("Add", self.weight(cout, scale=0.1), y) if bias else y

    def layernorm(self, x, d, nine=False):
        g, b = self.weight(d, scale=0.1, mean=1), self.weight(d, scale=0.1)
        if not nine:
            return self("LayerNormalization", x, g, b, axis=-1, epsilon=1e-6)
        d_ = self("Sub", x, self("ReduceMean", x, axes=[-1]))
        v = self("ReduceMean", self("Pow", d_, self.const(2, np.float32)), axes=[-1])
        y = self("Div", d_, self("Sqrt", self("Add", v, self.const(1e-6, np.float32))))
        return self("Add", self("Mul", y, g), b)

    def gelu(self, x):
        e = self("Erf", self("Div", x, self.const(2 ** 0.5, np.float32)))
        y = self("Mul", x, self("Add", e, self.const(1, np.float32)))
        return self("Mul", y, self.const(0.5, np.float32))

    def gelu_tanh(self, x):
        c = lambda v: self.const(v, np.float32)
        y = self("Mul", self("Add", x, self("Mul", self("Pow", x, c(3)), c(0.044715))), c(0.7978845834732056))
        return self("Mul", self("Mul", x, c(0.5)), self("Add", self("Tanh", y), c(1)))

    def silu(self, x):
        return self("Mul", x, self("Sigmoid", x))

    def dim(self, x, i):
        return self("Unsqueeze", self("Gather", self("Shape", x), self.const(i), axis=0), self.const([0]))

    def reshape(self, x, *dims):
        dims = [d if isinstance(d, str) else self.const([d]) for d in dims]
        return self("Reshape", x, self("Concat", *dims, axis=0))

    def attention(self, q, kv, d, heads, mask=None, past=None):
        def split(y, x, perm):
            y = self.reshape(y, self.dim(x, 0), self.dim(x, 1), heads, d // heads)
            return self("Transpose", y, perm=perm)
        k_, v_ = self.linear(kv, d, d, bias=False), self.linear(kv, d, d)
        k, v = split(k_, kv, [0, 2, 1, 3]), split(v_, kv, [0, 2, 1, 3])
        if past:
            k, v = self("Concat", past[0], k, axis=2), self("Concat", past[1], v, axis=2)
        present = (k, v)
        s = self("MatMul", split(self.linear(q, d, d), q, [0, 2, 1, 3]), self("Transpose", k, perm=[0, 1, 3, 2]))
        s = self("Div", s, self.const((d // heads) ** 0.5, np.float32))
        if mask:
            s = self("Add", s, mask)
        y = self("Transpose", self("MatMul", self("Softmax", s, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.reshape(y, self.dim(q, 0), self.dim(q, 1), d), d, d), present

    def causal(self, x, past=None):
        """0 where it is seen and -inf elsewhere, [1, 1, s, p + s]"""
        s = self.dim(x, 1)
        t = self("Add", s, self.dim(past, 2)) if past else s
        ones = self("ConstantOfShape", self("Concat", s, t, axis=0), value=nh.from_array(np.array([-np.inf], np.float32)))
        k = self("Squeeze", self("Add", self("Sub", t, s), self.const([1])), self.const([0]))
        return self("Unsqueeze", self("Trilu", ones, k, upper=1), self.const([0, 1]))

    def save(self, folder, outs, opset=17):
        for v, name in outs:
            self.nodes.append(h.make_node("Identity", [v], [name]))
        infer = [h.make_tensor_value_info(name, T.FLOAT, None) for _, name in outs]
        g = h.make_graph(self.nodes, self.name, self.ins, infer, self.weights)
        m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)], producer_name="pytorch", ir_version=8)
        onnx.save(m, f"{folder}/{self.name}.onnx")

def width(n): return max(8, n // 8) if SMALL else n
def blocks(n): return 1 if SMALL else n
SIDE = 32 if SMALL else 224

# ---- convolutional networks
def image(n): return n.input("input", ["batch", 3, SIDE, SIDE])

def classify(n, x, c):
    x = n("Flatten", n("GlobalAveragePool", x), axis=1)
    return [(n("Gemm", x, n.weight(1000, c, scale=c ** -0.5), n.weight(1000, scale=0.1), transB=1), "output")]

def resnet50(n):
    x, c = image(n), width(64)
    x = n("Relu", n.bn(n.conv(x, 3, c, 7, 2, 3, bias=False), c))
    x = n("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, count in enumerate([3, 4, 6, 3]):
        w = width(64) << stage
        for i in range(blocks(count)):
            s, y = (2 if stage and not i else 1), x
            y = n("Relu", n.bn(n.conv(y, c, w, 1, bias=False), w))
            y = n("Relu", n.bn(n.conv(y, w, w, 3, s, bias=False), w))
            y = n.bn(n.conv(y, w, 4 * w, 1, bias=False), 4 * w)
            if not i:
                x = n.bn(n.conv(x, c, 4 * w, 1, s, 0, bias=False), 4 * w)
            x, c = n("Relu", n("Add", y, x)), 4 * w
    return classify(n, x, c)

def mobilenet_v2(n):
    clip = lambda x: n("Clip", x, n.const(0, np.float32), n.const(6, np.float32))
    x, c = clip(n.conv(image(n), 3, 32, 3, 2)), 32
    for t, o, count, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        o = width(o)
        for i in range(blocks(count)):
            y, m = x, c * t
            if t > 1:
                y = clip(n.conv(y, c, m, 1))
            y = n.conv(clip(n.conv(y, m, m, 3, s if not i else 1, groups=m)), m, o, 1)
            x, c = (n("Add", x, y) if c == o and (i or s == 1) else y), o
    x, o = clip(n.conv(x, c, width(1280), 1)), width(1280)
    return classify(n, x, o)

def efficientnet_b0(n):
    x, c = n.silu(n.conv(image(n), 3, 32, 3, 2)), 32
    for t, o, count, s, k in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:
        o = width(o)
        for i in range(blocks(count)):
            m, y, q = c * t, x, max(1, c // 4)
            if t > 1:
                y = n.silu(n.conv(y, c, m, 1))
            y = n.silu(n.conv(y, m, m, k, s if not i else 1, groups=m))
            g = n("ReduceMean", y, axes=[2, 3], keepdims=1)
            g = n("Sigmoid", n.conv(n.silu(n.conv(g, m, q, 1)), q, m, 1))
            y = n.conv(n("Mul", g, y), m, o, 1)
            x, c = (n("Add", y, x) if c == o and (i or s == 1) else y), o
    x, o = n.silu(n.conv(x, c, width(1280), 1)), width(1280)
    return classify(n, x, o)

def convnext_tiny(n):
    def norm(x, d):
        x = n.layernorm(n("Transpose", x, perm=[0, 2, 3, 1]), d)
        return n("Transpose", x, perm=[0, 3, 1, 2])
    c = width(96)
    x = norm(n.conv(image(n), 3, c, 4, 4, 0), c)
    for stage, count in enumerate([3, 3, 9, 3]):
        if stage:
            x, c = n.conv(norm(x, c), c, 2 * c, 2, 2, 0), 2 * c
        for _ in range(blocks(count)):
            y = n("Transpose", n.conv(x, c, c, 7, groups=c), perm=[0, 2, 3, 1])
            y = n.linear(n.gelu(n.linear(n.layernorm(y, c), c, 4 * c)), 4 * c, c)
            y = n("Mul", n("Transpose", y, perm=[0, 3, 1, 2]), n.weight(c, 1, 1, scale=0.1))
            x = n("Add", y, x)
    return classify(n, x, c)

def unet(n):
    def double(x, a, b): return n("Relu", n.bn(n.conv(n("Relu", n.bn(n.conv(x, a, b, 3), b)), b, b, 3), b))
    c = width(32)
    skips, x, a = [], n.input("input", ["batch", 3, SIDE, SIDE]), 3
    for i in range(3):
        x = double(x, a, c << i)
        skips.append((x, c << i))
        x, a = n("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), c << i
    x = double(x, a, 2 * a)
    a *= 2
    for i, (s, w) in enumerate(reversed(skips)):
        if i % 2:
            x = n("ConvTranspose", x, n.weight(a, w, 2, 2), n.weight(w, scale=0.1), kernel_shape=[2, 2], strides=[2, 2])
        else:
            x = n("Resize", x, "", n.const([1, 1, 2, 2], np.float32), mode="linear", coordinate_transformation_mode="half_pixel")
            x = n.conv(x, a, w, 1)
        x, a = double(n("Concat", s, x, axis=1), 2 * w, w), w
    return [(n.conv(x, a, 2, 1), "output")]

# ---- transformers
def encoder_block(n, x, d, heads, act, mask=None, nine=False, pre=True):
    if pre:
        x = n("Add", x, n.attention(*[n.layernorm(x, d, nine)] * 2, d, heads, mask)[0])
        return n("Add", x, n.linear(act(n.linear(n.layernorm(x, d, nine), d, 4 * d)), 4 * d, d))
    x = n.layernorm(n("Add", n.attention(x, x, d, heads, mask)[0], x), d, nine)
    return n.layernorm(n("Add", n.linear(act(n.linear(x, d, 4 * d)), 4 * d, d), x), d, nine)

def vit_b_16(n):
    d, heads, p = (64, 4, 8) if SMALL else (768, 12, 16)
    x = n.conv(image(n), 3, d, p, p, 0)
    x = n("Transpose", n.reshape(x, n.dim(x, 0), d, (SIDE // p) ** 2), perm=[0, 2, 1])
    cls = n("Expand", n.weight(1, 1, d), n("Concat", n.dim(x, 0), n.const([1]), n.const([d]), axis=0))
    x = n("Add", n("Concat", cls, x, axis=1), n.weight(1, (SIDE // p) ** 2 + 1, d, scale=0.02))
    for _ in range(2 if SMALL else 12):
        x = encoder_block(n, x, d, heads, n.gelu)
    x = n("Gather", n.layernorm(x, d), n.const(0), axis=1)
    return [(n("Gemm", x, n.weight(1000, d, scale=d ** -0.5), n.weight(1000, scale=0.1), transB=1), "output")]

def bert_base(n):
    d, heads, v = (64, 4, 500) if SMALL else (768, 12, 30522)
    ids = n.input("input_ids", ["batch", "sequence"], T.INT64)
    seen = n.input("attention_mask", ["batch", "sequence"], T.INT64)
    kind = n.input("token_type_ids", ["batch", "sequence"], T.INT64)
    m = n("Cast", n("Unsqueeze", n("Unsqueeze", seen, n.const([1])), n.const([2])), to=T.FLOAT)
    mask = n("Mul", n("Sub", n.const(1, np.float32), m), n.const(-3.4028234663852886e38, np.float32))
    pos = n("Unsqueeze", n("Range", n.const(0), n("Squeeze", n.dim(ids, 1), n.const([0])), n.const(1)), n.const([0]))
    x = n("Add", n("Gather", n.weight(v, d, scale=0.5), ids), n("Gather", n.weight(2, d, scale=0.5), kind))
    x = n.layernorm(n("Add", x, n("Gather", n.weight(512, d, scale=0.5), pos)), d, True)
    for _ in range(2 if SMALL else 12):
        x = encoder_block(n, x, d, heads, n.gelu, mask, True, False)
    pooled = n("Tanh", n.linear(n("Gather", x, n.const(0), axis=1), d, d))
    return [(x, "last_hidden_state"), (pooled, "pooler_output")]

def gpt2_small(n):
    d, heads, v, layers = (64, 4, 500, 2) if SMALL else (768, 12, 50257, 12)
    ids = n.input("input_ids", ["batch", "sequence"], T.INT64)
    past = [[n.input(f"past.{i}.{k}", ["batch", heads, "past", d // heads]) for k in ("key", "value")] for i in range(layers)]
    wte = n.weight(v, d, scale=0.5)
    start = n("Squeeze", n.dim(past[0][0], 2), n.const([0]))
    end = n("Add", start, n("Squeeze", n.dim(ids, 1), n.const([0])))
    pos = n("Unsqueeze", n("Range", start, end, n.const(1)), n.const([0]))
    x = n("Add", n("Gather", wte, ids), n("Gather", n.weight(1024, d, scale=0.5), pos))
    mask, outs = n.causal(x, past[0][0]), []
    for i in range(layers):
        y = n.layernorm(x, d, True)
        y, kv = n.attention(y, y, d, heads, mask, past[i])
        outs += [(kv[0], f"present.{i}.key"), (kv[1], f"present.{i}.value")]
        x = n("Add", x, y)
        x = n("Add", x, n.linear(n.gelu_tanh(n.linear(n.layernorm(x, d, True), d, 4 * d)), 4 * d, d))
    return [(n("MatMul", n.layernorm(x, d, True), n("Transpose", wte, perm=[1, 0])), "logits")] + outs

def whisper_encoder(n):
    d, heads = (64, 4) if SMALL else (384, 6)
    x = n.input("mel", ["batch", 80, 60 if SMALL else 3000])
    conv = lambda x, a, s: n.gelu(n("Conv", x, n.weight(d, a, 3), n.weight(d, scale=0.1), kernel_shape=[3], strides=[s], pads=[1, 1]))
    x = n("Transpose", conv(conv(x, 80, 1), d, 2), perm=[0, 2, 1])
    x = n("Add", x, n.weight(30 if SMALL else 1500, d, scale=0.1))
    for _ in range(2 if SMALL else 4):
        x = encoder_block(n, x, d, heads, n.gelu)
    return [(n.layernorm(x, d), "audio")]

def whisper_decoder(n):
    d, heads, v = (64, 4, 500) if SMALL else (384, 6, 51865)
    ids = n.input("tokens", ["batch", "sequence"], T.INT64)
    audio = n.input("audio", ["batch", "frames", d])
    wte = n.weight(v, d, scale=0.3)
    pos = n("Slice", n.weight(448, d, scale=0.3), n.const([0]), n.dim(ids, 1), n.const([0]))
    x = n("Add", n("Gather", wte, ids), pos)
    mask = n.causal(x)
    for _ in range(2 if SMALL else 4):
        y = n.layernorm(x, d)
        x = n("Add", x, n.attention(y, y, d, heads, mask)[0])
        x = n("Add", x, n.attention(n.layernorm(x, d), audio, d, heads)[0])
        x = n("Add", x, n.linear(n.gelu(n.linear(n.layernorm(x, d), d, 4 * d)), 4 * d, d))
    return [(n("MatMul", n.layernorm(x, d), n("Transpose", wte, perm=[1, 0])), "logits")]

MODELS = [resnet50, mobilenet_v2, efficientnet_b0, convnext_tiny, unet, vit_b_16, bert_base, gpt2_small, whisper_encoder, whisper_decoder]

# ---- inputs and what ONNX Runtime makes of them
SIZES = [dict(batch=1, sequence=6, past=1, frames=7), dict(batch=3, sequence=9, past=4, frames=11)]

def fill(rng, info, size):
    t = info.type.tensor_type
    shape = [size[d.dim_param] if d.dim_param else d.dim_value for d in t.shape.dim]
    if t.elem_type == T.FLOAT:
        return rng.standard_normal(shape).astype(np.float32)
    if info.name == "attention_mask":
        return (np.arange(shape[1])[None, :] < rng.integers(2, shape[1] + 1, (shape[0], 1))).astype(np.int64)
    return rng.integers(0, 2 if info.name == "token_type_ids" else 500, shape)

def main():
    import onnxruntime
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    folder, wanted = names[0], names[1:]
    for make in MODELS:
        if wanted and make.__name__ not in wanted:
            continue
        n = Net(make.__name__)
        n.save(folder, make(n))
        session = onnxruntime.InferenceSession(f"{folder}/{n.name}.onnx")
        rng = np.random.default_rng(7)
        for k, size in enumerate(SIZES):
            feed = {i.name: fill(rng, i, size) for i in n.ins}
            for name, a in feed.items():
                np.save(f"{folder}/{n.name}_{k}_in_{name}.npy", a)
            for o, a in zip(session.get_outputs(), session.run(None, feed)):
                np.save(f"{folder}/{n.name}_{k}_out_{o.name}.npy", a)

main()
