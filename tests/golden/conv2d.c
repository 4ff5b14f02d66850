// helpers: min_i64 vectors f32x4 splat_f32x4 i32x4 mask_i32x4 lane_i32x4 splat_i32x4 load_if_f32x4 mulacc_f32x4 load_f32x4 max_f32x4 store_f32x4
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
				const float *p0 = &w[r3 * 9 + r4 * 3];
				const float v4 = p0[0];
				const unsigned char v5 = 0 < r4 + v2;
				const f32x4 v6 = splat_f32x4(v4);
				const i32x4 v7 = mask_i32x4(v5);
				const float *p1 = &x[r3 * 25 + r4 * 5 + v2 * 5 + v3];
				const i32x4 t0 = (v7) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				const f32x4 v8 = load_if_f32x4(&p1[-6], t0);
				acc0 = mulacc_f32x4(v8, v6, acc0);
				const i32x4 t1 = (i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4());
				const f32x4 v9 = load_if_f32x4(&p1[-1], t1);
				acc1 = mulacc_f32x4(v9, v6, acc1);
				const unsigned char v10 = r4 + v2 < 4;
				const i32x4 v11 = mask_i32x4(v10);
				const i32x4 t2 = (v11) & ((i32x4)(splat_i32x4((int)(v3 * -1)) < lane_i32x4()));
				const f32x4 v12 = load_if_f32x4(&p1[4], t2);
				acc2 = mulacc_f32x4(v12, v6, acc2);
				const float v13 = p0[18];
				const f32x4 v14 = splat_f32x4(v13);
				acc3 = mulacc_f32x4(v8, v14, acc3);
				acc4 = mulacc_f32x4(v9, v14, acc4);
				acc5 = mulacc_f32x4(v12, v14, acc5);
				const float v15 = p0[36];
				const f32x4 v16 = splat_f32x4(v15);
				acc6 = mulacc_f32x4(v8, v16, acc6);
				acc7 = mulacc_f32x4(v9, v16, acc7);
				acc8 = mulacc_f32x4(v12, v16, acc8);
				const float v17 = p0[1];
				const f32x4 v18 = splat_f32x4(v17);
				const f32x4 v19 = (v5 ? load_f32x4(&p1[-5]) : splat_f32x4(0.0f));
				acc0 = mulacc_f32x4(v19, v18, acc0);
				const f32x4 v20 = load_f32x4(&p1[0]);
				acc1 = mulacc_f32x4(v20, v18, acc1);
				const f32x4 v21 = (v10 ? load_f32x4(&p1[5]) : splat_f32x4(0.0f));
				acc2 = mulacc_f32x4(v21, v18, acc2);
				const float v22 = p0[19];
				const f32x4 v23 = splat_f32x4(v22);
				acc3 = mulacc_f32x4(v19, v23, acc3);
				acc4 = mulacc_f32x4(v20, v23, acc4);
				acc5 = mulacc_f32x4(v21, v23, acc5);
				const float v24 = p0[37];
				const f32x4 v25 = splat_f32x4(v24);
				acc6 = mulacc_f32x4(v19, v25, acc6);
				acc7 = mulacc_f32x4(v20, v25, acc7);
				acc8 = mulacc_f32x4(v21, v25, acc8);
				const float v26 = p0[2];
				const f32x4 v27 = splat_f32x4(v26);
				const i32x4 t3 = (v7) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				const f32x4 v28 = load_if_f32x4(&p1[-4], t3);
				acc0 = mulacc_f32x4(v28, v27, acc0);
				const i32x4 t4 = (i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4)));
				const f32x4 v29 = load_if_f32x4(&p1[1], t4);
				acc1 = mulacc_f32x4(v29, v27, acc1);
				const i32x4 t5 = (v11) & ((i32x4)(lane_i32x4() < splat_i32x4((int)(v3 * -1 + 4))));
				const f32x4 v30 = load_if_f32x4(&p1[6], t5);
				acc2 = mulacc_f32x4(v30, v27, acc2);
				const float v31 = p0[20];
				const f32x4 v32 = splat_f32x4(v31);
				acc3 = mulacc_f32x4(v28, v32, acc3);
				acc4 = mulacc_f32x4(v29, v32, acc4);
				acc5 = mulacc_f32x4(v30, v32, acc5);
				const float v33 = p0[38];
				const f32x4 v34 = splat_f32x4(v33);
				acc6 = mulacc_f32x4(v28, v34, acc6);
				acc7 = mulacc_f32x4(v29, v34, acc7);
				acc8 = mulacc_f32x4(v30, v34, acc8);
			}
		}
		float *p2 = &y[v2 * 5 + v3];
		store_f32x4(&p2[0], max_f32x4(acc0, splat_f32x4(0.0f)));
		store_f32x4(&p2[5], max_f32x4(acc1, splat_f32x4(0.0f)));
		store_f32x4(&p2[10], max_f32x4(acc2, splat_f32x4(0.0f)));
		store_f32x4(&p2[25], max_f32x4(acc3, splat_f32x4(0.0f)));
		store_f32x4(&p2[30], max_f32x4(acc4, splat_f32x4(0.0f)));
		store_f32x4(&p2[35], max_f32x4(acc5, splat_f32x4(0.0f)));
		store_f32x4(&p2[50], max_f32x4(acc6, splat_f32x4(0.0f)));
		store_f32x4(&p2[55], max_f32x4(acc7, splat_f32x4(0.0f)));
		store_f32x4(&p2[60], max_f32x4(acc8, splat_f32x4(0.0f)));
	}
}

void r_3_5_5_2_3_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_5_5_2_3_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

