# the sum of a matrix product, its bias and a residual, normalized
input x f32[n, 64] where n in 1..512
input h f32[n, 32]
input w f32[32, 64]
input bias f32[64]
input g f32[64]
input b f32[64]
output y = layernorm(h @ w + bias + x, g, b)
