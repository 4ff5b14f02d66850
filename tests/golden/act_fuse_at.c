// helpers: vectors f32x8 load_f32x8 i32x8 splat_i32x8 sqrt_f32x8 store_f32x8
/* b */
/* act_fuse_at.t:3 */
void E_65_64_E_64_64(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		__attribute__((aligned(64))) float buf0[576];
		for (long r4 = 0; r4 < 36; r4++) {
			const float *p0 = &x[gidx0 * 512 + r4 * 16];
			const f32x8 v0 = sqrt_f32x8((f32x8)((i32x8)load_f32x8(&p0[64]) & splat_i32x8(2147483647))) + 1.0f;
			const f32x8 v1 = sqrt_f32x8((f32x8)((i32x8)load_f32x8(&p0[72]) & splat_i32x8(2147483647))) + 1.0f;
			store_f32x8(&buf0[r4 * 16], v0 * (sqrt_f32x8((f32x8)((i32x8)load_f32x8(&p0[0]) & splat_i32x8(2147483647))) + 1.0f) + v0);
			store_f32x8(&buf0[r4 * 16 + 8], v1 * (sqrt_f32x8((f32x8)((i32x8)load_f32x8(&p0[8]) & splat_i32x8(2147483647))) + 1.0f) + v1);
		}
		for (long r4 = 0; r4 < 32; r4++) {
			store_f32x8(&y[gidx0 * 512 + r4 * 16], load_f32x8(&buf0[r4 * 16 + 64]) * 2.0f + load_f32x8(&buf0[r4 * 16]));
			store_f32x8(&y[gidx0 * 512 + r4 * 16 + 8], load_f32x8(&buf0[r4 * 16 + 72]) * 2.0f + load_f32x8(&buf0[r4 * 16 + 8]));
		}
	}
}

void E_65_64_E_64_64_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_65_64_E_64_64((float *)bufs[0], (const float *)bufs[1], from, to);
}

