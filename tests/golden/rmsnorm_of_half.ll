define internal <8 x float> @f16_to_f32_x8(<8 x i16> %x) alwaysinline nounwind {
	%u = zext <8 x i16> %x to <8 x i32>
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
	%a = and <8 x i32> %u, <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
	%a13 = shl <8 x i32> %a, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%plain = add <8 x i32> %a13, <i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096, i32 939524096>
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
define internal <8 x i16> @f32_to_f16_x8(<8 x float> %x) alwaysinline nounwind {
	%u = bitcast <8 x float> %x to <8 x i32>
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
	%a = add <8 x i32> %m, <i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001, i32 -939520001>
	%b = add <8 x i32> %a, %odd
	%plain = lshr <8 x i32> %b, <i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13, i32 13>
	%is = icmp ult <8 x i32> %m, <i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704, i32 947912704>
	%ii = icmp uge <8 x i32> %m, <i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848, i32 1199566848>
	%in = icmp ugt <8 x i32> %m, <i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040, i32 2139095040>
	%c = select <8 x i1> %is, <8 x i32> %small, <8 x i32> %plain
	%d = select <8 x i1> %ii, <8 x i32> <i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744, i32 31744>, <8 x i32> %c
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
	%acc1 = alloca [32 x float], align 64
	%t1 = getelementptr inbounds [32 x float], [32 x float]* %acc1, i64 0, i64 0
	%acc2 = alloca [16 x float], align 64
	%t2 = getelementptr inbounds [16 x float], [16 x float]* %acc2, i64 0, i64 0
	%acc3 = alloca [8 x float], align 64
	%t3 = getelementptr inbounds [8 x float], [8 x float]* %acc3, i64 0, i64 0
	%acc4 = alloca [4 x float], align 64
	%t4 = getelementptr inbounds [4 x float], [4 x float]* %acc4, i64 0, i64 0
	%acc5 = alloca [2 x float], align 64
	%t5 = getelementptr inbounds [2 x float], [2 x float]* %acc5, i64 0, i64 0
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t6 = icmp slt i64 %r0, %to
	br i1 %t6, label %body0, label %end0
body0:
	%t7 = getelementptr inbounds float, float* %t1, i64 0
	%t8 = bitcast float* %t7 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t8, align 4
	%t9 = getelementptr inbounds float, float* %t1, i64 8
	%t10 = bitcast float* %t9 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t10, align 4
	%t11 = getelementptr inbounds float, float* %t1, i64 16
	%t12 = bitcast float* %t11 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t12, align 4
	%t13 = getelementptr inbounds float, float* %t1, i64 24
	%t14 = bitcast float* %t13 to <8 x float>*
	store <8 x float> zeroinitializer, <8 x float>* %t14, align 4
	br label %loop5
loop5:
	%r5 = phi i64 [0, %body0], [%n5, %next5]
	%t15 = mul nsw i64 %r5, 32
	%t16 = mul nsw i64 %r0, 64
	%t17 = add nsw i64 %t16, %t15
	%t18 = getelementptr inbounds i16, i16* %x, i64 %t17
	%t19 = bitcast i16* %t18 to <8 x i16>*
	%t20 = load <8 x i16>, <8 x i16>* %t19, align 2
	%t21 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t20)
	%t22 = getelementptr inbounds float, float* %t1, i64 0
	%t23 = bitcast float* %t22 to <8 x float>*
	%t24 = load <8 x float>, <8 x float>* %t23, align 4
	%t25 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t21, <8 x float> %t21, <8 x float> %t24)
	%t26 = getelementptr inbounds float, float* %t1, i64 0
	%t27 = bitcast float* %t26 to <8 x float>*
	store <8 x float> %t25, <8 x float>* %t27, align 4
	%t28 = mul nsw i64 %r5, 32
	%t29 = mul nsw i64 %r0, 64
	%t30 = add nsw i64 %t29, %t28
	%t31 = add nsw i64 %t30, 8
	%t32 = getelementptr inbounds i16, i16* %x, i64 %t31
	%t33 = bitcast i16* %t32 to <8 x i16>*
	%t34 = load <8 x i16>, <8 x i16>* %t33, align 2
	%t35 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t34)
	%t36 = getelementptr inbounds float, float* %t1, i64 8
	%t37 = bitcast float* %t36 to <8 x float>*
	%t38 = load <8 x float>, <8 x float>* %t37, align 4
	%t39 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t35, <8 x float> %t35, <8 x float> %t38)
	%t40 = getelementptr inbounds float, float* %t1, i64 8
	%t41 = bitcast float* %t40 to <8 x float>*
	store <8 x float> %t39, <8 x float>* %t41, align 4
	%t42 = mul nsw i64 %r5, 32
	%t43 = mul nsw i64 %r0, 64
	%t44 = add nsw i64 %t43, %t42
	%t45 = add nsw i64 %t44, 16
	%t46 = getelementptr inbounds i16, i16* %x, i64 %t45
	%t47 = bitcast i16* %t46 to <8 x i16>*
	%t48 = load <8 x i16>, <8 x i16>* %t47, align 2
	%t49 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t48)
	%t50 = getelementptr inbounds float, float* %t1, i64 16
	%t51 = bitcast float* %t50 to <8 x float>*
	%t52 = load <8 x float>, <8 x float>* %t51, align 4
	%t53 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t49, <8 x float> %t49, <8 x float> %t52)
	%t54 = getelementptr inbounds float, float* %t1, i64 16
	%t55 = bitcast float* %t54 to <8 x float>*
	store <8 x float> %t53, <8 x float>* %t55, align 4
	%t56 = mul nsw i64 %r5, 32
	%t57 = mul nsw i64 %r0, 64
	%t58 = add nsw i64 %t57, %t56
	%t59 = add nsw i64 %t58, 24
	%t60 = getelementptr inbounds i16, i16* %x, i64 %t59
	%t61 = bitcast i16* %t60 to <8 x i16>*
	%t62 = load <8 x i16>, <8 x i16>* %t61, align 2
	%t63 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t62)
	%t64 = getelementptr inbounds float, float* %t1, i64 24
	%t65 = bitcast float* %t64 to <8 x float>*
	%t66 = load <8 x float>, <8 x float>* %t65, align 4
	%t67 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %t63, <8 x float> %t63, <8 x float> %t66)
	%t68 = getelementptr inbounds float, float* %t1, i64 24
	%t69 = bitcast float* %t68 to <8 x float>*
	store <8 x float> %t67, <8 x float>* %t69, align 4
	br label %next5
next5:
	%n5 = add nsw i64 %r5, 1
	%t70 = icmp slt i64 %n5, 2
	br i1 %t70, label %loop5, label %end5
end5:
	%t71 = getelementptr inbounds float, float* %t1, i64 16
	%t72 = bitcast float* %t71 to <8 x float>*
	%t73 = load <8 x float>, <8 x float>* %t72, align 4
	%t74 = getelementptr inbounds float, float* %t1, i64 0
	%t75 = bitcast float* %t74 to <8 x float>*
	%t76 = load <8 x float>, <8 x float>* %t75, align 4
	%t77 = fadd <8 x float> %t76, %t73
	%t78 = getelementptr inbounds float, float* %t2, i64 0
	%t79 = bitcast float* %t78 to <8 x float>*
	store <8 x float> %t77, <8 x float>* %t79, align 4
	%t80 = getelementptr inbounds float, float* %t1, i64 24
	%t81 = bitcast float* %t80 to <8 x float>*
	%t82 = load <8 x float>, <8 x float>* %t81, align 4
	%t83 = getelementptr inbounds float, float* %t1, i64 8
	%t84 = bitcast float* %t83 to <8 x float>*
	%t85 = load <8 x float>, <8 x float>* %t84, align 4
	%t86 = fadd <8 x float> %t85, %t82
	%t87 = getelementptr inbounds float, float* %t2, i64 8
	%t88 = bitcast float* %t87 to <8 x float>*
	store <8 x float> %t86, <8 x float>* %t88, align 4
	%t89 = getelementptr inbounds float, float* %t2, i64 8
	%t90 = bitcast float* %t89 to <8 x float>*
	%t91 = load <8 x float>, <8 x float>* %t90, align 4
	%t92 = getelementptr inbounds float, float* %t2, i64 0
	%t93 = bitcast float* %t92 to <8 x float>*
	%t94 = load <8 x float>, <8 x float>* %t93, align 4
	%t95 = fadd <8 x float> %t94, %t91
	%t96 = getelementptr inbounds float, float* %t3, i64 0
	%t97 = bitcast float* %t96 to <8 x float>*
	store <8 x float> %t95, <8 x float>* %t97, align 4
	%t98 = getelementptr inbounds float, float* %t3, i64 4
	%t99 = bitcast float* %t98 to <4 x float>*
	%t100 = load <4 x float>, <4 x float>* %t99, align 4
	%t101 = getelementptr inbounds float, float* %t3, i64 0
	%t102 = bitcast float* %t101 to <4 x float>*
	%t103 = load <4 x float>, <4 x float>* %t102, align 4
	%t104 = fadd <4 x float> %t103, %t100
	%t105 = getelementptr inbounds float, float* %t4, i64 0
	%t106 = bitcast float* %t105 to <4 x float>*
	store <4 x float> %t104, <4 x float>* %t106, align 4
	%t107 = getelementptr inbounds float, float* %t4, i64 2
	%t108 = bitcast float* %t107 to <2 x float>*
	%t109 = load <2 x float>, <2 x float>* %t108, align 4
	%t110 = getelementptr inbounds float, float* %t4, i64 0
	%t111 = bitcast float* %t110 to <2 x float>*
	%t112 = load <2 x float>, <2 x float>* %t111, align 4
	%t113 = fadd <2 x float> %t112, %t109
	%t114 = getelementptr inbounds float, float* %t5, i64 0
	%t115 = bitcast float* %t114 to <2 x float>*
	store <2 x float> %t113, <2 x float>* %t115, align 4
	%t116 = getelementptr inbounds float, float* %t5, i64 1
	%t117 = load float, float* %t116
	%t118 = getelementptr inbounds float, float* %t5, i64 0
	%t119 = load float, float* %t118
	%t120 = fadd float %t119, %t117
	%t121 = getelementptr inbounds float, float* %t0, i64 0
	store float %t120, float* %t121
	%t122 = getelementptr inbounds float, float* %t0, i64 0
	%t123 = load float, float* %t122
	%t124 = fdiv float %t123, 0x4050000000000000
	%t125 = fadd float %t124, 0x3EB0C6F7A0000000
	%t126 = call float @llvm.sqrt.f32(float %t125)
	%t127 = fdiv float 0x3FF0000000000000, %t126
	br label %loop37
loop37:
	%r37 = phi i64 [0, %end5], [%n37, %next37]
	%t128 = mul nsw i64 %r37, 32
	%t129 = getelementptr inbounds i16, i16* %g, i64 %t128
	%t130 = bitcast i16* %t129 to <8 x i16>*
	%t131 = load <8 x i16>, <8 x i16>* %t130, align 2
	%t132 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t131)
	%t133 = insertelement <8 x float> undef, float %t127, i32 0
	%t134 = shufflevector <8 x float> %t133, <8 x float> undef, <8 x i32> zeroinitializer
	%t135 = mul nsw i64 %r0, 64
	%t136 = add nsw i64 %t135, %t128
	%t137 = getelementptr inbounds i16, i16* %x, i64 %t136
	%t138 = bitcast i16* %t137 to <8 x i16>*
	%t139 = load <8 x i16>, <8 x i16>* %t138, align 2
	%t140 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t139)
	%t141 = fmul <8 x float> %t140, %t134
	%t142 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t141)
	%t143 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t142)
	%t144 = fmul <8 x float> %t143, %t132
	%t145 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t144)
	%t146 = getelementptr inbounds i16, i16* %y, i64 %t136
	%t147 = bitcast i16* %t146 to <8 x i16>*
	store <8 x i16> %t145, <8 x i16>* %t147, align 2
	%t148 = mul nsw i64 %r37, 32
	%t149 = add nsw i64 %t148, 8
	%t150 = getelementptr inbounds i16, i16* %g, i64 %t149
	%t151 = bitcast i16* %t150 to <8 x i16>*
	%t152 = load <8 x i16>, <8 x i16>* %t151, align 2
	%t153 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t152)
	%t154 = insertelement <8 x float> undef, float %t127, i32 0
	%t155 = shufflevector <8 x float> %t154, <8 x float> undef, <8 x i32> zeroinitializer
	%t156 = mul nsw i64 %r0, 64
	%t157 = add nsw i64 %t156, %t148
	%t158 = add nsw i64 %t157, 8
	%t159 = getelementptr inbounds i16, i16* %x, i64 %t158
	%t160 = bitcast i16* %t159 to <8 x i16>*
	%t161 = load <8 x i16>, <8 x i16>* %t160, align 2
	%t162 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t161)
	%t163 = fmul <8 x float> %t162, %t155
	%t164 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t163)
	%t165 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t164)
	%t166 = fmul <8 x float> %t165, %t153
	%t167 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t166)
	%t168 = getelementptr inbounds i16, i16* %y, i64 %t158
	%t169 = bitcast i16* %t168 to <8 x i16>*
	store <8 x i16> %t167, <8 x i16>* %t169, align 2
	%t170 = mul nsw i64 %r37, 32
	%t171 = add nsw i64 %t170, 16
	%t172 = getelementptr inbounds i16, i16* %g, i64 %t171
	%t173 = bitcast i16* %t172 to <8 x i16>*
	%t174 = load <8 x i16>, <8 x i16>* %t173, align 2
	%t175 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t174)
	%t176 = insertelement <8 x float> undef, float %t127, i32 0
	%t177 = shufflevector <8 x float> %t176, <8 x float> undef, <8 x i32> zeroinitializer
	%t178 = mul nsw i64 %r0, 64
	%t179 = add nsw i64 %t178, %t170
	%t180 = add nsw i64 %t179, 16
	%t181 = getelementptr inbounds i16, i16* %x, i64 %t180
	%t182 = bitcast i16* %t181 to <8 x i16>*
	%t183 = load <8 x i16>, <8 x i16>* %t182, align 2
	%t184 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t183)
	%t185 = fmul <8 x float> %t184, %t177
	%t186 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t185)
	%t187 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t186)
	%t188 = fmul <8 x float> %t187, %t175
	%t189 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t188)
	%t190 = getelementptr inbounds i16, i16* %y, i64 %t180
	%t191 = bitcast i16* %t190 to <8 x i16>*
	store <8 x i16> %t189, <8 x i16>* %t191, align 2
	%t192 = mul nsw i64 %r37, 32
	%t193 = add nsw i64 %t192, 24
	%t194 = getelementptr inbounds i16, i16* %g, i64 %t193
	%t195 = bitcast i16* %t194 to <8 x i16>*
	%t196 = load <8 x i16>, <8 x i16>* %t195, align 2
	%t197 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t196)
	%t198 = insertelement <8 x float> undef, float %t127, i32 0
	%t199 = shufflevector <8 x float> %t198, <8 x float> undef, <8 x i32> zeroinitializer
	%t200 = mul nsw i64 %r0, 64
	%t201 = add nsw i64 %t200, %t192
	%t202 = add nsw i64 %t201, 24
	%t203 = getelementptr inbounds i16, i16* %x, i64 %t202
	%t204 = bitcast i16* %t203 to <8 x i16>*
	%t205 = load <8 x i16>, <8 x i16>* %t204, align 2
	%t206 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t205)
	%t207 = fmul <8 x float> %t206, %t199
	%t208 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t207)
	%t209 = call <8 x float> @f16_to_f32_x8(<8 x i16> %t208)
	%t210 = fmul <8 x float> %t209, %t197
	%t211 = call <8 x i16> @f32_to_f16_x8(<8 x float> %t210)
	%t212 = getelementptr inbounds i16, i16* %y, i64 %t202
	%t213 = bitcast i16* %t212 to <8 x i16>*
	store <8 x i16> %t211, <8 x i16>* %t213, align 2
	br label %next37
next37:
	%n37 = add nsw i64 %r37, 1
	%t214 = icmp slt i64 %n37, 2
	br i1 %t214, label %loop37, label %end37
end37:
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	br label %loop0
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

