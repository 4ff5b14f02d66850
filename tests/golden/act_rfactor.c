/* y */
/* act_rfactor.t:2 */
void r_4_100(float *__restrict y, const float *__restrict a)
{
	for (long r0 = 0; r0 < 4; r0++) {
		__attribute__((aligned(64))) float buf0[8];
		for (long r2 = 0; r2 < 8; r2++) {
			float acc0 = 0.0f;
			for (long r1 = 0; r1 < 13; r1++) {
				acc0 += r1 * 8 + r2 < 100 ? a[r0 * 100 + r1 * 8 + r2] : 0.0f;
			}
			buf0[r2] = acc0;
		}
		float acc1 = 0.0f;
		for (long r2 = 0; r2 < 8; r2++) {
			acc1 += buf0[r2];
		}
		y[r0] = acc1;
	}
}

void r_4_100_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_4_100((float *)bufs[0], (const float *)bufs[1]);
}

