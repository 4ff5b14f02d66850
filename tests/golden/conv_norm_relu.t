# BatchNormalization and Relu behind a convolution; the root of the variance is found once
input x f32[n, 16, 28, 28] where n in 1..64
input w f32[32, 16, 3, 3]
input scale f32[32]
input shift f32[32]
input mean f32[32]
input var f32[32]
output y = relu(batchnorm(conv2d(x, w, padding=1), scale, shift, mean, var))
