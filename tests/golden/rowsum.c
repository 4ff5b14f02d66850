/* y */
/* rowsum.t:2 */
void r_5_40(float *restrict y, const float *restrict x)
{
	for (long r0 = 0; r0 < 5; r0++) {
		float acc0[16];
		for (long r3 = 0; r3 < 16; r3++) {
			acc0[r3] = 0.0f;
		}
		for (long r3 = 0; r3 < 2; r3++) {
			for (long r4 = 0; r4 < 16; r4++) {
				acc0[r4] += x[r0 * 40 + r3 * 16 + r4];
			}
		}
		for (long r3 = 0; r3 < 8; r3++) {
			acc0[r3] += x[r0 * 40 + r3 + 32];
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
		y[r0] = acc0[0];
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_5_40(bufs[0], bufs[1]);
}

