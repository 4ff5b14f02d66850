// helpers: min_i64 vectors f32x4 splat_f32x4 load_f32x4 mulacc_f32x4 store_f32x4
/* y */
/* act_tile.t:3 */
void r_5_12_3(float *__restrict y, const float *__restrict a, const float *__restrict b)
{
	for (long r3 = 0; r3 < 3; r3++) {
		const long v0 = min_i64(r3 * 2, 3);
		for (long r4 = 0; r4 < 2; r4++) {
			const long v1 = min_i64(r4 * 8, 4);
			f32x4 acc0;
			f32x4 acc1;
			f32x4 acc2;
			f32x4 acc3;
			acc0 = splat_f32x4(0.0f);
			acc1 = splat_f32x4(0.0f);
			acc2 = splat_f32x4(0.0f);
			acc3 = splat_f32x4(0.0f);
			for (long r2 = 0; r2 < 3; r2++) {
				const float v2 = a[v0 * 3 + r2];
				const f32x4 v3 = load_f32x4(&b[r2 * 12 + v1]);
				const f32x4 v4 = splat_f32x4(v2);
				acc0 = mulacc_f32x4(v4, v3, acc0);
				const f32x4 v5 = load_f32x4(&b[r2 * 12 + v1 + 4]);
				acc1 = mulacc_f32x4(v4, v5, acc1);
				const float v6 = a[v0 * 3 + r2 + 3];
				const f32x4 v7 = splat_f32x4(v6);
				acc2 = mulacc_f32x4(v7, v3, acc2);
				acc3 = mulacc_f32x4(v7, v5, acc3);
			}
			float *p0 = &y[v0 * 12 + v1];
			store_f32x4(&p0[0], acc0);
			store_f32x4(&p0[4], acc1);
			store_f32x4(&p0[12], acc2);
			store_f32x4(&p0[16], acc3);
		}
	}
}

void r_5_12_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_5_12_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2]);
}

