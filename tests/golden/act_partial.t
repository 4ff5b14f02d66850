input x f32[30]
output y = sum(x, axis=0)
