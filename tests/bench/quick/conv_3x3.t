input x f32[1, 64, 56, 56]
const w = load("conv_3x3.npy")
output y = conv2d(x, w, padding=1)
