"""Builds a packed module for a processor, runs it there, and measures it.

    embedded.py BOARD NAME DIR [INPUT.npy…] [--flags=FLAGS] [--image]

DIR has NAME.h and NAME.c with sizes that are fixed. Writes OUTPUT.npy into DIR for each output, and prints
workspace           bytes of the module's workspace
stack               bytes that a call uses, measured
instructions        that a call executes
and with --image, of a program that does nothing but call the module, with buffers for all it takes and gives:
text, data, bss     its bytes
own                 those of its text that are there because of the module: code, constants, functions of libraries
BOARD: m3, m4, m7 (QEMU's MPS2 boards), riscv64 (QEMU's user mode); fused and plain, the host with and without a
multiply-add of one rounding. Stack and instructions are measured on the first three."""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import npy

ARM = "arm-none-eabi-gcc -mthumb -nostartfiles -Wl,--gc-sections -T " + os.path.join(HERE, "mps2.ld")
QEMU = "qemu-system-arm -display none -monitor none -serial none -semihosting-config enable=on,target=native -icount shift=0"
HOST = os.environ.get("CC", "cc")
BOARDS = {
    "m3": ("mps2.c", f"{ARM} -mcpu=cortex-m3", f"{QEMU} -M mps2-an385 -kernel"),
    "m4": ("mps2.c", f"{ARM} -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", f"{QEMU} -M mps2-an386 -kernel"),
    "m7": ("mps2.c", f"{ARM} -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16", f"{QEMU} -M mps2-an500 -kernel"),
    "riscv64": ("unix.c", "riscv64-linux-gnu-gcc -static", "qemu-riscv64"),
    "fused": ("unix.c", f"{HOST} " + ("-mfma" if os.uname().machine == "x86_64" else ""), ""),
    "plain": ("unix.c", f"{HOST} " + ("-mno-fma" if os.uname().machine == "x86_64" else ""), ""),
}
NUMPY = {"bool": "|b1", "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "|u1", "u16": "<u2", "u32": "<u4",
         "u64": "<u8", "f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8"}
TIMES = 16

MAIN = """#include "%(name)s.h"
#include "%(here)s/board.h"

%(buffers)sstatic unsigned char workspace[%(name)s_WS_BYTES + 1] __attribute__((aligned(%(name)s_WS_ALIGN)));
static %(name)s_args args = {%(members)s};
static int status;

__attribute__((noinline)) static int idle(%(name)s_args *a, void *ws) { return (void)a, (void)ws, 0; }
static void around(void) { status |= idle(&args, workspace); }
static void call(void) { status |= %(name)s_call(&args, workspace); }

int main(void)
{
	status = %(name)s_init_ws(workspace);
#ifdef APPLICATION
	for (;;)
		APPLICATION();
#endif
%(reads)s	board_tell("stack", board_stack(call) - board_stack(around));
	board_tell("workspace", %(name)s_WS_BYTES);
	board_tell("instructions", (board_instructions(call, %(times)d) - board_instructions(around, %(times)d)) / %(times)d);
%(writes)s	return status;
}
"""


def fields(header, name):
    """(is an input, C type, its name, dtype, shape) of each pointer that NAME_args has"""
    text = re.search(r"typedef struct \{\n((?:\t[^\n]*\n)*)\} %s_args;" % name, header)[1]
    found = re.findall(r"^\t(const )?(\w+) \*(\w+);  /\* ([a-z]+\d*)\[([\d,]*)\]", text, re.M)
    assert len(found) == text.count("\n"), "a size is not fixed"
    return [(bool(const), kind, id, dtype, [int(n) for n in shape.split(",") if n]) for const, kind, id, dtype, shape in found]


def main_text(name, found):
    def lines(form, wanted):
        return "".join(form.format(type=kind, id=id, name=name) for const, kind, id, _, _ in found if const in wanted)
    return MAIN % {
        "name": name, "here": HERE, "times": TIMES,
        "buffers": lines("static {type} {id}[{name}_{id}_BYTES / sizeof({type})];\n", (True, False)),
        "members": ", ".join(f[2] for f in found),
        "reads": lines("\tboard_read({id}, sizeof {id});\n", (True,)),
        "writes": lines("\tboard_write({id}, sizeof {id});\n", (False,))}


def sizes(program):
    text = subprocess.run(["arm-none-eabi-size", program], check=True, capture_output=True, text=True).stdout
    return [int(n) for n in text.splitlines()[1].split()[:3]]


def build(o, to, *defines):
    board, compiler, _ = BOARDS[o.board]
    command = [*compiler.split(), "-std=c99", "-Wall", "-Wextra", "-ffunction-sections", "-fdata-sections", *o.flags.split(),
               *defines, "-I.", "-o", to, f"{o.name}.main.c", f"{o.name}.c", os.path.join(HERE, board), "-lm"]
    subprocess.run(command, check=True)


def measure_image(o):
    build(o, f"{o.name}.app", "-DAPPLICATION=call")
    build(o, f"{o.name}.none", "-DAPPLICATION=around")
    text, data, bss = sizes(f"{o.name}.app")
    print(f"text {text}\ndata {data}\nbss {bss}\nown {text - sizes(f'{o.name}.none')[0]}")


p = argparse.ArgumentParser()
p.add_argument("board", choices=BOARDS)
p.add_argument("name")
p.add_argument("dir")
p.add_argument("inputs", nargs="*")
p.add_argument("--flags", default="-O2")
p.add_argument("--image", action="store_true")
o = p.parse_args()
inputs = [npy.parts(open(path, "rb").read())[2] for path in o.inputs]
os.chdir(o.dir)
found = fields(open(f"{o.name}.h").read(), o.name)
open(f"{o.name}.main.c", "w").write(main_text(o.name, found))
open("in", "wb").write(b"".join(inputs))
build(o, f"{o.name}.{o.board}")
subprocess.run([*BOARDS[o.board][2].split(), f"./{o.name}.{o.board}"], check=True, timeout=300,
               stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
if o.image:
    measure_image(o)
out = open("out", "rb").read()
for const, _, id, dtype, shape in found:
    count = 1
    for n in shape:
        count *= n
    if not const:
        size = count * int(re.search(r"\d+", NUMPY[dtype])[0])
        npy.save(f"{id}.npy", NUMPY[dtype], shape, out[:size])
        out = out[size:]
assert not out, "more was written than the outputs have"
