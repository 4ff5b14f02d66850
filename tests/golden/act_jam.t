input x f32[9, 4]
output y = max(x, axis=0)
