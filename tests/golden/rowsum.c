// helpers: min_i64 vectors f32x8 splat_f32x8 load_f32x8 f32x4 f32x2
/* y */
/* rowsum.t:2 */
void r_5_40(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
		f32x8 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7;
		acc0_0 = splat_f32x8(0.0f);
		acc0_1 = splat_f32x8(0.0f);
		acc0_2 = splat_f32x8(0.0f);
		acc0_3 = splat_f32x8(0.0f);
		acc0_4 = splat_f32x8(0.0f);
		acc0_5 = splat_f32x8(0.0f);
		acc0_6 = splat_f32x8(0.0f);
		acc0_7 = splat_f32x8(0.0f);
		f32x8 acc1_0, acc1_1, acc1_2, acc1_3;
		acc1_0 = splat_f32x8(0.0f);
		acc1_1 = splat_f32x8(0.0f);
		acc1_2 = splat_f32x8(0.0f);
		acc1_3 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			acc0_0 = acc0_0 + load_f32x8(&x[v0 * 40 + r3 * 16]);
			acc0_1 = acc0_1 + load_f32x8(&x[v0 * 40 + r3 * 16 + 8]);
			acc0_2 = acc0_2 + load_f32x8(&x[v0 * 40 + r3 * 16 + 40]);
			acc0_3 = acc0_3 + load_f32x8(&x[v0 * 40 + r3 * 16 + 48]);
			acc0_4 = acc0_4 + load_f32x8(&x[v0 * 40 + r3 * 16 + 80]);
			acc0_5 = acc0_5 + load_f32x8(&x[v0 * 40 + r3 * 16 + 88]);
			acc0_6 = acc0_6 + load_f32x8(&x[v0 * 40 + r3 * 16 + 120]);
			acc0_7 = acc0_7 + load_f32x8(&x[v0 * 40 + r3 * 16 + 128]);
		}
		acc1_0 = acc1_0 + load_f32x8(&x[v0 * 40 + 32]);
		acc1_1 = acc1_1 + load_f32x8(&x[v0 * 40 + 72]);
		acc1_2 = acc1_2 + load_f32x8(&x[v0 * 40 + 112]);
		acc1_3 = acc1_3 + load_f32x8(&x[v0 * 40 + 152]);
		f32x8 acc2_0, acc2_1, acc2_2, acc2_3;
		acc2_0 = acc0_0 + acc0_1;
		acc2_1 = acc0_2 + acc0_3;
		acc2_2 = acc0_4 + acc0_5;
		acc2_3 = acc0_6 + acc0_7;
		acc2_0 = acc2_0 + acc1_0;
		acc2_1 = acc2_1 + acc1_1;
		acc2_2 = acc2_2 + acc1_2;
		acc2_3 = acc2_3 + acc1_3;
		f32x4 acc3_0, acc3_1, acc3_2, acc3_3;
		acc3_0 = __builtin_shufflevector(acc2_0, acc2_0, 0, 1, 2, 3) + __builtin_shufflevector(acc2_0, acc2_0, 4, 5, 6, 7);
		acc3_1 = __builtin_shufflevector(acc2_1, acc2_1, 0, 1, 2, 3) + __builtin_shufflevector(acc2_1, acc2_1, 4, 5, 6, 7);
		acc3_2 = __builtin_shufflevector(acc2_2, acc2_2, 0, 1, 2, 3) + __builtin_shufflevector(acc2_2, acc2_2, 4, 5, 6, 7);
		acc3_3 = __builtin_shufflevector(acc2_3, acc2_3, 0, 1, 2, 3) + __builtin_shufflevector(acc2_3, acc2_3, 4, 5, 6, 7);
		f32x2 acc4_0, acc4_1, acc4_2, acc4_3;
		acc4_0 = __builtin_shufflevector(acc3_0, acc3_0, 0, 1) + __builtin_shufflevector(acc3_0, acc3_0, 2, 3);
		acc4_1 = __builtin_shufflevector(acc3_1, acc3_1, 0, 1) + __builtin_shufflevector(acc3_1, acc3_1, 2, 3);
		acc4_2 = __builtin_shufflevector(acc3_2, acc3_2, 0, 1) + __builtin_shufflevector(acc3_2, acc3_2, 2, 3);
		acc4_3 = __builtin_shufflevector(acc3_3, acc3_3, 0, 1) + __builtin_shufflevector(acc3_3, acc3_3, 2, 3);
		float acc5_0, acc5_1, acc5_2, acc5_3;
		acc5_0 = acc4_0[0] + acc4_0[1];
		acc5_1 = acc4_1[0] + acc4_1[1];
		acc5_2 = acc4_2[0] + acc4_2[1];
		acc5_3 = acc4_3[0] + acc4_3[1];
		y[v0] = acc5_0;
		y[v0 + 1] = acc5_1;
		y[v0 + 2] = acc5_2;
		y[v0 + 3] = acc5_3;
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_5_40((float *)bufs[0], (const float *)bufs[1], from, to);
}

