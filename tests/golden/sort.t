input x f32[2, 6]
output up = sort(x, axis=1), order = argsort(x, axis=1, descending=true)
