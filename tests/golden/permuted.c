/* y */
/* permuted.t:3 */
void E_3_2(float *restrict y, float *restrict z, const float *restrict x)
{
	for (long r0 = 0; r0 < 3; r0++) {
		for (long r1 = 0; r1 < 2; r1++) {
			const float v0 = x[r1 * 3 + r0];
			y[r0 * 2 + r1] = v0 * 2.0f;
			z[r0 * 2 + r1] = v0;
		}
	}
}

void E_3_2_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_3_2(bufs[0], bufs[1], bufs[2]);
}

