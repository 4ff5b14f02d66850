// helpers: min_i64 vectors f32x8 load_f32x8 store_f32x8 max_f32 splat_f32x8
/* y */
/* act_prefetch_loads.t:2 */
void r_3_24(float *__restrict y, const float *__restrict x)
{
	for (long r0 = 0; r0 < 3; r0++) {
		__attribute__((aligned(64))) float buf0[24];
		for (long r3 = 0; r3 < 2; r3++) {
			const long v0 = min_i64(r3 * 16, 8);
			const float *p0 = &x[r0 * 24 + v0];
			__builtin_prefetch(&p0[24]);
			store_f32x8(&buf0[v0], load_f32x8(&p0[0]));
			store_f32x8(&buf0[v0 + 8], load_f32x8(&p0[8]));
		}
		float acc0 = -__builtin_inff();
		for (long r1 = 0; r1 < 24; r1++) {
			acc0 = max_f32(acc0, buf0[r1]);
		}
		for (long r3 = 0; r3 < 2; r3++) {
			const long v1 = min_i64(r3 * 16, 8);
			const f32x8 v2 = splat_f32x8(acc0);
			store_f32x8(&y[r0 * 24 + v1], load_f32x8(&buf0[v1]) / v2);
			store_f32x8(&y[r0 * 24 + v1 + 8], load_f32x8(&buf0[v1 + 8]) / v2);
		}
	}
}

void r_3_24_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_3_24((float *)bufs[0], (const float *)bufs[1]);
}

