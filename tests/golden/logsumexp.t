input x f32[3, 16]
output y = logsumexp(x, axis=-1)
