input a0 u16[5, 7, 64]
output m0 = flip(transpose(a0, [1, 2, 0]), axis=2)
input a1 f64[5, 5]
output m1 = transpose(a1, [1, 0])
input a2 f32[65, 9]
output m2 = transpose(a2, [1, 0])
input a3 f16[33, 13]
output m3 = transpose(a3, [1, 0])
input a4 f32[31, 1, 65]
output m4 = transpose(a4, [1, 0, 2])
input a5 u16[31, 1, 49]
output m5 = transpose(a5, [1, 0, 2])
input a6 f64[1, 48, 64]
output m6 = transpose(a6, [2, 1, 0])
input a7 i64[49, 7]
output m7 = transpose(a7, [1, 0])
input a8 f64[8, 32]
output m8 = transpose(a8, [1, 0])
input a9 bool[16, 2]
output m9 = transpose(a9, [1, 0])
input a10 f16[15, 64]
output m10 = transpose(a10, [1, 0])
input a11 i8[49, 4]
output m11 = transpose(a11, [1, 0])
input a12 f64[8, 48]
output m12 = flip(transpose(a12, [1, 0]), axis=0)
input a13 i8[49, 5]
output m13 = transpose(a13, [1, 0])
input a14 f64[1, 33, 9]
output m14 = transpose(a14, [0, 2, 1])
input a15 f32[11, 17, 15]
output m15 = flip(transpose(a15, [2, 0, 1]), axis=1)
input a16 i64[4, 16, 4]
output m16 = flip(transpose(a16, [0, 2, 1]), axis=0)
input a17 f32[15, 4]
output m17 = flip(transpose(a17, [1, 0]), axis=1)
input a18 f32[2, 65]
output m18 = transpose(a18, [1, 0])
input a19 i64[64, 47]
output m19 = transpose(a19, [1, 0])
input a20 f32[65, 47]
output m20 = flip(transpose(a20, [1, 0]), axis=0)
input a21 f64[64, 5]
output m21 = transpose(a21, [1, 0])
input a22 i8[17, 63]
output m22 = flip(transpose(a22, [1, 0]), axis=0)
input a23 f64[15, 7]
output m23 = transpose(a23, [1, 0])
input a24 bool[4, 1]
output m24 = transpose(a24, [1, 0])
input a25 u16[8, 8]
output m25 = transpose(a25, [1, 0])
input a26 i8[3, 65, 4]
output m26 = transpose(a26, [0, 2, 1])
input a27 u16[1, 11]
output m27 = flip(transpose(a27, [1, 0]), axis=1)
input a28 i64[47, 9]
output m28 = flip(transpose(a28, [1, 0]), axis=1)
input a29 u16[65, 9]
output m29 = transpose(a29, [1, 0])
input a30 i64[4, 8]
output m30 = transpose(a30, [1, 0])
input a31 f64[5, 17]
output m31 = flip(transpose(a31, [1, 0]), axis=0)
input a32 bool[2, 15]
output m32 = transpose(a32, [1, 0])
input a33 i8[13, 4]
output m33 = transpose(a33, [1, 0])
input a34 f32[13, 48]
output m34 = transpose(a34, [1, 0])
input a35 f64[5, 9]
output m35 = flip(transpose(a35, [1, 0]), axis=1)
input a36 f16[8, 5, 11]
output m36 = flip(transpose(a36, [1, 0, 2]), axis=1)
input a37 f32[48, 11]
output m37 = flip(transpose(a37, [1, 0]), axis=0)
input a38 u16[23, 47]
output m38 = transpose(a38, [1, 0])
input a39 u16[15, 23]
output m39 = flip(transpose(a39, [1, 0]), axis=0)
