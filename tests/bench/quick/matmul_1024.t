input a f32[1024, 1024]
input b f32[1024, 1024]
output y = a @ b
