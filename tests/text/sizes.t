# size variables as numbers: known and symbolic ones
size m in 1..8
input x f32[n, m] where n in 2..8
rows, columns = x.shape
output mean = sum(x, axis=0) / n, tail = x[n - 1:, m - 1:], ends = x[[0, -1]]
output count = rows * columns, less = n - 10, same = 1 if n > 0 else 2
output flat = reshape(x, n * m)[-2:], wide = zeros([n + 1, 2 * m - 1]).shape[1]
