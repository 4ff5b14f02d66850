input x i32[8, 5]
output y = transpose(x, [1, 0])
