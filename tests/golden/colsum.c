/* y */
/* colsum.t:2 */
void r_5_40(float *restrict y, const float *restrict x)
{
	float acc0[5];
	for (long r3 = 0; r3 < 5; r3++) {
		acc0[r3] = 0.0f;
	}
	for (long r1 = 0; r1 < 40; r1++) {
		for (long r4 = 0; r4 < 5; r4++) {
			acc0[r4] += x[r1 * 5 + r4];
		}
	}
	for (long r3 = 0; r3 < 5; r3++) {
		y[r3] = acc0[r3];
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_5_40(bufs[0], bufs[1]);
}

