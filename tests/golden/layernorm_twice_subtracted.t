# the difference written twice, squared by a product
input x f32[n, 64] where n in 1..512
input g f32[64]
input b f32[64]
m = mean(x, axis=-1, keepdims=true)
v = mean((x - m) * (x - m), axis=-1, keepdims=true)
output y = (x - m) * rsqrt(v + 1e-5) * g + b
