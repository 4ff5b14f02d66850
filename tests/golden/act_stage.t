input x f32[2, 9]
e = sqrt(x)
output y = e / sum(e, axis=1, keepdims=true)
