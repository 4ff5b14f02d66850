define internal float @f16_to_f32(i16 %x) alwaysinline nounwind {
	%u = zext i16 %x to i32
	%t = and i32 %u, 32768
	%sign = shl i32 %t, 16
	%e = and i32 %u, 31744
	%m = and i32 %u, 1023
	%mf = uitofp i32 %m to float
	%sf = fmul float %mf, 0x3E70000000000000
	%small = bitcast float %sf to i32
	%q = icmp ne i32 %m, 0
	%qi = zext i1 %q to i32
	%quiet = shl i32 %qi, 22
	%m13 = shl i32 %m, 13
	%odd = or i32 %m13, %quiet
	%inf = or i32 %odd, 2139095040
	%a = and i32 %u, 32767
	%a13 = shl i32 %a, 13
	%plain = add i32 %a13, 939524096
	%is = icmp eq i32 %e, 0
	%ii = icmp eq i32 %e, 31744
	%v = select i1 %ii, i32 %inf, i32 %plain
	%w = select i1 %is, i32 %small, i32 %v
	%o = or i32 %w, %sign
	%r = bitcast i32 %o to float
	ret float %r
}

declare float @llvm.fmuladd.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
define internal i16 @f32_to_f16(float %x) alwaysinline nounwind {
	%u = bitcast float %x to i32
	%u16 = lshr i32 %u, 16
	%sign = and i32 %u16, 32768
	%m = and i32 %u, 2147483647
	%m13 = lshr i32 %m, 13
	%low = and i32 %m13, 1023
	%nan = or i32 %low, 32256
	%mf = bitcast i32 %m to float
	%sf = fadd float %mf, 0.5
	%si = bitcast float %sf to i32
	%small = sub i32 %si, 1056964608
	%odd = and i32 %m13, 1
	%a = add i32 %m, -939520001
	%b = add i32 %a, %odd
	%plain = lshr i32 %b, 13
	%is = icmp ult i32 %m, 947912704
	%ii = icmp uge i32 %m, 1199566848
	%in = icmp ugt i32 %m, 2139095040
	%c = select i1 %is, i32 %small, i32 %plain
	%d = select i1 %ii, i32 31744, i32 %c
	%e = select i1 %in, i32 %nan, i32 %d
	%o = or i32 %e, %sign
	%r = trunc i32 %o to i16
	ret i16 %r
}

; y
; rmsnorm_of_half.t:5
define void @r_n_64(i16* noalias %y, i16* noalias readonly %x, i16* noalias readonly %g, i64 %from, i64 %to) noinline nounwind {
	%acc0 = alloca [1 x float], align 64
	%t0 = getelementptr inbounds [1 x float], [1 x float]* %acc0, i64 0, i64 0
	%acc1 = alloca [2 x float], align 64
	%t1 = getelementptr inbounds [2 x float], [2 x float]* %acc1, i64 0, i64 0
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t2 = icmp slt i64 %r0, %to
	br i1 %t2, label %body0, label %end0
body0:
	%t3 = getelementptr inbounds float, float* %t1, i64 0
	store float 0x0000000000000000, float* %t3
	%t4 = getelementptr inbounds float, float* %t1, i64 1
	store float 0x0000000000000000, float* %t4
	br label %loop3
loop3:
	%r3 = phi i64 [0, %body0], [%n3, %next3]
	%t5 = mul nsw i64 %r3, 2
	%t6 = mul nsw i64 %r0, 64
	%t7 = add nsw i64 %t6, %t5
	%t8 = getelementptr inbounds i16, i16* %x, i64 %t7
	%t9 = load i16, i16* %t8
	%t10 = call float @f16_to_f32(i16 %t9)
	%t11 = getelementptr inbounds float, float* %t1, i64 0
	%t12 = load float, float* %t11
	%t13 = call float @llvm.fmuladd.f32(float %t10, float %t10, float %t12)
	%t14 = getelementptr inbounds float, float* %t1, i64 0
	store float %t13, float* %t14
	%t15 = mul nsw i64 %r3, 2
	%t16 = mul nsw i64 %r0, 64
	%t17 = add nsw i64 %t16, %t15
	%t18 = add nsw i64 %t17, 1
	%t19 = getelementptr inbounds i16, i16* %x, i64 %t18
	%t20 = load i16, i16* %t19
	%t21 = call float @f16_to_f32(i16 %t20)
	%t22 = getelementptr inbounds float, float* %t1, i64 1
	%t23 = load float, float* %t22
	%t24 = call float @llvm.fmuladd.f32(float %t21, float %t21, float %t23)
	%t25 = getelementptr inbounds float, float* %t1, i64 1
	store float %t24, float* %t25
	br label %next3
next3:
	%n3 = add nsw i64 %r3, 1
	%t26 = icmp slt i64 %n3, 32
	br i1 %t26, label %loop3, label %end3
end3:
	%t27 = getelementptr inbounds float, float* %t1, i64 1
	%t28 = load float, float* %t27
	%t29 = getelementptr inbounds float, float* %t1, i64 0
	%t30 = load float, float* %t29
	%t31 = fadd float %t30, %t28
	%t32 = getelementptr inbounds float, float* %t0, i64 0
	store float %t31, float* %t32
	%t33 = getelementptr inbounds float, float* %t0, i64 0
	%t34 = load float, float* %t33
	%t35 = fdiv float %t34, 0x4050000000000000
	%t36 = fadd float %t35, 0x3EB0C6F7A0000000
	%t37 = call float @llvm.sqrt.f32(float %t36)
	%t38 = fdiv float 0x3FF0000000000000, %t37
	br label %loop14
loop14:
	%r14 = phi i64 [0, %end3], [%n14, %next14]
	%t39 = mul nsw i64 %r14, 4
	%t40 = getelementptr inbounds i16, i16* %g, i64 %t39
	%t41 = load i16, i16* %t40
	%t42 = call float @f16_to_f32(i16 %t41)
	%t43 = mul nsw i64 %r0, 64
	%t44 = add nsw i64 %t43, %t39
	%t45 = getelementptr inbounds i16, i16* %x, i64 %t44
	%t46 = load i16, i16* %t45
	%t47 = call float @f16_to_f32(i16 %t46)
	%t48 = fmul float %t47, %t38
	%t49 = call i16 @f32_to_f16(float %t48)
	%t50 = call float @f16_to_f32(i16 %t49)
	%t51 = fmul float %t50, %t42
	%t52 = call i16 @f32_to_f16(float %t51)
	%t53 = getelementptr inbounds i16, i16* %y, i64 %t44
	store i16 %t52, i16* %t53
	%t54 = mul nsw i64 %r14, 4
	%t55 = add nsw i64 %t54, 1
	%t56 = getelementptr inbounds i16, i16* %g, i64 %t55
	%t57 = load i16, i16* %t56
	%t58 = call float @f16_to_f32(i16 %t57)
	%t59 = mul nsw i64 %r0, 64
	%t60 = add nsw i64 %t59, %t54
	%t61 = add nsw i64 %t60, 1
	%t62 = getelementptr inbounds i16, i16* %x, i64 %t61
	%t63 = load i16, i16* %t62
	%t64 = call float @f16_to_f32(i16 %t63)
	%t65 = fmul float %t64, %t38
	%t66 = call i16 @f32_to_f16(float %t65)
	%t67 = call float @f16_to_f32(i16 %t66)
	%t68 = fmul float %t67, %t58
	%t69 = call i16 @f32_to_f16(float %t68)
	%t70 = getelementptr inbounds i16, i16* %y, i64 %t61
	store i16 %t69, i16* %t70
	%t71 = mul nsw i64 %r14, 4
	%t72 = add nsw i64 %t71, 2
	%t73 = getelementptr inbounds i16, i16* %g, i64 %t72
	%t74 = load i16, i16* %t73
	%t75 = call float @f16_to_f32(i16 %t74)
	%t76 = mul nsw i64 %r0, 64
	%t77 = add nsw i64 %t76, %t71
	%t78 = add nsw i64 %t77, 2
	%t79 = getelementptr inbounds i16, i16* %x, i64 %t78
	%t80 = load i16, i16* %t79
	%t81 = call float @f16_to_f32(i16 %t80)
	%t82 = fmul float %t81, %t38
	%t83 = call i16 @f32_to_f16(float %t82)
	%t84 = call float @f16_to_f32(i16 %t83)
	%t85 = fmul float %t84, %t75
	%t86 = call i16 @f32_to_f16(float %t85)
	%t87 = getelementptr inbounds i16, i16* %y, i64 %t78
	store i16 %t86, i16* %t87
	%t88 = mul nsw i64 %r14, 4
	%t89 = add nsw i64 %t88, 3
	%t90 = getelementptr inbounds i16, i16* %g, i64 %t89
	%t91 = load i16, i16* %t90
	%t92 = call float @f16_to_f32(i16 %t91)
	%t93 = mul nsw i64 %r0, 64
	%t94 = add nsw i64 %t93, %t88
	%t95 = add nsw i64 %t94, 3
	%t96 = getelementptr inbounds i16, i16* %x, i64 %t95
	%t97 = load i16, i16* %t96
	%t98 = call float @f16_to_f32(i16 %t97)
	%t99 = fmul float %t98, %t38
	%t100 = call i16 @f32_to_f16(float %t99)
	%t101 = call float @f16_to_f32(i16 %t100)
	%t102 = fmul float %t101, %t92
	%t103 = call i16 @f32_to_f16(float %t102)
	%t104 = getelementptr inbounds i16, i16* %y, i64 %t95
	store i16 %t103, i16* %t104
	br label %next14
next14:
	%n14 = add nsw i64 %r14, 1
	%t105 = icmp slt i64 %n14, 16
	br i1 %t105, label %loop14, label %end14
end14:
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

