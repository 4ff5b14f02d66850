"""Long reductions of random shapes that leave few elements, as a .t program.  usage: reductions.py SEED"""
import random
import sys
from math import prod

r = random.Random(int(sys.argv[1]))
PRIMES = [2, 3, 5, 7, 13, 61, 127, 257, 263, 509, 1021, 4099, 30011, 65537]
ROUND = [1, 1, 2, 4, 8, 15, 16, 17, 64, 256, 1000, 4096, 65536]


def long_shape():
    """Sizes whose product is from 2^16 on, and not so large that the interpreter takes long."""
    while True:
        s = [r.choice(PRIMES + ROUND) for _ in range(r.choice([1, 2, 2, 3]))]
        if 65536 <= prod(s) <= 1500000:
            return s


def kept(s):
    """The axes that are reduced: those that are kept leave few elements."""
    axes, left = list(range(len(s))), 1
    for i in list(axes):
        if left * s[i] < r.choice([16, 16, 600]) and len(axes) > 1 and r.random() < 0.6:
            left *= s[i]
            axes.remove(i)
    return axes


for i in range(4):
    s = long_shape()
    axes = kept(s)
    print(f"input x{i} {r.choice(['f32', 'f32', 'f64', 'i32', 'u8', 'f16'])}{s}")
    x = f"x{i}"
    value = r.choice(["sum({0}, axis={1})", "max({0}, axis={1})", "min({0}, axis={1})",
        "mean(cast({0}, f32), axis={1})", "var(cast({0}, f32), axis={1})",
        "sum(cast({0}, f32) * cast(flip({0}, axis=0), f32), axis={1})",
        "sum(max({0}, axis=0)) + sum({0})", "argmax(reshape({0}, [-1]), axis=0)",
        "sqrt(sum(exp2(cast({0}, f32) - cast(max({0}), f32)), axis={1}))"])
    print(f"output y{i} = {value.format(x, axes)}")
