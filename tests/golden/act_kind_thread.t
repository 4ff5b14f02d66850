input a f32[5, 1]
input b f32[12]
output y = a - b
