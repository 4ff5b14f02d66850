input x f32[10, 19]
output y = sum(x, axis=1)
