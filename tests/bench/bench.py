#!/usr/bin/env python3
"""Sluice against its peers: every workload of workloads.tsv, all of them by turns in one run, results checked against float64.

    bench.py                                                     the whole table, one and two threads
    bench.py --only matmul_512,softmax --peers onnxruntime --threads 2 --seconds 0.3
    bench.py --only conv --variant 'direct=trace {onnx} | fuse | lower -t clang --strict | compile'
    bench.py --only gelu --also old=../old/build/bin             beside another build of ours
    bench.py --show results.json --markdown                      an earlier run's table

README.md says how it is measured and what the JSON file holds."""
import argparse, atexit, fnmatch, hashlib, json, os, signal, subprocess, sys, tempfile, time
HERE = os.path.dirname(os.path.abspath(__file__))
import compiling, plots, report
from contestants import Failed, PeerProcess, SluiceProgram

BUILD = os.path.join(HERE, "../../build")
DEFAULT_PEERS = "numpy,onnxruntime,openvino,torch,torch-compile,jax,tinygrad"
PACKAGE = {"torch-compile": "torch", "torch-tuned": "torch", "tinygrad-beam": "tinygrad"}
COMMAND = "trace {onnx} | fuse | lower -t clang | compile"
running = []

def words(text): return [w for w in text.split(",") if w]

def options():
    p = argparse.ArgumentParser(description="Measures Sluice against its peers.")
    p.add_argument("--only", type=words, default=["*"], metavar="NAME,…", help="these workloads; a pattern, or how names begin")
    p.add_argument("--peers", type=words, default=words(DEFAULT_PEERS), metavar="NAME,…", help="these peers (%s)" % DEFAULT_PEERS)
    p.add_argument("--threads", type=lambda s: list(map(int, words(s))), default=[1, 2], metavar="N,…", help="so many threads (1,2)")
    p.add_argument("--seconds", type=float, default=0.25, metavar="S", help="length of one turn (0.25)")
    p.add_argument("--rounds", type=int, default=4, metavar="N", help="turns of each (4)")
    p.add_argument("--retries", type=int, default=1, metavar="N", help="turns repeated when others used the machine (1)")
    p.add_argument("--limit", type=float, default=120, metavar="S", help="longest wait for a peer (120)")
    p.add_argument("--chain-limit", type=float, default=30, metavar="S", help="longest wait for a peer's chain of 10 000 ops (30)")
    p.add_argument("--bin", default=os.environ.get("BIN", BUILD + "/bin"), metavar="DIR", help="Sluice's tools")
    p.add_argument("--command", default=COMMAND, help="from {onnx} to a compiled program (%s)" % COMMAND)
    p.add_argument("--variant", action="append", default=[], metavar="NAME=COMMAND", help="one more program of Sluice beside it")
    p.add_argument("--also", action="append", default=[], metavar="NAME=DIR", help="one more Sluice, its tools in DIR")
    p.add_argument("--run-options", default="", metavar="TEXT", help="options for run")
    p.add_argument("--folder", default=BUILD + "/bench", metavar="DIR", help="models, inputs, caches")
    p.add_argument("--out", metavar="FILE", help="the JSON file (FOLDER/results.json; .html stands beside it)")
    p.add_argument("--compile", action="store_true", help="measure compiling too: first results, the chain, memory")
    p.add_argument("--no-run", action="store_true", help="no workloads (--compile alone)")
    p.add_argument("--show", metavar="FILE", help="print the table of an earlier run's JSON file")
    p.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    return p.parse_args()

# ---- one workload with so many threads
def contestants(a, folder, threads):
    pairs = lambda options: [v.partition("=")[::2] for v in options]
    ours = [("sluice", a.bin, a.command)] + [(n, a.bin, c) for n, c in pairs(a.variant)]
    ours += [(n, os.path.abspath(d), a.command) for n, d in pairs(a.also)]
    made = [SluiceProgram(n, d, c, a.folder, folder, threads, a.limit, a.run_options.split()) for n, d, c in ours]
    return made + [PeerProcess(p, sys.executable, a.folder, folder, threads, a.limit) for p in a.peers]

def error_of(outputs, folder):
    """The greatest difference from float64, over the greatest magnitude of that output; infinite for what is not a number."""
    import numpy as np
    worst, k, part = 0.0, 0, 1 << 21
    while os.path.exists(ref := os.path.join(folder, "ref_%d.npy" % k)):
        want, got = np.load(ref, mmap_mode="r"), np.load(os.path.join(outputs, "output_%d.npy" % k), mmap_mode="r")
        if want.shape != got.shape:
            raise Failed("output %d is %s, not %s" % (k, list(got.shape), list(want.shape)))
        want, got, off, most = want.reshape(-1), got.reshape(-1), 0.0, 0.0
        for at in range(0, want.size, part):
            off = np.maximum(off, np.abs(got[at:at + part] - want[at:at + part]).max())
            most = max(most, float(np.abs(want[at:at + part]).max()))
        worst, k = max(worst, float(off) / (most or 1) if np.isfinite(off) else float("inf")), k + 1
    return worst

def digest(outputs):
    h = hashlib.sha256()
    for name in sorted(os.listdir(outputs)):
        with open(os.path.join(outputs, name), "rb") as f:
            h.update(f.read())
    return h.hexdigest()[:16]

def prepare(c, work, folder):
    """Started, called and checked; one call's time in s."""
    c.wait()
    with tempfile.TemporaryDirectory() as out:
        c.save(out)
        c.error, c.bits = error_of(out, folder), digest(out)
    c.time(0, 1)
    c.call = min(c.time(0.05, 1)) / 1e3

def take_turns(live, a):
    """rounds turns of each; a call longer than a second only once a turn and in two, one over five seconds only once."""
    for c in live:
        c.times, c.noise = [], []
    for r in range(a.rounds):
        for c in live[r % len(live):] + live[:r % len(live)]:
            if c.call > 5 and r > 0 or c.call > 1 and r > 1:
                continue
            seconds, least = (0, 1) if c.call > 1 else (a.seconds, 3)
            for _ in range(1 + a.retries):
                times, noise = c.turn(seconds, least)
                c.times += times
                c.noise.append(noise)
                if noise < 0.2 or c.call > 1:
                    break

def row(c, work, threads):
    times = sorted(c.times)
    return dict(workload=work.name, threads=threads, name=c.name, ours=c.ours, min_ms=times[0], median_ms=times[len(times) // 2],
                calls=len(times), error=c.error, right=bool(c.error <= work.error), noise=round(sorted(c.noise)[len(c.noise) // 2], 3),
                bits=c.bits, build_ms=c.build_ms, first_ms=c.first_ms, rss_mb=c.rss_mb, base_mb=c.base_mb)

def measure(a, work, folder, threads):
    all, failed = contestants(a, folder, threads), {}
    running[:] = all
    def attempt(c, deed):
        if c.name not in failed:
            try:
                deed(c)
            except (Failed, OSError, ValueError) as e:
                failed[c.name] = str(e)
                c.stop()
    for c in all:
        attempt(c, lambda c: c.start())
    for c in all:
        attempt(c, lambda c: prepare(c, work, folder))
    live = [c for c in all if c.name not in failed]
    try:
        take_turns(live, a)
    finally:
        for c in all:
            c.stop()
    return [row(c, work, threads) if c in live else
            dict(workload=work.name, threads=threads, name=c.name, ours=c.ours, failed=failed[c.name]) for c in all]

# ---- the run
def available(peers):
    """Those whose package is there, and each one's version."""
    import importlib.metadata as m
    versions = {}
    for p in peers:
        try:
            versions[p] = m.version(PACKAGE.get(p, p))
        except m.PackageNotFoundError:
            print("%s is not installed: left out" % p, file=sys.stderr)
    return versions

def machine():
    with open("/proc/cpuinfo") as f:
        cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), os.uname().machine)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return dict(cpu=cpu, cores=len(os.sched_getaffinity(0)), memory_gb=round(memory / 2**30),
                system="%s %s" % (os.uname().sysname, os.uname().release), when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))

def roof(folder, threads):
    """What roof.c finds of the machine, for each number of threads; empty without a compiler."""
    tool, flags = os.path.join(folder, "roof"), ["-std=c11", "-D_GNU_SOURCE", "-O2", "-march=native", "-ffp-contract=fast"]
    try:
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", tool, os.path.join(HERE, "roof.c"), "-lpthread"], check=True)
        said = {t: subprocess.run([tool, "--json", str(t)], check=True, capture_output=True).stdout for t in threads}
        return {str(t): json.loads(s) for t, s in said.items()}
    except (OSError, subprocess.CalledProcessError, ValueError) as e:
        print("no roof: %s" % e, file=sys.stderr)
        return {}

def better(one, other):
    """The higher of each limit: something else may have run during either."""
    for t, r in other.items():
        best = one.setdefault(t, r)
        best["gflops"] = max(best["gflops"], r["gflops"])
        for b, c in zip(best["memory"], r["memory"]):
            b.update({k: max(b[k], c[k]) for k in c})
    return one

def chosen(a):
    import workloads
    some = [w for w in workloads.table() if any(fnmatch.fnmatch(w.name, o) or w.name.startswith(o) for o in a.only)]
    if not some and not a.no_run:
        sys.exit("bench.py: no workload is called %s" % ",".join(a.only))
    return [] if a.no_run else some

def keep(results, out):
    with open(out + ".new", "w") as f:
        json.dump(results, f, indent=1)
    os.replace(out + ".new", out)

def main():
    a = options()
    if a.show:
        return report.show(json.load(open(a.show)), a.markdown)
    import workloads
    a.folder, a.bin = os.path.abspath(a.folder), os.path.abspath(a.bin)
    out = a.out or os.path.join(a.folder, "results.json")
    if not os.access(os.path.join(a.bin, "run"), os.X_OK):
        sys.exit("bench.py: no tools in %s: make them, or give --bin" % a.bin)
    os.makedirs(a.folder, exist_ok=True)
    atexit.register(lambda: [c.stop() for c in running])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    versions = available(a.peers)
    a.peers, works, begin = list(versions), chosen(a), time.time()
    goals = {w.name: dict(goal=w.goal, flops=w.flops, read=w.read, written=w.written, error=w.error) for w in workloads.table()}
    results = dict(machine=machine(), versions=versions, options=vars(a), workloads=goals, roof=roof(a.folder, a.threads),
                   rows=[], compile=[])
    for work in works:
        folder = workloads.write(os.path.join(a.folder, "data"), work.name)
        for threads in a.threads:
            rows = measure(a, work, folder, threads)
            results["rows"] += rows
            report.progress(work, threads, rows, time.time() - begin)
            keep(results, out)
    if a.compile:
        results["compile"] = compiling.measure(a, workloads.write, error_of, report.compiled)
    results["roof"] = better(results["roof"], roof(a.folder, a.threads))
    results["seconds"] = round(time.time() - begin)
    keep(results, out)
    plots.write(results, os.path.splitext(out)[0] + ".html")
    report.show(results, a.markdown)
    wrong = [r for r in results["rows"] if r["ours"] and not r.get("right")]
    return 1 if wrong else 0

if __name__ == "__main__":
    sys.exit(main())
