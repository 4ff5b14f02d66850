#!/usr/bin/env python3
"""check.py BIN FOLDER [EXPORT…]: exports that make.py wrote, all or those named (tagger.script), each compiled once, and that
program run on every size of its inputs, against ONNX Runtime. Ends with 1 when one differs."""
import glob
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from published import Differs, check                                # noqa: E402


def feeds(path, count):
    with np.load(path) as arrays:
        values = {tuple(map(int, k.split("_"))): arrays[k] for k in arrays.files}
    for size in range(1 + max(i for i, _ in values)):
        yield [values[size, k] for k in range(count) if (size, k) in values]


def main():
    bin_, folder = map(os.path.abspath, sys.argv[1:3])
    names = sys.argv[3:] or sorted(os.path.basename(p)[:-5] for p in glob.glob(folder + "/*.onnx"))
    agree = 0
    for name in names:
        arrays = os.path.join(folder, name.split(".")[0] + ".npz")
        with tempfile.TemporaryDirectory() as tmp:
            os.symlink(os.path.join(folder, name + ".onnx"), tmp + "/m.onnx")
            try:
                print(f"{name}: {check(bin_, tmp, name, lambda: feeds(arrays, 9))}", flush=True)
                agree += 1
            except Differs as why:
                print(f"{name}: {why}", flush=True)
    print(f"{agree} of {len(names)} agree")
    sys.exit(agree < len(names))


main()
