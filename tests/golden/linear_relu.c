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

#ifndef HELPER_max_f32
#define HELPER_max_f32
static inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
}
#endif

/* y */
/* linear_relu.t:5 */
void r_4_6_8(float *restrict y, const float *restrict a, const float *restrict b, const float *restrict bias)
{
	for (long r0 = 0; r0 < 4; r0++) {
		float acc0[6];
		for (long r5 = 0; r5 < 6; r5++) {
			acc0[r5] = 0.0f;
		}
		for (long r2 = 0; r2 < 8; r2++) {
			const float v0 = a[r0 * 8 + r2];
			for (long r6 = 0; r6 < 6; r6++) {
				acc0[r6] = mulacc_f32(v0, b[r2 * 6 + r6], acc0[r6]);
			}
		}
		for (long r5 = 0; r5 < 6; r5++) {
			y[r0 * 6 + r5] = max_f32(acc0[r5] + bias[r5], 0.0f);
		}
	}
}

void r_4_6_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_4_6_8(bufs[0], bufs[1], bufs[2], bufs[3]);
}

