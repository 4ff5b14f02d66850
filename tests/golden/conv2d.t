input x f32[1, 2, 5, 5]
input w f32[3, 2, 3, 3]
output y = relu(conv2d(x, w, padding=1))
