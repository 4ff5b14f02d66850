# an output that is only a view is written out row by row
input x f32[2, 3]
output y = transpose(x * 2), z = transpose(x)
