# a running mean: the old content is read where the new one is written
input x f32[4]
state mean f32[4] = 0
state calls i32 = 0
calls <- calls + 1
mean <- mean * 0.75 + x * 0.25
output y = x - mean
