input x f32[5, 40]
output y = sum(x, axis=1)
