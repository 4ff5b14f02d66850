input x f32[3, 5]
output rows = cumsum(x, axis=1), columns = cumsum(x * 2, axis=0)
