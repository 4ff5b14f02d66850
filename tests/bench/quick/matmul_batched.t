input a f32[64, 128, 128]
input b f32[64, 128, 64]
output y = a @ b
