input a f32[5, 3]
input b f32[3, 12]
output y = a @ b
