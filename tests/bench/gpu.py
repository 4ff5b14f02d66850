#!/usr/bin/env python3
"""Programs on this machine's first CUDA device, beside PyTorch on the same one.

    gpu.py [--bin DIR] [--seconds S] [--compile] [--json FILE] [NAME…]

The workloads are those of workloads.py, and `matmul_4096`; the default is all but the largest model. Each is compiled by
`trace | fuse | render -t cuda | compile` and called by `run --bench`, which waits for the device after each call. PyTorch runs
the same graph by its own operators (framework_ops.py) with f32 products of f32 (no TF32): call by call, as a CUDA graph that is
replayed, and with --compile as a graph of what torch.compile makes. It waits after each call too. All times are the least of
those measured, in microseconds; `ratio` is ours over the best of PyTorch's. `kernels` is the sum of the kernels' times by the
device's clock, each started when the one before has ended (run --laps), and how many different ones there are. The error is the norm of the difference from PyTorch in f64 over that of its result.
GB/s are of the bytes that cannot be avoided, beside those of a copy of 1 GB measured here; TFLOP/s beside torch's largest product."""
import argparse, json, os, shlex, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import numpy as np, onnx
import evaluate, framework_ops, workloads

LARGE = {"bert4"}

def works(names):
    workloads.OPERATORS["matmul_4096"] = lambda g: workloads.matmul(g, (4096, 4096), (4096, 4096))
    rows = workloads.table() + [workloads.Work("matmul_4096", "-", "2*4096*4096*4096", "2*4*4096*4096", "4*4096*4096", "2e-5")]
    return [w for w in rows if w.name in names or not names and w.name not in LARGE]

class Ours:
    def __init__(self, work, folder, tools):
        self.name, self.folder, self.tools = work.name, os.path.join(folder, work.name), tools
        os.makedirs(self.folder, exist_ok=True)
        self.model, self.feeds = workloads.build(work.name)
        onnx.save(self.model, self.at("model.onnx"))
        for k, v in self.feeds.items():
            np.save(self.at("in_%s.npy" % k), v)

    def at(self, file): return os.path.join(self.folder, file)

    def compile(self):
        tool = lambda t: os.path.join(self.tools, t)
        line = "%s %s | %s | %s -t cuda | %s > %s" % (tool("trace"), self.at("model.onnx"), tool("fuse"), tool("render"),
                                                      tool("compile"), self.at("p.mp"))
        begin = time.perf_counter()
        subprocess.run(["bash", "-o", "pipefail", "-c", line], check=True)
        self.build_s = time.perf_counter() - begin

    def run(self, *options):
        ins = ["%s=%s" % (k, self.at("in_%s.npy" % k)) for k in self.feeds]
        subprocess.run([os.path.join(self.tools, "run"), self.at("p.mp"), *ins, *options], check=True, timeout=120,
                       stderr=subprocess.PIPE)

    def measure(self, seconds):
        """Seconds of a call, of its kernels, and their number."""
        self.run("--bench=" + self.at("bench.json"), "--seconds", str(seconds), "--numbered", "-o", self.folder)
        with open(self.at("bench.json")) as f:
            bench = json.load(f)
        self.run("-n", "20", "--laps", self.at("laps"), "-o", self.at("laps.npz"))
        with open(self.at("laps")) as f:
            laps = [[float(t) for t in line.split()[1:]] for line in f]
        calls = 20
        kernels = sum(sum(sorted(t)[:len(t) // 2 + 1]) / (len(t) // 2 + 1) * (len(t) / calls) for t in laps)
        return dict(us=min(bench["times_ms"]) * 1e3, kernels_us=kernels / 1e3, kernels=len(laps), first_ms=bench["first_ms"],
                    open_ms=bench["build_ms"])

    def outputs(self): return [np.load(self.at("output_%d.npy" % k)) for k in range(len(self.model.graph.output))]

class Torch:
    def __init__(self, ours):
        import torch
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.set_default_device("cuda")
        self.given = [torch.from_numpy(v).cuda() for v in ours.feeds.values()]
        self.module = framework_ops.torch_module(evaluate.read(ours.model)).cuda()

    def reference(self):
        t = self.torch
        wide = [v.double() if v.dtype == t.float32 else v for v in self.given]
        with t.no_grad():
            outs = self.module.double()(*wide)
        self.module.float()
        return [v.double().cpu().numpy() for v in outs]

    def least(self, call, seconds):
        t, best = self.torch, 1e9
        for _ in range(3):
            call()
        t.cuda.synchronize()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            begin = time.perf_counter()
            call()
            t.cuda.synchronize()
            best = min(best, time.perf_counter() - begin)
        return best * 1e6

    def graph(self, call):
        t = self.torch
        with t.cuda.stream(t.cuda.Stream()):
            for _ in range(3):
                call()
        g = t.cuda.CUDAGraph()
        with t.cuda.graph(g):
            self.kept = call()
        return g.replay

    def measure(self, seconds, compiled):
        t = self.torch
        with t.no_grad():
            call = lambda: [v.contiguous() for v in self.module(*self.given)]
            r = dict(torch_us=self.least(call, seconds))
            try:
                r["graph_us"] = self.least(self.graph(call), seconds)
            except RuntimeError:                                  # a constant that is copied in each call
                t.cuda.synchronize()
            if compiled:
                import torch._inductor.config as config
                config.freezing = True
                made = t.compile(self.module, dynamic=False)
                r["compiled_us"] = self.least(self.graph(lambda: [v.contiguous() for v in made(*self.given)]), seconds)
                t._dynamo.reset()
        return r

def limits():
    """Bytes a second of a copy, counted twice; operations a second of torch's product of two f32 matrices of 8192."""
    import torch
    a = torch.rand(1 << 28, device="cuda")
    b, m = torch.empty_like(a), torch.rand(8192, 8192, device="cuda")
    def least(call, n):
        best = 1e9
        for _ in range(n):
            x, y = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            x.record()
            call()
            y.record()
            torch.cuda.synchronize()
            best = min(best, x.elapsed_time(y) / 1e3)
        return best
    return 2 * a.numel() * 4 / least(lambda: b.copy_(a), 20), 2 * 8192.0 ** 3 / least(lambda: m @ m, 5)

def error_of(got, want):
    worst = 0
    for g, w in zip(got, want):
        d = np.linalg.norm((g.astype(np.float64) - w).ravel()) / max(np.linalg.norm(w.ravel()), 1e-300)
        worst = max(worst, d if np.isfinite(d) else np.inf)
    return worst

HEAD = "%-15s %9s %9s %3s %9s %9s %9s %6s %8s %8s  %s"

def put(r):
    dash = lambda k: "%.1f" % r[k] if k in r else "-"
    print(HEAD % (r["name"], dash("us"), dash("kernels_us"), r.get("kernels", "-"), dash("torch_us"), dash("graph_us"), dash("compiled_us"),
                  "%.2f" % r["ratio"] if "ratio" in r else "-", dash("gbs"), "%.2f" % r["tflops"] if "tflops" in r else "-",
                  r.get("failed") or "%.1e" % r["error"]), flush=True)

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", default=os.path.join(HERE, "../../build/bin"))
    p.add_argument("--seconds", type=float, default=0.5)
    p.add_argument("--compile", action="store_true")
    p.add_argument("--json")
    p.add_argument("--folder")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = a.folder or made
        def prepare(w):
            try:
                o = Ours(w, folder, os.path.abspath(a.bin))
                o.compile()
                return o
            except Exception as e:
                return e
        with ThreadPoolExecutor() as ex:
            ready = list(ex.map(prepare, works(a.names)))
        copy, product = limits()
        import torch
        print("%s: a copy moves %.0f GB/s, torch's f32 product %.1f TFLOP/s" % (torch.cuda.get_device_name(), copy / 1e9, product / 1e12))
        print(HEAD % ("", "call", "kernels", "", "torch", "graph", "compiled", "ratio", "GB/s", "TFLOP/s", "error"), flush=True)
        rows, wrong = [], 0
        for w, o in zip(works(a.names), ready):
            r = dict(name=w.name)
            try:
                if isinstance(o, Exception):
                    raise o
                r.update(o.measure(a.seconds), build_s=o.build_s)
                peer = Torch(o)
                r["error"] = error_of(o.outputs(), peer.reference())
                r.update(peer.measure(a.seconds, a.compile))
                r["ratio"] = r["us"] / min(r[k] for k in ("torch_us", "graph_us", "compiled_us") if k in r)
                r["gbs"], r["tflops"] = (w.read + w.written) / r["us"] / 1e3, w.flops / r["us"] / 1e6
                wrong += not r["error"] < 1e-3
            except Exception as e:
                told = getattr(e, "stderr", None)
                r["failed"] = (told.decode()[-200:] if told else str(e)[-200:]).replace("\n", " ")
                wrong += 1
            rows.append(r)
            put(r)
        if a.json:
            with open(a.json, "w") as f:
                json.dump(dict(device=torch.cuda.get_device_name(), copy=copy, product=product, rows=rows), f, indent=1)
        return wrong > 0

if __name__ == "__main__":
    sys.exit(main())
