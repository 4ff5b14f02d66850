input x f32[70000]
output y = cumsum(x)
