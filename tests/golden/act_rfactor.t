input a f32[4, 100]
output y = sum(a, axis=1)
