input x f32[9, 10]
output y = transpose(x, [1, 0])
