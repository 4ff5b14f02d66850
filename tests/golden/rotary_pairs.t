# neighbours turned together, stacked and laid flat again
input x f32[n, 4, s, 16] where n in 1..64, s in 1..512
input cos f32[s, 8]
input sin f32[s, 8]
a, b = x[..., ::2], x[..., 1::2]
output y = reshape(stack([a * cos - b * sin, a * sin + b * cos], axis=-1), [n, 4, s, 16])
