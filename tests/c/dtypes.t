# every dtype, as input and as a constant
input a bool[3]
input b i8[3]
input c i16[3]
input d i32[3]
input e i64[3]
input f u8[3]
input g u16[3]
input h u32[3]
input i u64[3]
input j f16[3]
input k bf16[3]
input l f32[3]
input m f64[3]
output a1 = a & bool([1, 0, 1]), b1 = b + i8([-128, 0, 127]), c1 = c * i16([-32768, 0, 32767])
output d1 = d + i32([-2147483648, 0, 1]), e1 = e + i64([-9223372036854775807, 0, 1]), f1 = f + u8([255, 0, 1])
output g1 = g + u16([65535, 0, 1]), h1 = h + u32([4294967295, 0, 1]), i1 = i + u64([18446744073709551615, 0, 1])
output j1 = j + 1.5, k1 = k * 2, l1 = l + f32([0.1, inf, 2.5]), m1 = m + f64([0.1, -inf, 2.5])
output n1 = f16(m), o1 = bf16(m), p1 = u64(e) + 18446744073709551615
