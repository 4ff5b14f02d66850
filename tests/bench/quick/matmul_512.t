input a f32[512, 512]
input b f32[512, 512]
output y = a @ b
