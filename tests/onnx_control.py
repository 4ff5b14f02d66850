#!/usr/bin/env python3
"""Models of If, Loop, Scan and sequences whose lengths and branches are data, against ONNX Runtime: one program for
every feed, compiled, interpreted, and interpreted at each level.

    onnx_control.py BIN [WORD]              only the models whose name has WORD
    onnx_control.py BIN --save WORD FILE    writes that model

Prints what differs, then "N right, N wrong"; ends with 1 when something is wrong."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper

rng = np.random.default_rng(5)
models = {}


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i(*v):
    return np.array(v, np.int64)


def i0(v):
    return np.array(v, np.int64)


def value(name, dt=T.FLOAT, shape=None):
    return h.make_tensor_value_info(name, dt, shape)


def const(name, a):
    return numpy_helper.from_array(np.asarray(a), name)


def graph(name, nodes, ins, outs, consts=()):
    return h.make_graph([h.make_node(*n[:3], **(n[3] if len(n) > 3 else {})) for n in nodes], name, ins, outs, list(consts))


def add(name, nodes, ins, outs, feeds, consts=(), opset=17, fails=()):
    """fails: feeds that end with status 4"""
    g = graph(name, nodes, ins, outs, consts)
    m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    models[name] = (m, feeds, fails)


X = [value("x", T.FLOAT, ["n", 3])]


def one(name):
    return [value(name)]


# ---- If


def branches():
    c = value("c", T.BOOL, [])
    then = graph("t", [("Neg", ["x"], ["a"])], [], one("a"))
    other = graph("e", [("Add", ["x", "x"], ["b"])], [], one("b"))
    cases = [dict(x=f(n, 3), c=np.array(v)) for n in (2, 5) for v in (True, False)]
    add("if_data", [("If", ["c"], ["y"], dict(then_branch=then, else_branch=other))], [c] + X, one("y"), cases)
    longer = graph("e", [("Concat", ["x", "x"], ["b"], dict(axis=0))], [], one("b"))
    add("if_shapes", [("If", ["c"], ["z"], dict(then_branch=then, else_branch=longer)), ("Exp", ["z"], ["y"])], [c] + X,
        one("y"), cases)
    # each branch has a size of its own
    keep = graph("t", [("NonZero", ["x"], ["a"])], [], [value("a", T.INT64)])
    none = graph("e", [("Constant", [], ["b"], dict(value=const("", np.ones((2, 1), np.int64))))], [], [value("b", T.INT64)])
    add("if_found", [("If", ["c"], ["y"], dict(then_branch=keep, else_branch=none))], [c] + X, [value("y", T.INT64)],
        [dict(x=np.maximum(f(4, 3), 0), c=np.array(v)) for v in (True, False)])
    # a branch that never fits
    wrong = graph("e", [("MatMul", ["x", "x"], ["b"])], [], one("b"))
    add("if_wrong", [("If", ["c"], ["y"], dict(then_branch=then, else_branch=wrong))], [c] + X, one("y"),
        [dict(x=f(2, 3), c=np.array(True))], fails=[dict(x=f(2, 3), c=np.array(False))])
    # branches for one size each, of which one grows it
    wide = graph("t", [("Expand", ["x", "three"], ["a"])], [], one("a"))
    cut = graph("e", [("Slice", ["x", "zero1", "three1"], ["b"])], [], one("b"))
    add("if_size", [("Shape", ["x"], ["s"]), ("Gather", ["s", "zero"], ["k"]), ("Equal", ["k", "one"], ["c1"]),
                    ("If", ["c1"], ["y"], dict(then_branch=wide, else_branch=cut))], X, one("y"), [dict(x=f(n, 3)) for n in (1, 3, 5)],
        [const("three", i(3, 3)), const("zero", i0(0)), const("one", i0(1)), const("zero1", i(0)), const("three1", i(3))])
    flat = graph("t", [("Squeeze", ["x", "zero1"], ["a"])], [], one("a"))
    summed = graph("e", [("ReduceSum", ["x", "zero1"], ["b"], dict(keepdims=0))], [], one("b"))
    add("if_squeeze", [("If", ["c"], ["y"], dict(then_branch=flat, else_branch=summed))], [c] + X, one("y"),
        [dict(x=f(1, 3), c=np.array(True)), dict(x=f(1, 3), c=np.array(False)), dict(x=f(4, 3), c=np.array(False))],
        [const("zero1", i(0))], fails=[dict(x=f(4, 3), c=np.array(True))])
    # sizes that agree in the branch alone
    two = [value("p", T.FLOAT, ["n"]), value("q", T.FLOAT, ["m"])]
    total = graph("t", [("Add", ["p", "q"], ["a"])], [], one("a"))
    first = graph("e", [("Identity", ["p"], ["b"])], [], one("b"))
    add("if_agree", [("If", ["c"], ["y"], dict(then_branch=total, else_branch=first))], [c] + two, one("y"),
        [dict(p=f(4), q=f(4), c=np.array(True)), dict(p=f(4), q=f(6), c=np.array(False))],
        fails=[dict(p=f(4), q=f(6), c=np.array(True)), dict(p=f(6), q=f(4), c=np.array(True))])
    inner = graph("t", [("ReduceSum", ["x"], ["s"], dict(keepdims=0)), ("Less", ["s", "zero"], ["d"]),
                        ("If", ["d"], ["a"], dict(then_branch=then_named("Neg", "u"), else_branch=then_named("Abs", "v")))],
                  [], one("a"))
    add("if_nested", [("If", ["c"], ["y"], dict(then_branch=inner, else_branch=other))], [c] + X, one("y"), cases,
        [const("zero", np.float32(0))])
    lists = [graph(k, [(op, ["x"], [k + "p"]), ("SequenceConstruct", [k + "p", "x"], [k + "l"])], [],
                   [h.make_tensor_sequence_value_info(k + "l", T.FLOAT, None)]) for k, op in (("t", "Neg"), ("e", "Abs"))]
    add("if_list", [("If", ["c"], ["l"], dict(then_branch=lists[0], else_branch=lists[1])),
                    ("ConcatFromSequence", ["l"], ["y"], dict(axis=1))], [c] + X, one("y"), cases)


def then_named(op, name):
    return graph(name, [(op, ["x"], [name])], [], one(name))


# ---- Loop


def body(nodes, states, outs, consts=(), cond=None):
    """a Loop's body; its condition is that of the turn before, or a name"""
    ins = [value("i", T.INT64, []), value("go", T.BOOL, [])] + states
    nodes = nodes if cond else [("Identity", ["go"], ["on"])] + nodes
    return dict(body=graph("body", nodes, ins, [value(cond or "on", T.BOOL, [])] + outs, consts))


N = value("n", T.INT64, [])
SCALAR = value("s", T.FLOAT, [])


def loops():
    step = body([("Mul", ["h", "k"], ["g"]), ("Add", ["g", "x"], ["h2"]), ("ReduceSum", ["h2"], ["r"], dict(keepdims=0))],
                one("h"), [value("h2"), value("r")], [const("k", np.float32(0.5))])
    counts = [dict(n=i0(n), x=f(m, 3)) for n in (0, 1, 5, 40) for m in (1, 4)]
    add("loop_count", [("Loop", ["n", "", "x"], ["y", "z"], step)], [N] + X, [value("y"), value("z")], counts)
    add("loop_size", [("Shape", ["x"], ["s"]), ("Gather", ["s", "zero"], ["n"]), ("Loop", ["n", "", "x"], ["y", "z"], step)], X,
        [value("y"), value("z")], [dict(x=f(n, 3)) for n in (1, 2, 30)], [const("zero", i0(0))])
    add("loop_known", [("Loop", ["n", "", "x"], ["y", "z"], step)], X, [value("y"), value("z")],
        [dict(x=f(n, 3)) for n in (1, 4)], [const("n", np.int64(50))])
    ends = body([("Add", ["s", "x"], ["t"]), ("ReduceSum", ["t"], ["r"], dict(keepdims=0)), ("Less", ["r", "most"], ["on"])],
                one("s"), [value("t"), value("r")], cond="on")
    most = value("most", T.FLOAT, [])
    add("loop_while", [("Loop", ["", "yes", "x"], ["y", "z"], ends)], X + [most], [value("y"), value("z")],
        [dict(x=np.abs(f(n, 3)), most=np.array(m, np.float32)) for n in (1, 3) for m in (-1, 8, 90)], [const("yes", np.array(True))])
    add("loop_both", [("Less", ["k", "most"], ["yes"]), ("Loop", ["n", "yes", "x"], ["y", "z"], ends)], X + [N, most],
        [value("y"), value("z")], [dict(x=np.abs(f(2, 3)), most=np.array(m, np.float32), n=i0(n)) for n in (0, 3, 90) for m in (0, 50)],
        [const("k", np.float32(1))])
    # a list, a cache, one that doubles, one whose growth is data
    grows = body([("ReduceMean", ["c"], ["m"], dict(axes=[0], keepdims=1)), ("Add", ["m", "x"], ["row"]),
                  ("Concat", ["c", "row"], ["c2"], dict(axis=0))], one("c"), one("c2"))
    add("loop_cache", [("Loop", ["n", "", "c"], ["y"], grows)], [N, value("c", T.FLOAT, ["p", 3]), value("x", T.FLOAT, ["b", 3])],
        one("y"), [dict(n=i0(n), c=f(p, 3), x=f(b, 3)) for n, p, b in ((0, 2, 2), (3, 1, 1), (20, 4, 2))])
    doubles = body([("Concat", ["c", "c"], ["c2"], dict(axis=0))], one("c"), one("c2"))
    add("loop_doubles", [("Loop", ["n", "", "c"], ["y"], doubles)], [N, value("c", T.FLOAT, ["p"])], one("y"),
        [dict(n=i0(n), c=f(p)) for n, p in ((0, 3), (1, 2), (6, 3))])
    found = body([("Less", ["x", "x0"], ["m"]), ("Compress", ["x", "m"], ["some"], dict(axis=0)),
                  ("Concat", ["c", "some"], ["c2"], dict(axis=0)), ("ReduceSum", ["some"], ["x1"], dict(keepdims=0)),
                  ("Add", ["x0", "step"], ["x2"])], [value("c"), value("x0", T.FLOAT, [])],
                 [value("c2"), value("x2", T.FLOAT, [])], [const("step", np.float32(0.4))])
    add("loop_found", [("Loop", ["n", "", "c", "low"], ["y", "z"], found)], [N, value("x", T.FLOAT, ["m"])], [value("y"), value("z")],
        [dict(n=i0(n), x=f(m)) for n, m in ((0, 3), (4, 5), (9, 12))],
        [const("c", np.zeros(0, np.float32)), const("low", np.float32(-1))])
    # values of a shape that is data, the same in each turn
    some = body([("Cast", ["i"], ["k"], dict(to=T.FLOAT)), ("Add", ["x", "k"], ["xk"]), ("Less", ["k", "xk"], ["m"]), ("Compress", ["xk", "m"], ["some"]),
                 ("NonZero", ["some"], ["at"])], [], [value("some"), value("at", T.INT64)])
    add("loop_some", [("Loop", ["n", ""], ["y", "z"], some)], [N, value("x", T.FLOAT, ["m"])], [value("y"), value("z", T.INT64)],
        [dict(n=i0(n), x=np.array(v, np.float32)) for n, v in ((1, (1, -2)), (4, (-1, 2, 3)), (30, (4, 5, -6, -7)))])
    # one value from data before the loop, a nested loop, an If in it
    inner = body([("Add", ["u", "x"], ["v"])], one("u"), one("v"))
    inner["body"].input[0].name, inner["body"].input[1].name = "j", "go2"
    inner["body"].node[0].input[0], inner["body"].node[0].output[0] = "go2", "on2"
    inner["body"].output[0].name = "on2"
    nest = body([("Loop", ["i", "", "h"], ["w"], inner), ("ReduceSum", ["w"], ["r"], dict(keepdims=0)), ("Less", ["r", "zero"], ["neg"]),
                 ("If", ["neg"], ["h2"], dict(then_branch=graph("t", [("Neg", ["w"], ["ta"])], [], one("ta")),
                                              else_branch=graph("e", [("Mul", ["w", "half"], ["ea"])], [], one("ea"))))],
                one("h"), [value("h2"), value("r")], [const("zero", np.float32(0)), const("half", np.float32(0.5))])
    add("loop_nested", [("Loop", ["n", "", "x"], ["y", "z"], nest)], [N] + X, [value("y"), value("z")],
        [dict(n=i0(n), x=f(m, 3)) for n in (0, 1, 6) for m in (1, 3)])
    whole = graph("t", [("Loop", ["n", "", "x"], ["a", "az"], step)], [], one("a"))
    add("loop_in_if", [("If", ["c"], ["y"], dict(then_branch=whole, else_branch=then_named("Abs", "b")))],
        [N, value("c", T.BOOL, [])] + X, one("y"),
        [dict(n=i0(n), x=f(2, 3), c=np.array(v)) for n in (2, 20) for v in (True, False)])
    # a state that is handed on, one that only the next turn reads, the number of the turn
    more = body([("Cast", ["i"], ["k"], dict(to=T.FLOAT)), ("Add", ["last", "k"], ["new"]), ("Mul", ["new", "same"], ["out"])],
                [value("last"), value("same")], [value("new"), value("same"), value("out")])
    add("loop_handed", [("Loop", ["n", "", "x", "x"], ["y", "same2", "z"], more)], [N] + X,
        [value("y"), value("same2"), value("z")], [dict(n=i0(n), x=f(2, 3)) for n in (1, 3, 30)])
    # two sizes that have to be one, in the body alone
    add("loop_agree", [("Loop", ["n", "", "p"], ["y"], body([("Add", ["h", "q"], ["h2"])], one("h"), one("h2")))],
        [N, value("p", T.FLOAT, ["a"]), value("q", T.FLOAT, ["b"])], one("y"),
        [dict(n=i0(n), p=f(4), q=f(4)) for n in (0, 20)],
        fails=[dict(n=i0(20), p=f(4), q=f(6)), dict(n=i0(20), p=f(6), q=f(4))])


# ---- sequences


def lists():
    seq = h.make_tensor_sequence_value_info
    grows = body([("Mul", ["h", "k"], ["h2"]), ("SequenceInsert", ["l", "h2"], ["l2"])], [seq("l", T.FLOAT, None), value("h")],
                 [seq("l2", T.FLOAT, None), value("h2")], [const("k", np.float32(0.9))])
    feeds = [dict(n=i0(n), x=f(m, 3)) for n, m in ((1, 1), (3, 2), (40, 2))]
    for new in 0, 1:
        add(f"list_joined_{new}", [("SequenceEmpty", [], ["e"]), ("Loop", ["n", "", "e", "x"], ["l", "h"], grows),
                                   ("ConcatFromSequence", ["l"], ["y"], dict(axis=1, new_axis=new))], [N] + X, one("y"), feeds)
    add("list_begun", [("SequenceConstruct", ["x", "x"], ["e"]), ("Loop", ["n", "", "e", "x"], ["l", "h"], grows),
                       ("SequenceLength", ["l"], ["z"]), ("ConcatFromSequence", ["l"], ["y"], dict(axis=0))], [N] + X,
        [value("y"), value("z", T.INT64)], feeds + [dict(n=i0(0), x=f(2, 3))])
    # one that is read while it grows
    reads = body([("SequenceLength", ["l"], ["k"]), ("Sub", ["k", "one"], ["at"]), ("SequenceAt", ["l", "at"], ["a"]),
                  ("SequenceAt", ["l", "zero"], ["b"]), ("Sub", ["b", "a"], ["c"]), ("SequenceInsert", ["l", "c"], ["l2"])],
                 [seq("l", T.FLOAT, None)], [seq("l2", T.FLOAT, None)], [const("one", i0(1)), const("zero", i0(0))])
    add("list_read", [("SequenceConstruct", ["x"], ["e"]), ("Loop", ["n", "", "e"], ["l"], reads),
                      ("ConcatFromSequence", ["l"], ["y"], dict(axis=0, new_axis=1))], [N] + X, one("y"), feeds)
    over = body([("SequenceAt", ["parts", "i"], ["a"]), ("Add", ["h", "a"], ["h2"]), ("SequenceInsert", ["l", "h2"], ["l2"])],
                [value("h"), seq("l", T.FLOAT, None)], [value("h2"), seq("l2", T.FLOAT, None)])
    for keep in 0, 1:
        add(f"list_over_{keep}", [("SplitToSequence", ["x"], ["parts"], dict(axis=0, keepdims=keep)), ("SequenceLength", ["parts"], ["n"]),
                                  ("SequenceAt", ["parts", "zero"], ["first"]), ("SequenceEmpty", [], ["e"]),
                                  ("Loop", ["n", "", "first", "e"], ["h", "l"], over),
                                  ("ConcatFromSequence", ["l"], ["y"], dict(axis=0, new_axis=1 - keep))], X, one("y"),
            [dict(x=f(n, 3)) for n in (1, 2, 30)], [const("zero", i0(0))])
    add("list_unbind", [("SplitToSequence", ["x", "one"], ["parts"], dict(axis=1, keepdims=0)), ("SequenceAt", ["parts", "last"], ["y"])],
        [value("x", T.FLOAT, ["n", "m"])], one("y"), [dict(x=f(2, n)) for n in (1, 4)], [const("one", i0(1)), const("last", i0(-1))])
    add("list_split", [("SplitToSequence", ["x"], ["parts"], dict(axis=0)), ("SequenceAt", ["parts", "last"], ["a"]),
                       ("SequenceErase", ["parts", "zero"], ["rest"]), ("ConcatFromSequence", ["rest"], ["b"], dict(axis=0)),
                       ("SequenceInsert", ["rest", "a", "one"], ["more"]), ("ConcatFromSequence", ["more"], ["c"], dict(axis=0))], X,
        [value("a"), value("b"), value("c")], [dict(x=f(n, 3)) for n in (2, 3, 9)],
        [const("last", np.int64(-1)), const("zero", i0(0)), const("one", i0(1))])
    each = graph("each", [("Mul", ["a", "b"], ["ab"]), ("ReduceSum", ["ab"], ["r"], dict(keepdims=0))], [value("a"), value("b")],
                 [value("ab"), value("r")])
    add("list_map", [("SplitToSequence", ["x"], ["p"], dict(axis=0)), ("SplitToSequence", ["z"], ["q"], dict(axis=0)),
                     ("SequenceMap", ["p", "q"], ["l", "k"], dict(body=each)), ("ConcatFromSequence", ["l"], ["y"], dict(axis=1)),
                     ("ConcatFromSequence", ["k"], ["s"], dict(axis=0, new_axis=1))], X + [value("z", T.FLOAT, ["n", 3])], [value("y"), value("s")],
        [dict(x=f(n, 3), z=f(n, 3)) for n in (1, 4, 20)])
    # a known number of caches as a list
    pair = body([("SequenceAt", ["l", "zero"], ["a"]), ("SequenceAt", ["l", "one"], ["b"]), ("Concat", ["a", "x"], ["a2"], dict(axis=0)),
                 ("Add", ["b", "x"], ["b2"]), ("SequenceConstruct", ["a2", "b2"], ["l2"])], [seq("l", T.FLOAT, None)],
                [seq("l2", T.FLOAT, None)], [const("one", i0(1)), const("zero", i0(0))])
    add("list_of_two", [("SequenceConstruct", ["x", "x"], ["e"]), ("Loop", ["n", "", "e"], ["l"], pair),
                        ("ConcatFromSequence", ["l"], ["y"], dict(axis=0))], [N] + X, one("y"), feeds)


# ---- Scan


def scans():
    cell = graph("cell", [("Mul", ["h", "k"], ["g"]), ("Add", ["g", "a"], ["h2"]), ("Mul", ["h2", "b"], ["o"]), ("Tanh", ["h2"], ["p"])],
                 [value("h"), value("a"), value("b")], [value("h2"), value("o"), value("p")], [const("k", np.float32(0.7))])
    ins = [value("h", T.FLOAT, ["m"]), value("a", T.FLOAT, ["t", "m"]), value("b", T.FLOAT, ["m", "t"])]
    feeds = [dict(h=f(m), a=f(t, m), b=f(m, t)) for t, m in ((1, 2), (5, 3), (40, 2))]
    for flips in ([0, 0], [0, 0]), ([1, 0], [0, 1]):
        add(f"scan_{flips[0][0]}", [("Scan", ["h", "a", "b"], ["y", "o", "p"], dict(
            body=cell, num_scan_inputs=2, scan_input_axes=[0, 1], scan_input_directions=flips[0],
            scan_output_axes=[1, 0], scan_output_directions=flips[1]))], ins, [value("y"), value("o"), value("p")], feeds)
    old = graph("cell", [("Mul", ["h", "k"], ["g"]), ("Add", ["g", "a"], ["h2"]), ("Neg", ["h2"], ["o"])],
                [value("h", T.FLOAT, ["m"]), value("a", T.FLOAT, ["m"])], [value("h2", T.FLOAT, ["m"]), value("o", T.FLOAT, ["m"])],
                [const("k", np.float32(0.7))])
    add("scan_8", [("Scan", ["", "h", "a"], ["y", "o"], dict(body=old, num_scan_inputs=1, directions=[1]))],
        [value("h", T.FLOAT, ["b", "m"]), value("a", T.FLOAT, ["b", "t", "m"])], [value("y", T.FLOAT, ["b", "m"]), value("o", T.FLOAT, ["b", "t", "m"])],
        [dict(h=f(b, m), a=f(b, t, m)) for b, t, m in ((1, 1, 2), (2, 5, 3), (3, 20, 2))], opset=8)


# ---- greedy decoding: a cell with attention to its own past; the token that ends it is 0


def decoding():
    words, d = 11, 6
    weights = [const("emb", f(words, d) * 2), const("wq", f(d, d)), const("wk", f(d, d)), const("wv", f(d, d)), const("wo", f(d, words)),
               const("zero", i0(0)), const("one_at", i(1)), const("axes", i(0)), const("yes", np.array(True)),
               const("cache", np.zeros((0, d), np.float32)), const("first", i(3))]
    turn = body([("Gather", ["tokens", "last"], ["t"]), ("Gather", ["emb", "t"], ["e0"]), ("Add", ["e0", "x"], ["e"]),
                 ("MatMul", ["e", "wq"], ["q"]), ("MatMul", ["e", "wk"], ["k1"]), ("MatMul", ["e", "wv"], ["v1"]),
                 ("Unsqueeze", ["k1", "axes"], ["k2"]), ("Unsqueeze", ["v1", "axes"], ["v2"]),
                 ("Concat", ["ks", "k2"], ["ks2"], dict(axis=0)), ("Concat", ["vs", "v2"], ["vs2"], dict(axis=0)),
                 ("MatMul", ["ks2", "q"], ["score"]), ("Softmax", ["score"], ["p"], dict(axis=0)), ("MatMul", ["p", "vs2"], ["ctx"]),
                 ("Add", ["ctx", "e"], ["o"]), ("MatMul", ["o", "wo"], ["logits"]), ("ArgMax", ["logits"], ["next"], dict(axis=0, keepdims=1)),
                 ("Concat", ["tokens", "next"], ["tokens2"], dict(axis=0)), ("Squeeze", ["next"], ["nt"]), ("Equal", ["nt", "zero"], ["end"]),
                 ("Not", ["end"], ["on"])],
                [value("tokens", T.INT64), value("ks"), value("vs")],
                [value("tokens2", T.INT64), value("ks2"), value("vs2")], [const("last", np.int64(-1))], cond="on")
    add("decoding", [("Loop", ["most", "yes", "first", "cache", "cache"], ["y", "ky", "vy"], turn)],
        [value("most", T.INT64, []), value("x", T.FLOAT, [d])], [value("y", T.INT64), value("ky"), value("vy")],
        [dict(most=i0(n), x=f(d)) for n in (0, 1, 5, 30, 30, 30)], weights)


# ---- greedy translation: a GRU reads the source, each turn attends to it and gives a word for every sentence, as PyTorch
# exports a list of tokens with flags of what has ended


def translation():
    words, d = 13, 8
    weights = [const("emb", f(words, d)), const("wi", f(1, 3 * d, d)), const("wr", f(1, 3 * d, d)), const("wo", f(d, words) * 2),
               const("w2", f(2 * d, d)), const("axis0", i(0)), const("axis2", i(2)), const("start", i0(1)), const("end", i0(0)),
               const("first", i0(0)), const("no", np.array(False))]
    seq = h.make_tensor_sequence_value_info
    turn = body([("Gather", ["emb", "tok"], ["e"]), ("Concat", ["e", "h"], ["eh"], dict(axis=1)), ("MatMul", ["eh", "w2"], ["a1"]),
                 ("Tanh", ["a1"], ["h2"]), ("Unsqueeze", ["h2", "axis2"], ["q"]), ("MatMul", ["mem", "q"], ["s3"]),
                 ("Softmax", ["s3"], ["p"], dict(axis=1)), ("Mul", ["p", "mem"], ["pm"]), ("ReduceSum", ["pm", "axis1"], ["ctx"], dict(keepdims=0)),
                 ("Add", ["ctx", "h2"], ["o"]), ("MatMul", ["o", "wo"], ["logits"]), ("ArgMax", ["logits"], ["next"], dict(axis=1, keepdims=0)),
                 ("Equal", ["next", "end"], ["now"]), ("Or", ["done", "now"], ["done2"]), ("SequenceInsert", ["l", "next"], ["l2"]),
                 ("Cast", ["done2"], ["di"], dict(to=T.INT32)), ("ReduceMin", ["di"], ["all"], dict(keepdims=0)), ("Cast", ["all"], ["allb"], dict(to=T.BOOL)),
                 ("Not", ["allb"], ["on"])],
                [value("tok", T.INT64), value("h"), value("done", T.BOOL), seq("l", T.INT64, None)],
                [value("next", T.INT64), value("h2"), value("done2", T.BOOL), seq("l2", T.INT64, None)], [const("axis1", i(1))], cond="on")
    add("translation", [("Gather", ["emb", "src"], ["x"]), ("GRU", ["x", "wi", "wr"], ["ys", "last"], dict(hidden_size=d)),
                        ("Transpose", ["ys"], ["mem4"], dict(perm=[2, 0, 1, 3])), ("Squeeze", ["mem4", "axis2"], ["mem"]),
                        ("Squeeze", ["last", "axis0"], ["h0"]), ("Gather", ["src", "first"], ["w0"]), ("Mul", ["w0", "first"], ["z0"]),
                        ("Add", ["z0", "start"], ["t0"]), ("Less", ["t0", "first"], ["d0"]), ("SequenceEmpty", [], ["e0"], dict(dtype=T.INT64)),
                        ("Loop", ["most", "", "t0", "h0", "d0", "e0"], ["lt", "lh", "ld", "ll"], turn),
                        ("ConcatFromSequence", ["ll"], ["y"], dict(axis=1, new_axis=1))],
        [value("most", T.INT64, []), value("src", T.INT64, ["t", "b"])], [value("y", T.INT64)],
        [dict(most=i0(n), src=rng.integers(2, words, (t, b))) for n, t, b in ((1, 1, 1), (6, 5, 2), (40, 9, 3), (40, 3, 1))], weights)


# ---- running


def run(cmd, data=None):
    p = subprocess.run(cmd, input=data, capture_output=True)
    if p.returncode:
        raise RuntimeError(f"{os.path.basename(cmd[0])}: status {p.returncode}: {p.stderr.decode().strip()}")
    return p.stdout


def differs(want, folder):
    for k, w in enumerate(want):
        y = np.load(f"{folder}/output_{k}.npy")
        if y.shape != w.shape or y.dtype != w.dtype or not np.allclose(y, w, rtol=1e-4, atol=1e-4, equal_nan=True):
            return f"output {k}: {y.dtype}{y.shape}, wanted {w.dtype}{w.shape}\n{y}\n{w}"
    return None


def operands(feed, m, folder):
    for name, a in feed.items():
        np.save(f"{folder}/{name}.npy", a)
    return [f"@{k}={folder}/{v.name}.npy" for k, v in enumerate(m.graph.input)]


def wrong(bin, m, feeds, fails, folder):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    onnx.save(m, f"{folder}/m.onnx")
    session = onnxruntime.InferenceSession(f"{folder}/m.onnx", providers=["CPUExecutionProvider"])
    levels = {"graph": run([f"{bin}/trace", f"{folder}/m.onnx"])}
    for level, cmd in (("schedule", ["schedule"]), ("fuse", ["fuse"]), ("loops", ["lower", "-t", "clang"]), ("program", ["render", "-t", "clang"])):
        levels[level] = run([f"{bin}/{cmd[0]}", *cmd[1:]], list(levels.values())[-1])
    ways = [(level, ["--interpret"]) for level in levels] + [("graph", []), ("program", ["--allow-code"])]
    for feed in feeds:
        want = session.run(None, feed)
        args = operands(feed, m, folder)
        for level, how in ways:
            run([f"{bin}/run", *how, "-o", folder, "--numbered", *args], levels[level])
            why = differs(want, folder)
            if why:
                return f"{level} {' '.join(how)} {[(k, a.shape or a) for k, a in feed.items()]}: {why}"
    for feed in fails:
        args = operands(feed, m, folder)
        for level, how in ways:
            p = subprocess.run([f"{bin}/run", *how, "-o", folder, "--numbered", *args], input=levels[level], capture_output=True)
            if p.returncode != 4:
                return f"{level} {' '.join(how)}: status {p.returncode}, not 4, for {feed}"
    return None


def main():
    for make in branches, loops, lists, scans, decoding, translation:
        make()
    bin = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["--save"]:
        onnx.save(models[sys.argv[3]][0], sys.argv[4])
        return
    bad = count = 0
    for name, (m, feeds, fails) in models.items():
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                why = wrong(bin, m, feeds, fails, folder)
            except Exception as e:
                why = f"{type(e).__name__}: {e}"
        if why:
            bad += 1
            print(f"{name}: {why}")
    print(f"{count - bad} right, {bad} wrong")
    sys.exit(bad > 0)


main()
