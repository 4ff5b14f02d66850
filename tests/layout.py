"""Nets of a few convolutions of random shapes, their weights constant, as a .t program, with the images' number (n) or
their sizes as well (n, h, w) for the caller to say.  usage: layout.py SEED [n | nhw]"""
import random
import sys

r = random.Random(int(sys.argv[1]))


def values(shape):
    if not shape:
        return f"{r.randint(-8, 8) / 8}"
    return "[" + ", ".join(values(shape[1:]) for _ in range(shape[0])) + "]"


def conv(x, c, h, w):
    """One convolution: its lines, channels and size."""
    k, j = r.choice([1, 1, 2, 3, 3, 5]), r.choice([1, 3, 3])
    depthwise = c > 1 and r.random() < 0.3
    o = c if depthwise else r.choice([1, 5, 8, 16, 16, 24, 32])
    pad, stride = [r.randint(0, k // 2 + 1), r.randint(0, j // 2 + 1)], r.choice([1, 1, 1, 2])
    if h + 2 * pad[0] < k or w + 2 * pad[1] < j:
        return conv(x, c, h, w)
    shape = [o, 1 if depthwise else c, k, j]
    lines = [f"const k{x} f32{shape} = {values(shape)}"]
    text = f"conv2d({x}, k{x}, padding={pad}, stride={stride}, groups={c if depthwise else 1})"
    return lines, text, o, (h + 2 * pad[0] - k) // stride + 1, (w + 2 * pad[1] - j) // stride + 1


n, c = r.choice([1, 1, 2, 3]), r.choice([1, 3, 8, 16, 17, 32])
h, w = r.choice([1, 4, 7, 13, 16, 17]), r.choice([1, 5, 9, 15, 16, 17, 28])
named = sys.argv[2] if len(sys.argv) > 2 else ""
sizes = [name if name in named else str(size) for name, size in zip("nchw", (n, c, h, w))]
where = [f"{name} in {least}..40" for name, least in zip("nhw", (1, h, w)) if name in named]
print(f"input x f32[{', '.join(sizes)}]" + (" where " + ", ".join(where) if where else ""))
x = "x"
for i in range(r.choice([1, 1, 2, 3])):
    lines, text, *size = conv(x, c, h, w)
    after = r.choice(["{}", "relu({})", "{} + 0.5", "{0} * sigmoid({0})"])
    if size == [c, h, w] and r.random() < 0.5:
        after = f"{after} + {x}"
    print("\n".join(lines))
    print(f"c{i} = {text}")
    print(f"y{i} = {after.format(f'c{i}')}")
    if r.random() < 0.3:
        print(f"output y{i}")
    x, (c, h, w) = f"y{i}", size
print(f"output z = {x}")
