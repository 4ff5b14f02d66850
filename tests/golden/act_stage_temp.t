input x f32[6, 8]
input w f32[8, 16]
output y = x @ w
