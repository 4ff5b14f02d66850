// helpers: vectors f32x8 load_f32x8 splat_f32x8 mulacc_f32x8 store_f32x8
/* y */
/* act_order_folds.t:3 */
void r_8_16_24(float *__restrict y, const float *__restrict a, const float *__restrict b)
{
	__attribute__((aligned(64))) float buf0[128];
	for (long r4 = 0; r4 < 128; r4++) {
		buf0[r4] = 0.0f;
	}
	for (long r2 = 0; r2 < 3; r2++) {
		for (long r5 = 0; r5 < 2; r5++) {
			for (long r6 = 0; r6 < 2; r6++) {
				f32x8 acc0;
				f32x8 acc1;
				f32x8 acc2;
				f32x8 acc3;
				acc0 = load_f32x8(&buf0[r5 * 64 + r6 * 8]);
				acc1 = load_f32x8(&buf0[r5 * 64 + r6 * 8 + 16]);
				acc2 = load_f32x8(&buf0[r5 * 64 + r6 * 8 + 32]);
				acc3 = load_f32x8(&buf0[r5 * 64 + r6 * 8 + 48]);
				for (long r3 = 0; r3 < 8; r3++) {
					const float *p0 = &a[r5 * 96 + r2 * 8 + r3];
					const float v0 = p0[0];
					const f32x8 v1 = load_f32x8(&b[r2 * 128 + r3 * 16 + r6 * 8]);
					acc0 = mulacc_f32x8(splat_f32x8(v0), v1, acc0);
					const float v2 = p0[24];
					acc1 = mulacc_f32x8(splat_f32x8(v2), v1, acc1);
					const float v3 = p0[48];
					acc2 = mulacc_f32x8(splat_f32x8(v3), v1, acc2);
					const float v4 = p0[72];
					acc3 = mulacc_f32x8(splat_f32x8(v4), v1, acc3);
				}
				store_f32x8(&buf0[r5 * 64 + r6 * 8], acc0);
				store_f32x8(&buf0[r5 * 64 + r6 * 8 + 16], acc1);
				store_f32x8(&buf0[r5 * 64 + r6 * 8 + 32], acc2);
				store_f32x8(&buf0[r5 * 64 + r6 * 8 + 48], acc3);
			}
		}
	}
	for (long r4 = 0; r4 < 2; r4++) {
		for (long r5 = 0; r5 < 2; r5++) {
			float *p1 = &y[r4 * 64 + r5 * 8];
			store_f32x8(&p1[0], load_f32x8(&buf0[r4 * 64 + r5 * 8]));
			store_f32x8(&p1[16], load_f32x8(&buf0[r4 * 64 + r5 * 8 + 16]));
			store_f32x8(&p1[32], load_f32x8(&buf0[r4 * 64 + r5 * 8 + 32]));
			store_f32x8(&p1[48], load_f32x8(&buf0[r4 * 64 + r5 * 8 + 48]));
		}
	}
}

void r_8_16_24_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_8_16_24((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2]);
}

