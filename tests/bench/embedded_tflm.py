"""A network of embedded.py under TensorFlow Lite Micro's interpreter, as its package on PyPI has it for this machine: the
bytes of its arena, and what it computes.

    run(layers, weights, x) → (bytes of the arena, bytes of the model, y)"""
import os
import re
import sys
import tempfile

import numpy as np
from tflite_micro import runtime
from tflite_micro.tensorflow.lite.micro.compression import model_editor as m
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as s

ACTIVATION = {"relu": s.ActivationFunctionType.RELU, "identity": s.ActivationFunctionType.NONE}
F32 = s.TensorType.FLOAT32


def options(op, kind, **fields):
    o = getattr(s, kind + "T")()
    for name, value in fields.items():
        setattr(o, name, value)
    op._fb.builtinOptionsType = getattr(s.BuiltinOptions, kind)
    op._fb.builtinOptions = o


def dense(g, x, w, b, activation, flat):
    """w[n_in, n_out]; flat puts its rows into the order of x, which has channels last here"""
    y = g.add_tensor(shape=(1, w.shape[1]), dtype=F32)
    op = g.add_operator(opcode=s.BuiltinOperator.FULLY_CONNECTED, outputs=[y], inputs=[
        x, g.add_tensor(shape=w.T.shape, dtype=F32, data=np.ascontiguousarray(flat(w).T)),
        g.add_tensor(shape=b.shape, dtype=F32, data=b)])
    options(op, "FullyConnectedOptions", fusedActivationFunction=activation)
    return y


def conv(g, x, w, b, activation):
    y = g.add_tensor(shape=(1, x.shape[1], x.shape[2], w.shape[0]), dtype=F32)
    data = np.ascontiguousarray(w.transpose(0, 2, 3, 1))
    op = g.add_operator(opcode=s.BuiltinOperator.CONV_2D, outputs=[y], inputs=[
        x, g.add_tensor(shape=data.shape, dtype=F32, data=data), g.add_tensor(shape=b.shape, dtype=F32, data=b)])
    options(op, "Conv2DOptions", padding=s.Padding.SAME, strideW=1, strideH=1, dilationWFactor=1, dilationHFactor=1,
            fusedActivationFunction=activation)
    return y


def pool(g, x):
    y = g.add_tensor(shape=(1, x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=F32)
    op = g.add_operator(opcode=s.BuiltinOperator.MAX_POOL_2D, inputs=[x], outputs=[y])
    options(op, "Pool2DOptions", padding=s.Padding.VALID, strideW=2, strideH=2, filterWidth=2, filterHeight=2)
    return y


def model_of(layers, weights, shape):
    g = m.Subgraph()
    x = first = g.add_tensor(shape=shape, dtype=F32)
    for kind, *rest in layers:
        if kind == "pool":
            x = pool(g, x)
            continue
        w, b, activation = weights[rest[0]], weights[rest[1]], ACTIVATION[rest[2]]
        if kind == "conv":
            x = conv(g, x, w, b, activation)
        else:
            channels, place = (x.shape[3], x.shape[1] * x.shape[2]) if len(x.shape) == 4 else (1, w.shape[0])
            x = dense(g, x, w, b, activation,
                      lambda a: a.reshape(channels, place, -1).transpose(1, 0, 2).reshape(a.shape))
    g.inputs, g.outputs = [first], [x]
    return m.Model(subgraphs=[g]).build()


def printed(f):
    """what f() writes on standard error"""
    with tempfile.TemporaryFile() as to:
        kept = os.dup(2)
        os.dup2(to.fileno(), 2)
        f()
        os.dup2(kept, 2)
        to.seek(0)
        return to.read().decode()


def run(layers, weights, x):
    x = x.reshape((1, 8, 8, 1) if layers[0][0] == "conv" else (1, -1))
    model = bytes(model_of(layers, weights, x.shape))
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=1 << 20)
    interpreter.set_input(x, 0)
    interpreter.invoke()
    text = printed(interpreter.print_allocations)
    return int(re.search(r"Arena allocation total (\d+)", text)[1]), len(model), interpreter.get_output(0)
