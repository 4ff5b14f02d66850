// helpers: min_i64 vectors f32x8 splat_f32x8 load_f32x8 store_f32x8
/* y */
/* act_prefetch_fold.t:2 */
void r_40_24(float *__restrict y, const float *__restrict x)
{
	for (long r2 = 0; r2 < 3; r2++) {
		const long v0 = min_i64(r2 * 16, 24);
		f32x8 acc0;
		f32x8 acc1;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		for (long r1 = 0; r1 < 24; r1++) {
			const float *p0 = &x[r1 * 40 + v0];
			__builtin_prefetch(&p0[40]);
			acc0 = acc0 + load_f32x8(&p0[0]);
			acc1 = acc1 + load_f32x8(&p0[8]);
		}
		store_f32x8(&y[v0], acc0);
		store_f32x8(&y[v0 + 8], acc1);
	}
}

void r_40_24_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_40_24((float *)bufs[0], (const float *)bufs[1]);
}

