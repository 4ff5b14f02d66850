input x f32[4, 3]
state mean f32[3] = 0.5
state calls i64 = 0
state last f32[3, 4] = 1
calls <- calls + 1
d = mean(x, axis=0) - mean
before = last
last <- transpose(x) + before * 0.5
mean <- mean + d / f32(calls)
output moved = sum(d * d), n = calls, before, mean
