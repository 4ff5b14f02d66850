input x f32[66, 64]
a = sqrt(abs(x)) + 1
b = a[1:, :] * a[:-1, :] + a[1:, :]
output y = b[1:, :] * 2 + b[:-1, :]
