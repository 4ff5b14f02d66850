#!/usr/bin/env python3
"""check.py BIN FOLDER NAME…: models that make.py wrote, each through every stage once, and that one compiled program run
on the inputs of every NAME.BATCH.npz.  Every output within 1e-4 of the largest value that NAME.BATCH.out.npz has, which
ONNX Runtime writes where it is missing (then it is needed, and numpy).  A line for each.

In a quantized model a value at the border of two codes falls to either side by the last bit of a sum, and others follow
it: there a value may be off by one of the output's 255 steps, and no more than a third may be off at all.  ONNX Runtime
with its optimizations differs from itself without them by as much.

Memory of a run of one call, by its own account (run -v): no more than the weights and 1.2 times the plan; where both are
small, than reading the document took.  Of two calls: the inputs, outputs and states besides, and PROCESS for all else: 3
MB are an empty process with its libraries, the rest what is left of the document, and objects.  The first run of a
document, which prepares its weights, may have the largest of them in memory twice; its most is printed."""
import array, ast, math, os, re, subprocess, sys, tempfile, time, zipfile

NEAR, STEP = 1e-4, 1 / 127
PROCESS, READ = 9.0, 6                                  # MB; bytes for each byte of a document
SANITIZED = "san" in sys.argv[1]                        # then memory is another
QUANTIZED = ("resnet50_u8", "resnet50_i8")

def read(npy):
    """Shape and values of the bytes of an npy file of f32."""
    size = int.from_bytes(npy[8:10], "little")
    head = ast.literal_eval(npy[10:10 + size].decode())
    if npy[6] != 1 or head["descr"] != "<f4" or head["fortran_order"] and len(head["shape"]) > 1:
        raise ValueError("no row-major f32")
    values = array.array("f")
    values.frombytes(npy[10 + size:])
    return head["shape"], values

def members(npz):
    with zipfile.ZipFile(npz) as z:
        return [(n.removesuffix(".npy"), z.read(n)) for n in z.namelist()]

def by_onnx_runtime(model, feeds, to):
    import numpy as np, onnxruntime as ort
    plain = ort.SessionOptions()                           # the model as it is written: no integer kernels for QDQ
    plain.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(model, plain, providers=["CPUExecutionProvider"])
    np.savez_compressed(to, **dict(zip([o.name for o in s.get_outputs()], s.run(None, dict(np.load(feeds))))))

def error(got, want, steps):
    if got[0] != want[0]:
        return "shape %s, not %s" % (got[0], want[0])
    most = max(map(abs, want[1]), default=0) or 1
    off = [(abs(g - w) if math.isfinite(g) else math.inf) / most for g, w in zip(got[1], want[1])]
    if steps and sum(o > NEAR for o in off) > len(off) / 3:
        return "off at more than a third"
    return None if max(off, default=0) <= (STEP if steps else NEAR) else "off by %.2g" % max(off)

ACCOUNT = re.compile(r"memory: weights (\S+) MB, plan (\S+) MB, inputs and outputs (\S+) MB, states (\S+) MB; "
                     r"at most (\S+) MB")

def run(command, document):
    """Runs it and gives weights, plan, the most memory that it had, what that may be for one call and for more, in MB."""
    told = subprocess.run([command[0], "-v"] + command[1:], stderr=subprocess.PIPE, text=True)
    account = ACCOUNT.search(told.stderr)
    if told.returncode or not account:
        sys.stderr.write(told.stderr)
        raise subprocess.CalledProcessError(told.returncode, command)
    weights, plan, given, states, most = map(float, account.groups())
    bound, read = weights + 1.2 * plan, READ * os.path.getsize(document) / 1e6 + PROCESS
    return weights, plan, most, max(bound, read), max(bound + given + states + PROCESS, read)

def check(tools, folder, name, tmp):
    at = lambda *suffix: os.path.join(folder, ".".join((name,) + suffix))
    took, document = [], at("onnx")
    for tool in ("trace", "schedule", "fuse", "lower", "render", "compile"):
        t = time.time()
        with open(os.path.join(tmp, tool), "wb") as f:
            subprocess.run([os.path.join(tools, tool), document], stdout=f, check=True)
        took.append("%s %.0f" % (tool, 1000 * (time.time() - t)))
        document = f.name
    good = True
    for batch in ("1", "3"):
        operands, out = [], os.path.join(tmp, "out" + batch)
        for k, (_, npy) in enumerate(members(at(batch, "npz"))):
            operands.append("@%d=%s" % (k, os.path.join(tmp, "in%d.npy" % k)))
            with open(os.path.join(tmp, "in%d.npy" % k), "wb") as f:
                f.write(npy)
        if not os.path.exists(at(batch, "out", "npz")):
            by_onnx_runtime(at("onnx"), at(batch, "npz"), at(batch, "out", "npz"))
        command = [os.path.join(tools, "run"), document, *operands, "-o", out, "--numbered"]
        first = run(command, document)[2]                  # what it prepares is in the cache from then on
        t = time.time()
        weights, plan, most, one, many = run(command, document)
        ran = 1000 * (time.time() - t)
        again = run(command + ["-n", "2"], document)[2]
        wrong = []
        for k, (output, npy) in enumerate(members(at(batch, "out", "npz"))):
            with open(os.path.join(out, "output_%d.npy" % k), "rb") as f:
                e = error(read(f.read()), read(npy), name in QUANTIZED)
            wrong += [output + " is " + e] if e else []
        over = not SANITIZED and (most > one or again > many)
        wrong += ["more memory than it may have"] if over else []
        print("%s, batch %s: %s; ms: %s run %.0f; MB: file %.1f weights %.1f plan %.1f first run %.1f run %.1f of %.1f "
              "two calls %.1f of %.1f" % (name, batch, "; ".join(wrong) or "agrees", " ".join(took), ran,
              os.path.getsize(at("onnx")) / 1e6, weights, plan, first, most, one, again, many), flush=True)
        good = good and not wrong
    return good

if __name__ == "__main__":
    results = []
    for model in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as tmp:
            try:
                results.append(check(sys.argv[1], sys.argv[2], model, tmp))
            except subprocess.CalledProcessError as e:           # the tool has said why
                print("%s: %s ended with %d" % (model, os.path.basename(e.cmd[0]), e.returncode), flush=True)
                results.append(False)
    sys.exit(not all(results))
