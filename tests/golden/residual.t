# heads put together, a linear layer, the input added
input x f32[n, s, 32] where n in 1..64, s in 1..512
input y f32[n, 4, s, 8]
input w f32[32, 32]
input b f32[32]
output z = x + (reshape(permute(y, 0, 2, 1, 3), [n, s, 32]) @ w + b)
