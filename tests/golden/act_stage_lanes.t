input x f32[8, 24]
output y = x / sqrt(sum(x * x, axis=-1, keepdims=true))
