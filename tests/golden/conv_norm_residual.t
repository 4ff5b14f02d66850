# a block's end: a norm spelled out, the shortcut, Relu, and an average over each picture
input x f32[n, 16, 14, 14] where n in 1..64
input z f32[n, 32, 14, 14]
input w f32[32, 16, 1, 1]
input scale f32[32]
input shift f32[32]
h = conv2d(x, w) * scale[:, none, none] + shift[:, none, none]
output y = relu(h + z), mean = mean(relu(h + z), axis=[2, 3])
