#!/usr/bin/env python3
"""safety.py [--bin DIR] [--against DIR] [--only proofs,start,cold] [--starts N] [--rounds N] [MODEL…]: what proofs and isolation cost.

proofs   `prove` of what stages wrote, beside `lower`, by turns: CPU milliseconds with start and reading, the least of --rounds,
         and how many times as long `prove` takes
start    `simplify` on a document of three ops, --starts times in turns, by the clock: as it is, without walls, and as built in
         --against
cold     `trace | fuse | render -t clang | run` from an empty cache, --rounds times in turns: the same three, CPU time of all
         processes (the C compiler's too); and a call of the compiled program, with --sandbox and without

--against is another build's folder of tools: one without proofs and walls, for the share that they have. Models are ONNX files with
inputs beside them, as ../models/make.py writes them; without any, those of ../models/small."""
import argparse
import ctypes
import glob
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PR_SET_CHILD_SUBREAPER = 36
PROGRAM = "input x f32[n, 4] where n in 1..9\noutput y = exp2(x + 1) * x\n"


def command(tool, *args, data=None):
    """its output, seconds by the clock, CPU seconds of it and of what it started"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run([tool, *args], input=data, capture_output=True)
    seconds = time.perf_counter() - begin
    try:
        while os.waitpid(-1, 0):
            pass                        # brokers, which nobody else waits for
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit("%s: %s" % (" ".join([tool, *args]), done.stderr.decode(errors="replace").strip()))
    return done.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu(rounds, tool, *args, data):
    return min(1e3 * command(tool, *args, data=data)[2] for _ in range(rounds))


def proofs(tools, models, rounds):
    targets = "clang", "llvm", "opencl"
    print("| | `prove` of what `fuse` wrote |" + "".join(" `lower -t %s` | `prove` of that | |" % t for t in targets))
    print("|---|---|" + "---|---|---|" * len(targets))
    for model in models:
        graph = command(tools + "/trace", model)[0]
        fused = command(tools + "/fuse", data=graph)[0]
        row = ["%.1f" % cpu(rounds, tools + "/prove", "-q", data=fused)]
        for target in targets:
            lowered = command(tools + "/lower", "-t", target, data=fused)[0]
            lower = prove = float("inf")
            for _ in range(rounds):     # by turns, so that both have the same neighbours
                lower = min(lower, cpu(1, tools + "/lower", "-t", target, data=fused))
                prove = min(prove, cpu(1, tools + "/prove", "-q", data=lowered))
            row += ["%.1f" % lower, "%.1f" % prove, "%.2f" % (prove / lower)]
        print("| %s | %s |" % (os.path.basename(model)[:-5], " | ".join(row)), flush=True)


def contestants(args):
    """name → folder of tools, options"""
    named = {"as it is": (args.bin, ""), "without walls": (args.bin, "--no-walls")}
    if args.against:
        named["against"] = (args.against, "")
    return named


def in_turns(title, named, rounds, measure):
    times = {name: [] for name in named}
    for turn in range(rounds):
        names = list(named)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            times[name].append(measure(*named[name]))
    print(title)
    for name, ms in times.items():
        print("  %-14s least %9.3f ms, median %9.3f ms" % (name, min(ms), statistics.median(ms)), flush=True)


def start(args):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/small.t"
        with open(path, "w") as f:
            f.write(PROGRAM)
        graph = command(args.bin + "/trace", path)[0]
    in_turns("start of simplify", contestants(args), args.starts,
             lambda tools, options: 1e3 * command(tools + "/simplify", *options.split(), data=graph)[1])


def cold(args, model, folder):
    """A whole pipeline from an empty cache, then a program by itself."""
    with zipfile.ZipFile(model[:-5] + ".1.npz") as inputs:
        inputs.extractall(folder)
        operands = " ".join("'%s=%s/%s'" % (name[:-4], folder, name) for name in inputs.namelist())

    def whole(tools, options):
        with tempfile.TemporaryDirectory() as cache:
            return 1e3 * command("bash", "-c", f"export XDG_CACHE_HOME={cache}; set -o pipefail; {tools}/trace {options} '{model}' |"
                                 f"{tools}/fuse {options} | {tools}/render -t clang {options} |"
                                 f"{tools}/run {options} {operands} -o {folder}/out.npz")[2]

    def alone(tools, options):
        command("bash", "-c", f"{tools}/run {options} {folder}/program {operands} --bench={folder}/bench --seconds 0.3 -j 1")
        with open(folder + "/bench") as f:
            return min(json.load(f)["times_ms"])

    name = os.path.basename(model)[:-5]
    in_turns("cold start of " + name, contestants(args), args.rounds, whole)
    graph = command(args.bin + "/trace", model)[0]
    program = command(args.bin + "/render", "-t", "clang", data=command(args.bin + "/fuse", data=graph)[0])[0]
    with open(folder + "/program", "wb") as f:
        f.write(program)
    in_turns("run of " + name, {"as it is": (args.bin, ""), "with --sandbox": (args.bin, "--sandbox")}, args.rounds, alone)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=HERE + "/../../build/bin")
    parser.add_argument("--against")
    parser.add_argument("--only", default="proofs,start,cold")
    parser.add_argument("--starts", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    models = args.models or sorted(glob.glob(HERE + "/../models/small/*.onnx"))
    only = args.only.split(",")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if "proofs" in only:
        proofs(args.bin, models, args.rounds)
    if "start" in only:
        start(args)
    for model in models if "cold" in only else []:
        with tempfile.TemporaryDirectory() as folder:
            cold(args, model, folder)


if __name__ == "__main__":
    main()
