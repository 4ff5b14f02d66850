declare <8 x float> @llvm.masked.gather.v8f32.v8p0f32(<8 x float*>, i32, <8 x i1>, <8 x float>)
; a
; lanes.t:5
define void @E_8(float* noalias %t4_, float* noalias readonly %t, i64* noalias readonly %at, i64 %from, i64 %to) noinline nounwind {
	%t0 = icmp slt i64 %from, %to
	br i1 %t0, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t1 = mul nsw i64 %r0, 8
	%t2 = getelementptr inbounds i64, i64* %at, i64 %t1
	%t3 = bitcast i64* %t2 to <8 x i64>*
	%t4 = load <8 x i64>, <8 x i64>* %t3, align 8
	%t5 = add <8 x i64> %t4, <i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8>
	%t6 = icmp slt <8 x i64> %t4, zeroinitializer
	%t7 = select <8 x i1> %t6, <8 x i64> %t5, <8 x i64> %t4
	%t8 = icmp slt <8 x i64> %t7, <i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8>
	%t9 = icmp slt <8 x i64> <i64 -1, i64 -1, i64 -1, i64 -1, i64 -1, i64 -1, i64 -1, i64 -1>, %t7
	%t10 = and <8 x i1> %t9, %t8
	%t11 = getelementptr float, float* %t, <8 x i64> %t7
	%t12 = call <8 x float> @llvm.masked.gather.v8f32.v8p0f32(<8 x float*> %t11, i32 4, <8 x i1> %t10, <8 x float> zeroinitializer)
	%t13 = fmul <8 x float> %t12, <float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000>
	%t14 = mul nsw i64 %r0, 8
	%t15 = getelementptr inbounds float, float* %t4_, i64 %t14
	%t16 = bitcast float* %t15 to <8 x float>*
	store <8 x float> %t13, <8 x float>* %t16, align 4
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t17 = icmp slt i64 %n0, %to
	br i1 %t17, label %loop0, label %end0
end0:
	ret void
}

define void @E_8_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to float*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to float*
	%a2 = getelementptr inbounds i8*, i8** %bufs, i64 2
	%b2 = load i8*, i8** %a2
	%p2 = bitcast i8* %b2 to i64*
	call void @E_8(float* %p0, float* %p1, i64* %p2, i64 %from, i64 %to)
	ret void
}

; y
; lanes.t:6
define void @E_n_8(float* noalias %y, float* noalias readonly %x, float* noalias readonly %t4_, i64 %from, i64 %to) noinline nounwind {
	%t0 = icmp slt i64 %from, %to
	br i1 %t0, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t1 = mul nsw i64 %r0, 8
	%t2 = getelementptr inbounds float, float* %x, i64 %t1
	%t3 = bitcast float* %t2 to <8 x float>*
	%t4 = load <8 x float>, <8 x float>* %t3, align 4
	%t5 = getelementptr inbounds float, float* %t4_, i64 0
	%t6 = bitcast float* %t5 to <8 x float>*
	%t7 = load <8 x float>, <8 x float>* %t6, align 4
	%t8 = fcmp olt <8 x float> %t4, %t7
	%t9 = select <8 x i1> %t8, <8 x float> %t4, <8 x float> %t7
	%t10 = mul nsw i64 %r0, 8
	%t11 = getelementptr inbounds float, float* %y, i64 %t10
	%t12 = bitcast float* %t11 to <8 x float>*
	store <8 x float> %t9, <8 x float>* %t12, align 4
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t13 = icmp slt i64 %n0, %to
	br i1 %t13, label %loop0, label %end0
end0:
	ret void
}

define void @E_n_8_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to float*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to float*
	%a2 = getelementptr inbounds i8*, i8** %bufs, i64 2
	%b2 = load i8*, i8** %a2
	%p2 = bitcast i8* %b2 to float*
	call void @E_n_8(float* %p0, float* %p1, float* %p2, i64 %from, i64 %to)
	ret void
}

define internal i64 @min_i64(i64 %a, i64 %b) alwaysinline nounwind {
	%l = icmp slt i64 %a, %b
	%r = select i1 %l, i64 %a, i64 %b
	ret i64 %r
}

; z
; lanes.t:7
define void @E_8_n(float* noalias %z, float* noalias readonly %x, i64 %n, i64 %from, i64 %to) noinline nounwind {
	%acc0 = alloca [8 x float], align 64
	%t0 = getelementptr inbounds [8 x float], [8 x float]* %acc0, i64 0, i64 0
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
	%t8 = icmp slt i64 %from, %to
	br i1 %t8, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t9 = add nsw i64 %n, -8
	%t10 = mul nsw i64 %r0, 8
	%t11 = call i64 @min_i64(i64 %t10, i64 %t9)
	%t12 = mul nsw i64 %t11, 8
	%t13 = getelementptr inbounds float, float* %x, i64 %t12
	%t14 = bitcast float* %t13 to <8 x float>*
	%t15 = load <8 x float>, <8 x float>* %t14, align 4
	%t16 = getelementptr inbounds float, float* %t0, i64 0
	%t17 = bitcast float* %t16 to <8 x float>*
	store <8 x float> %t15, <8 x float>* %t17, align 4
	%t18 = mul nsw i64 %t11, 8
	%t19 = add nsw i64 %t18, 8
	%t20 = getelementptr inbounds float, float* %x, i64 %t19
	%t21 = bitcast float* %t20 to <8 x float>*
	%t22 = load <8 x float>, <8 x float>* %t21, align 4
	%t23 = getelementptr inbounds float, float* %t1, i64 0
	%t24 = bitcast float* %t23 to <8 x float>*
	store <8 x float> %t22, <8 x float>* %t24, align 4
	%t25 = mul nsw i64 %t11, 8
	%t26 = add nsw i64 %t25, 16
	%t27 = getelementptr inbounds float, float* %x, i64 %t26
	%t28 = bitcast float* %t27 to <8 x float>*
	%t29 = load <8 x float>, <8 x float>* %t28, align 4
	%t30 = getelementptr inbounds float, float* %t2, i64 0
	%t31 = bitcast float* %t30 to <8 x float>*
	store <8 x float> %t29, <8 x float>* %t31, align 4
	%t32 = mul nsw i64 %t11, 8
	%t33 = add nsw i64 %t32, 24
	%t34 = getelementptr inbounds float, float* %x, i64 %t33
	%t35 = bitcast float* %t34 to <8 x float>*
	%t36 = load <8 x float>, <8 x float>* %t35, align 4
	%t37 = getelementptr inbounds float, float* %t3, i64 0
	%t38 = bitcast float* %t37 to <8 x float>*
	store <8 x float> %t36, <8 x float>* %t38, align 4
	%t39 = mul nsw i64 %t11, 8
	%t40 = add nsw i64 %t39, 32
	%t41 = getelementptr inbounds float, float* %x, i64 %t40
	%t42 = bitcast float* %t41 to <8 x float>*
	%t43 = load <8 x float>, <8 x float>* %t42, align 4
	%t44 = getelementptr inbounds float, float* %t4, i64 0
	%t45 = bitcast float* %t44 to <8 x float>*
	store <8 x float> %t43, <8 x float>* %t45, align 4
	%t46 = mul nsw i64 %t11, 8
	%t47 = add nsw i64 %t46, 40
	%t48 = getelementptr inbounds float, float* %x, i64 %t47
	%t49 = bitcast float* %t48 to <8 x float>*
	%t50 = load <8 x float>, <8 x float>* %t49, align 4
	%t51 = getelementptr inbounds float, float* %t5, i64 0
	%t52 = bitcast float* %t51 to <8 x float>*
	store <8 x float> %t50, <8 x float>* %t52, align 4
	%t53 = mul nsw i64 %t11, 8
	%t54 = add nsw i64 %t53, 48
	%t55 = getelementptr inbounds float, float* %x, i64 %t54
	%t56 = bitcast float* %t55 to <8 x float>*
	%t57 = load <8 x float>, <8 x float>* %t56, align 4
	%t58 = getelementptr inbounds float, float* %t6, i64 0
	%t59 = bitcast float* %t58 to <8 x float>*
	store <8 x float> %t57, <8 x float>* %t59, align 4
	%t60 = mul nsw i64 %t11, 8
	%t61 = add nsw i64 %t60, 56
	%t62 = getelementptr inbounds float, float* %x, i64 %t61
	%t63 = bitcast float* %t62 to <8 x float>*
	%t64 = load <8 x float>, <8 x float>* %t63, align 4
	%t65 = getelementptr inbounds float, float* %t7, i64 0
	%t66 = bitcast float* %t65 to <8 x float>*
	store <8 x float> %t64, <8 x float>* %t66, align 4
	%t67 = getelementptr inbounds float, float* %t0, i64 0
	%t68 = bitcast float* %t67 to <8 x float>*
	%t69 = load <8 x float>, <8 x float>* %t68, align 4
	%t70 = getelementptr inbounds float, float* %t1, i64 0
	%t71 = bitcast float* %t70 to <8 x float>*
	%t72 = load <8 x float>, <8 x float>* %t71, align 4
	%t73 = getelementptr inbounds float, float* %t2, i64 0
	%t74 = bitcast float* %t73 to <8 x float>*
	%t75 = load <8 x float>, <8 x float>* %t74, align 4
	%t76 = getelementptr inbounds float, float* %t3, i64 0
	%t77 = bitcast float* %t76 to <8 x float>*
	%t78 = load <8 x float>, <8 x float>* %t77, align 4
	%t79 = getelementptr inbounds float, float* %t4, i64 0
	%t80 = bitcast float* %t79 to <8 x float>*
	%t81 = load <8 x float>, <8 x float>* %t80, align 4
	%t82 = getelementptr inbounds float, float* %t5, i64 0
	%t83 = bitcast float* %t82 to <8 x float>*
	%t84 = load <8 x float>, <8 x float>* %t83, align 4
	%t85 = getelementptr inbounds float, float* %t6, i64 0
	%t86 = bitcast float* %t85 to <8 x float>*
	%t87 = load <8 x float>, <8 x float>* %t86, align 4
	%t88 = getelementptr inbounds float, float* %t7, i64 0
	%t89 = bitcast float* %t88 to <8 x float>*
	%t90 = load <8 x float>, <8 x float>* %t89, align 4
	%t91 = shufflevector <8 x float> %t69, <8 x float> %t81, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t92 = shufflevector <8 x float> %t69, <8 x float> %t81, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t93 = shufflevector <8 x float> %t72, <8 x float> %t84, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t94 = shufflevector <8 x float> %t72, <8 x float> %t84, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t95 = shufflevector <8 x float> %t75, <8 x float> %t87, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t96 = shufflevector <8 x float> %t75, <8 x float> %t87, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t97 = shufflevector <8 x float> %t78, <8 x float> %t90, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t98 = shufflevector <8 x float> %t78, <8 x float> %t90, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t99 = shufflevector <8 x float> %t91, <8 x float> %t95, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t100 = shufflevector <8 x float> %t91, <8 x float> %t95, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t101 = shufflevector <8 x float> %t93, <8 x float> %t97, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t102 = shufflevector <8 x float> %t93, <8 x float> %t97, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t103 = shufflevector <8 x float> %t92, <8 x float> %t96, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t104 = shufflevector <8 x float> %t92, <8 x float> %t96, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t105 = shufflevector <8 x float> %t94, <8 x float> %t98, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t106 = shufflevector <8 x float> %t94, <8 x float> %t98, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t107 = shufflevector <8 x float> %t99, <8 x float> %t101, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t108 = shufflevector <8 x float> %t99, <8 x float> %t101, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t109 = shufflevector <8 x float> %t100, <8 x float> %t102, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t110 = shufflevector <8 x float> %t100, <8 x float> %t102, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t111 = shufflevector <8 x float> %t103, <8 x float> %t105, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t112 = shufflevector <8 x float> %t103, <8 x float> %t105, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t113 = shufflevector <8 x float> %t104, <8 x float> %t106, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t114 = shufflevector <8 x float> %t104, <8 x float> %t106, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t115 = fadd <8 x float> %t107, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t116 = getelementptr inbounds float, float* %z, i64 %t11
	%t117 = bitcast float* %t116 to <8 x float>*
	store <8 x float> %t115, <8 x float>* %t117, align 4
	%t118 = fadd <8 x float> %t108, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t119 = add nsw i64 %n, %t11
	%t120 = getelementptr inbounds float, float* %z, i64 %t119
	%t121 = bitcast float* %t120 to <8 x float>*
	store <8 x float> %t118, <8 x float>* %t121, align 4
	%t122 = fadd <8 x float> %t109, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t123 = mul nsw i64 %n, 2
	%t124 = add nsw i64 %t123, %t11
	%t125 = getelementptr inbounds float, float* %z, i64 %t124
	%t126 = bitcast float* %t125 to <8 x float>*
	store <8 x float> %t122, <8 x float>* %t126, align 4
	%t127 = fadd <8 x float> %t110, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t128 = mul nsw i64 %n, 3
	%t129 = add nsw i64 %t128, %t11
	%t130 = getelementptr inbounds float, float* %z, i64 %t129
	%t131 = bitcast float* %t130 to <8 x float>*
	store <8 x float> %t127, <8 x float>* %t131, align 4
	%t132 = fadd <8 x float> %t111, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t133 = mul nsw i64 %n, 4
	%t134 = add nsw i64 %t133, %t11
	%t135 = getelementptr inbounds float, float* %z, i64 %t134
	%t136 = bitcast float* %t135 to <8 x float>*
	store <8 x float> %t132, <8 x float>* %t136, align 4
	%t137 = fadd <8 x float> %t112, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t138 = mul nsw i64 %n, 5
	%t139 = add nsw i64 %t138, %t11
	%t140 = getelementptr inbounds float, float* %z, i64 %t139
	%t141 = bitcast float* %t140 to <8 x float>*
	store <8 x float> %t137, <8 x float>* %t141, align 4
	%t142 = fadd <8 x float> %t113, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t143 = mul nsw i64 %n, 6
	%t144 = add nsw i64 %t143, %t11
	%t145 = getelementptr inbounds float, float* %z, i64 %t144
	%t146 = bitcast float* %t145 to <8 x float>*
	store <8 x float> %t142, <8 x float>* %t146, align 4
	%t147 = fadd <8 x float> %t114, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t148 = mul nsw i64 %n, 7
	%t149 = add nsw i64 %t148, %t11
	%t150 = getelementptr inbounds float, float* %z, i64 %t149
	%t151 = bitcast float* %t150 to <8 x float>*
	store <8 x float> %t147, <8 x float>* %t151, align 4
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t152 = icmp slt i64 %n0, %to
	br i1 %t152, label %loop0, label %end0
end0:
	ret void
}

define void @E_8_n_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to float*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to float*
	%v0 = getelementptr inbounds i64, i64* %vars, i64 0
	%n0 = load i64, i64* %v0
	call void @E_8_n(float* %p0, float* %p1, i64 %n0, i64 %from, i64 %to)
	ret void
}

define internal i64 @min_i64(i64 %a, i64 %b) alwaysinline nounwind {
	%l = icmp slt i64 %a, %b
	%r = select i1 %l, i64 %a, i64 %b
	ret i64 %r
}

declare <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>*, i32, <8 x i1>, <8 x float>)
; more
; lanes.t:8
define void @E_n_11(i8* noalias %more, float* noalias readonly %x, i64 %from, i64 %to) noinline nounwind {
	%t0 = icmp slt i64 %from, %to
	br i1 %t0, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	br label %loop1
loop1:
	%r1 = phi i64 [0, %loop0], [%n1, %next1]
	%t1 = mul nsw i64 %r1, 8
	%t2 = call i64 @min_i64(i64 %t1, i64 3)
	%t3 = mul nsw i64 %t2, -1
	%t4 = add nsw i64 %t3, 9
	%t5 = trunc i64 %t4 to i32
	%t6 = insertelement <8 x i32> undef, i32 %t5, i32 0
	%t7 = shufflevector <8 x i32> %t6, <8 x i32> undef, <8 x i32> zeroinitializer
	%t8 = insertelement <8 x i32> undef, i32 0, i32 0
	%t9 = shufflevector <8 x i32> %t8, <8 x i32> undef, <8 x i32> zeroinitializer
	%t10 = add <8 x i32> %t9, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
	%t11 = icmp slt <8 x i32> %t10, %t7
	%t12 = trunc i64 %t3 to i32
	%t13 = insertelement <8 x i32> undef, i32 %t12, i32 0
	%t14 = shufflevector <8 x i32> %t13, <8 x i32> undef, <8 x i32> zeroinitializer
	%t15 = insertelement <8 x i32> undef, i32 0, i32 0
	%t16 = shufflevector <8 x i32> %t15, <8 x i32> undef, <8 x i32> zeroinitializer
	%t17 = add <8 x i32> %t16, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
	%t18 = icmp slt <8 x i32> %t14, %t17
	%t19 = and <8 x i1> %t18, %t11
	%t20 = mul nsw i64 %r0, 8
	%t21 = add nsw i64 %t20, %t2
	%t22 = add nsw i64 %t21, -1
	%t23 = getelementptr float, float* %x, i64 %t22
	%t24 = bitcast float* %t23 to <8 x float>*
	%t25 = call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %t24, i32 4, <8 x i1> %t19, <8 x float> zeroinitializer)
	%t26 = select <8 x i1> %t19, <8 x float> %t25, <8 x float> zeroinitializer
	%t27 = fcmp olt <8 x float> <float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000>, %t26
	%t28 = zext <8 x i1> %t27 to <8 x i8>
	%t29 = mul nsw i64 %r0, 11
	%t30 = add nsw i64 %t29, %t2
	%t31 = getelementptr inbounds i8, i8* %more, i64 %t30
	%t32 = bitcast i8* %t31 to <8 x i8>*
	store <8 x i8> %t28, <8 x i8>* %t32, align 1
	br label %next1
next1:
	%n1 = add nsw i64 %r1, 1
	%t33 = icmp slt i64 %n1, 2
	br i1 %t33, label %loop1, label %end1
end1:
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t34 = icmp slt i64 %n0, %to
	br i1 %t34, label %loop0, label %end0
end0:
	ret void
}

define void @E_n_11_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to i8*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to float*
	call void @E_n_11(i8* %p0, float* %p1, i64 %from, i64 %to)
	ret void
}

