"""A document of level program as one C file with a main of its own, for a processor that is not this one.

    show doc.mp | python3 cross.py DIR

writes into DIR: NAME.npy for each input, with random values; main.c, which holds the sources, the constants and the calls
in their order, each grid in three parts, reads those inputs and writes NAME.npy for each output into the folder named by its
argument; flags, what the programs ask of their compiler."""
import random
import re
import struct
import sys

import npy

CODE = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
        "f16": "e", "bf16": "H", "f32": "f", "f64": "d"}
NPY = {"bool": "|b1", "f16": "<f2", "f32": "<f4", "f64": "<f8", "bf16": "<u2"}
OUT = sys.argv[1]
r = random.Random(1)

START = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void in(void *to, size_t n, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, -(long)n, SEEK_END) || fread(to, 1, n, f) != n)
		exit(1);
	fclose(f);
}

static void out(const void *from, size_t n, const char *dir, const char *name, const char *head, size_t m)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.npy", dir, name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(head, 1, m, f) != m || fwrite(from, 1, n, f) != n || fclose(f))
		exit(1);
}

"""


def size(dtype):
    return struct.calcsize("<" + CODE[dtype])


def header(dtype, shape):
    kind = NPY.get(dtype, f"{'<' if size(dtype) > 1 else '|'}{dtype[0]}{size(dtype)}")
    return npy.header(kind, shape)


def value(dtype):
    if dtype in ("f16", "f32", "f64"):
        return r.random()
    bits = 8 * size(dtype)
    return r.random() < 0.5 if dtype == "bool" else r.randrange(2 ** bits) - (dtype[0] == "i") * 2 ** (bits - 1)


def field(text, name):
    """a string, a list of ints or an int of a map in the text form"""
    m = re.search(rf'\b{name}: (?:"([^"]*)"|\[([^\]]*)\]|(-?\d+)|b"([^"]*)")', text)
    if not m:
        return None
    if m[2] is not None:
        return [int(n) if re.fullmatch(r"-?\d+", n) else n.strip('"') for n in m[2].split(", ") if n]
    return int(m[3]) if m[3] else m[1] if m[1] is not None else bytes.fromhex(m[4])


def nodes():
    """op, dtype or None, sources and the text of the arg, by number; a source text apart"""
    found, last = {}, None
    for line in sys.stdin:
        m = re.match(r"%(\d+) = (\w+)((?: [a-z]+\d*)?)((?: %\d+)*)(.*)", line)
        if m:
            last = int(m[1])
            found[last] = [m[2], m[3].strip() or None, [int(n) for n in re.findall(r"%(\d+)", m[4])], m[5], []]
        elif line.startswith("\t|"):
            found[last][4].append(line[2:])
        elif last is not None:
            found[last][3] += line
    return found


def buffer(n, dtype, text):
    """its declaration, and what fills it"""
    shape, role, name = field(text, "shape"), field(text, "role"), field(text, "name")
    count = 1
    for d in shape:
        count *= d
    SIZES[n] = count * size(dtype)
    if role == "const":
        data = field(text, "data")
        assert len(data) == SIZES[n], f"constant {name} has no data here"
        return f"static const _Alignas(64) unsigned char b{n}[] = {{{', '.join(map(str, data))}}};\n"
    if role == "temp" and field(text, "offset") is not None:
        ENDS.append(field(text, "offset") + SIZES[n])
        return f"#define b{n} (workspace + {field(text, 'offset')})\n"
    if role == "input":
        with open(f"{OUT}/{name}.npy", "wb") as f:
            f.write(header(dtype, shape) + b"".join(struct.pack("<" + CODE[dtype], value(dtype)) for _ in range(count)))
        BEFORE.append(f'\tin(b{n}, sizeof b{n}, "{OUT}/{name}.npy");\n')
    if role == "output":
        head = header(dtype, shape)
        text = "".join(f"\\{c:03o}" for c in head)
        AFTER.append(f'\tout(b{n}, {SIZES[n]}, argv[1], "{name}", "{text}", {len(head)});\n')
    return f"static _Alignas(64) unsigned char b{n}[{SIZES[n] or 1}];\n"


def call(src, program):
    """one launch, its grid in three parts"""
    name, grid = field(program[3], "name"), field(program[3], "global_size") or [1]
    assert not field(program[3], "vars") and isinstance(grid[0], int), "a size is a variable"
    cuts = sorted({0, grid[0] // 3, grid[0] // 3 * 2, grid[0]})
    buffers = ", ".join(f"(void *)b{n}" for n in src)
    return "".join(f"\t{name}_call((void *[]){{{buffers}}}, NULL, {a}, {b});\n" for a, b in zip(cuts, cuts[1:]))


SIZES, ENDS, BEFORE, AFTER = {}, [1], [], []
doc = nodes()
memory = [buffer(n, d, text) for n, (op, d, _, text, _) in doc.items() if op == "BUFFER"]
programs = {n: node for n, node in doc.items() if node[0] == "PROGRAM"}
steps = []
for n in doc[max(doc)][2]:
    op, _, src, _, _ = doc[n]
    steps.append(call(src[1:], doc[src[0]]) if op == "CALL" else f"\tmemcpy(b{src[0]}, b{src[1]}, {SIZES[src[0]]});\n")
assert steps and programs, "nothing is called"

with open(f"{OUT}/main.c", "w") as f:
    f.write("".join("".join(node[4]) + "\n" for node in programs.values()) + START)
    f.write(f"static _Alignas(64) unsigned char workspace[{max(ENDS)}];\n" + "".join(memory))
    f.write("\nint main(int argc, char **argv)\n{\n\t(void)workspace;\n" + "".join(BEFORE + steps + AFTER) + "}\n")
with open(f"{OUT}/flags", "w") as f:
    f.write(" ".join(sorted({field(node[3], "flags") for node in programs.values()})).strip() + "\n")
