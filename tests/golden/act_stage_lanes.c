// helpers: vectors f32x8 splat_f32x8 load_f32x8 mulacc_f32x8 f32x4 f32x2 sqrt_f32x4 store_f32x8
/* y */
/* act_stage_lanes.t:2 */
void r_8_24(float *__restrict y, const float *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		f32x8 acc0_0, acc0_1, acc0_2, acc0_3;
		acc0_0 = splat_f32x8(0.0f);
		acc0_1 = splat_f32x8(0.0f);
		acc0_2 = splat_f32x8(0.0f);
		acc0_3 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 3; r3++) {
			const f32x8 v0 = load_f32x8(&x[r2 * 96 + r3 * 8]);
			acc0_0 = mulacc_f32x8(v0, v0, acc0_0);
			const f32x8 v1 = load_f32x8(&x[r2 * 96 + r3 * 8 + 24]);
			acc0_1 = mulacc_f32x8(v1, v1, acc0_1);
			const f32x8 v2 = load_f32x8(&x[r2 * 96 + r3 * 8 + 48]);
			acc0_2 = mulacc_f32x8(v2, v2, acc0_2);
			const f32x8 v3 = load_f32x8(&x[r2 * 96 + r3 * 8 + 72]);
			acc0_3 = mulacc_f32x8(v3, v3, acc0_3);
		}
		f32x4 acc1_0, acc1_1, acc1_2, acc1_3;
		acc1_0 = __builtin_shufflevector(acc0_0, acc0_0, 0, 1, 2, 3) + __builtin_shufflevector(acc0_0, acc0_0, 4, 5, 6, 7);
		acc1_1 = __builtin_shufflevector(acc0_1, acc0_1, 0, 1, 2, 3) + __builtin_shufflevector(acc0_1, acc0_1, 4, 5, 6, 7);
		acc1_2 = __builtin_shufflevector(acc0_2, acc0_2, 0, 1, 2, 3) + __builtin_shufflevector(acc0_2, acc0_2, 4, 5, 6, 7);
		acc1_3 = __builtin_shufflevector(acc0_3, acc0_3, 0, 1, 2, 3) + __builtin_shufflevector(acc0_3, acc0_3, 4, 5, 6, 7);
		f32x2 acc2_0, acc2_1, acc2_2, acc2_3;
		acc2_0 = __builtin_shufflevector(acc1_0, acc1_0, 0, 1) + __builtin_shufflevector(acc1_0, acc1_0, 2, 3);
		acc2_1 = __builtin_shufflevector(acc1_1, acc1_1, 0, 1) + __builtin_shufflevector(acc1_1, acc1_1, 2, 3);
		acc2_2 = __builtin_shufflevector(acc1_2, acc1_2, 0, 1) + __builtin_shufflevector(acc1_2, acc1_2, 2, 3);
		acc2_3 = __builtin_shufflevector(acc1_3, acc1_3, 0, 1) + __builtin_shufflevector(acc1_3, acc1_3, 2, 3);
		f32x4 acc3_0 = {0};
		acc3_0[0] = acc2_0[0] + acc2_0[1];
		acc3_0[1] = acc2_1[0] + acc2_1[1];
		acc3_0[2] = acc2_2[0] + acc2_2[1];
		acc3_0[3] = acc2_3[0] + acc2_3[1];
		f32x4 acc4_0;
		acc4_0 = sqrt_f32x4(acc3_0);
		for (long r3 = 0; r3 < 3; r3++) {
			const float v4 = acc4_0[0];
			store_f32x8(&y[r2 * 96 + r3 * 8], load_f32x8(&x[r2 * 96 + r3 * 8]) / v4);
			const float v5 = acc4_0[1];
			store_f32x8(&y[r2 * 96 + r3 * 8 + 24], load_f32x8(&x[r2 * 96 + r3 * 8 + 24]) / v5);
			const float v6 = acc4_0[2];
			store_f32x8(&y[r2 * 96 + r3 * 8 + 48], load_f32x8(&x[r2 * 96 + r3 * 8 + 48]) / v6);
			const float v7 = acc4_0[3];
			store_f32x8(&y[r2 * 96 + r3 * 8 + 72], load_f32x8(&x[r2 * 96 + r3 * 8 + 72]) / v7);
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

