input x f32[n, 2*m] where n in 1..64, m in 1..9
input w f32[2*m, 4]
h = relu(x @ w - 0.5)
output y = layernorm(h), rows = mean(x, axis=1) * n, turned = reshape(x[::-1], n * 2, m)
output z = concat(h, h[::-1] * 2), count = sum(ones([n, m]))
