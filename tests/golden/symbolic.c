/* y */
/* symbolic.t:2 */
void r_n_4(float *restrict y, float *restrict last, const float *restrict x, const long n)
{
	for (long r1 = 0; r1 < 4; r1++) {
		float acc0[16];
		for (long r3 = 0; r3 < 16; r3++) {
			acc0[r3] = 0.0f;
		}
		for (long r3 = 0; r3 < n / 16; r3++) {
			for (long r4 = 0; r4 < 16; r4++) {
				acc0[r4] += x[r3 * 64 + r4 * 4 + r1];
			}
		}
		for (long r3 = 0; r3 < n % 16; r3++) {
			acc0[r3] += x[n / 16 * 64 + r3 * 4 + r1];
		}
		for (long r3 = 0; r3 < 8; r3++) {
			acc0[r3] += acc0[r3 + 8];
		}
		for (long r3 = 0; r3 < 4; r3++) {
			acc0[r3] += acc0[r3 + 4];
		}
		for (long r3 = 0; r3 < 2; r3++) {
			acc0[r3] += acc0[r3 + 2];
		}
		acc0[0] += acc0[1];
		for (long r0 = 0; r0 < n; r0++) {
			y[r0 * 4 + r1] = x[r0 * 4 + r1] / acc0[0];
			last[r0 * 4 + r1] = x[n * 4 + r0 * -4 + r1 - 4];
		}
	}
}

void r_n_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)from;
	(void)to;
	r_n_4(bufs[0], bufs[1], bufs[2], vars[0]);
}

