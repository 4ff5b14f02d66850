input a u8[2, 24]
input b i8[24, 4]
output y = i32(a) @ i32(b)
