#!/usr/bin/env python3
"""The action fuse_at on random programs, chains of stencils, convolutions, elementwise steps and norms, against the
interpreter.

usage: fuse_at.py SEED COUNT

Each program is fused; of each temporary that is left a loop of its reader and a number of iterations are drawn, and now
and then the list goes on with what the first one's producer reads.  layout takes the list or refuses it, with status 4
and one line.  What it takes is interpreted, proved, compiled and run: all give the values of the graph.  The last line
says how many lists were taken and refused; the status is 1 when something is wrong."""
import os
import random
import re
import subprocess
import sys
import tempfile

TOOLS = os.environ["BIN"]
LAYOUT = ["--skip", "slices"]


def tool(name, *args, given=None):
    return subprocess.run([f"{TOOLS}/{name}", *args], input=given, capture_output=True)


def must(told, name, *args, given=None):
    p = tool(name, *args, given=given)
    if p.returncode:
        print(f"{told}\n{name}: status {p.returncode}: {p.stderr.decode()}")
        sys.exit(1)
    return p.stdout


def rows_of(rank):
    return "" if rank == 2 else ":, :, "


def step(r, x, rank, i):
    """an expression of x, of the same rank; sizes become smaller by 2 at most"""
    rows = rows_of(rank)
    kinds = [f"sqrt(abs({x})) + 1", f"tanh({x} * {i + 1})",
             f"{x}[{rows}1:, :] + {x}[{rows}:-1, :]", f"{x}[{rows}2:, 1:] * {x}[{rows}:-2, :-1] + {x}[{rows}1:-1, 1:]",
             f"{x} - mean({x}, axis=-1, keepdims=true)", f"softmax({x})", f"pad({x}, [{'[0, 0], ' * (rank - 1)}[1, 1]])",
             f"{x} / (1 + max(abs({x}), axis=-1, keepdims=true))", f"mean({x}) * {x}"]
    # scaled, so that a softmax behind several of them does not magnify what order sums are taken in
    convs = [f"conv2d({x}, w{i}) * 0.1", f"conv2d({x}, w{i}, padding=1) * 0.1", f"conv2d({x}, w{i}, stride=2) * 0.1",
             f"relu(conv2d({x}, w{i}, dilation=2) * 0.1)"]
    return r.choice(convs if rank == 4 and r.random() < 0.6 else kinds)


def program(r):
    rank = r.choice([2, 2, 4])
    shape = [r.choice([23, 32, 41]), r.choice([24, 33, 40])]
    lines = [f"input x f32[{', '.join(map(str, ([r.choice([1, 2]), 3] if rank == 4 else []) + shape))}]"]
    steps, x = [], "x"
    for i in range(r.choice([2, 3, 3, 4])):
        y = step(r, x, rank, i)
        lines += [f"input w{i} f32[3, 3, 3, 3]"] if f"w{i}" in y else []
        steps.append(f"a{i} = contiguous({y})")
        x = f"a{i}"
    # rows of a norm are read by columns too, so that it stays a call of its own
    if r.random() < 0.6:
        steps.append(f"z = softmax({x})")
        x = f"(z[{rows_of(rank)}1:, :] + z[{rows_of(rank)}:-1, :])"
    return "\n".join(lines + steps + [f"output y = {x} * 2"]) + "\n"


def lists(r, source, text):
    """a temporary, a loop of its reader, how many of its iterations; then what the producer reads"""
    temps = re.findall(r'^(%\d+) = BUFFER.*name: "([^"]*)".*role: "temp"', text, re.M)
    r.shuffle(temps)
    for _, name in temps:
        loop = r.choice([0, 1, 2, 2] if ", 3, " in source else [0, 0, 0, 1])
        n = r.choice(["", " 1", " 2", " 3", " 5", " 8"] if loop > 1 or ", 3, " not in source else [""])
        more = [f"; fuse_at {other} {loop}" for _, other in temps if other != name]
        yield f"fuse_at {name} {loop}{n}" + (r.choice(more) if more and r.random() < 0.4 else "")


def check(r, folder, skip, counts):
    source = program(r)
    inputs = [f"{n}=rand" for n in re.findall(r"^input (\w+)", source, re.M)]
    graph = must(source, "trace", given=source.encode())
    fused = must(source, "fuse", given=graph)
    early = must(source, "layout", "--stop-after", "online", *skip, given=fused)
    must(source, "run", "--interpret", *inputs, "-o", f"{folder}/i.npz", given=graph)
    for words in lists(r, source, must(source, "show", given=early).decode()):
        told = f"{source}{' '.join(skip)} --opt 'SINK: {words}'"
        p = tool("layout", *skip, *LAYOUT, "--opt", f"SINK: {words}", given=fused)
        if p.returncode:
            if p.returncode != 4 or p.stderr.count(b"\n") != 1:
                print(f"{told}\nstatus {p.returncode}: {p.stderr.decode()}")
                sys.exit(1)
            counts[1] += 1
            continue
        counts[0] += 1
        must(told, "prove", given=p.stdout)
        must(told, "run", "--interpret", *inputs, "-o", f"{folder}/a.npz", given=p.stdout)
        loops = must(told, "lower", "-t", "clang", given=p.stdout)
        must(told, "prove", given=loops)
        must(told, "run", *inputs, "-o", f"{folder}/b.npz", given=loops)
        for made in "ab":
            must(told, "diff", "--rtol", "1e-4", "--atol", "1e-4", f"{folder}/i.npz", f"{folder}/{made}.npz")


counts = [0, 0]
draw = random.Random(int(sys.argv[1]))
with tempfile.TemporaryDirectory() as where:
    for _ in range(int(sys.argv[2])):
        check(draw, where, draw.choice([[], ["--skip", "blocks"]]), counts)
print(f"{counts[0]} taken, {counts[1]} refused")
