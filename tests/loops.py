#!/usr/bin/env python3
"""Derivatives of programs with loops, branches and sizes that data gives, beside differences.

usage: loops.py BIN FOLDER CASE [HOW…]

Prints each derivative that is not near its difference; status 1 if there is one. HOW: options of
run, each in an argument of its own. A case is a graph with an output loss, and values of its inputs."""
import subprocess
import sys

import numpy as np

BIN, FOLDER = sys.argv[1:3]
random = np.random.default_rng(7)


def body(*lines):
    """A graph from lines NAME = OP …: names for numbers."""
    number, out = {}, []
    for line in '\n'.join(lines).strip().splitlines():
        words = line.split()
        if words[1:2] == ['=']:
            number[words[0]] = f'%{len(out)}'
            out.append(f'{number[words[0]]} = ' + ' '.join(number.get(w, w) for w in words[2:]))
        elif words:
            out.append(f'%{len(out)} = ' + ' '.join(number.get(w, w) for w in words))
    return '\n'.join(out)


def buffer(name, shape, dtype='f64'):
    return f'{name} = BUFFER {dtype} {{name: "{name}", shape: {shape}, role: "input"}}'


def total(name, rank):
    """name summed over all axes, as total_NAME"""
    return f'''s_{name} = REDUCE f64 {name} ["ADD", {list(range(rank))}]
total_{name} = RESHAPE f64 s_{name} []'''


def normal(*shape):
    return random.normal(size=shape)


RNN = body(buffer('x', '["T", 3]'), buffer('w', '[3, 3]'), buffer('h', '[3]'), '''
n = LIMIT
t = TURN i64 0
c = CARRY f64 h [0, 0]
xt = GATHER f64 x t
r = RESHAPE f64 c [3, 1]
e = EXPAND f64 r [3, 3]
m = MUL f64 e w
s = REDUCE f64 m ["ADD", [0]]
v = RESHAPE f64 s [3]
a = ADD f64 v xt
b = SIN f64 a
o = MUL f64 b xt
l = LOOP n b o {id: 0, limit: true, while: false, states: 1, values: 1}
last = PICK f64 l 0
y = PICK f64 l PLACE
y2 = MUL f64 y y
q = MUL f64 last last''', total('y2', 2), total('q', 1), '''
loss = ADD f64 total_y2 total_q
SINK loss y {names: ["loss", "y"]}''')


def rnn(limit, place='1'):
    return RNN.replace('LIMIT', limit).replace('PLACE', place)


def rnn_values(t):
    return {'x': normal(t, 3), 'w': normal(3, 3), 'h': normal(3)}


# two states that need each other, gates, a product that the body does not change
LSTM = body(buffer('x', '["T", 2, 3]'), buffer('w', '[3, 8]'), buffer('u', '[2, 8]'),
            buffer('h', '[2, 2]'), buffer('c', '[2, 2]'), '''
xr = RESHAPE f64 x ["T", 2, 3, 1]
xe = EXPAND f64 xr ["T", 2, 3, 8]
wr = RESHAPE f64 w [1, 1, 3, 8]
we = EXPAND f64 wr ["T", 2, 3, 8]
xw = MUL f64 xe we
xs = REDUCE f64 xw ["ADD", [2]]
z = RESHAPE f64 xs ["T", 2, 8]
n = SIZE i64 "T"
t = TURN i64 3
sh = CARRY f64 h [3, 0]
sc = CARRY f64 c [3, 1]
zt = GATHER f64 z t
hr = RESHAPE f64 sh [2, 2, 1]
he = EXPAND f64 hr [2, 2, 8]
ur = RESHAPE f64 u [1, 2, 8]
ue = EXPAND f64 ur [2, 2, 8]
hu = MUL f64 he ue
hs = REDUCE f64 hu ["ADD", [1]]
hz = RESHAPE f64 hs [2, 8]
g = ADD f64 zt hz
half = CONST f64 0.5
gh = MUL f64 g half
gs = SIN f64 gh
gi = SHRINK f64 gs [[0, 2], [0, 2]]
gf = SHRINK f64 gs [[0, 2], [2, 4]]
go = SHRINK f64 gs [[0, 2], [4, 6]]
gc = SHRINK f64 gs [[0, 2], [6, 8]]
fc = MUL f64 gf sc
ic = MUL f64 gi gc
nc = ADD f64 fc ic
tc = SIN f64 nc
nh = MUL f64 go tc
l = LOOP n nh nc nh {id: 3, limit: true, while: false, states: 2, values: 1}
y = PICK f64 l 2
lc = PICK f64 l 1
y2 = MUL f64 y y
q = MUL f64 lc sc0''' .replace('sc0', 'c'), total('y2', 3), total('q', 2), '''
loss = ADD f64 total_y2 total_q
SINK loss {names: ["loss"]}''')

# while sum of squares is below a bound: the number of turns is data
WHILE = body(buffer('x', '[3]'), '''
most = CONST f64 40.0
c = CARRY f64 x [1, 0]
k = CONST f64 1.3
m = MUL f64 c k
sn = SIN f64 c
h = MUL f64 c sn
f = CONST f64 0.05
hf = MUL f64 h f
nx = ADD f64 m hf
sq = MUL f64 nx nx
ss = REDUCE f64 sq ["ADD", [0]]
s = RESHAPE f64 ss []
on = CMPLT bool s most
sq0 = MUL f64 x x
ss0 = REDUCE f64 sq0 ["ADD", [0]]
s0 = RESHAPE f64 ss0 []
start = CMPLT bool s0 most
l = LOOP start on nx {id: 1, limit: false, while: true, states: 1, values: 0}
y = PICK f64 l 0
y3 = MUL f64 y sq0''', total('y3', 1), '''
SINK total_y3 {names: ["loss"]}''')

# a loop in a loop: the inner one's length is the outer's turn, its states start from the outer's
NESTED = body(buffer('x', '["T", 2]'), buffer('w', '[2]'), '''
n = SIZE i64 "T"
t = TURN i64 0
c = CARRY f64 w [0, 0]
xt = GATHER f64 x t
u = TURN i64 1
d = CARRY f64 c [1, 0]
dw = MUL f64 d w
sn = SIN f64 dw
xu = GATHER f64 x u
ds = MUL f64 sn xt
de = ADD f64 ds xu
li = LOOP t de de {id: 1, limit: true, while: false, states: 1, values: 1}
di = PICK f64 li 0
lo = LOOP n di xt {id: 0, limit: true, while: false, states: 1, values: 1}
y = PICK f64 lo 0
z = PICK f64 lo 1
y2 = MUL f64 y y
z2 = MUL f64 z z''', total('y2', 1), total('z2', 2), '''
loss = ADD f64 total_y2 total_z2
SINK loss {names: ["loss"]}''')

# a branch in a loop, whose sides read different things, with a size that one of them binds
BRANCH = body(buffer('x', '["T", 3]'), buffer('w', '[3]'), buffer('v', '[3]'), '''
n = SIZE i64 "T"
t = TURN i64 0
two = CONST i64 2
zero = CONST i64 0
c = CARRY f64 w [0, 0]
xt = GATHER f64 x t
r = MOD i64 t two
even = CMPEQ bool r zero
k = SIZE i64 "T+1"
b = BIND i64 k ["k", 0, 64]
a = ARANGE f64 "k"
ar = REDUCE f64 a ["ADD", [0]]
as = RESHAPE f64 ar []
cw = MUL f64 c w
cs = SIN f64 cw
ca = MUL f64 cs as
cx = ADD f64 c xt
cv = MUL f64 cx v
f = IF even ca cv 1
nx = PICK f64 f 0
l = LOOP n nx {id: 0, limit: true, while: false, states: 1, values: 0}
y = PICK f64 l 0
y2 = MUL f64 y xs''' .replace('xs', 'v'), total('y2', 1), '''
SINK total_y2 {names: ["loss"]}''')

# a loop in a branch
LOOPED = body(buffer('x', '[3]'), buffer('w', '[3]'), buffer('p', '[]'), '''
zero = CONST f64 0.0
pos = CMPLT bool zero p
n = CONST i64 3
c = CARRY f64 x [0, 0]
cw = MUL f64 c w
cs = SIN f64 cw
cn = ADD f64 cs x
l = LOOP n cn cw {id: 0, limit: true, while: false, states: 1, values: 1}
a = PICK f64 l 0
av = PICK f64 l 1
ar = REDUCE f64 av ["ADD", [0]]
as = RESHAPE f64 ar [3]
xp = MUL f64 x p
f = IF pos a as w xp 2
y = PICK f64 f 0
z = PICK f64 f 1
yz = MUL f64 y z''', total('yz', 1), '''
SINK total_yz {names: ["loss"]}''')

# a turn gathers at places that the turns before computed
WALK = body(buffer('x', '[5, 2]'), '''
n = CONST i64 4
t = TURN i64 0
zero = CONST i64 0
three = CONST i64 3
five = CONST i64 5
at = CARRY i64 zero [0, 0]
xt = GATHER f64 x at
f0 = CONST f64 0.3
fr = RESHAPE f64 f0 [1]
fe = EXPAND f64 fr [2]
c = CARRY f64 fe [0, 1]
cx = MUL f64 c xt
cs = SIN f64 cx
cn = ADD f64 cs xt
a1 = ADD i64 at three
a2 = MOD i64 a1 five
l = LOOP n a2 cn {id: 0, limit: true, while: false, states: 2, values: 0}
y = PICK f64 l 1''', total('y', 1), '''
SINK total_y {names: ["loss"]}''')


def vars_of(text):
    return 'vars {T: [0, 64]}\n' if '"T' in text else ''


CASES = {
    'rnn': [(rnn('SIZE i64 "T"'), rnn_values(t)) for t in (0, 1, 5)],
    'data': [(rnn('BUFFER i64 {name: "n", shape: [], role: "input"}', '[1, ["T", 3]]'),
              {**rnn_values(t), 'n': np.int64(t)}) for t in (0, 4)],
    'known': [(rnn('CONST i64 4').replace('"T"', '4'), rnn_values(4))],
    'lstm': [(LSTM, {'x': normal(t, 2, 3), 'w': normal(3, 8), 'u': normal(2, 8), 'h': normal(2, 2),
                     'c': normal(2, 2)}) for t in (0, 1, 4)],
    'while': [(WHILE, {'x': s * normal(3)}) for s in (0.3, 1, 20)],
    'nested': [(NESTED, {'x': normal(t, 2), 'w': normal(2)}) for t in (0, 1, 4)],
    'branch': [(BRANCH, {'x': normal(t, 3), 'w': normal(3), 'v': normal(3)}) for t in (0, 1, 4)],
    'looped': [(LOOPED, {'x': normal(3), 'w': normal(3), 'p': np.float64(s)}) for s in (1.5, -1.5)],
    'walk': [(WALK, {'x': normal(5, 2)})],
}


def tool(command, document):
    r = subprocess.run([f'{BIN}/{command[0]}', *command[1:]], input=document, capture_output=True)
    if r.returncode:
        sys.exit(f'{" ".join(command)}: {r.stderr.decode()}')
    return r.stdout


def run(document, values, how=('--interpret',)):
    names = []
    for name, v in values.items():
        np.save(f'{FOLDER}/{name}.npy', v)
        names.append(f'{name}={FOLDER}/{name}.npy')
    tool(['run', *how, '-o', f'{FOLDER}/out.npz', '-', *names], document)
    return dict(np.load(f'{FOLDER}/out.npz'))


def slope(f, values, direction, h=1e-5):
    """f's difference along the direction, of fourth order"""
    def at(k):
        return f({n: v + k * h * direction[n] if n in direction else v for n, v in values.items()})
    near = {n: v - w for (n, v), w in zip(at(1).items(), at(-1).values())}
    far = {n: v - w for (n, v), w in zip(at(2).items(), at(-2).values())}
    return {n: (8 * near[n] - far[n]) / (12 * h) for n in near}


def near(what, got, want, size):
    if got.shape == want.shape and np.allclose(got, want, rtol=1e-6, atol=1e-6 * max(size, 1)):
        return True
    print(what, 'is', got.tolist(), 'not', want.tolist())
    return False


def check(name, text, values, how):
    graph = tool(['show', '-p'], f'sluice 1 graph\n{vars_of(text)}{text}\n'.encode())
    floats = [n for n, v in values.items() if v.dtype == np.float64]
    direction = {n: random.normal(size=values[n].shape) for n in floats}
    along = {f'tan_{n}': v for n, v in direction.items()}
    of = ','.join(floats)
    first = tool(['grad', '-o', 'loss', '-w', of], graph)
    again = tool(['grad', '-o', 'loss', '-w', of, '--checkpoint'], graph)
    forward = tool(['jvp', '-o', 'loss', '-w', of], graph)
    second = tool(['jvp', '-w', of, '-o', ','.join(f'grad_{n}' for n in floats)], first)

    want = slope(lambda v: {'loss': run(graph, v)['loss']}, values, direction)['loss']
    grad = run(first, values, how)
    size = sum(np.abs(grad[f'grad_{n}']).sum() for n in floats)
    dot = sum((grad[f'grad_{n}'] * direction[n]).sum() for n in floats)
    good = near(f'{name}: reverse', dot, want, size)
    more = run(again, values, how)
    for n in floats:
        good &= near(f'{name}: grad_{n} --checkpoint', more[f'grad_{n}'], grad[f'grad_{n}'], size)
    good &= near(f'{name}: forward', run(forward, {**values, **along}, how)['tan_loss'], want, size)
    want = slope(lambda v: {n: run(first, v)[f'grad_{n}'] for n in floats}, values, direction)
    got = run(second, {**values, **along}, how)
    size = sum(np.abs(w).sum() for w in want.values())
    for n in floats:
        good &= near(f'{name}: second order, {n}', got[f'tan_grad_{n}'], want[n], size)
    # reverse over reverse: the gradient of <grad, direction>, whose value is linear in it
    w = min(floats, key=lambda n: values[n].size or 1000)
    for mode in 'forward', 'reverse':
        open(f'{FOLDER}/g.mp', 'wb').write(graph)
        sizes = [f'--set=T={len(values["x"])}'] if vars_of(text) else []
        hess = tool(['hess', '-o', 'loss', '-w', w, '--mode', mode, *sizes], graph)
        got = run(hess, values, how)[f'hess_loss_{w}'].reshape(values[w].size, -1)
        only = {w: direction[w]}
        want = slope(lambda v: {'g': run(first, v)[f'grad_{w}']}, values, only)['g'].ravel()
        good &= near(f'{name}: hess {mode}', got @ direction[w].ravel(), want, size)
    return batched(name, first, values, how) and good


def batched(name, graph, values, how):
    """vmap over one input, beside a run for each; where how often it turns is data, it is refused"""
    w = 'w' if 'w' in values else 'x'
    rows = [values[w], *(random.normal(size=values[w].shape) for _ in range(2))]
    command = [f'{BIN}/vmap', '-a', f'{w}=0', '-n', '3']
    r = subprocess.run(command, input=graph, capture_output=True)
    if name.startswith('while'):
        return r.returncode == 3 and b'the condition depends on what is batched' in r.stderr
    if r.returncode:
        sys.exit(r.stderr.decode())
    got = run(r.stdout, {**values, w: np.stack(rows)}, how)
    want = [run(graph, {**values, w: row}) for row in rows]
    return all([near(f'{name}: vmap, {n}', got[n], np.stack([v[n] for v in want]), np.abs(got[n]).sum())
                for n in got])


if __name__ == '__main__':
    if not all([check(f'{sys.argv[3]} {k}', text, values, sys.argv[4:] or ['--interpret'])
                for k, (text, values) in enumerate(CASES[sys.argv[3]])]):
        sys.exit(1)
