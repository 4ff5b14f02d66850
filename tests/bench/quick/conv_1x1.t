input x f32[1, 256, 56, 56]
const w = load("conv_1x1.npy")
output y = conv2d(x, w)
