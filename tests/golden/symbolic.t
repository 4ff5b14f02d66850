input x f32[n, 4] where n in 1..64
output y = x / sum(x, axis=0), last = x[::-1]
