input a f32[12, 1]
input b f32[8]
output y = a * b
