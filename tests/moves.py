"""Layout changes of random shapes, dtypes and orders as a .t program.  usage: moves.py SEED COUNT"""
import random
import sys
from math import prod

seed, count = int(sys.argv[1]), int(sys.argv[2])
r = random.Random(seed)
SIZES = [1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 47, 64, 67]
DTYPES = ["f32", "f32", "f64", "i8", "u16", "i64", "f16", "bool"]


def shape(rank, most=60000):
    s = [r.choice(SIZES) for _ in range(rank)]
    while prod(s) > most:
        s[r.randrange(rank)] = r.choice(SIZES[:6])
    return s


def transposed(x, s):
    order = list(range(len(s)))
    r.shuffle(order)
    return f"transpose({x}, {order})", [s[i] for i in order]


def move(i):
    """One output: an input moved, in part padded, cut, regrouped, and with others that lie otherwise."""
    d, s = r.choice(DTYPES), shape(r.choice([2, 2, 3, 4]))
    lines = [f"input a{i} {d}{s}"]
    value, t = f"a{i}", s
    kind = r.randrange(6)
    if kind == 1:
        k = r.randrange(len(t))
        value, t = f"pad({value}, {[[1, 2] if j == k else [0, 0] for j in range(len(t))]})", \
            [n + 3 * (j == k) for j, n in enumerate(t)]
    if kind == 2:
        k = r.randrange(len(t))
        value = f"flip({value}, axis={k})"
    value, t = transposed(value, t)
    if kind == 3:
        value, t = f"reshape({value}, {[prod(t[:2])] + t[2:]})", [prod(t[:2])] + t[2:]
    if kind == 4 and d not in ("bool", "i8"):
        order = list(range(len(t)))
        r.shuffle(order)
        lines.append(f"input b{i} {d}{[t[k] for k in inverse(order)]}")
        value = f"{value} + transpose(b{i}, {order})"
    if kind == 5 and d == "f32":
        value = f"cast({value} * 100, i8)" if r.random() < 0.5 else f"sqrt({value}) * 3"
    lines.append(f"output y{i} = {value}")
    return lines


def inverse(order):
    back = [0] * len(order)
    for i, k in enumerate(order):
        back[k] = i
    return back


print("\n".join(line for i in range(count) for line in move(i)))
