#!/usr/bin/env python3
"""recurrent.py --bin BIN [--old DIR] [UNITS…]: an LSTM over a sequence whose length is open, batch 1, compiled once, against
ONNX Runtime's on the same weights, at each of the lengths: by turns in one run, least and median ms of all rounds.  Fails
where the results differ.  --cold: instead, the whole pipeline and one run with an empty cache, seconds, by length in turns.  With
onnxruntime, onnx and numpy."""
import argparse, json, os, subprocess, sys, tempfile, time
import numpy as np, onnx, onnxruntime as ort
from onnx import helper, numpy_helper

def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--bin", required=True)
    a.add_argument("--old", help="the tools of another build, measured as well")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--seconds", type=float, default=0.5)
    a.add_argument("--lengths", default="1,30,500")
    a.add_argument("--cold", type=int, metavar="N", help="so many cold starts for each length")
    a.add_argument("--keep", help="a folder for the documents")
    a.add_argument("units", nargs="*", type=int, default=[128, 512, 1024])
    return a.parse_args()

def weights(units):
    r, scale = np.random.default_rng(units), 1 / np.sqrt(units)
    return {k: r.uniform(-scale, scale, s).astype(np.float32)
            for k, s in dict(w=(4 * units, units), r=(4 * units, units), b=(4 * units,)).items()}

def model(units, path):
    w = weights(units)
    data = [numpy_helper.from_array(v[None], k) for k, v in (("w", w["w"]), ("r", w["r"]),
            ("b", np.concatenate([w["b"], np.zeros_like(w["b"])])))]
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], hidden_size=units)
    value = lambda n, *s: helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s)
    graph = helper.make_graph([node], "lstm", [value("x", "n", 1, units)], [value("y", "n", 1, 1, units)], data)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), path)

def compiled(tools, at, to):
    """The program, and how long all of that took."""
    begin = time.perf_counter()
    for name in ("trace", "fuse", "lower", "render", "compile"):
        with open("%s.%s" % (to, name), "wb") as f:
            subprocess.run([os.path.join(tools, name), at], stdout=f, check=True)
        at = f.name
    return at, time.perf_counter() - begin

def run(tools, program, folder, a, *options):
    subprocess.run([os.path.join(tools, "run"), program, "x=" + os.path.join(folder, "x.npy"), "-j", str(a.threads),
                    "-o", folder, *options], check=True, stderr=subprocess.DEVNULL)

def ours(tools, program, folder, a):
    out = os.path.join(folder, "bench.json")
    run(tools, program, folder, a, "--bench=" + out, "--seconds", str(a.seconds))
    with open(out) as f:
        return json.load(f)["times_ms"]

def session_of(path, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

def theirs(session, x, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 7:
        begin = time.perf_counter()
        session.run(None, {"x": x})
        times.append(1000 * (time.perf_counter() - begin))
    return times

def measure(a, units, folder):
    path = os.path.join(folder, "lstm.onnx")
    model(units, path)
    tools = {"sluice": a.bin, **({"old": a.old} if a.old else {})}
    programs = {k: compiled(v, path, os.path.join(folder, k)) for k, v in tools.items()}
    for n in map(int, a.lengths.split(",")):
        x = np.random.default_rng(n).standard_normal((n, 1, units), np.float32)
        np.save(os.path.join(folder, "x.npy"), x)
        session, times = session_of(path, a.threads), {k: [] for k in [*tools, "ort"]}
        right = session.run(None, {"x": x})[0]
        for k, (program, _) in programs.items():
            run(tools[k], program, folder, a)
            error = np.abs(np.load(os.path.join(folder, "y.npy")) - right).max()
            if not error < 1e-4:
                sys.exit("recurrent.py: %s: %d units, %d steps: wrong by %g" % (k, units, n, error))
        for _ in range(a.rounds):
            for k, (program, _) in programs.items():
                times[k] += ours(tools[k], program, folder, a)
            times["ort"] += theirs(session, x, a.seconds)
            time.sleep(0.2)                                     # its threads spin for a while
        least = {k: min(v) for k, v in times.items()}
        cells = ["%.3f/%.3f" % (least[k], np.median(times[k])) for k in times]
        print("| %d | %d | %s | %.2f | %.1f |" % (units, n, " | ".join(cells), least["sluice"] / least["ort"],
                                                programs["sluice"][1]), flush=True)

def cold(a, units, folder):
    """trace | fuse | render | run from an empty cache, for each length by turns: least (median) seconds"""
    path = os.path.join(folder, "lstm.onnx")
    model(units, path)
    lengths = list(map(int, a.lengths.split(",")))
    for n in lengths:
        np.save(os.path.join(folder, "x%d.npy" % n), np.zeros((n, 1, units), np.float32))
    times = {n: [] for n in lengths}
    for _ in range(a.cold):
        for n in lengths:
            with tempfile.TemporaryDirectory() as cache:
                env = dict(os.environ, XDG_CACHE_HOME=cache, PATH=a.bin + ":" + os.environ["PATH"])
                begin = time.perf_counter()
                subprocess.run("trace %s | fuse | render -t clang | run -j %d x=%s/x%d.npy -o %s" %
                               (path, a.threads, folder, n, folder), shell=True, check=True, env=env)
                times[n].append(time.perf_counter() - begin)
    print("| %d | %s |" % (units, " | ".join("%.3f (%.3f)" % (min(t), np.median(t)) for t in times.values())), flush=True)

def main():
    a = arguments()
    if a.cold:
        print("| units | " + " | ".join(a.lengths.split(",")) + " |\n" + "|---" * (2 + a.lengths.count(",")) + "|")
        for units in a.units:
            with tempfile.TemporaryDirectory() as tmp:
                cold(a, units, tmp)
        return
    columns = ["units", "steps", "sluice"] + (["old"] if a.old else []) + ["ort", "ratio", "compiled s"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for units in a.units:
        with tempfile.TemporaryDirectory() as tmp:
            if a.keep:
                tmp = os.path.join(a.keep, str(units))
                os.makedirs(tmp, exist_ok=True)
            measure(a, units, tmp)

if __name__ == "__main__":
    main()
