input x f32[1, 3, 8, 8]
const w f32 = reshape([[1, 0, -1, 2, 0, -2, 1, 0, -1, 0.5, 0.5, 0.5, 0, 0, 0, -0.5, -0.5, -0.5, 0, 1, 0, 1, -4, 1, 0, 1, 0]], 1, 3, 3, 3)
y = relu(conv2d(x, w, padding=1))
output y = max_pool(y, 2)
