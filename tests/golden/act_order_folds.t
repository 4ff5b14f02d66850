input a f32[8, 24]
input b f32[24, 16]
output y = a @ b
