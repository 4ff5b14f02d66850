#!/usr/bin/env python3
"""One peer with one workload, in a process of its own that bench.py starts and commands.

    peers.py PEER FOLDER THREADS

builds FOLDER/model.onnx, calls it once and says so in a line of JSON; then answers each line of standard input with one:
time SECONDS LEAST (the times of that long, and of so many calls at least), save DIR (its outputs to DIR/output_K.npy).

Each peer is set up as its own manual advises for repeated calls with fixed weights: outputs stay in memory that is used again
where the peer can do so, constants are known to its compiler, and the threads are those it is given."""
import gc, json, os, sys, time

class Peer:
    package = None                        # what is imported before the clock starts
    cold = {}                             # environment that empties its caches
    def load(self): __import__(self.package)
    def outputs(self, result):
        import numpy as np
        return [np.asarray(v) for v in result]

class NumPy(Peer):
    package = "numpy"
    def build(self, path, feeds, threads):
        import evaluate, numpy as np, onnx
        s = evaluate.read(onnx.load(path))
        return lambda: [np.asarray(v, order="C") for v in evaluate.run(s, feeds, known=s.known)]

class OnnxRuntime(Peer):
    package = "onnxruntime"
    def build(self, path, feeds, threads):
        import onnxruntime as ort
        o = ort.SessionOptions()
        o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
        s = ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])
        io, self.kept = s.io_binding(), {k: ort.OrtValue.ortvalue_from_numpy(v) for k, v in feeds.items()}
        for k, v in self.kept.items():
            io.bind_ortvalue_input(k, v)
        for v in s.get_outputs():
            io.bind_output(v.name, "cpu")
        s.run_with_iobinding(io)                                  # gives the outputs memory, which the later calls write to
        results = io.get_outputs()
        for v, place in zip(s.get_outputs(), results):
            io.bind_ortvalue_output(v.name, place)
        def call():
            s.run_with_iobinding(io)
            return results
        return call
    def outputs(self, result): return [v.numpy() for v in result]

class OpenVino(Peer):
    """In f32 whatever the processor has, one stream, tuned for the time of a call."""
    package = "openvino"
    def build(self, path, feeds, threads):
        import openvino as ov
        core = ov.Core()
        model = core.compile_model(core.read_model(path), "CPU", {
            "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
            "INFERENCE_NUM_THREADS": threads})
        request = model.create_infer_request()
        for k, v in feeds.items():
            request.set_tensor(k, ov.Tensor(v, shared_memory=True))
        results = [request.get_tensor(o) for o in model.outputs]      # their memory is the request's, and stays
        def call():
            request.infer()
            return results
        return call
    def outputs(self, result): return [v.data for v in result]

class Torch(Peer):
    package = "torch"
    def module(self, path):
        import evaluate, framework_ops, onnx
        return framework_ops.torch_module(evaluate.read(onnx.load(path)))
    def build(self, path, feeds, threads):
        import torch
        torch.set_num_threads(threads)
        module, given = self.module(path), [torch.from_numpy(v) for v in feeds.values()]
        self.mode = torch.inference_mode()
        self.mode.__enter__()
        return lambda: [v.contiguous() for v in module(*given)]
    def outputs(self, result): return [v.detach().numpy() for v in result]

class TorchCompile(Torch):
    cold = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    config = {"freezing": True}
    def load(self): import torch, torch._dynamo, torch._inductor.config
    def build(self, path, feeds, threads):
        import torch, torch._inductor.config as config
        torch.set_num_threads(threads)
        for k, v in self.config.items():
            setattr(config, k, v)
        self.mode = torch.no_grad()                               # freezing refuses tensors of inference_mode
        self.mode.__enter__()
        module, given = torch.compile(self.module(path), dynamic=False), [torch.from_numpy(v) for v in feeds.values()]
        return lambda: [v.contiguous() for v in module(*given)]

class TorchTuned(TorchCompile):
    config = {"freezing": True, "max_autotune": True}

class Jax(Peer):
    package = "jax"
    def build(self, path, feeds, threads):
        import evaluate, framework_ops, jax, onnx
        s, table = evaluate.read(onnx.load(path)), framework_ops.jax_table()
        floats = {k: jax.device_put(v) for k, v in s.known.items() if v.dtype.kind == "f"}
        fixed = {k: v for k, v in s.known.items() if k not in floats}
        f = jax.jit(lambda given, weights: evaluate.run(s, given, table, dict(fixed, **weights)))
        given = {k: jax.device_put(v) for k, v in feeds.items()}
        return lambda: jax.block_until_ready(f(given, floats))

class Tinygrad(Peer):
    package = "tinygrad"
    cold = {"CCACHE": "0", "CACHELEVEL": "0"}
    def build(self, path, feeds, threads):
        from tinygrad import Device, Tensor, TinyJit
        from tinygrad.nn.onnx import OnnxRunner
        model, given = OnnxRunner(path), {k: Tensor(v).realize() for k, v in feeds.items()}
        def step(**feeds):
            result = tuple(v.contiguous() for v in model(feeds).values())    # a view would not be computed
            Tensor.realize(*result)
            return result
        jitted, device = TinyJit(step), Device[Device.DEFAULT]
        def call():
            result = jitted(**given)
            device.synchronize()
            return result
        return call
    def outputs(self, result): return [v.numpy() for v in result]

class TinygradBeam(Tinygrad):
    cold = dict(Tinygrad.cold, IGNORE_BEAM_CACHE="1")

PEERS = {"numpy": NumPy, "onnxruntime": OnnxRuntime, "openvino": OpenVino, "torch": Torch,
         "torch-compile": TorchCompile, "torch-tuned": TorchTuned, "jax": Jax, "tinygrad": Tinygrad, "tinygrad-beam": TinygradBeam}

# ---- the process
def memory(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith(key))

def timed(call, seconds, least):
    times, clock, end = [], time.perf_counter, time.perf_counter() + seconds
    while len(times) < least or clock() < end:
        t = clock()
        call()
        times.append(1e3 * (clock() - t))
    return times

def main(name, folder, threads):
    answers, peer = os.fdopen(os.dup(1), "w"), PEERS[name]()
    os.dup2(2, 1)                                                 # what a peer prints is no answer
    def answer(**fields): print(json.dumps(fields), file=answers, flush=True)
    import numpy as np
    peer.load()
    with open(os.path.join(folder, "meta.json")) as f:
        feeds = {k: np.load(os.path.join(folder, "in_%s.npy" % k)) for k in json.load(f)["inputs"]}
    base, begin = memory("VmRSS"), time.perf_counter()
    call = peer.build(os.path.join(folder, "model.onnx"), feeds, threads)
    built = time.perf_counter()
    result = call()
    first = time.perf_counter()
    answer(build_ms=1e3 * (built - begin), first_ms=1e3 * (first - built), rss_mb=memory("VmHWM"), base_mb=base)
    gc.disable()
    for command, *args in map(str.split, sys.stdin):
        if command == "time":
            answer(times_ms=timed(call, float(args[0]), int(args[1])))
        elif command == "save":
            for k, v in enumerate(peer.outputs(call())):
                np.save(os.path.join(args[0], "output_%d.npy" % k), v)
            answer(saved=k + 1, rss_mb=memory("VmHWM"))
    os._exit(0)                                                   # some peers take long to say goodbye

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
