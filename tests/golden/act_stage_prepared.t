input x f32[n, 3, 4] where n in 1..50
const w f32 = [1, 2.5, 0.25, 3]
const v f32 = [[2], [1], [4]]
output y = x * (w + v)
