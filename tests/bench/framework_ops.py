"""The operators of evaluate.py in PyTorch and in JAX: for each the call that the framework itself offers for it."""
from evaluate import axes_of, ints, padding

# ---- PyTorch
def torch_table():
    import torch
    F = torch.nn.functional
    kinds = {1: torch.float32}

    def conv(x, w, b=None, group=1, **attrs):
        strides, pads, dilations = padding(attrs, 2)
        return F.conv2d(x, w, b, strides, pads[:2], dilations, group)

    def max_pool(x, kernel_shape, **attrs):
        strides, pads, _ = padding(attrs, 2)
        return F.max_pool2d(x, kernel_shape, strides, pads[:2])

    def gemm(a, b, c=None, transA=0, transB=0, alpha=1.0, beta=1.0):
        if transB and not transA:
            return F.linear(a, b, c)
        y = (a.t() if transA else a) @ (b.t() if transB else b)
        return y if c is None else y + c

    def gather(x, i, axis=0):
        if isinstance(i, int):
            return x.select(axis, i)
        return F.embedding(i, x) if axis == 0 and x.dim() == 2 else torch.take_along_dim(x, i, axis)

    def reduce_sum(x, axes=None, keepdims=1):
        return x.sum() if axes is None else x.sum(axes_of(axes), keepdim=bool(keepdims))

    def unsqueeze(x, axes):
        for a in sorted(ints(axes)):
            x = x.unsqueeze(a)
        return x

    return {
        "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Tanh": torch.tanh, "Exp": torch.exp,
        "Sqrt": torch.sqrt, "Relu": torch.relu, "Clip": lambda x, lo, hi: F.hardtanh(x, float(lo), float(hi)),
        "Equal": torch.eq, "Greater": torch.gt, "MatMul": torch.matmul, "Identity": lambda x: x,
        "Gelu": lambda x, approximate="none": F.gelu(x, approximate=approximate),
        "Softmax": lambda x, axis=-1: F.softmax(x, axis), "LogSoftmax": lambda x, axis=-1: F.log_softmax(x, axis),
        "Cast": lambda x, to: x.to(kinds[to]), "Gemm": gemm, "Conv": conv, "MaxPool": max_pool, "Linear": F.linear,
        "LayerNormalization": lambda x, g, b, axis=-1, epsilon=1e-5: F.layer_norm(x, x.shape[-1:], g, b, epsilon),
        "GlobalAveragePool": lambda x: F.adaptive_avg_pool2d(x, 1), "Flatten": lambda x, axis=1: x.flatten(axis),
        "Reshape": lambda x, shape: x.reshape(ints(shape)), "Split": lambda x, sizes, axis=0: x.split(ints(sizes), axis),
        "Transpose": lambda x, perm: x.permute(perm), "Unsqueeze": unsqueeze, "Gather": gather,
        "Concat": lambda *x, axis: torch.cat(x, axis), "ReduceSum": reduce_sum,
        "ReduceMax": lambda x, axes=None, keepdims=1: x.amax(axes_of(axes), keepdim=bool(keepdims)),
    }

def linear_layers(steps, known):
    """MatMul by a constant and the addition of a constant after it, as nn.Linear would be called; weights are turned for it."""
    users = {}
    for _, ins, _, _ in steps:
        for i in ins:
            users[i] = users.get(i, 0) + 1
    made = {outs[0]: (kind, ins) for kind, ins, outs, _ in steps}
    def is_linear(a, b):
        kind, ins = made.get(a, ("", []))
        return (kind == "MatMul" and users[a] == 1 and ins[1] in known and known[ins[1]].ndim == 2
                and b in known and known[b].ndim == 1)
    taken, result = set(), []
    for kind, ins, outs, attrs in steps:
        if kind == "Add" and (is_linear(*ins) or is_linear(*ins[::-1])):
            a, b = ins if is_linear(*ins) else ins[::-1]
            x, w = made[a][1]
            known[w + ".t"] = known[w].T.copy()
            taken.add(a)
            result.append(("Linear", [x, w + ".t", b], outs, {}))
        else:
            result.append((kind, ins, outs, attrs))
    return [s for s in result if s[2][0] not in taken]

def torch_module(s):
    """The steps as a torch.fx module, whose code is one Python call an operator; float constants are its frozen parameters."""
    import operator, torch
    table, known = torch_table(), dict(s.known)
    steps, root, g, at = linear_layers(s.steps, known), torch.nn.Module(), torch.fx.Graph(), {}
    for name in s.feeds:
        at[name] = g.placeholder("in_" + name)
    def value(name):
        if not name:
            return None
        if name not in at and (known[name].dtype.kind != "f" or name in scalars):
            return known[name].tolist()
        if name not in at:
            slot = "p%d" % len(at)
            root.register_parameter(slot, torch.nn.Parameter(torch.from_numpy(known[name].copy()), requires_grad=False))
            at[name] = g.get_attr(slot)
        return at[name]
    scalars = {k for k, v in known.items() if v.ndim == 0}
    for kind, ins, outs, attrs in steps:
        args = tuple(value(i) for i in ins)
        if kind == "Equal":                                       # its classes are a tensor of integers
            args = (args[0], g.call_function(torch.tensor, (args[1],)))
        node = g.call_function(table[kind], args, attrs)
        at.update({o: g.call_function(operator.getitem, (node, k)) for k, o in enumerate(outs)} if len(outs) > 1 else {outs[0]: node})
    g.output(tuple(at[o] for o in s.outs))
    return torch.fx.GraphModule(root, g).eval()

# ---- JAX
def jax_table():
    import jax, jax.numpy as jnp
    from jax import lax

    def conv(x, w, b=None, group=1, **attrs):
        strides, pads, dilations = padding(attrs, 2)
        y = lax.conv_general_dilated(x, w, strides, [(pads[0], pads[2]), (pads[1], pads[3])], rhs_dilation=dilations,
                                     dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=group)
        return y if b is None else y + b[:, None, None]

    def max_pool(x, kernel_shape, **attrs):
        strides, pads, _ = padding(attrs, 2)
        around = [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])]
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, *kernel_shape), (1, 1, *strides), around)

    def layer_norm(x, g, b, axis=-1, epsilon=1e-5):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + epsilon) * g + b

    def gemm(a, b, c=None, transA=0, transB=0, alpha=1.0, beta=1.0):
        y = (a.T if transA else a) @ (b.T if transB else b)
        return y if c is None else y + c

    def split(x, sizes, axis=0):
        at = ints(sizes)
        return jnp.split(x, [sum(at[:k]) for k in range(1, len(at))], axis)

    return {
        "Add": jnp.add, "Sub": jnp.subtract, "Mul": jnp.multiply, "Div": jnp.divide, "Tanh": jnp.tanh, "Exp": jnp.exp,
        "Sqrt": jnp.sqrt, "Relu": jax.nn.relu, "Clip": jnp.clip, "Equal": jnp.equal, "Greater": jnp.greater,
        "MatMul": jnp.matmul, "Identity": lambda x: x, "Gemm": gemm, "Conv": conv, "MaxPool": max_pool, "Split": split,
        "Gelu": lambda x, approximate="none": jax.nn.gelu(x, approximate=approximate == "tanh"),
        "Softmax": lambda x, axis=-1: jax.nn.softmax(x, axis), "LogSoftmax": lambda x, axis=-1: jax.nn.log_softmax(x, axis),
        "Cast": lambda x, to: x.astype(jnp.float32), "LayerNormalization": layer_norm,
        "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True), "Flatten": lambda x, axis=1: x.reshape(x.shape[0], -1),
        "Reshape": lambda x, shape: x.reshape(ints(shape)), "Transpose": lambda x, perm: x.transpose(perm),
        "Unsqueeze": lambda x, axes: jnp.expand_dims(x, axes_of(axes)), "Concat": lambda *x, axis: jnp.concatenate(x, axis),
        "Gather": lambda x, i, axis=0: jnp.take(x, i, axis),
        "ReduceSum": lambda x, axes=None, keepdims=1: x.sum(axes_of(axes), keepdims=bool(keepdims)),
        "ReduceMax": lambda x, axes=None, keepdims=1: x.max(axes_of(axes), keepdims=bool(keepdims)),
    }
