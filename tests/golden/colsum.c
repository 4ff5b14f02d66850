// helpers: min_i64 vectors f32x4 splat_f32x4 load_f32x4 store_f32x4
/* y */
/* colsum.t:2 */
void r_5_40(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
		f32x4 acc0;
		acc0 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < 10; r3++) {
			const float *p0 = &x[r3 * 20 + v0];
			acc0 = acc0 + load_f32x4(&p0[0]);
			acc0 = acc0 + load_f32x4(&p0[5]);
			acc0 = acc0 + load_f32x4(&p0[10]);
			acc0 = acc0 + load_f32x4(&p0[15]);
		}
		store_f32x4(&y[v0], acc0);
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_5_40((float *)bufs[0], (const float *)bufs[1], from, to);
}

