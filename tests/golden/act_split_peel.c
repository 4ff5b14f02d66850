/* y */
/* act_split_peel.t:2 */
void r_10_19(float *__restrict y, const float *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		for (long r3 = 0; r3 < 4; r3++) {
			float acc0 = 0.0f;
			for (long r4 = 0; r4 < 2; r4++) {
				const float *p0 = &x[r2 * 76 + r3 * 19 + r4 * 8];
				acc0 += p0[0];
				acc0 += p0[1];
				acc0 += p0[2];
				acc0 += p0[3];
				acc0 += p0[4];
				acc0 += p0[5];
				acc0 += p0[6];
				acc0 += p0[7];
			}
			const float *p1 = &x[r2 * 76 + r3 * 19];
			acc0 += p1[16];
			acc0 += p1[17];
			acc0 += p1[18];
			y[r2 * 4 + r3] = acc0;
		}
	}
	for (long r3 = 0; r3 < 2; r3++) {
		float acc1 = 0.0f;
		for (long r4 = 0; r4 < 2; r4++) {
			const float *p2 = &x[r3 * 19 + r4 * 8];
			acc1 += p2[152];
			acc1 += p2[153];
			acc1 += p2[154];
			acc1 += p2[155];
			acc1 += p2[156];
			acc1 += p2[157];
			acc1 += p2[158];
			acc1 += p2[159];
		}
		const float *p3 = &x[r3 * 19];
		acc1 += p3[168];
		acc1 += p3[169];
		acc1 += p3[170];
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

