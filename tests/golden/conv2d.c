// helpers: min_i64 vectors f32x4 splat_f32x4 i32x4 lane_i32x4 splat_i32x4 mask_i32x4 load_if_f32x4 mulacc_f32x4 load_f32x4 max_f32x4 store_f32x4
/* y */
/* conv2d.t:3 */
void r_3_5_5_2_3_3(float *__restrict y, const float *__restrict x, const float *__restrict w, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 2;
		const long v1 = gidx0 / 2;
		const long v2 = min_i64(v1 * 3, 2);
		const long v3 = min_i64(v0 * 4, 1);
		f32x4 acc0;
		f32x4 acc1;
		f32x4 acc2;
		f32x4 acc3;
		f32x4 acc4;
		f32x4 acc5;
		f32x4 acc6;
		f32x4 acc7;
		f32x4 acc8;
		acc0 = splat_f32x4(0.0f);
		acc1 = splat_f32x4(0.0f);
		acc2 = splat_f32x4(0.0f);
		acc3 = splat_f32x4(0.0f);
		acc4 = splat_f32x4(0.0f);
		acc5 = splat_f32x4(0.0f);
		acc6 = splat_f32x4(0.0f);
		acc7 = splat_f32x4(0.0f);
		acc8 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			for (long r4 = 0; r4 < 3; r4++) {
				const float v4 = w[r3 * 9 + r4 * 3];
				const unsigned char v5 = 0 < r4 + v2;
				const i32x4 t0 = (mask_i32x4(v5)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc0 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 6], t0), splat_f32x4(v4), acc0);
				const unsigned char v6 = 1;
				const i32x4 t1 = (mask_i32x4(v6)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc1 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 1], t1), splat_f32x4(v4), acc1);
				const unsigned char v7 = r4 + v2 < 4;
				const i32x4 t2 = (mask_i32x4(v7)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc2 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 4], t2), splat_f32x4(v4), acc2);
				const float v8 = w[r3 * 9 + r4 * 3 + 18];
				const i32x4 t3 = (mask_i32x4(v5)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc3 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 6], t3), splat_f32x4(v8), acc3);
				const i32x4 t4 = (mask_i32x4(v6)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc4 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 1], t4), splat_f32x4(v8), acc4);
				const i32x4 t5 = (mask_i32x4(v7)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc5 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 4], t5), splat_f32x4(v8), acc5);
				const float v9 = w[r3 * 9 + r4 * 3 + 36];
				const i32x4 t6 = (mask_i32x4(v5)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc6 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 6], t6), splat_f32x4(v9), acc6);
				const i32x4 t7 = (mask_i32x4(v6)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc7 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 1], t7), splat_f32x4(v9), acc7);
				const i32x4 t8 = (mask_i32x4(v7)) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				acc8 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 4], t8), splat_f32x4(v9), acc8);
				const float v10 = w[r3 * 9 + r4 * 3 + 1];
				acc0 = mulacc_f32x4((v5 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 5]) : splat_f32x4(0.0f)), splat_f32x4(v10), acc0);
				acc1 = mulacc_f32x4((v6 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3]) : splat_f32x4(0.0f)), splat_f32x4(v10), acc1);
				acc2 = mulacc_f32x4((v7 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 5]) : splat_f32x4(0.0f)), splat_f32x4(v10), acc2);
				const float v11 = w[r3 * 9 + r4 * 3 + 19];
				acc3 = mulacc_f32x4((v5 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 5]) : splat_f32x4(0.0f)), splat_f32x4(v11), acc3);
				acc4 = mulacc_f32x4((v6 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3]) : splat_f32x4(0.0f)), splat_f32x4(v11), acc4);
				acc5 = mulacc_f32x4((v7 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 5]) : splat_f32x4(0.0f)), splat_f32x4(v11), acc5);
				const float v12 = w[r3 * 9 + r4 * 3 + 37];
				acc6 = mulacc_f32x4((v5 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 5]) : splat_f32x4(0.0f)), splat_f32x4(v12), acc6);
				acc7 = mulacc_f32x4((v6 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3]) : splat_f32x4(0.0f)), splat_f32x4(v12), acc7);
				acc8 = mulacc_f32x4((v7 ? load_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 5]) : splat_f32x4(0.0f)), splat_f32x4(v12), acc8);
				const float v13 = w[r3 * 9 + r4 * 3 + 2];
				const i32x4 t9 = (mask_i32x4(v5)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc0 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 4], t9), splat_f32x4(v13), acc0);
				const i32x4 t10 = (mask_i32x4(v6)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc1 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 1], t10), splat_f32x4(v13), acc1);
				const i32x4 t11 = (mask_i32x4(v7)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc2 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 6], t11), splat_f32x4(v13), acc2);
				const float v14 = w[r3 * 9 + r4 * 3 + 20];
				const i32x4 t12 = (mask_i32x4(v5)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc3 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 4], t12), splat_f32x4(v14), acc3);
				const i32x4 t13 = (mask_i32x4(v6)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc4 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 1], t13), splat_f32x4(v14), acc4);
				const i32x4 t14 = (mask_i32x4(v7)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc5 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 6], t14), splat_f32x4(v14), acc5);
				const float v15 = w[r3 * 9 + r4 * 3 + 38];
				const i32x4 t15 = (mask_i32x4(v5)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc6 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 - 4], t15), splat_f32x4(v15), acc6);
				const i32x4 t16 = (mask_i32x4(v6)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc7 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 1], t16), splat_f32x4(v15), acc7);
				const i32x4 t17 = (mask_i32x4(v7)) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				acc8 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + v3 + 6], t17), splat_f32x4(v15), acc8);
			}
		}
		store_f32x4(&y[v2 * 5 + v3], max_f32x4(acc0, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 5], max_f32x4(acc1, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 10], max_f32x4(acc2, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 25], max_f32x4(acc3, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 30], max_f32x4(acc4, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 35], max_f32x4(acc5, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 50], max_f32x4(acc6, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 55], max_f32x4(acc7, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 60], max_f32x4(acc8, splat_f32x4(0.0f)));
	}
}

void r_3_5_5_2_3_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_5_5_2_3_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

