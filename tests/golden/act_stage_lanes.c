// helpers: vectors f32x8 splat_f32x8 load_f32x8 mulacc_f32x8 f32x4 f32x2 splat_f32x4 sqrt_f32x4 store_f32x8
/* y */
/* act_stage_lanes.t:2 */
void r_8_24(float *__restrict y, const float *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		f32x8 acc0;
		f32x8 acc1;
		f32x8 acc2;
		f32x8 acc3;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		acc2 = splat_f32x8(0.0f);
		acc3 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 3; r3++) {
			const float *p0 = &x[r2 * 96 + r3 * 8];
			const f32x8 v0 = load_f32x8(&p0[0]);
			acc0 = mulacc_f32x8(v0, v0, acc0);
			const f32x8 v1 = load_f32x8(&p0[24]);
			acc1 = mulacc_f32x8(v1, v1, acc1);
			const f32x8 v2 = load_f32x8(&p0[48]);
			acc2 = mulacc_f32x8(v2, v2, acc2);
			const f32x8 v3 = load_f32x8(&p0[72]);
			acc3 = mulacc_f32x8(v3, v3, acc3);
		}
		f32x4 acc4;
		f32x4 acc5;
		f32x4 acc6;
		f32x4 acc7;
		acc4 = __builtin_shufflevector(acc0, acc0, 0, 1, 2, 3) + __builtin_shufflevector(acc0, acc0, 4, 5, 6, 7);
		acc5 = __builtin_shufflevector(acc1, acc1, 0, 1, 2, 3) + __builtin_shufflevector(acc1, acc1, 4, 5, 6, 7);
		acc6 = __builtin_shufflevector(acc2, acc2, 0, 1, 2, 3) + __builtin_shufflevector(acc2, acc2, 4, 5, 6, 7);
		acc7 = __builtin_shufflevector(acc3, acc3, 0, 1, 2, 3) + __builtin_shufflevector(acc3, acc3, 4, 5, 6, 7);
		f32x2 acc8;
		f32x2 acc9;
		f32x2 acc10;
		f32x2 acc11;
		acc8 = __builtin_shufflevector(acc4, acc4, 0, 1) + __builtin_shufflevector(acc4, acc4, 2, 3);
		acc9 = __builtin_shufflevector(acc5, acc5, 0, 1) + __builtin_shufflevector(acc5, acc5, 2, 3);
		acc10 = __builtin_shufflevector(acc6, acc6, 0, 1) + __builtin_shufflevector(acc6, acc6, 2, 3);
		acc11 = __builtin_shufflevector(acc7, acc7, 0, 1) + __builtin_shufflevector(acc7, acc7, 2, 3);
		f32x4 acc12;
		acc12 = splat_f32x4(0.0f);
		acc12[0] = acc8[0] + acc8[1];
		acc12[1] = acc9[0] + acc9[1];
		acc12[2] = acc10[0] + acc10[1];
		acc12[3] = acc11[0] + acc11[1];
		f32x4 acc13;
		acc13 = sqrt_f32x4(acc12);
		for (long r3 = 0; r3 < 3; r3++) {
			const float v4 = acc13[0];
			const float *p1 = &x[r2 * 96 + r3 * 8];
			float *p2 = &y[r2 * 96 + r3 * 8];
			store_f32x8(&p2[0], load_f32x8(&p1[0]) / v4);
			const float v5 = acc13[1];
			store_f32x8(&p2[24], load_f32x8(&p1[24]) / v5);
			const float v6 = acc13[2];
			store_f32x8(&p2[48], load_f32x8(&p1[48]) / v6);
			const float v7 = acc13[3];
			store_f32x8(&p2[72], load_f32x8(&p1[72]) / v7);
		}
	}
}

void r_8_24_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_8_24((float *)bufs[0], (const float *)bufs[1]);
}

