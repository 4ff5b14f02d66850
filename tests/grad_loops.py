"""Derivatives through loops and branches, of random programs, both ways and by differences.

usage: grad_loops.py SEED COUNT

A program has some states and loops over them: of a range whose bound is an input, of the rows of a tensor of open size, of a
`while` on a scalar, within one another, with branches in their bodies and lists that they extend.  `grad --check` gives for each
input the derivative along a random direction in reverse mode, forward mode and by differences, in f64; the first two have to
agree to rounding, and some difference with them.  Then the gradient of the compiled program, with --checkpoint and without, is
held against that of the interpreter.  What is wrong is told with its program; the status is 1 then.

To add a statement of a body: a line in `statement`."""
import os
import random
import subprocess
import sys

import numpy as np

TOOLS = os.environ["BIN"]


def tool(name, *args, given=None):
    return subprocess.run([f"{TOOLS}/{name}", *args], input=given, capture_output=True)


class Program:
    def __init__(self, seed):
        self.r, self.names, self.depth, self.lists = random.Random(seed), 0, 0, []
        self.lines = ["input n i64", "input x f32[k, 4] where k in 0..6", "input w f32[4, 4]", "input v f32[4]"]
        self.lines += ["h = v * 0.5", "g = v + 0.25", "s = sum(v) * 0.1"]

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def put(self, line):
        self.lines.append("\t" * self.depth + line)

    def vector(self):
        return self.r.choice(["h", "g", "v", "h * g", "sin(h)", "w @ h * 0.3", "h @ w * 0.2", "exp(h * 0.1)", "g + s", "softmax(h)"])

    def scalar(self):
        return self.r.choice(["s", "sum(h * v)", "max(h)", "mean(g)", "s * 0.5 + 1", "logsumexp(h)", "h[1]"])

    def condition(self):
        return self.r.choice(["sum(h) > 0.1", "s < 0.3", "h[0] > g[0]", "mean(g) > 0.2"])

    def statement(self, turn):
        r, kind = self.r, self.r.random()
        if kind < 0.3:
            self.put(f"h = tanh({self.vector()} + {self.vector()} * 0.5)")
        elif kind < 0.5:
            self.put(f"g = {r.choice(['cos', 'sigmoid', 'tanh'])}({self.vector()})" + r.choice(["", f" * f32({turn}) * 0.1" if turn else ""]))
        elif kind < 0.65:
            self.put(f"s = s * 0.7 + {self.scalar()} * 0.2")
        elif kind < 0.8 and self.depth < 3:
            self.branch(turn)
        elif self.depth < 2:
            self.loop()
        else:
            self.put("h, g = g, h")

    def branch(self, turn):
        self.put(f"if {self.condition()} {{")
        self.depth += 1
        self.put(f"h = {self.vector()} * 0.9")
        if self.r.random() < 0.5:
            self.put(f"s = {self.scalar()}")
        self.depth -= 1
        self.put("} else {")
        self.depth += 1
        self.put(f"h = h - {self.vector()} * 0.1")
        self.depth -= 1
        self.put("}")

    def loop(self):
        kind, turn = self.r.choice(["range", "rows", "while", "rows", "range"]), None
        outermost = self.depth == 0
        if kind == "range":
            turn = self.name("i")
            self.put(f"for {turn} in 0..{self.r.choice(['n', 'n', 'n + 1', '3'])} {{")
        elif kind == "rows":
            row = self.name("row")
            self.put(f"for {row} in x {{")
        else:
            count = self.name("c")
            self.put(f"{count} = 0.0 * s")
            self.put(f"while {count} < 1 {{")
        listed = self.name("list") if outermost and self.r.random() < 0.5 else None
        if listed:
            self.lines.insert(len(self.lines) - 1, f"{listed} = []")
        self.depth += 1
        if kind == "rows":
            self.put(f"h = h * 0.5 + {row} * {self.r.choice(['g', '0.3', 's'])}")
        if kind == "while":
            self.put(f"{count} = {count} + 0.3 + 0.01 * h[0] * h[0]")
        for _ in range(self.r.choice([1, 2, 3])):
            self.statement(turn)
        if listed:
            self.put(f"{listed} += [{self.r.choice(['h', 'g', 'h * s'])}]")
            self.lists.append(listed)
        self.depth -= 1
        self.put("}")

    def text(self):
        for _ in range(self.r.choice([1, 1, 2])):
            self.loop()
        if self.r.random() < 0.4:
            self.statement(None)
        of = ["sum(h * h)", "s", "sum(g)", "sum(w @ h) * 0.1"] + [f"sum(stack({l}) * stack({l}))" for l in self.lists]
        return "\n".join(self.lines + [f"output loss = {' + '.join(of)}"]) + "\n"


def near(a, b, rtol):
    return abs(a - b) <= rtol * (abs(a) + abs(b)) + rtol * 1e-2


def run(given, out, *options, **inputs):
    operands = [f"{k}={v}" for k, v in inputs.items()]
    p = tool("run", *options, *operands, "-o", out, given=given)
    return (dict(np.load(out)), "") if p.returncode == 0 else (None, p.stderr.decode()[:300])


def judged(text, r):
    """what is wrong with one program"""
    with open("p.t", "w") as f:
        f.write(text)
    p = tool("trace", "p.t")
    if p.returncode:
        return [f"trace: {p.stderr.decode()}"]
    inputs = {"n": r.choice([0, 1, 3]), "x": "x.npy", "w": "w.npy", "v": "v.npy"}
    draw = np.random.default_rng(r.randrange(1 << 30))
    for name, shape in (("x", (r.choice([0, 1, 4]), 4)), ("w", (4, 4)), ("v", (4,))):
        np.save(f"{name}.npy", draw.uniform(-1, 1, shape).astype("f4"))
    bad = []
    check = tool("grad", "--check", "-w", "w,v", given=p.stdout)
    got, why = run(check.stdout, "check.npz", "--interpret", **inputs) if check.returncode == 0 else (None, check.stderr.decode())
    if got is None:
        return [f"--check: {why}"]
    for name in ("w", "v"):
        back, ahead, *steps = (float(got[f"{way}_{name}"]) for way in ("reverse", "forward", "by_1e-3", "by_1e-5", "by_1e-7"))
        if not near(back, ahead, 1e-8) or not any(near(back, step, 1e-4) for step in steps):
            bad.append(f"{name}: reverse {back} forward {ahead} differences {steps}")
    plain = tool("grad", "-w", "w,v", given=p.stdout).stdout
    want, why = run(plain, "want.npz", "--interpret", **inputs)
    for options in ([], ["--checkpoint"]):
        grad = tool("grad", "-w", "w,v", *options, given=p.stdout)
        got, why = run(grad.stdout, "got.npz", "--fast-compile", **inputs)
        if want is None or got is None or not all(np.allclose(got[k], want[k], rtol=2e-4, atol=2e-5) for k in want):
            bad.append(f"grad {' '.join(options)}, compiled: {why or (want, got)}")
    return bad


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    wrong = loops = 0
    for i in range(seed, seed + count):
        text = Program(i).text()
        bad = judged(text, random.Random(i))
        loops += text.count("while ") + text.count("for ")
        if bad:
            wrong += 1
            print("\n".join([f"seed {i}:", *bad, text]))
    print(f"{count} programs, {loops} loops, {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
