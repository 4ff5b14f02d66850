#!/usr/bin/env python3
"""A program whose temporaries are some MB, as a chain of kernels over the same outer loops, by seed: attention in
several forms, products of products, rows in several steps.  With open, what has three axes or more has an open number
b of the first.  slices.py SEED [open] > s.t"""
import random
import sys

r = random.Random(int(sys.argv[1]))
lines = []


def declare(name, *shape):
    where = ""
    if "open" in sys.argv and len(shape) > 2:
        shape, where = ("b", *shape[1:]), "" if any("b in" in line for line in lines) else " where b in 1..9"
    lines.append(f"input {name} f32[{', '.join(map(str, shape))}]{where}")


def attention():
    b = r.choice([1, 1, 2, 3])
    h = r.choice([1, 2, 3, 8, 12])
    n = r.choice([96, 127, 128, 130, 192, 257])
    m = r.choice([n, 64, 131, 160])
    while b * h * n * m < 270000:
        h *= 2
    if b * h * n * m > 1200000:
        h = max(1, 1200000 // (b * n * m))
    d = r.choice([1, 5, 8, 16, 17])
    axes = [b, h] if r.random() < 0.6 else [b * h]
    declare("q", *axes, n, d)
    declare("k", *axes, m, d)
    declare("v", *axes, m, r.choice([d, 3, 16]))
    turn = list(range(len(axes))) + [len(axes) + 1, len(axes)]
    s = f"q @ transpose(k, {turn})"
    if r.random() < 0.5:
        s = f"({s}) * 0.3"
    if r.random() < 0.4:
        declare("mask", n, m)
        s = f"where(mask > 0.5, {s}, -100.0)"
    lines.append(f"s = {s}")
    p = r.choice(["softmax(s)", "softmax(s)", "s / (1 + sum(abs(s), axis=-1, keepdims=true))", "relu(s)"])
    y = f"{p} @ v"
    if len(axes) == 2 and r.random() < 0.5:
        y = f"transpose({y}, [0, 2, 1, 3])"
    lines.append(f"output y = {y}")


def products():
    n, m = r.choice([512, 768, 1024, 1021]), r.choice([512, 700, 1023])
    d = r.choice([3, 8, 16])
    declare("x", n, d)
    declare("w", d, m)
    declare("u", m, d)
    f = r.choice(["relu(x @ w)", "softmax(x @ w)", "tanh(x @ w) * 0.5"])
    lines.append(f"h = {f}")
    if r.random() < 0.3:
        lines.append("output h2 = h[0]")
    lines.append(f"output y = {r.choice(['h @ u', 'softmax(h @ u)', '(h @ u) + x'])}")


def rows():
    b, n, m = r.choice([8, 12, 16]), r.choice([64, 97, 128]), r.choice([512, 640])
    declare("x", b, n, m)
    declare("k", b, 5, m)
    lines.append("t = x - mean(x, axis=-1, keepdims=true)")
    lines.append("c = cumsum(t, axis=-1)")
    lines.append("output y = (c / (1 + max(abs(c), axis=-1, keepdims=true))) @ transpose(k, [0, 2, 1])")


r.choice([attention, attention, attention, products, products, rows])()
print("\n".join(lines))
