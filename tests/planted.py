#!/usr/bin/env python3
"""Miscompilations planted at random, each of which `prove` must refute.

    planted.py BIN [--seed N] [--count N] [--seconds S] [--verbose]

A program is taken through the stages; what one of them wrote is changed as a fault in it might have: by a wrong rule, in a
node of the document (a pass, an action: another op, operands or branches swapped, a term, a cast or a gate dropped, another
constant, fold, axis, index or tail, a statement or call left out), or in the source text (a printer). A document so changed is
proved against what the stage had read; source is compiled, and run beside the interpreter. A change that is refuted by
neither is tried by the interpreter over many inputs: where nothing differs it is an equivalent one, counted apart, else it
was missed. Prints a table; ends with 1 if one was missed."""
import argparse
import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import npy

PROGRAMS = {
    "mlp": """input x f32[n, 4] where n in 1..9
const w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]
const b f32 = [0.1, -0.2, 0.3]
output y = softmax(relu(x @ w + b))
""",
    "norm": "input x f32[5, 8]\noutput y = (x - mean(x, axis=1, keepdims=true)) / sqrt(var(x, axis=1, keepdims=true) + 0.01)\n",
    "conv": "input x f32[1, 2, 6, 6]\ninput w f32[3, 2, 3, 3]\noutput y = relu(conv2d(x, w, padding=1))\n",
    "pool": "input x f32[1, 2, 6, 6]\noutput y = max_pool(x, 2, stride=2)\noutput z = cumsum(x, 3)\n",
    "ints": """input a i32[12]
input b i32[12]
output q = a // b
output r = a % b
output s = (a & b) ^ (a << 2) | (b >> 1)
output t = where(a < b, a - b, b * 3)
""",
    "views": """input x f32[4, 4]
input z f32[4, 4]
output p = transpose(x) - z
output f = flip(x, 1) / (z * z + 1)
output c = concat(x, z)[2:6]
""",
    "places": """input x f32[6, 3]
input i i64[4]
output g = gather(x, i)
output k = argmax(x, axis=0)
output s = sort(x, axis=0)
""",
    "half": "input x f16[6, 40]\ninput y f16[40, 5]\noutput s = sum(x, axis=1)\noutput m = x @ y\n",
    "casts": """input x f32[16]
input k i8[16]
output a = cast(cast(x, f16), f32) + 0
output b = cast(x * 40, i8)
output c = cast(k, i32) * 1000
output d = round(x) + floor(x)
""",
    "curves": "input x f32[9]\ninput y f32[9]\noutput e = exp(x) - exp(-y)\noutput l = log(abs(x) + 1)\noutput t = tanh(x) * y\n",
    "logic": """input p bool[10]
input q bool[10]
input x f32[10]
output a = (p & q) | (p ^ q)
output b = where(p, maximum(x, 0.5), minimum(x, -0.5))
output c = any(x > 0.25)
""",
    "attention": """input q f32[s, 4] where s in 1..6
input k f32[s, 4]
input v f32[s, 4]
output o = softmax(q @ transpose(k) * 0.5) @ v
""",
}

# wrong ones, of the kinds of simplify.rules and decompose.rules: a condition that is gone, a side that is turned round
RULES = [
    "x * 0 -> 0", "x + 0 -> x", "x - x -> 0", "x == x -> true", "x - 0 -> 0", "x * 1 -> 1", "x - y -> y + -x", "x / y -> y * RECIP(x)",
    "x < y -> (y < x) ^ true", "MAX(x, y) -> MIN(x, y)", "MAX(x, y) -> x", "MAX(x, y) -> WHERE(x < y, x, y)", "MIN(x, y) -> WHERE(y < x, x, y)",
    "WHERE(c, x, y) -> y", "WHERE(c, x, y) -> x", "CAST(CAST(x)) -> CAST(x)", "x // y -> IDIV(x, y)", "x % y -> MOD(x, y)",
    "-x -> x", "EXP2(x) -> x + 1", "x & y -> x | y", "x ^ y -> x | y", "x << y -> x >> y", "x >> y -> x",
    "PERMUTE(x) -> x", "FLIP(x) -> x", "x + y -> x - y", "x * y -> x + y", "x / y -> x * y", "RECIP(x) -> -x", "SQRT(x) -> x",
    "REDUCE[\"ADD\", a](x) -> REDUCE[\"MAX\", a](x)", "REDUCE[\"MAX\", a](x) -> REDUCE[\"MIN\", a](x)", "TRUNC(x) -> x",
    "x < y -> x == y", "WHERE(c, x, 0) -> x", "LOG2(x) -> EXP2(x)", "-x -> 0 - x", "x != x -> false", "x ** 2 -> x",
]

OPS = {"ADD": ["SUB", "MUL"], "SUB": ["ADD"], "MUL": ["ADD"], "MAX": ["MIN", "ADD"], "MIN": ["MAX"], "CMPEQ": ["CMPNE"],
       "CMPNE": ["CMPEQ"], "AND": ["OR", "XOR"], "OR": ["AND"], "XOR": ["OR"], "IDIV": ["FLOORDIV"], "MOD": ["FLOORMOD"],
       "FLOORDIV": ["IDIV"], "FLOORMOD": ["MOD"], "EXP2": ["LOG2"], "LOG2": ["SIN"], "SHL": ["SHR"], "SHR": ["SHL"],
       "SQRT": ["RECIP"], "RECIP": ["SQRT"], "NEG": ["TRUNC"], "FDIV": ["MUL"], "TRUNC": ["NEG"]}
FOLDS = ["ADD", "MUL", "MAX", "MIN"]


class Doc:
    """A document's text: its heading, and its nodes by line."""

    def __init__(self, text):
        lines = text.split("\n")
        self.head = [l for l in lines if l and not l.startswith("%")]
        self.nodes = []
        for l in lines:
            m = re.match(r"%(\d+) = (\w+)((?: (?:bool|[iuf]\d+|bf16)(?:x\d+)?)?)((?: %\d+)*)(.*)$", l)
            if m:
                self.nodes.append([int(m[1]), m[2], m[3].strip(), [int(s) for s in re.findall(r"%(\d+)", m[4])],
                                   re.sub(r"  # .*$", "", m[5])])
        self.by = {n[0]: n for n in self.nodes}

    def text(self):
        out = list(self.head)
        for i, op, dtype, src, rest in self.nodes:
            out.append(f"%{i} = {op}{' ' + dtype if dtype else ''}{''.join(f' %{s}' for s in src)}{rest}")
        return "\n".join(out) + "\n"

    def use(self, old, new):
        for n in self.nodes:
            n[3] = [new if s == old else s for s in n[3]]


def of(doc, *ops):
    return [n for n in doc.nodes if n[1] in ops]


def arithmetic(doc):
    """Nodes that are computed from values: those of indices are left to the index faults."""
    return [n for n in doc.nodes if n[2] and not n[2].startswith("i64")]


def pick(rng, nodes):
    return rng.choice(nodes) if nodes else None


# each: changes a document in place; False where there is nothing of its kind

def another_op(rng, d):
    n = pick(rng, [n for n in arithmetic(d) if n[1] in OPS])
    if n:
        n[1] = rng.choice(OPS[n[1]])
    return n


def operands_swapped(rng, d):
    n = pick(rng, of(d, "SUB", "FDIV", "CMPLT", "POW", "IDIV", "MOD", "FLOORDIV", "FLOORMOD", "SHL", "SHR", "WHERE"))
    if n:
        n[3] = n[3][:-2] + [n[3][-1], n[3][-2]]
    return n and n[3][-1] != n[3][-2]


def term_dropped(rng, d):
    n = pick(rng, [n for n in arithmetic(d) if n[1] in ("ADD", "SUB", "MUL", "MAX", "MIN", "MULACC")])
    if n:
        d.use(n[0], n[3][-1] if n[1] == "MULACC" else n[3][rng.randrange(2) if n[1] != "SUB" else 0])
    return n


def cast_dropped(rng, d):
    n = pick(rng, [n for n in of(d, "CAST") if d.by[n[3][0]][1] == "CAST" and d.by[d.by[n[3][0]][3][0]][2] == n[2]])
    if n:
        d.use(n[0], d.by[n[3][0]][3][0])
    return n


def constant(rng, d):
    n = pick(rng, [n for n in of(d, "CONST") if n[2] != "i64"])
    if not n:
        return None
    v = n[4].split("@")[0].strip()
    if v in ("true", "false"):
        v = "false" if v == "true" else "true"
    elif v in ("inf", "-inf", "nan"):
        v = {"inf": "-inf", "-inf": "0.0", "nan": "0.0"}[v]
    elif "." in v or "e" in v:
        v = repr(rng.choice([-float(v) if float(v) else 1.0, float(v) + 1, float(v) * 1.001 or 0.5]))
    else:
        v = str(int(v) + rng.choice([1, -1]) if int(v) else 1)
    n[4] = " " + v
    return n


def fold(rng, d):
    n = pick(rng, [n for n in of(d, "REDUCE", "SCAN", "RREDUCE", "RSCAN", "SCATTER") if re.search(r'"(ADD|MUL|MAX|MIN)"', n[4])])
    if n:
        old = re.search(r'"(ADD|MUL|MAX|MIN)"', n[4])[1]
        n[4] = n[4].replace(f'"{old}"', f'"{rng.choice([f for f in FOLDS if f != old])}"')
    return n


def movement(rng, d):
    n = pick(rng, of(d, "PERMUTE", "FLIP", "SHRINK", "PAD"))
    if not n:
        return None
    numbers = re.findall(r"\d+", n[4].split("@")[0])
    if n[1] == "PERMUTE":
        i = rng.randrange(len(numbers) - 1) if len(numbers) > 1 else 0
        numbers[i:i + 2] = reversed(numbers[i:i + 2])
        n[4] = f" [{', '.join(numbers)}]"
    elif n[1] == "FLIP":
        n[4] = f" [{int(numbers[0]) ^ 1}]"
    else:
        k, way = 2 * rng.randrange(len(numbers) // 2), rng.choice([-1, 1])
        a, b = int(numbers[k]) + way, int(numbers[k + 1]) + (way if n[1] == "SHRINK" else -way)
        if a < 0 or b < 0:
            return None
        numbers[k:k + 2] = str(a), str(b)
        pairs = [f"[{numbers[i]}, {numbers[i + 1]}]" for i in range(0, len(numbers), 2)]
        n[4] = f" [{', '.join(pairs)}]"
    return n


def index(rng, d):
    n = pick(rng, of(d, "INDEX"))
    if not n:
        return None
    if len(n[3]) > 2:
        i = rng.randrange(1, len(n[3]) - 1)
        n[3][i], n[3][i + 1] = n[3][i + 1], n[3][i]
        return n[3][i] != n[3][i + 1]
    others = [m for m in d.nodes if m[2] == "i64" and m[1] in ("RANGE", "ADD", "MUL", "CONST") and m[0] < n[0] and m[0] != n[3][1]]
    m = pick(rng, others)
    if m:
        n[3][1] = m[0]
    return m


def tail(rng, d):
    n = pick(rng, of(d, "RANGE"))
    if not n or d.by[n[3][0]][1] != "CONST":
        return None
    size = int(d.by[n[3][0]][4].split("@")[0])
    if size < 2:
        return None
    new = max(d.by) + 1
    made = [new, "CONST", "i64", [], f" {size - 1}"]
    d.nodes.insert(d.nodes.index(n), made)
    d.by[new] = made
    n[3][0] = new
    return n


def gate(rng, d):
    n = pick(rng, [n for n in of(d, "LOAD", "STORE") if len(n[3]) > (1 if n[1] == "LOAD" else 2)])
    if n:
        n[3].pop()
    return n


def source_of_load(rng, d):
    """Another element of a kind is read."""
    loads = of(d, "LOAD")
    n = pick(rng, loads)
    m = pick(rng, [m for m in loads if n and m[2] == n[2] and m[3] != n[3]])
    if m:
        n[3] = list(m[3])
    return m


def statement(rng, d):
    n = pick(rng, of(d, "KERNEL"))
    if not n or len(n[3]) < 3:
        return None
    stores = [i for i, s in enumerate(n[3]) if d.by[s][1] == "STORE"]
    i = rng.choice(stores)
    if rng.random() < 0.5:
        del n[3][i]
    elif i + 1 < len(n[3]) and d.by[n[3][i + 1]][1] in ("STORE", "RANGE", "LET", "IF"):
        n[3][i], n[3][i + 1] = n[3][i + 1], n[3][i]
    else:
        return None
    return n


def call(rng, d):
    n = d.nodes[-1]
    if d.by[n[3][0]][1] != "CALL":
        return None
    c = d.by[rng.choice(n[3])]
    if rng.random() < 0.6 and len(c[3]) > 3:
        i, k = rng.sample(range(2, len(c[3])), 2)
        c[3][i], c[3][k] = c[3][k], c[3][i]
        return c
    if len(n[3]) < 2:
        return None
    i = rng.randrange(len(n[3]) - 1)
    n[3][i], n[3][i + 1] = n[3][i + 1], n[3][i]
    return n


def order(rng, d):
    n = pick(rng, of(d, "SORT", "RSORT"))
    if n:
        n[4] = n[4].replace("true", "T").replace("false", "true").replace("T", "false")
    return n


EDITS = [another_op, operands_swapped, term_dropped, cast_dropped, constant, fold, movement, index, tail, gate, source_of_load,
         statement, call, order]

# changes of source text, as of a printer
PRINTED = [(r"(?<=\w) \+ (?=\w)", " - "), (r" \* ", " + "), (r" < (?=\d+; )", " <= "), (r"(?<=; \w\w) < ", " > "), (r" - ", " + "),
           (r" / ", " * "), (r"\bfmaxf?\b", "fmin"), (r" \+= ", " = "), (r" \? ", " ? 0 * "), (r" & ", " | "), (r"= 0\.0f", "= 1.0f"),
           (r"-\(", "("), (r" < ", " <= "), (r" == ", " != "), (r" >> ", " << ")]


class Planter:
    def __init__(self, bin, dir, rng, verbose):
        self.bin, self.dir, self.rng, self.verbose = bin, dir, rng, verbose
        self.levels = {}
        self.table = collections.defaultdict(collections.Counter)
        self.missed = []

    def tool(self, name, *args, limit=60):
        return subprocess.run([os.path.join(self.bin, name), *args], capture_output=True, timeout=limit)

    def write(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def stages(self, program):
        """(stage, what it read, what it wrote) for each stage, as paths."""
        if program in self.levels:
            return self.levels[program]
        g = self.write(f"{program}.t", PROGRAMS[program].encode())
        steps, last = [], None
        for name, args in [("trace", []), ("simplify", []), ("schedule", []), ("fuse", []), ("lower", ["-t", "clang"]),
                           ("lower", ["-t", "opencl"]), ("render", ["-t", "clang"])]:
            source = {"trace": g, "render": None}.get(name, last)
            if args and name == "lower":
                source = os.path.join(self.dir, f"{program}.fuse")
            if name == "render":
                source = os.path.join(self.dir, f"{program}.lowerclang")
            made = self.tool(name, *args, source)
            if made.returncode:
                sys.exit(f"{program}: {name}: {made.stderr.decode()}")
            last = self.write(f"{program}.{name}{args[1] if name == 'lower' else ''}", made.stdout)
            steps.append((name, source, last))
        self.levels[program] = steps
        return steps

    # ---- equivalent or not, over many inputs

    def inputs(self, graph, n, kind):
        """NAME=FILE for each input of the graph, with its sizes all n."""
        out, sized = [], set()
        text = self.tool("show", graph).stdout.decode()
        for dtype, name, shape in re.findall(r'BUFFER (\w+) \{name: "(\w+)", shape: \[(.*?)\], role: "input"', text):
            dims = []
            for s in filter(None, shape.split(", ")):
                sized |= set() if s.isdigit() else {s.strip('"')}
                dims.append(int(s) if s.isdigit() else n)
            count = 1
            for s in dims:
                count *= s
            path = os.path.join(self.dir, f"in.{name}.npy")
            npy.save(path, *self.values(dtype, dims, count, kind))
            out.append(f"{name}={path}")
        return out + [f"{s}={n}" for s in sized]

    def values(self, dtype, dims, count, kind):
        r = self.rng
        codes = {"f16": "<f2 e", "f32": "<f4 f", "f64": "<f8 d", "i8": "|i1 b", "i32": "<i4 i", "i64": "<i8 q", "bool": "|b1 B", "u8": "|u1 B"}
        descr, code = codes[dtype].split()
        if dtype == "bool":
            v = [r.randrange(2) for _ in range(count)]
        elif dtype[0] == "f":
            edge = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 0.5, 1.5, -2.5, 60000.0, 1e-7]
            v = [r.choice(edge) if kind and r.random() < 0.2 else round(r.gauss(0, 3), 3) for _ in range(count)]
        else:
            bits = 8 * int(descr[-1])
            v = [r.choice([-2 ** (bits - 1), 2 ** (bits - 1) - 1, -1]) if kind and r.random() < 0.2 else r.randrange(-7, 8)
                 for _ in range(count)]
        return descr, dims, struct.pack(f"<{count}{code}", *v)

    def differs(self, program, right, wrong, rounds=24):
        """Whether the interpreter gives other results for the documents, over many inputs."""
        graph = self.stages(program)[0][2]
        for k in range(rounds):
            given = self.inputs(graph, 1 + k % 6, k % 3)
            outs = []
            for name, doc in (("right", right), ("wrong", wrong)):
                out = os.path.join(self.dir, name + ".npz")
                if self.tool("run", "--interpret", doc, *given, "-o", out).returncode:
                    return name == "wrong"
                outs.append(out)
            if self.tool("diff", *outs, "--rtol", "1e-3", "--atol", "1e-4").returncode:
                return True
        return False

    # ---- one fault

    def judge(self, kind, program, before, right, wrong, what):
        said = self.tool("prove", before, wrong)
        if said.returncode in (2, 4):
            return False                    # it is no document at all
        if said.returncode == 1:
            text = said.stdout.decode() + said.stderr.decode()
            how = "field" if "over the field" in text or "small integers" in text else "edges" if "edge values" in text else "memory"
            self.count(kind, how, f"{program}: {what}: {text.strip()}")
        elif self.tool("prove", "-q", wrong).returncode == 4:
            self.count(kind, "memory", f"{program}: {what}")
        elif said.returncode == 0 and not self.differs(program, right, wrong):
            self.count(kind, "equivalent", f"{program}: {what}")
        else:
            self.count(kind, "missed", f"{program}: {what}: {said.stdout.decode().strip()}{said.stderr.decode().strip()}")
            self.missed.append((program, what))
            if self.verbose:
                os.replace(wrong, os.path.join("/tmp", f"missed{len(self.missed)}.mp"))
        return True

    def count(self, kind, how, line):
        self.table[kind][how] += 1
        if self.verbose or how == "missed":
            print(f"{how}: {line}")

    def by_rule(self):
        rule, program = self.rng.choice(RULES), self.rng.choice(list(PROGRAMS))
        name, before, right = self.rng.choice(self.stages(program)[:4])
        made = self.tool("rewrite", "-e", rule, right)
        if made.returncode or made.stdout == open(right, "rb").read():
            return False
        if name == "trace":
            before = right
        return self.judge("rule", program, before, right, self.write("wrong", made.stdout), f"after {name}: {rule}")

    def by_edit(self):
        edit, program = self.rng.choice(EDITS), self.rng.choice(list(PROGRAMS))
        name, before, right = self.rng.choice(self.stages(program)[1:6])
        d = Doc(self.tool("show", right).stdout.decode())
        if not edit(self.rng, d):
            return False
        made = self.tool("show", "-p", self.write("edited", d.text().encode()))
        if made.returncode or made.stdout == open(right, "rb").read():
            return False
        where = "action" if name == "lower" else "pass"
        return self.judge(where, program, before, right, self.write("wrong", made.stdout), f"{name}: {edit.__name__}")

    def by_printer(self):
        program = self.rng.choice(list(PROGRAMS))
        right = self.stages(program)[6][2]
        text = self.tool("show", right).stdout.decode()
        sources = [m for m in re.finditer(r"(?m)^\s*\|(.*)$", text)]
        pattern, to = self.rng.choice(PRINTED)
        hits = [(s, h) for s in sources for h in re.finditer(pattern, s[1])
                if not re.search(r"#|static|void|__builtin|typedef|uint|//", s[1])]
        if not hits:
            return False
        s, h = self.rng.choice(hits)
        at = s.start(1)
        text = text[:at + h.start()] + h.expand(to) + text[at + h.end():]
        made = self.tool("show", "-p", self.write("edited", text.encode()))
        if made.returncode:
            return False
        wrong = self.write("wrong", made.stdout)
        return self.printed(program, right, wrong, f"{s[1].strip()}: {pattern} -> {to}")

    def printed(self, program, right, wrong, what):
        """Source is judged by compiling it: beside the interpreter, which runs the kernel it was printed from."""
        graph = self.stages(program)[0][2]
        for k in range(8):
            given = self.inputs(graph, 2 + k % 3, k % 3)
            outs = []
            for name, doc, how in (("right", right, ["--interpret"]), ("wrong", wrong, ALLOW)):
                out = os.path.join(self.dir, name + ".npz")
                ran = self.tool("run", *how, doc, *given, "-o", out)
                if ran.returncode and name == "right":
                    sys.exit(ran.stderr.decode())
                if ran.returncode:
                    if b"compile" in ran.stderr or b"error" in ran.stderr:
                        return False
                    self.count("printer", "run", f"{program}: {what}")
                    return True
                outs.append(out)
            if self.tool("diff", *outs, "--rtol", "1e-3", "--atol", "1e-4").returncode:
                self.count("printer", "run", f"{program}: {what}")
                return True
        self.count("printer", "equivalent", f"{program}: {what}")
        return True


ALLOW = []


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=120)
    p.add_argument("--seconds", type=float, default=600)
    p.add_argument("--verbose", action="store_true")
    o = p.parse_args()
    rng = random.Random(o.seed)
    with tempfile.TemporaryDirectory() as dir:
        planter = Planter(o.bin, dir, rng, o.verbose)
        if b"--allow-code" in planter.tool("run", "--help").stdout:
            ALLOW.append("--allow-code")
        ways = [planter.by_rule] * 3 + [planter.by_edit] * 8 + [planter.by_printer]
        planted, end = 0, time.monotonic() + o.seconds
        while planted < o.count and time.monotonic() < end:
            planted += bool(rng.choice(ways)())
            if sys.stdout.isatty():
                print(f"\r{planted} of {o.count}", end="\r")
        hows = ["field", "edges", "memory", "run", "equivalent", "missed"]
        print(f"{'planted in':12}" + "".join(f"{h:>12}" for h in hows))
        for kind in ("rule", "pass", "action", "printer"):
            print(f"{kind:12}" + "".join(f"{planter.table[kind][h]:12}" for h in hows))
        refuted = sum(t[h] for t in planter.table.values() for h in hows[:4])
        print(f"{refuted} of {planted} refuted, {sum(t['equivalent'] for t in planter.table.values())} equivalent, "
              f"{len(planter.missed)} missed")
        sys.exit(bool(planter.missed))


if __name__ == "__main__":
    main()
