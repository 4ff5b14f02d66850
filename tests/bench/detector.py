#!/usr/bin/env python3
"""Writes a detection network as ONNX, with weights drawn from a seed: convolutions with SiLU in CSP blocks, a pyramid of three
scales up and down, boxes decoded, and non-maximum suppression. What cold.sh measures as a model of many kernels:

    detector.py detector.onnx [--size 320] [--width 32] [--depth 3]        and detector.1.npz, an input for it
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    def __init__(self, seed):
        self.nodes, self.weights, self.n = [], [], 0
        self.random = np.random.default_rng(seed)

    def const(self, value):
        self.n += 1
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"c{self.n}"))
        return f"c{self.n}"

    def node(self, op, *inputs, **attributes):
        self.n += 1
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.n}"], **attributes))
        return f"v{self.n}"

    def conv(self, x, cin, cout, k=1, stride=1, act=True):
        w = self.random.standard_normal((cout, cin, k, k), np.float32) * np.float32(1.4 / np.sqrt(cin * k * k))
        b = self.random.standard_normal(cout, np.float32) * np.float32(0.1)
        y = self.node("Conv", x, self.const(w), self.const(b), strides=[stride] * 2, pads=[k // 2] * 4)
        return self.node("Mul", y, self.node("Sigmoid", y)) if act else y

    def csp(self, x, cin, cout, depth, residual=True):
        half = cout // 2
        a, b = self.conv(x, cin, half), self.conv(x, cin, half)
        for _ in range(depth):
            y = self.conv(self.conv(a, half, half), half, half, 3)
            a = self.node("Add", a, y) if residual else y
        return self.conv(self.node("Concat", a, b, axis=1), cout, cout)

    def up(self, x):
        scales = self.const(np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", x, "", scales, mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric")

    def pool(self, x, c):
        x = self.conv(x, c, c // 2)
        pools = [x]
        for _ in range(3):
            pools.append(self.node("MaxPool", pools[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
        return self.conv(self.node("Concat", *pools, axis=1), 2 * c, c)

    def decode(self, x, c, side, stride, classes, anchors):
        """[1, side·side·anchors, 4] boxes (y1 x1 y2 x2), and as many rows of scores."""
        at = self.conv(x, c, anchors * (5 + classes), act=False)
        at = self.node("Reshape", at, self.const(np.array([1, anchors, 5 + classes, side * side])))
        at = self.node("Reshape", self.node("Transpose", at, perm=[0, 1, 3, 2]),
                       self.const(np.array([1, anchors * side * side, 5 + classes])))
        at = self.node("Sigmoid", at)
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(1, -1, 2)
        grid = np.tile(grid.astype(np.float32), (1, anchors, 1))
        size = np.repeat(np.array([[1, 1], [2, 1], [1, 2]], np.float32)[:anchors] * 2 * stride, side * side, 0)[None]
        parts = self.node("Split", at, self.const(np.array([2, 2, 1, classes])), axis=2)
        self.nodes[-1].output[:] = outs = [f"{parts}_{i}" for i in range(4)]
        center = self.node("Mul", self.node("Add", outs[0], self.const(grid)), self.const(np.float32(stride)))
        half = self.node("Mul", outs[1], self.const(size))
        box = self.node("Concat", self.node("Sub", center, half), self.node("Add", center, half), axis=2)
        return box, self.node("Mul", outs[2], outs[3])


def build(size, width, depth, classes=20, anchors=3):
    n, w = Net(1), width
    x = n.conv("image", 3, w, 3, 2)
    x = n.csp(n.conv(x, w, 2 * w, 3, 2), 2 * w, 2 * w, depth)
    p3 = n.csp(n.conv(x, 2 * w, 4 * w, 3, 2), 4 * w, 4 * w, 2 * depth)
    p4 = n.csp(n.conv(p3, 4 * w, 8 * w, 3, 2), 8 * w, 8 * w, 3 * depth)
    p5 = n.pool(n.csp(n.conv(p4, 8 * w, 16 * w, 3, 2), 16 * w, 16 * w, depth), 16 * w)
    t5 = n.conv(p5, 16 * w, 8 * w)
    p4 = n.csp(n.node("Concat", n.up(t5), p4, axis=1), 16 * w, 8 * w, depth, False)
    t4 = n.conv(p4, 8 * w, 4 * w)
    p3 = n.csp(n.node("Concat", n.up(t4), p3, axis=1), 8 * w, 4 * w, depth, False)
    p4 = n.csp(n.node("Concat", n.conv(p3, 4 * w, 4 * w, 3, 2), t4, axis=1), 8 * w, 8 * w, depth, False)
    p5 = n.csp(n.node("Concat", n.conv(p4, 8 * w, 8 * w, 3, 2), t5, axis=1), 16 * w, 16 * w, depth, False)
    scales = [n.decode(p, c * w, size // s, s, classes, anchors) for p, c, s in ((p3, 4, 8), (p4, 8, 16), (p5, 16, 32))]
    boxes = n.node("Concat", *(b for b, _ in scales), axis=1)
    scores = n.node("Transpose", n.node("Concat", *(s for _, s in scales), axis=1), perm=[0, 2, 1])
    found = n.node("NonMaxSuppression", boxes, scores, n.const(np.array([50])), n.const(np.float32([0.5])),
                   n.const(np.float32([0.3])))
    outputs = [helper.make_tensor_value_info(boxes, TensorProto.FLOAT, None),
               helper.make_tensor_value_info(scores, TensorProto.FLOAT, None),
               helper.make_tensor_value_info(found, TensorProto.INT64, None)]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])
    graph = helper.make_graph(n.nodes, "detector", [image], outputs, n.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--size", type=int, default=320)
    p.add_argument("--width", type=int, default=32)
    p.add_argument("--depth", type=int, default=3)
    o = p.parse_args()
    onnx.save(build(o.size, o.width, o.depth), o.file)
    image = np.random.default_rng(2).random((1, 3, o.size, o.size), np.float32)
    np.savez(os.path.splitext(o.file)[0] + ".1.npz", image=image)


if __name__ == "__main__":
    main()
