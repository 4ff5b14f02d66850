input a f32[n, 3] where n in 1..99
input b f32[3, 12]
output y = a @ b
