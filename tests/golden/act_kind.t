input a f32[9, 6]
input b f32[6, 8]
output y = a @ b
