// helpers: vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2 mulacc_f32x8 store_f32x8
/* y */
/* layernorm.t:4 */
void r_3_16(float *__restrict y, const float *__restrict x, const float *__restrict scale, const float *__restrict shift, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0;
		acc0 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			acc0 = acc0 + load_f32x8(&x[gidx0 * 16 + r3 * 8]);
		}
		f32x4 acc1;
		acc1 = __builtin_shufflevector(acc0, acc0, 0, 1, 2, 3) + __builtin_shufflevector(acc0, acc0, 4, 5, 6, 7);
		f32x2 acc2;
		acc2 = __builtin_shufflevector(acc1, acc1, 0, 1) + __builtin_shufflevector(acc1, acc1, 2, 3);
		float acc3;
		acc3 = acc2[0] + acc2[1];
		const float v0 = acc3 / 16.0f;
		f32x8 acc4;
		acc4 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			const f32x8 v1 = load_f32x8(&x[gidx0 * 16 + r3 * 8]) - v0;
			acc4 = mulacc_f32x8(v1, v1, acc4);
		}
		f32x4 acc5;
		acc5 = __builtin_shufflevector(acc4, acc4, 0, 1, 2, 3) + __builtin_shufflevector(acc4, acc4, 4, 5, 6, 7);
		f32x2 acc6;
		acc6 = __builtin_shufflevector(acc5, acc5, 0, 1) + __builtin_shufflevector(acc5, acc5, 2, 3);
		float acc7;
		acc7 = acc6[0] + acc6[1];
		const float v2 = 1.0f / __builtin_sqrtf(acc7 / 16.0f + 1e-05f);
		for (long r3 = 0; r3 < 2; r3++) {
			store_f32x8(&y[gidx0 * 16 + r3 * 8], (load_f32x8(&x[gidx0 * 16 + r3 * 8]) - v0) * v2 * load_f32x8(&scale[r3 * 8]) + load_f32x8(&shift[r3 * 8]));
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_16((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], (const float *)bufs[3], from, to);
}

