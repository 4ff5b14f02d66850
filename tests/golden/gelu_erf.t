# behind a linear layer: Div Erf Add Mul Mul
input x f32[n, s, 64] where n in 1..64, s in 1..128
input w f32[64, 256]
input b f32[256]
h = x @ w + b
output y = h * (erf(h / 1.4142135) + 1) * 0.5
