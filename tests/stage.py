#!/usr/bin/env python3
"""The actions stage and split of the schedule on random programs (actions.py's kinds of kernels, some of their operands
constant), against the interpreter.

usage: stage.py SEED COUNT

Of each kernel values are drawn; the ranges over which they vary are split now and then, and the value is staged over
them in any order, in temp or prepared memory.  layout takes the list or refuses it, with status 4 and one line.  What it
takes is proved, alone and against what was fused, interpreted, compiled and run: all give the values of the graph.  The
last line says how many lists were taken and refused, and how many of the former prepared something; the status is 1
when something is wrong."""
import copy
import os
import random
import re
import sys
import tempfile

from actions import KINDS, VALUES, Program, must, near, path, read_kernels, tool

PLAIN = ["--skip", "weights", "--skip", "operands", "--skip", "online"]
LAYOUT = ["--skip", "slices"]
SHORT = re.compile(r"\[\[.*")


def values(r, shape):
    return f"[{', '.join(values(r, shape[1:]) for _ in range(shape[0]))}]" if shape else str(r.randint(-8, 8) / 8)


def constant(r, line):
    """an input of known sizes is a constant now and then"""
    m = re.match(r"input (\w+) f32\[([\d, ]+)\]$", line)
    if not m or r.random() < 0.5:
        return line
    return f"const {m.group(1)} f32 = {values(r, [int(n) for n in m.group(2).split(', ')])}"


def program(r):
    p = Program(r)
    lines = [constant(r, line) for line in r.choice(KINDS)(p, 0)]
    if r.random() < 0.5:        # arithmetic of constants within the kernel that reads them
        lines = [re.sub(r"\bb0\b", "(b0 * 2 + b0)", s) if s.startswith("output") else s for s in lines]
    return p, "\n".join(lines) + "\n"


def written(text):
    """kernel → a buffer that its only call writes"""
    node = {m.group(1): m.group(0) for m in re.finditer(r"^(%\d+) = .*$", text, re.M)}
    made = {}
    for call in re.findall(r"= CALL ((?:%\d+ ?)+)", text):
        kernel, *buffers = call.split()
        store = re.search(r"= KERNEL (%\d+)", node[kernel]).group(1)
        index = re.search(r"= STORE (%\d+)", node[store]).group(1)
        param = re.search(r"= INDEX \w+ (%\d+)", node[index]).group(1)
        name = re.search(r'name: "(\w+)"', node[kernel]).group(1)
        slot = int(re.search(r"slot: (\d+)", node[param]).group(1))
        made[name] = re.search(r'name: "([^"]*)"', node[buffers[slot]]).group(1)
    return made


def lists(r, text):
    made = written(text)
    for name, kernel in read_kernels(text).items():
        staged = [i for i, u in enumerate(kernel.all) if u.op in VALUES and u in kernel.values]
        for i in r.sample(staged, min(len(staged), 3)):
            k, words, b = copy.deepcopy(kernel), [], made[name]
            u = k.all[i]
            for a in sorted(u.free, key=path):
                if r.random() < 0.4 and k.size[a][1] > 1:
                    n = min(near(r, r.choice([*k.size[a], 8])), k.size[a][1])
                    words.append(f"split {b} {a} {n} {r.choice(['', '', 'guard', 'pad', 'overlap'])}")
                    k.split(a, n)
            axes = list(u.free)
            r.shuffle(axes)
            if r.random() < 0.1:
                axes.append(r.randint(0, 4))
            words.append(f"stage {b} {k.value(u)} {' '.join(map(str, axes))} {r.choice(['temp', 'prepared'])}")
            yield "; ".join(words)


def check(r, folder, counts):
    p, source = program(r)
    inputs = [f"{n}=rand" for n in re.findall(r"^input (\w+)", source, re.M)]
    inputs += [f"n={r.randint(p.low, p.high)}"] if "n in" in source else []
    graph = must("trace", given=source.encode())
    fused = must("fuse", given=graph)
    early = must("layout", *PLAIN, "--stop-after", "online", given=fused)
    must("run", "--interpret", *inputs, "-o", f"{folder}/i.npz", given=graph)
    with open(f"{folder}/fused.mp", "wb") as f:
        f.write(fused)
    for words in lists(r, must("show", given=early).decode()):
        told = f"{SHORT.sub('[…', source)}--opt 'SINK: {words}'"
        out = tool("layout", *PLAIN, *LAYOUT, "--opt", f"SINK: {words}", given=fused)
        if out.returncode:
            if out.returncode != 4 or out.stderr.count(b"\n") != 1:
                sys.exit(f"{told}\nstatus {out.returncode}: {out.stderr.decode()}")
            if os.environ.get("WHY"):
                print(f"{words}: {out.stderr.decode()}", end="")
            counts[1] += 1
            continue
        counts[0] += 1
        counts[2] += "prepared" in words
        laid = f"{folder}/laid.mp"
        with open(laid, "wb") as f:
            f.write(out.stdout)
        try:
            if "overlap" not in words:      # that items write the same is shown of loops
                must("prove", laid)
                must("prove", f"{folder}/fused.mp", laid)
            must("run", "--interpret", *inputs, laid, "-o", f"{folder}/a.npz")
            loops = must("lower", "-t", "clang", laid)
            must("prove", given=loops)
            must("run", *inputs, "-o", f"{folder}/b.npz", given=loops)
            for made in "ab":
                must("diff", "--rtol", "1e-4", "--atol", "1e-4", f"{folder}/i.npz", f"{folder}/{made}.npz")
        except SystemExit as e:
            sys.exit(f"{told}\n{e}")


counts = [0, 0, 0]
draw = random.Random(int(sys.argv[1]))
with tempfile.TemporaryDirectory() as where:
    for _ in range(int(sys.argv[2])):
        check(draw, where, counts)
print(f"{counts[0]} taken, {counts[1]} refused, {counts[2]} prepared")
