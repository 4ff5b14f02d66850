#!/usr/bin/env python3
"""Writes functions.cases: calls of the tensor library and what NumPy (and SciPy) give for them.

    python3 functions.py > functions.cases

Needed only to add a case: one line in CASES, or a row in UNARY. The tests read functions.cases alone.
A case is an expression of the text language, and below it dtype[shape] and the values; `ulp=N` before them asks for
every value within N units in the last place, else small errors of sums are allowed for."""
import sys
import warnings
import numpy as np
import scipy.special as sp

warnings.simplefilter("ignore")
f4 = np.float32
rng = np.random.default_rng(3)


def normal(*shape, t=f4):
    return rng.normal(0, 2, shape).astype(t)


INPUTS = {
    "x": normal(3, 4), "y": normal(3, 4), "z": normal(2, 3, 4), "v": normal(5), "w": normal(4, 6), "b": normal(6),
    "q": normal(2, 4, 5), "xm": normal(5, 3, 3), "d": normal(4, 4, t=np.float64), "h": normal(6, t=np.float16),
    "e": np.array([0., -0., np.nan, np.inf, -np.inf, 1.5, -2.5], f4),
    "g": np.array([3, -2, np.nan, 2, 5, -np.inf, 0.7], f4),
    "i": np.array([0, 2, -1, 1], np.int32), "j": np.array([[1, 0], [-3, 2]], np.int64),
    "k": np.array([[0, 3, 1, 2], [1, 1, -1, 0], [3, 2, 1, 0]], np.int64),
    "n": rng.integers(-50, 50, (3, 4)).astype(np.int32), "m": rng.integers(1, 9, (3, 4)).astype(np.int32),
    "u": rng.integers(0, 255, 7).astype(np.uint8), "c": rng.random((3, 4)) < .5, "s": rng.integers(0, 4, 9).astype(f4),
}
globals().update(INPUTS)

# for the functions of one real argument: edges, and a few of every size
EDGES = [np.nan, np.inf, -np.inf, 0., -0., 1, -1, .5, -.5, 1.5, 2.5, -1.5, -2.5, 3.5, 1e4, -1e4, 88.5, -87, 1e-8, -1e-8,
         np.pi / 2, np.pi, 3 * np.pi / 2, -np.pi / 2, 1e7, 1e10, .99999, -.99999, .1, -.3, .7, -.65, .9, -3, 5, -7, 13, -21]
L = np.longdouble
sigmoid = lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))
softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
UNARY = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10,
    "exp2": np.exp2, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "sigmoid": sigmoid, "softplus": softplus,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": lambda x: sp.erf(x.astype("f8")).astype(L),
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "floor": np.floor, "ceil": np.ceil, "round": np.rint,
    "trunc": np.trunc, "abs": np.abs, "sign": np.sign, "square": np.square, "reciprocal": lambda x: 1 / x,
    "softsign": lambda x: x / (1 + np.abs(x)), "logsigmoid": lambda x: -softplus(-x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
}


def put(x, i, v, f):
    """f(x, i, v) on a copy of x"""
    r = x.copy()
    f(r, i, v)
    return r


def scat(x, i, v, f=None):
    return put(x, i, v, f.at if f else lambda r, i, v: r.__setitem__(i, v))


def threefry(counter, key):
    """Threefry-2x32, 20 rounds, as in Random123 (Salmon and others, SC11)"""
    turns, mask = [13, 15, 26, 6, 17, 29, 16, 24], 0xffffffff
    ks = [key & mask, key >> 32]
    ks.append(0x1BD11BDA ^ ks[0] ^ ks[1])
    a, b = (counter & mask) + ks[0] & mask, (counter >> 32) + ks[1] & mask
    for r in range(20):
        t = turns[r % 8]
        a = a + b & mask
        b = (b << t | b >> 32 - t) & mask ^ a
        if r % 4 == 3:
            q = r // 4 + 1
            a, b = a + ks[q % 3] & mask, b + ks[(q + 1) % 3] + q & mask
    return a | b << 32


def bits(n, key, offset=0):
    return np.array([threefry(offset + t, key) for t in range(n)], np.uint64)


def low(b):
    return (b & np.uint64(0xffffffff)).astype(np.uint32)


def unit(word):
    return (word >> np.uint32(9) | np.uint32(0x3f800000)).view(f4) - f4(1)


def rand(n, key, offset=0):
    return unit(low(bits(n, key, offset)))


def rand64(n, key):
    return (bits(n, key) >> np.uint64(12) | np.uint64(0x3ff0000000000000)).view("f8") - 1


def randn(n, key):
    b = bits(n, key)
    u, v = unit(low(b)).astype("f8"), unit(low(b >> np.uint64(32))).astype("f8")
    return (np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * np.pi * v)).astype(f4)


CASES = [
    ('round(x, 1)', lambda: np.round(x,1)),
    ('clip(x, -1, 0.5)', lambda: np.clip(x,-1,.5)),
    ('mod(n, 2.5)', lambda: np.mod(n, f4(2.5)).astype(f4)),
    ('where(c, n, 0.5)', lambda: np.where(c, n, f4(.5)).astype(f4)),
    ('clip(n, -3, 0.5)', lambda: np.clip(n, f4(-3), f4(.5)).astype(f4)),
    ('clip(n, max=3)', lambda: np.minimum(n,3)),
    ('where(c, x, 0)', lambda: np.where(c,x,f4(0))),
    ('where(c, 1, n)', lambda: np.where(c,np.int32(1),n)),
    ('mod(e, -1.5)', lambda: np.mod(e,f4(-1.5))),
    ('mod(e, g)', lambda: np.mod(e,g)),
    ('fmod(e, g)', lambda: np.fmod(e,g)),
    ('floordiv(e, g)', lambda: np.floor_divide(e,g)),
    ('mod(n, m)', lambda: np.mod(n,m)),
    ('fmod(n, m)', lambda: np.fmod(n,m)),
    ('floordiv(n, m)', lambda: n//m),
    ('mod(n, 0)', lambda: np.mod(n,0).astype('i4')),
    ('x % y', lambda: np.mod(x,y)),
    ('x // y', lambda: x//y),
    ('x / y', lambda: x/y),
    ('n % -7', lambda: n%np.int32(-7)),
    ('n // 7', lambda: n//np.int32(7)),
    ('atan2(e, g)', lambda: np.arctan2(e,g)),
    ('atan2(x, y)', lambda: np.arctan2(x,y)),
    ('hypot(x, y)', lambda: np.hypot(x,y)),
    ('hypot(e, g)', lambda: np.hypot(e,g)),
    ('minimum(e, g)', lambda: np.minimum(e,g)),
    ('maximum(e, g)', lambda: np.maximum(e,g)),
    ('pow(abs(x), y)', lambda: np.power(np.abs(x),y)),
    ('x ** 2', lambda: x**2),
    ('n ** 3', lambda: n**3),
    ('pow(x, 3.0)', lambda: x**3),
    ('sign(e)', lambda: np.sign(e)),
    ('signbit(e)', lambda: np.signbit(e)),
    ('isnan(e)', lambda: np.isnan(e)),
    ('isinf(e)', lambda: np.isinf(e)),
    ('isfinite(e)', lambda: np.isfinite(e)),
    ('abs(n)', lambda: abs(n)),
    ('sign(n)', lambda: np.sign(n)),
    ('relu(e)', lambda: np.maximum(e,0)),
    ('leaky_relu(x, alpha=0.1)', lambda: np.where(x<0,x*f4(.1),x)),
    ('relu6(x*4)', lambda: np.clip(x*4,0,6)),
    ('elu(x, alpha=0.5)', lambda: np.where(x>0,x,f4(.5)*np.expm1(x))),
    ('celu(x, alpha=2)', lambda: np.where(x>0,x,2*np.expm1(x/2))),
    ('celu(e, alpha=-0.5)', lambda: np.where(e<0,f4(-.5)*np.expm1(e/f4(-.5)),e)),
    ('selu(x, alpha=0.5, gamma=2)', lambda: f4(2)*np.where(x>0,x,f4(.5)*np.expm1(x))),
    ('selu(x)', lambda: f4(1.0507009873554805)*np.where(x>0,x,f4(1.6732632423543772)*np.expm1(x))),
    ('hardsigmoid(x)', lambda: np.clip(x*f4(.2)+f4(.5),0,1)),
    ('hardswish(x)', lambda: x*np.clip(x/f4(6)+f4(.5),0,1)),
    ('prelu(x, v[0:4])', lambda: np.where(x<0,x*v[:4],x)),
    ('prelu(n, m)', lambda: np.where(n<0,n*m,n)),
    ('shrink(x)', lambda: np.where(abs(x)>.5,x,f4(0))),
    ('shrink(e, lambd=1, bias=0.5)', lambda: np.where(e>1,e-f4(.5),np.where(e<-1,e+f4(.5),f4(0)))),
    ('shrink(n, lambd=3.5, bias=2.5)', lambda: np.where(n>3.5,n-2.5,np.where(n<-3.5,n+2.5,0)).astype(np.int32)),
    ('swiglu(x, y)', lambda: (x*sp.expit(x.astype('f8'))*y).astype(f4)),
    ('silu(x, alpha=2)', lambda: (x*sp.expit(2*x.astype('f8'))).astype(f4)),
    ('silu(x)', lambda: (x*sp.expit(x.astype('f8'))).astype(f4)),
    ('mish(x)', lambda: (x * np.tanh(softplus(x.astype('f8')))).astype(f4)),
    ('gelu(x)', lambda: (x*sp.ndtr(x.astype('f8'))).astype(f4)),
    ('gelu(x, approximate="tanh")', lambda: (x.astype('f8')*.5*(1+np.tanh(np.sqrt(2/np.pi)*(x.astype('f8')+.044715*x.astype('f8')**3)))).astype(f4)),
    ('equal(e, g)', lambda: e==g),
    ('not_equal(e, g)', lambda: e!=g),
    ('less(e, g)', lambda: e<g),
    ('less_equal(e, g)', lambda: e<=g),
    ('greater(e, g)', lambda: e>g),
    ('greater_equal(e, g)', lambda: e>=g),
    ('e <= g', lambda: e<=g),
    ('logical_and(n, c)', lambda: np.logical_and(n,c)),
    ('logical_or(n, c)', lambda: np.logical_or(n,c)),
    ('logical_xor(n, c)', lambda: np.logical_xor(n,c)),
    ('logical_not(n)', lambda: np.logical_not(n)),
    ('bitwise_and(n, m)', lambda: n&m),
    ('bitwise_or(n, m)', lambda: n|m),
    ('bitwise_xor(n, m)', lambda: n^m),
    ('bitwise_not(n)', lambda: ~n),
    ('bitwise_not(u)', lambda: ~u),
    ('bitwise_not(c)', lambda: ~c),
    ('shift_left(n, 2)', lambda: n<<2),
    ('shift_right(n, 2)', lambda: n>>2),
    ('cast(e, dtype="i32")', lambda: np.array([0,0,0,2**31-1,-2**31,1,-2],np.int32)),
    ('bitcast(e, "u32")', lambda: e.view(np.uint32)),
    ('n + u[0:4]', lambda: n+u[:4]),
    ('u + cast(n, "i8")[0,0]', lambda: u+n.astype('i1')[0,0]),
    ('x + n', lambda: x+n),
    ('n / m', lambda: (n/m).astype(f4)),
    ('sum(x)', lambda: x.sum()),
    ('sum(z, axis=[0,-1])', lambda: z.sum((0,2))),
    ('sum(u)', lambda: u.sum()),
    ('sum(c, axis=0)', lambda: c.sum(0)),
    ('sum(n, axis=1, keepdims=true)', lambda: n.sum(1,keepdims=True)),
    ('prod(v)', lambda: v.prod()),
    ('max(z, axis=1)', lambda: z.max(1)),
    ('min(e)', lambda: e.min()),
    ('max(g)', lambda: g.max()),
    ('mean(z, axis=1)', lambda: z.mean(1)),
    ('mean(h)', lambda: h.mean()),
    ('mean(n)', lambda: f4(n.mean())),
    ('var(z, axis=2)', lambda: z.var(2)),
    ('std(z, axis=[0,1], correction=1, keepdims=true)', lambda: z.std((0,1),ddof=1,keepdims=True)),
    ('var(x)', lambda: x.var()),
    ('any(c, axis=0)', lambda: c.any(0)),
    ('all(c, axis=1)', lambda: c.all(1)),
    ('any(e)', lambda: e.any()),
    ('logsumexp(x, axis=1)', lambda: sp.logsumexp(x.astype('f8'),axis=1).astype(f4)),
    ('logsumexp(x)', lambda: sp.logsumexp(x.astype('f8')).astype(f4)),
    ('logsumexp([-inf,-inf])', lambda: f4(-np.inf)),
    ('logsumexp([1.0,inf], keepdims=true)', lambda: np.array([np.inf],f4)),
    ('logsumexp([1000.0,1000.0])', lambda: f4(1000+np.log(2))),
    ('norm(x, axis=1)', lambda: np.linalg.norm(x,axis=1)),
    ('norm(x, axis=1, ord=1)', lambda: np.linalg.norm(x,1,axis=1)),
    ('norm(x, axis=1, ord=inf)', lambda: np.linalg.norm(x,np.inf,axis=1)),
    ('norm(x, axis=1, ord=3)', lambda: np.linalg.norm(x,3,axis=1)),
    ('argmax(s)', lambda: s.argmax()),
    ('argmin(s)', lambda: s.argmin()),
    ('argmax(e)', lambda: e.argmax()),
    ('argmin(e)', lambda: e.argmin()),
    ('argmax(z, axis=1)', lambda: z.argmax(1)),
    ('argmin(z, axis=-1, keepdims=true)', lambda: z.argmin(-1,keepdims=True)),
    ('argmax(z)', lambda: z.argmax()),
    ('argmax(s, last=true)', lambda: 8-s[::-1].argmax()),
    ('argmin(e, last=true)', lambda: np.int64(2)),
    ('argmin(k, axis=1, keepdims=true, last=true)', lambda: 3-k[:,::-1].argmin(1)[:,None]),
    ('argmax(n, axis=0)', lambda: n.argmax(0)),
    ('argmax(c, axis=1)', lambda: c.argmax(1)),
    ('cumsum(x)', lambda: x.cumsum()),
    ('cumsum(z, axis=1)', lambda: z.cumsum(1)),
    ('cumsum(n, axis=0, reverse=true)', lambda: n[::-1].cumsum(0)[::-1]),
    ('cumsum(x, axis=1, exclusive=true)', lambda: np.concatenate([np.zeros((3,1),f4),x.cumsum(1)[:,:-1]],1)),
    ('cumprod(x, axis=0)', lambda: x.cumprod(0)),
    ('cumprod(x, axis=0, exclusive=true)', lambda: np.concatenate([np.ones((1,4),f4),x.cumprod(0)[:-1]],0)),
    ('cummax(x, axis=1)', lambda: np.maximum.accumulate(x,1)),
    ('cummin(g)', lambda: np.minimum.accumulate(g)),
    ('cummax(x, axis=1, reverse=true)', lambda: np.maximum.accumulate(x[:,::-1],1)[:,::-1]),
    ('reshape(x, 2, -1)', lambda: x.reshape(2,-1)),
    ('reshape(z, [4, -1, 2])', lambda: z.reshape(4,-1,2)),
    ('flatten(z, start=1)', lambda: z.reshape(2,12)),
    ('flatten(z)', lambda: z.reshape(-1)),
    ('transpose(z)', lambda: z.T),
    ('transpose(z, [1,0,2])', lambda: z.transpose(1,0,2)),
    ('permute(z, 2, 0, 1)', lambda: z.transpose(2,0,1)),
    ('swapaxes(z, 0, -1)', lambda: z.swapaxes(0,-1)),
    ('moveaxis(z, 0, 2)', lambda: np.moveaxis(z,0,2)),
    ('moveaxis(z, 2, 0)', lambda: np.moveaxis(z,2,0)),
    ('expand(v, 2, 5)', lambda: np.broadcast_to(v,(2,5))),
    ('expand(x[:, none], [-1, 2, 4])', lambda: np.broadcast_to(x[:,None],(3,2,4))),
    ('squeeze(z[0:1])', lambda: z[0]),
    ('squeeze(z[0:1], axis=0)', lambda: z[0]),
    ('unsqueeze(x, [0, -1])', lambda: x[None,...,None]),
    ('unsqueeze(x, 1)', lambda: x[:,None]),
    ('z[:, ::-1, 1::2]', lambda: z[:,::-1,1::2]),
    ('v[::-2]', lambda: v[::-2]),
    ('v[3:0:-1]', lambda: v[3:0:-1]),
    ('v[-2:]', lambda: v[-2:]),
    ('v[1:100:3]', lambda: v[1:100:3]),
    ('v[4:1]', lambda: v[4:1]),
    ('v[::7]', lambda: v[::7]),
    ('z[1, ..., 2]', lambda: z[1,...,2]),
    ('x[[2,0]]', lambda: x[[2,0]]),
    ('slice(z, [0,1], [2,-1], axes=[1,2])', lambda: z[:,0:2,1:-1]),
    ('slice(v, -1, -10, step=-2)', lambda: v[-1:-10:-2]),
    ('slice(v, 100, 0, step=-1)', lambda: v[100:0:-1]),
    ('slice(v, none, none, step=2)', lambda: v[::2]),
    ('flip(z)', lambda: np.flip(z)),
    ('flip(z, axis=[0,2])', lambda: np.flip(z,(0,2))),
    ('roll(v, 2)', lambda: np.roll(v,2)),
    ('roll(x, -5)', lambda: np.roll(x,-5)),
    ('roll(z, [1,-1], axis=[1,2])', lambda: np.roll(z,(1,-1),(1,2))),
    ('roll(v, 7)', lambda: np.roll(v,7)),
    ('pad(x, 1)', lambda: np.pad(x,1)),
    ('pad(x, [1,2], value=-1)', lambda: np.pad(x,(1,2),constant_values=-1)),
    ('pad(x, [[0,1],[2,0]], mode="reflect")', lambda: np.pad(x,[[0,1],[2,0]],'reflect')),
    ('pad(v, [9,6], mode="reflect")', lambda: np.pad(v,(9,6),'reflect')),
    ('pad(v, [9,6], mode="symmetric")', lambda: np.pad(v,(9,6),'symmetric')),
    ('pad(x, [[1,2],[3,0]], mode="edge")', lambda: np.pad(x,[[1,2],[3,0]],'edge')),
    ('pad(x, 6, mode="wrap")', lambda: np.pad(x,6,'wrap')),
    ('pad(v[0:1], 2, mode="reflect")', lambda: np.pad(v[:1],2,'reflect')),
    ('pad(x, [[-1,0],[1,-2]], value=9)', lambda: np.pad(x[1:,:-2],[[0,0],[1,0]],constant_values=9)),
    ('pad(e, 1, value=nan)', lambda: np.pad(e,1,constant_values=np.nan)),
    ('pad(c, 1, value=true)', lambda: np.pad(c,1,constant_values=True)),
    ('concat(x, y)', lambda: np.concatenate([x,y])),
    ('concat(x, w[0:3], axis=1)', lambda: np.concatenate([x,w[:3]],1)),
    ('concat(e, g)', lambda: np.concatenate([e,g])),
    ('concat(n, x)', lambda: np.concatenate([n,x])),
    ('concat(v,v[0:0],v,e,g,v,v,v,v,e,e,v,v,v,v,v,v,v,v,v)', lambda: np.concatenate([v,v[0:0],v,e,g,v,v,v,v,e,e,v,v,v,v,v,v,v,v,v])),
    ('stack(x, y, axis=1)', lambda: np.stack([x,y],1)),
    ('stack([x, y, x], axis=-1)', lambda: np.stack([x,y,x],-1)),
    ('split(z, 2, axis=-1)[1]', lambda: np.split(z,2,-1)[1]),
    ('split(v, [1,3,1])[1]', lambda: v[1:4]),
    ('tile(x, 2)', lambda: np.tile(x,2)),
    ('tile(x, [2,1,3])', lambda: np.tile(x,(2,1,3))),
    ('repeat(x, 3)', lambda: np.repeat(x,3)),
    ('repeat(x, 2, axis=0)', lambda: np.repeat(x,2,0)),
    ('tril(z)', lambda: np.tril(z)),
    ('triu(x, k=1)', lambda: np.triu(x,1)),
    ('tril(z, k=i[1])', lambda: np.tril(z,2)),
    ('triu(x, k=i[2])', lambda: np.triu(x,-1)),
    ('depth_to_space(reshape(arange(48), [1, 8, 2, 3]), 2)', lambda: np.arange(48).reshape(1,2,2,2,2,3).transpose(0,3,4,1,5,2).reshape(1,2,4,6)),
    ('depth_to_space(reshape(arange(48), [1, 8, 2, 3]), 2, mode="CRD")', lambda: np.arange(48).reshape(1,2,2,2,2,3).transpose(0,1,4,2,5,3).reshape(1,2,4,6)),
    ('space_to_depth(reshape(arange(48), [1, 2, 4, 6]), 2)', lambda: np.arange(48).reshape(1,2,2,2,3,2).transpose(0,3,5,1,2,4).reshape(1,8,2,3)),
    ('space_to_depth(reshape(arange(48), [1, 2, 4, 6]), 2, mode="CRD")', lambda: np.arange(48).reshape(1,2,2,2,3,2).transpose(0,1,3,5,2,4).reshape(1,8,2,3)),
    ('tril(x, k=-1)', lambda: np.tril(x,-1)),
    ('diag(v)', lambda: np.diag(v)),
    ('diag(v, k=2)', lambda: np.diag(v,2)),
    ('diag(v, k=-1)', lambda: np.diag(v,-1)),
    ('diag(x)', lambda: np.diag(x)),
    ('diag(x, k=1)', lambda: np.diag(x,1)),
    ('diag(x, k=-2)', lambda: np.diag(x,-2)),
    ('diag(z)', lambda: np.diagonal(z,0,1,2)),
    ('full([2,3], 7)', lambda: np.full((2,3),7,'i4')),
    ('zeros([2,3])', lambda: np.zeros((2,3),f4)),
    ('ones([2], dtype="i8")', lambda: np.ones(2,'i1')),
    ('full_like(n, 3)', lambda: np.full_like(n,3)),
    ('arange(5)', lambda: np.arange(5)),
    ('arange(2, 11, 3)', lambda: np.arange(2,11,3)),
    ('arange(5, 0, -2)', lambda: np.arange(5,0,-2)),
    ('arange(5, 2)', lambda: np.arange(5,2)),
    ('arange(0, 1, 0.25)', lambda: np.arange(0,1,.25).astype(f4)),
    ('arange(3, dtype="f32")', lambda: np.arange(3,dtype=f4)),
    ('linspace(-1, 1, 5)', lambda: np.linspace(-1,1,5,dtype=f4)),
    ('linspace(0, 1, 4, endpoint=false, dtype="f64")', lambda: np.linspace(0,1,4,endpoint=False)),
    ('linspace(3, 4, 1)', lambda: np.linspace(3,4,1,dtype=f4)),
    ('eye(3)', lambda: np.eye(3,dtype=f4)),
    ('eye(2, 4, k=1, dtype="i32")', lambda: np.eye(2,4,1,dtype='i4')),
    ('one_hot(i, 3)', lambda: np.array([[1,0,0],[0,0,1],[0,0,0],[0,1,0]],f4)),
    ('one_hot([1,0], 3, axis=0, dtype="i32", on=5, off=-1)', lambda: np.array([[-1,5],[5,-1],[-1,-1]],'i4')),
    ('gather(x, [0,2,-1])', lambda: x[[0,2,-1]]),
    ('gather(x, [i - 1, [0,1,2,3]])', lambda: x[i-1,[0,1,2,3]]),
    ('take(x, i, axis=1)', lambda: np.take(x,i,1)),
    ('take(z, j, axis=1)', lambda: np.take(z,j,1)),
    ('take(z, j, axis=2)', lambda: np.take(z,j,2)),
    ('take(x, [5,-1])', lambda: np.take(x,[5,-1])),
    ('take(x, 1, axis=0)', lambda: x[1]),
    ('take(x, [7], axis=0)', lambda: np.zeros((1,4),f4)),
    ('take_along(x, k, axis=1)', lambda: np.take_along_axis(x,k,1)),
    ('take_along(x, argsort(x, axis=0), axis=0)', lambda: np.sort(x,0)),
    ('gather_nd(x, j)', lambda: x[j[:,0],j[:,1]]),
    ('gather_nd(z, [[[0],[1]],[[2],[0]]], batch_dims=1)', lambda: np.stack([z[0][[0,1]],z[1][[2,0]]])),
    ('scatter(x, [0,2], y[0:2])', lambda: scat(x,[0,2],y[:2])),
    ('scatter(v, [1,-1,1], [1.0,2.0,3.0], how="add")', lambda: scat(v,[1,-1,1],f4([1,2,3]),np.add)),
    ('scatter(x, [[0,1],[2,3]], 9.0)', lambda: scat(x,([0,1],[2,3]),9)),
    ('scatter_along(x, k[:, 0:2], y[:, 0:2], axis=1)', lambda: put(x,k[:,:2],y[:,:2],lambda r,a,b:np.put_along_axis(r,a,b,1))),
    ('scatter_nd(x, [[0,1],[2,-1]], [5.0,6.0], how="max")', lambda: scat(x,([0,2],[1,-1]),f4([5,6]),np.maximum)),
    ('sort(x)', lambda: np.sort(x)),
    ('sort(e)', lambda: np.sort(e)),
    ('sort(x, axis=0, descending=true)', lambda: np.sort(x,0)[::-1]),
    ('argsort(s)', lambda: np.argsort(s,kind='stable')),
    ('argsort(s, descending=true)', lambda: np.argsort(-s,kind='stable')),
    ('topk(arange(900) * 7 % 311, 5)[1]', lambda: np.argsort(-(np.arange(900)*7%311),kind='stable')[:5]),
    ('topk(u8(arange(900) * 7 % 256), 9)[1]', lambda: np.argsort(-(np.arange(900)*7%256),kind='stable')[:9]),
    ('topk(sin(f32(arange(2400))).reshape(2, 3, 400), 3)[0]', lambda: -np.sort(-np.sin(np.arange(2400,dtype=f4)).reshape(2,3,400))[...,:3]),
    ('topk(f32(arange(1800) * 7 % 31).reshape(2, 450, 2), 4, axis=1)[1]',
     lambda: np.argsort(-(np.arange(1800)*7%31).reshape(2,450,2),axis=1,kind='stable')[:,:4]),
    ('topk(where(arange(700) % 100 == 3, nan, -inf), 9)[1]', lambda: np.array([3,103,203,303,403,503,603,0,1])),
    ('topk(where(arange(90) % 4 < 2, 0.0, where(arange(90) % 4 < 3, -0.0, nan)), 30)[1]',
     lambda: np.argsort(np.where(np.arange(90)%4==3,0,1),kind='stable')[:30]),
    ('topk(f64(arange(50)) % 7 - 3, 9, largest=false)[1]', lambda: np.argsort(np.arange(50)%7,kind='stable')[:9]),
    ('topk(i8(arange(300) * 37 % 256 - 128), 12, largest=false)[0]', lambda: np.sort(np.arange(300)*37%256-128).astype(np.int8)[:12]),
    ('topk(u32(arange(256)) * u32(16843009), 3)[0]', lambda: (np.arange(256,dtype=np.uint32)*np.uint32(16843009))[::-1][:3]),
    ('topk(x, 2)[0]', lambda: -np.sort(-x)[:,:2]),
    ('topk(x, 2)[1]', lambda: np.argsort(-x)[:,:2]),
    ('topk(x, 2, axis=0, largest=false)[0]', lambda: np.sort(x,0)[:2]),
    ('random_bits([5], 7)', lambda: bits(5,7)),
    ('rand([3,4], key=12345)', lambda: rand(12,12345).reshape(3,4)),
    ('rand([4], key=99, offset=1000)', lambda: rand(4,99,1000)),
    ('rand([4], key=1, dtype="f64")', lambda: rand64(4,1)),
    ('randint([6], -3, 4, key=5)', lambda: -3+(((bits(6,5)&np.uint64(0xffffffff))*np.uint64(7))>>np.uint64(32)).astype('i8')),
    # sizes that are data
    ('nonzero(x > 0)', lambda: np.array(np.nonzero(x > 0))),
    ('nonzero(z)', lambda: np.array(np.nonzero(z))),
    ('nonzero(x > 99)', lambda: np.zeros((2,0),'i8')),
    ('nonzero(x > 0).T', lambda: np.argwhere(x > 0)),
    ('nonzero(x > 0).flatten()', lambda: np.array(np.nonzero(x > 0)).ravel()),
    ('reshape(nonzero(x > 0), [-1, 2])', lambda: np.array(np.nonzero(x > 0)).reshape(-1,2)),
    ('reshape(nonzero(x > 0).T, [2, -1])', lambda: np.argwhere(x > 0).reshape(2,-1)),
    ('compress(x, c)', lambda: x[c]),
    ('compress(x, x[:, 0] > 0, axis=0)', lambda: x[x[:,0]>0]),
    ('compress(x, x[0] > 0, axis=1) * 2 + 1', lambda: x[:,x[0]>0]*2+1),
    ('x[c]', lambda: x[c]),
    ('z[:, c]', lambda: z[:,c]),
    ('z[..., i > 0][..., 1:, :]', lambda: z[...,i>0][...,1:,:]),
    ('sum(x[c])', lambda: x[c].sum()),
    ('x[c].max()', lambda: x[c].max()),
    ('prod(x[c])', lambda: x[c].prod()),
    ('max(x[x > 99])', lambda: np.float32(-np.inf)),
    ('mean(x[:, i > 0], axis=1)', lambda: x[:,i>0].mean(1)),
    ('softmax(x[:, x[0] > 0])', lambda: sp.softmax(x[:,x[0]>0],1)),
    ('x[:, x[0] > 0] @ w[x[0] > 0]', lambda: x[:,x[0]>0]@w[x[0]>0]),
    ('x[:, x[0] > 0].T @ y', lambda: x[:,x[0]>0].T@y),
    ('cumsum(x[:, x[0] > 0], axis=1, reverse=true)', lambda: np.cumsum(x[:,x[0]>0][:,::-1],1)[:,::-1]),
    ('sort(x[c])', lambda: np.sort(x[c])),
    ('argsort(g[g == g], descending=true)', lambda: np.argsort(-g[g==g],kind='stable')),
    ('sort(n[c], descending=true)', lambda: -np.sort(-n[c])),
    ('sort(u[u > 9])', lambda: np.sort(u[u>9])),
    ('gather(x[c], [0, 99, 1])', lambda: np.array([x[c][0],0,x[c][1]],f4)),
    ('take(x[c], -1)', lambda: x[c][-1]),
    ('scatter(zeros([12]), nonzero(c.flatten())[0], x[c])', lambda: np.where(c,x,f4(0)).ravel()),
    ('scatter(zeros([5]), k[c] + 3, x[c], how="add")', lambda: scat(np.zeros(9,f4),k[c]+3,x[c],np.add)[:5]),
    ('x[c][none] + v[:, none]', lambda: x[c][None]+v[:,None]),
    ('concat(x[c], v, x[x > 0])', lambda: np.concatenate([x[c],v,x[x>0]])),
    ('pad(x[:, x[0] > 0], [[0, 1], [2, 1]], value=7)', lambda: np.pad(x[:,x[0]>0],[[0,1],[2,1]],constant_values=7)),
    ('flip(x[:, x[0] > 0])', lambda: np.flip(x[:,x[0]>0])),
    ('roll(x[c], 2)', lambda: np.roll(x[c],2)),
    ('x[c][1:]', lambda: x[c][1:]),
    ('x[c][::-2]', lambda: x[c][::-2]),
    ('x[c][::2]', lambda: x[c][::2]),
    ('tile(x[c], 2, 3)', lambda: np.tile(x[c],(2,3))),
    ('repeat(x[c], 2)', lambda: np.repeat(x[c],2)),
    ('transpose(z[:, c])', lambda: z[:,c].T),
    ('outer(x[c], x[x > 0])', lambda: np.outer(x[c],x[x>0])),
    ('outer(x[c], x[x > 0]).flatten()', lambda: np.outer(x[c],x[x>0]).ravel()),
    ('nonzero(x[c] > 0)', lambda: np.array(np.nonzero(x[c]>0))),
    ('x[c][x[c] > 0]', lambda: x[c][x[c]>0]),
    ('v[:i[1]]', lambda: v[:2]),
    ('v[i[1]:i[0]]', lambda: v[2:0]),
    ('v[:i[1] + 2:2]', lambda: v[:4:2]),
    ('v[i[2]:-1].size + v[-3:i[1] + 2].sum()', lambda: f4(0)+v[2:4].sum()),
    ('v[i[3]:]', lambda: v[1:]),
    ('v[i[2] - 1:]', lambda: v[-2:]),
    ('v[i[3]:i[1]].size * full([1], 1)', lambda: np.array([1],'i4')),
    ('v[:i[1] + 90].sum() - v[:i[2]].sum()', lambda: v[4]),
    ('x[:i[1], :i[1]].T.flatten()', lambda: x[:2,:2].T.ravel()),
    ('arange(v[:i[1]].size)', lambda: np.arange(2)),
    ('unique(s)[0]', lambda: np.unique(s)),
    ('unique(s)[1]', lambda: np.unique(s,return_index=True)[1]),
    ('unique(s)[2]', lambda: np.unique(s,return_inverse=True)[1]),
    ('unique(s)[3]', lambda: np.unique(s,return_counts=True)[1]),
    ('unique(s, sorted=false)[0]', lambda: s[np.sort(np.unique(s,return_index=True)[1])]),
    ('unique(concat(k, k[::-1]), axis=0)[0]', lambda: np.unique(np.concatenate([k,k[::-1]]),axis=0)),
    ('unique(concat(k, k[::-1]), axis=0)[3]', lambda: np.unique(np.concatenate([k,k[::-1]]),axis=0,return_counts=True)[1]),
    ('unique(j[:, i] * 0, axis=1)[0]', lambda: np.zeros((2,1),'i8')),
    ('randperm(7, key=3)', lambda: np.argsort(bits(7,3),kind='stable')),
    ('dropout(x, 0.25, key=8)', lambda: np.where(rand(12,8).reshape(3,4)>=.25,x*f4(1/.75),f4(0))),
    ('randn([4], key=2)', lambda: randn(4,2)),
    ('x @ w', lambda: x@w),
    ('matmul(z, q)', lambda: z@q),
    ('matmul(v[0:4], w)', lambda: v[:4]@w),
    ('matmul(x, v[0:4])', lambda: x@v[:4]),
    ('matmul(z, w)', lambda: z@w),
    ('matmul(v[0:4], q)', lambda: v[:4]@q),
    ('matmul(v, v)', lambda: v@v),
    ('matmul(z[:, none], w)', lambda: z[:,None]@w),
    ('matmul(n, transpose(m))', lambda: n@m.T),
    ('dot(z, q)', lambda: np.dot(z,q)),
    ('dot(x, w)', lambda: x@w),
    ('outer(v, b)', lambda: np.outer(v,b)),
    ('linear(x, transpose(w), b)', lambda: x@w+b),
    ('linear(z, transpose(w))', lambda: z@w),
    ('solve(d, [1.0, 2, 3, 4])', lambda: np.linalg.solve(d, [1.,2,3,4])),
    ('solve(d, d.T)', lambda: np.linalg.solve(d, d.T)),
    ('solve(f64([[0, 2, 1], [1, 1, 0], [0, 1, 3]]), f64([[1, 2], [3, 4], [5, 6]]))', lambda: np.linalg.solve(np.array([[0.,2,1],[1,1,0],[0,1,3]]), np.array([[1.,2],[3,4],[5,6]]))),
    ('solve(d, stack(d, d * 2))', lambda: np.linalg.solve(d, np.stack([d, d*2]))),
    ('solve(f64(xm) + 5 * eye(3, dtype=f64), ones([5, 3, 1], dtype=f64))', lambda: np.linalg.solve(xm.astype('f8') + 5*np.eye(3), np.ones((5,3,1)))),
    ('solve([[4, 1], [1, 3]], [1, 2])', lambda: np.linalg.solve(np.array([[4,1],[1,3]],f4), np.array([1,2],f4))),
    ('solve(f64([[2.0]]), f64([3.0]))', lambda: np.array([1.5])),
    ('solve(zeros([0, 0], dtype=f64), zeros([0, 2], dtype=f64))', lambda: np.zeros((0,2))),
    ('inv(d)', lambda: np.linalg.inv(d)),
    ('det(d)', lambda: np.float64(np.linalg.det(d))),
    ('det(xm)', lambda: np.linalg.det(xm.astype('f8')).astype(f4)),
    ('det([[0.0, 2.0, 1.0], [0.0, 3.0, 1.0], [0.0, 5.0, 4.0]])', lambda: f4(0)),
    ('det([[0.0, 2.0], [3.0, 1.0]])', lambda: f4(-6)),
    ('cholesky(d @ d.T + 4 * eye(4, dtype=f64))', lambda: np.linalg.cholesky(d@d.T + 4*np.eye(4))),
    ('cholesky(f64(xm) @ swapaxes(f64(xm), 1, 2) + eye(3, dtype=f64))', lambda: np.linalg.cholesky(xm.astype('f8')@xm.astype('f8').swapaxes(1,2) + np.eye(3))),
    ('cholesky(f64([[4, nan], [2, 5]]))', lambda: np.array([[2.,0],[1,2]])),
    ('cholesky(f64([[1, 2], [2, 1]]))[0]', lambda: np.array([1.,0])),
    ('triangular_solve(d, d.T)', lambda: np.linalg.solve(np.tril(d), d.T)),
    ('triangular_solve(d, d[0], lower=false)', lambda: np.linalg.solve(np.triu(d), d[0])),
    ('triangular_solve(f64(xm), ones([3, 1], dtype=f64))', lambda: np.linalg.solve(np.tril(xm.astype('f8')), np.ones((3,1)))),
    ('einsum("ij,jk->ik", x, w)', lambda: np.einsum('ij,jk->ik',x,w)),
    ('einsum("ij,jk", x, w)', lambda: np.einsum('ij,jk',x,w)),
    ('einsum("ii", d)', lambda: np.einsum('ii',d)),
    ('einsum("ii->i", d)', lambda: np.einsum('ii->i',d)),
    ('einsum("...ij,...jk->...ik", z, q)', lambda: np.einsum('...ij,...jk->...ik',z,q)),
    ('einsum("bij,bjk,kl->il", z, q, xm[0:5,0,0:3])', lambda: np.einsum('bij,bjk,kl->il',z,q,xm[0:5,0,0:3])),
    ('einsum("ij->ji", x)', lambda: x.T),
    ('einsum("ij->", x)', lambda: x.sum()),
    ('einsum("i,j->ji", v, b)', lambda: np.einsum('i,j->ji',v,b)),
    ('einsum("...a,a->...", z, v[0:4])', lambda: np.einsum('...a,a->...',z,v[:4])),
    ('einsum("ij,ij->i", x, y)', lambda: np.einsum('ij,ij->i',x,y)),
    ('einsum("ba", x)', lambda: np.einsum('ba',x)),
    ('einsum("i...->...", z)', lambda: np.einsum('i...->...',z)),
    ('einsum("abc,cde,ef->abdf", z, xm[0:4,0:2,0:3], x)', lambda: np.einsum('abc,cde,ef->abdf',z,xm[0:4,0:2,0:3],x)),
]

NAMES = {"f4": "f32", "f8": "f64", "i4": "i32", "i8": "i64", "u1": "u8", "u4": "u32", "u8": "u64", "b1": "bool", "f2": "f16",
         "i1": "i8", "i2": "i16"}


def type_of(a):
    return "%s[%s]" % (NAMES[a.dtype.str[1:]], ",".join(map(str, a.shape)))


def value(a):
    if a.dtype == bool:
        return "true" if a else "false"
    return "%d" % a if a.dtype.kind in "iu" else "%.17g" % a if a.itemsize == 8 else "%.9g" % a


def literal(a):
    if a.ndim == 0:
        return "-0.0" if a.dtype.kind == "f" and a == 0 and np.signbit(a) else value(a)
    return "[" + ", ".join(map(literal, a)) + "]"


def main():
    edges = {"f32": np.array(EDGES, f4), "f64": np.array(EDGES)}
    inputs = dict(INPUTS, e32=edges["f32"], e64=edges["f64"])
    for name, a in inputs.items():
        print("const %s %s = %s" % (name, type_of(a), literal(a)))
    for bits, (dt, a) in zip((32, 64), edges.items()):
        for name, f in UNARY.items():
            r = f(a.astype(L)).astype(a.dtype)
            print("%s(e%d)\n\tulp=4 %s %s" % (name, bits, type_of(a), " ".join(map(value, r))))
    for text, f in CASES:
        r = np.asarray(f())
        print("%s\n\t%s %s" % (text, type_of(r), " ".join(map(value, r.ravel()))))


main()
