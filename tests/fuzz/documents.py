#!/usr/bin/env python3
"""Documents of every level, changed at random as documents (mutate.c), through every tool that takes them.

    documents.py --bin build/san/bin --mutate build/fuzz/fuzz/mutate --seeds FOLDER [--seed 1] [--seconds 60] [--found FOLDER]

A document with which a tool does what judge.py does not allow is kept in FOLDER, the command beside it."""
import argparse
import os
import random
import sys
import time

import judge

TOOLS = (["show"], ["show", "--html"], ["show", "-g"], ["match", "ADD(x, y)"], ["info"], ["simplify"], ["schedule"], ["fuse"],
         ["fuse", "--explain"], ["lower", "-t", "clang"], ["lower", "-t", "opencl"], ["layout", "-t", "clang"],
         ["render", "-t", "clang"], ["render", "-t", "cuda"], ["grad", "-o", "y", "-w", "x"], ["vmap", "-a", "x=0"],
         ["jvp", "-o", "y", "-w", "x"], ["rewrite", "-e", "x + 1 -> 1 + x"])


def command(tool, path, bin_folder):
    return [os.path.join(bin_folder, tool[0])] + tool[1:] + [path]


def contents(folder):
    """The files of a folder, which libFuzzer may be changing."""
    found = []
    for name in sorted(os.listdir(folder)):
        try:
            with open(os.path.join(folder, name), "rb") as f:
                found.append(f.read())
        except FileNotFoundError:
            pass
    return found


def mutated(args, document, seed):
    r = judge.run([args.mutate, str(seed)], document)
    return r.out if r.status == 0 else None


def try_tools(args, document, name):
    """Complaints about one document: (command, what is wrong)."""
    path = os.path.join(args.found, name)
    with open(path, "wb") as f:
        f.write(document)
    wrong = []
    for tool in random.sample(TOOLS, args.tools):
        r = judge.run(command(tool, path, args.bin))
        what = judge.complaint(r, (0, 1, 2, 3, 4) if tool[0] == "match" else (0, 2, 3, 4))
        if what:
            wrong.append((" ".join(r.command), what))
    if wrong:
        with open(path + ".txt", "w", encoding="utf-8") as f:
            f.writelines(f"{c}\n{w}\n" for c, w in wrong)
    else:
        os.remove(path)
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--mutate", required=True)
    p.add_argument("--seeds", required=True)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--tools", type=int, default=6, help="how many tools a document is given to")
    p.add_argument("--found", default="build/fuzz/found")
    args = p.parse_args()
    os.makedirs(args.found, exist_ok=True)
    random.seed(args.seed)
    seeds = contents(args.seeds)
    end, tried, wrong = time.time() + args.seconds, 0, 0
    while time.time() < end:
        document = mutated(args, random.choice(seeds), args.seed + tried)
        tried += 1
        if document:
            for c, what in try_tools(args, document, f"document-{args.seed + tried}"):
                wrong += 1
                print(f"{c}: {what}")
    print(f"{tried} documents (from seed {args.seed}): {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
