/* y */
/* act_rfactor_scan.t:2 */
void scan_100(float *__restrict y, const float *__restrict a)
{
	__attribute__((aligned(64))) float buf0[12];
	for (long r2 = 0; r2 < 12; r2++) {
		float acc0 = 0.0f;
		for (long r3 = 0; r3 < 8; r3++) {
			acc0 += a[r2 * 8 + r3];
		}
		buf0[r2] = acc0;
	}
	for (long r0 = 0; r0 < 13; r0++) {
		float acc1 = 0.0f;
		for (long r2 = 0; r2 < 12; r2++) {
			acc1 += r2 < r0 ? buf0[r2] : 0.0f;
		}
		float acc2 = 0.0f;
		for (long r1 = 0; r1 < 8; r1++) {
			const unsigned char v0 = r0 * 8 + r1 < 100;
			acc2 += v0 ? a[r0 * 8 + r1] : 0.0f;
			if (v0) {
				y[r0 * 8 + r1] = acc1 + acc2;
			}
		}
	}
}

void scan_100_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	scan_100((float *)bufs[0], (const float *)bufs[1]);
}

