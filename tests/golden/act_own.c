// helpers: mulacc_f32 max_f32
/* y */
/* act_own.t:2 */
void r_6_20(float *__restrict y, const float *__restrict x)
{
	__attribute__((aligned(64))) float buf0[6];
	for (long r5 = 0; r5 < 6; r5++) {
		buf0[r5] = 0.0f;
	}
	for (long r4 = 0; r4 < 4; r4++) {
		for (long r0 = 0; r0 < 6; r0++) {
			float acc0;
			acc0 = buf0[r0];
			for (long r3 = 0; r3 < 5; r3++) {
				const float v0 = x[r0 * 20 + r3 * 4 + r4];
				acc0 = mulacc_f32(v0, v0, acc0);
			}
			buf0[r0] = acc0;
		}
	}
	for (long r0 = 0; r0 < 6; r0++) {
		const float v1 = buf0[r0];
		float acc1 = -__builtin_inff();
		for (long r6 = 0; r6 < 2; r6++) {
			const float *p0 = &x[r0 * 20 + r6 * 8];
			acc1 = max_f32(acc1, p0[0]);
			acc1 = max_f32(acc1, p0[1]);
			acc1 = max_f32(acc1, p0[2]);
			acc1 = max_f32(acc1, p0[3]);
			acc1 = max_f32(acc1, p0[4]);
			acc1 = max_f32(acc1, p0[5]);
			acc1 = max_f32(acc1, p0[6]);
			acc1 = max_f32(acc1, p0[7]);
		}
		const float *p1 = &x[r0 * 20];
		acc1 = max_f32(acc1, p1[16]);
		acc1 = max_f32(acc1, p1[17]);
		acc1 = max_f32(acc1, p1[18]);
		acc1 = max_f32(acc1, p1[19]);
		for (long r1 = 0; r1 < 20; r1++) {
			y[r0 * 20 + r1] = (x[r0 * 20 + r1] - acc1) / v1;
		}
	}
}

void r_6_20_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_6_20((float *)bufs[0], (const float *)bufs[1]);
}

