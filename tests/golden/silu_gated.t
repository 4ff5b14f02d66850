# two products of one input, one through x·sigmoid(x), multiplied, and a third behind them
input x f32[n, 64] where n in 1..512
input w1 f32[64, 256]
input w2 f32[64, 256]
input w3 f32[256, 64]
h = x @ w1
output y = (h * sigmoid(h) * (x @ w2)) @ w3 + x
