# QuantizeLinear and DequantizeLinear around a convolution and its Relu
input x u8[n, 16, 28, 28] where n in 1..64
input w f32[32, 16, 3, 3]
input b f32[32]
h = relu(conv2d((f32(x) - 128) * 0.02, w, b, padding=1))
output y = u8(clip(round(h / 0.05) + 3, 0, 255))
