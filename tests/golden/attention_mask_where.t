# GPT-2: scores kept where a slice of a lower triangle is true
input q f32[n, 4, s, 8] where n in 1..64, s in 1..64
input k f32[n, 4, s, 8]
input v f32[n, 4, s, 8]
input low bool[64, 64]
scores = where(low[none, none, :s, :s], q @ permute(k, 0, 1, 3, 2) / 2.828427, -3.4e38)
output y = softmax(scores, axis=-1) @ v
