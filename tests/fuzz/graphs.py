#!/usr/bin/env python3
"""Random valid graphs: every op of level graph, every dtype, ranks 0 to 5, sizes that are variables or expressions of such, or
0, now and then.  The graph by the interpreter is held against every level below, interpreted, for CPU and GPU, against
loops with lists of actions drawn at random (../actions.py), and against the compiled programs, an OpenCL device's too where
there is one.  By several threads the results have the same bits as by one.

    graphs.py --bin build/bin [--seed 1] [--seconds 60] [--count N] [--found FOLDER]

A value is exact (integers, what is moved, compared or selected of such: the same at every level, bit for bit) or near (floats
that were computed with, as the least precise of their dtypes).  What would make a small difference large, such as a comparison
or a sort, takes exact values only."""
import os
import random
import re
import sys

import cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import actions  # noqa: E402

FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
BITS = {"bool": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
ROUGH = list(cases.CLOSE)        # rougher from left to right


class Value:
    def __init__(self, number, dtype, shape, rough, size=1.0):
        self.number, self.dtype, self.shape = number, dtype, shape
        self.rough = rough              # the least precise dtype that it was computed with, None: it is exact
        self.size = size                # of a float: no element is larger

    @property
    def exact(self):
        return self.rough is None


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
        self.sizes = {v: self.r.randint(1, 9) for v in ("n", "m") if self.r.random() < 0.3}
        self.empty = self.r.random() < 0.1
        # most leaves are of few dtypes and one shape, so that they meet
        self.usual = self.r.sample(FLOATS + INTS + ["bool"], 1) + [self.r.choice(["f32", "f32", "f64", "f16", "i32", "i64"])]
        self.shape = self.any_shape()
        for _ in range(self.r.randint(1, 4)):
            self.leaf()
        for _ in range(self.r.randint(2, 14)):
            kinds = [self.unary, self.binary, self.binary, self.binary, self.contract, self.divide, self.random, self.select,
                     self.fold, self.fold, self.scan, self.sort, self.move, self.move, self.move, self.gather, self.scatter,
                     self.cast, self.mark, self.leaf]
            self.r.choice(kinds)()

    # ---- parts

    def node(self, op, dtype, sources, arg, shape, exact, size=1.0):
        words = [f"%{len(self.lines)} = {op}", dtype] + [f"%{s.number}" for s in sources]
        rough = [s.rough for s in sources if s.rough] + ([dtype] if dtype in FLOATS and not exact else [])
        v = Value(len(self.lines), dtype, list(shape), None if exact else max(rough, key=ROUGH.index), size)
        self.lines.append(" ".join(words) + ("" if arg is None else " " + arg))
        self.values.append(v)
        return v

    def pick(self, want=lambda v: True):
        found = [v for v in self.values if want(v)]
        return self.r.choice(found) if found else None

    def length(self, d):
        return eval(d, {}, self.sizes) if isinstance(d, str) else d

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
            n = r.choice([1, 3, 7, *self.sizes] + [0] * self.empty)
            self.node("ARANGE", dtype, [], text(n), [n], True)
        else:
            shape = self.shape if r.random() < 0.7 else self.any_shape()
            name = f"x{len(self.inputs)}"
            self.inputs.append(name)
            self.node("BUFFER", dtype, [], f'{{name: "{name}", shape: {text(shape)}, role: "input"}}', shape, True,
                      9 if dtype in INTS else 1)

    def any_shape(self):
        sizes = [1, 2, 3, 4, 5, 7, 8, 16, 17] + list(self.sizes) * 4 + [0] * (3 * self.empty)
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
        many = self.count([v.shape[a] for a in axes])
        # of nothing, the greatest is -inf
        size = v.size * many if fold == "ADD" else v.size if many else float("inf")
        if v.dtype in FLOATS and fold == "ADD" and size > (1000 if bits(v.dtype) > 16 else 50):
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
            arg = [[0, 0] if isinstance(d, str) and not d.isalpha() else [r.choice([0, 0, 1, 2]), r.choice([0, 0, 1])] for d in s]
            shape = [self.longer(d, sum(by)) for d, by in zip(s, arg)]
        elif op == "SHRINK":
            arg = [self.part(d) for d in s]
            shape = [b if isinstance(b, str) else b - a for a, b in arg]
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
        two = out[i:i + 2]
        if r.random() < 0.3:
            out.insert(i, 1)
        elif r.random() < 0.5 and len(two) == 2 and not any(isinstance(d, str) for d in two):
            out[i:i + 2] = [two[0] * two[1]]
        elif len(two) == 2 and isinstance(two[0], str) and two[0].isalpha() and two[1] not in (0, 1, two[0]) and \
                (isinstance(two[1], int) or two[1].isalpha()):
            out[i:i + 2] = [f"{two[0]}*{two[1]}"]
        elif isinstance(out[i], str) and "*" in out[i]:
            out[i:i + 1] = [int(d) if d.isdigit() else d for d in out[i].split("*")]
        elif isinstance(out[i], int) and out[i] and out[i] % 2 == 0:
            out[i:i + 1] = [out[i] // 2, 2]
        return out

    def longer(self, d, by):
        return d if not by else f"{d}+{by}" if isinstance(d, str) else d + by

    def part(self, d):
        """From where to where of an axis."""
        if isinstance(d, str):
            return [0, d]
        if not d or self.empty and self.r.random() < 0.2:
            return [0, 0]
        a, b = sorted([self.r.randrange(d), d - self.r.randrange((d + 1) // 2)])
        return [a, b] if a < b else [a, d]

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
        names = [f"y{i}_{v.rough or 'exact'}" for i, v in enumerate(outputs)]
        limits = ", ".join(f"{v}: [1, 9]" for v in self.sizes)
        head = ["sluice 1 graph"] + ([f"vars {{{limits}}}"] if limits else [])
        sink = f"%{len(self.lines)} = SINK " + " ".join(f"%{v.number}" for v in outputs) + f" {{names: {text(names)}}}"
        return "\n".join(head + self.lines + [sink]) + "\n", names


class Ways:
    """A graph in all the ways to its results, against graph.npz."""

    def __init__(self, case, names, operands, r):
        self.case, self.names, self.operands, self.r = case, names, operands, r

    def run(self, way, document, *options):
        if self.case.values("other.npz", document, self.operands, *options):
            self.case.close("graph.npz", "other.npz", self.names, way)

    def compiled(self, way, document):
        """By several threads and by one: the same bits."""
        jobs = str(self.r.choice([2, 3, 5, 8]))
        self.run(f"{way}, compiled", document, "-j", "1")
        if self.case.values("threads.npz", document, self.operands, "-j", jobs):
            self.case.same("other.npz", "threads.npz", f"{way}, {jobs} threads", "--ulp", "0", "--zeros")

    def lists(self, target):
        """The fused kernels, each with a list of actions, in l.mp."""
        r = self.case.tool("lower", "-t", target, "--stop-after", "collapse", "f.mp", status=(0, 3))
        if not r or r.status:
            return False
        actions.TOOLS = self.case.bin
        shown = actions.must("show", given=r.out).decode()
        kinds = list(actions.ACTIONS) if target == "clang" else ["order", "partial", "stage", "bind", "group"]
        drawn = {name: l for name, k in actions.read_kernels(shown).items()
                 if k.out and (l := actions.draw(k, self.r.choice(kinds), self.r, target))}
        with open("f.mp", "rb") as f:
            taken, bad = actions.accepted(f.read(), drawn, ["lower", "-t", target])
        with open("lists.txt", "w", encoding="utf-8") as f:
            f.writelines(f"{name}: {l.text()}\n" for name, l in drawn.items())
        if bad:
            self.case.wrong.append(f"lower -t {target}: a list is not taken and not refused (lists.txt)")
        listed = actions.must("show", "-p", given=actions.with_lists(shown, taken).encode())
        with open("c.mp", "wb") as f:
            f.write(listed)
        return bool(taken) and self.case.step("l.mp", "lower", "-t", target, "c.mp")

    def all(self, device):
        if not self.case.step("s.mp", "schedule", "g.mp"):
            return
        self.run("schedule", "s.mp", "--interpret")
        if not self.case.step("f.mp", "fuse", "s.mp"):
            return
        self.run("fuse", "f.mp", "--interpret")
        self.compiled("fuse", "f.mp")
        if self.case.step("l.mp", "lower", "-t", "clang", "s.mp"):
            self.run("lower of what is not fused", "l.mp", "--interpret")
        for target, compile_it in (("clang", True), ("opencl", device and self.r.random() < 0.25)):
            if self.case.step("l.mp", "lower", "-t", target, "f.mp"):
                self.run(f"lower -t {target}", "l.mp", "--interpret")
                if target == "opencl" and compile_it:
                    self.run("on the device", "l.mp", "-t", target)
            if self.r.random() < 0.5 and self.lists(target):
                self.run(f"actions for {target}", "l.mp", "--interpret")
                if target == "clang":
                    self.compiled("actions", "l.mp")
                elif compile_it:
                    self.run("actions on the device", "l.mp", "-t", target)


def main():
    args = cases.options()
    actions.TOOLS = args.bin
    device = re.search(r"^opencl", actions.must("run", "--devices").decode(), re.M)

    def graph(seed, case):
        g = Graphs(seed)
        document, names = g.document()
        with open("g.txt", "w", encoding="utf-8") as f:
            f.write(document)
        operands = [f"{x}=rand" for x in g.inputs if f'"{x}"' in document]
        operands += [f"{v}={n}" for v, n in g.sizes.items() if f'"{v}' in document or f'*{v}"' in document]
        if case.step("g.mp", "show", "-p", "g.txt") and case.values("graph.npz", "g.mp", operands, "--interpret"):
            Ways(case, names, operands, random.Random(seed)).all(device)

    cases.draw(args, "graph", "graphs", graph)


if __name__ == "__main__":
    main()
