"""A contraction, a reduction or a row kernel of random shape as a .t program: sizes 1, primes, around those of tiles.  usage: tiles.py SEED"""
import random
import sys

r = random.Random(int(sys.argv[1]))
SIZES = [1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 97, 129]


def size(most=200):
    return r.choice([s for s in SIZES if s <= most])


def values(shape):
    if not shape:
        return f"{r.randint(-8, 8) / 8}"
    return "[" + ", ".join(values(shape[1:]) for _ in range(shape[0])) + "]"


def contraction():
    """a @ b, either operand transposed, batched, with constant weights, and something behind it."""
    m, n, k = size(), size(), size()
    batch = r.choice([[], [], [2], [3]])
    left, right = ([k, m], "transpose(a, {})") if r.random() < 0.3 else ([m, k], "a"), None
    a = "input a f32" + str(batch + left[0])
    axes = list(range(len(batch))) + [len(batch) + 1, len(batch)]
    x = left[1].format(axes)
    turned = r.random() < 0.4
    shape = [n, k] if turned else [k, n]
    constant = r.random() < 0.4 and n * k <= 4000
    b = f"const b f32{shape} = {values(shape)}" if constant else f"input b f32{shape}"
    y = f"{x} @ {'transpose(b, [1, 0])' if turned else 'b'}"
    after = r.choice(["{}", "relu({})", "{} + c", "{} * sigmoid({})", "softmax({})", "sum({}, axis=-1)"])
    lines = [a, b] + ([f"input c f32[{n}]"] if "c" in after.replace("softmax", "") else [])
    return lines, after.replace("{}", f"({y})")


def reduction():
    shape = [size(65) for _ in range(r.choice([1, 2, 2, 3]))]
    axes = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    f = r.choice(["sum", "max", "min", "mean"])
    inner = r.choice(["x", "x * x", "exp(x)", "x + 1"])
    return [f"input x f32{shape}"], f"{f}({inner}, axis={axes}) + 0.5"


def rows():
    shape = [size(33), size()]
    y = r.choice([
        "softmax(x)", "x - mean(x, axis=1, keepdims=true)", "x / (sum(x * x, axis=1, keepdims=true) + 1)",
        "layernorm(x)", "logsumexp(x, axis=1)", "softmax(x, axis=0)", "x - max(x, axis=0, keepdims=true)"])
    return [f"input x f32{shape}"], y


lines, y = r.choice([contraction, contraction, reduction, rows])()
print("\n".join(lines))
print(f"output y = {y}")
