#!/usr/bin/env python3
"""Stages that go wrong, planted at random: `bisect` has to name each of them, `reduce` to make its case small.

    culprit.py BIN [--seed N] [--count N] [--seconds S] [--verbose]

A stage on the stage path runs the true one and changes what that wrote, in one of the ways of planted.py: by a wrong rule or an
edit after the stage, or from one of its passes on (pass), in kernels to which an action was done (action), or in the source that
render-clang printed (printer). `prove` has to refute what the stage wrote from what it had read; source is compiled, and run
beside the interpreter. `bisect` then runs over the whole pipeline, by results and, where they do not show it, with --prove: it
has to name the stage, the kernels that were changed, the pass and the action. The document that the stage had read is reduced
with `prove`, or the two runs, as its judge. Prints a table; ends with 1 if a fault was missed, or a place named wrong, or a case
of 20 nodes or more is left."""
import argparse
import collections
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import npy
from planted import EDITS, PRINTED, PROGRAMS, RULES, Doc, Planter

SMALL = 20
KINDS = ["rule", "edit", "pass", "action", "printer"]
# What bisect takes for a stage of its own is a program, since of a script it does not ask for passes.
PROGRAM = r"""#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char script[4096];

	snprintf(script, sizeof script, "%s.sh", argv[0]);
	execv(script, argv);
	return 127;
}
"""
SCRIPT = """#!/bin/bash
set -o pipefail
# the true stage, and what goes wrong in it
true=$BIN/{stage}
for ((i = 1; i <= $#; i++)); do
	case ${{!i}} in
	--help | --describe) exec "$true" "$@" ;;
	--stop-after) j=$((i + 1)); [[ " {passes} " == *" ${{!j}} "* ]] || exec "$true" "$@" ;;
	esac
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$true" "$@" > "$tmp/right" || exit
if {change} > "$tmp/wrong" 2> /dev/null; then cat "$tmp/wrong"; else cat "$tmp/right"; fi
"""
EDIT = '"$BIN/show" "$tmp/right" | "{python}" -SE "{me}" --mutate {spec} | "$BIN/show" -p'
RULE = '"$BIN/rewrite" -e \'{rule}\' "$tmp/right"'


class Steady(random.Random):
    """Chooses the same node of a document when others are gone, so that a fault stays one while its case is reduced."""

    def __init__(self, seed):
        super().__init__(seed)
        self.salt = seed

    def choice(self, seq):
        return min(seq, key=lambda x: zlib.crc32(f"{self.salt} {(x[1], x[2], len(x[3])) if isinstance(x, list) else x}".encode()))


def mutate(spec, text):
    """What a stage that goes wrong makes of a document's text; None where there is nothing of its kind."""
    kind, *more = spec.split(":")
    if kind == "print":
        return printed(text, *PRINTED[int(more[0])], more[1])
    name, seed, action = more
    if action and f'["{action}"' not in text:
        return None
    d = Doc(text)
    edit = next(e for e in EDITS if e.__name__ == name)
    return d.text() if edit(Steady(int(seed)), d) else None


def printed(text, pattern, to, seed):
    """One place is printed wrong: the same one when lines around it, or numbers in it, are others."""
    hits = [(s.start(1), h) for s in re.finditer(r"(?m)^\s*\|(.*)$", text)
            if not re.search(r"#|static|void|__builtin|typedef|uint|//", s[1]) for h in re.finditer(pattern, s[1])]
    if not hits:
        return None
    at, h = min(hits, key=lambda hit: zlib.crc32((seed + re.sub(r"\d+", "", hit[1].string[:hit[1].start() + 8])).encode()))
    return text[:at + h.start()] + h.expand(to) + text[at + h.end():]


# ---- what a fault has changed

def calls(text):
    """What each call of a document does, by number: all that its kernel is made of, and its buffers."""
    d, what = Doc(text), {}
    for n in d.nodes:
        what[n[0]] = hash((n[1], n[2], tuple(what[s] for s in n[3]), re.sub(r" @\{.*$", "", n[4])))
    return [what[s] for s in d.nodes[-1][3] if d.by[s][1] == "CALL"]


def programs(text):
    """The same of source: the text of each kernel."""
    parts = re.split(r"(?m)^%\d+ = PROGRAM", text)[1:]
    return [p[:p.rfind("\n%") if "\n%" in p else None] for p in parts]


def changed(right, wrong, split):
    a, b = split(right), split(wrong)
    at = [i for i in range(len(b)) if i >= len(a) or a[i] != b[i]]
    return set(at) if len(a) == len(b) else set(range(min(at, default=0), len(b) + 1))


def processor():
    """Seconds of the processor that commands have taken so far: what else runs here does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Fault:
    """A stage that goes wrong, on one program: where it is, and what bisect is to say of it."""

    def __init__(self, kind, program, stage, options, spec, late="", action=""):
        self.kind, self.program, self.stage, self.options, self.spec = kind, program, stage, options, spec
        self.late, self.action = late, action

    def __str__(self):
        where = f" from {self.late} on" if self.late else f" where {self.action} was done" if self.action else ""
        return f"{self.program}: {self.stage} {' '.join(self.options)}: {self.spec}{where}"


class Hunter(Planter):
    def __init__(self, bin, dir, rng, verbose):
        super().__init__(bin, dir, rng, verbose)
        self.path = os.path.join(dir, "stages")
        os.mkdir(self.path)
        self.program = self.write("program", b"")
        subprocess.run([os.environ.get("CC", "cc"), "-o", self.program, "-xc", "-"], input=PROGRAM.encode(), check=True)
        os.environ.update(BIN=bin, SLUICE_PATH=self.path)
        self.seconds, self.reducing, self.nodes, self.by = [], [], [], collections.Counter()
        self.known_passes, self.shown = {}, []

    def passes(self, stage):
        if stage not in self.known_passes:
            text = self.tool(stage, "--help").stdout.decode().partition("passes, in order")[2]
            self.known_passes[stage] = re.findall(r"(?m)^  [ *] (\w+)", text)
        return self.known_passes[stage]

    # ---- the stage

    def draw(self, kind):
        rng, program = self.rng, self.rng.choice(list(PROGRAMS))
        stage, options = rng.choice([("simplify", []), ("schedule", []), ("fuse", []), ("fuse", []), ("layout", ["-t", "clang"]),
                                     ("lower", ["-t", "clang"]), ("lower", ["-t", "opencl"])])
        spec = f"edit:{rng.choice(EDITS).__name__}:{rng.randrange(1000)}:"
        if kind == "printer":
            return Fault(kind, program, "render-clang", ["-t", "clang"], f"print:{rng.randrange(len(PRINTED))}:{rng.randrange(1000)}")
        if kind == "action":
            action = rng.choice(["order", "tile", "grid", "partial", "chunk", "bind", "group", "stage"])
            return Fault(kind, program, "lower", rng.choice([["-t", "clang"], ["-t", "opencl"]]), spec + action, action=action)
        if kind == "rule" or kind == "pass" and rng.random() < 0.7:
            spec = f"rule:{rng.choice(RULES)}"
        return Fault(kind, program, stage, options, spec, late=rng.choice(self.passes(stage)) if kind == "pass" else "")

    def install(self, f):
        passes = self.passes(f.stage) if f.late else []
        rule = f.spec.startswith("rule:")
        change = (RULE if rule else EDIT).format(rule=f.spec[5:], python=sys.executable, me=os.path.abspath(__file__), spec=f.spec)
        script = os.path.join(self.path, f.stage + (".sh" if f.late else ""))
        with open(script, "w") as out:
            out.write(SCRIPT.format(stage=f.stage, change=change, passes=" ".join(passes[passes.index(f.late):] if f.late else [])))
        os.chmod(script, 0o755)
        if f.late:
            os.link(self.program, os.path.join(self.path, f.stage))

    def run_stage(self, f, source, *more):
        """What the stage writes, as it is on the stage path now."""
        path = os.path.join(self.path, f.stage)
        if f.stage == "render-clang" or not os.path.exists(path):
            path = os.path.join(self.bin, "render" if f.stage == "render-clang" else f.stage)
        return subprocess.run([path, *f.options, *more, source], capture_output=True, timeout=60)

    def text(self, path):
        return self.tool("show", path).stdout.decode()

    # ---- judging one fault

    def source_of(self, f):
        """The document that the stage reads, in the pipeline that bisect runs."""
        steps, target = [], f.options[1] if f.options else "clang"
        for stage, options in [("simplify", []), ("schedule", []), ("fuse", []), ("layout", ["-t", target]), ("lower", ["-t", target]),
                               ("render-clang", [])]:
            if stage == f.stage:
                break
            steps.append((stage, options))
        at = self.stages(f.program)[0][2]
        for stage, options in steps:
            made = self.tool(stage, *options, at)
            at = self.write("source." + stage, made.stdout)
        return at

    def refuted(self, f, source, right, wrong):
        """None: it is no document, or the same one; else whether it is told, and by what."""
        if f.kind == "printer":
            return self.runs_differ(f, source, wrong)
        said = self.tool("prove", source, wrong)
        if said.returncode not in (0, 1, 3):
            return None
        if said.returncode == 1 or self.tool("prove", "-q", wrong).returncode == 4:
            return "refuted"
        given = self.inputs(self.stages(f.program)[0][2], 1, 0)
        if self.tool("run", "--interpret", wrong, *given, "-o", os.path.join(self.dir, "wrong.npz")).returncode == 4:
            return None                                       # nobody runs it: of a size that cannot be told, say
        return "missed" if self.differs(f.program, right, wrong) else "equivalent"

    def runs_differ(self, f, source, wrong):
        for k in range(4):
            given, outs = self.inputs(self.stages(f.program)[0][2], 2 + k % 3, k % 3), []
            for name, doc, how in (("right", source, ["--interpret"]), ("wrong", wrong, [])):
                out = os.path.join(self.dir, name + ".npz")
                ran = self.tool("run", *how, doc, *given, "-o", out)
                if ran.returncode:
                    return None
                outs.append(out)
            if self.tool("diff", *outs, "--rtol", "1e-3", "--atol", "1e-4").returncode:
                self.shown = given
                return "refuted"
        return "equivalent"

    def bisect(self, f):
        """What bisect says: by results for inputs without and with edges in them, or by proof."""
        target = ["-t", f.options[1]] if f.options else []
        for how in ("shown",) if f.kind == "printer" else (0, 1, "--prove"):
            given = {"shown": self.shown, "--prove": [how]}.get(how) or self.inputs(self.stages(f.program)[0][2], 4, how)
            begin = processor()
            said = self.tool("bisect", *target, self.stages(f.program)[0][1], *given)
            self.seconds.append(processor() - begin)
            if said.returncode != 0:
                self.by["proof" if how == "--prove" else "results"] += 1
                break
        return said.stdout.decode() + said.stderr.decode()

    def place(self, f, said, source, right, wrong):
        """What bisect got wrong: nothing where it is right."""
        last = [l for l in said.split("\n") if re.match(r"[\w-]+: ", l) and not l.endswith(": the same")]
        named = last[0].split(":")[0] if last else "nothing"
        if named != ("run" if f.kind == "printer" else f.stage):
            return f"{named}, not {f.stage}"
        kernel, action, at = (re.search(p, said) for p in (r"  kernel: K(\d+)", r"  action: (.*)", r"  pass: (.*)"))
        if at:
            stop = ["--stop-after", re.split(", | or ", at[1])[-1]]
            right = self.write("right", self.tool(f.stage, *f.options, *stop, source).stdout)
            wrong = self.write("wrong", self.run_stage(f, source, *stop).stdout)
        kernels = changed(self.text(right), self.text(wrong), programs if f.kind == "printer" else calls)
        if kernel and int(kernel[1]) not in kernels:
            return f"K{kernel[1]}, not one of {kernels}"
        if f.kind == "printer" and not kernel:
            return "no kernel"
        if f.action and "--prove" not in said and action and not re.search(rf"\b{f.action}\b", action[1]):
            return f"action {action[1]}, not {f.action}"
        truth = self.first_pass(f, source) if f.late else None
        if truth and not (at and truth in re.split(", | or ", at[1])):
            return f"pass {at and at[1]}, not {truth}"
        return None

    def first_pass(self, f, source):
        """The pass after which the document is first refuted."""
        for p in self.passes(f.stage):
            made = self.run_stage(f, source, "--stop-after", p)
            true = self.tool(f.stage, *f.options, "--stop-after", p, source)
            if made.stdout != true.stdout and self.tool("prove", source, self.write("between", made.stdout)).returncode == 1:
                return p
        return None

    def reduce(self, f, source):
        """How many nodes are left of the document that the stage had read."""
        small = os.path.join(self.dir, "small.mp")
        drawn = [f'"{sys.executable}" -SE "{os.path.abspath(__file__)}" --inputs {k}' for k in range(1, 7)]
        judges = [RUNS.replace("{given}", g) for g in (GIVEN, *drawn)] if f.kind == "printer" else \
            [REFUTED.format(stage=" ".join([f.stage, *f.options]))]
        for judge in judges:
            made = self.tool("reduce", source, "-o", small, "--", "bash", "-c", judge, "judge", limit=600)
            if made.returncode == 0:
                break
        if made.returncode:
            return made.stderr.decode().strip()
        return sum(l.startswith("%") for l in self.text(small).split("\n"))

    def fault(self, kind):
        f = self.draw(kind)
        for name in os.listdir(self.path):
            os.remove(os.path.join(self.path, name))
        source = self.source_of(f)
        right = self.write("right", self.run_stage(f, source).stdout)
        self.install(f)
        made = self.run_stage(f, source)
        if made.returncode or made.stdout == open(right, "rb").read():
            return False
        wrong = self.write("wrong", made.stdout)
        how = self.refuted(f, source, right, wrong)
        if not how:
            return False
        self.table[f.kind][how] += 1
        if how != "refuted":
            if how == "missed" or self.verbose:
                print(f"{how}: {f}")
            return True
        said = self.bisect(f)
        bad = self.place(f, said, source, right, wrong)
        self.table[f.kind]["misplaced" if bad else "placed"] += 1
        begin = processor()
        nodes = self.reduce(f, source)
        self.reducing.append(processor() - begin)
        small = isinstance(nodes, int) and nodes < SMALL
        self.table[f.kind]["small" if small else "large"] += 1
        self.nodes.append(nodes)
        if bad or not small or self.verbose:
            print(f"{f}: {bad or 'right'}; {nodes} nodes; {self.seconds[-1]:.1f} s, {self.reducing[-1]:.1f} s")
            if bad:
                print("    " + said.strip().replace("\n", "\n    "))
        return True


# The judges of reduce: the true stage is right, and this one is wrong.
REFUTED = """cd "$(mktemp -d)"; trap 'rm -rf "$PWD"' EXIT
"$SLUICE_PATH"/{stage} "$1" > wrong || exit
"$BIN/prove" -q "$1" wrong; s=$?
[ $s = 1 ] || {{ [ $s = 0 ] && "$BIN/prove" -q wrong 2> /dev/null; [ $? = 4 ]; }} || exit 1
"$BIN"/{stage} "$1" > right && "$BIN/prove" -q "$1" right"""
GIVEN = r"""sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p; s/^vars {\(\w*\): .*/\1=4/p'"""
RUNS = """cd "$(mktemp -d)"; trap 'rm -rf "$PWD"' EXIT
given=$("$BIN/show" "$1" | {given})
near() { "$BIN/diff" right.npz "$1" --rtol 1e-3 --atol 1e-4 > /dev/null; }
"$BIN/run" --interpret "$1" $given -o right.npz && "$BIN/render" "$1" > wrong.mp && "$BIN/run" wrong.mp $given -o wrong.npz || exit
near wrong.npz
[ $? = 1 ] && SLUICE_PATH= "$BIN/render" "$1" > true.mp && "$BIN/run" true.mp $given -o true.npz && near true.npz"""


def drawn_inputs(text, seed):
    """Inputs of the document, with edge values among them by odd seeds, as files in this folder; its size variables are 4."""
    p, given = Planter("", "", random.Random(seed), False), []
    for line in re.findall(r"(?m)^vars .*$", text):
        given += [f"{v}=4" for v in re.findall(r"(\w+): \[\d+, \d+\]", line)]
    for dtype, name, shape in re.findall(r'BUFFER (\w+) \{name: "(\w+)", shape: \[(.*?)\], role: "input"', text):
        dims = [int(d) if d.isdigit() else 4 for d in filter(None, shape.split(", "))]
        npy.save(f"{name}.npy", *p.values(dtype, dims, math.prod(dims), seed % 2))
        given.append(f"{name}={name}.npy")
    return given


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seconds", type=float, default=3600)
    p.add_argument("--verbose", action="store_true")
    o = p.parse_args()
    rng = random.Random(o.seed)
    with tempfile.TemporaryDirectory() as dir:
        os.environ["TMPDIR"] = dir
        h = Hunter(os.path.abspath(o.bin), dir, rng, o.verbose)
        planted, end = 0, time.monotonic() + o.seconds
        while planted < o.count and time.monotonic() < end:
            kind = rng.choice(KINDS)
            while not h.fault(kind):
                pass
            planted += 1
            sys.stdout.flush()
    columns = ["refuted", "equivalent", "missed", "placed", "misplaced", "small", "large"]
    print(f"{'planted in':12}" + "".join(f"{c:>12}" for c in columns))
    for kind in KINDS:
        print(f"{kind:12}" + "".join(f"{h.table[kind][c]:12}" for c in columns))
    all = sum(h.table.values(), collections.Counter())
    sizes = sorted(n for n in h.nodes if isinstance(n, int))
    print(f"{all['refuted']} of {planted} refuted, {all['equivalent']} equivalent, {all['missed']} missed; "
          f"bisect right for {all['placed']} ({h.by['proof']} by proof alone), {max(h.seconds, default=0):.1f} s of the processor at most; "
          f"reduce: {max(sizes, default=0)} nodes at most, {max(h.reducing, default=0):.0f} s at most")
    # how far reduce comes in its time depends on the machine
    sys.exit(bool(all["missed"] or all["misplaced"] or all["large"] > all["small"]))


if __name__ == "__main__":
    if sys.argv[1] == "--inputs":
        print(*drawn_inputs(sys.stdin.read(), int(sys.argv[2])))
    elif sys.argv[1] == "--mutate":
        made = mutate(sys.argv[2], sys.stdin.read())
        sys.exit(1) if made is None else sys.stdout.write(made)
    else:
        main()
