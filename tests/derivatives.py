"""Derivatives from differences, and sparse ones made dense, with Python's own means; arrays of f64 in .npy files.

    derivatives.py around X.npy OUT.npy            [2n, …X]: X with each element moved by ±h in turn
    derivatives.py near X.npy Y.npy JAC.npy [RTOL] Y [2n, …] at those: JAC is its derivative by X
    derivatives.py full JAC V.npy PTR.npy IND.npy  the dense JAC has the values V at that pattern, and 0 elsewhere"""
import struct
import sys

import npy

H = 1e-5


def read(path):
    descr, shape, data = npy.parts(open(path, "rb").read())
    kind = {"<f8": "d", "<i4": "i"}[descr]
    return list(shape), list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))


def write(path, shape, values):
    npy.save(path, "<f8", shape, struct.pack(f"<{len(values)}d", *values))


def around(x, out):
    shape, v = read(x)
    rows = []
    for k in range(len(v)):
        for h in (H, -H):
            rows += v[:k] + [v[k] + h] + v[k + 1:]
    write(out, [2 * len(v)] + shape, rows)


def near(x, y, jac, rtol="1e-6"):
    n = len(read(x)[1])
    v, j = read(y)[1], read(jac)[1]
    m = len(v) // (2 * n)
    size = max([1.0] + [abs(a) for a in j])
    for k in range(n):
        for i in range(m):
            d = (v[2 * k * m + i] - v[(2 * k + 1) * m + i]) / (2 * H)
            if not abs(d - j[i * n + k]) <= float(rtol) * size:
                sys.exit(f"row {i} column {k}: {j[i * n + k]}, by differences {d}")


def full(jac, values, ptr, ind):
    j, v, p, r = (read(a)[1] for a in (jac, values, ptr, ind))
    n = len(p) - 1
    m = len(j) // max(n, 1)
    dense = [0.0] * (m * n)
    for c in range(n):
        if r[p[c]:p[c + 1]] != sorted(set(r[p[c]:p[c + 1]])):
            sys.exit(f"column {c}: rows {r[p[c]:p[c + 1]]}")
        for k in range(p[c], p[c + 1]):
            dense[r[k] * n + c] = v[k]
    size = max([1.0] + [abs(a) for a in j])
    for k in range(m * n):
        if not abs(dense[k] - j[k]) <= 1e-12 * size:
            sys.exit(f"row {k // n} column {k % n}: {dense[k]}, dense {j[k]}")


{"around": around, "near": near, "full": full}[sys.argv[1]](*sys.argv[2:])
