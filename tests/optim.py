"""Optimizers and schedules as .t programs, and what they must give, in plain Python.  usage: optim.py FOLDER DTYPE STEPS

Writes FOLDER/NAME.t and FOLDER/NAME/w.npy, v.npy (after STEPS steps) for each line of CASES: two weights, w of [3, 2] and
v of [4], whose gradients are gw = w * 3 - 1 and gv = sin(v) * 4."""
import math
import os
import struct
import sys

from npy import save

folder, dtype, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
W, V = [1, 2, 3, -4, 0.5, 0.25], [0.125, -3, 0, 1.5]


def norm(*xs): return math.sqrt(sum(e * e for x in xs for e in x))


def each(f, *xs): return [f(*e) for e in zip(*xs)]


class Sgd:
    def __init__(self, momentum=0, nesterov=False, weight_decay=0):
        self.momentum, self.nesterov, self.decay, self.kept = momentum, nesterov, weight_decay, {}

    def move(self, name, w, g, lr, step):
        g = each(lambda g, w: g + self.decay * w, g, w)
        m = each(lambda m, g: self.momentum * m + g, self.kept.get(name, [0] * len(w)), g)
        self.kept[name] = m
        d = each(lambda g, m: g + self.momentum * m, g, m) if self.nesterov else m
        return each(lambda w, d: w - lr * d, w, d)


class Adam:
    def __init__(self, kind, weight_decay=0, beta1=0.9, beta2=0.999, eps=1e-8):
        self.kind, self.decay, self.betas, self.eps, self.kept = kind, weight_decay, (beta1, beta2), eps, {}

    def move(self, name, w, g, lr, step):
        b1, b2 = self.betas
        m, v = self.kept.get(name, ([0] * len(w), [0] * len(w)))
        if self.kind == "adam":
            g = each(lambda g, w: g + self.decay * w, g, w)
        m = each(lambda m, g: b1 * m + (1 - b1) * g, m, g)
        v = each(lambda v, g: b2 * v + (1 - b2) * g * g, v, g)
        self.kept[name] = m, v
        r = each(lambda m, v: m / (1 - b1 ** step) / (math.sqrt(v / (1 - b2 ** step)) + self.eps), m, v)
        if self.kind == "adamw":
            w = [e * (1 - lr * self.decay) for e in w]
        if self.kind == "lamb":
            r = each(lambda r, w: r + self.decay * w, r, w)
            lr *= norm(w) / norm(r) if norm(w) and norm(r) else 1
        return each(lambda w, r: w - lr * r, w, r)


def clipped(most):
    return lambda gs: [[e * most / max(norm(*gs), most) for e in g] for g in gs]


plain = lambda gs: gs
constant = lambda lr: lambda k: lr
CASES = {       # NAME: the call, what it is, learning rate of step k from 0, what is done to the gradients
    "sgd": ("sgd(ws, gs, 0.1)", Sgd(), constant(.1), plain),
    "momentum": ("sgd(ws, gs, lr=0.05, momentum=0.9)", Sgd(.9), constant(.05), plain),
    "nesterov": ("sgd(ws, gs, 0.05, 0.75, true, weight_decay=0.125)", Sgd(.75, True, .125), constant(.05), plain),
    "adam": ("adam(ws, gs, lr=0.1)", Adam("adam"), constant(.1), plain),
    "adam_decay": ("adam(ws, gs, 0.1, 0.5, 0.875, 1e-3, 0.25)", Adam("adam", .25, .5, .875, 1e-3), constant(.1), plain),
    "adamw": ("adamw(ws, gs, lr=0.1)", Adam("adamw", .01), constant(.1), plain),
    "lamb": ("lamb(ws, gs, lr=0.125, weight_decay=0.0625)", Adam("lamb", .0625, eps=1e-6), constant(.125), plain),
    "clip": ("sgd(ws, clip_by_norm(gs, 2), 0.1)", Sgd(), constant(.1), clipped(2)),
    "no_clip": ("sgd(ws, clip_by_norm(gs, 1e9), 0.1)", Sgd(), constant(.1), plain),
    "warmup": ("sgd(ws, gs, 0.1 * warmup(k, 3))", Sgd(), lambda k: .1 * min(1, (k + 1) / 3), plain),
    "cosine": ("adamw(ws, gs, 0.2 * cosine_decay(k, 4, last=0.25))", Adam("adamw", .01),
               lambda k: .2 * (.25 + .75 * (1 + math.cos(math.pi * min(k / 4, 1))) / 2), plain),
    "linear": ("sgd(ws, gs, 0.1 * linear_decay(k, 4))", Sgd(), lambda k: .1 * (1 - min(k / 4, 1)), plain),
    "stairs": ("sgd(ws, gs, 0.1 * step_decay(k, 2, factor=0.5))", Sgd(), lambda k: .1 * .5 ** (k // 2), plain),
}


def npy(path, shape, values):
    code = "d" if dtype == "f64" else "f"
    save(path, "<f%d" % struct.calcsize(code), shape, struct.pack("<%d%s" % (len(values), code), *values))


def program(call):
    return """state w %s[3, 2] = [[1, 2], [3, -4], [0.5, 0.25]]
state v %s[4] = [0.125, -3, 0, 1.5]
state k %s = 0
ws, gs = [w, v], [w * 3 - 1, sin(v) * 4]
ws <- %s
k <- k + 1
output w, v
""" % (dtype, dtype, dtype if dtype == "f64" else "i64", call)


for name, (call, how, rate, change) in CASES.items():
    w, v = W, V
    for k in range(steps):
        gw, gv = change([[e * 3 - 1 for e in w], [math.sin(e) * 4 for e in v]])
        w, v = how.move("w", w, gw, rate(k), k + 1), how.move("v", v, gv, rate(k), k + 1)
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name + ".t"), "w") as f:
        f.write(program(call))
    npy(os.path.join(folder, name, "w.npy"), (3, 2), w)
    npy(os.path.join(folder, name, "v.npy"), (4,), v)
