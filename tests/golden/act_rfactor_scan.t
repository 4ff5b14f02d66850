input a f32[100]
output y = cumsum(a, axis=0)
