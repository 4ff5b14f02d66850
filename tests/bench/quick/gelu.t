input a f32[16777216]
input b f32[16777216]
input c f32[16777216]
output y = gelu(a * b + c, approximate="tanh")
