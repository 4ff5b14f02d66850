#!/usr/bin/env python3
"""Runs the cases of the onnx package's backend tests through a pipeline: passes by class and the mean over operators.

    run.py BIN [--how interpret|fuse|nofuse] [--match TEXT] [--jobs N] [-v]

A case is a model with inputs and expected outputs (.pb). Integers must be equal, floats within the case's own rtol and
atol (two units of the last place in formats of 16 bits and less); dtype and shape must match. Status 3 of any stage counts as unsupported. Needs numpy, onnx, ml_dtypes."""
import argparse
import collections
import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

LINES = {
    "interpret": "{t} --shapes-from {i} {m} | {r} --interpret -o {o} --numbered {i}",
    "fuse": "{t} --shapes-from {i} {m} | {b}/fuse | {b}/render -t clang | {r} -o {o} --numbered {i}",
    "nofuse": "{t} --shapes-from {i} {m} | {b}/schedule | {b}/render -t clang | {r} -o {o} --numbered {i}",
}


def array(path):
    """the tensor in a .pb file, None when it holds no dense number tensor"""
    t = onnx.TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    if not t.data_type or t.data_type == onnx.TensorProto.STRING:
        return None
    return numpy_helper.to_array(t)


def storable(a):
    """as run reads and writes it: what NumPy lacks as its bits"""
    if a.dtype == ml_dtypes.bfloat16:
        return a.view(np.uint16)
    if a.dtype.kind == "V" or a.dtype.itemsize == 1 and a.dtype.kind not in "biu":
        return a.view(np.uint8)
    return a


def read_set(folder, kind):
    out = []
    while os.path.exists(p := os.path.join(folder, "%s_%d.pb" % (kind, len(out)))):
        out.append(array(p))
    return out


def wrong(got, want, case):
    stored = storable(want)
    if got.dtype != stored.dtype or got.shape != want.shape:
        return "%s%s, not %s%s" % (got.dtype, list(got.shape), want.dtype, list(want.shape))
    if want.dtype.kind in "biu" or want.size == 0:
        return None if (got == want).all() else "values"
    got = got.view(want.dtype)
    rtol = max(case.rtol, 2 * float(ml_dtypes.finfo(want.dtype).eps)) if want.dtype.itemsize <= 2 else case.rtol
    ok = np.isclose(got.astype("f8"), want.astype("f8"), rtol=rtol, atol=case.atol, equal_nan=True)
    return None if ok.all() else "values"


def data_sets(case):
    """(inputs, outputs) of each set: from the case's folder, or as its generator left them"""
    if not case.model_dir:
        return case.data_sets
    sets = sorted(d for d in os.listdir(case.model_dir) if d.startswith("test_data_set"))
    return [[read_set(os.path.join(case.model_dir, s), k) for k in ("input", "output")] for s in sets]


def model_of(case, folder):
    """path of the model, written to folder when it has no file"""
    if case.model_dir:
        return os.path.join(case.model_dir, "model.onnx")
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    return os.path.join(folder, "model.onnx")


def is_dense(x):
    return isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind not in "OUSc"


def one(case, a):
    for ins, outs in data_sets(case):
        if not all(is_dense(x) for x in [*ins, *outs]):
            return "unsupported", "no dense numbers"
        ins, outs = [np.asarray(x) for x in ins], [np.asarray(x) for x in outs]
        with tempfile.TemporaryDirectory() as d:
            args = []
            for k, x in enumerate(ins):
                np.save("%s/in%d.npy" % (d, k), storable(x))
                args.append("@%d=%s/in%d.npy" % (k, d, k))
            line = LINES[a.how].format(t=a.bin + "/trace", r=a.bin + "/run", b=a.bin, i=" ".join(args), o=d + "/out",
                                       m=shlex.quote(model_of(case, d)))
            try:
                p = subprocess.run(["bash", "-o", "pipefail", "-c", line + '; s=("${PIPESTATUS[@]}"); for x in "${s[@]}"; do'
                                    ' [ $x = 0 ] || exit $x; done'], capture_output=True, text=True, timeout=60)
            except subprocess.TimeoutExpired:
                return "fail", "timeout"
            if p.returncode:
                return "unsupported" if p.returncode == 3 else "fail", p.stderr.strip()[:150]
            for k, want in enumerate(outs):
                why = wrong(np.load("%s/out/output_%d.npy" % (d, k)), want, case)
                if why:
                    return "fail", "output %d: %s" % (k, why)
    return "pass", ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bin")
    p.add_argument("--how", choices=LINES, default="fuse")
    p.add_argument("--match", default="")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--least", type=int, default=0, help="status 1 when fewer pass")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    kinds = ["node", "simple", "pytorch-operator", "pytorch-converted"]
    warnings.simplefilter("ignore")
    cases = [(k, c) for k in kinds for c in load_model_tests(kind=k) if a.match in c.name]
    with ThreadPoolExecutor(a.jobs) as ex:
        results = list(ex.map(lambda kc: one(kc[1], a), cases))
    classes, ops = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for (kind, c), (verdict, why) in zip(cases, results):
        graph = c.model.graph if c.model else None
        op = graph.node[0].op_type if graph and len(graph.node) == 1 else kind
        classes[kind][verdict] += 1
        ops[op][verdict] += 1
        if verdict == "fail" or a.v and verdict != "pass":
            print("%-12s %s: %s" % (verdict, c.name, why))
    for kind, n in classes.items():
        print("%-20s %5d pass %5d fail %5d unsupported" % (kind, n["pass"], n["fail"], n["unsupported"]))
    mean = np.mean([n["pass"] / sum(n.values()) for n in ops.values()])
    passed = sum(n["pass"] for n in classes.values())
    print("%d of %d pass; mean over %d operators %.1f%%" % (passed, len(cases), len(ops), 100 * mean))
    return passed < a.least


if __name__ == "__main__":
    sys.exit(main())
