input x f32[9, 4]
output y = min(x, axis=0)
