#!/usr/bin/env python3
"""A step of training against the peers: forward, backward and optimizer, of a perceptron, a small convolutional net and a small
transformer.  All begin with the same weights and take the same batch; the loss after two steps is compared.

    training.py [--only mlp,conv] [--peers torch,jax] [--threads 1,2] [--seconds S] [--rounds N] [--bin DIR] [--folder DIR]

Each contestant is measured by turns as bench.py does it.  NETS below has the nets in the text language, training_peers.py in the
others'."""
import argparse, atexit, json, os, sys
import numpy as np
HERE = os.path.dirname(os.path.abspath(__file__))
import bench
from contestants import Failed, PeerProcess, SluiceProgram

PEERS = "torch,torch-compile,jax,tinygrad"
F32 = np.float32

def draw(seed, *shape, scale): return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(F32)

def mlp():
    r = np.random.default_rng(1)
    return dict(x=r.random((128, 784), F32), y=r.integers(0, 10, 128)), dict(
        w1=draw(2, 784, 512, scale=.05), b1=np.zeros(512, F32), w2=draw(3, 512, 10, scale=.05), b2=np.zeros(10, F32))

def conv():
    r = np.random.default_rng(1)
    return dict(x=r.random((100, 1, 8, 8), F32), y=r.integers(0, 10, 100)), dict(
        c1=draw(2, 16, 1, 3, 3, scale=.4), a1=np.zeros(16, F32), c2=draw(3, 32, 16, 3, 3, scale=.1), a2=np.zeros(32, F32),
        w=draw(4, 512, 10, scale=.05), b=np.zeros(10, F32))

def transformer():
    r = np.random.default_rng(1)
    t = r.integers(0, 128, (16, 65))
    return dict(x=t[:, :-1].copy(), y=t[:, 1:].copy()), dict(
        letters=draw(2, 128, 64, scale=.05), places=draw(3, 64, 64, scale=.05), qkv=draw(4, 2, 64, 192, scale=.1),
        out=draw(5, 2, 64, 64, scale=.05), up=draw(6, 2, 64, 256, scale=.1), down=draw(7, 2, 256, 64, scale=.05))

NETS = {        # name: data and weights, the program between them, the optimizer, the greatest relative error of the loss
    "mlp": (mlp, "loss = cross_entropy(relu(x @ w1 + b1) @ w2 + b2, y)", "sgd(all, grad(loss, all), lr=0.1, momentum=0.9)", 1e-5),
    "conv": (conv, """h = max_pool(relu(conv2d(x, c1, a1, padding=1)), 2)
h = relu(conv2d(h, c2, a2, padding=1)).reshape(100, 512)
loss = cross_entropy(h @ w + b, y)""", "adam(all, grad(loss, all), lr=1e-3)", 1e-4),
    "transformer": (transformer, """def heads(t) = moveaxis(t.reshape(16, 64, 4, 16), 2, 1)
def block(h, qkv, out, up, down) {
	q, k, v = split(rmsnorm(h) @ qkv, 3, axis=-1)
	h = h + moveaxis(attention(heads(q), heads(k), heads(v), causal=true), 1, 2).reshape(16, 64, 64) @ out
	return h + gelu(rmsnorm(h) @ up, approximate="tanh") @ down
}
h = embedding(x, letters) + places
for i in 0..1 { h = block(h, qkv[i], out[i], up[i], down[i]) }
loss = cross_entropy(rmsnorm(h) @ letters.T, y)""", "adamw(all, grad(loss, all), lr=1e-3)", 1e-4),
}

def write(folder, name):
    """The net's folder: step.t, the batch, the weights."""
    make, body, optimizer, _ = NETS[name]
    to, (batch, weights) = os.path.join(folder, name), make()
    os.makedirs(to, exist_ok=True)
    lines = []
    for k, v in batch.items():
        np.save(os.path.join(to, "in_%s.npy" % k), v)
        lines.append("input %s %s%s" % (k, "f32" if v.dtype == F32 else "i64", list(v.shape)))
    for k, v in weights.items():
        np.save(os.path.join(to, "w_%s.npy" % k), v)
        lines += ["state %s f32%s = load(\"w_%s.npy\")" % (k, list(v.shape), k)]
    lines += ["all = [%s]" % ", ".join(weights), body, "all <- " + optimizer, "output loss"]
    with open(os.path.join(to, "step.t"), "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(to, "meta.json"), "w") as f:
        json.dump(dict(inputs=list(batch), weights=list(weights)), f)
    return to

class Peer(PeerProcess):
    def __init__(self, name, *rest):
        super().__init__(name, sys.executable, *rest)
        self.command[1] = os.path.join(HERE, "training_peers.py")

class Ours(SluiceProgram):
    def save(self, folder): self.run("-o", folder, "--numbered", "-n", "2", "--save", os.path.join(folder, "s.safetensors"))

def loss_of(c, folder):
    c.save(folder)
    return float(np.load(os.path.join(folder, "output_0.npy")))

def measure(a, name, folder, threads):
    """One row for each contestant; the median of all losses is what is right."""
    program = "trace %s | fuse | lower -t clang | compile" % os.path.join(folder, "step.t")
    all = [Ours("sluice", a.bin, program, a.folder, folder, threads, a.limit)]
    all += [Peer(p, a.folder, folder, threads, a.limit) for p in a.peers]
    bench.running[:], live, rows = all, [], []
    for c in all:
        try:
            c.start()
            c.wait()
            c.loss = loss_of(c, folder)
            c.time(0, 1)
            c.call = min(c.time(0.05, 1)) / 1e3
            live.append(c)
        except (Failed, OSError, ValueError) as e:
            c.stop()
            rows.append(dict(net=name, threads=threads, name=c.name, failed=str(e)))
    try:
        bench.take_turns(live, a)
    finally:
        for c in all:
            c.stop()
    right = sorted(c.loss for c in live)[len(live) // 2] if live else 0
    for c in live:
        t, error = sorted(c.times), abs(c.loss - right) / abs(right)
        rows.append(dict(net=name, threads=threads, name=c.name, ours=c.ours, min_ms=t[0], median_ms=t[len(t) // 2], calls=len(t), loss=c.loss,
                         right=error <= NETS[name][3], noise=sorted(c.noise)[len(c.noise) // 2]))
    return rows

def show(rows):
    best = min((r["min_ms"] for r in rows if "min_ms" in r and not r["ours"]), default=None)
    for r in rows:
        if "failed" in r:
            print("%-12s %d  %-14s failed: %s" % (r["net"], r["threads"], r["name"], r["failed"]))
            continue
        ratio = "  %5.2f of the best peer" % (r["min_ms"] / best) if r["ours"] and best else ""
        print("%-12s %d  %-14s %9.3f ms  median %9.3f  loss %.6f%s%s" % (r["net"], r["threads"], r["name"], r["min_ms"], r["median_ms"],
              r["loss"], "" if r["right"] else "  WRONG", ratio), flush=True)

def options():
    p = argparse.ArgumentParser(description="Measures a step of training against the peers.")
    p.add_argument("--only", type=bench.words, default=list(NETS), metavar="NAME,…", help="these of %s" % ",".join(NETS))
    p.add_argument("--peers", type=bench.words, default=bench.words(PEERS), metavar="NAME,…", help="these of " + PEERS)
    p.add_argument("--threads", type=lambda s: list(map(int, bench.words(s))), default=[1, 2], metavar="N,…", help="so many (1,2)")
    p.add_argument("--seconds", type=float, default=0.5, metavar="S", help="length of one turn (0.5)")
    p.add_argument("--rounds", type=int, default=4, metavar="N", help="turns of each (4)")
    p.add_argument("--retries", type=int, default=1, metavar="N", help="turns repeated when others used the machine (1)")
    p.add_argument("--limit", type=float, default=120, metavar="S", help="longest wait (120)")
    p.add_argument("--bin", default=os.environ.get("BIN", bench.BUILD + "/bin"), metavar="DIR", help="Sluice's tools")
    p.add_argument("--folder", default=bench.BUILD + "/bench/training", metavar="DIR", help="programs, weights, caches, training.json")
    return p.parse_args()

def main():
    a = options()
    a.bin, a.folder = os.path.abspath(a.bin), os.path.abspath(a.folder)
    os.makedirs(a.folder, exist_ok=True)
    atexit.register(lambda: [c.stop() for c in bench.running])
    a.peers, rows = list(bench.available(a.peers)), []
    for name in a.only:
        for threads in a.threads:
            rows += (new := measure(a, name, write(a.folder, name), threads))
            show(new)
    bench.keep(dict(machine=bench.machine(), rows=rows), os.path.join(a.folder, "training.json"))
    return 1 if any(r.get("ours") and not r["right"] for r in rows) else 0

if __name__ == "__main__":
    sys.exit(main())
