// helpers: vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2
/* parts.t:2 */
void parts_r_65540(float *__restrict parts0_, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7, acc0_8, acc0_9, acc0_10, acc0_11, acc0_12, acc0_13, acc0_14, acc0_15;
		acc0_0 = splat_f32x8(0.0f);
		acc0_1 = splat_f32x8(0.0f);
		acc0_2 = splat_f32x8(0.0f);
		acc0_3 = splat_f32x8(0.0f);
		acc0_4 = splat_f32x8(0.0f);
		acc0_5 = splat_f32x8(0.0f);
		acc0_6 = splat_f32x8(0.0f);
		acc0_7 = splat_f32x8(0.0f);
		acc0_8 = splat_f32x8(0.0f);
		acc0_9 = splat_f32x8(0.0f);
		acc0_10 = splat_f32x8(0.0f);
		acc0_11 = splat_f32x8(0.0f);
		acc0_12 = splat_f32x8(0.0f);
		acc0_13 = splat_f32x8(0.0f);
		acc0_14 = splat_f32x8(0.0f);
		acc0_15 = splat_f32x8(0.0f);
		float acc1_0, acc1_1, acc1_2, acc1_3;
		acc1_0 = 0.0f;
		acc1_1 = 0.0f;
		acc1_2 = 0.0f;
		acc1_3 = 0.0f;
		for (long r3 = 0; r3 < 512; r3++) {
			acc0_0 = acc0_0 + load_f32x8(&x[gidx0 * 65540 + r3 * 32]);
			acc0_1 = acc0_1 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 8]);
			acc0_2 = acc0_2 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 16]);
			acc0_3 = acc0_3 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 24]);
			acc0_4 = acc0_4 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 16385]);
			acc0_5 = acc0_5 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 16393]);
			acc0_6 = acc0_6 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 16401]);
			acc0_7 = acc0_7 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 16409]);
			acc0_8 = acc0_8 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 32770]);
			acc0_9 = acc0_9 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 32778]);
			acc0_10 = acc0_10 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 32786]);
			acc0_11 = acc0_11 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 32794]);
			acc0_12 = acc0_12 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 49155]);
			acc0_13 = acc0_13 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 49163]);
			acc0_14 = acc0_14 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 49171]);
			acc0_15 = acc0_15 + load_f32x8(&x[gidx0 * 65540 + r3 * 32 + 49179]);
		}
		for (long r3 = 0; r3 < 1; r3++) {
			acc1_0 += x[gidx0 * 65540 + 16384];
			acc1_1 += x[gidx0 * 65540 + 32769];
			acc1_2 += x[gidx0 * 65540 + 49154];
			acc1_3 += x[gidx0 * 65540 + 65539];
		}
		f32x8 acc2_0, acc2_1, acc2_2, acc2_3, acc2_4, acc2_5, acc2_6, acc2_7;
		acc2_0 = acc0_0 + acc0_2;
		acc2_1 = acc0_1 + acc0_3;
		acc2_2 = acc0_4 + acc0_6;
		acc2_3 = acc0_5 + acc0_7;
		acc2_4 = acc0_8 + acc0_10;
		acc2_5 = acc0_9 + acc0_11;
		acc2_6 = acc0_12 + acc0_14;
		acc2_7 = acc0_13 + acc0_15;
		f32x8 acc3_0, acc3_1, acc3_2, acc3_3;
		acc3_0 = acc2_0 + acc2_1;
		acc3_1 = acc2_2 + acc2_3;
		acc3_2 = acc2_4 + acc2_5;
		acc3_3 = acc2_6 + acc2_7;
		f32x4 acc4_0, acc4_1, acc4_2, acc4_3;
		acc4_0 = __builtin_shufflevector(acc3_0, acc3_0, 0, 1, 2, 3) + __builtin_shufflevector(acc3_0, acc3_0, 4, 5, 6, 7);
		acc4_1 = __builtin_shufflevector(acc3_1, acc3_1, 0, 1, 2, 3) + __builtin_shufflevector(acc3_1, acc3_1, 4, 5, 6, 7);
		acc4_2 = __builtin_shufflevector(acc3_2, acc3_2, 0, 1, 2, 3) + __builtin_shufflevector(acc3_2, acc3_2, 4, 5, 6, 7);
		acc4_3 = __builtin_shufflevector(acc3_3, acc3_3, 0, 1, 2, 3) + __builtin_shufflevector(acc3_3, acc3_3, 4, 5, 6, 7);
		f32x2 acc5_0, acc5_1, acc5_2, acc5_3;
		acc5_0 = __builtin_shufflevector(acc4_0, acc4_0, 0, 1) + __builtin_shufflevector(acc4_0, acc4_0, 2, 3);
		acc5_1 = __builtin_shufflevector(acc4_1, acc4_1, 0, 1) + __builtin_shufflevector(acc4_1, acc4_1, 2, 3);
		acc5_2 = __builtin_shufflevector(acc4_2, acc4_2, 0, 1) + __builtin_shufflevector(acc4_2, acc4_2, 2, 3);
		acc5_3 = __builtin_shufflevector(acc4_3, acc4_3, 0, 1) + __builtin_shufflevector(acc4_3, acc4_3, 2, 3);
		float acc6_0, acc6_1, acc6_2, acc6_3;
		acc6_0 = acc5_0[0] + acc5_0[1];
		acc6_1 = acc5_1[0] + acc5_1[1];
		acc6_2 = acc5_2[0] + acc5_2[1];
		acc6_3 = acc5_3[0] + acc5_3[1];
		acc6_0 += acc1_0;
		acc6_1 += acc1_1;
		acc6_2 += acc1_2;
		acc6_3 += acc1_3;
		parts0_[gidx0 * 4] = acc6_0;
		parts0_[gidx0 * 4 + 1] = acc6_1;
		parts0_[gidx0 * 4 + 2] = acc6_2;
		parts0_[gidx0 * 4 + 3] = acc6_3;
	}
}

void parts_r_65540_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	parts_r_65540((float *)bufs[0], (const float *)bufs[1], from, to);
}

// helpers: vectors f32x2 splat_f32x2 load_f32x2
/* parts.t:2 */
void r_65540(float *__restrict t0_, const float *__restrict parts0_)
{
	f32x2 acc0_0;
	acc0_0 = splat_f32x2(0.0f);
	for (long r2 = 0; r2 < 2; r2++) {
		acc0_0 = acc0_0 + load_f32x2(&parts0_[r2 * 2]);
	}
	float acc1;
	acc1 = acc0_0[0] + acc0_0[1];
	t0_[0] = acc1;
}

void r_65540_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_65540((float *)bufs[0], (const float *)bufs[1]);
}

/* y */
/* parts.t:2 */
void E_1(float *__restrict y, const float *__restrict t0_)
{
	y[0] = t0_[0];
}

void E_1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_1((float *)bufs[0], (const float *)bufs[1]);
}

