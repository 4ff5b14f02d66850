"""How long it takes from a model's file to its first result, and the memory that it takes.

Sluice: the wall time of the whole pipeline, start of its processes, compiler and writing of outputs included, with an empty cache
(cold) and once more with what that left (cached).  A peer: from its imports being done to the end of the first call, its caches off.
The least of some tries is kept.  Peak memory: the greatest of one process; for peers also without what imports took."""
import json, os, subprocess, sys, tempfile, time
import peers
from contestants import Failed, PeerProcess, environment, placed

TASKS = dict(resnet50=3, chain_10000=1)                           # and how often each is tried
FIRST = "trace {onnx} | run {inputs} -j {threads} --numbered -o {out}"

def piped(a, folder, out, cache, threads):
    """Wall seconds and the greatest resident MB of a process of the pipeline, or of a compiler that it ran."""
    names = ["@%d=%s" % (k, os.path.join(folder, "in_%s.npy" % n)) for k, n in enumerate(inputs(folder))]
    text = FIRST.format(onnx=os.path.join(folder, "model.onnx"), inputs=" ".join(names), threads=threads, out=out)
    env = environment(threads, a.folder, {"PATH": a.bin + ":" + os.environ["PATH"], "XDG_CACHE_HOME": cache})
    for k in list(env):
        if k.startswith("MALLOC_"):                               # whole processes: what they do by themselves
            del env[k]
    with tempfile.TemporaryFile("w+") as said:
        begin = time.perf_counter()
        p = subprocess.Popen(["bash", "-o", "pipefail", "-c", text], env=env, stderr=said, stdout=subprocess.DEVNULL,
                             start_new_session=True, preexec_fn=placed(threads))
        _, status, use = os.wait4(p.pid, 0)
        took = time.perf_counter() - begin
        p.returncode = status
        if status:
            said.seek(0)
            raise Failed((said.read().strip().splitlines() or ["status %d" % status])[0][:300])
    return took, use.ru_maxrss / 1024

def inputs(folder):
    with open(os.path.join(folder, "meta.json")) as f:
        return json.load(f)["inputs"]

def of_sluice(a, folder, tries, threads, error_of):
    cold, cached, memory = [], [], []
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as out:
            for times in [cold] + 3 * [cached]:
                took, rss = piped(a, folder, out, cache, threads)
                times.append(took)
            memory.append(rss)
            error = error_of(out, folder)
    return dict(cold_s=min(cold), cached_s=min(cached), rss_mb=min(memory), over_imports_mb=min(memory), error=error)

def of_peer(a, name, folder, tries, threads, limit):
    got = []
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as cache:
            more = dict(peers.PEERS[name].cold, XDG_CACHE_HOME=cache, TORCHINDUCTOR_CACHE_DIR=cache, CACHEDB=os.path.join(cache, "db"))
            p = PeerProcess(name, sys.executable, a.folder, folder, threads, limit, more)
            try:
                p.start()
                p.wait()
                got.append(((p.build_ms + p.first_ms) / 1e3, p.rss_mb, p.rss_mb - p.base_mb))
            finally:
                p.stop()
    return dict(cold_s=min(g[0] for g in got), rss_mb=min(g[1] for g in got), over_imports_mb=min(g[2] for g in got))

def measure(a, write, error_of, say):
    """A row for each task and contestant, with all the threads that were asked for."""
    rows, threads = [], max(a.threads)
    for task, tries in TASKS.items():
        folder = write(os.path.join(a.folder, "data"), task)
        for name in ["sluice", *a.peers]:
            row = dict(task=task, name=name, ours=name == "sluice", threads=threads)
            limit = a.limit if task == "resnet50" else a.chain_limit
            try:
                row.update(of_sluice(a, folder, tries, threads, error_of) if row["ours"]
                           else of_peer(a, name, folder, 1 if name.startswith("torch-") else tries, threads, limit))
            except (Failed, OSError, ValueError) as e:
                row["failed"] = str(e)
            rows.append(row)
            say(row)
    return rows
