define internal i64 @min_i64(i64 %a, i64 %b) alwaysinline nounwind {
	%l = icmp slt i64 %a, %b
	%r = select i1 %l, i64 %a, i64 %b
	ret i64 %r
}

; y
; scatter.t:4
define void @E_4_3(float* noalias %y, float* noalias readonly %x, i64 %from, i64 %to) noinline nounwind {
	%t0 = icmp slt i64 %from, %to
	br i1 %t0, label %loop0, label %end0
loop0:
	%r0 = phi i64 [%from, %0], [%n0, %next0]
	%t1 = mul nsw i64 %r0, 8
	%t2 = call i64 @min_i64(i64 %t1, i64 4)
	%t3 = getelementptr inbounds float, float* %x, i64 %t2
	%t4 = bitcast float* %t3 to <8 x float>*
	%t5 = load <8 x float>, <8 x float>* %t4, align 4
	%t6 = getelementptr inbounds float, float* %y, i64 %t2
	%t7 = bitcast float* %t6 to <8 x float>*
	store <8 x float> %t5, <8 x float>* %t7, align 4
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t8 = icmp slt i64 %n0, %to
	br i1 %t8, label %loop0, label %end0
end0:
	ret void
}

define void @E_4_3_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to float*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to float*
	call void @E_4_3(float* %p0, float* %p1, i64 %from, i64 %to)
	ret void
}

; y
; scatter.t:4
define void @scatter_5_3(float* noalias %y, i32* noalias readonly %i, float* noalias readonly %v) noinline nounwind {
	br label %loop0
loop0:
	%r0 = phi i64 [0, %0], [%n0, %next0]
	%t0 = getelementptr inbounds i32, i32* %i, i64 %r0
	%t1 = load i32, i32* %t0
	%t2 = add i32 %t1, 4
	%t3 = icmp slt i32 %t1, 0
	%t4 = select i1 %t3, i32 %t2, i32 %t1
	%t5 = sext i32 %t4 to i64
	%t6 = icmp slt i64 %t5, 4
	%t7 = icmp slt i64 -1, %t5
	%t8 = and i1 %t7, %t6
	br label %loop1
loop1:
	%r1 = phi i64 [0, %loop0], [%n1, %next1]
	br i1 %t8, label %then2, label %done2
then2:
	%t9 = mul nsw i64 %r0, 3
	%t10 = add nsw i64 %t9, %r1
	%t11 = getelementptr inbounds float, float* %v, i64 %t10
	%t12 = load float, float* %t11
	%t13 = mul nsw i64 %t5, 3
	%t14 = add nsw i64 %t13, %r1
	%t15 = getelementptr inbounds float, float* %y, i64 %t14
	%t16 = load float, float* %t15
	%t17 = fadd float %t16, %t12
	%t18 = getelementptr inbounds float, float* %y, i64 %t14
	store float %t17, float* %t18
	br label %done2
done2:
	br label %next1
next1:
	%n1 = add nsw i64 %r1, 1
	%t19 = icmp slt i64 %n1, 3
	br i1 %t19, label %loop1, label %end1
end1:
	br label %next0
next0:
	%n0 = add nsw i64 %r0, 1
	%t20 = icmp slt i64 %n0, 5
	br i1 %t20, label %loop0, label %end0
end0:
	ret void
}

define void @scatter_5_3_call(i8** %bufs, i64* %vars, i64 %from, i64 %to) nounwind {
	%a0 = getelementptr inbounds i8*, i8** %bufs, i64 0
	%b0 = load i8*, i8** %a0
	%p0 = bitcast i8* %b0 to float*
	%a1 = getelementptr inbounds i8*, i8** %bufs, i64 1
	%b1 = load i8*, i8** %a1
	%p1 = bitcast i8* %b1 to i32*
	%a2 = getelementptr inbounds i8*, i8** %bufs, i64 2
	%b2 = load i8*, i8** %a2
	%p2 = bitcast i8* %b2 to float*
	call void @scatter_5_3(float* %p0, i32* %p1, float* %p2)
	ret void
}

