#ifndef HELPER_mulacc_f32
#define HELPER_mulacc_f32
static inline float mulacc_f32(float a, float b, float c)
{
#if defined __FMA__ || defined __aarch64__
	return __builtin_fmaf(a, b, c);
#else
	return a * b + c;
#endif
}
#endif

/* y */
/* layernorm.t:4 */
void r_3_16(float *restrict y, const float *restrict x, const float *restrict scale, const float *restrict shift)
{
	for (long r0 = 0; r0 < 3; r0++) {
		float acc0 = 0.0f;
		for (long r1 = 0; r1 < 16; r1++) {
			acc0 += x[r0 * 16 + r1];
		}
		const float v0 = acc0 / 16.0f;
		float acc1 = 0.0f;
		for (long r1 = 0; r1 < 16; r1++) {
			const float v1 = x[r0 * 16 + r1] - v0;
			acc1 = mulacc_f32(v1, v1, acc1);
		}
		const float v2 = 1.0f / __builtin_sqrtf(acc1 / 16.0f + 1e-05f);
		for (long r1 = 0; r1 < 16; r1++) {
			y[r0 * 16 + r1] = (x[r0 * 16 + r1] - v0) * v2 * scale[r1] + shift[r1];
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_3_16(bufs[0], bufs[1], bufs[2], bufs[3]);
}

