#!/usr/bin/env python3
"""The end of a detection model, whose every size is data, for any number of boxes, against ONNX Runtime.

    onnx_detection.py BIN

Boxes whose best score is high enough (NonZero, GatherND) go through NonMaxSuppression, Gather and TopK with the lesser of their
number and ten; beside them a ScatterND back and a Range up to their number. Prints what differs; ends with 1 then."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
NODES = """
best = ReduceMax scores axes=[1] keepdims=0
label = ArgMax scores axis=1 keepdims=0
mask = Greater best enough
at = NonZero mask
place = Transpose at perm=[1,0]
b1 = GatherND boxes place
s1 = GatherND best place
l1 = GatherND label place
b2 = Unsqueeze b1 zero
s2 = Unsqueeze s1 zero_one
chosen = NonMaxSuppression b2 s2 most iou
column = Gather chosen two axis=1
keep = Squeeze column one
b3 = Gather b1 keep
s3 = Gather s1 keep
l3 = Gather l1 keep
count = Shape s3
k = Min count ten
s4,order = TopK s3 k
b4 = Gather b3 order
l4 = Gather l3 order
size = Shape best
none = ConstantOfShape size
back = ScatterND none place s1
n = Squeeze count zero
up = Range first n step
"""
HELD = dict(enough=np.array([.6], np.float32), zero=[0], zero_one=[0, 1], one=[1], two=[2], most=[50], iou=np.array([.3], np.float32),
            ten=[10], first=0, step=1)
OUT = "b4", "s4", "l4", "back", "up"


def node(line):
    outs, _, rest = line.partition(" = ")
    op, *words = rest.split()
    attrs = {w.split("=")[0]: eval(w.split("=")[1]) for w in words if "=" in w}
    return helper.make_node(op, [w for w in words if "=" not in w], outs.split(","), **attrs)


def main(bin):
    inputs = [helper.make_tensor_value_info("boxes", 1, ["n", 4]), helper.make_tensor_value_info("scores", 1, ["n", 3])]
    graph = helper.make_graph([node(line) for line in NODES.split("\n") if line], "g", inputs, [onnx.ValueInfoProto(name=o) for o in OUT],
                              [numpy_helper.from_array(np.array(v), k) for k, v in HELD.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    onnx.save(model, "m.onnx")
    session = onnxruntime.InferenceSession("m.onnx")
    tool = lambda text: subprocess.run(["bash", "-o", "pipefail", "-c", text], env=dict(os.environ, PATH=bin + ":" + os.environ["PATH"]), check=True)
    tool("trace m.onnx > g.mp && fuse g.mp | render -t clang | compile > p.mp")
    rng, bad = np.random.default_rng(3), 0
    for n, scale in (1, 1), (7, .3), (60, 1), (400, 1), (1000, .62):
        corner = rng.random((n, 2)) * 10
        given = dict(boxes=np.hstack([corner, corner + 1 + rng.random((n, 2)) * 3]).astype(np.float32),
                     scores=(rng.random((n, 3)) * scale).astype(np.float32))
        for name, a in given.items():
            np.save(name + ".npy", a)
        for how in "--interpret g.mp", "p.mp":
            tool(f"run {how} boxes=boxes.npy scores=scores.npy -o out")
            for name, want in zip(OUT, session.run(list(OUT), given)):
                have = np.load(f"out/{name}.npy")
                if have.shape != want.shape or not np.array_equal(have, want):
                    print(f"{n} boxes, {how}: {name} {have.shape}, wanted {want.shape}")
                    bad += 1
    sys.exit(bad > 0)


bin = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main(bin)
