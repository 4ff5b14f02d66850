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
		f32x8 acc0;
		f32x8 acc1;
		f32x8 acc2;
		f32x8 acc3;
		f32x8 acc4;
		f32x8 acc5;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		acc2 = splat_f32x8(0.0f);
		acc3 = splat_f32x8(0.0f);
		acc4 = splat_f32x8(0.0f);
		acc5 = splat_f32x8(0.0f);
		for (long r2 = 0; r2 < 3; r2++) {
			const float v0 = x[r2];
			const float *p0 = &w_packed0[r2 * 24 + gidx0 * 24];
			const f32x8 v1 = load_f32x8(&p0[0]);
			const f32x8 v2 = splat_f32x8(v0);
			acc0 = mulacc_f32x8(v2, v1, acc0);
			const f32x8 v3 = load_f32x8(&p0[8]);
			acc1 = mulacc_f32x8(v2, v3, acc1);
			const f32x8 v4 = load_f32x8(&p0[16]);
			acc2 = mulacc_f32x8(v2, v4, acc2);
			const float v5 = x[r2 + 3];
			const f32x8 v6 = splat_f32x8(v5);
			acc3 = mulacc_f32x8(v6, v1, acc3);
			acc4 = mulacc_f32x8(v6, v3, acc4);
			acc5 = mulacc_f32x8(v6, v4, acc5);
		}
		float *p1 = &y[gidx0 * 24];
		store_f32x8(&p1[0], acc0);
		store_f32x8(&p1[8], acc1);
		store_f32x8(&p1[16], acc2);
		store_f32x8(&p1[24], acc3);
		store_f32x8(&p1[32], acc4);
		store_f32x8(&p1[40], acc5);
	}
}

void r_2_24_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_2_24_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

