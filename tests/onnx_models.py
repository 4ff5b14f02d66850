#!/usr/bin/env python3
"""Small ONNX models for onnx.bats, right and wrong ones, into the current folder.  The wire format is written by hand, so
that no package is needed and a model can be as wrong as it likes."""
import os, struct

from npy import save as npy

# ---- protobuf
def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out

def num(field, v): return varint(field << 3) + varint(v)
def msg(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
def txt(field, s): return msg(field, s.encode())

# ---- ONNX
FLOAT, INT64, BOOL = 1, 7, 9

def attr(name, v):
    if isinstance(v, bytes):                                     # a graph
        return msg(5, txt(1, name) + msg(6, v) + num(20, 5))
    if isinstance(v, float):
        return msg(5, txt(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))
    if isinstance(v, int):
        return msg(5, txt(1, name) + num(3, v) + num(20, 2))
    if isinstance(v, tuple):                                     # a text
        return msg(5, txt(1, name) + txt(4, v[0]) + num(20, 3))
    if isinstance(v, str):                                       # a function's attribute
        return msg(5, txt(1, name) + txt(21, v) + num(20, 1))
    return msg(5, txt(1, name) + b"".join(num(8, i) for i in v) + num(20, 7))

def node(op, ins, outs, name="", domain="", **attrs):
    return msg(1, b"".join(txt(1, i) for i in ins) + b"".join(txt(2, o) for o in outs) + txt(3, name) + txt(4, op)
               + txt(7, domain) + b"".join(attr(k, v) for k, v in attrs.items()))

def body_of(n):                                                   # a node without its own tag and length
    k = 1
    while n[k] > 127:
        k += 1
    return n[k + 1:]

def value(field, name, shape, elem=FLOAT):
    dims = b"".join(msg(1, b"" if d is None else txt(2, d) if isinstance(d, str) else num(1, d)) for d in shape)
    return msg(field, txt(1, name) + msg(2, msg(1, num(1, elem) + msg(2, dims))))

def tensor(name, dims, elem=FLOAT, raw=None, floats=None, external=None):
    t = b"".join(num(1, d) for d in dims) + num(2, elem) + txt(8, name)
    if raw is not None:
        t += msg(9, raw)
    if floats is not None:
        t += msg(4, struct.pack("<%df" % len(floats), *floats))
    if external is not None:
        t += num(14, 1) + b"".join(msg(13, txt(1, k) + txt(2, str(v))) for k, v in external.items())
    return msg(5, t)

def graph(nodes, ins=b"", outs=b"", weights=b""):
    return b"".join(nodes) + txt(2, "g") + weights + ins + outs

def function(name, ins, outs, nodes, attrs=()):
    return msg(25, txt(1, name) + txt(10, "own") + b"".join(txt(4, i) for i in ins) + b"".join(txt(5, o) for o in outs)
               + b"".join(txt(6, a) for a in attrs) + b"".join(msg(7, body_of(n)) for n in nodes)
               + msg(9, num(2, 17)) + msg(9, txt(1, "own") + num(2, 1)))

def save(file, g, opset=17, functions=b""):
    with open(file + ".onnx", "wb") as f:
        f.write(num(1, 8) + msg(8, num(2, opset)) + msg(8, txt(1, "own") + num(2, 1)) + msg(7, g) + functions)

X, Y = value(11, "x", [4]), value(12, "y", [4])
def simple(file, weights, **kw): save(file, graph([node("Add", ["x", "w"], ["y"])], X, Y, weights), **kw)

# ---- right ones
floats = [1.0, 2.0, 3.0, 4.0]
four = struct.pack("<4f", *floats)
many = struct.pack("<1000f", *range(1000))
npy("x.npy", "<f4", [4], struct.pack("<4f", -1, 1, -2, 2))
npy("x1000.npy", "<f4", [1000], many)
npy("x235.npy", "<f4", [2, 3, 5], struct.pack("<30f", *range(30)))
npy("axis1.npy", "<i8", [1], struct.pack("<q", 1))
npy("axis2.npy", "<i8", [1], struct.pack("<q", 2))
npy("true.npy", "|b1", [], b"\1")
simple("raw", tensor("w", [4], raw=four))
simple("typed", tensor("w", [4], floats=floats))
with open("weights.bin", "wb") as f:
    f.write(b"\0" * 12 + four)
simple("external", tensor("w", [4], external={"location": "weights.bin", "offset": 12, "length": 16}))
save("in_place", graph([node("Add", ["x", "w"], ["y"])], value(11, "x", [1000]), value(12, "y", [1000]),
                       tensor("w", [1000], raw=many)))
save("names", graph([node("Neg", ["/a/x=1"], ["/a/y.out"], name="/a/Neg")], value(11, "/a/x=1", [4]), value(12, "/a/y.out", [4])))
save("sizes", graph([node("Shape", ["x"], ["s"]), node("Constant", [], ["i"], value_ints=[0]), node("Gather", ["s", "i"], ["b"]),
                     node("Constant", [], ["m"], value_ints=[-1]), node("Concat", ["b", "m"], ["t"], axis=0),
                     node("Reshape", ["x", "t"], ["y"])], value(11, "x", ["batch", 3, "seq len"]), value(12, "y", [None, None])))
save("axes", graph([node("ReduceSum", ["x", "a"], ["y"], name="sum", keepdims=0)],
                   value(11, "x", [2, 3, 5]) + value(11, "a", [1], INT64), value(12, "y", [None, None])))
save("function", graph([node("Leak", ["x"], ["y"], domain="own", slope=0.5)], X, Y),
     functions=function("Leak", ["a"], ["b"], [node("LeakyRelu", ["a"], ["b"], alpha="slope")], ["slope"]))
def branch(op): return graph([node(op, ["x"], ["z"])], b"", value(12, "z", [4]))
save("if", graph([node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs"))],
                 X + value(11, "c", [], BOOL), Y))
body = graph([node("Add", ["v", "v"], ["w"]), node("Identity", ["go"], ["on"])],
             value(11, "i", [], INT64) + value(11, "go", [], BOOL) + value(11, "v", [4]),
             value(12, "on", [], BOOL) + value(12, "w", [4]))
save("loop", graph([node("Constant", [], ["n"], value_int=3), node("Loop", ["n", "", "x"], ["y"], body=body)], X, Y))
def wave(name, *dims):                                           # numbers between -1/4 and 1/4
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims, raw=struct.pack("<%df" % n, *[(k * 37 % 101 - 50) / 200 for k in range(n)]))
def cell(file, op, gates, ways=1, **attrs):
    save(file, graph([node(op, ["x", "w", "r", "b"], ["y", "last"], name="cell", hidden_size=32, **attrs)],
                     value(11, "x", ["t", "n", 8]), value(12, "y", [None] * 4) + value(12, "last", [None] * 3),
                     wave("w", ways, gates * 32, 8) + wave("r", ways, gates * 32, 32) + wave("b", ways, 2 * gates * 32)))
cell("rnn", "RNN", 1)
cell("lstm", "LSTM", 4)
cell("lstm_both", "LSTM", 4, 2, direction=("bidirectional",))
cell("gru", "GRU", 3)
cell("gru_linear", "GRU", 3, linear_before_reset=1)
more = graph([node("Add", ["v", "x"], ["w"]), node("Identity", ["go"], ["on"])],
             value(11, "i", [], INT64) + value(11, "go", [], BOOL) + value(11, "v", [4]),
             value(12, "on", [], BOOL) + value(12, "w", [4]))
save("kept_loop", graph([node("Loop", ["n", "", "h"], ["hn"], body=more), node("Neg", ["h"], ["y"])],
                        X + value(11, "n", [], INT64) + value(11, "h", [4]), Y + value(12, "hn", [4])))
save("old", graph([node("Neg", ["x"], ["y"])], X + value(11, "w", [4]), Y, tensor("w", [4], raw=four)), opset=9)
save("sums", graph([node("Concat", ["p", "q"], ["c"], axis=0), node("Mul", ["c", "m"], ["y"])],
                   value(11, "m", ["past + seq"]) + value(11, "p", ["past"]) + value(11, "q", ["seq"]), value(12, "y", [None])))
save("agree", graph([node("Add", ["x", "m"], ["y"])], value(11, "x", [4]) + value(11, "m", ["other"]), value(12, "y", [None])))
npy("x3.npy", "<f4", [3], struct.pack("<3f", 5, 6, 7))
npy("x7.npy", "<f4", [7], struct.pack("<7f", *[1] * 7))
os.mkdir("s.seq")
npy("s.seq/0.npy", "<f4", [4], four)
npy("s.seq/1.npy", "<f4", [3], struct.pack("<3f", 5, 6, 7))
sequence = msg(11, txt(1, "s") + msg(2, msg(4, msg(1, msg(1, num(1, FLOAT))))))
mapped = graph([node("Neg", ["a"], ["b"])], value(11, "a", [None]), value(12, "b", [None]))
save("sequence", graph([node("SequenceMap", ["s"], ["y"], body=mapped)], sequence, value(12, "y", [None])))
save("pair", graph([node("Neg", ["a"], ["less"]), node("MatMul", ["a", "b"], ["c"]), node("Add", ["c", "w"], ["sum.1"])],
                   value(11, "a", ["n", "k"]) + value(11, "b", ["k", 4]), value(12, "less", ["n", "k"]) + value(12, "sum.1", ["n", 4]),
                   tensor("w", [4], raw=four)))
save("found", graph([node("NonZero", ["x"], ["at"]), node("Squeeze", ["at"], ["i"]), node("Gather", ["x", "i"], ["v"]),
                     node("Shape", ["v"], ["n"]), node("ReduceSum", ["v"], ["total"], keepdims=0)], value(11, "x", ["len"]),
                    value(12, "v", [None]) + value(12, "n", [1], INT64) + value(12, "total", [])))
save("stream", graph([node("Add", ["x", "/h"], ["s"]), node("Tanh", ["s"], ["/h.next"]), node("Add", ["/h", "x"], ["y"]),
                      node("Constant", [], ["one"], value_int=1), node("Add", ["k", "one"], ["k.next"])],
                     value(11, "x", [4]) + value(11, "/h", ["batch", 4]) + value(11, "k", [], INT64),
                     value(12, "y", [None, 4]) + value(12, "/h.next", [None, 4]) + value(12, "k.next", [], INT64)))
save("square", graph([node("Det", ["x"], ["y"], name="det")], value(11, "x", ["n", "n"]), value(12, "y", [])))
save("of_data", graph([node("ReduceMax", ["x"], ["m"], keepdims=1), node("Cast", ["m"], ["k"], to=INT64),
                       node("ReduceSum", ["v", "k"], ["y"], name="sum")],
                      value(11, "x", ["n"]) + value(11, "v", [4]), value(12, "y", [None])))
save("tiled", graph([node("ReduceMax", ["x"], ["m"], keepdims=1), node("Cast", ["m"], ["k"], to=INT64),
                     node("Tile", ["v", "k"], ["y"], name="tile"), node("NonZero", ["x"], ["at"]), node("Squeeze", ["at"], ["i"]),
                     node("Gather", ["x", "i"], ["g"]), node("Add", ["g", "y"], ["z"])],
                    value(11, "x", ["n"]) + value(11, "v", [2]), value(12, "y", [None]) + value(12, "z", [None])))

# ---- one program for every size
def ints(name, *v, rank=1): return tensor(name, [len(v)] if rank else [], INT64, struct.pack("<%dq" % len(v), *v))
def scalars(**v): return b"".join(ints(k, n, rank=0) if isinstance(n, int) else tensor(k, [], floats=[n]) for k, n in v.items())
N2 = value(11, "x", ["n", 2])
def out(rank, elem=FLOAT): return value(12, "y", [None] * rank, elem)
def cut(file, start, end, step=1):                               # x[start:end:step]
    save(file, graph([node("Slice", ["x", "a", "b", "c", "s"], ["y"])], N2, out(2),
                     ints("a", start) + ints("b", end) + ints("c", 0) + ints("s", step)))
cut("cut_far", 1, 2147483647)
cut("cut_billion", 1, 1000000000)
cut("cut_first", 0, 4)
cut("cut_last", -4, 1 << 40)
cut("cut_middle", 2, 4)
cut("cut_back", 5, 1, -2)
N0 = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0)]
def sized(file, nodes, **v):                                     # ones [q], where nodes compute q from n
    save(file, graph(N0 + nodes + [node("Unsqueeze", ["q", "first"], ["e"]), node("Expand", ["one", "e"], ["y"])], N2, out(1),
                     scalars(zero=0, one=1.0, **v) + ints("first", 0)))
sized("size_div", [node("Sub", ["n", "three"], ["m"]), node("Div", ["m", "four"], ["d"]), node("Max", ["d", "zero"], ["q"])], three=3, four=4)
sized("size_max", [node("Sub", ["n", "five"], ["m"]), node("Max", ["m", "zero"], ["q"])], five=5)
sized("size_where", [node("Equal", ["n", "three"], ["c"]), node("Where", ["c", "seven", "n"], ["q"])], three=3, seven=7)
sized("size_pad", [node("Mod", ["n", "four"], ["r"]), node("Sub", ["four", "r"], ["l"]), node("Mod", ["l", "four"], ["p"]),
                   node("Add", ["p", "n"], ["q"])], four=4)
sized("size_floor", [node("Cast", ["n"], ["f"], to=1), node("Mul", ["f", "scale"], ["g"]), node("Floor", ["g"], ["h"]),
                     node("Cast", ["h"], ["q"], to=7)], scale=0.7)
save("size_range", graph(N0 + [node("Cast", ["n"], ["f"], to=1), node("Div", ["f", "two"], ["h"]), node("Ceil", ["h"], ["k"]),
                               node("Cast", ["k"], ["q"], to=7), node("Range", ["zero", "q", "by"], ["y"])], N2, out(1, INT64),
                         scalars(zero=0, two=2.0, by=1)))
IMAGE = value(11, "x", [1, 1, "h", "w"])
save("pool_ceil", graph([node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)], IMAGE, out(4)))
save("mean_ceil", graph([node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1)],
                        IMAGE, out(4)))
save("pool_same", graph([node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], auto_pad=("SAME_UPPER",))], IMAGE, out(4)))
save("resize_floor", graph([node("Resize", ["x", "", "by"], ["y"])], IMAGE, out(4), tensor("by", [4], floats=[1, 1, 1.5, 0.75])))
save("unknown", graph([node("Add", ["x", "z"], ["y"])], value(11, "x", ["?", "?"]) + value(11, "z", ["?", "?"]), out(2)))
save("alike", graph([node("Add", ["x", "z"], ["y"])], value(11, "x", ["N", "N"]) + value(11, "z", ["N", "N"]), out(2)))
save("cache", graph([node("Concat", ["p", "x"], ["y"], axis=0)], N2 + value(11, "p", ["past", 2]), out(2)))
save("branch", graph(N0 + [node("Equal", ["n", "one"], ["c"]),
                           node("If", ["c"], ["y"], then_branch=graph([node("Squeeze", ["x", "first"], ["z"])], b"", value(12, "z", [2])),
                                else_branch=graph([node("Neg", ["x"], ["z"])], b"", value(12, "z", ["n", 2])))], N2, out(2),
                     scalars(zero=0, one=1) + ints("first", 0)))
save("ranks", graph(N0 + [node("Equal", ["n", "one"], ["c"]),
                          node("If", ["c"], ["v"], then_branch=graph([node("Squeeze", ["x", "first"], ["z"])], b"", value(12, "z", [2])),
                               else_branch=graph([node("Identity", ["x"], ["z"])], b"", value(12, "z", ["n", 2]))),
                          node("Transpose", ["v"], ["w"], perm=[0]), node("Neg", ["w"], ["y"])], N2, out(1),
                    scalars(zero=0, one=1) + ints("first", 0)))
for n in (0, 1, 3, 4, 6, 9):
    npy("n%d.npy" % n, "<f4", [n, 2], struct.pack("<%df" % (2 * n), *range(2 * n)))
for h, w in ((5, 5), (6, 9)):
    npy("h%d.npy" % h, "<f4", [1, 1, h, w], struct.pack("<%df" % (h * w), *range(h * w)))
# three gigabytes that are not there: only its size counts
with open("sparse.bin", "wb") as f:
    f.truncate(3 << 30)
save("large", graph([node("Gather", ["w", "i"], ["y"], axis=0)], value(11, "i", [2], INT64), value(12, "y", [2, 1 << 18]),
                    tensor("w", [3 << 10, 1 << 18], external={"location": "sparse.bin"})))

# ---- wrong ones: w_STATUS_what
with open("raw.onnx", "rb") as f:
    whole = f.read()
for k in (1, 9, len(whole) // 2, len(whole) - 1):
    with open("w_4_cut%d.onnx" % k, "wb") as f:
        f.write(whole[:k])
simple("w_4_short", tensor("w", [4], raw=four[:8]))
simple("w_4_negative", tensor("w", [-4], raw=four))
simple("w_4_overflow", tensor("w", [1 << 33, 1 << 33], raw=four))
simple("w_4_large", tensor("w", [1 << 61], raw=four))
simple("w_4_type", tensor("w", [4], elem=99, raw=four))
simple("w_4_string", tensor("w", [4], elem=8))
simple("w_3_rank", tensor("w", [1] * 17, raw=four[:4]))
os.symlink("/etc/passwd", "link.bin")
os.mkfifo("fifo")
for what, where in (("absolute", {"location": "/etc/passwd"}), ("parent", {"location": "a/../../x"}), ("folder", {"location": "."}),
                    ("link", {"location": "link.bin"}), ("fifo", {"location": "fifo"}), ("none", {}),
                    ("beyond", {"location": "weights.bin", "offset": 20}), ("far", {"location": "weights.bin", "offset": 1 << 62}),
                    ("minus", {"location": "weights.bin", "offset": -4})):
    simple("w_4_external_" + what, tensor("w", [4], external=where))
simple("w_1_external_lost", tensor("w", [4], external={"location": "lost.bin"}))
save("w_4_cycle", graph([node("Neg", ["b"], ["a"]), node("Neg", ["a"], ["y"])], X, Y))
save("w_4_self", graph([node("Neg", ["y"], ["y"])], X, Y))
save("w_4_twice", graph([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])], X, Y))
save("w_4_no_output", graph([node("Neg", ["x"], ["z"])], X, Y))
save("w_4_no_operator", graph([node("", ["x"], ["y"])], X, Y))
save("w_4_no_domain", graph([node("Neg", ["x"], ["y"], domain="lost")], X, Y))
save("w_4_axis", graph([node("Softmax", ["x"], ["y"], axis=7)], X, Y))
save("w_4_shapes", graph([node("Add", ["x", "w"], ["y"])], X, Y, tensor("w", [3], raw=four[:12])))
save("w_4_shape_of", graph([node("ConstantOfShape", ["s"], ["y"])], X, Y, tensor("s", [2], INT64, struct.pack("<2q", 1 << 40, 1 << 40))))
save("w_3_missing", graph([node("Foo", ["x"], ["a"], name="first"), node("Bar", ["a"], ["y"], name="second")], X, Y))
save("w_3_future", graph([node("Neg", ["x"], ["y"])], X, Y), opset=99)
save("endless", graph([node("Constant", [], ["c"], value_int=1), node("Cast", ["c"], ["go"], to=BOOL),
                           node("Loop", ["", "go", "x"], ["y"], body=body)], X, Y))
save("w_4_recursion", graph([node("F", ["x"], ["y"], domain="own")], X, Y),
     functions=function("F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="own")]))
chain = b"".join(function("F%d" % i, ["a"], ["b"], [node("F%d" % (i + 1), ["a"], ["c"], domain="own"),
                                                     node("F%d" % (i + 1), ["c"], ["b"], domain="own")]) for i in range(40))
save("w_4_doubling", graph([node("F0", ["x"], ["y"], domain="own")], X, Y),
     functions=chain + function("F40", ["a"], ["b"], [node("Neg", ["a"], ["b"])]))
deep = b"".join(function("F%d" % i, ["a"], ["b"], [node("F%d" % (i + 1), ["a"], ["b"], domain="own")]) for i in range(200))
save("w_4_deep_functions", graph([node("F0", ["x"], ["y"], domain="own")], X, Y),
     functions=deep + function("F200", ["a"], ["b"], [node("Neg", ["a"], ["b"])]))
inner = graph([node("Neg", ["x"], ["z"])], b"", value(12, "z", [4]))
for i in range(300):
    inner = graph([node("If", ["c"], ["z"], then_branch=inner, else_branch=inner if i < 1 else branch("Abs"))], b"", value(12, "z", [4]))
save("w_4_deep_graphs", graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=branch("Abs"))], X + value(11, "c", [], BOOL), Y))
with open("w_4_empty_nodes.onnx", "wb") as f:
    f.write(msg(8, num(2, 17)) + msg(7, b"\x0a\0" * 2000000))
with open("w_4_claims.onnx", "wb") as f:
    f.write(varint(7 << 3 | 2) + varint(1 << 40))
with open("w_4_no_graph.onnx", "wb") as f:
    f.write(msg(8, num(2, 17)))
open("w_4_empty.onnx", "wb").close()
