// helpers: min_i64 vectors f32x4 splat_f32x4 load_f32x4 mulacc_f32x4 i32x4 max_f32x4 store_f32x4
/* y */
/* linear_relu.t:5 */
void r_4_6_8(float *__restrict y, const float *__restrict a, const float *__restrict b, const float *__restrict bias, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 2);
		f32x4 acc0;
		f32x4 acc1;
		f32x4 acc2;
		f32x4 acc3;
		acc0 = splat_f32x4(0.0f);
		acc1 = splat_f32x4(0.0f);
		acc2 = splat_f32x4(0.0f);
		acc3 = splat_f32x4(0.0f);
		for (long r2 = 0; r2 < 8; r2++) {
			const float *p0 = &a[r2];
			const float v1 = p0[0];
			const f32x4 v2 = load_f32x4(&b[r2 * 6 + v0]);
			acc0 = mulacc_f32x4(splat_f32x4(v1), v2, acc0);
			const float v3 = p0[8];
			acc1 = mulacc_f32x4(splat_f32x4(v3), v2, acc1);
			const float v4 = p0[16];
			acc2 = mulacc_f32x4(splat_f32x4(v4), v2, acc2);
			const float v5 = p0[24];
			acc3 = mulacc_f32x4(splat_f32x4(v5), v2, acc3);
		}
		const f32x4 v6 = load_f32x4(&bias[v0]);
		float *p1 = &y[v0];
		store_f32x4(&p1[0], max_f32x4(acc0 + v6, splat_f32x4(0.0f)));
		store_f32x4(&p1[6], max_f32x4(acc1 + v6, splat_f32x4(0.0f)));
		store_f32x4(&p1[12], max_f32x4(acc2 + v6, splat_f32x4(0.0f)));
		store_f32x4(&p1[18], max_f32x4(acc3 + v6, splat_f32x4(0.0f)));
	}
}

void r_4_6_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_4_6_8((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], (const float *)bufs[3], from, to);
}

