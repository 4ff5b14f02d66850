input x f32[11]
output y = x * x
