input x i32[4, 4]
output y = transpose(x, [1, 0])
