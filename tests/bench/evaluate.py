"""An ONNX model as a list of steps, and what its operators are in NumPy: the reference of every workload, in float64.

PyTorch and JAX get the same steps with tables of their own (framework_ops.py), so that every framework runs the same graph by
the operators that it offers for it."""
import numpy as np
from onnx import helper as h, numpy_helper

class Steps:
    """steps: (kind, inputs, outputs, attributes); known: every constant by name; feeds, outs: names."""
    def __init__(self, steps, known, feeds, outs): self.steps, self.known, self.feeds, self.outs = steps, known, feeds, outs

def read(model):
    known, steps = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}, []
    for n in model.graph.node:
        attrs = {a.name: h.get_attribute_value(a) for a in n.attribute}
        attrs = {k: v.decode() if isinstance(v, bytes) else v for k, v in attrs.items()}
        if n.op_type == "Constant":
            known[n.output[0]] = numpy_helper.to_array(attrs["value"])
        else:
            steps.append((n.op_type, list(n.input), list(n.output), attrs))
    return Steps(steps, known, [i.name for i in model.graph.input if i.name not in known], [o.name for o in model.graph.output])

def last_uses(s):
    """What each step is the last to read: a large model's values are let go as it runs."""
    last = {}
    for k, (_, ins, _, _) in enumerate(s.steps):
        last.update((name, k) for name in ins)
    return [[n for n in ins if last[n] == k and n not in s.outs] for k, (_, ins, _, _) in enumerate(s.steps)]

def run(s, feeds, ops=None, known=None):
    """The outputs.  With NumPy's table the dtype is that of the inputs: float constants are widened to it."""
    ops = ops or NUMPY
    if known is None:
        wide = any(np.asarray(v).dtype == np.float64 for v in feeds.values())
        known = {k: v.astype(np.float64) if wide and v.dtype == np.float32 else v for k, v in s.known.items()}
    values = dict(known, **feeds)
    for (kind, ins, outs, attrs), done in zip(s.steps, last_uses(s)):
        got = ops[kind](*[values[i] if i else None for i in ins], **attrs)
        for name, v in zip(outs, got if isinstance(got, (list, tuple)) else [got]):
            values[name] = v
        for name in set(done):
            del values[name]
    return [values[o] for o in s.outs]

def ints(v): return [int(k) for k in np.asarray(v).ravel()]

def padding(attrs, rank):
    """strides, pads, dilations with their defaults, for `rank` spatial axes."""
    return (attrs.get("strides") or [1] * rank, attrs.get("pads") or [0] * 2 * rank, attrs.get("dilations") or [1] * rank)

# ---- NumPy
def windows(x, k, strides, pads, fill=0):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill) if any(pads) else x
    return np.lib.stride_tricks.sliding_window_view(x, k, (2, 3))[:, :, ::strides[0], ::strides[1]]

def np_conv(x, w, b=None, group=1, **attrs):
    strides, pads, _ = padding(attrs, 2)
    v = windows(x, w.shape[2:], strides, pads)
    n, c, high, wide = v.shape[:4]
    v = v.reshape(n, group, c // group, high, wide, *w.shape[2:]).transpose(0, 1, 2, 5, 6, 3, 4)
    cols = np.ascontiguousarray(v).reshape(n, group, -1, high * wide)
    y = (w.reshape(group, w.shape[0] // group, -1) @ cols).reshape(n, w.shape[0], high, wide)
    return y if b is None else y + b[:, None, None]

def np_max_pool(x, kernel_shape, **attrs):
    strides, pads, _ = padding(attrs, 2)
    return windows(x, tuple(kernel_shape), strides, pads, -np.inf).max((4, 5))

def np_softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    e /= e.sum(axis, keepdims=True)
    return e

def np_log_softmax(x, axis=-1):
    d = x - x.max(axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis, keepdims=True))

def np_layer_norm(x, g, b, axis=-1, epsilon=1e-5):
    d = x - x.mean(-1, keepdims=True)
    y = d * (1 / np.sqrt(np.mean(d * d, -1, keepdims=True) + x.dtype.type(epsilon)))
    y *= g
    y += b
    return y

def np_gelu(x, approximate="none"):
    t = x.dtype.type
    if approximate == "tanh":
        u = x * x
        u *= t(0.044715)
        u += t(1)
        u *= x
        u *= t((2 / np.pi) ** 0.5)
        np.tanh(u, out=u)
    else:
        from scipy.special import erf
        u = erf(x * t(0.5 ** 0.5))
    u += t(1)
    u *= x
    u *= t(0.5)
    return u

def np_gemm(a, b, c=None, transA=0, transB=0, alpha=1.0, beta=1.0):
    y = (a.T if transA else a) @ (b.T if transB else b)
    return y if c is None else y + c

def np_split(x, sizes, axis=0): return np.split(x, np.cumsum(ints(sizes))[:-1], axis)
def axes_of(a): return tuple(ints(a)) if a is not None else None
def np_clip(x, lo, hi): return np.minimum(np.maximum(x, lo), hi)
def np_cast(x, to): return x.astype(h.tensor_dtype_to_np_dtype(to))

NUMPY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Tanh": np.tanh, "Exp": np.exp, "Sqrt": np.sqrt,
    "Relu": lambda x: np.maximum(x, 0), "Clip": np_clip, "Equal": np.equal, "Greater": np.greater, "MatMul": np.matmul,
    "Identity": lambda x: x, "Gelu": np_gelu, "Softmax": np_softmax, "LogSoftmax": np_log_softmax, "Cast": np_cast,
    "LayerNormalization": np_layer_norm, "Gemm": np_gemm, "Conv": np_conv, "MaxPool": np_max_pool,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True), "Flatten": lambda x, axis=1: x.reshape(x.shape[0], -1),
    "Reshape": lambda x, shape: x.reshape(ints(shape)), "Split": np_split,
    "Transpose": lambda x, perm: x.transpose(perm),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, axes_of(axes)),
    "Concat": lambda *x, axis: np.concatenate(x, axis), "Gather": lambda x, i, axis=0: np.take(x, i, axis),
    "ReduceSum": lambda x, axes=None, keepdims=1: x.sum(axes_of(axes), keepdims=bool(keepdims)),
    "ReduceMax": lambda x, axes=None, keepdims=1: x.max(axes_of(axes), keepdims=bool(keepdims)),
}
