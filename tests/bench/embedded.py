"""What packed networks take on a microcontroller, beside what other generators' code takes on the same board, and what
others have published.

    embedded.py --bin DIR [--boards m4,m3,m7]

Flash, RAM, stack and instructions are measured on QEMU's boards by ../embedded/embedded.py: flash is what the network
adds to a program, code, constants and functions of libraries; RAM its memory outside the stack, the buffers of inputs
and outputs too. Peers that PyPI offers are measured so where they make C (emlearn: perceptrons), or by what they say
of themselves (TensorFlow Lite Micro: its arena, on this machine). Every measured output is compared with ours."""
import argparse
import json
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
NETS = {
    # the layers of each: kind, weights, bias, activation
    "sine": [("dense", "w1", "b1", "relu"), ("dense", "w2", "b2", "relu"), ("dense", "w3", "b3", "identity")],
    "mlp": [("dense", "w1", "b1", "relu"), ("dense", "w2", "b2", "identity")],
    "conv": [("conv", "c1", "a1", "relu"), ("pool",), ("conv", "c2", "a2", "relu"), ("dense", "w", "b", "identity")],
}
PUBLISHED = """Published, of whole programs with their board's library:
  onnx2c, sine 1-16-16-1, STM32F411 (its README):   text 8276, data 1300, bss 3060, 20 us at 96 MHz (1920 cycles)
  the same on OpenCM3, constants in flash:          text 8236, data 12, bss 388, 29 us at 84 MHz (2436 cycles)
  STM32Cube.AI, the same network (there):           text 14372, data 1696, bss 2808, 490 us at 96 MHz
  TensorFlow Lite Micro, its sine, STM32F413 (Samsung/ONE issue 7598): an arena of 676 bytes, 128 us
  TensorFlow Lite Micro, its own documentation:     16 kB of flash for the core on a Cortex-M3"""


def read_safetensors(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    return {name: np.frombuffer(b[8 + n:], "<f4", (t["data_offsets"][1] - t["data_offsets"][0]) // 4,
                                t["data_offsets"][0]).reshape(t["shape"])
            for name, t in json.loads(b[8:8 + n]).items() if name != "__metadata__" and t["dtype"] == "F32"}


def measure(board, name, folder, x, flags=""):
    command = [sys.executable, f"{TESTS}/embedded/embedded.py", board, name, folder, x, "--image", f"--flags=-O2 {flags}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {k: int(v) for k, v in re.findall(r"^(\w+) (\d+)$", text, re.M)}
    return found, np.load(f"{folder}/y.npy")


def row(net, who, flash, ram, stack, instructions, note=""):
    cells = [net, who] + ["" if n is None else str(n) for n in (flash, ram, stack, instructions)] + [note]
    print("| " + " | ".join(cells) + " |", flush=True)


def ours(board, net, folder):
    tool = lambda name, *args: [f"{o.bin}/{name}", *args]
    trace = subprocess.run(tool("trace", f"{folder}/{net}.t"), check=True, capture_output=True).stdout
    fused = subprocess.run(tool("fuse"), input=trace, check=True, capture_output=True).stdout
    subprocess.run(tool("pack", "--embedded", "--name", net, "-o", f"{folder}/lib"), input=fused, check=True, capture_output=True)
    found, y = measure(board, net, f"{folder}/lib", f"{folder}/x/{net}.npy")
    row(net, "Sluice", found["own"], found["memory"], found["stack"], found["instructions"],
        f"the program: text {found['text']}, data {found['data']}, bss {found['bss']}")
    return y


def emlearn_c(net, folder, weights):
    """a module of pack's form around emlearn's code"""
    import emlearn
    from emlearn.net import c_generate_net_loadable
    layers = NETS[net]
    code = c_generate_net_loadable([l[3] for l in layers], [weights[l[1]] for l in layers], [weights[l[2]] for l in layers], "net")
    n_in, n_out = weights[layers[0][1]].shape[0], weights[layers[-1][1]].shape[1]
    shape = "8,8" if n_in == 64 else n_in
    os.makedirs(f"{folder}/emlearn", exist_ok=True)
    open(f"{folder}/emlearn/{net}.h", "w").write(
        f"typedef struct {{\n\tconst float *x;  /* f32[{shape}] */\n\tfloat *y;  /* f32[{n_out}] */\n}} {net}_args;\n"
        f"#define {net}_x_BYTES {4 * n_in}\n#define {net}_y_BYTES {4 * n_out}\n"
        f"#define {net}_WS_ALIGN 4\n#define {net}_WS_BYTES 0\n"
        f"int {net}_init_ws(void *ws);\nint {net}_call({net}_args *a, void *ws);\n")
    open(f"{folder}/emlearn/{net}.c", "w").write(
        f'#include "{net}.h"\n{code}\nint {net}_init_ws(void *ws) {{ return (void)ws, 0; }}\n'
        f"int {net}_call({net}_args *a, void *ws)\n{{\n\t(void)ws;\n\treturn net_regress(a->x, {n_in}, a->y, {n_out});\n}}\n")
    return os.path.dirname(emlearn.__file__)


def beside_emlearn(board, net, folder, weights, y):
    include = emlearn_c(net, folder, weights)
    found, theirs = measure(board, net, f"{folder}/emlearn", f"{folder}/x/{net}.npy", f"-w -I{include}")
    assert np.allclose(theirs.ravel(), y.ravel(), 1e-4, 1e-4), f"emlearn gives something else for {net}"
    row(net, "emlearn", found["own"], found["memory"], found["stack"], found["instructions"])


def beside_tflm(net, folder, weights, y):
    import embedded_tflm
    arena, model, theirs = embedded_tflm.run(NETS[net], weights, np.load(f"{folder}/x/{net}.npy"))
    assert np.allclose(theirs.ravel(), y.ravel(), 1e-4, 1e-4), f"TensorFlow Lite Micro gives something else for {net}"
    row(net, "TensorFlow Lite Micro, here", None, arena, None, None, f"its arena; a model of {model}, and the interpreter")


p = argparse.ArgumentParser()
p.add_argument("--bin", required=True)
p.add_argument("--boards", default="m4")
o = p.parse_args()
try:
    import numpy as np
except ImportError:
    sys.exit("bench-embedded: needs NumPy")
folder = os.path.join("build", "bench", "embedded")
os.makedirs(folder, exist_ok=True)
subprocess.run(["bash", f"{TESTS}/embedded/models.sh", folder], check=True, env={**os.environ, "SLUICE_BIN": o.bin},
               stderr=subprocess.DEVNULL)
os.makedirs(f"{folder}/x", exist_ok=True)
images = np.load(os.path.join(TESTS, "..", "pipelines", "digits.npz"))["images"]
for net in NETS:
    np.save(f"{folder}/x/{net}.npy", np.float32([2]) if net == "sine" else np.float32(images[1003]) / 16)
for board in o.boards.split(","):
    print(f"\n{board}, bytes and instructions of a call\n\n| net | by | flash | RAM | stack | instructions | |\n|" + "---|" * 7)
    for net in NETS:
        y = ours(board, net, folder)
        weights = read_safetensors(f"{folder}/{net}.safetensors")
        peers = {"tflite-micro": lambda: beside_tflm(net, folder, weights, y)}
        if all(layer[0] == "dense" for layer in NETS[net]):
            peers["emlearn"] = lambda: beside_emlearn(board, net, folder, weights, y)
        for peer, measured in peers.items():
            try:
                measured()
            except ImportError:
                row(net, peer, None, None, None, None, "not installed")
print("\n" + PUBLISHED)
