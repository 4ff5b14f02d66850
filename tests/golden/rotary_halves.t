# rotate_half: the second half negated before the first
input x f32[n, 4, s, 16] where n in 1..64, s in 1..512
input cos f32[s, 16]
input sin f32[s, 16]
output y = x * cos + concat([-x[..., 8:], x[..., :8]], axis=-1) * sin
