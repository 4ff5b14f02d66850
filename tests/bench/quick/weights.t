# what the other programs load, made once
output norm = rand([1024], key=1), square = rand([4096, 4096], key=2) - 0.5
output conv_3x3 = rand([64, 64, 3, 3], key=3) - 0.5, conv_1x1 = rand([64, 256, 1, 1], key=4) - 0.5
output conv_7x7 = rand([64, 3, 7, 7], key=5) - 0.5, conv_depthwise = rand([96, 1, 3, 3], key=6) - 0.5
