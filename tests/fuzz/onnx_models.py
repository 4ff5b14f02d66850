#!/usr/bin/env python3
"""Random ONNX models against ONNX Runtime, in the way of NNSmith (Liu et al., "NNSmith: Generating Diverse and Valid Test
Cases for Deep Learning Compilers", ASPLOS 2023): operators are added one by one to what is there already where their
constraints on dtypes and shapes hold, so a model is valid by construction; inputs are searched for with which no NaN and no
infinity comes up, because behind one everything looks right.

    onnx_models.py --bin build/bin [--seed 1] [--seconds 60] [--count N] [--found FOLDER]      (onnx, onnxruntime and numpy)

A model is interpreted as a graph, and fused, compiled and run.  A value is exact or near, as in graphs.py; how near depends on
how much ONNX Runtime's own values move when its inputs do by the 20th bit.

To add an operator: a method of Model that picks values for it and adds the node; its name into KINDS."""
import random

import cases

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
DTYPES = ["float32"] * 6 + ["float64", "int64", "int64", "int32", "bool"]
INTS = ("int64", "int32", "int8", "uint8")
FLOATS = ("float32", "float64")
MOST = 2000                      # elements of a value
LARGE = 1e4                      # no element is larger


class Value:
    def __init__(self, name, dtype, shape, exact):
        self.name, self.dtype, self.shape, self.exact = name, dtype, list(shape), exact


def count(shape):
    return int(np.prod(shape, dtype=np.int64))


class Model:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.opset = self.r.choice([17, 18, 20, 21])
        self.nodes, self.held, self.inputs, self.values = [], [], [], []
        self.shape = [self.r.choice([1, 2, 3, 4, 5, 8]) for _ in range(self.r.choice([1, 2, 2, 3, 4]))]
        for _ in range(self.r.randint(1, 3)):
            self.input()
        while len(self.nodes) < self.r.randint(3, 14):
            getattr(self, self.r.choice(KINDS))()

    # ---- parts

    def input(self):
        r = self.r
        shape = self.shape if r.random() < 0.6 else [r.choice([1, 2, 3, 4, 6, 7]) for _ in range(r.choice([1, 2, 3, 4, 4]))]
        self.inputs.append(Value(f"x{len(self.inputs)}", r.choice(DTYPES), shape, True))
        self.values.append(self.inputs[-1])

    def const(self, array):
        array = np.asarray(array)
        self.held.append(numpy_helper.from_array(array, f"c{len(self.held)}"))
        v = Value(self.held[-1].name, str(array.dtype), array.shape, True)
        self.values += [v] if array.ndim and self.r.random() < 0.1 and array.dtype in (np.float32, np.float64) else []
        return v

    def ints(self, *v):
        return self.const(np.array(v, np.int64))

    def weights(self, dtype, *shape):
        return self.const(self.rng.uniform(-1, 1, shape).astype(dtype))

    def add(self, op, sources, outs, **attrs):
        """outs: (dtype, shape, exact) of each output."""
        made = [Value(f"v{len(self.nodes)}_{k}", *o) for k, o in enumerate(outs)]
        if any(count(v.shape) > MOST for v in made):
            return []
        self.nodes.append(helper.make_node(op, [s.name if s else "" for s in sources], [v.name for v in made], **attrs))
        self.values += made
        return made

    def pick(self, want=lambda v: True):
        found = [v for v in self.values if want(v)]
        return self.r.choice(found[-6:] if self.r.random() < 0.6 else found) if found else None

    def real(self, rank=0, want=lambda v: True):
        return self.pick(lambda v: v.dtype in FLOATS and len(v.shape) >= rank and want(v))

    def axis(self, v):
        """An axis, from the front or the back."""
        a = self.r.randrange(len(v.shape))
        return a, a - self.r.choice([0, len(v.shape)])

    def beside(self, v):
        """Another value that broadcasts with it, or a constant that does."""
        def fits(w):
            return w.dtype == v.dtype and all(a == b or 1 in (a, b) for a, b in zip(w.shape[::-1], v.shape[::-1]))
        w = self.pick(fits) if self.r.random() < 0.8 else None
        if w:
            return w
        shape = [self.r.choice([1, d]) for d in v.shape[self.r.randint(0, len(v.shape)):]]
        if v.dtype in FLOATS:
            return self.weights(v.dtype, *shape)
        return self.const(self.rng.integers(0, 2 if v.dtype == "bool" else 6, shape).astype(v.dtype))

    def broadcast(self, *values):
        return list(np.broadcast_shapes(*[tuple(v.shape) for v in values]))

    # ---- element by element

    def unary(self):
        v = self.real()
        if not v:
            return
        plain = ["Abs", "Neg", "Exp", "Log", "Sqrt", "Sigmoid", "Tanh", "Relu", "Reciprocal", "Erf"]
        single = ["Softplus", "Softsign", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Asin", "Acos", "Tan",
                  "HardSwish", "Selu", "Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu"]
        op = self.r.choice(plain + (single if v.dtype == "float32" else []))
        if op == "ThresholdedRelu" and not v.exact:
            return
        attrs = {"alpha": round(self.r.uniform(0.1, 1.5), 2)} if op in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu") and \
            self.r.random() < 0.7 else {}
        self.add(op, [v], [(v.dtype, v.shape, v.exact and op in ("Abs", "Neg", "Relu"))], **attrs)

    def newer(self):
        v = self.real(want=lambda v: v.dtype == "float32")
        if v and self.opset >= 20:
            op, attrs = self.r.choice([("Gelu", {}), ("Gelu", {"approximate": "tanh"}), ("Mish", {})])
            self.add(op, [v], [(v.dtype, v.shape, False)], **attrs)

    def step(self):
        """What jumps: of exact values."""
        v = self.pick(lambda v: v.exact and v.dtype in FLOATS)
        if v:
            op = self.r.choice(["Floor", "Ceil", "Round", "Sign", "IsNaN"])
            self.add(op, [v], [("bool" if op == "IsNaN" else v.dtype, v.shape, True)])

    def binary(self):
        v = self.pick()
        if not v:
            return
        w = self.beside(v)
        a, b = (v, w) if self.r.random() < 0.5 else (w, v)
        if v.dtype == "bool":
            op = self.r.choice(["And", "Or", "Xor"])
        elif v.dtype in INTS:
            op = self.r.choice(["Add", "Sub", "Mul", "Max", "Min", "Mod"])
            if op == "Mod":                 # by something that is not 0
                a, b = v, self.const(np.array(self.r.choice([1, 2, 3, 7, -3]), v.dtype))
        else:
            op = self.r.choice(["Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Mean", "Sum"])
        if op == "PRelu":
            a, b = v, self.weights(v.dtype, *[self.r.choice([1, d]) for d in v.shape])
        exact = v.dtype not in FLOATS or op in ("Max", "Min") and a.exact and b.exact
        self.add(op, [a, b], [(v.dtype, self.broadcast(a, b), exact)])

    def compare(self):
        v = self.pick(lambda v: v.exact and v.dtype != "bool")
        w = v and self.beside(v)
        if w and w.exact:
            op = self.r.choice(["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"])
            self.add(op, [v, w], [("bool", self.broadcast(v, w), True)])

    def where(self):
        v = self.pick()
        w = v and self.beside(v)
        c = w and self.pick(lambda c: c.dtype == "bool" and all(
            a == b or 1 in (a, b) for a, b in zip(c.shape[::-1], self.broadcast(v, w)[::-1])))
        if c and v.dtype != "bool":
            self.add("Where", [c, v, w], [(v.dtype, self.broadcast(c, v, w), v.exact and w.exact)])

    def invert(self):
        v = self.pick(lambda v: v.dtype == "bool")
        if v:
            self.add("Not", [v], [(v.dtype, v.shape, True)])

    def clip(self):
        v = self.pick(lambda v: v.dtype in FLOATS + ("int64", "int32"))
        if v:
            ends = [self.const(np.array(e, v.dtype)) if self.r.random() < 0.8 else None for e in (-0.5 if v.dtype in FLOATS else -2, 1)]
            self.add("Clip", [v, *ends], [(v.dtype, v.shape, v.exact)])

    def cast(self):
        v = self.pick()
        to = self.r.choice(["float32", "float64", "int64", "int32", "int8", "uint8", "bool"])
        if v and to != v.dtype and (to in FLOATS or v.exact) and (v.dtype not in FLOATS or to not in ("int8", "uint8")):
            self.add("Cast", [v], [(to, v.shape, v.exact)], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))

    # ---- moved

    def reshape(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        s, i = list(v.shape), self.r.randrange(len(v.shape))
        if self.r.random() < 0.5 and i + 1 < len(s):
            s[i:i + 2] = [s[i] * s[i + 1]]
        elif s[i] % 2 == 0:
            s[i:i + 1] = [2, s[i] // 2]
        else:
            s.insert(i, 1)
        to = list(s)
        if self.r.random() < 0.4:
            to[self.r.randrange(len(s))] = -1
        self.add("Reshape", [v, self.ints(*to)], [(v.dtype, s, v.exact)])

    def flatten(self):
        v = self.pick(lambda v: v.shape)
        if v:
            a, given = self.axis(v)
            self.add("Flatten", [v], [(v.dtype, [count(v.shape[:a]), count(v.shape[a:])], v.exact)], axis=given)

    def transpose(self):
        v = self.pick(lambda v: len(v.shape) > 1)
        if v:
            p = self.r.sample(range(len(v.shape)), len(v.shape))
            self.add("Transpose", [v], [(v.dtype, [v.shape[i] for i in p], v.exact)], perm=p)

    def squeeze(self):
        v = self.pick(lambda v: 1 in v.shape)
        if v:
            a = self.r.choice([i for i, d in enumerate(v.shape) if d == 1])
            self.add("Squeeze", [v, self.ints(a - self.r.choice([0, len(v.shape)]))],
                     [(v.dtype, v.shape[:a] + v.shape[a + 1:], v.exact)])

    def unsqueeze(self):
        v = self.pick(lambda v: len(v.shape) < 5)
        if v:
            a = self.r.randint(0, len(v.shape))
            self.add("Unsqueeze", [v, self.ints(a - self.r.choice([0, len(v.shape) + 1]))],
                     [(v.dtype, v.shape[:a] + [1] + v.shape[a:], v.exact)])

    def concat(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        a, given = self.axis(v)
        w = self.pick(lambda w: w.dtype == v.dtype and len(w.shape) == len(v.shape) and
                      w.shape[:a] + w.shape[a + 1:] == v.shape[:a] + v.shape[a + 1:])
        self.add("Concat", [v, w], [(v.dtype, v.shape[:a] + [v.shape[a] + w.shape[a]] + v.shape[a + 1:], v.exact and w.exact)],
                 axis=given)

    def split(self):
        v = self.pick(lambda v: v.shape and max(v.shape) > 1)
        if not v:
            return
        a = self.r.choice([i for i, d in enumerate(v.shape) if d > 1])
        first = self.r.randint(1, v.shape[a] - 1)
        parts = [first, v.shape[a] - first]
        self.add("Split", [v, self.ints(*parts)], [(v.dtype, v.shape[:a] + [n] + v.shape[a + 1:], v.exact) for n in parts], axis=a)

    def slice(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        a, given = self.axis(v)
        d = v.shape[a]
        step = self.r.choice([1, 1, 2, 3, -1, -2])
        start, stop = self.r.choice([(0, d), (self.r.randrange(d), 99), (-d, -1), (1, d)]) if step > 0 else \
            self.r.choice([(d - 1, -99), (-1, 0), (99, -d - 1)])
        n = len(range(d)[start:stop:step])
        if n:
            self.add("Slice", [v, self.ints(start), self.ints(stop), self.ints(given), self.ints(step)],
                     [(v.dtype, v.shape[:a] + [n] + v.shape[a + 1:], v.exact)])

    def pad(self):
        v = self.pick(lambda v: v.shape and v.dtype in FLOATS + ("int64", "int32"))
        if not v:
            return
        mode = self.r.choice(["constant", "constant", "edge", "reflect"])
        most = [min(d - 1, 2) if mode == "reflect" else 2 for d in v.shape]
        by = [self.r.randint(0, m) for m in most + most]
        fill = [self.const(np.array(self.r.choice([0, 2, -1]), v.dtype))] if mode == "constant" and self.r.random() < 0.6 else []
        n = len(v.shape)
        self.add("Pad", [v, self.ints(*by), *fill], [(v.dtype, [by[i] + d + by[n + i] for i, d in enumerate(v.shape)], v.exact)],
                 mode=mode)

    def expand(self):
        v = self.pick()
        to = [self.r.choice([2, 3, 1])] * self.r.randint(0, 1) + [self.r.choice([1, 3, 4]) if d == 1 else self.r.choice([1, d]) for d in v.shape]
        if to:
            self.add("Expand", [v, self.ints(*to)], [(v.dtype, np.broadcast_shapes(tuple(v.shape), tuple(to)), v.exact)])

    def tile(self):
        v = self.pick(lambda v: v.shape)
        if v:
            by = [self.r.choice([1, 1, 2, 3]) for _ in v.shape]
            self.add("Tile", [v, self.ints(*by)], [(v.dtype, [a * b for a, b in zip(v.shape, by)], v.exact)])

    def gather(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        a, given = self.axis(v)
        at = self.rng.integers(-v.shape[a], v.shape[a], [self.r.choice([1, 2, 3]) for _ in range(self.r.randint(0, 2))])
        self.add("Gather", [v, self.const(at)], [(v.dtype, v.shape[:a] + list(at.shape) + v.shape[a + 1:], v.exact)], axis=given)

    def gather_elements(self):
        v = self.pick(lambda v: v.shape and v.dtype != "bool")
        if v:
            a, given = self.axis(v)
            shape = [self.r.randint(1, d) for d in v.shape]
            at = self.const(self.rng.integers(-v.shape[a], v.shape[a], shape))
            self.add("GatherElements", [v, at], [(v.dtype, shape, v.exact)], axis=given)

    def gather_nd(self):
        v = self.pick(lambda v: v.shape and v.dtype != "bool")
        if v:
            k, n = self.r.randint(1, len(v.shape)), self.r.randint(1, 3)
            at = np.stack([self.rng.integers(-d, d, n) for d in v.shape[:k]], axis=-1)
            self.add("GatherND", [v, self.const(at)], [(v.dtype, [n] + v.shape[k:], v.exact)])

    def scatter(self):
        """At places that differ, or sums."""
        v = self.pick(lambda v: v.shape and v.dtype in FLOATS)
        if not v:
            return
        n, how = self.r.randint(1, v.shape[0]), self.r.choice(["none", "add", "max", "min"])
        at = self.rng.permutation(v.shape[0])[:n].reshape(n, 1)
        shape = [n] + v.shape[1:]
        new = self.pick(lambda w: w.dtype == v.dtype and w.shape == shape) or self.weights(v.dtype, *shape)
        exact = v.exact and new.exact and how != "add"
        if how in ("none", "add") or self.opset >= 18:
            self.add("ScatterND", [v, self.const(at), new], [(v.dtype, v.shape, exact)], reduction=how)

    def depth(self):
        v = self.real(want=lambda v: len(v.shape) == 4)
        if v and v.shape[1] % 4 == 0:
            self.add("DepthToSpace", [v], [(v.dtype, [v.shape[0], v.shape[1] // 4, v.shape[2] * 2, v.shape[3] * 2], v.exact)], blocksize=2,
                     mode=self.r.choice(["DCR", "CRD"]))
        elif v and v.shape[2] % 2 == v.shape[3] % 2 == 0:
            self.add("SpaceToDepth", [v], [(v.dtype, [v.shape[0], v.shape[1] * 4, v.shape[2] // 2, v.shape[3] // 2], v.exact)], blocksize=2)

    def triangle(self):
        v = self.pick(lambda v: len(v.shape) > 1 and v.dtype in FLOATS + ("int64",))
        if v:
            self.add("Trilu", [v, self.const(np.array(self.r.randint(-2, 2), np.int64))], [(v.dtype, v.shape, v.exact)], upper=self.r.randint(0, 1))

    def one_hot(self):
        v = self.pick(lambda v: v.dtype == "int64" and len(v.shape) < 4)
        if v:
            self.add("OneHot", [v, self.const(np.array(5, np.int64)), self.const(np.array([-1, 2], np.float32))],
                     [("float32", v.shape + [5], True)])

    def shape_of(self):
        v = self.pick(lambda v: v.shape)
        if v:
            self.add("Shape", [v], [("int64", [len(v.shape)], True)])

    def resize(self):
        v = self.real(want=lambda v: len(v.shape) == 4 and v.dtype == "float32")
        if v:
            by = [self.r.choice([1, 2, 3]) for _ in range(2)]
            mode = self.r.choice(["nearest", "linear"])
            scales = self.const(np.array([1, 1, *by], np.float32))
            self.add("Resize", [v, None, scales], [(v.dtype, v.shape[:2] + [d * b for d, b in zip(v.shape[2:], by)], v.exact and mode == "nearest")],
                     mode=mode, coordinate_transformation_mode=self.r.choice(["asymmetric", "half_pixel"]))

    # ---- folded

    def reduce(self):
        v = self.pick(lambda v: v.shape and v.dtype in FLOATS + ("int64", "int32"))
        if not v:
            return
        ops = ["ReduceSum", "ReduceMax", "ReduceMin"]
        if v.dtype in FLOATS:
            ops += ["ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"]
        op, axes = self.r.choice(ops), sorted(self.r.sample(range(len(v.shape)), self.r.randint(1, len(v.shape))))
        keep = self.r.randint(0, 1)
        shape = [1 if i in axes else d for i, d in enumerate(v.shape) if keep or i not in axes]
        given = [a - self.r.choice([0, len(v.shape)]) for a in axes]
        exact = v.exact and (v.dtype not in FLOATS or op in ("ReduceMax", "ReduceMin"))
        if op == "ReduceSum" or self.opset >= 18:
            self.add(op, [v, self.ints(*given)], [(v.dtype, shape, exact)], keepdims=keep)
        else:
            self.add(op, [v], [(v.dtype, shape, exact)], keepdims=keep, axes=given)

    def arg(self):
        v = self.pick(lambda v: v.shape and v.exact and v.dtype in ("float32", "float64", "int32"))
        if v:
            a, given = self.axis(v)
            self.add(self.r.choice(["ArgMax", "ArgMin"]), [v], [("int64", v.shape[:a] + [1] + v.shape[a + 1:], True)], axis=given,
                     select_last_index=self.r.randint(0, 1))

    def top(self):
        v = self.pick(lambda v: v.shape and v.exact and v.dtype in ("float32", "float64", "int64"))
        if v:
            a, given = self.axis(v)
            k = self.r.randint(1, v.shape[a])
            shape = v.shape[:a] + [k] + v.shape[a + 1:]
            self.add("TopK", [v, self.ints(k)], [(v.dtype, shape, True), ("int64", shape, True)], axis=given, largest=self.r.randint(0, 1))

    def running(self):
        v = self.pick(lambda v: v.shape and v.dtype in ("float32", "float64", "int64", "int32"))
        if v:
            _, given = self.axis(v)
            self.add("CumSum", [v, self.const(np.array(given, np.int64))], [(v.dtype, v.shape, v.dtype not in FLOATS)],
                     exclusive=self.r.randint(0, 1), reverse=self.r.randint(0, 1))

    def normalized(self):
        v = self.real(1)
        if v:
            _, given = self.axis(v)
            self.add(self.r.choice(["Softmax", "LogSoftmax", "LpNormalization"]), [v], [(v.dtype, v.shape, False)], axis=given)

    def layer_norm(self):
        v = self.real(1)
        if v:
            a, given = self.axis(v)
            w = [self.weights(v.dtype, *v.shape[a:]) for _ in range(self.r.choice([1, 2]))]
            self.add("LayerNormalization", [v, *w], [(v.dtype, v.shape, False)], axis=given, epsilon=0.01)

    def channel_norm(self):
        v = self.real(3, lambda v: v.dtype == "float32")
        if not v:
            return
        w = [self.weights(v.dtype, v.shape[1]) for _ in range(3)]
        if self.r.random() < 0.5:
            self.add("InstanceNormalization", [v, *w[:2]], [(v.dtype, v.shape, False)], epsilon=0.01)
        else:
            var = self.const(self.rng.uniform(0.5, 2, v.shape[1]).astype(v.dtype))
            self.add("BatchNormalization", [v, *w, var], [(v.dtype, v.shape, False)])

    # ---- contracted

    def matmul(self):
        v = self.real(1)
        if not v:
            return
        w = self.pick(lambda w: w.dtype == v.dtype and len(w.shape) == 2 and w.shape[0] == v.shape[-1])
        w = w or self.weights(v.dtype, v.shape[-1], self.r.choice([1, 2, 5, 16]))
        self.add("MatMul", [v, w], [(v.dtype, v.shape[:-1] + [w.shape[1]], False)])

    def batched(self):
        v = self.real(2)
        w = v and self.pick(lambda w: w.dtype == v.dtype and len(w.shape) >= 2 and w.shape[-2] == v.shape[-1] and
                            all(a == b or 1 in (a, b) for a, b in zip(w.shape[-3::-1], v.shape[-3::-1])))
        if w:
            front = np.broadcast_shapes(tuple(v.shape[:-2]), tuple(w.shape[:-2]))
            self.add("MatMul", [v, w], [(v.dtype, list(front) + [v.shape[-2], w.shape[-1]], False)])

    def gemm(self):
        v = self.real(want=lambda v: len(v.shape) == 2)
        if v:
            ta, tb, n = self.r.randint(0, 1), self.r.randint(0, 1), self.r.choice([1, 3, 8])
            m, k = v.shape[::-1] if ta else v.shape
            w = self.weights(v.dtype, *((n, k) if tb else (k, n)))
            c = [self.weights(v.dtype, *self.r.choice([(n,), (m, n), (1, n), (m, 1)]))] if self.r.random() < 0.7 else []
            self.add("Gemm", [v, w, *c], [(v.dtype, [m, n], False)], transA=ta, transB=tb, alpha=0.5, beta=1.5)

    def einsum(self):
        v = self.real(want=lambda v: len(v.shape) == 2)
        w = v and self.pick(lambda w: w.dtype == v.dtype and w.shape == v.shape)
        if w:
            text, shape = self.r.choice([("ij,kj->ik", [v.shape[0], v.shape[0]]), ("ij,ij->j", [v.shape[1]]), ("ij,ik->jk", [v.shape[1]] * 2)])
            self.add("Einsum", [v, w], [(v.dtype, shape, False)], equation=text)

    def window(self):
        """Convolutions and pools over the last one or two axes."""
        r, v = self.r, self.real(want=lambda v: len(v.shape) in (3, 4) and v.dtype == "float32")
        if not v:
            return
        space = v.shape[2:]
        kernel, strides, dil = ([r.choice(c) for _ in space] for c in ([1, 2, 3], [1, 1, 2], [1, 1, 2]))
        pads = [r.randint(0, (k - 1) // 2) for k in kernel] * 2
        kind = r.choice(["Conv", "Conv", "MaxPool", "AveragePool", "ConvTranspose", "Global"])
        if kind == "Global":
            op = r.choice(["GlobalAveragePool", "GlobalMaxPool"])
            self.add(op, [v], [(v.dtype, v.shape[:2] + [1] * len(space), v.exact and op == "GlobalMaxPool")])
            return
        if kind == "AveragePool":
            dil = [1] * len(space)
        reach = [d * (k - 1) + 1 for d, k in zip(dil, kernel)]
        over = [(n + 2 * p - e) // s + 1 for n, p, e, s in zip(space, pads, reach, strides)]
        if any(n + 2 * p < e for n, p, e in zip(space, pads, reach)):
            return
        attrs = dict(kernel_shape=kernel, strides=strides, pads=pads)
        if kind == "MaxPool":
            self.add(kind, [v], [(v.dtype, v.shape[:2] + over, v.exact)], dilations=dil, **attrs)
        elif kind == "AveragePool":
            self.add(kind, [v], [(v.dtype, v.shape[:2] + over, False)], count_include_pad=r.randint(0, 1), **attrs)
        else:
            self.convolve(kind, v, dil, over, attrs)

    def convolve(self, kind, v, dil, over, attrs):
        c, kernel = v.shape[1], attrs["kernel_shape"]
        group = self.r.choice([g for g in (1, 1, 2, c) if c % g == 0])
        to = group * self.r.choice([1, 2, 3])
        if kind == "Conv":
            w, out = [to, c // group], over
        else:
            w = [c, to // group]
            out = [s * (n - 1) + d * (k - 1) + 1 - 2 * p for s, n, d, k, p in
                   zip(attrs["strides"], v.shape[2:], dil, kernel, attrs["pads"])]
        bias = [self.weights(v.dtype, to)] if self.r.random() < 0.5 else []
        if all(n > 0 for n in out):
            self.add(kind, [v, self.weights(v.dtype, *w, *kernel), *bias], [(v.dtype, [v.shape[0], to] + out, False)], group=group, dilations=dil,
                     **attrs)

    # ---- the model

    def proto(self, outputs):
        """With these outputs, and what they need."""
        needed, nodes = {v.name for v in outputs}, []
        for n in reversed(self.nodes):
            if needed & set(n.output):
                nodes.insert(0, n)
                needed |= set(n.input)
        infos = [[helper.make_tensor_value_info(v.name, helper.np_dtype_to_tensor_dtype(np.dtype(v.dtype)), v.shape) for v in vs]
                 for vs in ([v for v in self.inputs if v.name in needed], outputs)]
        graph = helper.make_graph(nodes, "g", *infos, [h for h in self.held if h.name in needed])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)


KINDS = ["unary"] * 4 + ["binary"] * 5 + ["reduce", "matmul", "window", "reshape", "transpose"] * 2 + [
    "newer", "step", "compare", "where", "invert", "clip", "cast", "flatten", "squeeze", "unsqueeze", "concat", "split", "slice",
    "pad", "expand", "tile", "gather", "gather_elements", "gather_nd", "scatter", "depth", "triangle", "one_hot", "shape_of",
    "resize", "arg", "top", "running", "normalized", "layer_norm", "channel_norm", "batched", "gemm", "einsum", "window"]


# ---- inputs

def drawn(rng, v):
    if v.dtype in FLOATS:
        low, high = [(-1, 1), (0.5, 1.5), (0.1, 0.9), (-3, 3)][rng.integers(4)]
        return rng.uniform(low, high, v.shape).astype(v.dtype)
    return rng.integers(0, 2 if v.dtype == "bool" else 6, v.shape).astype(v.dtype)


def session(proto):
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])


def fine(a):
    return a.dtype.kind != "f" or bool(np.all(np.abs(a) < LARGE))       # a NaN is not


def search(m, computed):
    """Inputs with which as many values as can be are numbers and not large: one input is drawn anew at a time.  They, and
    the values that are."""
    s = session(m.proto(computed))
    used = {i.name for i in s.get_inputs()}
    inputs = [v for v in m.inputs if v.name in used]
    best, most = None, -1
    for turn in range(20):
        given = dict(best) if best else {v.name: drawn(m.rng, v) for v in inputs}
        if best and inputs:
            v = m.r.choice(inputs)
            given[v.name] = drawn(m.rng, v)
        good = [fine(a) for a in s.run(None, given)]
        if sum(good) >= most:
            best, most, right = given, sum(good), good
        if most == len(computed):
            break
    return best, [v for v, ok in zip(computed, right) if ok]


def moved(given):
    rng = np.random.default_rng(1)
    return {k: (a * (1 + rng.uniform(-1e-6, 1e-6, a.shape))).astype(a.dtype) if a.dtype.kind == "f" else a for k, a in given.items()}


def far(v, got, want, other):
    """What differs, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if v.exact:
        wrong = ~((got == want) | (got != got) & (want != want))
    else:
        near = 1e-5 if want.dtype == np.float64 else 1e-4
        near = near * max(1, np.abs(want).max(initial=0)) + 100 * np.abs(other - want)
        wrong = ~(np.abs(got - want) <= near)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {got.size} differ, as at {list(at)}: {got[at]!r}, not {want[at]!r}"


def drawn_model(seed):
    """(the model, its outputs, its inputs, what ONNX Runtime makes of them, and of inputs close by), or None."""
    m = Model(seed)
    given, found = search(m, [v for v in m.values if v.name[0] == "v"])
    if not found:
        return None
    outputs = m.r.sample(found, min(len(found), m.r.randint(1, 3)))
    proto = m.proto(outputs)
    s = session(proto)
    given = {i.name: given[i.name] for i in s.get_inputs()}
    return proto, outputs, given, s.run(None, given), s.run(None, moved(given))


def compare(case, proto, outputs, given, want, other):
    onnx.save(proto, "m.onnx")
    for name, a in given.items():
        np.save(f"{name}.npy", a)
    operands = [f"{name}={name}.npy" for name in given]
    if not case.step("g.mp", "trace", "m.onnx") or not case.step("f.mp", "fuse", "g.mp"):
        return
    for way, how in ("interpreted", ["--interpret", "g.mp"]), ("fused and compiled", ["f.mp"]):
        if not case.values("out.npz", how[-1], operands, *how[:-1]):
            continue
        with np.load("out.npz") as got:
            for v, w, o in zip(outputs, want, other):
                what = far(v, got[v.name], w, o)
                if what:
                    case.wrong.append(f"{way}, {v.name}: {what}")


def main():
    args = cases.options()
    left = []

    def model(seed, case):
        try:
            drawn_one = drawn_model(seed)
        except Exception as e:              # ONNX Runtime has an operator not for a dtype, or wants more than constants
            left.append(str(e))
            return
        if drawn_one:
            compare(case, *drawn_one)

    cases.draw(args, "onnx", "models", model, left)


if __name__ == "__main__":
    main()
