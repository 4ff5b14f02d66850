#!/usr/bin/env python3
"""packed.py --bin BIN MODEL.onnx…: each model by `run` and packed as a library (from Python), by turns in one run: minimum
and median ms of all rounds.  Models have no open sizes, and their inputs are random.  With numpy."""
import argparse, importlib.util, json, os, statistics, subprocess, tempfile, time
import numpy as np

def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--bin", required=True)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--seconds", type=float, default=1)
    a.add_argument("model", nargs="+")
    return a.parse_args()

def built(a, model, tmp):
    """The program for run, and the function of the library that is packed of the same kernels."""
    document = model
    for tool in ("trace", "fuse", "lower", "render"):
        to = os.path.join(tmp, tool)
        with open(to, "wb") as f:
            subprocess.run([os.path.join(a.bin, tool), *(["-t", "clang"] if tool == "render" else []), document], stdout=f,
                           check=True)
        document = to
    subprocess.run([os.path.join(a.bin, "pack"), "--name", "net", "--so", "-o", tmp, document], check=True)
    spec = importlib.util.spec_from_file_location("net", os.path.join(tmp, "net.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.net.threads(a.threads)
    program = os.path.join(tmp, "program")
    with open(program, "wb") as f:
        subprocess.run([os.path.join(a.bin, "compile"), document], stdout=f, check=True)
    return program, module.net

def by_run(a, program, tmp):
    out = os.path.join(tmp, "bench.json")
    operands = ["%s=%s" % (n[:-4], os.path.join(tmp, n)) for n in os.listdir(tmp) if n.endswith(".npy")]
    subprocess.run([os.path.join(a.bin, "run"), program, *operands, "-j", str(a.threads), "--bench=" + out, "--seconds",
                    str(a.seconds)], check=True, stderr=subprocess.DEVNULL)
    with open(out) as f:
        return json.load(f)["times_ms"]

def by_library(function, feeds, seconds):
    function(**feeds)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        function(**feeds)
        times.append(1000 * (time.perf_counter() - begin))
    return times

def measure(a, model, tmp):
    program, function = built(a, model, tmp)
    rng, times = np.random.default_rng(1), {"run": [], "packed": []}
    feeds = {s.name: rng.standard_normal([int(n) for n in s.shape]).astype(s.dtype) for s in function.inputs}
    for name, array in feeds.items():
        np.save(os.path.join(tmp, name + ".npy"), array)
    for _ in range(a.rounds):
        times["run"] += by_run(a, program, tmp)
        times["packed"] += by_library(function, feeds, a.seconds)
    return times["run"], times["packed"]

def main():
    a = arguments()
    print("| model | run, min | median | packed, min | median | packed / run, min | median |\n" + "|---" * 7 + "|")
    for model in a.model:
        with tempfile.TemporaryDirectory() as tmp:
            (r, rm), (p, pm) = ((min(t), statistics.median(t)) for t in measure(a, model, tmp))
        print("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |" % (
            os.path.basename(model).removesuffix(".onnx"), r, rm, p, pm, p / r, pm / rm), flush=True)

if __name__ == "__main__":
    main()
