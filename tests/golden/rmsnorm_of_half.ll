define internal <8 x float> @f32_of_f16x8(<8 x i16> %a) alwaysinline nounwind {
	%u = zext <8 x i16> %a to <8 x i32>
	%t = and <8 x i32> %u, <i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768>
	%sign = shl <8 x i32> %t, <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
	%e = and <8 x i32> %u, <i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744>
	%m = and <8 x i32> %u, <i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023>
	%mf = uitofp <8 x i32> %m to <8 x float>
	%sf = fmul <8 x float> %mf, <float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000, float 0x3E70000000000000>
	%small = bitcast <8 x float> %sf to <8 x i32>
	%q = icmp ne <8 x i32> %m, zeroinitializer
	%qi = zext <8 x i1> %q to <8 x i32>
	%quiet = shl <8 x i32> %qi, <i32 22, i32 22, i32 22, i32 22, i32 22, i32 22, i32 22, i32 22>
	%m13 = shl <8 x i32> %m, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%odd = or <8 x i32> %m13, %quiet
	%inf = or <8 x i32> %odd, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
	%x = and <8 x i32> %u, <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
	%x13 = shl <8 x i32> %x, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%plain = add <8 x i32> %x13, <i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096>
	%is = icmp eq <8 x i32> %e, zeroinitializer
	%ii = icmp eq <8 x i32> %e, <i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744>
	%v = select <8 x i1> %ii, <8 x i32> %inf, <8 x i32> %plain
	%w = select <8 x i1> %is, <8 x i32> %small, <8 x i32> %v
	%o = or <8 x i32> %w, %sign
	%r = bitcast <8 x i32> %o to <8 x float>
	ret <8 x float> %r
}

declare <8 x float> @llvm.fmuladd.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare float @llvm.sqrt.f32(float)
define internal <8 x i16> @f16_of_f32x8(<8 x float> %a) alwaysinline nounwind {
	%u = bitcast <8 x float> %a to <8 x i32>
	%u16 = lshr <8 x i32> %u, <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
	%sign = and <8 x i32> %u16, <i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768, i32 32768>
	%m = and <8 x i32> %u, <i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647, i32 2147483647>
	%m13 = lshr <8 x i32> %m, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%low = and <8 x i32> %m13, <i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023, i32 1023>
	%nan = or <8 x i32> %low, <i32 32256, i32 32256, i32 32256, i32 32256, i32 32256, i32 32256, i32 32256, i32 32256>
	%mf = bitcast <8 x i32> %m to <8 x float>
	%sf = fadd <8 x float> %mf, <float 0.5, float 0.5, float 0.5, float 0.5, float 0.5, float 0.5, float 0.5, float 0.5>
	%si = bitcast <8 x float> %sf to <8 x i32>
	%small = sub <8 x i32> %si, <i32 1056964608, i32 1056964608, i32 1056964608, i32 1056964608, i32 1056964608, i32 1056964608, i32 1056964608, i32 1056964608>
	%odd = and <8 x i32> %m13, <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
	%x = add <8 x i32> %m, <i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001>
	%y = add <8 x i32> %x, %odd
	%plain = lshr <8 x i32> %y, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%is = icmp ult <8 x i32> %m, <i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704>
	%ii = icmp uge <8 x i32> %m, <i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848>
	%in = icmp ugt <8 x i32> %m, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
	%z = select <8 x i1> %is, <8 x i32> %small, <8 x i32> %plain
	%d = select <8 x i1> %ii, <8 x i32> <i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744>, <8 x i32> %z
	%e = select <8 x i1> %in, <8 x i32> %nan, <8 x i32> %d
	%o = or <8 x i32> %e, %sign
	%r = trunc <8 x i32> %o to <8 x i16>
	ret <8 x i16> %r
}

; y
; rmsnorm_of_half.t:5
define void @r_n_64(i16* noalias %y, i16* noalias readonly %x, i16* noalias readonly %g, i64 %from, i64 %to) noinline nounwind {
	%acc0 = alloca [1 x float], align 64
	%t0 = getelementptr inbounds [1 x float], [1 x float]* %acc0, i64 0, i64 0
	%acc1 = alloca [8 x float], align 64
	%t1 = getelementptr inbounds [8 x float], [8 x float]* %acc1, i64 0, i64 0
	%acc2 = alloca [8 x float], align 64
	%t2 = getelementptr inbounds [8 x float], [8 x float]* %acc2, i64 0, i64 0
	%acc3 = alloca [8 x float], align 64
	%t3 = getelementptr inbounds [8 x float], [8 x float]* %acc3, i64 0, i64 0
	%acc4 = alloca [8 x float], align 64
	%t4 = getelementptr inbounds [8 x float], [8 x float]* %acc4, i64 0, i64 0
	%acc5 = alloca [8 x float], align 64
	%t5 = getelementptr inbounds [8 x float], [8 x float]* %acc5, i64 0, i64 0
	%acc6 = alloca [8 x float], align 64
	%t6 = getelementptr inbounds [8 x float], [8 x float]* %acc6, i64 0, i64 0
	%acc7 = alloca [8 x float], align 64
	%t7 = getelementptr inbounds [8 x float], [8 x float]* %acc7, i64 0, i64 0
	%acc8 = alloca [4 x float], align 64
	%t8 = getelementptr inbounds [4 x float], [4 x float]* %acc8, i64 0, i64 0
	%acc9 = alloca [2 x float], align 64
	%t9 = getelementptr inbounds [2 x float], [2 x float]* %acc9, i64 0, i64 0
	%t10 = icmp slt i64 %from, %to
	br i1 %t10, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t11 = getelementptr inbounds float, float* %t1, i64 0
	%t12 = bitcast float* %t11 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t12, align 4
	%t13 = getelementptr inbounds float, float* %t2, i64 0
	%t14 = bitcast float* %t13 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t14, align 4
	%t15 = getelementptr inbounds float, float* %t3, i64 0
	%t16 = bitcast float* %t15 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t16, align 4
	%t17 = getelementptr inbounds float, float* %t4, i64 0
	%t18 = bitcast float* %t17 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t18, align 4
	br label %loop1
loop1:
	%r1 = phi i64 [0, %loop0], [%n1, %next1]
	%t19 = mul nsw i64 %r1, 32
	%t20 = mul nsw i64 %r0, 64
	%t21 = add nsw i64 %t20, %t19
	%t22 = getelementptr inbounds i16, i16* %x, i64 %t21
	%t23 = bitcast i16* %t22 to <8 x i16>*
	%t24 = load <8 x i16>, <8 x i16>* %t23, align 2
	%t25 = call <8 x float> @f32_of_f16x8(<8 x i16> %t24)
	%t26 = mul nsw i64 %r1, 32
	%t27 = mul nsw i64 %r0, 64
	%t28 = add nsw i64 %t27, %t26
	%t29 = add nsw i64 %t28, 8
	%t30 = getelementptr inbounds i16, i16* %x, i64 %t29
	%t31 = bitcast i16* %t30 to <8 x i16>*
	%t32 = load <8 x i16>, <8 x i16>* %t31, align 2
	%t33 = call <8 x float> @f32_of_f16x8(<8 x i16> %t32)
	%t34 = mul nsw i64 %r1, 32
	%t35 = mul nsw i64 %r0, 64
	%t36 = add nsw i64 %t35, %t34
	%t37 = add nsw i64 %t36, 16
	%t38 = getelementptr inbounds i16, i16* %x, i64 %t37
	%t39 = bitcast i16* %t38 to <8 x i16>*
	%t40 = load <8 x i16>, <8 x i16>* %t39, align 2
	%t41 = call <8 x float> @f32_of_f16x8(<8 x i16> %t40)
	%t42 = mul nsw i64 %r1, 32
	%t43 = mul nsw i64 %r0, 64
	%t44 = add nsw i64 %t43, %t42
	%t45 = add nsw i64 %t44, 24
	%t46 = getelementptr inbounds i16, i16* %x, i64 %t45
	%t47 = bitcast i16* %t46 to <8 x i16>*
	%t48 = load <8 x i16>, <8 x i16>* %t47, align 2
	%t49 = call <8 x float> @f32_of_f16x8(<8 x i16> %t48)
	%t50 = getelementptr inbounds float, float* %t1, i64 0
	%t51 = bitcast float* %t50 to <8 x float>*
	%t52 = load <8 x float>, <8 x float>* %t51, align 4
	%t53 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t25, <8 x float> %t25, <8 x float> %t52)
	%t54 = getelementptr inbounds float, float* %t1, i64 0
	%t55 = bitcast float* %t54 to <8 x float>*
	store <8 x float> %t53, <8 x float>* %t55, align 4
	%t56 = getelementptr inbounds float, float* %t2, i64 0
	%t57 = bitcast float* %t56 to <8 x float>*
	%t58 = load <8 x float>, <8 x float>* %t57, align 4
	%t59 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t33, <8 x float> %t33, <8 x float> %t58)
	%t60 = getelementptr inbounds float, float* %t2, i64 0
	%t61 = bitcast float* %t60 to <8 x float>*
	store <8 x float> %t59, <8 x float>* %t61, align 4
	%t62 = getelementptr inbounds float, float* %t3, i64 0
	%t63 = bitcast float* %t62 to <8 x float>*
	%t64 = load <8 x float>, <8 x float>* %t63, align 4
	%t65 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t41, <8 x float> %t41, <8 x float> %t64)
	%t66 = getelementptr inbounds float, float* %t3, i64 0
	%t67 = bitcast float* %t66 to <8 x float>*
	store <8 x float> %t65, <8 x float>* %t67, align 4
	%t68 = getelementptr inbounds float, float* %t4, i64 0
	%t69 = bitcast float* %t68 to <8 x float>*
	%t70 = load <8 x float>, <8 x float>* %t69, align 4
	%t71 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t49, <8 x float> %t49, <8 x float> %t70)
	%t72 = getelementptr inbounds float, float* %t4, i64 0
	%t73 = bitcast float* %t72 to <8 x float>*
	store <8 x float> %t71, <8 x float>* %t73, align 4
	br label %next1
next1:
	%n1 = add nsw i64 %r1, 1
	%t74 = icmp slt i64 %n1, 2
	br i1 %t74, label %loop1, label %end1
end1:
	%t75 = getelementptr inbounds float, float* %t3, i64 0
	%t76 = bitcast float* %t75 to <8 x float>*
	%t77 = load <8 x float>, <8 x float>* %t76, align 4
	%t78 = getelementptr inbounds float, float* %t1, i64 0
	%t79 = bitcast float* %t78 to <8 x float>*
	%t80 = load <8 x float>, <8 x float>* %t79, align 4
	%t81 = fadd <8 x float> %t80, %t77
	%t82 = getelementptr inbounds float, float* %t5, i64 0
	%t83 = bitcast float* %t82 to <8 x float>*
	store <8 x float> %t81, <8 x float>* %t83, align 4
	%t84 = getelementptr inbounds float, float* %t4, i64 0
	%t85 = bitcast float* %t84 to <8 x float>*
	%t86 = load <8 x float>, <8 x float>* %t85, align 4
	%t87 = getelementptr inbounds float, float* %t2, i64 0
	%t88 = bitcast float* %t87 to <8 x float>*
	%t89 = load <8 x float>, <8 x float>* %t88, align 4
	%t90 = fadd <8 x float> %t89, %t86
	%t91 = getelementptr inbounds float, float* %t6, i64 0
	%t92 = bitcast float* %t91 to <8 x float>*
	store <8 x float> %t90, <8 x float>* %t92, align 4
	%t93 = getelementptr inbounds float, float* %t6, i64 0
	%t94 = bitcast float* %t93 to <8 x float>*
	%t95 = load <8 x float>, <8 x float>* %t94, align 4
	%t96 = getelementptr inbounds float, float* %t5, i64 0
	%t97 = bitcast float* %t96 to <8 x float>*
	%t98 = load <8 x float>, <8 x float>* %t97, align 4
	%t99 = fadd <8 x float> %t98, %t95
	%t100 = getelementptr inbounds float, float* %t7, i64 0
	%t101 = bitcast float* %t100 to <8 x float>*
	store <8 x float> %t99, <8 x float>* %t101, align 4
	%t102 = getelementptr inbounds float, float* %t7, i64 0
	%t103 = bitcast float* %t102 to <8 x float>*
	%t104 = load <8 x float>, <8 x float>* %t103, align 4
	%t105 = shufflevector <8 x float> %t104, <8 x float> undef, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
	%t106 = shufflevector <8 x float> %t104, <8 x float> undef, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
	%t107 = fadd <4 x float> %t106, %t105
	%t108 = getelementptr inbounds float, float* %t8, i64 0
	%t109 = bitcast float* %t108 to <4 x float>*
	store <4 x float> %t107, <4 x float>* %t109, align 4
	%t110 = getelementptr inbounds float, float* %t8, i64 0
	%t111 = bitcast float* %t110 to <4 x float>*
	%t112 = load <4 x float>, <4 x float>* %t111, align 4
	%t113 = shufflevector <4 x float> %t112, <4 x float> undef, <2 x i32> <i32 2, i32 3>
	%t114 = shufflevector <4 x float> %t112, <4 x float> undef, <2 x i32> <i32 0, i32 1>
	%t115 = fadd <2 x float> %t114, %t113
	%t116 = getelementptr inbounds float, float* %t9, i64 0
	%t117 = bitcast float* %t116 to <2 x float>*
	store <2 x float> %t115, <2 x float>* %t117, align 4
	%t118 = getelementptr inbounds float, float* %t9, i64 1
	%t119 = load float, float* %t118
	%t120 = getelementptr inbounds float, float* %t9, i64 0
	%t121 = load float, float* %t120
	%t122 = fadd float %t121, %t119
	%t123 = getelementptr inbounds float, float* %t0, i64 0
	store float %t122, float* %t123
	%t124 = getelementptr inbounds float, float* %t0, i64 0
	%t125 = load float, float* %t124
	%t126 = fdiv float %t125, 0x4050000000000000
	%t127 = fadd float %t126, 0x3EB0C6F7A0000000
	%t128 = call float @llvm.sqrt.f32(float %t127)
	%t129 = fdiv float 0x3FF0000000000000, %t128
	br label %loop2
loop2:
	%r2 = phi i64 [0, %end1], [%n2, %next2]
	%t130 = mul nsw i64 %r2, 32
	%t131 = getelementptr inbounds i16, i16* %g, i64 %t130
	%t132 = bitcast i16* %t131 to <8 x i16>*
	%t133 = load <8 x i16>, <8 x i16>* %t132, align 2
	%t134 = call <8 x float> @f32_of_f16x8(<8 x i16> %t133)
	%t135 = insertelement <8 x float> undef, float %t129, i32 0
	%t136 = shufflevector <8 x float> %t135, <8 x float> undef, <8 x i32> zeroinitializer
	%t137 = mul nsw i64 %r0, 64
	%t138 = add nsw i64 %t137, %t130
	%t139 = getelementptr inbounds i16, i16* %x, i64 %t138
	%t140 = bitcast i16* %t139 to <8 x i16>*
	%t141 = load <8 x i16>, <8 x i16>* %t140, align 2
	%t142 = call <8 x float> @f32_of_f16x8(<8 x i16> %t141)
	%t143 = fmul <8 x float> %t142, %t136
	%t144 = call <8 x i16> @f16_of_f32x8(<8 x float> %t143)
	%t145 = call <8 x float> @f32_of_f16x8(<8 x i16> %t144)
	%t146 = fmul <8 x float> %t145, %t134
	%t147 = call <8 x i16> @f16_of_f32x8(<8 x float> %t146)
	%t148 = getelementptr inbounds i16, i16* %y, i64 %t138
	%t149 = bitcast i16* %t148 to <8 x i16>*
	store <8 x i16> %t147, <8 x i16>* %t149, align 2
	%t150 = mul nsw i64 %r2, 32
	%t151 = add nsw i64 %t150, 8
	%t152 = getelementptr inbounds i16, i16* %g, i64 %t151
	%t153 = bitcast i16* %t152 to <8 x i16>*
	%t154 = load <8 x i16>, <8 x i16>* %t153, align 2
	%t155 = call <8 x float> @f32_of_f16x8(<8 x i16> %t154)
	%t156 = insertelement <8 x float> undef, float %t129, i32 0
	%t157 = shufflevector <8 x float> %t156, <8 x float> undef, <8 x i32> zeroinitializer
	%t158 = mul nsw i64 %r0, 64
	%t159 = add nsw i64 %t158, %t150
	%t160 = add nsw i64 %t159, 8
	%t161 = getelementptr inbounds i16, i16* %x, i64 %t160
	%t162 = bitcast i16* %t161 to <8 x i16>*
	%t163 = load <8 x i16>, <8 x i16>* %t162, align 2
	%t164 = call <8 x float> @f32_of_f16x8(<8 x i16> %t163)
	%t165 = fmul <8 x float> %t164, %t157
	%t166 = call <8 x i16> @f16_of_f32x8(<8 x float> %t165)
	%t167 = call <8 x float> @f32_of_f16x8(<8 x i16> %t166)
	%t168 = fmul <8 x float> %t167, %t155
	%t169 = call <8 x i16> @f16_of_f32x8(<8 x float> %t168)
	%t170 = getelementptr inbounds i16, i16* %y, i64 %t160
	%t171 = bitcast i16* %t170 to <8 x i16>*
	store <8 x i16> %t169, <8 x i16>* %t171, align 2
	%t172 = mul nsw i64 %r2, 32
	%t173 = add nsw i64 %t172, 16
	%t174 = getelementptr inbounds i16, i16* %g, i64 %t173
	%t175 = bitcast i16* %t174 to <8 x i16>*
	%t176 = load <8 x i16>, <8 x i16>* %t175, align 2
	%t177 = call <8 x float> @f32_of_f16x8(<8 x i16> %t176)
	%t178 = insertelement <8 x float> undef, float %t129, i32 0
	%t179 = shufflevector <8 x float> %t178, <8 x float> undef, <8 x i32> zeroinitializer
	%t180 = mul nsw i64 %r0, 64
	%t181 = add nsw i64 %t180, %t172
	%t182 = add nsw i64 %t181, 16
	%t183 = getelementptr inbounds i16, i16* %x, i64 %t182
	%t184 = bitcast i16* %t183 to <8 x i16>*
	%t185 = load <8 x i16>, <8 x i16>* %t184, align 2
	%t186 = call <8 x float> @f32_of_f16x8(<8 x i16> %t185)
	%t187 = fmul <8 x float> %t186, %t179
	%t188 = call <8 x i16> @f16_of_f32x8(<8 x float> %t187)
	%t189 = call <8 x float> @f32_of_f16x8(<8 x i16> %t188)
	%t190 = fmul <8 x float> %t189, %t177
	%t191 = call <8 x i16> @f16_of_f32x8(<8 x float> %t190)
	%t192 = getelementptr inbounds i16, i16* %y, i64 %t182
	%t193 = bitcast i16* %t192 to <8 x i16>*
	store <8 x i16> %t191, <8 x i16>* %t193, align 2
	%t194 = mul nsw i64 %r2, 32
	%t195 = add nsw i64 %t194, 24
	%t196 = getelementptr inbounds i16, i16* %g, i64 %t195
	%t197 = bitcast i16* %t196 to <8 x i16>*
	%t198 = load <8 x i16>, <8 x i16>* %t197, align 2
	%t199 = call <8 x float> @f32_of_f16x8(<8 x i16> %t198)
	%t200 = insertelement <8 x float> undef, float %t129, i32 0
	%t201 = shufflevector <8 x float> %t200, <8 x float> undef, <8 x i32> zeroinitializer
	%t202 = mul nsw i64 %r0, 64
	%t203 = add nsw i64 %t202, %t194
	%t204 = add nsw i64 %t203, 24
	%t205 = getelementptr inbounds i16, i16* %x, i64 %t204
	%t206 = bitcast i16* %t205 to <8 x i16>*
	%t207 = load <8 x i16>, <8 x i16>* %t206, align 2
	%t208 = call <8 x float> @f32_of_f16x8(<8 x i16> %t207)
	%t209 = fmul <8 x float> %t208, %t201
	%t210 = call <8 x i16> @f16_of_f32x8(<8 x float> %t209)
	%t211 = call <8 x float> @f32_of_f16x8(<8 x i16> %t210)
	%t212 = fmul <8 x float> %t211, %t199
	%t213 = call <8 x i16> @f16_of_f32x8(<8 x float> %t212)
	%t214 = getelementptr inbounds i16, i16* %y, i64 %t204
	%t215 = bitcast i16* %t214 to <8 x i16>*
	store <8 x i16> %t213, <8 x i16>* %t215, align 2
	br label %next2
next2:
	%n2 = add nsw i64 %r2, 1
	%t216 = icmp slt i64 %n2, 2
	br i1 %t216, label %loop2, label %end2
end2:
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t217 = icmp slt i64 %n0, %to
	br i1 %t217, label %loop0, label %end0
end0:
	ret void
}

define void @r_n_64_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to i16*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to i16*
	%a2 = getelementptr inbounds i8*, i8** %bufs, i64 2
	%b2 = load i8*, i8** %a2
	%p2 = bitcast i8* %b2 to i16*
	call void @r_n_64(i16* %p0, i16* %p1, i16* %p2, i64 %from, i64 %to)
	ret void
}

