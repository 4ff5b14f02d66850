# what is picked element by element, in an order that comes from memory, is computed in vectors first; rows are not
input x f32[n] where n in 1..8192
input i i64[n]
input w f32[512, 64]
input j i64[8]
output y = ((x * x + 1) * (x - 2) * (x + 3) * x)[i], z = ((w * w + 1) * (w - 2) * (w + 3) * w)[j], c = (x * 2)[i]
