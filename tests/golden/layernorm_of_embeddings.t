# three tables looked up, one of them by place alone
input ids i64[n, s] where n in 1..64, s in 1..128
input kinds i64[n, s]
input words f32[1000, 64]
input types f32[2, 64]
input places f32[128, 64]
input g f32[64]
input b f32[64]
output y = layernorm(gather(words, ids) + gather(types, kinds) + places[:s], g, b)
