input x f32[3, 24]
output y = x / max(x, axis=1, keepdims=true)
