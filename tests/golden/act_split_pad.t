input a f32[19]
output y = a * a
