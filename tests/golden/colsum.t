input x f32[40, 5]
output y = sum(x, axis=0)
