#!/usr/bin/env python3
"""Sparse derivatives beside CasADi's: the same functions, patterns, colours, values and times.

    python3 -m venv v && v/bin/pip install casadi numpy scipy msgpack
    v/bin/python tests/bench/jac.py --bin build/bin [--only chain,band] [--scale 1] [--seconds 1] [--rounds 3]

Each function stands here twice, as a program of Sluice's and as CasADi's expression (SX).  Compared: the pattern (it must be
the same), the number of colours (CasADi's own: the fewer of columns and rows, or its star colouring; ours must not be more),
the values (rtol 1e-9), the time from expression to derivative, and the time of an evaluation.  Evaluations take turns in one
run, on one thread, the order changing with each round; of CasADi both its virtual machine and its generated C, compiled with
the same compiler by -O3 -march=native, called without Python's conversions.  The table has the least time of each and ours
over the better of CasADi's.  Ends with 1 when a pattern, a colouring or a value is not as it should be."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
import casadi as ca
import msgpack
import numpy as np
import scipy.sparse as sp


def chain(n):
    x = ca.SX.sym("x", n)
    y = ca.sum1((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2)
    return f"""input x f64[{n}]
output y = sum((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2)""", x, y, "hess"


def band(n, k=5):
    x = ca.SX.sym("x", n)
    m = n - k + 1
    y = sum(ca.sin(x[j:m + j] * x[:m]) for j in range(k))
    return f"""input x f64[{n}]
y = sin(x[:{m}] * x[:{m}])
for k in 1..{k - 1} {{ y = y + sin(x[k:{m} + k] * x[:{m}]) }}
output y""", x, y, "jac"


def stencil_parts(n):
    u = ca.SX.sym("u", n, n)
    p = ca.SX(n + 2, n + 2)
    p[1:-1, 1:-1] = u
    r = p[1:-1, 1:-1] * 4 - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] + ca.exp(u)
    # CasADi counts by columns, we by rows: the transpose of the grid is the same function
    return u, r, f"""input x f64[{n}, {n}]
p = pad(x, [[1, 1], [1, 1]])
r = p[1:-1, 1:-1] * 4 - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] + exp(x)
"""


def stencil(n):
    u, r, text = stencil_parts(n)
    return text + "output y = r", u, r, "jac"


def stencil_energy(n):
    u, r, text = stencil_parts(n)
    return text + "output y = sum(r * r)", u, ca.sumsqr(r), "hess"


def arrow(n):
    x = ca.SX.sym("x", n)
    return f"""input x f64[{n}]
output y = sum(x[0] * sin(x)) + sum(x ** 4)""", x, ca.sum1(x[0] * ca.sin(x)) + ca.sum1(x ** 4), "hess"


def blocks(n, k=8):
    x = ca.SX.sym("x", k, n // k)
    y = ca.repmat(ca.sum1(ca.sin(x)), k, 1) * x
    return f"""input x f64[{n // k}, {k}]
output y = sum(sin(x), axis=1)[:, none] * x""", x, y, "jac"


def squares(n):
    """more unknowns than residuals: rows take fewer products than columns"""
    m = n // 2
    x = ca.SX.sym("x", n)
    y = x[:m] * x[m:2 * m]
    return f"""input x f64[{n}]
output y = x[:{m}] * x[{m}:{2 * m}]""", x, y, "jac"


def arm(n):
    """a planar arm of n joints: where its hand is"""
    x = ca.SX.sym("x", n)
    a = ca.cumsum(x)
    return f"""input x f64[{n}]
a = cumsum(x)
output y = stack([sum(cos(a)), sum(sin(a))])""", x, ca.vertcat(ca.sum1(ca.cos(a)), ca.sum1(ca.sin(a))), "jac"


def network(n):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(n, n)) / n ** .5, rng.normal(size=(n, n)) / n ** .5
    x = ca.SX.sym("x", n)
    text = lambda w: "[" + ", ".join("[" + ", ".join(repr(float(v)) for v in r) + "]" for r in w) + "]"
    return f"""input x f64[{n}]
const a f64 = {text(a)}
const b f64 = {text(b)}
output y = tanh(b @ tanh(a @ x))""", x, ca.tanh(ca.mtimes(b, ca.tanh(ca.mtimes(a, x)))), "jac"


CASES = {
    "chain": (chain, 10000), "chain_small": (chain, 100), "band": (band, 10000), "stencil": (stencil, 100),
    "stencil_energy": (stencil_energy, 60), "arrow": (arrow, 10000), "blocks": (blocks, 8000), "products": (squares, 10000),
    "network": (network, 48), "arm": (arm, 12),
}


class Sluice:
    name = "sluice"

    def __init__(self, bin, dir, text, kind):
        self.bin, self.dir = bin, dir
        (dir / "f.t").write_text(text)
        start = time.monotonic()
        g = self.pipe([["trace", "f.t"], [kind, "-o", "y", "-w", "x", "--sparse", "--only"]])
        self.made = time.monotonic() - start
        (dir / "g.mp").write_bytes(g)
        meta = msgpack.unpackb(g, raw=False)["meta"]["sparse"][f"{kind}_y_x"]
        self.colours, self.by = meta["colours"], meta["by"]
        self.shape = meta["shape"]
        self.indptr, self.indices = (np.frombuffer(meta[k], "<i4") for k in ("indptr", "indices"))
        start = time.monotonic()
        (dir / "p.mp").write_bytes(self.pipe([["fuse", "g.mp"], ["render", "-t", "clang"], ["compile"]]))
        self.compiled = time.monotonic() - start
        self.out = f"{kind}_y_x"

    def pipe(self, commands):
        data = None
        for c in commands:
            data = subprocess.run([f"{self.bin}/{c[0]}", *c[1:]], cwd=self.dir, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        return data

    def values(self, x):
        np.save(self.dir / "x.npy", x)
        self.pipe([["run", "p.mp", "x=x.npy", "-o", "."]])
        return np.load(self.dir / f"{self.out}.npy")

    def turn(self, seconds):
        self.pipe([["run", "p.mp", "x=x.npy", "-j", "1", "--seconds", str(seconds), "--bench=b.json"]])
        return min(json.loads((self.dir / "b.json").read_text())["times_ms"])


class Casadi:
    """one call of a Function by its buffers"""

    def __init__(self, name, f, x):
        self.name, (self.buffer, self.call) = name, f.buffer()
        self.x, self.y = np.asfortranarray(x.T if x.ndim == 2 else x).copy(order="F"), np.zeros(f.nnz_out(0))
        self.buffer.set_arg(0, memoryview(self.x.reshape(-1, order="F")))
        self.keep = self.x.reshape(-1, order="F")
        self.buffer.set_arg(0, memoryview(self.keep))
        self.buffer.set_res(0, memoryview(self.y))

    def values(self):
        self.call()
        return self.y.copy()

    def turn(self, seconds):
        least, end = 1e9, time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            self.call()
            least = min(least, time.perf_counter() - start)
        return least * 1e3


def casadi_made(x, y, kind):
    start = time.monotonic()
    y = ca.vec(y)
    d = ca.jacobian(y, ca.vec(x)) if kind == "jac" else ca.hessian(y, ca.vec(x))[0]
    f = ca.Function("f", [x], [d])
    return f, d.sparsity(), time.monotonic() - start


def generated(f, dir, cc, flags, patience):
    start = time.monotonic()
    here = os.getcwd()
    os.chdir(dir)
    f.generate("f.c")
    os.chdir(here)
    try:
        subprocess.run([cc, *flags.split(), "-shared", "-fPIC", "-o", dir / "f.so", dir / "f.c", "-lm"],
                       stderr=subprocess.PIPE, check=True, timeout=patience)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None, 0
    return ca.external("f", str(dir / "f.so")), time.monotonic() - start


def casadi_colours(s, kind):
    if kind == "hess":
        return s.star_coloring().size2()
    return min(s.uni_coloring(s.T).size2(), s.T.uni_coloring(s).size2())


def compare(name, args):
    make, n = CASES[name]
    n = max(8, int(n * args.scale))
    text, x, y, kind = make(n)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as d:
        dir = Path(d)
        ours = Sluice(args.bin, dir, text, kind)
        f, s, made = casadi_made(x, y, kind)
        at = rng.normal(size=x.shape if x.shape[1] > 1 else x.shape[0]) * .5
        at = np.ascontiguousarray(at.T) if at.ndim == 2 else at
        others = [Casadi("casadi", f, at)]
        lib, compiled = generated(f, dir, args.cc, args.cflags, args.patience) if args.code else (None, 0)
        if lib:
            others.append(Casadi("casadi C", lib, at))
        got, want = ours.values(at), others[0].values()
        same = np.array_equal(ours.indptr, s.colind()) and np.array_equal(ours.indices, s.row())
        a = sp.csc_matrix((got, ours.indices, ours.indptr), ours.shape)
        b = sp.csc_matrix((want, s.row(), s.colind()), s.shape)
        error = abs(a - b).max() / max(abs(b).max(), 1e-300)
        colours = casadi_colours(s, kind)
        least = {}
        everyone = [ours, *others]
        for r in range(args.rounds):
            for k in range(len(everyone)):
                who = everyone[(k + r) % len(everyone)]
                t = who.turn(args.seconds)
                least[who.name] = min(t, least.get(who.name, t))
    row = {"name": name, "kind": kind, "shape": ours.shape, "nnz": len(ours.indices), "same": same, "error": float(error),
           "colours": ours.colours, "by": ours.by, "casadi_colours": colours, "made_s": ours.made, "casadi_made_s": made,
           "compiled_s": ours.compiled, "casadi_compiled_s": compiled, "ms": least}
    row["right"] = bool(same and error < 1e-9 and ours.colours <= colours)
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", default="build/bin")
    p.add_argument("--only", default=",".join(CASES))
    p.add_argument("--scale", type=float, default=1)
    p.add_argument("--seconds", type=float, default=.5)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cc", default=os.environ.get("CC", "cc"))
    p.add_argument("--cflags", default="-O3 -march=native", help="for CasADi's generated C")
    p.add_argument("--patience", type=float, default=300, help="seconds for its compiler; then it is left out")
    p.add_argument("--no-code", dest="code", action="store_false", help="without CasADi's generated C")
    p.add_argument("--json", help="the rows, as JSON, into this file")
    args = p.parse_args()
    args.bin = os.path.abspath(args.bin)
    rows = []
    print("| function | | size | places | pattern | colours | CasADi's | made s | CasADi's | run ms | CasADi's | its C | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in args.only.split(","):
        r = compare(name, args)
        rows.append(r)
        ms = r["ms"]
        best = min(v for k, v in ms.items() if k != "sluice")
        c = f"{ms['casadi C']:.4f}" if "casadi C" in ms else "-"
        print(f"| {name} | {r['kind']} | {r['shape'][0]} × {r['shape'][1]} | {r['nnz']} | {'same' if r['same'] else 'DIFFERS'} | "
              f"{r['colours']} {r['by']} | {r['casadi_colours']} | {r['made_s']:.2f} | {r['casadi_made_s']:.2f} | {ms['sluice']:.4f} | "
              f"{ms['casadi']:.4f} | {c} | {ms['sluice'] / best:.2f} |" + ("" if r["right"] else f" WRONG {r['error']:.2g}"), flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    sys.exit(not all(r["right"] for r in rows))


if __name__ == "__main__":
    main()
