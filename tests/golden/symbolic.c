// helpers: vectors f32x4 splat_f32x4 load_f32x4 store_f32x4
/* y */
/* symbolic.t:2 */
void r_n_4(float *__restrict y, float *__restrict last, const float *__restrict x, const long n, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x4 acc0;
		acc0 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < n / 4; r3++) {
			const float *p0 = &x[r3 * 16 + gidx0 * 4];
			acc0 = acc0 + load_f32x4(&p0[0]);
			acc0 = acc0 + load_f32x4(&p0[4]);
			acc0 = acc0 + load_f32x4(&p0[8]);
			acc0 = acc0 + load_f32x4(&p0[12]);
		}
		for (long r3 = 0; r3 < n % 4; r3++) {
			acc0 = acc0 + load_f32x4(&x[n / 4 * 16 + gidx0 * 4 + r3 * 4]);
		}
		for (long r0 = 0; r0 < n; r0++) {
			store_f32x4(&y[r0 * 4 + gidx0 * 4], load_f32x4(&x[r0 * 4 + gidx0 * 4]) / acc0);
			store_f32x4(&last[r0 * 4 + gidx0 * 4], load_f32x4(&x[n * 4 + r0 * -4 + gidx0 * 4 - 4]));
		}
	}
}

void r_n_4_call(void *const *bufs, const long *vars, long from, long to)
{
	r_n_4((float *)bufs[0], (float *)bufs[1], (const float *)bufs[2], vars[0], from, to);
}

