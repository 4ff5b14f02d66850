#!/usr/bin/env python3
"""One peer with one net of training.py, in a process of its own; it answers as peers.py does.

    training_peers.py PEER FOLDER THREADS

Each is written as its own manual advises: PyTorch with its modules' functions and its optimizers, fused where they can be; JAX with
the whole step in one jit; tinygrad with its optimizers in TinyJit."""
import json, os, sys
import peers

class Torch:
    package = "torch"
    def load(self): import torch, torch._dynamo
    def compiled(self, f): return f
    def loss(self, net, p, x, y):
        import torch.nn.functional as F
        if net == "mlp":
            return F.cross_entropy(F.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"], y)
        if net == "conv":
            h = F.max_pool2d(F.relu(F.conv2d(x, p["c1"], p["a1"], padding=1)), 2)
            h = F.relu(F.conv2d(h, p["c2"], p["a2"], padding=1)).reshape(100, 512)
            return F.cross_entropy(h @ p["w"] + p["b"], y)
        norm = lambda h: F.rms_norm(h, (64,), eps=1e-5)
        heads = lambda t: t.reshape(16, 64, 4, 16).transpose(1, 2)
        h = F.embedding(x, p["letters"]) + p["places"]
        for i in range(2):
            q, k, v = (norm(h) @ p["qkv"][i]).chunk(3, dim=-1)
            a = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
            h = h + a.transpose(1, 2).reshape(16, 64, 64) @ p["out"][i]
            h = h + F.gelu(norm(h) @ p["up"][i], approximate="tanh") @ p["down"][i]
        return F.cross_entropy((norm(h) @ p["letters"].T).reshape(-1, 128), y.reshape(-1))
    def build(self, net, batch, weights, threads):
        import torch
        torch.set_num_threads(threads)
        p = {k: torch.nn.Parameter(torch.from_numpy(v)) for k, v in weights.items()}
        x, y = (torch.from_numpy(v) for v in batch.values())
        o = torch.optim
        opt = {"mlp": lambda: o.SGD(p.values(), lr=0.1, momentum=0.9, fused=True), "conv": lambda: o.Adam(p.values(), lr=1e-3, fused=True),
               "transformer": lambda: o.AdamW(p.values(), lr=1e-3, weight_decay=0.01, fused=True)}[net]()
        loss = self.compiled(lambda x, y: self.loss(net, p, x, y))
        def call():
            opt.zero_grad(set_to_none=True)
            value = loss(x, y)
            value.backward()
            opt.step()
            return [value]
        return call
    def outputs(self, result): return [v.detach().numpy() for v in result]

class TorchCompile(Torch):
    def compiled(self, f):
        import torch
        return torch.compile(f, dynamic=False)

def adam(m, v, g, k, b1=0.9, b2=0.999, eps=1e-8):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    return m, v, m / (1 - b1 ** k) / ((v / (1 - b2 ** k)) ** 0.5 + eps)

class Jax:
    package = "jax"
    def load(self): import jax
    def loss(self, net, p, x, y):
        import jax, jax.numpy as jnp
        entropy = lambda z, y: -jnp.take_along_axis(jax.nn.log_softmax(z), y[..., None], axis=-1).mean()
        if net == "mlp":
            return entropy(jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"], y)
        conv = lambda x, w, b: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME") + b[:, None, None]
        if net == "conv":
            h = jax.nn.relu(conv(x, p["c1"], p["a1"]))
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
            h = jax.nn.relu(conv(h, p["c2"], p["a2"])).reshape(100, 512)
            return entropy(h @ p["w"] + p["b"], y)
        norm = lambda h: h * jax.lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5)
        heads = lambda t: t.reshape(16, 64, 4, 16)
        h = p["letters"][x] + p["places"]
        for i in range(2):
            q, k, v = jnp.split(norm(h) @ p["qkv"][i], 3, axis=-1)
            a = jax.nn.dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
            h = h + a.reshape(16, 64, 64) @ p["out"][i]
            h = h + jax.nn.gelu(norm(h) @ p["up"][i], approximate=True) @ p["down"][i]
        return entropy(norm(h) @ p["letters"].T, y)
    def step(self, net, state, x, y):
        import jax
        p, m, v, k = state
        loss, g = jax.value_and_grad(lambda p: self.loss(net, p, x, y))(p)
        if net == "mlp":
            m = {n: 0.9 * m[n] + g[n] for n in p}
            return loss, ({n: p[n] - 0.1 * m[n] for n in p}, m, v, k)
        decay, moved = 1 - 1e-3 * 0.01 if net == "transformer" else 1, {n: adam(m[n], v[n], g[n], k) for n in p}
        return loss, ({n: p[n] * decay - 1e-3 * moved[n][2] for n in p}, {n: moved[n][0] for n in p}, {n: moved[n][1] for n in p}, k + 1)
    def build(self, net, batch, weights, threads):
        import jax, jax.numpy as jnp
        given = [jax.device_put(v) for v in batch.values()]
        zeros = lambda: {k: jnp.zeros_like(v) for k, v in weights.items()}
        state = [({k: jax.device_put(v) for k, v in weights.items()}, zeros(), zeros(), jnp.float32(1))]
        step = jax.jit(lambda s, x, y: self.step(net, s, x, y), donate_argnums=0)
        def call():
            loss, state[0] = step(state[0], *given)
            jax.block_until_ready(state[0])
            return [loss]
        return call
    def outputs(self, result):
        import numpy as np
        return [np.asarray(v) for v in result]

class Tinygrad:
    package = "tinygrad"
    def load(self): import tinygrad
    def loss(self, net, p, x, y):
        if net == "mlp":
            return ((x @ p["w1"] + p["b1"]).relu() @ p["w2"] + p["b2"]).sparse_categorical_crossentropy(y)
        if net == "conv":
            h = x.conv2d(p["c1"], p["a1"], padding=1).relu().max_pool2d(2)
            h = h.conv2d(p["c2"], p["a2"], padding=1).relu().reshape(100, 512)
            return (h @ p["w"] + p["b"]).sparse_categorical_crossentropy(y)
        norm = lambda h: h * ((h * h).mean(-1, keepdim=True) + 1e-5).rsqrt()
        heads = lambda t: t.reshape(16, 64, 4, 16).transpose(1, 2)
        h = p["letters"][x] + p["places"]
        for i in range(2):
            q, k, v = (norm(h) @ p["qkv"][i]).chunk(3, dim=-1)
            a = heads(q).scaled_dot_product_attention(heads(k), heads(v), is_causal=True)
            h = h + a.transpose(1, 2).reshape(16, 64, 64) @ p["out"][i]
            h = h + (norm(h) @ p["up"][i]).gelu() @ p["down"][i]
        return (norm(h) @ p["letters"].T).reshape(-1, 128).sparse_categorical_crossentropy(y.reshape(-1))
    def build(self, net, batch, weights, threads):
        from tinygrad import Context, Device, Tensor, TinyJit
        from tinygrad.nn.optim import SGD, Adam, AdamW
        p = {k: Tensor(v).realize() for k, v in weights.items()}
        for t in p.values():
            t.is_param_()
        x, y = (Tensor(v).realize() for v in batch.values())
        opt = {"mlp": lambda l: SGD(l, lr=0.1, momentum=0.9), "conv": lambda l: Adam(l, lr=1e-3),
               "transformer": lambda l: AdamW(l, lr=1e-3, weight_decay=0.01)}[net](list(p.values()))
        @TinyJit
        def step():
            opt.zero_grad()
            loss = self.loss(net, p, x, y)
            loss.backward()
            return loss.realize(*opt.schedule_step())
        device = Device[Device.DEFAULT]
        def call():
            with Context(TRAINING=1):
                loss = step()
            device.synchronize()
            return [loss]
        return call
    def outputs(self, result): return [v.numpy() for v in result]

class Measured:
    """A peer as peers.main takes it: of a folder of training.py, not of a model."""
    def __init__(self, peer, folder, threads):
        self.peer, self.folder = peer, folder
    def load(self): self.peer.load()
    def build(self, path, feeds, threads):
        import numpy as np
        with open(os.path.join(self.folder, "meta.json")) as f:
            weights = {k: np.load(os.path.join(self.folder, "w_%s.npy" % k)) for k in json.load(f)["weights"]}
        return self.peer.build(os.path.basename(self.folder), feeds, weights, threads)
    def outputs(self, result): return self.peer.outputs(result)

if __name__ == "__main__":
    kinds = {"torch": Torch, "torch-compile": TorchCompile, "jax": Jax, "tinygrad": Tinygrad}
    name, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    peers.PEERS[name] = lambda: Measured(kinds[name](), folder, threads)
    peers.main(name, folder, threads)
