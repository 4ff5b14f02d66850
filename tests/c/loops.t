# loops and branches that are data: what loops.c and loops.cpp are to give
size n in 0..64
input x f64[n, 4]
input a f64
const w = f64([[0.5, 0, 0, 0.25], [0, 0.5, 0.25, 0], [0.25, 0.5, 0, 0], [0, 0, 0.25, 0.5]])
h = zeros([4], dtype=f64)
states = []
for i in 0..n - 1 {
	h = tanh(x[i] + h @ w) * f64(i + 1)
	states += [h]
}
output h, states = stack(states)
r = f64(1)
turns = f64(0)
while abs(r * r - a) > 1e-9 and turns < 50 {
	r = (r + a / r) / 2
	turns = turns + 1
}
output r, turns
if r > 1.0 { few = x[: n // 2] } else { few = x }
sign = f64(1)
if r < a { sign = f64(-1) }
output few, sign
total = f64(0)
for i in 0..n - 1 { for j in 0..i { total = total + x[i, 0] * f64(j + 1) } }
output total
