input x f32[65540]
output y = sum(x)
