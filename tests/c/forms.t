# loops, indices, keywords, constants, lists, weak numbers: what forms.c and forms.cpp are to give
size n in 1..64
input q f64[n, 3]
input w f32[3]
const base = f64([[1, 2, 3], [4, 5, 6]])
const ids = i32([2, 0])
p = q * 2 - 1
for i in 0..1 { p = p + sin(q) * f64((i + 1) / 2) + base[i] }
output p
output total = sum(q, axis=0, keepdims=true), parts = q[: n // 2, none, ::-1]
output picked = q[:, ids], last = q[-1, ...]
output mixed = where(w > 0.5, w, -w / 3.0), half = w + 0.5
output joined = concat(w, [1.0, 2.0]), even = w % 2 == 0
a, b = topk(w, 2)
output a, b
output twice = q.shape[0] * 2 + w
output product = matmul(q, base.T), whole = f64(arange(3) / 2)
output area = f64(1.7724538509055159) * q[0]
output some = compress(w, w > 0.3), places = nonzero(q > 0.5)
