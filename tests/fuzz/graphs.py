#!/usr/bin/env python3
"""Random valid graphs: every op of level graph, every dtype, ranks 0 to 5, a size variable now and then.  The graph by the
interpreter is held against every level below, interpreted, for CPU and GPU, and against the compiled program, by one
thread and by several.

    graphs.py --bin build/bin [--seed 1] [--seconds 60] [--count N] [--found FOLDER]

A value is exact (integers, what is moved, compared or selected of such: the same at every level, bit for bit) or near (floats
that were computed with).  What would make a small difference large, such as a comparison or a sort, takes exact values only."""
import argparse
import os
import random
import sys
import time

import judge

FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
BITS = {"bool": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
CLOSE = {"f16": ("3e-2", "3e-2"), "bf16": ("2e-1", "2e-1"), "f32": ("1e-3", "1e-4"), "f64": ("1e-9", "1e-9")}


class Value:
    def __init__(self, number, dtype, shape, exact, size=1.0):
        self.number, self.dtype, self.shape, self.exact = number, dtype, shape, exact
        self.size = size                # of a float: no element is larger


def bits(dtype):
    return BITS.get(dtype) or int(dtype[1:])


def text(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, str):
        return f'"{v}"'
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(text(e) for e in v) + "]"
    return repr(v)


class Graphs:
    """One graph: lines of the text form, and the values so far."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.values, self.inputs = [], [], []
        self.n = self.r.randint(1, 9) if self.r.random() < 0.4 else None
        # most leaves are of few dtypes and one shape, so that they meet
        self.usual = self.r.sample(FLOATS + INTS + ["bool"], 1) + [self.r.choice(["f32", "f32", "f64", "f16", "i32", "i64"])]
        self.shape = self.any_shape()
        for _ in range(self.r.randint(1, 4)):
            self.leaf()
        for _ in range(self.r.randint(2, 14)):
            kinds = [self.unary, self.binary, self.binary, self.binary, self.contract, self.divide, self.random, self.select, self.fold, self.scan, self.sort, self.move, self.move,
                     self.move, self.gather, self.scatter, self.cast, self.mark, self.leaf]
            self.r.choice(kinds)()

    # ---- parts

    def node(self, op, dtype, sources, arg, shape, exact, size=1.0):
        words = [f"%{len(self.lines)} = {op}", dtype] + [f"%{s.number}" for s in sources]
        v = Value(len(self.lines), dtype, list(shape), exact, size)
        self.lines.append(" ".join(words) + ("" if arg is None else " " + arg))
        self.values.append(v)
        return v

    def pick(self, want=lambda v: True):
        found = [v for v in self.values if want(v)]
        return self.r.choice(found) if found else None

    def length(self, d):
        return self.n if d == "n" else d

    def count(self, shape):
        c = 1
        for d in shape:
            c *= self.length(d)
        return c

    def leaf(self):
        r, dtype = self.r, self.r.choice(self.usual * 9 + FLOATS + INTS + ["bool"])
        kind = r.random()
        if kind < 0.2:
            value = bool(r.randint(0, 1)) if dtype == "bool" else r.randint(0, 5) if dtype in INTS else \
                r.choice([0.0, 1.0, -2.0, 0.5])
            self.node("CONST", dtype, [], text(value), [], True, 5)
        elif kind < 0.3 and dtype in INTS:
            n = r.choice([1, 3, 7, "n" if self.n else 4])
            self.node("ARANGE", dtype, [], text(n), [n], True)
        else:
            shape = self.shape if r.random() < 0.7 else self.any_shape()
            name = f"x{len(self.inputs)}"
            self.inputs.append(name)
            self.node("BUFFER", dtype, [], f'{{name: "{name}", shape: {text(shape)}, role: "input"}}', shape, True,
                      9 if dtype in INTS else 1)

    def any_shape(self):
        sizes = [1, 2, 3, 4, 5, 7, 8, 16, 17] + (["n"] * 5 if self.n else [])
        shape = [self.r.choice(sizes) for _ in range(self.r.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
        while self.count(shape) > 3000:
            shape.pop()
        return shape

    def beside(self, v, want=lambda v: True):
        return self.pick(lambda w: w.dtype == v.dtype and (w.shape == v.shape or not w.shape or not v.shape) and want(w))

    def shape_of(self, *values):
        return max((v.shape for v in values), key=len)

    # ---- ops

    def unary(self):
        v = self.pick(lambda v: v.dtype != "bool")
        if not v:
            return
        if v.dtype in INTS:
            self.node("NEG", v.dtype, [v], None, v.shape, True)
            return
        op = self.r.choice(["NEG", "NEG", "SIN", "EXP2", "SQRT", "RECIP", "LOG2", "TRUNC"])
        if op == "TRUNC" and not v.exact or op in ("SIN", "EXP2") and v.size > 4:
            return
        if op in ("SQRT", "RECIP", "LOG2"):     # of something from 1 on
            if v.size > 30:
                return
            square = self.node("MUL", v.dtype, [v, v], None, v.shape, False, v.size ** 2)
            one = self.node("CONST", v.dtype, [], "1.0", [], True)
            v = self.node("ADD", v.dtype, [square, one], None, v.shape, False, v.size ** 2 + 1)
        size = {"NEG": v.size, "EXP2": 16, "SQRT": v.size, "TRUNC": v.size, "LOG2": 10}.get(op, 1)
        self.node(op, v.dtype, [v], None, v.shape, op in ("NEG", "TRUNC") and v.exact, size)

    def binary(self):
        r, v = self.r, self.pick()
        if not v:
            return
        if r.random() < 0.25:
            w = self.beside(v, lambda w: w.exact) if v.exact else None
            if w:
                self.node(r.choice(["CMPLT", "CMPEQ", "CMPNE"]), "bool", [v, w], None, self.shape_of(v, w), True)
            return
        w = self.beside(v)
        if not w:
            return
        if v.dtype == "bool":
            op = r.choice(["ADD", "MUL", "MAX", "MIN", "AND", "OR", "XOR"])
        elif v.dtype in INTS:
            op = r.choice(["ADD", "SUB", "MUL", "MAX", "MIN", "IDIV", "MOD", "FLOORDIV", "FLOORMOD", "AND", "OR", "XOR", "SHL", "SHR"])
        else:
            op = r.choice(["ADD", "SUB", "MUL", "MAX", "MIN"])
        size = {"MUL": v.size * w.size, "MAX": max(v.size, w.size), "MIN": max(v.size, w.size)}.get(op, v.size + w.size)
        exact = v.dtype == "bool" or v.dtype in INTS or (op in ("MAX", "MIN") and v.exact and w.exact)
        if v.dtype in FLOATS and size > 1000:
            return
        self.node(op, v.dtype, [v, w], None, self.shape_of(v, w), exact, size)

    def contract(self):
        v = self.pick()
        w = v and self.beside(v)
        x = w and self.pick(lambda x: x.dtype == v.dtype and x.shape in ([], self.shape_of(v, w)))
        if x and v.dtype != "bool" and (v.dtype in INTS or v.size * w.size + x.size <= 1000):
            self.node("MULACC", v.dtype, [v, w, x], None, self.shape_of(v, w), v.dtype in INTS, v.size * w.size + x.size)

    def divide(self):
        """By something from 1 on; a power of it."""
        v = self.pick(lambda v: v.dtype in FLOATS and v.size <= 4)
        w = v and self.beside(v, lambda w: w.size <= 4)
        if not w:
            return
        square = self.node("MUL", w.dtype, [w, w], None, w.shape, False, w.size ** 2)
        one = self.node("CONST", w.dtype, [], "1.0", [], True)
        w = self.node("ADD", w.dtype, [square, one], None, w.shape, False, w.size ** 2 + 1)
        if self.r.random() < 0.6:
            self.node("FDIV", v.dtype, [v, w], None, self.shape_of(v, w), False, v.size)
        elif w.size ** v.size <= 1000:
            self.node("POW", v.dtype, [w, v], None, self.shape_of(v, w), False, w.size ** v.size)

    def random(self):
        v = self.pick(lambda v: v.dtype == "u64")
        w = v and self.beside(v)
        if w:
            self.node("THREEFRY", "u64", [v, w], None, self.shape_of(v, w), True)

    def select(self):
        c = self.pick(lambda v: v.dtype == "bool")
        v = c and self.pick(lambda v: not c.shape or not v.shape or v.shape == c.shape)
        w = v and self.pick(lambda w: w.dtype == v.dtype and (not w.shape or w.shape == self.shape_of(c, v)
                                                            or not self.shape_of(c, v)))
        if w:
            self.node("WHERE", v.dtype, [c, v, w], None, self.shape_of(c, v, w), v.exact and w.exact, max(v.size, w.size))

    def fold(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        axes = sorted(self.r.sample(range(len(v.shape)), self.r.randint(1, len(v.shape))))
        fold = self.r.choice(["ADD", "ADD", "MAX", "MIN"] + (["MUL"] if v.dtype in INTS or v.dtype == "bool" else []))
        shape = [1 if i in axes else d for i, d in enumerate(v.shape)]
        many = self.count(v.shape) // self.count(shape)
        size = v.size * many if fold == "ADD" else v.size
        if v.dtype in FLOATS and size > (1000 if bits(v.dtype) > 16 else 50):
            return
        self.node("REDUCE", v.dtype, [v], text([fold, axes]), shape, v.exact and (v.dtype not in FLOATS or fold != "ADD"), size)

    def scan(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        axis = self.r.randrange(len(v.shape))
        fold = self.r.choice(["ADD", "MAX", "MIN"])
        size = v.size * self.length(v.shape[axis]) if fold == "ADD" else v.size
        if v.dtype not in FLOATS or size <= (1000 if bits(v.dtype) > 16 else 20):
            self.node("SCAN", v.dtype, [v], text([fold, axis]), v.shape, v.exact and (v.dtype not in FLOATS or fold != "ADD"), size)

    def sort(self):
        v = self.pick(lambda v: v.shape and v.exact)
        if v:
            axis = self.r.randrange(len(v.shape))
            self.node("SORT", "i64", [v], text([axis, bool(self.r.randint(0, 1))]), v.shape, True)

    def move(self):
        r, v = self.r, self.pick(lambda v: v.shape)
        if not v:
            return
        rank, s = len(v.shape), v.shape
        op = r.choice(["RESHAPE", "EXPAND", "PERMUTE", "PAD", "SHRINK", "FLIP"])
        if op == "PERMUTE":
            arg = r.sample(range(rank), rank)
            shape = [s[a] for a in arg]
        elif op == "FLIP":
            arg, shape = sorted(r.sample(range(rank), r.randint(1, rank))), s
        elif op == "PAD":
            arg = [[r.choice([0, 0, 1, 2]), r.choice([0, 0, 1])] for _ in s]
            if any(d == "n" and (a or b) for d, (a, b) in zip(s, arg)):
                return
            shape = [d if d == "n" else d + a + b for d, (a, b) in zip(s, arg)]
        elif op == "SHRINK":
            arg = [[0, "n"] if d == "n" else sorted([r.randrange(d), d - r.randrange((d + 1) // 2)]) for d in s]
            if any(a == b for a, b in arg):
                return
            shape = [b if b == "n" else b - a for a, b in arg]
        elif op == "EXPAND":
            arg = [r.choice([1, 2, 3, 5]) if d == 1 else d for d in s]
            shape = arg
        else:
            arg = shape = self.reshaped(s)
        if self.count(shape) <= 6000 and len(shape) <= 8:
            self.node(op, v.dtype, [v], text(arg), shape, v.exact, v.size)

    def reshaped(self, s):
        """Neighbours joined, a number split, ones added or dropped."""
        r, out = self.r, list(s)
        i = r.randrange(len(out))
        if r.random() < 0.3:
            out.insert(i, 1)
        elif r.random() < 0.5 and len(out) > 1 and i + 1 < len(out) and "n" not in out[i:i + 2]:
            out[i:i + 2] = [out[i] * out[i + 1]]
        elif out[i] != "n" and out[i] % 2 == 0:
            out[i:i + 1] = [out[i] // 2, 2]
        return out

    def index(self, shape=None):
        return self.pick(lambda v: v.dtype in ("i64", "i32") and v.exact and (shape is None or v.shape == shape))

    def gather(self):
        x, i = self.pick(lambda v: v.shape), self.index()
        if x and i and self.count(i.shape + x.shape[1:]) <= 6000 and len(i.shape + x.shape[1:]) <= 8:
            self.node("GATHER", x.dtype, [x, i], None, i.shape + x.shape[1:], x.exact, x.size)

    def scatter(self):
        x, i = self.pick(lambda v: v.shape), self.index()
        v = x and i and self.pick(lambda v: v.dtype == x.dtype and v.shape == i.shape + x.shape[1:])
        if not v:
            return
        fold = self.r.choice(["ADD", "MAX", "MIN", "SET"])
        size = x.size + v.size * self.count(i.shape) if fold == "ADD" else max(x.size, v.size)
        if x.dtype not in FLOATS or size <= (1000 if bits(x.dtype) > 16 else 20):
            self.node("SCATTER", x.dtype, [x, i, v], text(fold), x.shape,
                      x.exact and v.exact and (x.dtype not in FLOATS or fold != "ADD"), size)

    def cast(self):
        v = self.pick()
        to = self.r.choice(FLOATS + INTS + ["bool"])
        if not v or to == v.dtype:
            return
        if v.exact and self.r.random() < 0.3 and bits(to) == bits(v.dtype) and "bool" not in (to, v.dtype) and to in INTS:
            self.node("BITCAST", to, [v], None, v.shape, True)
        elif to in FLOATS and v.dtype in INTS:
            # of small numbers
            mask = self.node("CONST", v.dtype, [], "7", [], True)
            small = self.node("AND", v.dtype, [v, mask], None, v.shape, True)
            self.node("CAST", to, [small], None, v.shape, True, 7)
        elif to in FLOATS or v.exact:
            self.node("CAST", to, [v], None, v.shape, v.exact, v.size)

    def mark(self):
        v = self.pick()
        if v:
            self.node(self.r.choice(["CONTIGUOUS", "DETACH"]), v.dtype, [v], None, v.shape, v.exact, v.size)

    # ---- the document

    def document(self):
        computed = [v for v in self.values if " BUFFER " not in self.lines[v.number] and " CONST " not in self.lines[v.number]]
        outputs = self.r.sample(computed, min(len(computed), self.r.randint(1, 4))) or [self.values[-1]]
        if computed and computed[-1] not in outputs:
            outputs.append(computed[-1])
        names = [f"y{i}_{v.dtype if v.dtype in FLOATS and not v.exact else 'exact'}" for i, v in enumerate(outputs)]
        head = ["sluice 1 graph"] + (["vars {n: [1, 9]}"] if self.n else [])
        sink = f"%{len(self.lines)} = SINK " + " ".join(f"%{v.number}" for v in outputs) + f" {{names: {text(names)}}}"
        return "\n".join(head + self.lines + [sink]) + "\n", names


class Judge:
    """One document by every way; complaints in self.wrong."""

    def __init__(self, args, folder):
        self.args, self.folder, self.wrong = args, folder, []

    def tool(self, name, *rest, status=(0,)):
        r = judge.run([os.path.join(self.args.bin, name), *rest], seconds=60)
        if r.status not in status:
            self.wrong.append(f"{' '.join(r.command)}: {judge.complaint(r, status) or r.status}")
            return None
        return r

    def step(self, out, name, *rest):
        """A stage: writes the file out; False when it does not end with 0 (3: it is not supported)."""
        r = self.tool(name, *rest, status=(0, 3))
        if not r or r.status:
            return False
        with open(out, "wb") as f:
            f.write(r.out)
        return True

    def values(self, out, document, operands, *options):
        return self.tool("run", *options, document, *operands, "-o", out) is not None

    def compare(self, names, way):
        for name in names:
            rtol, atol = CLOSE.get(name.split("_")[1], ("0", "0"))
            r = self.tool("diff", "--rtol", rtol, "--atol", atol, "--only", name, "graph.npz", "other.npz", status=(0, 1))
            if r and r.status:
                self.wrong.append(f"{way}: {r.out.decode()[:300]}")

    def ways(self):
        """(name, document, options of run) of each way to the results."""
        if not self.step("s.mp", "schedule", "g.mp"):
            return
        yield "schedule", "s.mp", ["--interpret"]
        if not self.step("f.mp", "fuse", "s.mp"):
            return
        yield "fuse", "f.mp", ["--interpret"]
        for target in ("clang", "opencl"):
            if self.step("l.mp", "lower", "-t", target, "f.mp"):
                yield f"lower -t {target}", "l.mp", ["--interpret"]
        if self.step("u.mp", "lower", "-t", "clang", "s.mp"):
            yield "lower of what is not fused", "u.mp", ["--interpret"]
        yield "compiled, one thread", "f.mp", ["-j", "1"]
        yield "compiled, three threads", "f.mp", ["-j", "3"]

    def case(self, seed):
        g = Graphs(seed)
        document, names = g.document()
        with open("g.txt", "w", encoding="utf-8") as f:
            f.write(document)
        operands = [f"{x}=rand" for x in g.inputs if f'"{x}"' in document] + ([f"n={g.n}"] if g.n else [])
        if not self.step("g.mp", "show", "-p", "g.txt") or not self.values("graph.npz", "g.mp", operands, "--interpret"):
            return False
        for way, path, options in self.ways():
            if self.values("other.npz", path, operands, *options):
                self.compare(names, way)
        return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--count", type=int, default=1 << 30)
    p.add_argument("--found", default="build/fuzz/found")
    args = p.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = os.path.abspath(args.found)
    os.makedirs(folder, exist_ok=True)
    end, tried, wrong = time.time() + args.seconds, 0, 0
    while time.time() < end and tried < args.count:
        case = os.path.join(folder, f"graph-{args.seed + tried}")
        os.makedirs(case, exist_ok=True)
        os.chdir(case)
        j = Judge(args, case)
        j.case(args.seed + tried)
        tried += 1
        for line in j.wrong:
            print(f"graph-{args.seed + tried - 1}: {line}")
        os.chdir(folder)
        if j.wrong:
            wrong += 1
        else:
            for f in os.listdir(case):
                os.remove(os.path.join(case, f))
            os.rmdir(case)
    print(f"{tried} graphs (from seed {args.seed}): {wrong} with faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
