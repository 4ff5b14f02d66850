# scaled_dot_product_attention: the root of the scale on both sides, softmax spelled out
input x f32[n, s, 32] where n in 1..64, s in 1..512
input wq f32[32, 32]
input wk f32[32, 32]
input wv f32[32, 32]
def heads(x) = permute(reshape(x, [n, s, 4, 8]), 0, 2, 1, 3)
q = heads(x @ wq) * sqrt(sqrt(1 / 8.0))
k = permute(heads(x @ wk), 0, 1, 3, 2) * sqrt(sqrt(1 / 8.0))
e = exp(q @ k - max(q @ k, axis=-1, keepdims=true))
output y = (e / sum(e, axis=-1, keepdims=true)) @ heads(x @ wv)
