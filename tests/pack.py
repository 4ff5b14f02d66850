#!/usr/bin/env python3
"""Documents packed as libraries against `run`: the same bits from NAME.py and from `run` of the library.

    pack.py BIN FILE…            .t, .onnx or a document of any level; needs NumPy
    TARGET=c KEEP=DIR pack.py …

Inputs are random, sizes small; each document is called three times, so states move.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

BIN, TARGET = Path(sys.argv[1]), os.environ.get("TARGET", "clang")
CALLS = 3


class Failed(Exception):
    pass


def tool(command, **more):
    """Runs tools with a shell; the status and what it said."""
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, **more)
    return p.returncode, p.stderr.strip()


def load(folder, name):
    spec = importlib.util.spec_from_file_location(name, folder / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def random_input(rng, s, shape):
    if s.dtype.kind == "f":
        return rng.random(shape).astype(s.dtype)
    if s.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(s.dtype)
    return rng.integers(0, 4, shape).astype(s.dtype)


def sizes_of(f, rng):
    """A small value of each size that is the caller's."""
    return {s.name.decode(): int(rng.integers(max(s.min, 1), max(min(s.max, s.min + 6), 1) + 1))
            for s in (f._f.size[i] for i in range(f._f.sizes)) if not s.set}


def same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    return a.dtype.kind == "f" and bool(np.all((a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))))


def compare(what, names, one, other):
    for n in names:
        a, b = one[n], other[n]
        if not same(a, b):
            differ = np.flatnonzero(a.ravel() != b.ravel())[:3] if a.shape == b.shape else ()
            raise Failed("%s: %s differs: %s %s, %s %s at %s" % (
                what, n, a.dtype, a.shape, b.dtype, b.shape,
                [(int(i), a.ravel()[i], b.ravel()[i]) for i in differ]))


def load_all(folder, names):
    return {n: np.load(folder / (n + ".npy")) for n in names}


def check(file, folder, rng):
    """'passed', or why the document is no case."""
    program, lib = folder / "p.mp", folder / "lib"
    read = "trace" if file.suffix in (".t", ".onnx", ".mp") else "show -p"
    status, said = tool("%s %s | fuse | render -t %s > %s" % (read, file, TARGET, program))
    if status:
        return "is refused: " + said[:100]
    status, said = tool("pack --name m --so -o %s %s" % (lib, program))
    if status == 3:
        return "is not supported: " + said[:100]
    if status:
        raise Failed("pack ended with %d: %s" % (status, said))
    f = load(lib, "m")
    for attempt in range(8):
        sizes = sizes_of(f, rng)
        arrays = {}
        for s in f.inputs:
            if s.shape is not None and s.read:
                arrays[s.name] = random_input(rng, s, tuple(eval(d, dict(sizes)) for d in s.shape))
                np.save(folder / (s.name + ".npy"), arrays[s.name])
        given = " ".join(["'%s=%s'" % (n, folder / (n + ".npy")) for n in arrays] +
                         ["%s=%d" % i for i in sizes.items()])
        status, said = tool("run %s -n %d %s -o %s" % (program, CALLS, given, folder / "run"))
        if status == 0:
            break
        # sizes that do not go together, or data outside its bounds: the library has to say so too
        try:
            f(**arrays, **sizes)
        except ValueError:
            continue
        raise Failed("run ended with %d (%s), the library did not" % (status, said))
    else:
        return "has no sizes that fit: " + said[:100]
    names = [s.name for s in f.outputs]
    want = load_all(folder / "run", names)
    f.reset()
    for _ in range(CALLS):
        out = f(**arrays, **sizes)
    out = out if isinstance(out, tuple) else (out,)
    compare("NAME.py", names, dict(zip(names, out)), want)
    status, said = tool("run --allow-code %s/libm.so -n %d %s -o %s" % (lib, CALLS, given, folder / "lib_run"))
    if status:
        raise Failed("run of the library ended with %d: %s" % (status, said))
    compare("run", names, load_all(folder / "lib_run", names), want)
    return "passed"


def main():
    failed = passed = 0
    os.environ["PATH"] = "%s:%s" % (BIN, os.environ["PATH"])
    for path in map(Path, sys.argv[2:]):
        with tempfile.TemporaryDirectory() as d:
            rng = np.random.default_rng(zlib.crc32(path.name.encode()) if "SEED" not in os.environ else int(os.environ["SEED"]))
            try:
                said = check(path.resolve(), Path(d), rng)
            except Failed as e:
                print("%s: %s" % (path, e))
                failed += 1
                continue
            passed += said == "passed"
            if said != "passed":
                print("%s %s" % (path, said), file=sys.stderr)
    print("%d passed, %d failed, %d are no cases" % (passed, failed, len(sys.argv) - 2 - passed - failed))
    return failed > 0


sys.exit(main())
