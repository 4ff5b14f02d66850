input a f32[6, 5]
input b f32[8, 5]
output y = a @ transpose(b, [1, 0])
