"""Lowers programs for processors that nobody has seen: figures of a machine are drawn at random, within what is possible, and what
`lower --measured` chooses by them has to be right.

    python3 machines.py SEED COUNT      in an empty folder, tools on PATH
"""
import os
import random
import subprocess
import sys

PROGRAMS = {
    "attention": "input q f32[2, 100, 32]\ninput k f32[2, 150, 32]\ninput v f32[2, 150, 32]\n"
                 "output y = softmax(q @ transpose(k, [0, 2, 1]) * 0.125) @ v",
    "images": "input x f32[1, 32, 30, 29]\ninput w f32[32, 32, 3, 3]\ninput d f32[32, 1, 3, 3]\na = relu(conv2d(x, w, padding=1))\n"
              "b = relu(conv2d(a, d, padding=1, groups=32))\noutput y = conv2d(b, w, padding=1), z = max_pool(a, [2, 2])",
    "layers": "input x f32[70, 200]\ninput w f32[200, 300]\ninput u f32[300, 130]\nh = gelu(x @ w * 0.01)\n"
              "output y = softmax(h @ u * 0.01), s = sum(h, axis=0), t = transpose(h, [1, 0])",
    "rows": "input x f32[n, 577] where n in 1..90\nm = x - mean(x, axis=1, keepdims=true)\n"
            "output y = m / sqrt(mean(m * m, axis=1, keepdims=true) + 0.001), c = cumsum(x, axis=1), t = sort(x, axis=1)",
    "sums": "input a f32[40, 70]\ninput b f32[70, 50]\nd = expand(reshape(a, [40, 1, 70]), [40, 50, 70])\n"
            "e = expand(reshape(transpose(b, [1, 0]), [1, 50, 70]), [40, 50, 70])\n"
            "output y = a @ b, z = max(abs(d + e), axis=2), w = sum(sin(a) * exp(a))",
}


KEYS = {"cores": 1, "ops": 1, "loads": 1, "latency": 1, "clock": 1, "start": 1, "line": 1, "page": 1, "copy": 1, "spared": 1, "cache": 3,
        "read": 4, "runs": 1, "ways": 1}


def operands(text):
    names = [line.split()[1] for line in text.split("\n") if line.startswith("input")]
    return [name + "=rand" for name in names] + (["n=33"] if " n in " in text else [])


def figures(r, i):
    if i < 2:       # the least figures that there are, and great ones
        one = (1, 1 << 24)[i]
        return "".join(f"{key}: {' '.join([str(one)] * n)}\n" for key, n in KEYS.items())
    first = 2 ** r.randint(10, 17)
    second = first * 2 ** r.randint(0, 8)
    last = second * 2 ** r.randint(0, 9)
    row = {
        "cores": r.choice([1, 2, 4, 8, 64, 200]), "ops": r.randint(1, 4), "loads": r.randint(1, 4), "latency": r.randint(1, 12),
        "clock": r.choice([300, 1500, 4000, 6000]), "start": r.choice([1, 500, 2048, 20000]),
        "line": r.choice([16, 32, 64, 128]), "page": r.choice([1024, 4096, 65536]),
        "copy": r.choice([1, 8, 32, 200]), "spared": r.choice([1, 10, 40, 400]),
        "cache": f"{first} {second} {last}",
        "read": f"{r.randint(64, 600)} {r.randint(32, 300)} {r.randint(8, 100)} {r.randint(1, 60)}",
        "runs": r.randint(1, 60), "ways": r.choice([1, 8, 12, 16]),
    }
    return "".join(f"{key}: {value}\n" for key, value in row.items())


def sh(command, **options):
    return subprocess.run(["bash", "-c", "set -o pipefail; " + command], text=True, **options)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    r = random.Random(seed)
    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    os.makedirs("cache/sluice", mode=0o700)
    for name, text in PROGRAMS.items():
        with open(name + ".t", "w") as f:
            f.write(text + "\n")
        sh(f"trace {name}.t | fuse > {name}.s && run --interpret {name}.s {' '.join(operands(text))} -o {name}.npz", check=True)
    wrong = 0
    for i in range(count):
        row = figures(r, i)
        with open("cache/sluice/machine", "w") as f:
            f.write(row)
        os.chmod("cache/sluice/machine", 0o600)
        for name, text in PROGRAMS.items():
            march = r.choice(["", "--march x86-64-v3", "--march x86-64"])
            done = sh(f"lower -t clang {march} --measured {name}.s > l && run l {' '.join(operands(text))} -o o.npz && "
                      f"diff --rtol 2e-4 --atol 2e-4 {name}.npz o.npz", capture_output=True)
            if done.returncode:
                wrong += 1
                print(f"{name} {march}: status {done.returncode}\n{done.stderr}{done.stdout}{row}")
    print(f"{count} machines, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
