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
		f32x8 acc8;
		f32x8 acc9;
		f32x8 acc10;
		f32x8 acc11;
		f32x8 acc12;
		f32x8 acc13;
		f32x8 acc14;
		f32x8 acc15;
		acc0 = splat_f32x8(0.0f);
		acc1 = splat_f32x8(0.0f);
		acc2 = splat_f32x8(0.0f);
		acc3 = splat_f32x8(0.0f);
		acc4 = splat_f32x8(0.0f);
		acc5 = splat_f32x8(0.0f);
		acc6 = splat_f32x8(0.0f);
		acc7 = splat_f32x8(0.0f);
		acc8 = splat_f32x8(0.0f);
		acc9 = splat_f32x8(0.0f);
		acc10 = splat_f32x8(0.0f);
		acc11 = splat_f32x8(0.0f);
		acc12 = splat_f32x8(0.0f);
		acc13 = splat_f32x8(0.0f);
		acc14 = splat_f32x8(0.0f);
		acc15 = splat_f32x8(0.0f);
		float acc16;
		float acc17;
		float acc18;
		float acc19;
		acc16 = 0.0f;
		acc17 = 0.0f;
		acc18 = 0.0f;
		acc19 = 0.0f;
		for (long r3 = 0; r3 < 512; r3++) {
			const float *p0 = &x[gidx0 * 65540 + r3 * 32];
			acc0 = acc0 + load_f32x8(&p0[0]);
			acc1 = acc1 + load_f32x8(&p0[8]);
			acc2 = acc2 + load_f32x8(&p0[16]);
			acc3 = acc3 + load_f32x8(&p0[24]);
			acc4 = acc4 + load_f32x8(&p0[16385]);
			acc5 = acc5 + load_f32x8(&p0[16393]);
			acc6 = acc6 + load_f32x8(&p0[16401]);
			acc7 = acc7 + load_f32x8(&p0[16409]);
			acc8 = acc8 + load_f32x8(&p0[32770]);
			acc9 = acc9 + load_f32x8(&p0[32778]);
			acc10 = acc10 + load_f32x8(&p0[32786]);
			acc11 = acc11 + load_f32x8(&p0[32794]);
			acc12 = acc12 + load_f32x8(&p0[49155]);
			acc13 = acc13 + load_f32x8(&p0[49163]);
			acc14 = acc14 + load_f32x8(&p0[49171]);
			acc15 = acc15 + load_f32x8(&p0[49179]);
		}
		for (long r3 = 0; r3 < 1; r3++) {
			const float *p1 = &x[gidx0 * 65540];
			acc16 += p1[16384];
			acc17 += p1[32769];
			acc18 += p1[49154];
			acc19 += p1[65539];
		}
		f32x8 acc20;
		f32x8 acc21;
		f32x8 acc22;
		f32x8 acc23;
		f32x8 acc24;
		f32x8 acc25;
		f32x8 acc26;
		f32x8 acc27;
		acc20 = acc0 + acc2;
		acc21 = acc1 + acc3;
		acc22 = acc4 + acc6;
		acc23 = acc5 + acc7;
		acc24 = acc8 + acc10;
		acc25 = acc9 + acc11;
		acc26 = acc12 + acc14;
		acc27 = acc13 + acc15;
		f32x8 acc28;
		f32x8 acc29;
		f32x8 acc30;
		f32x8 acc31;
		acc28 = acc20 + acc21;
		acc29 = acc22 + acc23;
		acc30 = acc24 + acc25;
		acc31 = acc26 + acc27;
		f32x4 acc32;
		f32x4 acc33;
		f32x4 acc34;
		f32x4 acc35;
		acc32 = __builtin_shufflevector(acc28, acc28, 0, 1, 2, 3) + __builtin_shufflevector(acc28, acc28, 4, 5, 6, 7);
		acc33 = __builtin_shufflevector(acc29, acc29, 0, 1, 2, 3) + __builtin_shufflevector(acc29, acc29, 4, 5, 6, 7);
		acc34 = __builtin_shufflevector(acc30, acc30, 0, 1, 2, 3) + __builtin_shufflevector(acc30, acc30, 4, 5, 6, 7);
		acc35 = __builtin_shufflevector(acc31, acc31, 0, 1, 2, 3) + __builtin_shufflevector(acc31, acc31, 4, 5, 6, 7);
		f32x2 acc36;
		f32x2 acc37;
		f32x2 acc38;
		f32x2 acc39;
		acc36 = __builtin_shufflevector(acc32, acc32, 0, 1) + __builtin_shufflevector(acc32, acc32, 2, 3);
		acc37 = __builtin_shufflevector(acc33, acc33, 0, 1) + __builtin_shufflevector(acc33, acc33, 2, 3);
		acc38 = __builtin_shufflevector(acc34, acc34, 0, 1) + __builtin_shufflevector(acc34, acc34, 2, 3);
		acc39 = __builtin_shufflevector(acc35, acc35, 0, 1) + __builtin_shufflevector(acc35, acc35, 2, 3);
		float acc40;
		float acc41;
		float acc42;
		float acc43;
		acc40 = acc36[0] + acc36[1];
		acc41 = acc37[0] + acc37[1];
		acc42 = acc38[0] + acc38[1];
		acc43 = acc39[0] + acc39[1];
		acc40 += acc16;
		acc41 += acc17;
		acc42 += acc18;
		acc43 += acc19;
		float *p2 = &parts0_[gidx0 * 4];
		p2[0] = acc40;
		p2[1] = acc41;
		p2[2] = acc42;
		p2[3] = acc43;
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

