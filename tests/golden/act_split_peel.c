/* y */
/* act_split_peel.t:2 */
void r_10_19(float *__restrict y, const float *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		for (long r3 = 0; r3 < 4; r3++) {
			float acc0 = 0.0f;
			for (long r4 = 0; r4 < 2; r4++) {
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 1];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 2];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 3];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 4];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 5];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 6];
				acc0 += x[r2 * 76 + r3 * 19 + r4 * 8 + 7];
			}
			acc0 += x[r2 * 76 + r3 * 19 + 16];
			acc0 += x[r2 * 76 + r3 * 19 + 17];
			acc0 += x[r2 * 76 + r3 * 19 + 18];
			y[r2 * 4 + r3] = acc0;
		}
	}
	for (long r3 = 0; r3 < 2; r3++) {
		float acc1 = 0.0f;
		for (long r4 = 0; r4 < 2; r4++) {
			acc1 += x[r3 * 19 + r4 * 8 + 152];
			acc1 += x[r3 * 19 + r4 * 8 + 153];
			acc1 += x[r3 * 19 + r4 * 8 + 154];
			acc1 += x[r3 * 19 + r4 * 8 + 155];
			acc1 += x[r3 * 19 + r4 * 8 + 156];
			acc1 += x[r3 * 19 + r4 * 8 + 157];
			acc1 += x[r3 * 19 + r4 * 8 + 158];
			acc1 += x[r3 * 19 + r4 * 8 + 159];
		}
		acc1 += x[r3 * 19 + 168];
		acc1 += x[r3 * 19 + 169];
		acc1 += x[r3 * 19 + 170];
		y[r3 + 8] = acc1;
	}
}

void r_10_19_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_10_19((float *)bufs[0], (const float *)bufs[1]);
}

