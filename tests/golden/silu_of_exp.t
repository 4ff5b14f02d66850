# x / (1 + exp(-x)) behind a convolution
input x f32[n, 16, 28, 28] where n in 1..64
input w f32[32, 16, 3, 3]
input b f32[32]
h = conv2d(x, w, b, padding=1)
output y = h / (1 + exp(-h))
