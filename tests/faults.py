#!/usr/bin/env python3
"""Faults of places, planted one by one in correct documents: each has to be refused.

    faults.py BIN [--seed N] [-n N] [-v]

Programs are brought to levels schedule and loops; an edit of the text form makes an index leave its buffer, for certain, and
`prove` must end with status 4, one line and nothing on standard output.  Where the line shows a case, the index in it is
outside, and ranges and sizes are within theirs.  To add a kind of fault, add a function to KINDS: it gets the lines of a
document, and edits them or returns False."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAMS = {
    "matmul": "input x f32[5, 8]\ninput w f32[8, 6]\noutput y = relu(x @ w)",
    "open": "input x f32[n, 6] where n in 1..9\nconst w f32 = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 1], [2, 3]]\noutput y = softmax(x @ w)",
    "pad": "input x f32[3, 7]\noutput y = pad(x, [[1, 2], [2, 1]]) * 2",
    "conv": "input x f32[1, 2, 6, 6]\ninput w f32[3, 2, 3, 3]\noutput y = relu(conv2d(x, w, padding=1))",
    "gather": "input x f32[6, 4]\ninput i i64[5]\noutput y = x[i] + 1",
    "scatter": "input x f32[8]\ninput i i64[5]\ninput v f32[5]\noutput y = scatter(x, i, v, how=\"add\")",
    "sort": "input x f32[4, 9]\noutput y = sort(x)",
    "slices": "input q f32[8, 192, 8]\ninput k f32[8, 192, 8]\ninput v f32[8, 192, 8]\n"
              "output y = softmax(q @ transpose(k, [0, 2, 1])) @ v",
    "concat": "input x f32[n, 3] where n in 1..9\ninput z f32[4, 3]\noutput y = concat(x, z)",
}
STAGES = {
    "schedule": [["schedule"]], "fuse": [["fuse"]], "layout": [["fuse"], ["layout", "-t", "clang"]],
    "clang": [["fuse"], ["lower", "-t", "clang"]], "opencl": [["fuse"], ["lower", "-t", "opencl"]],
}
FRESH = 900000          # numbers of nodes that are put in


def documents(tool):
    for name, text in PROGRAMS.items():
        with tempfile.NamedTemporaryFile("w", suffix=".t") as f:
            f.write(text + "\n")
            f.flush()
            graph = tool(["trace", f.name])[1]
        for by, stages in STAGES.items():
            doc = graph
            for stage in stages:
                doc = tool(stage, doc)[1]
            yield f"{name}, {by}", tool(["show"], doc)[1].decode().splitlines()


def numbered(lines, pattern):
    return [i for i, line in enumerate(lines) if re.match(r"%\d+ = " + pattern, line)]


def pick(rng, places):
    return rng.choice(places) if places else None


def used(lines, i):
    """whether a LOAD or a STORE uses the INDEX on this line"""
    number = lines[i].split()[0]
    return any(re.match(rf"%\d+ = (LOAD \w+|STORE) {number}\b", line) for line in lines)


def shifted(lines, i, by):
    """the last index on line i becomes itself + by"""
    head, last, rest = re.match(r"(%\d+ = INDEX \w+ %\d+(?: %\d+)*) (%\d+)(.*)", lines[i]).groups()
    a, b = FRESH, FRESH + 1
    lines[i:i + 1] = [f"%{a} = CONST i64 {by}", f"%{b} = ADD i64 {last} %{a}", f"{head} %{b}{rest}"]


def index_far(lines, rng):
    i = pick(rng, [i for i in numbered(lines, r"INDEX \w+ %\d+ %\d+") if used(lines, i)])
    if i is None:
        return False
    shifted(lines, i, rng.choice((-1, 1)) * rng.choice((1 << 20, 1 << 40, (1 << 62) + 1)))


def store_below(lines, rng):
    """a STORE that begins at 0 begins at -1"""
    stores = {re.search(r"STORE (%\d+)", line)[1] for line in lines if re.match(r"%\d+ = STORE", line)}
    i = pick(rng, [i for i in numbered(lines, r"INDEX \w+ %\d+ %\d+")
                   if lines[i].split()[0] in stores and not gated(lines, lines[i].split()[0])])
    if i is None:
        return False
    shifted(lines, i, -4096)


def gated(lines, number):
    return any(re.match(rf"%\d+ = STORE {number} %\d+ %\d+", line) for line in lines)


def gate_gone(lines, rng):
    """of a place that data tells (but the places of a sort are known to be inside)"""
    if any('"sort_' in line for line in lines):
        return False
    loads = {m[1] for line in lines if (m := re.match(r"(%\d+) = LOAD i64", line))}
    names = {m[1]: m[2] for line in lines if (m := re.match(r"(%\d+) = LET i64 (%\d+)", line))}
    nodes = {line.split()[0]: re.findall(r"%\d+", line)[1:] for line in lines if line.startswith("%")}

    def from_data(n, depth=9):
        return n in loads or depth and any(from_data(s, depth - 1) for s in nodes.get(n, ()))
    places = []
    for i in numbered(lines, r"LOAD f32 %\d+ %\d+"):
        index = re.findall(r"%\d+", lines[i])[1]
        # what a gated STORE updates is loaded only where it stores
        if any(from_data(e) for e in nodes[index][1:]) and not gated(lines, index):
            places.append(i)
    i = pick(rng, places)
    if i is None or not names and "loops" in lines[0]:
        return False
    lines[i] = re.sub(r"(LOAD f32 %\d+) %\d+", r"\1", lines[i])


def range_negative(lines, rng):
    """for some sizes"""
    n = numbered(lines, "VAR")
    i = pick(rng, [i for i in numbered(lines, r"RANGE i64 %\d+") if '"vector"' not in lines[i]])
    if i is None or not n:
        return False
    a, b = FRESH, FRESH + 1
    lines[i:i + 1] = [f"%{a} = CONST i64 -5", f"%{b} = ADD i64 {lines[n[0]].split()[0]} %{a}",
                      re.sub(r"RANGE i64 %\d+", f"RANGE i64 %{b}", lines[i])]


def buffer_small(lines, rng):
    i = pick(rng, [i for i in numbered(lines, "BUFFER") if "data:" not in lines[i] and re.search(r"shape: \[.*?\d+\]", lines[i])])
    if i is None:
        return False
    lines[i] = re.sub(r"(shape: \[.*?)(\d+)\]", lambda m: f"{m[1]}{int(m[2]) - 1}]", lines[i], count=1)


def slot_far(lines, rng):
    i = pick(rng, numbered(lines, "PARAM"))
    lines[i] = re.sub(r"slot: \d+", f"slot: {rng.choice((9, 200, 1 << 33))}", lines[i])


def grid_large(lines, rng):
    i = pick(rng, [i for i in numbered(lines, "KERNEL") if re.search(r"global_size: \[\d+", lines[i])])
    if i is None:
        return False
    lines[i] = re.sub(r"global_size: \[(\d+)", lambda m: f"global_size: [{int(m[1]) + 1}", lines[i])


def vars_differ(lines, rng):
    i = pick(rng, numbered(lines, "VAR"))
    if i is None:
        return False
    lines[i] = re.sub(r'\["(\w+)", (\d+), (\d+)\]', lambda m: f'["{m[1]}", {m[2]}, {int(m[3]) - 1}]', lines[i])


def registers_few(lines, rng):
    i = pick(rng, [i for i in numbered(lines, r"INDEX \w+ %\d+ %\d+") if used(lines, i)
                   and re.match(rf"{re.findall(r'%[0-9]+', lines[i])[1]} = DEFINE_REG", next(
                       x for x in lines if x.startswith(re.findall(r"%[0-9]+", lines[i])[1] + " = ")))])
    if i is None:
        return False
    shifted(lines, i, 4096)


def turned(lines, i, index, at):
    """the LOAD on line i reads, along one axis of its INDEX, the last place where it read the first"""
    sources = re.findall(r"%\d+", index)[1:]
    size = next(m[1] for line in lines if (m := re.match(rf"{sources[at]} = RANGE i64 (%\d+)", line)))
    last = next(int(m[1]) - 1 for line in lines if (m := re.match(rf"{size} = CONST i64 (\d+)", line)))
    a, b, c, d, e = (f"%{FRESH + k}" for k in range(5))
    new = [f"{a} = CONST i64 -1", f"{b} = MUL i64 {sources[at]} {a}", f"{c} = CONST i64 {last}", f"{d} = ADD i64 {b} {c}",
           f"{e} = INDEX f32 " + " ".join(sources[:at] + [d] + sources[at + 1:])]
    lines[i:i + 1] = new + [re.sub(r"(LOAD f32) %\d+", rf"\1 {e}", lines[i])]


def indices(lines, pattern):
    return {line.split()[0]: line.split("#")[0] for line in lines if re.match(r"%\d+ = INDEX f32 " + pattern, line)}


def slice_turned(lines, rng):
    """a call reads what another slice writes"""
    if not any("slice: {first: false" in line for line in lines):
        return False
    kept = {line.split()[0] for line in lines if re.match(r"%\d+ = PARAM f32 {slot: 1, shape: \[8, 192, 192", line)}
    index = {n: text for n, text in indices(lines, r"%\d+ %\d+ %\d+").items() if text.split()[4] in kept}
    i = pick(rng, [i for i in numbered(lines, r"LOAD f32 %\d+") if lines[i].split()[4] in index])
    turned(lines, i, index[lines[i].split()[4]], 1)


def slice_axis(lines, rng):
    """calls that share slices have other loops for them"""
    i = pick(rng, [i for i in numbered(lines, "KERNEL") if "slice: {first: false" in lines[i]])
    if i is None:
        return False
    lines[i] = re.sub(r"(first: false, axes: \[)\d+", rf"\g<1>{rng.choice((1, 2))}", lines[i])


def lane_turned(lines, rng):
    """a lane of a vector reads what another one writes"""
    lanes = {line.split()[0] for line in lines if re.match(r'%\d+ = RANGE i64 %\d+ \[\d+, "vector"', line)}
    registers = {line.split()[0] for line in lines if re.match(r"%\d+ = DEFINE_REG f32", line)}
    index = {n: text for n, text in indices(lines, r"%\d+ %\d+ ").items()
             if text.split()[4] in registers and text.split()[5] in lanes}
    uses = {line.split()[0]: line.split()[3:] for line in lines if line.startswith("%")}
    found = [i for i in numbered(lines, r"LOAD f32 %\d+") if lines[i].split()[4] in index and any(
        re.match(rf"%\d+ = STORE {lines[i].split()[4]} ", line) and lines[i].split()[0] in uses[line.split()[4]] for line in lines)]
    i = pick(rng, found)
    if i is None:
        return False
    turned(lines, i, index[lines[i].split()[4]], 1)


KINDS = [index_far, store_below, gate_gone, range_negative, buffer_small, slot_far, grid_large, vars_differ, registers_few,
         slice_turned, slice_axis, lane_turned]


def wrong(status, out, err):
    """what is wrong with a refusal, or None"""
    lines = err.decode(errors="replace").splitlines()
    if status != 4 or out or len(lines) != 1:
        return f"status {status}, {len(out)} bytes written, {len(lines)} lines: {err[:200]}"
    m = re.search(r" is (-?\d+)(?: at .*)?, and the size is (?:.* = )?(\d+)$", lines[0])
    if m and 0 <= int(m[1]) < int(m[2]):
        return "it shows an index that is inside: " + lines[0]
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-n", type=int, default=100)
    p.add_argument("-v", action="store_true")
    a = p.parse_args()

    def tool(cmd, data=b"", check=True):
        r = subprocess.run([os.path.join(a.bin, cmd[0])] + cmd[1:], input=data, capture_output=True, timeout=60)
        if check and r.returncode:
            sys.exit(f"{cmd}: {r.stderr.decode(errors='replace')}")
        return r.returncode, r.stdout, r.stderr
    rng = random.Random(a.seed)
    good = list(documents(tool))
    for name, lines in good:
        tool(["prove", "-q"], tool(["show", "-p"], "\n".join(lines).encode() + b"\n")[1])
    planted = shown = faults = turn = 0
    while planted < a.n and turn < 50 * a.n:
        kind = KINDS[turn % len(KINDS)]
        turn += 1
        for name, lines in rng.sample(good, len(good)):
            lines = list(lines)
            if kind(lines, rng) is not False:
                break
        else:
            continue
        status, doc, err = tool(["show", "-p"], "\n".join(lines).encode() + b"\n", check=False)
        if status == 0:
            status, doc, err = tool(["prove"], doc, check=False)
        planted += 1
        why = wrong(status, doc, err)
        shown += b"cannot be proved" not in err
        faults += why is not None
        if why or a.v:
            print(f"{kind.__name__} ({name}): {why or err.decode().strip()}")
    print(f"{planted} planted, {faults} not refused, {shown} with a case")
    return 1 if faults or planted < a.n or shown < planted * 0.9 else 0


if __name__ == "__main__":
    sys.exit(main())
