#!/usr/bin/env python3
"""Writes the documents of vectors.bats: kernels of level loops, as text, whose innermost loop is of the given kind.

    python3 vectors.py KIND LANES GROUP | show -p > doc.mp

GROUP is a dtype (each op on it, and CASTs of it to all others), or `forms`: places, gates, registers, reductions.
Data stands in the documents as constants. The name of an output ends in .N: it may be N units in the last place off what
the interpreter gives (.x: it may differ). What plain loops give (KIND loop) is to be the same in every bit."""
import random
import struct
import sys

KIND, LANES, GROUP = sys.argv[1], int(sys.argv[2]), sys.argv[3]
COUNT = 128
CODE = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
        "f16": "H", "bf16": "H", "f32": "f", "f64": "d"}
SIZE = {d: struct.calcsize("<" + c) for d, c in CODE.items()}
FLOATS, HALVES = ("f32", "f64"), ("f16", "bf16")
INTS = [d for d in CODE if d[0] in "iu"]
NUMBERS = INTS + list(FLOATS)


class Doc:
    """Lines of the text form; equal lines are one node."""

    def __init__(self):
        self.lines, self.known, self.calls, self.outputs, self.data = [], {}, [], [], {}

    def node(self, text):
        if text not in self.known:
            self.known[text] = len(self.lines)
            self.lines.append(text)
        return f"%{self.known[text]}"

    def const(self, dtype, value):
        return self.node(f"CONST {dtype} {value}")

    def index(self, n):
        return self.const("i64", n)

    def op(self, op, dtype, *src, arg=""):
        return self.node(f"{op} {dtype} {' '.join(src)} {arg}".rstrip())

    def sum(self, *terms):
        at = terms[0]
        for t in terms[1:]:
            at = self.op("ADD", "i64", at, t)
        return at

    def const_buffer(self, name, dtype, values):
        raw = struct.pack(f"<{len(values)}{CODE[dtype]}", *values)
        return self.node(f'BUFFER {dtype} {{name: "{name}", shape: [{len(values)}], role: "const", '
                         f'data: b"{raw.hex()}"}}'), dtype, len(values)

    def print(self):
        sink = self.node("SINK " + " ".join(self.calls) + " {names: [" + ", ".join(f'"{n}"' for n in self.outputs) + "]}")
        print("sluice 1 loops")
        for i, line in enumerate(self.lines):
            print(f"%{i} = {line}")


DOC = Doc()


class Kernel:
    """Statements over buffers; slot 0 is the output."""

    def __init__(self, name, dtype, count=COUNT):
        name = name if "." in name else name + ".0"
        self.name, self.statements, self.slots, self.ids, self.axis = name, [], [], 0, 0
        out = DOC.node(f'BUFFER {dtype} {{name: "{name}", shape: [{count}], role: "output"}}')
        DOC.outputs.append(name)
        self.out = self.param((out, dtype, count))

    def param(self, buffer):
        node, dtype, count = buffer
        if node not in self.slots:
            self.slots.append(node)
        return DOC.node(f"PARAM {dtype} {{slot: {self.slots.index(node)}, shape: [{count}]}}"), dtype

    def place(self, storage, at):
        return DOC.op("INDEX", storage[1], storage[0], at)

    def load(self, storage, at, *gate):
        return DOC.op("LOAD", storage[1], self.place(storage, at), *gate)

    def store(self, storage, at, value, *gate, arg=""):
        self.statements.append(DOC.node(f"STORE {' '.join((self.place(storage, at), value) + gate)} {arg}".rstrip()))

    def let(self, dtype, value):
        self.ids += 1
        self.statements.append(DOC.op("LET", dtype, value, arg=str(self.ids)))
        return self.statements[-1]

    def reg(self, dtype, n):
        self.ids += 1
        self.statements.append(DOC.op("DEFINE_REG", dtype, arg=f"[{self.ids}, {n}]"))
        return self.statements[-1], dtype

    def open(self, n, kind):
        r = DOC.op("RANGE", "i64", DOC.index(n), arg=f'[{self.axis}, "{kind}"]')
        self.axis += 1
        self.statements.append(r)
        return r

    def close(self, r):
        self.statements.append(DOC.node(f"ENDRANGE {r}"))
        self.axis -= 1

    def lanes(self, n=LANES):
        return self.open(n, KIND)

    def end(self):
        kernel = DOC.node(f'KERNEL {" ".join(self.statements)} {{name: "{self.name.replace(".", "_")}", target: "clang"}}')
        DOC.calls.append(DOC.node(f"CALL {kernel} {' '.join(self.slots)}"))


def each(name, dtype, fn):
    """out[i] = fn(kernel, i) for all COUNT elements, LANES at a time"""
    k = Kernel(name, dtype)
    block = k.open(COUNT // LANES, "loop")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    k.store(k.out, at, fn(k, at))
    k.close(lane)
    k.close(block)
    k.end()


# ---- values

def bits(dtype, of, v):
    return struct.unpack("<" + CODE[dtype], struct.pack("<" + CODE[of], v))[0]


def values(dtype, seed):
    r = random.Random(f"{dtype} {seed}")
    if dtype == "bool":
        return [r.random() < 0.5 for _ in range(COUNT)]
    unsigned = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}[SIZE[dtype]]
    width = 8 * SIZE[dtype]
    if dtype in FLOATS:
        some = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 3.5, -2.5, 127.5, -128.5, 255.5, 65535.9, 2147483647.0, 2147483648.0,
                -2147483648.0, 4294967295.0, 4294967296.0, 9.2e18, 9223372036854775808.0, 1.9e19, -9.3e18, 1e30,
                float("inf"), float("-inf"), float("nan"), 1e-40, -1e-45, 65504.0, 65520.0, 6e-8, 3.39e38, 8388608.5]
        draw = [lambda: r.uniform(-4, 4), lambda: r.uniform(-300, 300),
                lambda: bits(dtype, unsigned, r.getrandbits(width))]
    else:
        top = 1 << width - 1
        signed = dtype[0] == "i"
        some = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, top - 1] + \
               ([-1, -2, -3, -7, -8, -64, -top, 1 - top] if signed else [top, 2 * top - 1, 2 * top - 2])
        draw = [lambda: bits(dtype, unsigned, r.getrandbits(width)), lambda: r.randrange(-9 if signed else 0, 10)]
    v = some + [r.choice(draw)() for _ in range(COUNT - len(some))]
    r.shuffle(v)
    return v


def buffer(dtype, seed):
    return DOC.const_buffer(f"{dtype}_{seed}", dtype, values(dtype, seed))


# ---- each op of a dtype

UNARY = {"NEG": NUMBERS, "RECIP": FLOATS, "SQRT": FLOATS, "TRUNC": FLOATS, "EXP2": FLOATS, "LOG2": FLOATS, "SIN": FLOATS}
BINARY = {"ADD": NUMBERS + ["bool"], "SUB": NUMBERS, "MUL": NUMBERS + ["bool"], "FDIV": FLOATS, "POW": NUMBERS,
          "MAX": NUMBERS + ["bool"], "MIN": NUMBERS + ["bool"], "IDIV": INTS, "MOD": INTS, "FLOORDIV": INTS,
          "FLOORMOD": INTS, "AND": INTS + ["bool"], "OR": INTS + ["bool"], "XOR": INTS + ["bool"], "SHL": INTS, "SHR": INTS,
          "THREEFRY": ["u64"]}
NEAR = {"EXP2": 4, "LOG2": 4, "SIN": 4, "POW": 4, "RECIP": 1, "FDIV": 1, "SQRT": 1, "MULACC": "x"}


def of(op, dtype):
    return f"{op.lower()}_{dtype}.{NEAR.get(op, 0) if dtype in FLOATS else 0}"


def two(op, dtype, out, x, y):
    each(of(op, dtype), out, lambda k, at: DOC.op(op, out, k.load(k.param(x), at), k.load(k.param(y), at)))
    # one operand that is the same in all lanes, on either side
    same = DOC.index(3)
    each(f"{op.lower()}_{dtype}_right.{of(op, dtype)[-1]}", out,
         lambda k, at: DOC.op(op, out, k.load(k.param(x), at), k.load(k.param(y), same)))
    each(f"{op.lower()}_{dtype}_left.{of(op, dtype)[-1]}", out,
         lambda k, at: DOC.op(op, out, k.load(k.param(x), same), k.load(k.param(y), at)))


def ops(dtype):
    x, y, z, c = buffer(dtype, 0), buffer(dtype, 1), buffer(dtype, 2), buffer("bool", 3)
    for op, dtypes in UNARY.items():
        if dtype in dtypes:
            each(of(op, dtype), dtype, lambda k, at: DOC.op(op, dtype, k.load(k.param(x), at)))
    for op, dtypes in BINARY.items():
        if dtype in dtypes:
            two(op, dtype, dtype, x, y)
    for op in ("CMPLT", "CMPEQ", "CMPNE"):
        if dtype not in HALVES:
            two(op, dtype, "bool", x, y)
    for op in ("SHL", "SHR"):
        if dtype in INTS:
            each(of(op + "_by3", dtype), dtype,
                 lambda k, at: DOC.op(op, dtype, k.load(k.param(x), at), DOC.const(dtype, 3)))
    if dtype in NUMBERS + ["bool"]:
        each(of("MULACC", dtype), dtype, lambda k, at: DOC.op(
            "MULACC", dtype, *(k.load(k.param(b), at) for b in (x, y, z))))
    each(of("WHERE", dtype), dtype, lambda k, at: DOC.op(
        "WHERE", dtype, k.load(k.param(c), at), k.load(k.param(x), at), k.load(k.param(y), at)))
    each(of("WHERE_same", dtype), dtype, lambda k, at: DOC.op(
        "WHERE", dtype, k.load(k.param(c), DOC.index(1)), k.load(k.param(x), at), k.load(k.param(y), at)))
    each(of("COPY", dtype), dtype, lambda k, at: k.load(k.param(x), at))
    for to in CODE:
        if to != dtype:
            each(of(f"to_{to}", dtype), to, lambda k, at: DOC.op("CAST", to, k.load(k.param(x), at)))
        if to != dtype and "bool" not in (to, dtype) and SIZE[to] == SIZE[dtype]:
            each(of(f"as_{to}", dtype), to, lambda k, at: DOC.op("BITCAST", to, k.load(k.param(x), at)))


# ---- forms: where values come from and go to

def forms():
    x, y, b = buffer("f32", 0), buffer("f32", 1), buffer("bool", 3)
    r = random.Random(4)
    places = DOC.const_buffer("places", "i64", [r.randrange(COUNT) for _ in range(COUNT)])
    one, n = DOC.index(1), DOC.index(COUNT)

    def inside(at, by):
        moved = DOC.sum(at, DOC.index(by))
        low = DOC.op("CMPLT", "bool", DOC.index(-1), moved)
        return moved, DOC.op("AND", "bool", low, DOC.op("CMPLT", "bool", moved, n))

    def shifted(by):
        def fn(k, at):
            moved, gate = inside(at, by)
            return k.load(k.param(x), moved, gate)
        return fn

    each("shift_left", "f32", shifted(3))
    each("shift_right", "f32", shifted(-5))
    each("reversed", "f32", lambda k, at: k.load(k.param(x), DOC.sum(DOC.op("MUL", "i64", at, DOC.index(-1)), DOC.index(COUNT - 1))))
    each("strided", "f32", lambda k, at: k.load(k.param(x), DOC.op("FLOORMOD", "i64", DOC.op("MUL", "i64", at, DOC.index(3)), n)))
    each("gathered", "f32", lambda k, at: k.load(k.param(x), k.load(k.param(places), at)))
    each("gathered_let", "f32", lambda k, at: k.load(k.param(x), k.let("i64", k.load(k.param(places), at))))
    each("gated_bool", "f32", lambda k, at: k.load(k.param(x), at, k.load(k.param(b), at)))
    each("gated_same", "f32", lambda k, at: k.load(k.param(x), at, k.load(k.param(b), DOC.index(0))))
    each("gated_gather", "f32", lambda k, at: k.load(k.param(x), k.load(k.param(places), at), k.load(k.param(b), at)))
    each("gated_one", "f32", lambda k, at: k.load(k.param(x), DOC.index(7), k.load(k.param(b), at)))
    each("bool_gated", "bool", lambda k, at: k.load(k.param(b), at, DOC.op("CMPLT", "bool", k.load(k.param(x), at), k.load(k.param(y), at))))
    each("masks", "bool", lambda k, at: DOC.op(
        "OR", "bool", k.load(k.param(b), at), DOC.op("CMPLT", "bool", k.load(k.param(x), at), k.load(k.param(y), at))))
    each("mask_of_index", "f32", lambda k, at: DOC.op(
        "WHERE", "f32", DOC.op("CMPLT", "bool", at, DOC.index(61)), k.load(k.param(x), at), k.load(k.param(y), at)))
    # places compared: steps up and down, far off, and below with a sum that is a named value
    steps = (("below", 1, 61), ("above", -1, -61), ("thirds", 3, 200), ("far", 1, 1 << 40), ("minus_far", -2, -(1 << 40)))
    for name, step, limit in steps:
        for op in ("CMPLT", "CMPEQ", "CMPNE"):
            def at_step(at):
                return at if step == 1 else DOC.op("MUL", "i64", at, DOC.index(step))
            each(f"{op.lower()}_{name}", "bool", lambda k, at: DOC.op(op, "bool", at_step(at), DOC.index(limit)))
            each(f"{op.lower()}_{name}_back", "bool", lambda k, at: DOC.op(op, "bool", DOC.index(limit), at_step(at)))
    each("mask_of_let", "bool", lambda k, at: DOC.op("CMPLT", "bool", DOC.sum(
        at, k.let("i64", k.load(k.param(places), one))), DOC.index(100)))
    for d in ("i64", "i32", "u8", "f32", "f64"):
        each(f"index_{d}", d, lambda k, at: at if d == "i64" else DOC.op("CAST", d, at))
    each("let_scalar", "f32", lambda k, at: DOC.op(
        "ADD", "f32", k.let("f32", k.load(k.param(x), one)), k.let("f32", k.load(k.param(y), at))))
    each("let_bool", "f32", lambda k, at: DOC.op("WHERE", "f32", k.let("bool", DOC.op(
        "CMPLT", "bool", k.load(k.param(x), at), k.load(k.param(y), at))), k.load(k.param(x), at), k.load(k.param(y), at)))
    each("deep", "f32", lambda k, at: deep(k.load(k.param(x), at), 200))
    stores(x, y, b, places)
    registers(x, y, b)
    for d in ("f32", "f64", "i32", "u8", "bool", "f16"):
        folds(d)


def deep(v, n):
    for _ in range(n):
        v = DOC.op("ADD", "f32", DOC.op("MUL", "f32", v, DOC.const("f32", "0.5")), DOC.const("f32", "1.0"))
    return v


def stores(x, y, b, places):
    def gated(name, gate, arg=""):
        k = Kernel(name, "f32")
        block = k.open(COUNT // LANES, "loop")
        lane = k.lanes()
        at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
        k.store(k.out, at, k.load(k.param(y), at))
        k.close(lane)
        lane = k.lanes()
        at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
        g = gate(k, at, block)
        k.store(k.out, at, DOC.op("NEG", "f32", k.load(k.param(x), at, *g)), *g, arg=arg)
        k.close(lane)
        k.close(block)
        k.end()

    gated("store_if", lambda k, at, block: [k.load(k.param(b), at)])
    gated("store_same", lambda k, at, block: [DOC.op("CMPLT", "bool", block, DOC.index(2))])
    gated("store_limit", lambda k, at, block: [DOC.op("CMPLT", "bool", at, DOC.index(COUNT // 2 + 1))])
    gated("store_stream", lambda k, at, block: [], arg='"nt"')
    # a value that may only be looked at where the gate is true
    k = Kernel("store_beyond", "f32", COUNT + LANES)
    block = k.open(COUNT // LANES + 1, "loop")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    k.store(k.out, at, DOC.op("NEG", "f32", k.load(k.param(x), at)), DOC.op("CMPLT", "bool", at, DOC.index(COUNT - 1)))
    k.close(lane)
    k.close(block)
    k.end()
    # a transposition of rows of LANES, and places from memory
    k = Kernel("store_strided", "f32")
    block = k.open(COUNT // LANES, "loop")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    k.store(k.out, DOC.sum(DOC.op("MUL", "i64", lane, DOC.index(COUNT // LANES)), block), k.load(k.param(x), at))
    k.close(lane)
    k.close(block)
    k.end()
    k = Kernel("store_scattered", "f32")
    block = k.open(COUNT // LANES, "serial")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    k.store(k.out, at, k.load(k.param(y), at))
    k.close(lane)
    k.close(block)
    block = k.open(COUNT // LANES, "serial")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    k.store(k.out, k.load(k.param(places), at), k.load(k.param(x), at), k.load(k.param(b), at))
    k.close(lane)
    k.close(block)
    k.end()


def registers(x, y, b):
    # a tile of two rows of two vectors: sums of products
    k = Kernel("tile.4", "f32", 4 * LANES)
    acc = k.reg("f32", 4 * LANES)
    for j in range(4):
        lane = k.lanes()
        k.store(acc, DOC.sum(lane, DOC.index(j * LANES)) if j else lane, DOC.const("f32", "0.0"))
        k.close(lane)
    turn = k.open(5, "reduce")
    for j in range(4):
        lane = k.lanes()
        at = DOC.sum(lane, DOC.index(j * LANES)) if j else lane
        a = k.load(k.param(x), DOC.sum(turn, DOC.index(j // 2 * 7 + 40)))
        v = k.load(k.param(y), DOC.sum(turn, lane, DOC.index(j % 2 * 9)))
        small = [DOC.op("MAX", "f32", DOC.op("MIN", "f32", t, DOC.const("f32", "9.0")), DOC.const("f32", "0.0")) for t in (a, v)]
        k.store(acc, at, DOC.op("ADD", "f32", k.load(acc, at), DOC.op("MUL", "f32", *small)))
        k.close(lane)
    k.close(turn)
    for j in range(4):
        lane = k.lanes()
        at = DOC.sum(lane, DOC.index(j * LANES)) if j else lane
        k.store(k.out, at, k.load(acc, at))
        k.close(lane)
    k.end()
    # a register whose loops are gated
    k = Kernel("gated_register", "f32", LANES)
    acc = k.reg("f32", LANES)
    lane = k.lanes()
    k.store(acc, lane, k.load(k.param(y), lane))
    k.close(lane)
    lane = k.lanes()
    k.store(acc, lane, DOC.op("NEG", "f32", k.load(acc, lane)), k.load(k.param(b), lane))
    k.close(lane)
    lane = k.lanes()
    k.store(k.out, lane, k.load(acc, lane))
    k.close(lane)
    k.end()
    # one that is no variable: a loop's counter is in its place; and one store from all lanes
    k = Kernel("register_array", "f32", LANES)
    acc = k.reg("f32", LANES)
    turn = k.open(LANES, "loop")
    k.store(acc, turn, k.load(k.param(x), turn))
    k.close(turn)
    lane = k.lanes()
    k.store(acc, lane, DOC.op("NEG", "f32", k.load(acc, lane)))
    k.close(lane)
    lane = k.lanes()
    k.store(k.out, lane, k.load(acc, lane))
    k.close(lane)
    k.end()
    if LANES <= 16:
        for d in ("f32", "u8", "f64", "i16", "bool"):
            transposed(d)
    k = Kernel("last_lane", "f32", 1)
    lane = k.lanes()
    k.store(k.out, DOC.index(0), k.load(k.param(x), lane))
    k.close(lane)
    k.end()


def transposed(dtype):
    """two squares of a register, written by rows and read by columns, the second after a change of its first row"""
    x, square = buffer(dtype, 0), LANES * LANES
    k = Kernel(f"transposed_{dtype}", dtype, 2 * square)
    tile = k.reg(dtype, 2 * square)
    for row in range(2 * LANES):
        lane = k.lanes()
        k.store(tile, DOC.sum(lane, DOC.index(row * LANES)) if row else lane,
                k.load(k.param(x), DOC.sum(lane, DOC.index(row * 7 % (COUNT - LANES)))))
        k.close(lane)
    for column in range(2 * LANES):
        if column == LANES:
            lane = k.lanes()
            k.store(tile, DOC.sum(lane, DOC.index(square)), k.load(k.param(x), lane))
            k.close(lane)
        lane = k.lanes()
        at = DOC.index(column // LANES * square + column % LANES)
        k.store(k.out, DOC.sum(lane, DOC.index(column * LANES)) if column else lane,
                k.load(tile, DOC.sum(DOC.op("MUL", "i64", lane, DOC.index(LANES)), at)))
        k.close(lane)
    k.end()


def folds(dtype):
    """the sum of a row in LANES parts, folded by halves in the register itself"""
    held = "f32" if dtype == "f16" else dtype
    v = [i % 7 % 2 if dtype == "bool" else i % 7 for i in range(COUNT)]
    x = DOC.const_buffer(f"small_{dtype}", dtype, [0x3c00 if n % 2 else 0x4000 for n in v] if dtype == "f16" else v)
    k = Kernel(f"fold_{dtype}", held, 2)
    acc = k.reg(held, LANES)
    lane = k.lanes()
    k.store(acc, lane, DOC.const(held, "false" if held == "bool" else "0.0" if held[0] == "f" else "0"))
    k.close(lane)
    block = k.open(COUNT // LANES, "reduce")
    lane = k.lanes()
    at = DOC.sum(DOC.op("MUL", "i64", block, DOC.index(LANES)), lane)
    got = k.load(k.param(x), at)
    k.store(acc, lane, DOC.op("ADD", held, k.load(acc, lane), got if held == dtype else DOC.op("CAST", held, got)))
    k.close(lane)
    k.close(block)
    half = LANES // 2
    while half > 1:
        lane = k.lanes(half)
        k.store(acc, lane, DOC.op("ADD", held, k.load(acc, lane), k.load(acc, DOC.sum(lane, DOC.index(half)))))
        k.close(lane)
        half //= 2
    zero = DOC.index(0)
    k.store(acc, zero, DOC.op("ADD", held, k.load(acc, zero), k.load(acc, DOC.index(1))))
    k.store(k.out, zero, k.load(acc, zero))
    k.store(k.out, DOC.index(1), k.load(acc, DOC.index(LANES - 1)))
    k.end()


forms() if GROUP == "forms" else ops(GROUP)
DOC.print()
