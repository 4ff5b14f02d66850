input x f32[1, 96, 112, 112]
const w = load("conv_depthwise.npy")
output y = conv2d(x, w, padding=1, groups=96)
