# an output that is an input, or a part of it, gets a buffer of its own
input x f32[4, 6]
output same = x, part = x[1:3, ::2], turned = flip(pad(x, [[0, 0], [1, 1]]), 1)
