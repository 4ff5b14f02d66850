// helpers: vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2
/* parts.t:2 */
void parts_r_65540(float *__restrict parts0_, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0;
		f32x8 acc1;
		f32x8 acc2;
		f32x8 acc3;
		f32x8 acc4;
		f32x8 acc5;
		f32x8 acc6;
		f32x8 acc7;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		acc2 = splat_f32x8(0.0f);
		acc3 = splat_f32x8(0.0f);
		acc4 = splat_f32x8(0.0f);
		acc5 = splat_f32x8(0.0f);
		acc6 = splat_f32x8(0.0f);
		acc7 = splat_f32x8(0.0f);
		float acc8 = 0.0f;
		for (long r3 = 0; r3 < 256; r3++) {
			const float *p0 = &x[gidx0 * 16385 + r3 * 64];
			acc0 = acc0 + load_f32x8(&p0[0]);
			acc1 = acc1 + load_f32x8(&p0[8]);
			acc2 = acc2 + load_f32x8(&p0[16]);
			acc3 = acc3 + load_f32x8(&p0[24]);
			acc4 = acc4 + load_f32x8(&p0[32]);
			acc5 = acc5 + load_f32x8(&p0[40]);
			acc6 = acc6 + load_f32x8(&p0[48]);
			acc7 = acc7 + load_f32x8(&p0[56]);
		}
		for (long r3 = 0; r3 < 1; r3++) {
			acc8 += x[gidx0 * 16385 + 16384];
		}
		f32x8 acc9;
		f32x8 acc10;
		f32x8 acc11;
		f32x8 acc12;
		acc9 = acc0 + acc4;
		acc10 = acc1 + acc5;
		acc11 = acc2 + acc6;
		acc12 = acc3 + acc7;
		f32x8 acc13;
		f32x8 acc14;
		acc13 = acc9 + acc11;
		acc14 = acc10 + acc12;
		f32x8 acc15;
		acc15 = acc13 + acc14;
		f32x4 acc16;
		acc16 = __builtin_shufflevector(acc15, acc15, 0, 1, 2, 3) + __builtin_shufflevector(acc15, acc15, 4, 5, 6, 7);
		f32x2 acc17;
		acc17 = __builtin_shufflevector(acc16, acc16, 0, 1) + __builtin_shufflevector(acc16, acc16, 2, 3);
		float acc18;
		acc18 = acc17[0] + acc17[1];
		acc18 += acc8;
		parts0_[gidx0] = acc18;
	}
}

void parts_r_65540_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	parts_r_65540((float *)bufs[0], (const float *)bufs[1], from, to);
}

// helpers: vectors f32x2 splat_f32x2 load_f32x2
/* parts.t:2 */
void r_65540(float *__restrict t0_, const float *__restrict parts0_)
{
	f32x2 acc0;
	acc0 = splat_f32x2(0.0f);
	for (long r2 = 0; r2 < 2; r2++) {
		acc0 = acc0 + load_f32x2(&parts0_[r2 * 2]);
	}
	float acc1;
	acc1 = acc0[0] + acc0[1];
	t0_[0] = acc1;
}

void r_65540_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_65540((float *)bufs[0], (const float *)bufs[1]);
}

/* y */
/* parts.t:2 */
void E_1(float *__restrict y, const float *__restrict t0_)
{
	y[0] = t0_[0];
}

void E_1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_1((float *)bufs[0], (const float *)bufs[1]);
}

