input x f32[64, 64]
h = x + 1
output a = sum(h, axis=1), b = sum(transpose(h) * 2, axis=1)
