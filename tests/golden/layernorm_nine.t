# nine nodes: ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add
input x f32[n, 64] where n in 1..512
input g f32[64]
input b f32[64]
d = x - mean(x, axis=-1, keepdims=true)
output y = d / sqrt(mean(d ** 2, axis=-1, keepdims=true) + 1e-5) * g + b
