# what reads folds by quotient and remainder of a loop has two loops, and is one kernel with them
input x f32[3, 12, 5, n] where n in 1..9
output y = groupnorm(x, 4)
output z = reshape(softmax(reshape(x, [3, 12, 5*n]), axis=1), [36, 5, n]) * 2
