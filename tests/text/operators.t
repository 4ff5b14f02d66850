# precedence, weak numbers, folding
i = arange(1, 4)                  # i64
f = f32(i)
h = f16(i)
output power = -f ** 2, right = 2 ** 3 ** 2, low = 1 | 2 ^ 3 & 4 << 1
output mixed = 1 + 2 * f - 3 / 4, floor = -7 // 2, left = -7 % 3
output weak = h * 2.5, whole = i * 2, part = i * 0.5
output logic = (i > 1) & ~(i == 3), shift = i << 2 >> 1, turned = ~i
output list = [1, 2.5] * f[:2], truth = 1 if 2 > 1 and not false else 0
output product = f @ [[1, 0], [0, 1], [1, 1]], root = sqrt(2) * h
