input x f32[3, 16]
input scale f32[16]
input shift f32[16]
output y = layernorm(x, scale, shift)
