"""Words and the primitives that define them (render/README.md): random lists of actions.py on random kernels are lowered as
they are and as `lower --explain` writes them in primitives; level loops has to be the same, byte for byte, but for the list.

usage: words.py SEED COUNT [TARGET]

The last line says how many lists were taken, and how many have words; the status is 1 when some are not the same."""
import difflib
import os
import random
import re
import sys

import actions
from actions import must, tool

WORDS = {"tile", "chunk", "grid", "partial", "jam", "bind", "group", "transpose"}
DRAWN = {"opencl": ["bind", "group", "stage", "kind", "peel"]}


def loops(lower, fused, name, words):
    """the document, its lists left out, and what is said of the kernel's primitives; None: refused"""
    p = tool(*lower, "--explain", "--opt", f"{name}: {words}", given=fused)
    if p.returncode:
        return None, p.stderr.decode().splitlines()[-1]
    text = must("show", given=p.stdout).decode()
    said = [line for line in p.stderr.decode().splitlines() if f" {name}: primitives: " in line]
    return re.sub(r", (actions|plan): \[(\[[^]]*\](, )?)*\]", "", text), said[0].split(": primitives: ")[1]


def said_in_words(primitives):
    """is there a word left? No range of a kernel of one element says what bind and group do."""
    return any(words[0] in WORDS and words[2:] for words in map(str.split, primitives.split("; ")) if words)


def main():
    seed, count, target = int(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or ["clang"])[0]
    cpu = [a for a in actions.ACTIONS if a not in ("bind", "group", "pad") and (a != "swap" or target == "clang")]
    r = random.Random(f"words {seed}")
    taken = worded = wrong = 0
    for action in DRAWN.get(target, cpu):
        p = actions.Program(r)
        lines = [line for i in range(count) for line in r.choice(actions.WANTS.get(action, actions.KINDS))(p, i)]
        fused = must("fuse", given=must("trace", "-", given="\n".join(lines + [""]).encode()))
        lower = ["lower", "-t", target, *actions.march(r, target)]
        text = must("show", given=must(*lower, "--stop-after", "collapse", given=fused)).decode()
        for name, k in actions.read_kernels(text).items():
            l = actions.draw(k, action, r, target)
            if not l:
                continue
            as_words, primitives = loops(lower, fused, name, l.text())
            if not as_words:
                continue
            taken += 1
            worded += any(w[0] in WORDS for w in l.words)
            as_primitives, again = loops(lower, fused, name, primitives)
            if as_primitives != as_words or said_in_words(primitives):
                wrong += 1
                print(f"{' '.join(lower)} --opt '{name}: {l.text()}'\n  {primitives}\n  {'not the same loops' if as_primitives else again}")
                if os.environ.get("WHY") and as_primitives:
                    print("\n".join(difflib.unified_diff(as_words.splitlines(), as_primitives.splitlines(), lineterm="", n=0)))
    print(f"{taken} taken, {worded} with words, {wrong} not the same")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
