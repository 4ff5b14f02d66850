# NumPy's indexing
x = reshape(arange(24), 2, 3, 4)
i = arange(2) - 1                 # [-1, 0]
output last = x[-1, -1, -1], column = x[:, 1, ::2], back = x[0, ::-1, :-3:-1]
output new = x[:1, none, 2, :2], dots = x[..., 0], gathered = x[:, i, [0, 1]]
output apart = x[i, :, [3, -1]], wrapped = x[0, [[-1], [0]], i], empty = x[0, 5:, 0]
output turned = x[0].T.shape[0], sizes = x[:, :2].shape + [x.ndim, x.size]
