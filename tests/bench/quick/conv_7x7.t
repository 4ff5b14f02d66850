input x f32[1, 3, 224, 224]
const w = load("conv_7x7.npy")
output y = conv2d(x, w, stride=2, padding=3)
