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
/* conv2d.t:3 */
void r_3_5_5_2_3_3(float *restrict y, const float *restrict x, const float *restrict w)
{
	for (long r0 = 0; r0 < 3; r0++) {
		for (long r1 = 0; r1 < 5; r1++) {
			float acc0[5];
			for (long r9 = 0; r9 < 5; r9++) {
				acc0[r9] = 0.0f;
			}
			for (long r3 = 0; r3 < 2; r3++) {
				for (long r4 = 0; r4 < 3; r4++) {
					const _Bool v0 = (0 < r1 + r4) & (r1 + r4 < 6);
					for (long r5 = 0; r5 < 3; r5++) {
						const float v1 = w[r0 * 18 + r3 * 9 + r4 * 3 + r5];
						for (long r12 = 0; r12 < 5; r12++) {
							acc0[r12] = mulacc_f32(((v0 & (0 < r5 + r12)) & (r5 + r12 < 6)) ? x[r3 * 25 + r1 * 5 + r4 * 5 + r5 + r12 - 6] : 0.0f, v1, acc0[r12]);
						}
					}
				}
			}
			for (long r9 = 0; r9 < 5; r9++) {
				y[r0 * 25 + r1 * 5 + r9] = max_f32(acc0[r9], 0.0f);
			}
		}
	}
}

void r_3_5_5_2_3_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_3_5_5_2_3_3(bufs[0], bufs[1], bufs[2]);
}

