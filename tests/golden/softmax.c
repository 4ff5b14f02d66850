#ifndef HELPER_max_f32
#define HELPER_max_f32
static inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
}
#endif

/* y */
/* softmax.t:3 */
void r_3_16(float *restrict y, const float *restrict x)
{
	for (long r0 = 0; r0 < 3; r0++) {
		float acc0 = -__builtin_inff();
		for (long r1 = 0; r1 < 16; r1++) {
			acc0 = max_f32(acc0, x[r0 * 16 + r1]);
		}
		float buf0[16];
		for (long r1 = 0; r1 < 16; r1++) {
			buf0[r1] = __builtin_exp2f((x[r0 * 16 + r1] - acc0) * 1.442695f);
		}
		float acc1 = 0.0f;
		for (long r1 = 0; r1 < 16; r1++) {
			acc1 += buf0[r1];
		}
		const float v0 = 1.0f / acc1;
		for (long r1 = 0; r1 < 16; r1++) {
			y[r0 * 16 + r1] = buf0[r1] * v0;
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_3_16(bufs[0], bufs[1]);
}

