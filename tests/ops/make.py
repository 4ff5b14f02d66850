#!/usr/bin/env python3
"""Writes the cases of ops.bats: for each dtype one document with an output for every op it takes, its inputs and
NumPy's values.  Run it again after adding a case (numpy, msgpack and ml_dtypes are needed):

    python3 make.py          DTYPE.mp, DTYPE.in.npz.gz, DTYPE.out.npz.gz for each dtype, beside this file, and the same
                             for steps: loops, branches and sizes that data gives, with all dtypes

An output is called OP.detail.N, N being how near it must come: that many units in the last place, 0 being every bit;
zN distinguishes -0 from 0; bN is for bf16, of which .npy has the bits.  Integers are computed with Python's own,
floats in long double and rounded once.  What an order of adding may change is left out by taking exact sums."""
import gzip
import io
import sys
import warnings
import zipfile
from pathlib import Path
import ml_dtypes
import msgpack
import numpy as np

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
L = np.longdouble
BF = np.dtype(ml_dtypes.bfloat16)
TYPES = {"bool": np.dtype("?"), "i8": np.dtype("i1"), "i16": np.dtype("i2"), "i32": np.dtype("i4"), "i64": np.dtype("i8"),
         "u8": np.dtype("u1"), "u16": np.dtype("u2"), "u32": np.dtype("u4"), "u64": np.dtype("u8"),
         "f16": np.dtype("f2"), "bf16": BF, "f32": np.dtype("f4"), "f64": np.dtype("f8")}
BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
EXPONENT = {"f16": (-14, 15), "bf16": (-126, 127), "f32": (-126, 127), "f64": (-1022, 1023)}
FOLDS = {"ADD": lambda a, b: a + b, "MUL": lambda a, b: a * b, "MAX": max, "MIN": min}


def is_float(dt):
    return dt in BITS


def round_to(dt, x):
    """long doubles to dt, to nearest even, in one step"""
    x = np.asarray(x, L)
    if dt == "f64":
        return x.astype(np.float64)
    low, high = EXPONENT[dt]
    _, e = np.frexp(np.where(np.isfinite(x), x, L(1)))
    unit = np.ldexp(L(1), np.maximum(e - 1, low) - BITS[dt] + 1)
    y = np.where(np.isfinite(x) & (x != 0), np.rint(x / unit) * unit, x)
    y = np.where(np.isfinite(x) & (np.abs(y) >= np.ldexp(L(1), high + 1)), np.copysign(L(np.inf), x), y)
    return y.astype(np.float32).astype(TYPES[dt]) if dt != "f32" else y.astype(np.float32)


def wide(a):
    """the values, as long doubles or as Python integers"""
    if a.dtype == BF:
        a = a.astype(np.float32)
    return a.astype(L) if a.dtype.kind == "f" else a.astype(object)


def wrap(dt, v):
    """a Python integer into dt, keeping its low bits"""
    if dt == "bool":
        return v != 0
    t = np.iinfo(TYPES[dt])
    return (int(v) - int(t.min)) % (1 << t.bits) + int(t.min)


def ints(dt, values, shape):
    return np.array([wrap(dt, v) for v in values], TYPES[dt]).reshape(shape)


# ---- the values that are tried

def edges(dt):
    if dt == "bool":
        return np.array([False, True])
    if is_float(dt):
        low, high = EXPONENT[dt]
        tiny, least, most = 2.0 ** low, 2.0 ** (low - BITS[dt] + 1), (2 - 2.0 ** (1 - BITS[dt])) * 2.0 ** high
        v = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2, -2, .5, 3, -1.5, least, -least, tiny, most, -most, 1 / 3]
        return round_to(dt, v)
    t = np.iinfo(TYPES[dt])
    v = [0, 1, 2, 3, 5, 7, t.bits - 1, t.bits, t.bits + 1, t.max, t.max - 1, t.max // 3]
    v += [-1, -2, -3, -7, t.min, t.min + 1, t.min // 2] if t.min < 0 else [t.max // 2 + 1, t.max // 2]
    return np.array(v, TYPES[dt])


def some(dt, n, rng):
    """n values of every size"""
    if dt == "bool":
        return rng.random(n) < .5
    if is_float(dt):
        return round_to(dt, np.ldexp(rng.uniform(1, 2, n) * rng.choice([-1, 1], n), rng.integers(-8, 9, n)))
    t = np.iinfo(TYPES[dt])
    return ints(dt, [int(v) >> int(s) for v, s in zip(rng.integers(0, 2 ** 63, n), rng.integers(0, 60, n))], n)


def small(dt, shape, rng):
    """values whose sums and products are exact in any order"""
    n = int(np.prod(shape))
    if dt == "bool":
        return (rng.random(n) < .5).reshape(shape)
    v = rng.integers(-3 if is_float(dt) or dt[0] == "i" else 0, 4, n)
    return v.astype(TYPES[dt]).reshape(shape)


def pairs(dt, rng):
    e = edges(dt)
    n = 64
    return np.concatenate([np.repeat(e, len(e)), some(dt, n, rng)]), np.concatenate([np.tile(e, len(e)), some(dt, n, rng)])


def angles(dt):
    """for SIN, EXP2, LOG2, SQRT: sizes of every kind"""
    low, high = EXPONENT[dt]
    rng = np.random.default_rng(5)
    v = list(np.linspace(-30, 30, 61)) + [np.pi * k / 2 for k in (-4, -3, -2, -1, 1, 2, 3, 4, 100, 1000)]
    v += [10.0 ** k for k in range(1, 38, 3)] + [2.0 ** k + 1 / 3 for k in range(-20, 20, 3)]
    v += [low, low - 3, low - BITS[dt] + 1, low - BITS[dt] - 1, high, high + .5, high + 1, low - .5]
    v += list(1 + rng.uniform(-.01, .01, 12)) + list(rng.uniform(-1e4, 1e4, 20))
    v += [1e300, 1.7e308, 5e-324 * 7] if dt == "f64" else [6.5e4, 3.1e38, 1e-44]
    return np.concatenate([edges(dt), round_to(dt, v)])


# ---- a document

class Doc:
    def __init__(self, dt):
        self.dt, self.nodes, self.outs, self.inputs, self.expected = dt, [], [], {}, {}

    def node(self, op, src=(), arg=None, dt=None):
        self.nodes.append([op, None if dt is False else dt or self.dt, list(src), arg])
        return len(self.nodes) - 1

    def input(self, name, a, dt=None):
        self.inputs[name] = a.view(np.uint16) if a.dtype == BF else a
        return self.node("BUFFER", (), {"name": name, "shape": list(a.shape), "role": "input"}, dt)

    def out(self, name, node, value, near=0, zeros=True, dt=None):
        """an output that must be value, within near units in the last place"""
        dt = dt or self.dt
        value = np.asarray(value, TYPES[dt])
        bits = value.dtype == BF
        kind = f"b{near}" if bits else f"z{near}" if is_float(dt) and zeros and not near else str(near)
        self.outs.append((f"{name}.{kind}", node))
        self.expected[self.outs[-1][0]] = value.view(np.uint16) if bits else value

    def save(self):
        nodes = self.nodes + [["SINK", None, [n for _, n in self.outs], {"names": [k for k, _ in self.outs]}]]
        doc = {"uop": 1, "level": "graph", "nodes": nodes}
        (HERE / f"{self.dt}.mp").write_bytes(msgpack.packb(doc, use_bin_type=True))
        save_npz(HERE / f"{self.dt}.in.npz.gz", self.inputs)
        save_npz(HERE / f"{self.dt}.out.npz.gz", self.expected)


def save_npz(path, arrays):
    """.npz, compressed as one piece, with the same bytes whenever it is made"""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as z:
        for name, a in arrays.items():
            b = io.BytesIO()
            np.lib.format.write_array(b, np.ascontiguousarray(a).reshape(a.shape), allow_pickle=False)
            z.writestr(zipfile.ZipInfo(f"{name}.npy"), b.getvalue())
    path.write_bytes(gzip.compress(whole.getvalue(), 9, mtime=0))


# ---- one op

def cast(a, dt):
    src = wide(a)
    if dt == "bool":
        return src != 0
    if is_float(dt):
        v = src if src.dtype == L else np.array([L(int(v)) for v in src.ravel()], L).reshape(src.shape)
        return round_to(dt, v)
    if src.dtype != L:
        return ints(dt, src.ravel(), src.shape)
    t = np.iinfo(TYPES[dt])
    one = lambda v: 0 if np.isnan(v) else int(max(L(t.min), min(L(t.max), np.trunc(v))))
    return np.array([one(v) for v in src.ravel()], TYPES[dt]).reshape(src.shape)


def cdiv(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(dt, a, b):
    if b >= 0:
        return pow(a, b, 1 << 64)
    return 0 if a == 0 else 1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0


def shl(dt, a, b):
    return a << b if 0 <= b < np.iinfo(TYPES[dt]).bits else 0


def shr(dt, a, b):
    return a >> b if 0 <= b < np.iinfo(TYPES[dt]).bits else (-1 if a < 0 else 0)


INTEGER = {
    "ADD": lambda dt, a, b: a + b, "SUB": lambda dt, a, b: a - b, "MUL": lambda dt, a, b: a * b, "POW": power,
    "MAX": lambda dt, a, b: max(a, b), "MIN": lambda dt, a, b: min(a, b), "IDIV": lambda dt, a, b: cdiv(a, b),
    "MOD": lambda dt, a, b: a - cdiv(a, b) * b if b else 0, "FLOORDIV": lambda dt, a, b: a // b if b else 0,
    "FLOORMOD": lambda dt, a, b: a % b if b else 0, "AND": lambda dt, a, b: a & b, "OR": lambda dt, a, b: a | b,
    "XOR": lambda dt, a, b: a ^ b, "SHL": shl, "SHR": shr,
}
BOOLEAN = {"ADD": np.logical_or, "MAX": np.logical_or, "OR": np.logical_or, "MUL": np.logical_and, "MIN": np.logical_and,
           "AND": np.logical_and, "XOR": np.logical_xor}
FLOAT = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "FDIV": np.divide, "POW": np.power,
         "MAX": np.maximum, "MIN": np.minimum}
COMPARE = {"CMPLT": np.less, "CMPEQ": np.equal, "CMPNE": np.not_equal}
UNARY = {"RECIP": lambda x: L(1) / x, "SQRT": np.sqrt, "EXP2": np.exp2, "LOG2": np.log2, "SIN": np.sin, "TRUNC": np.trunc}
ULPS = {"RECIP": 1, "SQRT": 1, "FDIV": 1, "EXP2": 4, "LOG2": 4, "SIN": 4, "POW": 4}


def ulps(op, dt):
    """how near: in f16 and bf16 a rounded f32 result"""
    return min(ULPS.get(op, 0), 4 if dt in ("f32", "f64") else 1)


def elementwise(d, rng):
    dt = d.dt
    a, b = pairs(dt, rng)
    na, nb = d.input("a", a), d.input("b", b)
    table = BOOLEAN if dt == "bool" else FLOAT if is_float(dt) else INTEGER
    for op, f in table.items():
        if table is INTEGER:
            v = ints(dt, [f(dt, int(x), int(y)) for x, y in zip(a, b)], a.shape)
        elif table is FLOAT:
            v = round_to(dt, f(wide(a), wide(b)))
        else:
            v = f(a, b)
        d.out(op, d.node(op, (na, nb)), v, ulps(op, dt), op not in ("MAX", "MIN"))
    for op, f in COMPARE.items():
        d.out(op, d.node(op, (na, nb), dt="bool"), f(wide(a), wide(b)).astype(bool), dt="bool")
    c = d.input("c", np.arange(len(a)) % 3 == 1, "bool")
    d.out("WHERE", d.node("WHERE", (c, na, nb)), np.where(d.inputs["c"], a, b))
    if dt != "bool":
        v = round_to(dt, -wide(a)) if is_float(dt) else ints(dt, [-int(x) for x in a], a.shape)
        d.out("NEG", d.node("NEG", (na,)), v)
    scalars(d, na, a)
    mulacc(d, rng)


def scalars(d, na, a):
    """a CONST beside an array, and alone"""
    v = {"bool": True, "u64": 2 ** 64 - 1, "i64": -2 ** 63}.get(d.dt, 3)
    k = d.node("CONST", (), v)
    value = np.array(v, TYPES[d.dt]) if not is_float(d.dt) else round_to(d.dt, 3)
    d.out("CONST", k, value)
    if d.dt == "bool":
        d.out("CONST.and", d.node("AND", (na, k)), a)
    elif is_float(d.dt):
        d.out("CONST.mul", d.node("MUL", (na, k)), round_to(d.dt, wide(a) * 3))
        for name, x in (("nan", np.nan), ("inf", np.inf), ("zero", -0.0), ("third", 1 / 3)):
            d.out(f"CONST.{name}", d.node("CONST", (), x), round_to(d.dt, x))
    else:
        d.out("CONST.mul", d.node("MUL", (na, k)), ints(d.dt, [int(x) * v for x in a], a.shape))


def mulacc(d, rng):
    dt = d.dt
    x, y, z = (small(dt, 40, rng) for _ in range(3))
    if not is_float(dt) and dt != "bool":
        x, y, z = (some(dt, 40, rng) for _ in range(3))
    n = [d.input(k, v) for k, v in (("x", x), ("y", y), ("z", z))]
    v = wide(x) * wide(y) + wide(z)
    v = (x & y) | z if dt == "bool" else round_to(dt, v) if is_float(dt) else ints(dt, v, v.shape)
    d.out("MULACC", d.node("MULACC", n), v, zeros=False)


def unary_floats(d):
    x = angles(d.dt)
    n = d.input("angles", x)
    for op, f in UNARY.items():
        d.out(op, d.node(op, (n,)), round_to(d.dt, f(wide(x))), ulps(op, d.dt))
    at = [np.inf, -np.inf, 0.0, -0.0, 1, np.nan]      # where the value itself is fixed, zeros' signs too
    m = d.input("fixed", round_to(d.dt, at))
    for op in ("RECIP", "SQRT", "EXP2", "LOG2", "SIN"):
        if op != "SIN":
            d.out(f"{op}.fixed", d.node(op, (m,)), round_to(d.dt, UNARY[op](np.array(at, L))))
    z = d.input("zeros", round_to(d.dt, [0.0, -0.0, np.inf, -np.inf]))
    d.out("SIN.fixed", d.node("SIN", (z,)), round_to(d.dt, [0.0, -0.0, np.nan, np.nan]))


def casts(d, rng):
    dt = d.dt
    x = np.concatenate([edges(dt), some(dt, 30, rng)])
    if is_float(dt):
        v = [s * m for s in (1, -1) for m in (2.0 ** k + h for k in (7, 8, 15, 16, 31, 32, 63, 64) for h in (-1, -.5, 0, .5, 1))]
        v += [.49, .5, .99, -.99, 1e30, 65519, 65520, 65504, 2049, 2051, 1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, 1 + 2.0 ** -24]
        v += [1 + 2.0 ** -8 + 2.0 ** -40, 2.0 ** -25, 2.0 ** -24 * 1.5, 2.0 ** -133, 2.0 ** -134, 1.0000001 * 2.0 ** -25, 2.0 ** -149]
        v += [2.0 ** -150 * 1.0000001, 3.4028235677973366e38, 3.40282355e38, 3.3961775292304601e38, 1 + 2.0 ** -11 + 2.0 ** -40]
        x = np.concatenate([x, round_to(dt, v)])
    elif dt != "bool":
        v = [2 ** 24 + 1, 2 ** 24 + 3, 2 ** 25 + 2, 2 ** 53 + 1, 2 ** 53 + 3, 2 ** 62 + 2 ** 38 + 1, 2 ** 40 + 2 ** 32 + 1, 257, 259,
             2049, 2051, 65519, 65520, 2 ** 63 - 512, 2 ** 63 - 513, 2 ** 31 - 64, 2 ** 40 + 2 ** 32, 2 ** 63 + 2 ** 39 + 1]
        x = np.concatenate([x, ints(dt, v + [-w for w in v], 2 * len(v))])
    n = d.input("from", x)
    for to in TYPES:
        d.out(f"CAST.{to}", d.node("CAST", (n,), dt=to), cast(x, to), dt=to)
        if dt != "bool" and to != "bool" and TYPES[to].itemsize == x.dtype.itemsize:
            d.out(f"BITCAST.{to}", d.node("BITCAST", (n,), dt=to), x.view(TYPES[to]), dt=to)
    if dt != "bool":
        span = {"i8": 300, "u8": 300, "f16": 2100, "bf16": 300}.get(dt, 20)
        v = round_to(dt, np.arange(span)) if is_float(dt) else ints(dt, range(span), span)
        d.out("ARANGE", d.node("ARANGE", (), span), v)
        d.out("ARANGE.none", d.node("ARANGE", (), 0), v[:0])


# ---- along axes

def identity(op, dt):
    if dt == "bool":
        return op in ("MUL", "MIN")
    if op in ("ADD", "MUL"):
        return int(op == "MUL")
    if is_float(dt):
        return -np.inf if op == "MAX" else np.inf
    return int(np.iinfo(TYPES[dt]).min if op == "MAX" else np.iinfo(TYPES[dt]).max)


def fold(op, dt, values):
    """the running fold of a list"""
    out, acc = [], identity(op, dt)
    for v in values:
        if is_float(dt) and op in ("MAX", "MIN"):
            acc = FLOAT[op](L(acc), v)
        else:
            acc = FOLDS[op](acc, v)
        acc = acc if is_float(dt) else wrap(dt, acc)
        out.append(acc)
    return out


def as_type(dt, values, shape):
    return (round_to(dt, np.array(values, L)) if is_float(dt) else np.array(values, TYPES[dt])).reshape(shape)


def reduced(op, dt, x, axes):
    w = np.moveaxis(wide(x), axes, range(-len(axes), 0))
    keep = w.shape[:w.ndim - len(axes)]
    rows = w.reshape(int(np.prod(keep)), -1) if w.size else np.zeros((int(np.prod(keep)), 0), object)
    v = [(fold(op, dt, r) or [identity(op, dt)])[-1] for r in rows]
    return as_type(dt, v, [1 if k in axes else s for k, s in enumerate(x.shape)])


def scanned(op, dt, x, axis):
    w = np.moveaxis(wide(x), axis, -1)
    v = [fold(op, dt, r) for r in w.reshape(-1, w.shape[-1])] if w.size else []
    return np.moveaxis(as_type(dt, v, w.shape), -1, axis)


def argsort(x, axis, descending):
    w = np.moveaxis(wide(x), axis, -1)
    key = lambda r, i: (np.isnan(r[i]), 0 if np.isnan(r[i]) else r[i]) if w.dtype == L else (False, r[i])
    rows = [sorted(range(len(r)), key=lambda i: key(r, i), reverse=False) for r in w.reshape(-1, w.shape[-1])]
    if descending:      # sorted(reverse=True) keeps the order of equals
        rows = [sorted(range(len(r)), key=lambda i: key(r, i), reverse=True) for r in w.reshape(-1, w.shape[-1])]
    return np.moveaxis(np.array(rows, np.int64).reshape(w.shape), -1, axis)


def axes(d, rng):
    dt = d.dt
    r = small(dt, (3, 1, 5), rng)
    order = np.concatenate([edges(dt), some(dt, 6, rng), edges(dt)])[:40]
    order = rng.permutation(order).reshape(2, -1) if len(order) % 2 == 0 else rng.permutation(order)[:-1].reshape(2, -1)
    n, e, m = d.input("r", r), d.input("empty", r[:0, 0]), d.input("order", order)
    for op in FOLDS:
        for at in ([2], [0], [1], [0, 2], [0, 1, 2]):
            name = f"REDUCE.{op}.{''.join(map(str, at))}"
            d.out(name, d.node("REDUCE", (n,), [op, at]), reduced(op, dt, r, at), zeros=False)
        d.out(f"REDUCE.{op}.none", d.node("REDUCE", (n,), [op, []]), r, zeros=False)
        d.out(f"REDUCE.{op}.empty", d.node("REDUCE", (e,), [op, [0]]), reduced(op, dt, r[:0, 0], [0]))
        for at in range(3):
            d.out(f"SCAN.{op}.{at}", d.node("SCAN", (n,), [op, at]), scanned(op, dt, r, at), zeros=False)
        d.out(f"SCAN.{op}.empty", d.node("SCAN", (e,), [op, 0]), r[:0, 0])
        if not is_float(dt) or op in ("MAX", "MIN"):
            d.out(f"REDUCE.{op}.edges", d.node("REDUCE", (m,), [op, [1]]), reduced(op, dt, order, [1]), zeros=False)
            d.out(f"SCAN.{op}.edges", d.node("SCAN", (m,), [op, 1]), scanned(op, dt, order, 1), zeros=False)
    for down in (False, True):
        for at in (0, 1):
            name = f"SORT.{'down' if down else 'up'}.{at}"
            d.out(name, d.node("SORT", (m,), [at, down], "i64"), argsort(order, at, down), dt="i64")
        d.out(f"SORT.{'down' if down else 'up'}.empty", d.node("SORT", (e,), [0, down], "i64"), np.zeros((0, 5)), dt="i64")
    if is_float(dt):
        many(d)


def many(d):
    """more ones than f16 and bf16 can count to, and what is not finite"""
    dt = d.dt
    n = 600
    ones = d.input("ones", round_to(dt, np.ones(n)))
    if dt != "f16":
        d.out("SCAN.ADD.many", d.node("SCAN", (ones,), ["ADD", 0]), round_to(dt, np.arange(1, n + 1)))
    d.out("REDUCE.ADD.many", d.node("REDUCE", (ones,), ["ADD", [0]]), round_to(dt, [n]))
    x = round_to(dt, [[np.inf, 1, -2], [np.inf, 1, -np.inf], [1, np.nan, 2], [-0.0, 0.0, np.inf]])
    k = d.input("wild", x)
    for op in ("ADD", "MUL", "MAX", "MIN"):
        v = reduced(op, dt, x, [1])
        d.out(f"REDUCE.{op}.wild", d.node("REDUCE", (k,), [op, [1]]), v, zeros=False)
        d.out(f"SCAN.{op}.wild", d.node("SCAN", (k,), [op, 1]), scanned(op, dt, x, 1), zeros=False)


# ---- by place

def movement(d, rng):
    dt = d.dt
    x = np.concatenate([edges(dt), some(dt, 30, rng)] * 3)[:24].reshape(2, 3, 4)
    n = d.input("m", x)
    put = lambda name, op, arg, v: d.out(f"{op}{name}", d.node(op, (n,), arg), v)
    put("", "RESHAPE", [4, 1, 6], x.reshape(4, 1, 6))
    put(".flat", "RESHAPE", [24], x.ravel())
    put("", "PERMUTE", [2, 0, 1], x.transpose(2, 0, 1))
    put("", "PAD", [[1, 0], [0, 2], [0, 0]], np.pad(x, [[1, 0], [0, 2], [0, 0]]))
    put("", "SHRINK", [[1, 2], [0, 2], [1, 4]], x[1:2, 0:2, 1:4])
    put(".none", "SHRINK", [[1, 1], [0, 3], [0, 4]], x[1:1])
    put("", "FLIP", [0, 2], x[::-1, :, ::-1])
    for op in ("CONTIGUOUS", "DETACH"):
        put("", op, None, x)
    put("", "COPY", "cpu", x)
    one = d.node("SHRINK", (n,), [[0, 1], [0, 3], [1, 2]])
    d.out("EXPAND", d.node("EXPAND", (one,), [5, 3, 2]), np.broadcast_to(x[:1, :, 1:2], (5, 3, 2)))
    d.out("EXPAND.none", d.node("EXPAND", (one,), [0, 3, 1]), np.zeros((0, 3, 1), TYPES[dt]))
    p = d.node("PERMUTE", (n,), [1, 0, 2])        # a chain that is no single view
    p = d.node("RESHAPE", (p,), [4, 6])
    p = d.node("FLIP", (p,), [1])
    p = d.node("PAD", (p,), [[0, 1], [2, 0]])
    d.out("PAD.chain", d.node("RESHAPE", (p,), [2, 20]), np.pad(x.transpose(1, 0, 2).reshape(4, 6)[:, ::-1], [[0, 1], [2, 0]]).reshape(2, 20))
    d.out("BUFFER", n, x)
    k = d.node("BUFFER", (), {"name": "kept", "shape": [2, 3], "role": "const", "data": x[0, :2, :3].tobytes()})
    d.out("BUFFER.const", k, x[0, :2, :3])
    s = d.node("BUFFER", (), {"name": "state", "shape": [2, 3, 4], "role": "state", "data": x[::-1].tobytes()})
    old = d.node("FLIP", (s,), [2])
    d.out("ASSIGN", d.node("ASSIGN", (s, n)), x)
    d.out("ASSIGN.old", old, x[::-1, :, ::-1])


def places(shape, index):
    """for each index the place it means, or None"""
    flat = [list(map(int, i.ravel())) for i in index]
    return [p if all(0 <= k < s for k, s in zip(p, shape)) else None for p in zip(*flat)]


def gathered(x, index):
    rest = x.shape[len(index):]
    v = np.zeros((index[0].size,) + rest, x.dtype)
    for j, p in enumerate(places(x.shape, index)):
        if p is not None:
            v[j] = x[p]
    return v.reshape(index[0].shape + rest)


def scattered(op, dt, x, index, v):
    out = wide(x)
    vals = wide(v).reshape((index[0].size,) + x.shape[len(index):])
    for j, p in enumerate(places(x.shape, index)):
        if p is None:
            continue
        if op == "SET":
            out[p] = vals[j]
        elif dt == "bool":
            out[p] = FOLDS[op](out[p].astype(int) if isinstance(out[p], np.ndarray) else int(out[p]), vals[j]) \
                if not isinstance(out[p], np.ndarray) else np.array([FOLDS[op](int(a), int(b)) for a, b in zip(out[p], vals[j])], object)
        elif op in ("MAX", "MIN"):
            out[p] = FLOAT[op](out[p], vals[j])
        else:
            out[p] = FOLDS[op](out[p], vals[j])
    return as_type(dt, [v if is_float(dt) else wrap(dt, v) for v in out.ravel()], x.shape)


def by_index(d, rng):
    dt = d.dt
    g = np.concatenate([edges(dt), some(dt, 30, rng)] * 2)[:30].reshape(5, 3, 2)
    x, v1, v2 = small(dt, (5, 3), rng), small(dt, (2, 4, 3), rng), small(dt, (9,), rng)
    i = np.array([[0, 4, -1, 5], [4, 4, 1, -128]], np.int8)
    j = np.array([0, 1, 2, 1, 1, 2 ** 63, 2 ** 64 - 1, 3, 4], np.uint64)
    k = np.array([0, 2, 2, -1, 2, 0, 1, 1, 3], np.int64)
    ng, ni, nj, nk = d.input("g", g), d.input("i", i, "i8"), d.input("j", j, "u64"), d.input("k", k, "i64")
    nx, n1, n2 = d.input("sx", x), d.input("v1", v1), d.input("v2", v2)
    d.out("GATHER.1", d.node("GATHER", (ng, ni)), gathered(g, [i]))
    d.out("GATHER.2", d.node("GATHER", (ng, nj, nk)), gathered(g, [j, k]))
    none = d.node("SHRINK", (ng,), [[2, 2], [0, 3], [0, 2]])
    d.out("GATHER.none", d.node("GATHER", (none, ni)), np.zeros((2, 4, 3, 2), g.dtype))
    for op in ("ADD", "MUL", "MAX", "MIN", "SET"):
        d.out(f"SCATTER.{op}.1", d.node("SCATTER", (nx, ni, n1), op), scattered(op, dt, x, [i], v1), zeros=False)
        d.out(f"SCATTER.{op}.2", d.node("SCATTER", (nx, nj, nk, n2), op), scattered(op, dt, x, [j, k], v2), zeros=False)
    if is_float(dt):
        z, w = d.input("nil", np.zeros(600, np.uint8), "u8"), d.input("units", round_to(dt, np.ones(600)))
        b = d.input("base", round_to(dt, [0.0, 7.0]))
        d.out("SCATTER.ADD.many", d.node("SCATTER", (b, z, w), "ADD"), round_to(dt, [600, 7]))
        v = round_to(dt, [1, np.nan, 2, 3, np.inf, 5, 6, 7, -np.inf])
        n = d.input("odd", v)
        for op in ("MAX", "MIN", "SET"):
            d.out(f"SCATTER.{op}.odd", d.node("SCATTER", (nx, nj, nk, n), op), scattered(op, dt, x, [j, k], v), zeros=False)


def steps(d, number, dt):
    """the steps whose sizes and branches are data: a running maximum from the last row on, the rows, the turns"""
    d.dt = dt
    x = small(dt, (6, 3), np.random.default_rng(number))
    nx, n = d.input(f"x_{dt}", x), d.input(f"n_{dt}", np.array(4), "i64")
    size = d.node("BIND", (n,), [f"rows_{dt}", 0, 6], "i64")
    turn = d.node("TURN", (), number, "i64")
    state = d.node("CARRY", (d.node("GATHER", (nx, d.node("CONST", (), 5, "i64"))),), [number, 0])
    row = d.node("GATHER", (nx, turn))
    states, values = (d.node("MAX", (state, row)),), (row, turn)
    loop = d.node("LOOP", (size, *states, *values),
                  {"id": number, "limit": True, "while": False, "states": 1, "values": 2}, False)
    d.out(f"CARRY.{dt}", d.node("PICK", (loop,), 0), x[[5, 0, 1, 2, 3]].astype(object).max(0), dt=dt)
    d.out(f"LOOP.{dt}", d.node("PICK", (loop,), 1), x[:4], dt=dt)
    d.out(f"TURN.{dt}", d.node("PICK", (loop,), 2, "i64"), np.arange(4), dt="i64")
    d.out(f"PICK.{dt}", d.node("PICK", (loop,), 3, "i64"), np.array(4), dt="i64")
    d.out(f"BIND.{dt}", d.node("SHRINK", (nx,), [[0, f"rows_{dt}"], [0, 3]]), x[:4], dt=dt)
    d.out(f"SIZE.{dt}", d.node("SIZE", (), f"rows_{dt}*2+1", "i64"), np.array(9), dt="i64")
    for k, other in enumerate((3, 4)):
        cond = d.node("CMPEQ", (size, d.node("CONST", (), other, "i64")), None, "bool")
        test = d.node("IF", (cond, nx, d.node("FLIP", (nx,), [0])), 1, False)
        d.out(f"IF.{k}.{dt}", d.node("PICK", (test,), 0), x if k else x[::-1], dt=dt)


def threefry(c, k):
    """Threefry-2x32 with 20 rounds, of two 64-bit integers"""
    mask, turn = 0xffffffff, [13, 15, 26, 6, 17, 29, 16, 24]
    x, key = [c & mask, c >> 32], [k & mask, k >> 32]
    key.append(key[0] ^ key[1] ^ 0x1BD11BDA)
    x = [x[0] + key[0] & mask, x[1] + key[1] & mask]
    for r in range(20):
        x[0] = x[0] + x[1] & mask
        x[1] = (x[1] << turn[r % 8] | x[1] >> 32 - turn[r % 8]) & mask ^ x[0]
        if r % 4 == 3:
            s = r // 4 + 1
            x = [x[0] + key[s % 3] & mask, x[1] + key[(s + 1) % 3] + s & mask]
    return x[0] | x[1] << 32


# Random123's known answers: counter, key, value, word 0 first
KNOWN = [((0, 0), (0, 0), (0x6b200159, 0x99ba4efe)),
         ((0xffffffff, 0xffffffff), (0xffffffff, 0xffffffff), (0x1cb996fc, 0xbb002be7)),
         ((0x243f6a88, 0x85a308d3), (0x13198a2e, 0x03707344), (0xc4923a9c, 0x483df7a0))]


def random_words(d, rng):
    word = lambda p: p[0] | p[1] << 32
    for c, k, v in KNOWN:
        assert threefry(word(c), word(k)) == word(v)
    c = np.array([word(c) for c, _, _ in KNOWN] + list(range(20)) + list(rng.integers(0, 2 ** 63, 20)), np.uint64)
    k = np.array([word(k) for _, k, _ in KNOWN] + [42] * 20 + list(rng.integers(0, 2 ** 63, 20)), np.uint64)
    v = np.array([threefry(int(x), int(y)) for x, y in zip(c, k)], np.uint64)
    d.out("THREEFRY", d.node("THREEFRY", (d.input("counter", c), d.input("key", k))), v)


def main():
    for number, dt in enumerate(TYPES):
        rng = np.random.default_rng(number)
        d = Doc(dt)
        elementwise(d, rng)
        if is_float(dt):
            unary_floats(d)
        casts(d, rng)
        axes(d, rng)
        movement(d, rng)
        by_index(d, rng)
        if dt == "u64":
            random_words(d, rng)
        d.save()
    d = Doc("steps")
    for number, dt in enumerate(TYPES):
        steps(d, number, dt)
    d.dt = "steps"
    d.save()
    print(sum(f.stat().st_size for f in HERE.glob("*.*")), "bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
