# Pow Mul Add Mul Tanh Add Mul Mul behind a Gemm over rows laid flat
input x f32[n, s, 64] where n in 1..64, s in 1..128
input w f32[64, 256]
input b f32[256]
h = reshape(reshape(x, [-1, 64]) @ w + b, [n, s, 256])
output y = 0.5 * h * (1 + tanh(0.7978846 * (h + 0.044715 * h ** 3)))
