input x f32[4, 3]
input v f32[5, 3]
const i = [0, 3, 3, 1, 7]
output y = scatter(x, i, v, how="add")
