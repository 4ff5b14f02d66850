input a0 f32[n, 13] where n in 16..18
input b0 f32[17, 13]
output y0 = (a0 @ transpose(b0, [1, 0]))
input a1 f32[7, 33]
const i1 = [1, 1]
output y1 = embedding(i1, a1) * 2
input a2 f32[7, 15]
output y2 = a2 - max(a2, axis=0, keepdims=true)
input a3 f32[33, n] where n in 16..18
output m3 = transpose(a3, [1, 0])
input a4 f32[1, 5, 17, 31]
input b4 f32[11, 5, 3, 3]
output y4 = conv2d(a4, b4, padding=1)
input a5 f32[33, 8]
input b5 f32[9, 8]
output y5 = (a5 @ transpose(b5, [1, 0]))
input a6 f32[9, 47]
const i6 = [0, 0, 2, 8, 2, 2, 1, 0]
output y6 = embedding(i6, a6) @ transpose(a6, [1, 0])
input a7 f32[2, 8]
const i7 = [1, 1, 1, 1, 0, 0, 0]
input b7 f32[7, 8]
output y7 = scatter(a7, i7, b7, how="add")
input a8 f32[64]
output y8 = sum(exp(a8), axis=[0]) + 0.5
input a9 f32[65]
output y9 = max(a9 + 1, axis=[0]) + 0.5
input a10 f32[n, 23, 4] where n in 16..18
input b10 f32[4]
output y10 = where(a10 > 0, a10, -a10)
input a11 f32[2, 31]
input b11 f32[31]
output y11 = a11 * a11 + 1
