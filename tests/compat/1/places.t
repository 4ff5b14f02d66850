input x f32[7, 5]
i = argsort(x[:, 2])
s = cumsum(x, axis=0)
g = s[i]
output y = scatter(zeros([9, 5]), i + 1, g, how="add")
output up = sort(cumprod(x * 1.5, axis=1), axis=0), best = topk(x, 2)[0], at = argmax(g, axis=1)
output bins = scatter(zeros([4], dtype="i32"), i32(x[:, 0] * 4), ones([7], dtype="i32"), how="add")
