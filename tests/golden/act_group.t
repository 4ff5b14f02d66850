input x f32[3, 10]
e = sqrt(x)
output y = e / sum(e, axis=1, keepdims=true)
