// helpers: vectors f32x8 store_f32x8 splat_f32x8 load_f32x8 mulacc_f32x8
/* y */
/* act_pack.t:3 */
void r_6_8_5(float *__restrict y, const float *__restrict a, const float *__restrict b, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		__attribute__((aligned(64))) float buf0[40];
		for (long r2 = 0; r2 < 5; r2++) {
			const float *p0 = &b[gidx0 * 40 + r2];
			store_f32x8(&buf0[r2 * 8], __extension__ (f32x8){p0[0], p0[5], p0[10], p0[15], p0[20], p0[25], p0[30], p0[35]});
		}
		for (long r4 = 0; r4 < 3; r4++) {
			f32x8 acc0;
			f32x8 acc1;
			acc0 = splat_f32x8(0.0f);
			acc1 = splat_f32x8(0.0f);
			for (long r2 = 0; r2 < 5; r2++) {
				const float v0 = a[r4 * 10 + r2];
				const f32x8 v1 = load_f32x8(&buf0[r2 * 8]);
				acc0 = mulacc_f32x8(splat_f32x8(v0), v1, acc0);
				const float v2 = a[r4 * 10 + r2 + 5];
				acc1 = mulacc_f32x8(splat_f32x8(v2), v1, acc1);
			}
			store_f32x8(&y[r4 * 16 + gidx0 * 8], acc0);
			store_f32x8(&y[r4 * 16 + gidx0 * 8 + 8], acc1);
		}
	}
}

void r_6_8_5_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_6_8_5((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

