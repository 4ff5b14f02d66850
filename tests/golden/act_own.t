input x f32[6, 20]
output y = (x - max(x, axis=1, keepdims=true)) / sum(x * x, axis=1, keepdims=true)
