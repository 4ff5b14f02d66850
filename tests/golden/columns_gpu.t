# few columns: a group for 32 of them, their sums in parts
# many rows, read along them: a group for each
input x f32[96,64]
input w f32[4096,128]
output y = sum(x * x, axis=0)
output z = sum(w, axis=1)
