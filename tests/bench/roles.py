#!/usr/bin/env python3
"""roles.py --bin BIN [--threads 2]: whether what holds for one contraction holds for its neighbour, whose axes stand in another
order, whose operand is not constant, whose terms are another expression.  Each program and its neighbour run by turns in one
run; least and median ms, the ratio of the least, and the ratio that we hold to.  Cumulative sums are set against PyTorch, where
it is installed.  With numpy."""
import argparse, json, os, subprocess, sys, tempfile, time
import numpy as np

A = "input a f32[512, 512]\n"
B = "input b f32[512, 512]\n"
X = "input x f32[1, 64, 56, 56]\n"
IMAGE = "input x f32[1, 56, 56, 64]\n"
NHWC = "output y = permute(conv2d(permute(x, 0, 3, 1, 2), permute(w, 0, 3, 1, 2), padding=1), 0, 2, 3, 1)"
QKV = "input q f32[8, 512, 64]\ninput k f32[8, 512, 64]\ninput v f32[8, 512, 64]\n"
LAST = "s = q @ permute(k, 0, 2, 1)\ne = exp(s - max(s, axis=2, keepdims=true))\noutput y = (e @ v) / sum(e, axis=2, keepdims=true)"
PROGRAMS = {"min of a + b": A + B + "output y = min(a[:, :, none] + b[none, :, :], axis=1)",
             "min of a + bᵀ": A + B + "output y = min(a[:, none, :] + b[none, :, :], axis=2)",
             "matmul": A + B + "output y = a @ b",
             "sum of where(a > 0, b, 0)": A + B + "output y = sum(where(a[:, :, none] > 0, b[none, :, :], 0), axis=1)",
             "matmul over its rows' lengths": A + B + "output y = (a @ b) / sqrt(sum(a * a, axis=1, keepdims=true))",
             "softmax(q kᵀ) v": QKV + "output y = softmax(q @ permute(k, 0, 2, 1), axis=2) @ v",
             "softmax(q kᵀ) v, divided last": QKV + LAST,
             "convolution, NCHW": X + "const w = load(\"w.npz\", \"nchw\")\noutput y = conv2d(x, w, padding=1)",
             "convolution, NHWC": IMAGE + "const w = load(\"w.npz\", \"nhwc\")\n" + NHWC,
             "convolution, weights an input": X + "input w f32[64, 64, 3, 3]\noutput y = conv2d(x, w, padding=1)"}
PAIRS = [("min of a + bᵀ", "min of a + b", 1.2), ("convolution, NHWC", "convolution, NCHW", 1.2),
         ("convolution, weights an input", "convolution, NCHW", 1.3), ("sum of where(a > 0, b, 0)", "matmul", 1.3),
         ("matmul over its rows' lengths", "matmul", 1.15), ("softmax(q kᵀ) v, divided last", "softmax(q kᵀ) v", 1.1)]
SHAPES = [((2048, 1024), 0), ((2048, 1024), 1), ((64, 256, 128), 1), ((8, 100000), 1), ((1000000,), 0), ((10000000,), 0)]

def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--bin", required=True)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--seconds", type=float, default=0.3)
    return a.parse_args()

class Program:
    def __init__(self, a, folder, text):
        self.a, self.folder, self.times = a, folder, []
        self.path, self.out = os.path.join(folder, "p.mp"), os.path.join(folder, "bench.json")
        self.tool = lambda name: os.path.join(a.bin, name)
        self.names = [line.split()[1] for line in text.splitlines() if line.startswith("input")]
        document = text.encode()
        for name in ("trace", "fuse", "lower", "render", "compile"):
            document = subprocess.run([self.tool(name)], input=document, stdout=subprocess.PIPE, check=True,
                                      cwd=os.path.dirname(folder)).stdout
        with open(self.path, "wb") as f:
            f.write(document)

    def turn(self):
        subprocess.run([self.tool("run"), self.path, *["%s=rand" % n for n in self.names], "-j", str(self.a.threads),
                        "--bench=" + self.out, "--seconds", str(self.a.seconds), "-o", os.path.join(self.folder, "o.npz")],
                       check=True, stderr=subprocess.DEVNULL)
        with open(self.out) as f:
            self.times += json.load(f)["times_ms"]

class Torch:
    def __init__(self, a, shape, axis):
        import torch
        torch.set_num_threads(a.threads)
        x = torch.rand(shape)
        self.call, self.seconds, self.times = (lambda: torch.cumsum(x, axis)), a.seconds, []

    def turn(self):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            begin = time.perf_counter()
            self.call()
            self.times.append(1000 * (time.perf_counter() - begin))

def by_turns(a, what, one, other, than, goal):
    for _ in range(a.rounds):
        one.turn()
        other.turn()
    cell = lambda t: "%.3f/%.3f" % (min(t), np.median(t))
    ratio = min(one.times) / min(other.times)
    print("| %s | %s | %s | %s | %.2f | %.1f%s |" % (what, cell(one.times), than, cell(other.times), ratio, goal,
                                                    " met" if ratio <= goal else ""), flush=True)

def main():
    a = arguments()
    print("| program | ms | against | ms | ratio | goal |\n|---|---|---|---|---|---|")
    def program(text): return Program(a, tempfile.mkdtemp(dir=tmp), text)
    with tempfile.TemporaryDirectory() as tmp:
        w = np.random.default_rng(1).standard_normal((64, 64, 3, 3), np.float32)
        np.savez(os.path.join(tmp, "w.npz"), nchw=w, nhwc=np.ascontiguousarray(w.transpose(0, 2, 3, 1)))
        for what, than, goal in PAIRS:
            by_turns(a, what, program(PROGRAMS[what]), program(PROGRAMS[than]), than, goal)
        for shape, axis in SHAPES:
            text = "input x f32[%s]\noutput y = cumsum(x, axis=%d)" % (", ".join(map(str, shape)), axis)
            try:
                peer = Torch(a, shape, axis)
            except ImportError:
                sys.exit("roles.py: no PyTorch: cumulative sums are left out")
            by_turns(a, "cumsum of %s, axis %d" % (list(shape), axis), program(text), peer, "PyTorch", 1.1)

if __name__ == "__main__":
    main()
