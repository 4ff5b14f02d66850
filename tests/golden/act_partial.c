// helpers: vectors f32x8 splat_f32x8 f32x4 splat_f32x4 f32x2 splat_f32x2 load_f32x8 load_f32x4 load_f32x2
/* y */
/* act_partial.t:2 */
void r_30(float *__restrict y, const float *__restrict x)
{
	f32x8 acc0_0;
	acc0_0 = splat_f32x8(0.0f);
	f32x4 acc1_0;
	acc1_0 = splat_f32x4(0.0f);
	f32x2 acc2_0;
	acc2_0 = splat_f32x2(0.0f);
	for (long r1 = 0; r1 < 3; r1++) {
		acc0_0 = acc0_0 + load_f32x8(&x[r1 * 8]);
	}
	acc1_0 = acc1_0 + load_f32x4(&x[24]);
	acc2_0 = acc2_0 + load_f32x2(&x[28]);
	f32x4 acc3_0;
	acc3_0 = __builtin_shufflevector(acc0_0, acc0_0, 0, 1, 2, 3) + __builtin_shufflevector(acc0_0, acc0_0, 4, 5, 6, 7);
	acc3_0 = acc3_0 + acc1_0;
	f32x2 acc4_0;
	acc4_0 = __builtin_shufflevector(acc3_0, acc3_0, 0, 1) + __builtin_shufflevector(acc3_0, acc3_0, 2, 3);
	acc4_0 = acc4_0 + acc2_0;
	float acc5;
	acc5 = acc4_0[0] + acc4_0[1];
	y[0] = acc5;
}

void r_30_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_30((float *)bufs[0], (const float *)bufs[1]);
}

