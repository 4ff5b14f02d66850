"""Actions (render/README.md) with random parameters on random kernels, against the interpreter.

usage: actions.py ACTION SEED COUNT [TARGET]

A program of COUNT outputs is made, of kernels to which the action may apply and of sizes 1, primes and about those of
tiles; each kernel gets a list with that action and some others, at random.  lower takes the list or refuses it, with
status 4 and one line.  Then the values of the graph, of the loops with all the lists that were taken, and of the
compiled program (where TARGET has a device) are compared: bit for bit where elements are moved alone.  What differs is
told with its list.  The last line says how many lists were taken and refused; the status is 1 when something is wrong.

To add an action: a function of its own in ACTIONS that draws its words for a kernel, None where it cannot apply.
To add a kind of kernel: a function in KINDS that gives the lines of output i."""
import copy
import os
import random
import re
import subprocess
import sys
from math import prod

TOOLS = os.environ.get("BIN")      # fuzz/graphs.py, which draws lists too, sets it
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 32, 33, 47, 48, 49, 63, 64, 65]
PLACES = {"RANGE", "INDEX", "PARAM", "STORE", "RSCAN", "RSORT", "KERNEL"}
VALUES = {"LOAD", "RREDUCE", "ADD", "SUB", "MUL", "MULACC", "MAX", "MIN", "EXP2", "SQRT", "FDIV", "CAST", "WHERE", "NEG"}


def tool(name, *args, given=None):
    return subprocess.run([f"{TOOLS}/{name}", *args], input=given, capture_output=True)


def must(name, *args, given=None):
    p = tool(name, *args, given=given)
    if p.returncode:
        sys.exit(f"{name} {' '.join(args)}: status {p.returncode}: {p.stderr.decode()}")
    return p.stdout


# ---- programs

class Program:
    """Lines of a .t program; sizes of outputs are random, one of them symbolic now and then."""

    def __init__(self, r):
        self.r, self.n = r, r.random() < 0.3
        self.low = r.choice([1, 1, 7, 16, 17])
        self.high = self.low + r.choice([1, 2, 13, 30])
        self.clause = f" where n in {self.low}..{self.high}" if self.n else ""

    def size(self, most=65):
        return self.r.choice([s for s in SIZES if s <= most])

    def shape(self, rank, most=4000):
        s = [self.size() for _ in range(rank)]
        while prod(s) > most:
            s[self.r.randrange(rank)] = self.size(9)
        if self.n and self.r.random() < 0.7:
            s[self.r.randrange(rank)] = "n"
        return s

    def read(self, name, shape, dtype="f32"):
        where = self.clause if "n" in shape else ""
        return f"input {name} {dtype}[{', '.join(map(str, shape))}]{where}"


def named(y, i):
    return re.sub(r"\bb\b", f"b{i}", re.sub(r"\bx\b", f"a{i}", y))


def contraction(p, i):
    m, n, k = p.size(33), p.size(), p.size(33)
    if p.n:
        m, n, k = p.r.choice([("n", n, k), (m, "n", k), (m, n, "n"), (m, n, k)])
    batch = p.r.choice([[], [], [], [3]])
    turned = p.r.random() < 0.4
    b = f"transpose(b{i}, [1, 0])" if turned else f"b{i}"
    after = p.r.choice(["{}", "{}", "relu({})", "softmax({})", "{} + c" + str(i), "sum({}, axis=-1)"])
    lines = [p.read(f"a{i}", batch + [m, k]), p.read(f"b{i}", [n, k] if turned else [k, n])]
    lines += [p.read(f"c{i}", [n])] if f"c{i}" in after else []
    return lines + [f"output y{i} = " + after.replace("{}", f"(a{i} @ {b})")]


def reduction(p, i):
    s = p.shape(p.r.choice([1, 2, 2, 3]))
    axes = p.r.choice([[len(s) - 1], [0], list(range(len(s))), [p.r.randrange(len(s))]])
    fold = p.r.choice(["sum", "sum", "max", "min"])
    of = p.r.choice(["{}", "{} * {}", "exp({})", "{} + 1"]).replace("{}", f"a{i}")
    return [p.read(f"a{i}", s), f"output y{i} = {fold}({of}, axis={axes}) + 0.5"]


def rows(p, i):
    y = p.r.choice([
        "softmax(x)", "x - mean(x, axis=1, keepdims=true)", "layernorm(x)", "logsumexp(x, axis=1)", "softmax(x, axis=0)",
        "x / (sum(x * x, axis=1, keepdims=true) + 1)", "x - max(x, axis=0, keepdims=true)"])
    return [p.read(f"a{i}", p.shape(2)), f"output y{i} = {named(y, i)}"]


def moved(p, i):
    s = p.shape(p.r.choice([2, 2, 3]))
    order = list(range(len(s)))
    while order == sorted(order):
        p.r.shuffle(order)
    dtype = p.r.choice(["f32", "f32", "f64", "f16", "i8", "u16", "i64", "bool"])
    value = f"transpose(a{i}, {order})"
    if p.r.random() < 0.3:
        value = f"flip({value}, axis={p.r.randrange(len(s))})"
    return [p.read(f"a{i}", s, dtype), f"output m{i} = {value}"]


def elements(p, i):
    s = p.shape(p.r.choice([1, 2, 3]))
    y = p.r.choice(["relu(x) * 3", "x * x + 1", "sqrt(abs(x))", "where(x > 0, x, -x)", "x + b"])
    lines = [p.read(f"a{i}", s), p.read(f"b{i}", s[-1:])]
    return lines + [f"output y{i} = {named(y, i)}"]


def serial(p, i):
    s = p.shape(2, most=600)
    y = p.r.choice([f"cumsum(a{i}, axis={p.r.randrange(2)})", f"sort(a{i}, axis=1)", f"exp(cumsum(a{i}, axis=1)) + a{i}"])
    return [p.read(f"a{i}", s), f"output y{i} = {y}"]


def running(p, i):
    """folds along one or two axes, from either end, of numbers that any order of them gives"""
    s = p.shape(p.r.choice([1, 2, 2, 3]), most=600)
    axis = p.r.randrange(len(s))
    fold = p.r.choice(["cumsum", "cummax", "cummin", "cumprod"])
    how = ", exclusive=true" * (fold == "cumsum" and p.r.random() < 0.3) + ", reverse=true" * (fold == "cumsum" and p.r.random() < 0.3)
    y = p.r.choice(["{}", "{} * 2", "{} + x", "{} - cummax(x, axis=%d)" % axis]).format(f"{fold}(x, axis={axis}{how})")
    dtype = p.r.choice(["f32", "i32", "i8", "f64"])
    exact = dtype[0] == "i" or fold in ("cummax", "cummin")
    return [p.read(f"a{i}", s, dtype), f"output {'m' if exact else 'y'}{i} = {named(y, i)}"]


def gated(p, i):
    """loads that a condition forbids in part"""
    if p.r.random() < 0.5:
        c, k = p.size(5), p.size(17)
        read = [p.read(f"a{i}", [1, c, p.size(17), p.size(33)]), p.read(f"b{i}", [k, c, 3, 3])]
        return read + [f"output y{i} = conv2d(a{i}, b{i}, padding=1)"]
    s = p.shape(2, most=2000)
    y = p.r.choice(["sum(pad(x, [[1, 2], [0, 3]]) + 1, axis=0)", "pad(x, [[0, 1], [2, 0]]) * 2", "max(pad(x, [[0, 0], [1, 1]]), axis=1)"])
    return [p.read(f"a{i}", s), f"output y{i} = {named(y, i)}"]


def narrow(p, i):
    """products of narrow integers, of rows too few for layout to swap them itself"""
    m, n, k = p.size(7), p.size(33), p.size()
    a, b = (p.r.choice(["i8", "u8", "i8", "u8", "i16"]) for _ in "ab")
    lines = [p.read(f"a{i}", [m, k], a), p.read(f"b{i}", [k, n], b)]
    return lines + [f"output m{i} = i32(a{i}) @ i32(b{i})"]


def looked_up(p, i):
    rows, columns = p.size(9), p.size()
    ids = [p.r.randrange(rows) for _ in range(p.size(17))]
    read = [p.read(f"a{i}", [rows, columns]), f"const i{i} = {ids}"]
    if p.r.random() < 0.4:
        return read + [p.read(f"b{i}", [len(ids), columns]), f"output y{i} = scatter(a{i}, i{i}, b{i}, how=\"add\")"]
    return read + [f"output y{i} = embedding(i{i}, a{i})" + p.r.choice(["", " * 2", f" @ transpose(a{i}, [1, 0])"])]


def several(p, i):
    """outputs that may share a kernel"""
    d = p.r.choice(["f32", "f64", "i32"])
    two = p.r.choice([("sum(x, axis=1)", "max(x, axis=1)"), ("x + 1", "x * 3"), ("sum(x * x, axis=0)", "sum(x, axis=0)")])
    lines = [p.read(f"a{i}", p.shape(2), d)]
    return lines + [f"output {o}{i} = {named(y, i)}" for o, y in zip("yz", two)]


KINDS = [contraction, contraction, reduction, rows, moved, elements, serial, gated, looked_up, several]


# ---- kernels, as the actions are given them

class Node:
    def __init__(self, op, src, arg):
        self.op, self.src, self.arg, self.free = op, src, arg, set()


class Kernel:
    """Ranges by axis number with their sizes' bounds; the nodes depth first."""

    def __init__(self, node, nodes):
        self.all, self.size, self.out, self.serial = [], {}, set(), set()
        self.depth_first(node, set())
        for u in self.all:
            u.free = set().union(*[s.free for s in u.src])
            if u.op == "RANGE":
                axis, kind = re.match(r'\[(\d+), "(\w+)"\]', u.arg).groups()
                u.axis = int(axis)
                u.free = {u.axis}
                self.size[u.axis] = [value(u.src[0], k) for k in (0, 1)]
                self.serial |= {u.axis} if kind == "serial" else set()
            if u.op == "RREDUCE":
                u.bound = {s.axis for s in u.src[1:]}
                u.free = u.src[0].free - u.bound
        for store in node.src:
            self.out |= store.free
        ops = {u.op for u in self.all}
        self.sorts, self.scans = "RSORT" in ops, "RSCAN" in ops
        self.reduces = [u for u in self.all if u.op == "RREDUCE"]
        self.name = re.search(r'name: "(\w+)"', node.arg).group(1)
        self.values = self.named()

    def named(self):
        """the values, which actions name by op and number; places and gates made of ranges do not count"""
        values = set()
        for u in self.all:
            if u.op in ("LOAD", "RREDUCE") or u.op not in PLACES and any(s in values for s in u.src):
                values.add(u)
        stack = [s.src[1] for s in self.all if s.op == "STORE"]
        seen = set(stack)
        while stack:
            u = stack.pop()
            values.add(u)
            sources = [] if u.op in ("LOAD", "INDEX") else u.src[:1] if u.op in ("RREDUCE", "RSCAN", "RSORT") else u.src
            stack += [s for s in sources if s not in seen]
            seen |= set(sources)
        return values

    def value(self, u):
        slot = {}
        for v in self.all:
            own = [int(re.search(r"slot: (\d+)", v.arg).group(1))] if v.op == "PARAM" else []
            slot[v] = min(own + [slot[s] for s in v.src], default=1 << 31)
        same = sorted((v for v in self.all if v in self.values and v.op == u.op), key=slot.get)
        return f"{u.op}.{same.index(u)}"

    def depth_first(self, root, seen):
        stack = [(root, iter(root.src))]
        seen.add(root)
        while stack:
            u, sources = stack[-1]
            for s in sources:
                if s not in seen:
                    seen.add(s)
                    stack.append((s, iter(s.src)))
                    break
            else:
                self.all.append(u)
                stack.pop()

    def free_ranges(self):
        """output ranges that may run in any order"""
        return sorted(self.out - self.serial, key=path)

    def give_own(self, folds, name):
        """the names of the ranges that reductions have for themselves where a list names them"""
        bound = set().union(*(u.bound for u in folds))
        inside, names = set(folds), {a: f"{name}.{a}" for a in bound}
        for u in reversed(self.all):
            inside |= set(u.src) if u in inside else set()
        for u in inside - set(folds):
            u.free |= {names[a] for a in u.free & bound}
        self.size |= {names[a]: list(self.size[a]) for a in sorted(bound, key=path)}
        for u in folds:
            u.bound = {names[a] for a in u.bound}
        others = set().union(self.out, *(u.bound for u in self.reduces))
        self.size = {a: n for a, n in self.size.items() if a in others}
        return sorted(names.values(), key=path)

    def split(self, axis, n):
        """the ranges after one was split in two; of a scan's, the number of those over its parts"""
        low, high = self.size.pop(axis)
        parts = None
        if axis in self.serial and self.scans:
            parts = 1 + max(path(a)[0] for a in [axis, *self.size])
            self.size |= {parts: [(low - 1) // n, (high - 1) // n], parts + 1: [n, n]}
        outer, inner = f"{axis}.0", f"{axis}.1"
        self.size |= {outer: [-(-low // n), -(-high // n)], inner: [n, n]}
        for ranges in [self.out, self.serial, *(u.free for u in self.all)]:
            if axis in ranges:
                ranges.remove(axis)
                ranges |= {inner} if ranges is self.serial else {outer, inner}
        return parts


def path(axis):
    """for the order of names; a reduction's own ranges, RREDUCE.1.2, are behind the others"""
    return [int(n) if n.isdigit() else 64 for n in str(axis).split(".")]


def value(u, high):
    """a size at the variables' least or greatest values"""
    if u.op == "CONST":
        return int(u.arg)
    if u.op == "VAR":
        return int(re.match(r'\["\w+", (-?\d+), (-?\d+)\]', u.arg).group(1 + high))
    a, b = (value(s, high) for s in u.src)
    return {"ADD": a + b, "SUB": a - b, "MUL": a * b, "FLOORDIV": a // max(b, 1), "MAX": max(a, b), "MIN": min(a, b)}[u.op]


def read_kernels(text):
    nodes, kernels = {}, {}
    for line in text.splitlines():
        m = re.match(r"(%\d+) = (\w+)(?: (?!%)(?![-\[{\"])(?=[a-z])(\w+))?((?: %\d+)*)(?: (.*))?$", line)
        if not m:
            continue
        name, op, _, src, arg = m.groups()
        nodes[name] = Node(op, [nodes[s] for s in src.split()], re.sub(r"  #.*", "", arg or ""))
        if op == "KERNEL":
            k = Kernel(nodes[name], nodes)
            kernels[k.name] = None if k.name in kernels else k
    return {name: k for name, k in kernels.items() if k}


# ---- lists of actions

class List:
    """A list for one kernel as it is drawn: what stands in it already decides what may be added."""

    def __init__(self, k, r, target):
        self.target, self.k, self.r, self.words, self.tiles, self.split = target, copy.deepcopy(k), r, [], {}, False
        self.pieces_of_loops = set()

    def add(self, *words):
        self.words.append(words)
        return True

    def text(self):
        return "; ".join(" ".join(map(str, w)) for w in self.words)

    def pieces(self, whole, n):
        """the ranges that a piece of a split range became"""
        return [a for a in self.k.size if f"{a}.".startswith(f"{whole}.{n}.")]

    def overlapping(self):
        return [a for w in self.words if "overlap" in w for a in self.pieces(str(w[1]), 0)]

    def whole(self, axis):
        """may the last tile begin early?"""
        return axis not in self.tiles or self.k.size[axis][0] >= self.tiles[axis]


def order(l, folds=0.0):
    axes = sorted(l.k.out, key=path)
    reduced = [a for a in l.k.size if a not in l.k.out and l.r.random() < folds]
    if l.k.sorts or len(axes) + len(reduced) < 2 or any(w[0] == "order" for w in l.words):
        return False
    l.r.shuffle(axes)
    for whole in [str(w[1]) for w in l.words if "overlap" in w or "peel" in w]:
        outer, inner = (l.pieces(whole, n) for n in "01")
        places = [i for i, a in enumerate(axes) if a in outer + inner]
        for i, a in zip(places, [a for a in axes if a in outer] + [a for a in axes if a in inner]):
            axes[i] = a
    at = l.r.randint(0, len(axes))
    inner = [a for a in reduced if a in l.pieces_of_loops and str(a).endswith(".1") and f"{str(a)[:-1]}0" in reduced]
    reduced = [a for a in reduced if not (a in l.pieces_of_loops and str(a).endswith(".1"))]
    return l.add("order", *axes[:at], *reduced, *axes[at:], *inner)


def split(l):
    """one to three ranges, pieces among them, and their loops in any order, reductions outside too"""
    if l.words or not l.k.size:
        return False
    for _ in range(l.r.choice([1, 1, 2, 3])):
        a = l.r.choice(list(l.k.size))
        if l.k.size[a][1] < 2:
            continue
        n = min(near(l.r, l.r.choice([*l.k.size[a], 8])), l.k.size[a][1])
        overlap = a in l.k.out and a not in l.k.serial and l.k.size[a][0] >= n and l.target != "opencl" and l.r.random() < 0.4
        l.add("split", a, n, *(["overlap"] if overlap else l.r.choice([[], ["guard"], ["pad"]])))
        l.k.split(a, n)
    l.split = True
    order(l, 0.6 if l.target != "opencl" else 0.0)
    return True


def peel(l):
    """one to three ranges in blocks, what is left apart; their loops in any order, inner ones written out"""
    axes = [a for a in l.k.size if a not in l.k.serial]
    if l.words or l.k.sorts or not axes:
        return False
    for a in l.r.sample(axes, min(len(axes), l.r.choice([1, 1, 2, 3]))):
        n = min(near(l.r, l.r.choice([*l.k.size[a], 8])), l.k.size[a][1])
        l.add("split", a, n, "peel")
        l.k.split(a, n)
        l.pieces_of_loops |= {f"{a}.0", f"{a}.1"}
        if l.r.random() < 0.3:
            l.add("kind", f"{a}.1", "unroll")
    l.split = True
    if l.r.random() < 0.7:
        order(l, 0.5)
    return True


def swap(l):
    """a reduction, split, and its inner piece as products that are one op"""
    folds = [a for a in l.k.size if a not in l.k.out and l.k.size[a][1] > 4]
    if l.words or not folds:
        return False
    a, n = l.r.choice(folds), l.r.choice([2, 2, 4])
    l.add("split", a, n)
    l.k.split(a, n)
    l.split = True
    del l.k.size[f"{a}.1"]
    return l.add("swap", f"{a}.1")


def scan_parts(l):
    """a scan in parts, whose totals may stand in a row buffer"""
    along = [a for a in l.k.serial if l.k.size[a][1] > 1]
    if l.words or not along:
        return False
    a = l.r.choice(along)
    n = min(near(l.r, l.r.choice([*l.k.size[a], 8])), l.k.size[a][1])
    l.add("split", a, n, *l.r.choice([[], ["guard"], ["pad"]]))
    parts = l.k.split(a, n)
    l.split = True
    if l.r.random() < 0.8:
        l.add("rfactor", parts)
        if l.k.size[parts][1] > 1 and l.r.random() < 0.8:
            l.add("stage", "RREDUCE.0", parts)
    return True


def rfactor(l):
    """a reduction in parts, which may stand in a row buffer, in vectors"""
    if l.k.scans:
        return scan_parts(l)
    folds = [a for a in l.k.size if a not in l.k.out and l.k.size[a][1] > 3]
    if l.words or not folds:
        return False
    a = l.r.choice(folds)
    n = min(l.r.choice([2, 4, 8, 16]), l.k.size[a][1] - 1)
    l.add("split", a, n)
    l.k.split(a, n)
    l.split = True
    return l.add("rfactor", f"{a}.{l.r.randint(0, 1)}")


def own(l):
    """reductions have ranges of their own, each or together, which are split, in parts, written out or in another order"""
    if l.words or not l.k.reduces or l.k.sorts:
        return False
    one = l.r.sample(l.k.reduces, min(len(l.k.reduces), l.r.choice([0, 1, 1, 2])))
    names = [a for u in one for a in l.k.give_own([u], l.k.value(u))]
    rest = [u for u in l.k.reduces if u not in one]
    if rest and (not one or l.r.random() < 0.3):
        over = l.r.choice(sorted(rest[0].bound))
        names += l.k.give_own([u for u in rest if over in u.bound], "RREDUCE.*")
    ways = [split, peel, rfactor, order, order] if l.target != "opencl" else [split, peel]
    l.split = True
    l.r.choice(ways)(l)
    left = [a for a in names if a in l.k.size]
    if left and l.r.random() < 0.7:
        a = l.r.choice(left)
        l.add("kind", a, *l.r.choice([["loop"], ["unroll"] if l.k.size[a][0] == l.k.size[a][1] < 64 else ["loop"], ["jam", l.r.choice([2, 3, 4])]]))
    if left and l.target != "opencl" and l.r.random() < 0.3:
        l.add("rfactor", l.r.choice(left), l.r.choice([2, 4, 16]))
    values = sorted({u.op for u in l.k.all if u.op in VALUES and u in l.k.values})
    if left and values and l.r.random() < 0.15:     # counted with those of the reductions' own
        l.add("stage", f"{l.r.choice(values)}.{l.r.randrange(2)}", l.r.choice(left))
    return bool(l.words)


def near(r, size):
    return max(1, r.choice([size - 1, size, size + 1, (size + 1) // 2, 2, 3, 4]))


def tile(l, fixed=False):
    """one to three ranges in tiles, the last in vectors or not"""
    axes = l.k.free_ranges() + [a for a in l.k.size if a not in l.k.out and l.r.random() < 0.2]
    axes = [a for a in axes if a not in l.tiles and a not in l.overlapping() and a not in l.pieces_of_loops]
    if not axes or (l.k.serial and not l.k.scans) or l.k.sorts:
        return False
    for a in l.r.sample(axes, min(len(axes), l.r.choice([1, 1, 2, 2, 3]))):
        l.tiles[a] = min(near(l.r, l.r.choice(l.k.size[a])), 12)
        l.add("tile", a, l.tiles[a], 1)
    last = l.words[-1]
    if l.r.random() < 0.7:
        unroll, vector = l.r.choice([1, 1, 2, 3]), l.r.choice([2, 4, 8, 16, 32])
        l.tiles[last[1]] = unroll * vector
        l.words[-1] = ("tile", last[1], unroll, vector)
    return True


def chunk(l):
    if not l.tiles and not tile(l):
        return False
    axes = [a for a in l.tiles if l.whole(a) and a in l.k.out]
    if not axes:
        return False
    a = l.r.choice(axes)
    return l.add("chunk", a, near(l.r, l.k.size[a][0] // l.tiles[a]))


def grid(l):
    if (l.k.serial and not l.k.scans) or l.k.sorts:
        return False
    return l.add("grid", l.r.randint(1, len(l.k.out)) if l.k.out else 0)


def partial(l):
    return bool(l.k.reduces) and l.add("partial", l.r.choice([1, 2, 4, 8, 16, 32, 64]))


def jam(l):
    if not l.k.reduces or not (l.tiles or tile(l)):
        return False
    return l.add("jam", l.r.choice([1, 2, 3, 4, 5, 8]), *l.r.choice([[], [0], [1], [1]]))


def nontemporal(l):
    return l.add("nontemporal")


def prefetch_stores(l):
    return any(w[0] in ("transpose", "stage") for w in l.words) and l.add("prefetch_stores")


def stage(l):
    values = [u for u in l.k.all if u.op in VALUES and u in l.k.values and u.free and u.free <= set(l.k.size)]
    if not values or l.k.scans or l.k.sorts or l.split:
        return False
    u = l.r.choice(values)
    free = sorted(u.free - l.k.serial)
    over = l.r.sample(free, l.r.randint(1, len(free))) if free else []
    return bool(over) and l.add("stage", l.k.value(u), *over)


def prefetch_loads(l):
    tiles = [w for w in l.words if w[0] == "tile"]
    if tiles and tiles[-1][3] > 1 and l.r.random() < 0.5:
        return l.add("prefetch_loads", tiles[-1][1])
    if not stage(l) or not (l.tiles or tile(l)):
        return False
    rows = [a for a in l.k.free_ranges() if a not in l.tiles]
    if l.r.random() < 0.5:
        prefetch_stores(l)
    return bool(rows) and l.add("prefetch_loads", l.r.choice(rows))


def transpose(l):
    loads = [u for u in l.k.all if u.op == "LOAD" and len(u.free & l.k.out) > 1]
    if not loads or l.k.serial or l.tiles or l.split:
        return False
    u = l.r.choice(loads)
    along, other = l.r.sample(sorted(u.free & l.k.out), 2)
    least = min(l.k.size[along][0], l.k.size[other][0])
    n = l.r.choice([w for w in (2, 4, 8, 16) if w <= least] or [2])
    l.tiles = {along: n, other: n}
    l.add("tile", along, n, 1)
    l.add("tile", other, 1, n)
    return l.add("transpose", l.k.value(u), along)


def transpose_prefetched(l):
    return transpose(l) and prefetch_stores(l)


def bind(l, word="bind"):
    if any(w[0] in ("bind", "group") for w in l.words):
        return False
    axes = [a for a in l.k.free_ranges() if a not in l.pieces_of_loops]
    some = axes if l.r.random() < 0.4 else l.r.sample(axes, l.r.randint(0, len(axes)))
    return l.add(word, l.r.choice([1, 2, 4, 16, 32]), *sorted(some, key=path))


def group(l):
    return not l.k.sorts and bind(l, "group")


def items(l):
    return l.r.choice([bind, group, group])(l)


def ways(l):
    """the outermost loops shared by threads, the innermost or a piece of it in vectors"""
    if l.words or (l.k.serial and not l.k.scans) or l.k.sorts or not l.k.free_ranges():
        return False
    a, n = l.r.choice(l.k.free_ranges()), l.r.choice([2, 4, 8, 16])
    vector = None
    if l.k.size[a][1] > n:
        l.add("split", a, n, *(["overlap"] if l.k.size[a][0] >= n and l.r.random() < 0.4 else []))
        l.k.split(a, n)
        vector, l.split = f"{a}.1", True
    loops = [b for b in l.k.free_ranges() if b != vector]
    order(l)
    given = [b for w in l.words if w[0] == "order" for b in w[1:] if b in loops]
    if vector and l.r.random() < 0.8:
        l.add("kind", vector, "vector")
        l.tiles[vector] = n
    for b in (given or loops)[:l.r.randint(0, 2)]:
        l.add("kind", b, "thread" if given else l.r.choice(["thread", "loop"]))
    return any(w[0] == "kind" for w in l.words)


def kind(l):
    """pieces of output ranges as groups, items and tiles; what several items load, in the memory of a group"""
    if l.target != "opencl":
        return ways(l)
    if l.words or l.k.sorts or l.k.serial or l.k.scans:
        return False
    items, at_item, tiles, groups = 1, [], [], []
    for a in l.k.free_ranges():
        for n, what in l.r.sample([(l.r.choice([2, 4, 8]), "item"), (l.r.choice([2, 3, 4]), "tile")], l.r.choice([0, 1, 2])):
            if l.k.size[a][1] < n or (what == "item" and items * n > 64):
                continue
            l.add("split", a, n)
            l.k.split(a, n)
            items *= n if what == "item" else 1
            (at_item if what == "item" else tiles).append((f"{a}.1", n))
            a = f"{a}.0"
        if l.r.random() < 0.8:
            groups.append(a)
    folds = [a for a in l.k.size if a not in l.k.out]
    if folds and l.r.random() < 0.7:
        a, n = l.r.choice(folds), l.r.choice([2, 3, 5])
        if l.k.size[a][1] >= n:
            l.add("split", a, n)
            l.k.split(a, n)
            l.add(*l.r.choice([("kind", f"{a}.1", "unroll"), ("order", *l.k.free_ranges(), *sorted((b for b in l.k.size if b not in l.k.out), key=path))]))
    for a in groups:
        l.add("kind", a, "group")
    for a, _ in at_item:
        l.add("kind", a, "item")
    for a, n in tiles:
        l.tiles[a] = n
        l.add("tile", a, n, 1)
    for u in [u for u in l.k.all if u.op in VALUES and u in l.k.values and u.op == "LOAD" and l.r.random() < 0.4]:
        over = [a for a in sorted(u.free, key=path) if a not in groups and (l.k.size[a][1] <= 8 or l.r.random() < 0.3)]
        l.r.shuffle(over)
        if over and u.free <= set(l.k.size):
            l.add("stage", l.k.value(u), *over)
            if not u.free & {a for a, _ in at_item} - set(over) and l.r.random() < 0.3:
                l.add("pad", l.k.value(u), l.r.choice([1, 2, 4]))
    return len(l.words) > 0 and bool(groups or at_item)


def spoil(l):
    """one number is another, which may fit or not"""
    i = l.r.randrange(len(l.words))
    if len(l.words[i]) > 1:
        words = list(l.words[i])
        words[l.r.randrange(1, len(words))] = l.r.choice([-1, 0, 1, 2, 3, 6, 16, 17, 24, 64, 100, 1000, 5000])
        l.words[i] = tuple(words)


ACTIONS = {"split": split, "peel": peel, "swap": swap, "rfactor": rfactor, "own": own, "order": order, "tile": tile, "chunk": chunk, "grid": grid, "partial": partial, "jam": jam, "nontemporal": nontemporal,
           "stage": stage, "transpose": transpose, "prefetch_stores": transpose_prefetched, "prefetch_loads": prefetch_loads, "bind": bind, "group": group, "kind": kind, "pad": kind}
CPU = [order, tile, chunk, grid, partial, jam, nontemporal, stage, prefetch_loads]
OTHERS = {"clang": CPU, "llvm": CPU, "opencl": [order, partial, stage, items, items]}
WANTS = {"swap": [narrow], "own": [rows, rows, rows, several, contraction, reduction, gated], "rfactor": KINDS + [running] * 4, "tile": KINDS + [serial] * 4, "grid": KINDS + [serial] * 4,
         "partial": [reduction, rows, contraction, several, gated], "jam": [contraction, reduction, gated, several], "transpose": [moved], "prefetch_stores": [moved],
         "prefetch_loads": [rows], "stage": [contraction, rows, reduction, gated], "group": [reduction, rows, contraction, several], "kind": [contraction, contraction, reduction, rows, moved, gated, several]}


def draw(k, action, r, target):
    l = List(k, r, target)
    before = [] if action in ("kind", "split", "peel", "swap", "rfactor", "own", "transpose", "prefetch_stores") else r.sample(OTHERS[target], 2)
    for f in before:
        if f.__name__ != action and r.random() < 0.6:
            f(l)
    if not ACTIONS[action](l):
        return None
    if not before and action != "kind":
        others = (order, tile, chunk, grid, partial, jam, nontemporal) if l.split else (order, chunk, grid, nontemporal)
        for f in others if target != "opencl" else [items]:
            if r.random() < 0.3:
                f(l)
    if r.random() < 0.15:
        spoil(l)
    return l


# ---- a seed

def with_lists(text, lists):
    """the document with each kernel's list in its arg"""
    def one(m):
        l = lists.get(m.group(2))
        words = l and ", ".join("[" + ", ".join([f'"{w[0]}"'] + [f'"{n}"' if isinstance(n, str) else str(n) for n in w[1:]]) + "]" for w in l.words)
        return m.group(0) + (f", actions: [{words}]" if l else "")
    return re.sub(r'(= KERNEL [^{]*\{name: "(\w+)")', one, text)


def refusal(p):
    return p.returncode == 4 and p.stderr.count(b"\n") == 1 and not p.stdout


def accepted(fused, drawn, lower):
    """the lists that lower takes; the others it must refuse well"""
    taken, bad = {}, 0
    for name, l in drawn.items():
        p = tool(*lower, "--opt", f"{name}: {l.text()}", given=fused)
        if p.returncode == 0:
            taken[name] = l
        elif refusal(p):
            if os.environ.get("WHY"):
                print(f"{l.text()}: {p.stderr.decode()}", end="")
        else:
            bad += 1
            print(f"lower --opt '{name}: {l.text()}': status {p.returncode}: {p.stderr.decode()[:300]}")
    return taken, bad


def differing(a, b):
    """names of the outputs that differ"""
    out = tool("diff", "--rtol", "2e-5", "--atol", "5e-5", a, b)
    exact = tool("diff", "--ulp", "0", "--zeros", "--only", "m*", a, b)
    lines = [] if not out.returncode and not exact.returncode else (out.stdout + exact.stdout + out.stderr).decode().splitlines()
    return lines


def compare(program, graph, loops, operands, device):
    bad = []
    must("run", "--interpret", graph, *operands, "-o", "i.npz")
    for how in [["--interpret"]] + ([device] if device is not None else []):
        p = tool("run", *how, loops, *operands, "-o", "l.npz")
        if p.returncode:
            bad.append(f"run {' '.join(how)}: status {p.returncode}: {p.stderr.decode()[:300]}")
        else:
            bad += [f"{' '.join(how) or 'compiled'}: {line}" for line in differing("i.npz", "l.npz")]
    return bad


def march(r, target):
    """a processor with shorter vectors, now and then"""
    shorter = r.choice([None, None, "x86-64-v3", "x86-64"])
    return ["--march", shorter] if shorter and target != "opencl" and os.uname().machine == "x86_64" else []


def device_of(target):
    if target in ("clang", "llvm"):
        return ["-t", target]
    listed = must("run", "--devices").decode()
    return ["-t", "opencl"] if re.search(r"^opencl", listed, re.M) else None


def main():
    action, seed, count, target = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), (sys.argv[4:] or ["clang"])[0]
    r = random.Random(f"{action} {seed}")
    p = Program(r)
    lines = [line for i in range(count) for line in r.choice(WANTS.get(action, KINDS))(p, i)]
    with open("t.t", "w") as f:
        f.write("\n".join(lines) + "\n")
    graph = must("trace", "t.t")
    with open("t.mp", "wb") as f:
        f.write(graph)
    fused = must("fuse", given=graph)
    lower = ["lower", "-t", target, *march(r, target)]
    text = must("show", given=must(*lower, "--stop-after", "collapse", given=fused)).decode()
    drawn = {name: l for name, k in read_kernels(text).items() if (l := draw(k, action, r, target))}
    taken, wrong = accepted(fused, drawn, lower)
    given = must("show", "-p", given=with_lists(text, taken).encode())
    with open("l.mp", "wb") as f:
        f.write(must(*lower, given=given))
    place = f"action:{r.randint(0, 6)}"
    with open("part.mp", "wb") as f:
        f.write(must(*lower, "--stop-after", place, given=given))
    inputs = [f"{name}=rand" for name in re.findall(r"^input (\w+)", "\n".join(lines), re.M)]
    sizes = sorted({p.low, p.high, r.randint(p.low, p.high)}) if b"vars {n" in must("show", given=graph) else [None]
    bad = []
    for n in sizes:
        operands = inputs + ([f"n={n}"] if n else [])
        told = compare(p, "t.mp", "l.mp", operands, device_of(target))
        told += [f"after {place}: {line}" for line in compare(p, "t.mp", "part.mp", operands, None)]
        bad += [f"n={n}: {line}" if n else line for line in told]
    if bad:
        print("\n".join(bad + [f"{name}: {l.text()}" for name, l in taken.items()] + lines))
    print(f"{len(taken)} taken, {len(drawn) - len(taken) - wrong} refused")
    sys.exit(bool(bad or wrong))


if __name__ == "__main__":
    main()
