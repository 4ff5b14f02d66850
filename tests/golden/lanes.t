# a mask where there is padding, numbers that are places, a square of a register turned, a bool
input x f32[n, 8] where n in 8..64
input at i64[8]
input t f32[8]
a = gather(t, at) * 0.5
output y = where(x < a, x, a)
output z = transpose(x, [1, 0]) + 1
output more = pad(x, [[0, 0], [1, 2]]) > 0.5
