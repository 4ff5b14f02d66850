input a f32[20]
input b f32[20]
output y = max(a * b, axis=0)
