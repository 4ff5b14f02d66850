# Pow ReduceMean Add Sqrt Reciprocal Mul Mul
input x f32[n, 64] where n in 1..512
input g f32[64]
output y = x * (1 / sqrt(mean(x ** 2, axis=-1, keepdims=true) + 1e-6)) * g
