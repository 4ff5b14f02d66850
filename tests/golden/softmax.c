// helpers: vectors f32x8 splat_f32x8 load_f32x8 i32x8 max_f32x8 f32x4 i32x4 max_f32x4 f32x2 i32x2 max_f32x2 max_f32 max_with_f32x8 mulacc_f32x8 store_f32x8
/* y */
/* softmax.t:3 */
void r_3_16(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0;
		acc0 = splat_f32x8(-__builtin_inff());
		for (long r3 = 0; r3 < 2; r3++) {
			acc0 = max_f32x8(acc0, load_f32x8(&x[gidx0 * 16 + r3 * 8]));
		}
		f32x4 acc1;
		acc1 = max_f32x4(__builtin_shufflevector(acc0, acc0, 0, 1, 2, 3), __builtin_shufflevector(acc0, acc0, 4, 5, 6, 7));
		f32x2 acc2;
		acc2 = max_f32x2(__builtin_shufflevector(acc1, acc1, 0, 1), __builtin_shufflevector(acc1, acc1, 2, 3));
		float acc3;
		acc3 = max_f32(acc2[0], acc2[1]);
		__attribute__((aligned(64))) float buf0[16];
		for (long r3 = 0; r3 < 2; r3++) {
			const f32x8 v0 = max_with_f32x8((load_f32x8(&x[gidx0 * 16 + r3 * 8]) - acc3) * 1.442695f, splat_f32x8(-152.0f));
			const f32x8 v1 = v0 + 12583103.0f;
			const f32x8 v2 = v0 - (v1 - 12583103.0f);
			store_f32x8(&buf0[r3 * 8], mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(splat_f32x8(8.323074e-24f), v2, splat_f32x8(7.263544e-23f)), v2, splat_f32x8(5.214165e-22f)), v2, splat_f32x8(3.0088412e-21f)), v2, splat_f32x8(1.30227034e-20f)), v2, splat_f32x8(3.7575584e-20f)), v2, splat_f32x8(5.421011e-20f)) * (f32x8)((i32x8)v1 << 23));
		}
		f32x8 acc4;
		acc4 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			acc4 = acc4 + load_f32x8(&buf0[r3 * 8]);
		}
		f32x4 acc5;
		acc5 = __builtin_shufflevector(acc4, acc4, 0, 1, 2, 3) + __builtin_shufflevector(acc4, acc4, 4, 5, 6, 7);
		f32x2 acc6;
		acc6 = __builtin_shufflevector(acc5, acc5, 0, 1) + __builtin_shufflevector(acc5, acc5, 2, 3);
		float acc7;
		acc7 = acc6[0] + acc6[1];
		const float v3 = 1.0f / acc7;
		for (long r3 = 0; r3 < 2; r3++) {
			store_f32x8(&y[gidx0 * 16 + r3 * 8], load_f32x8(&buf0[r3 * 8]) * v3);
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_16((float *)bufs[0], (const float *)bufs[1], from, to);
}

