input a f32[1, 4096]
const w = load("square.npy")
output y = a @ w
