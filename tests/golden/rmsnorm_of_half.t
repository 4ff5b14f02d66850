# computed in f32, scaled in f16
input x f16[n, 64] where n in 1..512
input g f16[64]
z = f32(x)
output y = f16(z * rsqrt(mean(z * z, axis=-1, keepdims=true) + 1e-6)) * g
