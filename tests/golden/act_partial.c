// helpers: vectors f32x8 splat_f32x8 f32x4 splat_f32x4 f32x2 splat_f32x2 load_f32x8 load_f32x4 load_f32x2
/* y */
/* act_partial.t:2 */
void r_30(float *__restrict y, const float *__restrict x)
{
	f32x8 acc0;
	acc0 = splat_f32x8(0.0f);
	f32x4 acc1;
	acc1 = splat_f32x4(0.0f);
	f32x2 acc2;
	acc2 = splat_f32x2(0.0f);
	for (long r1 = 0; r1 < 3; r1++) {
		acc0 = acc0 + load_f32x8(&x[r1 * 8]);
	}
	acc1 = acc1 + load_f32x4(&x[24]);
	acc2 = acc2 + load_f32x2(&x[28]);
	f32x4 acc3;
	acc3 = __builtin_shufflevector(acc0, acc0, 0, 1, 2, 3) + __builtin_shufflevector(acc0, acc0, 4, 5, 6, 7);
	acc3 = acc3 + acc1;
	f32x2 acc4;
	acc4 = __builtin_shufflevector(acc3, acc3, 0, 1) + __builtin_shufflevector(acc3, acc3, 2, 3);
	acc4 = acc4 + acc2;
	float acc5;
	acc5 = acc4[0] + acc4[1];
	y[0] = acc5;
}

void r_30_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_30((float *)bufs[0], (const float *)bufs[1]);
}

