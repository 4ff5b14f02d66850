input a f32[32, 4096]
const w = load("square.npy")
output y = a @ w
