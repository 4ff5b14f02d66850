input x f32[4096, 1024]
output y = softmax(x)
