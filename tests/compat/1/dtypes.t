input x f32[3, 4]
i = i32(x * 100) - 50
b = i8(i)
output q = i // 7, r = i % 7, s = i << 2, a = (i & 12) | 1, e = i == 3
output h = f16(x) * f16(2), d = f64(x) / 3, w = bf16(x), u = u8(i), n = b * b
output c = clip(i64(i), -20, 20), m = min(u8(i)), k = exp(x) + log(x + 1) + sin(x)
