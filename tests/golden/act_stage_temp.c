// helpers: vectors f32x8 load_f32x8 store_f32x8
void turn(float *__restrict w_turned0, const float *__restrict w, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 4;
		const long v1 = gidx0 / 4 % 2;
		const long v2 = gidx0 / 8;
		store_f32x8(&w_turned0[v2 * 64 + v1 * 32 + v0 * 8], load_f32x8(&w[v2 * 64 + v0 * 16 + v1 * 8]));
	}
}

void turn_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	turn((float *)bufs[0], (const float *)bufs[1], from, to);
}

// helpers: vectors f32x8 splat_f32x8 load_f32x8 mulacc_f32x8 store_f32x8
/* y */
/* act_stage_temp.t:3 */
void r_6_16_8(float *__restrict y, const float *__restrict x, const float *__restrict w_turned0, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7, acc0_8, acc0_9, acc0_10, acc0_11;
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
		for (long r2 = 0; r2 < 2; r2++) {
			for (long r3 = 0; r3 < 4; r3++) {
				const float v0 = x[r2 * 4 + r3];
				acc0_0 = mulacc_f32x8(splat_f32x8(v0), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_0);
				acc0_1 = mulacc_f32x8(splat_f32x8(v0), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_1);
				const float v1 = x[r2 * 4 + r3 + 8];
				acc0_2 = mulacc_f32x8(splat_f32x8(v1), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_2);
				acc0_3 = mulacc_f32x8(splat_f32x8(v1), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_3);
				const float v2 = x[r2 * 4 + r3 + 16];
				acc0_4 = mulacc_f32x8(splat_f32x8(v2), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_4);
				acc0_5 = mulacc_f32x8(splat_f32x8(v2), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_5);
				const float v3 = x[r2 * 4 + r3 + 24];
				acc0_6 = mulacc_f32x8(splat_f32x8(v3), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_6);
				acc0_7 = mulacc_f32x8(splat_f32x8(v3), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_7);
				const float v4 = x[r2 * 4 + r3 + 32];
				acc0_8 = mulacc_f32x8(splat_f32x8(v4), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_8);
				acc0_9 = mulacc_f32x8(splat_f32x8(v4), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_9);
				const float v5 = x[r2 * 4 + r3 + 40];
				acc0_10 = mulacc_f32x8(splat_f32x8(v5), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]), acc0_10);
				acc0_11 = mulacc_f32x8(splat_f32x8(v5), load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]), acc0_11);
			}
		}
		store_f32x8(&y[gidx0 * 16], acc0_0);
		store_f32x8(&y[gidx0 * 16 + 8], acc0_1);
		store_f32x8(&y[gidx0 * 16 + 16], acc0_2);
		store_f32x8(&y[gidx0 * 16 + 24], acc0_3);
		store_f32x8(&y[gidx0 * 16 + 32], acc0_4);
		store_f32x8(&y[gidx0 * 16 + 40], acc0_5);
		store_f32x8(&y[gidx0 * 16 + 48], acc0_6);
		store_f32x8(&y[gidx0 * 16 + 56], acc0_7);
		store_f32x8(&y[gidx0 * 16 + 64], acc0_8);
		store_f32x8(&y[gidx0 * 16 + 72], acc0_9);
		store_f32x8(&y[gidx0 * 16 + 80], acc0_10);
		store_f32x8(&y[gidx0 * 16 + 88], acc0_11);
	}
}

void r_6_16_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_6_16_8((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

