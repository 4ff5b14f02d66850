# what is kept from call to call
input x f64[3]
state mean f64[3] = 0
state count i64 = 0
count <- count + 1
mean <- mean + (x - mean) / f64(count)
output mean, first = mean[0]
