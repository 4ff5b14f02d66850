#!/usr/bin/env python3
"""Runs the cases of the onnx package's backend tests through a pipeline: passes by class and the mean over operators.

    run.py BIN [--how interpret|fuse|nofuse] [--match TEXT] [--jobs N] [-v]

A case is a model with inputs and expected outputs (.pb). Integers must be equal, floats within the case's own rtol and
atol (two units of the last place in formats of 16 bits and less); dtype and shape must match; a sequence is a folder. Status 3 of any stage
counts as unsupported. A case's class is dense when all of it is numbers of known shapes. Needs numpy, onnx, ml_dtypes."""
import argparse
import collections
import os
import re
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


class Unsupported(Exception):
    pass


def value(x):
    """a case's input or output: an array, a list of them (a sequence), or None (an empty optional)"""
    if isinstance(x, list):
        return [value(v) for v in x]
    if isinstance(x, onnx.TensorProto):
        x = None if not x.data_type else numpy_helper.to_array(x)
    if x is not None and (x := np.asarray(x)).dtype.kind in "OUSc":
        raise Unsupported("no numbers: " + str(x.dtype))
    return x


def from_file(path, info):
    """what a .pb file holds, by the type that the model gives for it"""
    kind = info.type.WhichOneof("value")
    p = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    with open(path, "rb") as f:
        p.ParseFromString(f.read())
    return numpy_helper.to_list(p) if kind == "sequence_type" else numpy_helper.to_optional(p) if kind == "optional_type" else p


def storable(a):
    """as run reads and writes it: what NumPy lacks as its bits, an element a byte"""
    if a.dtype == ml_dtypes.bfloat16:
        return a.view(np.uint16)
    if "int" in a.dtype.name and a.dtype.kind not in "iu":
        return a.astype(np.uint8 if a.dtype.name[0] == "u" else np.int8)
    if a.dtype.kind == "V" or a.dtype.itemsize == 1 and a.dtype.kind not in "biu":
        return a.view(np.uint8)
    return a


def write(x, path):
    """x at path and a suffix, which is returned with it"""
    path += ".none" if x is None else ".seq" if isinstance(x, list) else ".npy"
    if x is None:
        open(path, "w").close()
    elif isinstance(x, list):
        os.mkdir(path)
        for i, v in enumerate(x):
            write(v, "%s/%d" % (path, i))
    else:
        np.save(path, storable(x))
    return path


def wrong(path, want, case):
    """None when what stands at path, without its suffix, is right; else why not"""
    if want is None:
        return None if os.path.exists(path + ".none") else "not empty"
    if isinstance(want, list):
        if not os.path.isdir(path + ".seq") or len(os.listdir(path + ".seq")) != len(want):
            return "no sequence of %d" % len(want)
        return next(filter(None, (wrong("%s.seq/%d" % (path, i), v, case) for i, v in enumerate(want))), None)
    got, stored = np.load(path + ".npy"), storable(want)
    if got.dtype != stored.dtype or got.shape != want.shape:
        return "%s%s, not %s%s" % (got.dtype, list(got.shape), want.dtype, list(want.shape))
    if stored.dtype.kind in "biu" and stored.dtype.kind == want.dtype.kind or want.size == 0 or "int" in want.dtype.name:
        return None if (got == stored).all() else "values"
    got = got.view(want.dtype)
    rtol = max(case.rtol, 2 * float(ml_dtypes.finfo(want.dtype).eps)) if want.dtype.itemsize <= 2 else case.rtol
    ok = np.isclose(got.astype("f8"), want.astype("f8"), rtol=rtol, atol=case.atol, equal_nan=True)
    return None if ok.all() else "values"


def data_sets(case, model):
    """(inputs, outputs) of each set: from the case's folder, or as its generator left them"""
    if not case.model_dir:
        return case.data_sets
    held = {t.name for t in model.graph.initializer}
    infos = {"input": [i for i in model.graph.input if i.name not in held], "output": model.graph.output}
    def read(folder, kind):
        paths = [os.path.join(folder, "%s_%d.pb" % (kind, k)) for k in range(len(infos[kind]))]
        return [from_file(p, i) for p, i in zip(paths, infos[kind]) if os.path.exists(p)]
    sets = sorted(d for d in os.listdir(case.model_dir) if d.startswith("test_data_set"))
    return [[read(os.path.join(case.model_dir, s), k) for k in ("input", "output")] for s in sets]


# ---- classes
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
BY_OPERATOR = [("image", {"ImageDecoder"}), ("random", RANDOM), ("control", {"If", "Loop", "Scan"}),
               ("datadep-shape", {"NonZero", "Compress", "Unique", "NonMaxSuppression"})]
BY_TYPE = [("string", "STRING"), ("float8", "FLOAT8"), ("sub8bit", "INT4 INT2 FLOAT4")]


def class_of(case, model):
    """what makes a case more than numbers of known shapes: its domain, its operators, its types; else dense"""
    g = model.graph
    nodes = list(g.node) + [n for f in model.functions for n in f.node]
    ops = {n.op_type for n in nodes}
    domains = {n.domain for n in nodes}
    if "ai.onnx.ml" in domains:
        return "ml"
    if "ai.onnx.preview.training" in domains:
        return "training"
    if "Dropout" in ops and case.name.startswith("test_training"):
        return "random"
    for name, of in BY_OPERATOR[:2]:
        if ops & of:
            return name
    text = " ".join(str(v.type) for v in [*g.input, *g.output])
    types = {int(t) for t in re.findall(r"elem_type: (\d+)", text)}
    types |= {a.i for n in nodes for a in n.attribute if a.name in ("to", "dtype", "output_dtype")}
    names = " ".join(onnx.TensorProto.DataType.Name(t) for t in types if t in onnx.TensorProto.DataType.values())
    for name, words in BY_TYPE:
        if any(re.search(r"\b(U)?%s" % w, names) for w in words.split()):
            return name
    for kind in "optional", "sequence":
        if kind + "_type" in text or any(op.lower().startswith(kind) or op.endswith(kind.capitalize()) for op in ops):
            return kind
    return next((name for name, of in BY_OPERATOR[2:] if ops & of), "dense")


# ---- one case
def run_set(case, a, model, ins, outs, d):
    inputs = " ".join("@%d=%s" % (k, write(x, "%s/in%d" % (d, k))) for k, x in enumerate(ins))
    path = os.path.join(case.model_dir or d, "model.onnx")
    if not case.model_dir:
        onnx.save(model, path)
    line = LINES[a.how].format(t=a.bin + "/trace", r=a.bin + "/run", b=a.bin, i=inputs, o=d + "/out", m=shlex.quote(path))
    try:
        p = subprocess.run(["bash", "-o", "pipefail", "-c", line + '; s=("${PIPESTATUS[@]}"); for x in "${s[@]}"; do'
                            ' [ $x = 0 ] || exit $x; done'], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "fail", "timeout"
    if p.returncode:
        return "unsupported" if p.returncode == 3 else "fail", p.stderr.strip()[:150]
    for k, want in enumerate(outs):
        why = wrong("%s/out/output_%d" % (d, k), want, case)
        if why:
            return "fail", "output %d: %s" % (k, why)
    return "pass", ""


def one(case, a):
    """class, operator, verdict, why"""
    model = case.model or onnx.load(os.path.join(case.model_dir, "model.onnx"))
    op = model.graph.node[0].op_type if len(model.graph.node) == 1 else "models"
    verdict = "unsupported", "no data"
    try:
        for ins, outs in data_sets(case, model):
            with tempfile.TemporaryDirectory() as d:
                verdict = run_set(case, a, model, [value(x) for x in ins], [value(x) for x in outs], d)
            if verdict[0] != "pass":
                break
    except Unsupported as e:
        verdict = "unsupported", str(e)
    return class_of(case, model), op, *verdict


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
    for (kind, c), (name, op, verdict, why) in zip(cases, results):
        classes[name][verdict] += 1
        ops[op][verdict] += 1
        if verdict == "fail" or a.v and verdict != "pass":
            print("%-12s %s: %s" % (verdict, c.name, why))
    for name, n in sorted(classes.items()):
        print("%-20s %5d pass %5d fail %5d unsupported" % (name, n["pass"], n["fail"], n["unsupported"]))
    mean = np.mean([n["pass"] / sum(n.values()) for n in ops.values()])
    passed = sum(n["pass"] for n in classes.values())
    print("%d of %d pass; mean over %d operators %.1f%%" % (passed, len(cases), len(ops), 100 * mean))
    return passed < a.least


if __name__ == "__main__":
    sys.exit(main())
