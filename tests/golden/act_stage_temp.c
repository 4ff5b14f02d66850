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
		f32x8 acc0;
		f32x8 acc1;
		f32x8 acc2;
		f32x8 acc3;
		f32x8 acc4;
		f32x8 acc5;
		f32x8 acc6;
		f32x8 acc7;
		f32x8 acc8;
		f32x8 acc9;
		f32x8 acc10;
		f32x8 acc11;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		acc2 = splat_f32x8(0.0f);
		acc3 = splat_f32x8(0.0f);
		acc4 = splat_f32x8(0.0f);
		acc5 = splat_f32x8(0.0f);
		acc6 = splat_f32x8(0.0f);
		acc7 = splat_f32x8(0.0f);
		acc8 = splat_f32x8(0.0f);
		acc9 = splat_f32x8(0.0f);
		acc10 = splat_f32x8(0.0f);
		acc11 = splat_f32x8(0.0f);
		for (long r2 = 0; r2 < 2; r2++) {
			for (long r3 = 0; r3 < 4; r3++) {
				const float *p0 = &x[r2 * 4 + r3];
				const float v0 = p0[0];
				const f32x8 v1 = load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8]);
				const f32x8 v2 = splat_f32x8(v0);
				acc0 = mulacc_f32x8(v2, v1, acc0);
				const f32x8 v3 = load_f32x8(&w_turned0[r2 * 64 + gidx0 * 64 + r3 * 8 + 32]);
				acc1 = mulacc_f32x8(v2, v3, acc1);
				const float v4 = p0[8];
				const f32x8 v5 = splat_f32x8(v4);
				acc2 = mulacc_f32x8(v5, v1, acc2);
				acc3 = mulacc_f32x8(v5, v3, acc3);
				const float v6 = p0[16];
				const f32x8 v7 = splat_f32x8(v6);
				acc4 = mulacc_f32x8(v7, v1, acc4);
				acc5 = mulacc_f32x8(v7, v3, acc5);
				const float v8 = p0[24];
				const f32x8 v9 = splat_f32x8(v8);
				acc6 = mulacc_f32x8(v9, v1, acc6);
				acc7 = mulacc_f32x8(v9, v3, acc7);
				const float v10 = p0[32];
				const f32x8 v11 = splat_f32x8(v10);
				acc8 = mulacc_f32x8(v11, v1, acc8);
				acc9 = mulacc_f32x8(v11, v3, acc9);
				const float v12 = p0[40];
				const f32x8 v13 = splat_f32x8(v12);
				acc10 = mulacc_f32x8(v13, v1, acc10);
				acc11 = mulacc_f32x8(v13, v3, acc11);
			}
		}
		float *p1 = &y[gidx0 * 16];
		store_f32x8(&p1[0], acc0);
		store_f32x8(&p1[8], acc1);
		store_f32x8(&p1[16], acc2);
		store_f32x8(&p1[24], acc3);
		store_f32x8(&p1[32], acc4);
		store_f32x8(&p1[40], acc5);
		store_f32x8(&p1[48], acc6);
		store_f32x8(&p1[56], acc7);
		store_f32x8(&p1[64], acc8);
		store_f32x8(&p1[72], acc9);
		store_f32x8(&p1[80], acc10);
		store_f32x8(&p1[88], acc11);
	}
}

void r_6_16_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_6_16_8((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

