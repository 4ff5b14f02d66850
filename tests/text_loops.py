#!/usr/bin/env python3
"""Random programs of the text language with loops and branches that are data, and what they give.

    text_loops.py SEED FOLDER     writes FOLDER/p.t, and for N in 0, 1, 3 the inputs, FOLDER/N-x.npy and FOLDER/N-a.npy,
                                  and the outputs as NumPy computes them in loops, FOLDER/N-want.npz

The same statements are written in both languages: x f64[n, 4] and a f64 are inputs, s* scalars, v* vectors, k* whole
numbers, t* are assigned in a body alone, l* are lists that a loop extends."""
import random
import sys

import numpy as np

SIZES = 0, 1, 3


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.text, self.python = [], []
        self.loops = self.lists = self.temps = 0
        self.counters, self.fresh = [], []

    def line(self, depth, text, python=None):
        self.text.append("\t" * depth + text)
        if python != "":
            self.python.append("\t" * depth + (python or text))

    def scalar(self, names, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.3:
            return self.random.choice(names["s"] + ["a"])
        if r < 0.5:     # numbers are weak: beside another value, or cast
            number = self.random.choice(names["i"] + names["k"] + ["0", "1", "0.5", "-2", "0.125"])
            return self.random.choice(["f64({})", "(a * {})", "({} - s0)"]).format(number)
        if r < 0.6:
            return f"sin({self.scalar(names, depth + 1)})"
        if r < 0.7:
            return f"sum({self.vector(names, depth + 1)})"
        if r < 0.75:
            a, c, b = (self.scalar(names, depth + 1) for _ in range(3))
            return f"({a} if {c} < {self.scalar(names, 3)} else {b})"
        return f"({self.scalar(names, depth + 1)} {self.random.choice('+-*')} {self.scalar(names, depth + 1)})"

    def vector(self, names, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.4:
            return self.random.choice(names["v"] + names["row"])
        if r < 0.55:
            return f"sin({self.vector(names, depth + 1)})"
        if r < 0.75:
            return f"({self.vector(names, depth + 1)} * {self.scalar(names, depth + 1)})"
        return f"({self.vector(names, depth + 1)} {self.random.choice('+-')} {self.vector(names, depth + 1)})"

    def assign(self, depth, names):
        r = self.random.random()
        if r < 0.35:
            name, value = self.random.choice(names["s"]), f"sin({self.scalar(names)})"
        elif r < 0.6:
            name, value = self.random.choice(names["v"]), f"sin({self.vector(names)})"
        elif r < 0.75 and depth:
            name, value = f"t{self.temps}", f"sin({self.vector(names)})"
            self.temps += 1
            self.line(depth, f"{name} = {value}")
            names["v"].append(name)
            names["temps"].append(name)
            return
        else:
            name, value = self.random.choice(names["k0"]), None
            self.line(depth, f"{name} += {self.random.choice([1, 2])}")
            return
        self.line(depth, f"{name} = {value}")

    def body(self, depth, names, extends=None):
        own = {key: list(value) for key, value in names.items()}
        for temp in own["temps"]:
            own["v"].remove(temp)
        own["temps"] = []
        reads = own["v"] + names["temps"]
        own["row"] = names["row"] + names["temps"]
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, own)
        if extends:
            self.line(depth, f"{extends} += [{self.random.choice(own['s'])}]")
        return reads

    def loop(self, depth, names):
        i, k = f"i{self.loops}", f"c{self.loops}"
        self.loops += 1
        kind = self.random.choice(["range", "range", "rows", "while", "known", "from"])
        extends = None
        if not depth or self.random.random() < 0.3:
            extends = f"l{self.lists}" if not depth else None
            self.lists += bool(extends)
        if extends:
            self.line(depth, f"{extends} = []")
        inner = dict(names)
        if kind == "while":
            self.line(depth, f"{k} = 0")
            at_most = self.random.randint(1, 4)
            c = f"{self.scalar(names)} < {self.scalar(names)} + 1"
            self.line(depth, f"while {k} < {at_most} and {c} {{", f"while {k} < {at_most} and {c}:")
            self.line(depth + 1, f"{k} += 1")
            inner["k"] = names["k"] + [k]
        elif kind == "rows":
            self.line(depth, f"for {i} in x {{", f"for {i} in x:")
            inner["row"] = names["row"] + [i]
        else:
            known, start = kind == "known", {"from": "1", "known": "-1"}.get(kind, "0")
            end = "1" if known else self.random.choice(["n - 1", "n", "k0"]) if not depth else "n - 1"
            self.line(depth, f"for {i} in {start}..{end} {{", f"for {i} in range({start}, {end} + 1):")
            inner["i"] = names["i"] + [i]
            if start == "0" and end == "n - 1":
                inner["row"] = names["row"] + [f"x[{i}]"]
        self.body(depth + 1, inner, extends)
        self.line(depth, "}", "")

    def branch(self, depth, names):
        c = f"{self.scalar(names)} < {self.scalar(names)}"
        self.line(depth, f"if {c} {{", f"if {c}:")
        self.body(depth + 1, names)
        if self.random.random() < 0.6:
            self.line(depth, "} else {", "else:")
            self.body(depth + 1, names)
        self.line(depth, "}", "")

    def statement(self, depth, names):
        r = self.random.random()
        if depth < 3 and r < (0.6 if depth == 0 else 0.25):
            self.loop(depth, names)
        elif depth < 3 and r < (0.8 if depth == 0 else 0.45):
            self.branch(depth, names)
        else:
            self.assign(depth, names)

    def write(self):
        self.line(0, "input x f64[n, 4] where n in 0..8", "")
        self.line(0, "input a f64", "")
        for k, first in enumerate(["a * 2", "0.5 - a", "f64(0.25)"]):
            self.line(0, f"s{k} = {first}")
        self.line(0, "v0 = sum(x, axis=0)")
        self.line(0, "v1 = sin(v0) + a")
        self.line(0, "k0 = 1")
        self.line(0, "k1 = 0")
        names = {"s": ["s0", "s1", "s2"], "v": ["v0", "v1"], "k": ["k0", "k1"], "k0": ["k0", "k1"], "i": [], "row": [],
            "temps": []}
        for _ in range(self.random.randint(3, 5)):
            self.statement(0, names)
        outputs = ["s0", "s1", "s2", "v0", "v1", "k0", "k1"]
        lists = [f"l{k}" for k in range(self.lists)]
        self.line(0, "output " + ", ".join(outputs[:5] + [f"{n} = i64({n})" for n in outputs[5:]] + [f"{n} = f64(stack({n}))" for n in lists]), "")
        return outputs + lists


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    program = Program(seed)
    outputs = program.write()
    with open(f"{folder}/p.t", "w") as f:
        f.write("\n".join(program.text) + "\n")
    for n in SIZES:
        draw = np.random.default_rng(seed + n)
        inputs = {"x": draw.standard_normal((n, 4)), "a": draw.standard_normal(())}
        names = {"sin": np.sin, "f64": np.float64, "n": n, **inputs,
            "sum": lambda v, axis=None: np.sum(v, axis=axis)}
        exec("\n".join(program.python), names)
        for name, value in inputs.items():
            np.save(f"{folder}/{n}-{name}.npy", value)
        np.savez(f"{folder}/{n}-want.npz",
            **{o: np.asarray(names[o], np.int64 if o[0] == "k" else np.float64) for o in outputs})


main()
