# BERT: scores divided, a mask of 0 and the least number added
input q f32[n, s, 32] where n in 1..64, s in 1..512
input k f32[n, s, 32]
input v f32[n, s, 32]
input mask i64[n, s]
def heads(x) = permute(reshape(x, [n, s, 4, 8]), 0, 2, 1, 3)
far = (1 - f32(mask[:, none, none, :])) * -3.4e38
p = softmax(heads(q) @ permute(heads(k), 0, 1, 3, 2) / 2.828427 + far, axis=-1)
output y = reshape(permute(p @ heads(v), 0, 2, 1, 3), [n, s, 32])
