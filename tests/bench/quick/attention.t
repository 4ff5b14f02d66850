input q f32[1, 8, 512, 64]
input k f32[1, 8, 512, 64]
input v f32[1, 8, 512, 64]
output y = attention(q, k, v)
