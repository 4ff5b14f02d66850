void pack(float *__restrict w_packed0, const float *__restrict w, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 24;
		const long v1 = gidx0 / 24;
		w_packed0[v1 * 24 + v0] = w[v0 * 3 + v1];
	}
}

void pack_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	pack((float *)bufs[0], (const float *)bufs[1], from, to);
}

// helpers: vectors f32x8 splat_f32x8 load_f32x8 mulacc_f32x8 store_f32x8
/* y */
/* act_weights.t:3 */
void r_2_24_3(float *__restrict y, const float *__restrict x, const float *__restrict w_packed0, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5;
		acc0_0 = splat_f32x8(0.0f);
		acc0_1 = splat_f32x8(0.0f);
		acc0_2 = splat_f32x8(0.0f);
		acc0_3 = splat_f32x8(0.0f);
		acc0_4 = splat_f32x8(0.0f);
		acc0_5 = splat_f32x8(0.0f);
		for (long r2 = 0; r2 < 3; r2++) {
			const float v0 = x[r2];
			acc0_0 = mulacc_f32x8(splat_f32x8(v0), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24]), acc0_0);
			acc0_1 = mulacc_f32x8(splat_f32x8(v0), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24 + 8]), acc0_1);
			acc0_2 = mulacc_f32x8(splat_f32x8(v0), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24 + 16]), acc0_2);
			const float v1 = x[r2 + 3];
			acc0_3 = mulacc_f32x8(splat_f32x8(v1), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24]), acc0_3);
			acc0_4 = mulacc_f32x8(splat_f32x8(v1), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24 + 8]), acc0_4);
			acc0_5 = mulacc_f32x8(splat_f32x8(v1), load_f32x8(&w_packed0[r2 * 24 + gidx0 * 24 + 16]), acc0_5);
		}
		store_f32x8(&y[gidx0 * 24], acc0_0);
		store_f32x8(&y[gidx0 * 24 + 8], acc0_1);
		store_f32x8(&y[gidx0 * 24 + 16], acc0_2);
		store_f32x8(&y[gidx0 * 24 + 24], acc0_3);
		store_f32x8(&y[gidx0 * 24 + 32], acc0_4);
		store_f32x8(&y[gidx0 * 24 + 40], acc0_5);
	}
}

void r_2_24_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_2_24_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

