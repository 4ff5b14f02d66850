// helpers: min_i64 vectors f32x4 splat_f32x4 load_f32x4 mulacc_f32x4 store_f32x4
/* y */
/* act_tile_open.t:3 */
void r_n_12_3(float *__restrict y, const float *__restrict a, const float *__restrict b, const long n, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % ((n + 1) / 2);
		const long v1 = gidx0 / ((n + 1) / 2);
		for (long r4 = 0; r4 < min_i64(n / 2, 1); r4++) {
			const long v2 = min_i64(v0 * 2, n - 2);
			f32x4 acc0;
			f32x4 acc1;
			acc0 = splat_f32x4(0.0f);
			acc1 = splat_f32x4(0.0f);
			for (long r2 = 0; r2 < 3; r2++) {
				const float v3 = a[v2 * 3 + r2];
				acc0 = mulacc_f32x4(splat_f32x4(v3), load_f32x4(&b[r2 * 12 + v1 * 4]), acc0);
				const float v4 = a[v2 * 3 + r2 + 3];
				acc1 = mulacc_f32x4(splat_f32x4(v4), load_f32x4(&b[r2 * 12 + v1 * 4]), acc1);
			}
			store_f32x4(&y[v2 * 12 + v1 * 4], acc0);
			store_f32x4(&y[v2 * 12 + v1 * 4 + 12], acc1);
		}
		for (long r4 = 0; r4 < n + n * min_i64(n / 2, 1) * -1; r4++) {
			f32x4 acc2;
			acc2 = splat_f32x4(0.0f);
			for (long r2 = 0; r2 < 3; r2++) {
				const float v5 = a[r4 * 3 + r2];
				acc2 = mulacc_f32x4(splat_f32x4(v5), load_f32x4(&b[r2 * 12 + v1 * 4]), acc2);
			}
			store_f32x4(&y[r4 * 12 + v1 * 4], acc2);
		}
	}
}

void r_n_12_3_call(void *const *bufs, const long *vars, long from, long to)
{
	r_n_12_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], vars[0], from, to);
}

