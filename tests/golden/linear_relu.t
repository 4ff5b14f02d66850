# a contraction, its bias and its activation: one kernel
input a f32[4, 8]
input b f32[8, 6]
input bias f32[6]
output y = relu(a @ b + bias)
