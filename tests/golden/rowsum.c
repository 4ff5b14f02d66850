// helpers: min_i64 vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2
/* y */
/* rowsum.t:2 */
void r_5_40(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
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
		f32x8 acc8;
		f32x8 acc9;
		f32x8 acc10;
		f32x8 acc11;
		acc8 = splat_f32x8(0.0f);
		acc9 = splat_f32x8(0.0f);
		acc10 = splat_f32x8(0.0f);
		acc11 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			const float *p0 = &x[v0 * 40 + r3 * 16];
			acc0 = acc0 + load_f32x8(&p0[0]);
			acc1 = acc1 + load_f32x8(&p0[8]);
			acc2 = acc2 + load_f32x8(&p0[40]);
			acc3 = acc3 + load_f32x8(&p0[48]);
			acc4 = acc4 + load_f32x8(&p0[80]);
			acc5 = acc5 + load_f32x8(&p0[88]);
			acc6 = acc6 + load_f32x8(&p0[120]);
			acc7 = acc7 + load_f32x8(&p0[128]);
		}
		const float *p1 = &x[v0 * 40];
		acc8 = acc8 + load_f32x8(&p1[32]);
		acc9 = acc9 + load_f32x8(&p1[72]);
		acc10 = acc10 + load_f32x8(&p1[112]);
		acc11 = acc11 + load_f32x8(&p1[152]);
		f32x8 acc12;
		f32x8 acc13;
		f32x8 acc14;
		f32x8 acc15;
		acc12 = acc0 + acc1;
		acc13 = acc2 + acc3;
		acc14 = acc4 + acc5;
		acc15 = acc6 + acc7;
		acc12 = acc12 + acc8;
		acc13 = acc13 + acc9;
		acc14 = acc14 + acc10;
		acc15 = acc15 + acc11;
		f32x4 acc16;
		f32x4 acc17;
		f32x4 acc18;
		f32x4 acc19;
		acc16 = __builtin_shufflevector(acc12, acc12, 0, 1, 2, 3) + __builtin_shufflevector(acc12, acc12, 4, 5, 6, 7);
		acc17 = __builtin_shufflevector(acc13, acc13, 0, 1, 2, 3) + __builtin_shufflevector(acc13, acc13, 4, 5, 6, 7);
		acc18 = __builtin_shufflevector(acc14, acc14, 0, 1, 2, 3) + __builtin_shufflevector(acc14, acc14, 4, 5, 6, 7);
		acc19 = __builtin_shufflevector(acc15, acc15, 0, 1, 2, 3) + __builtin_shufflevector(acc15, acc15, 4, 5, 6, 7);
		f32x2 acc20;
		f32x2 acc21;
		f32x2 acc22;
		f32x2 acc23;
		acc20 = __builtin_shufflevector(acc16, acc16, 0, 1) + __builtin_shufflevector(acc16, acc16, 2, 3);
		acc21 = __builtin_shufflevector(acc17, acc17, 0, 1) + __builtin_shufflevector(acc17, acc17, 2, 3);
		acc22 = __builtin_shufflevector(acc18, acc18, 0, 1) + __builtin_shufflevector(acc18, acc18, 2, 3);
		acc23 = __builtin_shufflevector(acc19, acc19, 0, 1) + __builtin_shufflevector(acc19, acc19, 2, 3);
		float acc24;
		float acc25;
		float acc26;
		float acc27;
		acc24 = acc20[0] + acc20[1];
		acc25 = acc21[0] + acc21[1];
		acc26 = acc22[0] + acc22[1];
		acc27 = acc23[0] + acc23[1];
		float *p2 = &y[v0];
		p2[0] = acc24;
		p2[1] = acc25;
		p2[2] = acc26;
		p2[3] = acc27;
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_5_40((float *)bufs[0], (const float *)bufs[1], from, to);
}

