input x f32[4096, 4096]
output y = sum(x)
