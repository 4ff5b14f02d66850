// helpers: vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2
/* y */
/* act_partial.t:2 */
void r_30(float *__restrict y, const float *__restrict x)
{
	f32x8 acc0_0;
	acc0_0 = splat_f32x8(0.0f);
	float acc1 = 0.0f;
	for (long r1 = 0; r1 < 3; r1++) {
		acc0_0 = acc0_0 + load_f32x8(&x[r1 * 8]);
	}
	for (long r1 = 0; r1 < 6; r1++) {
		acc1 += x[r1 + 24];
	}
	f32x4 acc2_0;
	acc2_0 = __builtin_shufflevector(acc0_0, acc0_0, 0, 1, 2, 3) + __builtin_shufflevector(acc0_0, acc0_0, 4, 5, 6, 7);
	f32x2 acc3_0;
	acc3_0 = __builtin_shufflevector(acc2_0, acc2_0, 0, 1) + __builtin_shufflevector(acc2_0, acc2_0, 2, 3);
	float acc4;
	acc4 = acc3_0[0] + acc3_0[1];
	acc4 += acc1;
	y[0] = acc4;
}

void r_30_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_30((float *)bufs[0], (const float *)bufs[1]);
}

