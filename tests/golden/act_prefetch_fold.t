input x f32[24, 40]
output y = sum(x, axis=0)
