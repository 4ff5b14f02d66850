input a f32[6, 8]
output y = transpose(a, [1, 0]) * 2
