# channels in groups, each normalized over its picture, then scaled channel by channel
input x f32[n, 32, 14, 14] where n in 1..64
input g f32[32]
input b f32[32]
z = reshape(x, [n, 8, -1])
d = z - mean(z, axis=-1, keepdims=true)
z = reshape(d / sqrt(mean(d * d, axis=-1, keepdims=true) + 1e-5), [n, 32, 14, 14])
output y = z * g[:, none, none] + b[:, none, none]
