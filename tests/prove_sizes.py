#!/usr/bin/env python3
"""prove_sizes.py BIN SEED COUNT [TARGET…]: programs of drawn sizes, whose tiles overlap, are in parts or have a rest; what `lower`
writes of them has to be proved."""
import random
import subprocess
import sys

PROGRAMS = """sum(x, axis=0)|sum(x, axis=1)|max(x, axis=0)|argmax(x, axis=0)|sum(x * x, axis=0) + 1|cumsum(x, axis=0)|cumsum(x, axis=1)
contiguous(permute(x, 1, 0))|x @ w|relu(x @ w + 1)|sum(x)|abs(x) + 1""".replace("\n", "|").split("|")
REAL = "softmax(x)|softmax(x, axis=0)|log_softmax(x)|layernorm(x)|exp(x)".split("|")
USUAL = [1, 2, 3, 7, 16, 31, 33, 64, 65, 100, 128, 200, 255, 300]


def dim(draw):
    kind = draw.random()
    return draw.choice(USUAL) if kind < 0.4 else draw.randint(1, 300 if kind < 0.7 else 3000)


def program(draw):
    rows, columns, more = dim(draw), dim(draw), draw.randint(1, 300)
    dtype = draw.choice(["f32", "f32", "f32", "f64", "i32"])
    value = draw.choice(PROGRAMS + (REAL if dtype != "i32" else []))
    weights = "input w %s[%d, %d]\n" % (dtype, columns, more) if "@" in value else ""
    return "input x %s[%d, %d]\n%soutput y = %s\n" % (dtype, rows, columns, weights, value)


def main():
    tools, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    refused = 0
    for target in sys.argv[4:] or ["clang"]:
        draw = random.Random("%d %s" % (seed, target))
        for _ in range(count):
            text = program(draw)
            command = "set -o pipefail; {0}/trace - | {0}/fuse | {0}/lower -t {1} | {0}/prove -q".format(tools, target)
            r = subprocess.run(["bash", "-c", command], input=text, capture_output=True, text=True)
            if r.returncode:
                refused += 1
                print("%s\n%s%s" % (target, text, r.stderr))
    print("%d refused" % refused)
    return refused > 0


if __name__ == "__main__":
    sys.exit(main())
