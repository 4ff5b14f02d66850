input x f32[3, 4]
input y f32[5]
output z = x * 2 + y
