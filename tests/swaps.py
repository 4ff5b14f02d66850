"""A contraction of narrow integers of a random kind, as a .t program: axes in any order, batches, windows, zero points,
constants. Its inputs, many of them at the limits of their dtype, go into FOLDER.  usage: swaps.py SEED [FOLDER]"""
import random
import sys

from npy import save

r = random.Random(int(sys.argv[1]))
BITS = {"i8": (1, True), "u8": (1, False), "i16": (2, True), "u16": (2, False)}
lines = []


def operand(name, shape, constant=False, dtypes=("i8", "i8", "u8", "u8", "i16", "u16"), shown=None):
    """An operand's line, and its value as i32: with a zero point, or without."""
    dt = r.choice(dtypes)
    size, signed = BITS[dt]
    low, count = (-(1 << 8 * size - 1) if signed else 0), 1
    for n in shape:
        count *= n
    high = low + (1 << 8 * size) - 1
    v = [r.choice([low, high, 0]) if r.random() < 0.2 else r.randint(low, high) for _ in range(count)]
    if constant:
        lines.append(f"const {name} {dt}[{', '.join(map(str, shape))}] = {nested(v, shape)}")
    else:
        if len(sys.argv) > 2:
            save(f"{sys.argv[2]}/{name}.npy", "<" + ("i" if signed else "u") + str(size), shape,
                 b"".join(x.to_bytes(size, "little", signed=signed) for x in v))
        lines.append(f"input {name} {dt}[{', '.join(map(str, shown or shape))}]")
    value = f"i32({name})"
    return f"({value} - {r.choice([low, high, 3, 100])})" if r.random() < 0.3 else value


def nested(v, shape):
    if not shape:
        return str(v[0])
    n = len(v) // shape[0]
    return "[" + ", ".join(nested(v[i * n:i * n + n], shape[1:]) for i in range(shape[0])) + "]"


def matmul():
    """einsum of axes in any order: batches b, rows i, columns j, sums k and l"""
    size = {"b": r.choice([1, 2, 3]), "i": r.choice([1, 5, 16, 33, 70]), "j": r.choice([1, 7, 16, 40, 64]),
            "k": r.choice([1, 2, 3, 4, 8, 15, 16, 31, 64, 65]), "l": r.choice([1, 2, 4, 5])}
    batch, more = r.choice(["", "", "b"]), r.choice(["", "", "l"])
    axes = ["".join(r.sample(s, len(s))) for s in (batch + "i" + "k" + more, batch + "k" + more + "j", batch + "ij")]
    named = r.choice("ijk") if r.random() < 0.2 else None
    shape = [[size[a] for a in s] for s in axes[:2]]
    shown = [["n" if a == named else size[a] for a in s] for s in axes[:2]]
    v = [operand(name, shape[i], not named and r.random() < 0.3, shown=shown[i]) for i, name in enumerate("xw")]
    if named:
        i = next(i for i, line in enumerate(lines) if "n" in line.split("[")[1])
        lines[i] += f" where n in 1..{size[named] + r.choice([0, 100])}"
    return f'einsum("{axes[0]},{axes[1]}->{axes[2]}", {v[0]}, {v[1]})'


def conv():
    c, groups = r.choice([1, 3, 4, 6, 8, 16, 20, 32]), 1
    o, k, h = r.choice([8, 16, 24]), r.choice([1, 2, 3]), r.choice([5, 8, 14, 17])
    transposed = r.random() < 0.25
    if not transposed and r.random() < 0.3:
        groups = 2
        c *= 2
    pad, stride = r.choice([0, 1, k // 2]), r.choice([1, 1, 2])
    x = operand("x", [r.choice([1, 2]), c, h, h], dtypes=("i8", "u8", "u8", "i16"))
    w = operand("w", [o, c // groups, k, k], r.random() < 0.5, dtypes=("i8", "i8", "u8", "i16"))
    if transposed:
        return f"conv_transpose2d({x}, swapaxes({w}, 0, 1), stride={stride})"
    return f"conv2d({x}, {w}, padding={pad}, stride={stride}, groups={groups})"


def deep():
    """a value of one contraction narrowed for another"""
    m, k, n = r.choice([3, 16, 40]), r.choice([16, 30, 64]), r.choice([16, 33, 64])
    x, w = operand("x", [m, k]), operand("w", [k, n], r.random() < 0.5)
    lines.append(f"h = i8(({x} @ {w}) >> 9)")
    return f"i32(h) @ {operand('v', [n, r.choice([16, 20])], r.random() < 0.5)}"


text = r.choice([matmul, matmul, conv, conv, deep])()
print("\n".join(lines))
after = r.choice(["{}", "{} + 7", "max({}, 0)", "i8({} >> 8)", "f32({}) * 0.25"])
print(f"output y = {after.format(text)}")
