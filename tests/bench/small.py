#!/usr/bin/env python3
"""Small programs, which fit the first cache: the time of a call fused against that of the same kernels unfused.

    small.py                                 all of them, one thread
    small.py --only softmax,net --rounds 5   those whose names begin so
    small.py --old ../old/build/bin          against the fused programs of another build too

Programs take turns, each for --seconds a round; a ratio is of the least times of all rounds. What is behind by more than
5 % is marked, and the last line has the geometric means."""
import argparse, json, math, os, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))

NET = """const w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]
const b f32 = [0.1, -0.2, 0]
output y = softmax(relu(x @ w + b))"""
ROWS = {                # of x, along its last axis
    "softmax": "softmax(x)",
    "logsoftmax": "log_softmax(x)",
    "layernorm": "layernorm(x)",
    "rms": "x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5)",
    "unit": "x / norm(x, axis=-1, keepdims=true)",
    "range": "max(x, axis=-1) - min(x, axis=-1)",
    "variance": "var(x, axis=-1)",
    "centred": "exp(x - mean(x, axis=-1, keepdims=true))",
}
PROGRAMS = {
    "net_64": "input x f32[64, 4]\n" + NET,
    "net_1..64": "input x f32[n, 4] where n in 1..64\n" + NET,
    "net_7": "input x f32[7, 4]\n" + NET,
    "mlp_16_32_8": "input x f32[16, 16]\ninput w f32[16, 32]\ninput v f32[32, 8]\noutput y = relu(x @ w) @ v",
    "mlp_1_16_4": "input x f32[1, 16]\ninput w f32[16, 16]\ninput v f32[16, 4]\noutput y = softmax(relu(x @ w) @ v)",
    "matmul_8_bias": "input x f32[8, 8]\ninput w f32[8, 8]\ninput b f32[8]\noutput y = tanh(x @ w + b)",
    "matmul_64_3_3": "input x f32[64, 3]\ninput w f32[3, 3]\noutput y = x @ w + 1",
    "rotate_100": "input x f32[100, 3]\ninput w f32[100, 3, 3]\noutput y = sum(w * unsqueeze(x, 1), axis=-1)",
    "outer": "input x f32[24]\noutput y = unsqueeze(x, 1) * x + 1",
    "distances": "input x f32[32, 3]\noutput y = sqrt(sum(square(unsqueeze(x, 1) - x), axis=-1))",
    "attention_16_4": "input x f32[16, 4]\ninput k f32[16, 4]\ninput v f32[16, 4]\noutput y = softmax(x @ transpose(k) / 2) @ v",
    "gelu_100": "input x f32[100]\noutput y = gelu(x) * 2 + 1",
    "poly_1000": "input x f32[1000]\noutput y = ((x * 3 + 2) * x + 1) * x",
    "mean_std_100": "input x f32[100]\noutput y = (x - mean(x)) / std(x)",
    "mean_std_4096": "input x f32[64, 64]\noutput y = (x - mean(x)) / std(x)",
    "mean_square_4096": "input x f32[64, 64]\noutput y = mean(square(x - 0.5))",
    "columns_64_4": "input x f32[64, 4]\noutput y = x - mean(x, axis=0)",
    "columns_16_16": "input x f32[16, 16]\noutput y = softmax(x, axis=0)",
    "columns_3_64": "input x f32[3, 64]\noutput y = softmax(x, axis=0)",
    "channels_3": "input x f32[8, 3, 4, 4]\noutput y = softmax(x, axis=1)",
    "groups_4": "input x f32[8, 8, 4]\noutput y = (x - mean(x, axis=[1, 2], keepdims=true)) * 2",
    "pool_max_16": "input x f32[1, 4, 16, 16]\noutput y = max_pool(x, 2)",
    "pool_mean_16": "input x f32[1, 4, 16, 16]\noutput y = relu(avg_pool(x, 2))",
    "depthwise_8": "input x f32[1, 8, 8, 8]\ninput w f32[8, 1, 3, 3]\noutput y = relu(conv2d(x, w, padding=1, groups=8))",
    "conv_4_8": "input x f32[1, 4, 8, 8]\ninput w f32[8, 4, 3, 3]\noutput y = relu(conv2d(x, w, padding=1))",
    "argmax_3": "input x f32[64, 3]\noutput y = argmax(x, axis=-1)",
    "f64_softmax_3": "input x f64[64, 3]\noutput y = softmax(x)",
    "transposed": "input x f32[16, 3]\noutput y = exp(transpose(x)) * 2",
    "select": "input x f32[64, 5]\noutput y = where(x > mean(x, axis=-1, keepdims=true), x, 0)",
}
for name, text in ROWS.items():
    for rows, width in ((64, 2), (64, 3), (64, 4), (100, 5), (64, 7), (33, 12), (24, 16), (24, 33)):
        if (name in ("softmax", "layernorm")) or width in (3, 4, 12):
            PROGRAMS["%s_%d_%d" % (name, rows, width)] = "input x f32[%d, %d]\noutput y = %s" % (rows, width, text)

def options():
    p = argparse.ArgumentParser(description="Small programs, fused against unfused.")
    p.add_argument("--only", default="", metavar="NAME,…", help="programs whose names begin so")
    p.add_argument("--bin", default=os.environ.get("SLUICE_BIN", os.path.join(HERE, "../../build/bin")), help="the tools")
    p.add_argument("--old", metavar="DIR", help="other tools, to compare the fused programs with")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.03)
    p.add_argument("--target", default="clang")
    return p.parse_args()

def piped(folder, command, **more):
    env = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], SLUICE_BIN=folder)
    return subprocess.run(command, shell=True, check=True, env=env, **more)

def build(folder, stage, target, source, to):
    piped(folder, "trace %s | %s | render -t %s | compile -o %s" % (source, stage, target, to))

def least(folder, program, sizes, seconds, times):
    piped(folder, "run -j 1 %s x=rand %s --bench=%s --seconds %g" % (program, sizes, times, seconds),
          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(times) as f:
        return min(json.load(f)["times_ms"]) * 1e3

def inputs(text):
    """What the inputs but x are filled with, and sizes that are open."""
    names = [l.split()[1] for l in text.split("\n") if l.startswith("input") and l.split()[1] != "x"]
    return " ".join(["%s=rand" % n for n in names] + ["n=64"] * (" where n " in text))

def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))

def main():
    o = options()
    wanted = [w for w in o.only.split(",") if w] or [""]
    names = [n for n in PROGRAMS if any(n.startswith(w) for w in wanted)]
    ways = {"fused": (os.path.abspath(o.bin), "fuse"), "unfused": (os.path.abspath(o.bin), "schedule")}
    if o.old:
        ways["old"] = (os.path.abspath(o.old), "fuse")
    ratios = {w: [] for w in ways if w != "fused"}
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            source = os.path.join(work, "program.t")
            with open(source, "w") as f:
                f.write(PROGRAMS[name] + "\n")
            took = {}
            for way, (folder, stage) in ways.items():
                build(folder, stage, o.target, source, os.path.join(work, way))
            for _ in range(o.rounds):
                for way, (folder, _) in ways.items():
                    us = least(folder, os.path.join(work, way), inputs(PROGRAMS[name]), o.seconds, os.path.join(work, "times"))
                    took[way] = min(took.get(way, us), us)
            line = "%-18s fused %8.3f us" % (name, took["fused"])
            for way in ratios:
                ratio = took["fused"] / took[way]
                ratios[way].append(ratio)
                line += "   of %s %5.2f%s" % (way, ratio, "*" if ratio > 1.05 else " ")
            print(line, flush=True)
    print("geometric mean: " + ", ".join("%.3f of %s (%d over 1.05)" % (mean(r), w, sum(x > 1.05 for x in r))
                                         for w, r in ratios.items()))

main()
