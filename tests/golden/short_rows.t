# rows of 3, at most half a vector of 8 floats: eight rows at once, each in a lane, their places written out
input x f32[20, 3]
output y = softmax(x)
