#!/usr/bin/env python3
"""open_sizes.py --bin BIN [--old DIR] FOLDER NAME…: models that ../models/make.py wrote, compiled once with their sizes open
(batch, length, height …) and once with those of the inputs given to trace, and ONNX Runtime on the same file: by turns in
one run, least ms of all rounds.  --old: open sizes by another build as well.  With onnxruntime and numpy."""
import argparse, json, os, subprocess, sys, tempfile, time
import numpy as np, onnxruntime as ort

def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--bin", required=True)
    a.add_argument("--old")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--seconds", type=float, default=0.5)
    a.add_argument("folder")
    a.add_argument("name", nargs="+")
    return a.parse_args()

def compiled(tools, model, to, sizes):
    """The program for a model, its sizes open but for those given."""
    document = model
    for tool in ("trace", "fuse", "lower", "render", "compile"):
        options = [w for s in sizes for w in ("--set", s)] if tool == "trace" else []
        with open("%s.%s" % (to, tool), "wb") as f:
            subprocess.run([os.path.join(tools, tool), *options, document], stdout=f, check=True)
        document = f.name
    return document

def ours(tools, document, operands, a, tmp):
    out = os.path.join(tmp, "bench.json")
    subprocess.run([os.path.join(tools, "run"), document, *operands, "-j", str(a.threads), "--bench=" + out,
                    "--seconds", str(a.seconds)], check=True, stderr=subprocess.DEVNULL)
    with open(out) as f:
        return json.load(f)["times_ms"]

def theirs(session, feeds, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append(1000 * (time.perf_counter() - begin))
    return times

def session_of(model, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

def sizes_of(session, feeds):
    """What the names in the inputs' shapes are in the feeds."""
    pairs = {}
    for i in session.get_inputs():
        pairs.update({s: n for s, n in zip(i.shape, feeds[i.name].shape) if isinstance(s, str) and s.isidentifier()})
    return ["%s=%d" % p for p in pairs.items()]

def measure(a, name, tmp):
    model = os.path.join(a.folder, name + ".onnx")
    feeds = dict(np.load(os.path.join(a.folder, name + ".1.npz")))
    session, operands = session_of(model, a.threads), []
    for k, i in enumerate(session.get_inputs()):
        np.save(os.path.join(tmp, "%d.npy" % k), feeds[i.name])
        operands.append("@%d=%s" % (k, os.path.join(tmp, "%d.npy" % k)))
    builds = {"open": (a.bin, []), "fixed": (a.bin, sizes_of(session, feeds))}
    if a.old:
        builds["old"] = (a.old, [])
    programs = {k: (tools, compiled(tools, model, os.path.join(tmp, k), sizes)) for k, (tools, sizes) in builds.items()}
    times = {k: [] for k in [*programs, "ort"]}
    for _ in range(a.rounds):
        for k, (tools, document) in programs.items():
            times[k] += ours(tools, document, operands, a, tmp)
        times["ort"] += theirs(session, feeds, a.seconds)
        time.sleep(0.2)                                         # its threads spin for a while
    return {k: min(v) for k, v in times.items()}

def main():
    a = arguments()
    columns = ["open", "fixed", "ort"] + (["old"] if a.old else [])
    print("| model | " + " | ".join(columns) + " | open / fixed | open / ort |")
    print("|---" * (len(columns) + 3) + "|")
    for name in a.name:
        with tempfile.TemporaryDirectory() as tmp:
            t = measure(a, name, tmp)
        print("| %s | %s | %.2f | %.2f |" % (name, " | ".join("%.2f" % t[c] for c in columns), t["open"] / t["fixed"],
                                           t["open"] / t["ort"]), flush=True)

if __name__ == "__main__":
    main()
