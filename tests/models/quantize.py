"""quantize.py: a float model that make.py wrote as a static quantizer leaves it: QuantizeLinear and DequantizeLinear
around what it quantizes, weights in int8 by channel, biases in int32, activations in uint8 or int8 with scales from the
values that ONNX Runtime finds on a few drawn inputs."""
import numpy as np
import onnx
from onnx import helper as h, numpy_helper

WEIGHTED = ("Conv", "Gemm")
QUANTIZED = WEIGHTED + ("Add", "MaxPool", "GlobalAveragePool", "Flatten")

def ranges(model, feeds):
    """Least and greatest value of every float that a node computes, 0 among them."""
    import onnxruntime as ort
    m = onnx.ModelProto()
    m.CopyFrom(model)
    names = [o for n in m.graph.node if n.op_type in QUANTIZED + ("Relu",) for o in n.output]
    have = {o.name for o in m.graph.output}
    m.graph.output.extend(h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in names if n not in have)
    s = ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
    outs = [o.name for o in s.get_outputs()]
    got = dict(zip(outs, s.run(None, feeds)))
    got.update(feeds)
    return {k: (min(0.0, float(v.min())), max(0.0, float(v.max()))) for k, v in got.items()}

class Quantizer:
    def __init__(self, graph, found, signed):
        self.graph, self.found, self.signed = graph, found, signed
        self.weights = {w.name: numpy_helper.to_array(w) for w in graph.initializer}
        self.nodes, self.made, self.pairs, self.scales = [], [], {}, {}

    def keep(self, name, a):
        self.made.append(numpy_helper.from_array(np.array(a, order="C"), name))
        return name

    def activation(self, name):
        """The dequantized form of a value, its pair written where it is first wanted."""
        if name not in self.pairs:
            lo, hi = self.found[name]
            scale = np.float32((hi - lo) / 255)
            zero = int(np.round(-lo / scale)) - (128 if self.signed else 0)
            args = [self.keep(name + "_scale", scale),
                    self.keep(name + "_zero_point", np.array(zero, np.int8 if self.signed else np.uint8))]
            self.scales[name] = scale
            q, d = name + "_QuantizeLinear_Output", name + "_DequantizeLinear_Output"
            self.nodes.append(h.make_node("QuantizeLinear", [name] + args, [q], name=name + "_QuantizeLinear"))
            self.nodes.append(h.make_node("DequantizeLinear", [q] + args, [d], name=name + "_DequantizeLinear"))
            self.pairs[name] = d
        return self.pairs[name]

    def dequantized(self, name, codes, scale, axis):
        args = [self.keep(name + "_quantized", codes), self.keep(name + "_scale", scale),
                self.keep(name + "_zero_point", np.zeros(scale.shape, codes.dtype))]
        out = name + "_DequantizeLinear_Output"
        self.nodes.append(h.make_node("DequantizeLinear", args, [out], name=name + "_DequantizeLinear", axis=axis))
        return out

    def weighted(self, node, ins):
        """Weights by the channel of the output, which is their first axis; the bias in the product's own steps."""
        x, name = node.input[0], node.input[1]
        w = self.weights.pop(name)
        scale = np.float32(np.abs(w).reshape(len(w), -1).max(1) / 127)
        codes = np.clip(np.round(w / scale.reshape([-1] + [1] * (w.ndim - 1))), -127, 127).astype(np.int8)
        ins[1] = self.dequantized(name, codes, scale, 0)
        if len(ins) > 2:
            b, steps = self.weights.pop(node.input[2]), scale * self.scales[x]
            ins[2] = self.dequantized(node.input[2], np.round(b / steps).astype(np.int32), steps, 0)

    def quantize(self):
        last = {o.name for o in self.graph.output}
        alias = {}                            # a clipped value that its quantization clips anyway
        users = {}
        for n in self.graph.node:
            for i in n.input:
                users.setdefault(i, []).append(n)
        for n in self.graph.node:
            clipped = len(n.output) == 1 and [u.op_type for u in users.get(n.output[0], [])] == ["Relu"]
            ins = [alias.get(i, i) for i in n.input]
            if n.op_type == "Relu" and n.input[0] in alias:
                continue
            if n.op_type in QUANTIZED:
                ins = [i if i in self.weights else self.activation(i) for i in ins]
                if n.op_type in WEIGHTED:
                    n.input[0] = alias.get(n.input[0], n.input[0])
                    self.weighted(n, ins)
            new = onnx.NodeProto()
            new.CopyFrom(n)
            del new.input[:]
            new.input.extend(ins)
            if n.op_type in QUANTIZED and clipped:
                after = users[n.output[0]][0].output[0]
                alias[n.output[0]] = new.output[0] = after
            elif n.op_type == "Identity" and n.output[0] in last:
                new.input[0] = self.activation(ins[0])
            self.nodes.append(new)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)
        del self.graph.initializer[:]
        self.graph.initializer.extend(self.made + [numpy_helper.from_array(a, k) for k, a in self.weights.items()])

def quantize(model, feeds, signed=False):
    """model with its graph quantized, in place."""
    Quantizer(model.graph, ranges(model, feeds), signed).quantize()
    model.producer_name = "onnx.quantize"
