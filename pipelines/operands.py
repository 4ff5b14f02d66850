#!/usr/bin/env python3
"""A stage in Python, made with `schema`: the sources of every op that commutes come in the order of
their nodes, so that x * y and y * x are one.

    trace x.t | operands.py | run        with the tools in PATH or in the folder SLUICE_BIN"""
import json, os, subprocess, sys

tool = os.path.join(os.environ["SLUICE_BIN"], "schema") if "SLUICE_BIN" in os.environ else "schema"
if {"-h", "--help"} & set(sys.argv):
    sys.exit(print(__doc__))
import msgpack
levels = json.loads(subprocess.check_output([tool]))["levels"]
for document in msgpack.Unpacker(sys.stdin.buffer, max_buffer_size=0):
    ops = levels[document["level"]]["ops"]
    for op, dtype, src, *rest in document["nodes"]:
        if ops[op]["commutes"]:
            src.sort()
    sys.stdout.buffer.write(msgpack.packb(document))
