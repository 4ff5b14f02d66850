declare <8 x float> @llvm.masked.gather.v8f32.v8p0f32(<8 x float*>, i32, <8 x i1>, <8 x float>)
; a
; lanes.t:5
define void @E_8(float* noalias %t4_, float* noalias readonly %t, i64* noalias readonly %at, i64 %from, i64 %to) noinline nounwind {
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t0 = icmp slt i64 %r0, %to
	br i1 %t0, label %body0, label %end0
body0:
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
	br label %loop0
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
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t0 = icmp slt i64 %r0, %to
	br i1 %t0, label %body0, label %end0
body0:
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
	br label %loop0
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
	%c = icmp slt i64 %a, %b
	%r = select i1 %c, i64 %a, i64 %b
	ret i64 %r
}

; z
; lanes.t:7
define void @E_8_n(float* noalias %z, float* noalias readonly %x, i64 %n, i64 %from, i64 %to) noinline nounwind {
	%acc0 = alloca [64 x float], align 64
	%t0 = getelementptr inbounds [64 x float], [64 x float]* %acc0, i64 0, i64 0
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t1 = icmp slt i64 %r0, %to
	br i1 %t1, label %body0, label %end0
body0:
	%t2 = add nsw i64 %n, -8
	%t3 = mul nsw i64 %r0, 8
	%t4 = call i64 @min_i64(i64 %t3, i64 %t2)
	%t5 = mul nsw i64 %t4, 8
	%t6 = getelementptr inbounds float, float* %x, i64 %t5
	%t7 = bitcast float* %t6 to <8 x float>*
	%t8 = load <8 x float>, <8 x float>* %t7, align 4
	%t9 = getelementptr inbounds float, float* %t0, i64 0
	%t10 = bitcast float* %t9 to <8 x float>*
	store <8 x float> %t8, <8 x float>* %t10, align 4
	%t11 = mul nsw i64 %t4, 8
	%t12 = add nsw i64 %t11, 8
	%t13 = getelementptr inbounds float, float* %x, i64 %t12
	%t14 = bitcast float* %t13 to <8 x float>*
	%t15 = load <8 x float>, <8 x float>* %t14, align 4
	%t16 = getelementptr inbounds float, float* %t0, i64 8
	%t17 = bitcast float* %t16 to <8 x float>*
	store <8 x float> %t15, <8 x float>* %t17, align 4
	%t18 = mul nsw i64 %t4, 8
	%t19 = add nsw i64 %t18, 16
	%t20 = getelementptr inbounds float, float* %x, i64 %t19
	%t21 = bitcast float* %t20 to <8 x float>*
	%t22 = load <8 x float>, <8 x float>* %t21, align 4
	%t23 = getelementptr inbounds float, float* %t0, i64 16
	%t24 = bitcast float* %t23 to <8 x float>*
	store <8 x float> %t22, <8 x float>* %t24, align 4
	%t25 = mul nsw i64 %t4, 8
	%t26 = add nsw i64 %t25, 24
	%t27 = getelementptr inbounds float, float* %x, i64 %t26
	%t28 = bitcast float* %t27 to <8 x float>*
	%t29 = load <8 x float>, <8 x float>* %t28, align 4
	%t30 = getelementptr inbounds float, float* %t0, i64 24
	%t31 = bitcast float* %t30 to <8 x float>*
	store <8 x float> %t29, <8 x float>* %t31, align 4
	%t32 = mul nsw i64 %t4, 8
	%t33 = add nsw i64 %t32, 32
	%t34 = getelementptr inbounds float, float* %x, i64 %t33
	%t35 = bitcast float* %t34 to <8 x float>*
	%t36 = load <8 x float>, <8 x float>* %t35, align 4
	%t37 = getelementptr inbounds float, float* %t0, i64 32
	%t38 = bitcast float* %t37 to <8 x float>*
	store <8 x float> %t36, <8 x float>* %t38, align 4
	%t39 = mul nsw i64 %t4, 8
	%t40 = add nsw i64 %t39, 40
	%t41 = getelementptr inbounds float, float* %x, i64 %t40
	%t42 = bitcast float* %t41 to <8 x float>*
	%t43 = load <8 x float>, <8 x float>* %t42, align 4
	%t44 = getelementptr inbounds float, float* %t0, i64 40
	%t45 = bitcast float* %t44 to <8 x float>*
	store <8 x float> %t43, <8 x float>* %t45, align 4
	%t46 = mul nsw i64 %t4, 8
	%t47 = add nsw i64 %t46, 48
	%t48 = getelementptr inbounds float, float* %x, i64 %t47
	%t49 = bitcast float* %t48 to <8 x float>*
	%t50 = load <8 x float>, <8 x float>* %t49, align 4
	%t51 = getelementptr inbounds float, float* %t0, i64 48
	%t52 = bitcast float* %t51 to <8 x float>*
	store <8 x float> %t50, <8 x float>* %t52, align 4
	%t53 = mul nsw i64 %t4, 8
	%t54 = add nsw i64 %t53, 56
	%t55 = getelementptr inbounds float, float* %x, i64 %t54
	%t56 = bitcast float* %t55 to <8 x float>*
	%t57 = load <8 x float>, <8 x float>* %t56, align 4
	%t58 = getelementptr inbounds float, float* %t0, i64 56
	%t59 = bitcast float* %t58 to <8 x float>*
	store <8 x float> %t57, <8 x float>* %t59, align 4
	%t60 = getelementptr inbounds float, float* %t0, i64 0
	%t61 = bitcast float* %t60 to <8 x float>*
	%t62 = load <8 x float>, <8 x float>* %t61, align 4
	%t63 = getelementptr inbounds float, float* %t0, i64 8
	%t64 = bitcast float* %t63 to <8 x float>*
	%t65 = load <8 x float>, <8 x float>* %t64, align 4
	%t66 = getelementptr inbounds float, float* %t0, i64 16
	%t67 = bitcast float* %t66 to <8 x float>*
	%t68 = load <8 x float>, <8 x float>* %t67, align 4
	%t69 = getelementptr inbounds float, float* %t0, i64 24
	%t70 = bitcast float* %t69 to <8 x float>*
	%t71 = load <8 x float>, <8 x float>* %t70, align 4
	%t72 = getelementptr inbounds float, float* %t0, i64 32
	%t73 = bitcast float* %t72 to <8 x float>*
	%t74 = load <8 x float>, <8 x float>* %t73, align 4
	%t75 = getelementptr inbounds float, float* %t0, i64 40
	%t76 = bitcast float* %t75 to <8 x float>*
	%t77 = load <8 x float>, <8 x float>* %t76, align 4
	%t78 = getelementptr inbounds float, float* %t0, i64 48
	%t79 = bitcast float* %t78 to <8 x float>*
	%t80 = load <8 x float>, <8 x float>* %t79, align 4
	%t81 = getelementptr inbounds float, float* %t0, i64 56
	%t82 = bitcast float* %t81 to <8 x float>*
	%t83 = load <8 x float>, <8 x float>* %t82, align 4
	%t84 = shufflevector <8 x float> %t62, <8 x float> %t74, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t85 = shufflevector <8 x float> %t62, <8 x float> %t74, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t86 = shufflevector <8 x float> %t65, <8 x float> %t77, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t87 = shufflevector <8 x float> %t65, <8 x float> %t77, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t88 = shufflevector <8 x float> %t68, <8 x float> %t80, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t89 = shufflevector <8 x float> %t68, <8 x float> %t80, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t90 = shufflevector <8 x float> %t71, <8 x float> %t83, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
	%t91 = shufflevector <8 x float> %t71, <8 x float> %t83, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
	%t92 = shufflevector <8 x float> %t84, <8 x float> %t88, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t93 = shufflevector <8 x float> %t84, <8 x float> %t88, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t94 = shufflevector <8 x float> %t86, <8 x float> %t90, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t95 = shufflevector <8 x float> %t86, <8 x float> %t90, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t96 = shufflevector <8 x float> %t85, <8 x float> %t89, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t97 = shufflevector <8 x float> %t85, <8 x float> %t89, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t98 = shufflevector <8 x float> %t87, <8 x float> %t91, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
	%t99 = shufflevector <8 x float> %t87, <8 x float> %t91, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
	%t100 = shufflevector <8 x float> %t92, <8 x float> %t94, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t101 = shufflevector <8 x float> %t92, <8 x float> %t94, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t102 = shufflevector <8 x float> %t93, <8 x float> %t95, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t103 = shufflevector <8 x float> %t93, <8 x float> %t95, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t104 = shufflevector <8 x float> %t96, <8 x float> %t98, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t105 = shufflevector <8 x float> %t96, <8 x float> %t98, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t106 = shufflevector <8 x float> %t97, <8 x float> %t99, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
	%t107 = shufflevector <8 x float> %t97, <8 x float> %t99, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
	%t108 = fadd <8 x float> %t100, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t109 = getelementptr inbounds float, float* %z, i64 %t4
	%t110 = bitcast float* %t109 to <8 x float>*
	store <8 x float> %t108, <8 x float>* %t110, align 4
	%t111 = fadd <8 x float> %t101, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t112 = add nsw i64 %n, %t4
	%t113 = getelementptr inbounds float, float* %z, i64 %t112
	%t114 = bitcast float* %t113 to <8 x float>*
	store <8 x float> %t111, <8 x float>* %t114, align 4
	%t115 = fadd <8 x float> %t102, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t116 = mul nsw i64 %n, 2
	%t117 = add nsw i64 %t116, %t4
	%t118 = getelementptr inbounds float, float* %z, i64 %t117
	%t119 = bitcast float* %t118 to <8 x float>*
	store <8 x float> %t115, <8 x float>* %t119, align 4
	%t120 = fadd <8 x float> %t103, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t121 = mul nsw i64 %n, 3
	%t122 = add nsw i64 %t121, %t4
	%t123 = getelementptr inbounds float, float* %z, i64 %t122
	%t124 = bitcast float* %t123 to <8 x float>*
	store <8 x float> %t120, <8 x float>* %t124, align 4
	%t125 = fadd <8 x float> %t104, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t126 = mul nsw i64 %n, 4
	%t127 = add nsw i64 %t126, %t4
	%t128 = getelementptr inbounds float, float* %z, i64 %t127
	%t129 = bitcast float* %t128 to <8 x float>*
	store <8 x float> %t125, <8 x float>* %t129, align 4
	%t130 = fadd <8 x float> %t105, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t131 = mul nsw i64 %n, 5
	%t132 = add nsw i64 %t131, %t4
	%t133 = getelementptr inbounds float, float* %z, i64 %t132
	%t134 = bitcast float* %t133 to <8 x float>*
	store <8 x float> %t130, <8 x float>* %t134, align 4
	%t135 = fadd <8 x float> %t106, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t136 = mul nsw i64 %n, 6
	%t137 = add nsw i64 %t136, %t4
	%t138 = getelementptr inbounds float, float* %z, i64 %t137
	%t139 = bitcast float* %t138 to <8 x float>*
	store <8 x float> %t135, <8 x float>* %t139, align 4
	%t140 = fadd <8 x float> %t107, <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>
	%t141 = mul nsw i64 %n, 7
	%t142 = add nsw i64 %t141, %t4
	%t143 = getelementptr inbounds float, float* %z, i64 %t142
	%t144 = bitcast float* %t143 to <8 x float>*
	store <8 x float> %t140, <8 x float>* %t144, align 4
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	br label %loop0
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
	%c = icmp slt i64 %a, %b
	%r = select i1 %c, i64 %a, i64 %b
	ret i64 %r
}

declare <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>*, i32, <8 x i1>, <8 x float>)
; more
; lanes.t:8
define void @E_n_11(i8* noalias %more, float* noalias readonly %x, i64 %from, i64 %to) noinline nounwind {
	br label %loop0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t0 = icmp slt i64 %r0, %to
	br i1 %t0, label %body0, label %end0
body0:
	br label %loop1
loop1:
	%r1 = phi i64 [0, %body0], [%n1, %next1]
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
	%t26 = select <8 x i1> %t19, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x i1> <i1 false, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>
	%t27 = select <8 x i1> %t26, <8 x float> %t25, <8 x float> zeroinitializer
	%t28 = fcmp olt <8 x float> <float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000>, %t27
	%t29 = zext <8 x i1> %t28 to <8 x i8>
	%t30 = mul nsw i64 %r0, 11
	%t31 = add nsw i64 %t30, %t2
	%t32 = getelementptr inbounds i8, i8* %more, i64 %t31
	%t33 = bitcast i8* %t32 to <8 x i8>*
	store <8 x i8> %t29, <8 x i8>* %t33, align 1
	br label %next1
next1:
	%n1 = add nsw i64 %r1, 1
	%t34 = icmp slt i64 %n1, 2
	br i1 %t34, label %loop1, label %end1
end1:
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	br label %loop0
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

