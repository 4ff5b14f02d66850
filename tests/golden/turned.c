// helpers: min_i64 vectors f32x8 load_f32x8 store_f32x8
/* y */
/* turned.t:2 */
void E_10_9(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 8, 1);
		for (long r3 = 0; r3 < 2; r3++) {
			const long v1 = min_i64(r3 * 8, 2);
			f32x8 acc0;
			f32x8 acc1;
			f32x8 acc2;
			f32x8 acc3;
			f32x8 acc4;
			f32x8 acc5;
			f32x8 acc6;
			f32x8 acc7;
			const float *p0 = &x[v0 * 10 + v1];
			acc0 = load_f32x8(&p0[0]);
			acc1 = load_f32x8(&p0[10]);
			acc2 = load_f32x8(&p0[20]);
			acc3 = load_f32x8(&p0[30]);
			acc4 = load_f32x8(&p0[40]);
			acc5 = load_f32x8(&p0[50]);
			acc6 = load_f32x8(&p0[60]);
			acc7 = load_f32x8(&p0[70]);
			const f32x8 v2 = acc0;
			const f32x8 v3 = acc1;
			const f32x8 v4 = acc2;
			const f32x8 v5 = acc3;
			const f32x8 v6 = acc4;
			const f32x8 v7 = acc5;
			const f32x8 v8 = acc6;
			const f32x8 v9 = acc7;
			const f32x8 v10 = __builtin_shufflevector(v2, v6, 0, 1, 2, 3, 8, 9, 10, 11);
			const f32x8 v11 = __builtin_shufflevector(v2, v6, 4, 5, 6, 7, 12, 13, 14, 15);
			const f32x8 v12 = __builtin_shufflevector(v3, v7, 0, 1, 2, 3, 8, 9, 10, 11);
			const f32x8 v13 = __builtin_shufflevector(v3, v7, 4, 5, 6, 7, 12, 13, 14, 15);
			const f32x8 v14 = __builtin_shufflevector(v4, v8, 0, 1, 2, 3, 8, 9, 10, 11);
			const f32x8 v15 = __builtin_shufflevector(v4, v8, 4, 5, 6, 7, 12, 13, 14, 15);
			const f32x8 v16 = __builtin_shufflevector(v5, v9, 0, 1, 2, 3, 8, 9, 10, 11);
			const f32x8 v17 = __builtin_shufflevector(v5, v9, 4, 5, 6, 7, 12, 13, 14, 15);
			const f32x8 v18 = __builtin_shufflevector(v10, v14, 0, 1, 8, 9, 4, 5, 12, 13);
			const f32x8 v19 = __builtin_shufflevector(v10, v14, 2, 3, 10, 11, 6, 7, 14, 15);
			const f32x8 v20 = __builtin_shufflevector(v12, v16, 0, 1, 8, 9, 4, 5, 12, 13);
			const f32x8 v21 = __builtin_shufflevector(v12, v16, 2, 3, 10, 11, 6, 7, 14, 15);
			const f32x8 v22 = __builtin_shufflevector(v11, v15, 0, 1, 8, 9, 4, 5, 12, 13);
			const f32x8 v23 = __builtin_shufflevector(v11, v15, 2, 3, 10, 11, 6, 7, 14, 15);
			const f32x8 v24 = __builtin_shufflevector(v13, v17, 0, 1, 8, 9, 4, 5, 12, 13);
			const f32x8 v25 = __builtin_shufflevector(v13, v17, 2, 3, 10, 11, 6, 7, 14, 15);
			const f32x8 v26 = __builtin_shufflevector(v18, v20, 0, 8, 2, 10, 4, 12, 6, 14);
			const f32x8 v27 = __builtin_shufflevector(v18, v20, 1, 9, 3, 11, 5, 13, 7, 15);
			const f32x8 v28 = __builtin_shufflevector(v19, v21, 0, 8, 2, 10, 4, 12, 6, 14);
			const f32x8 v29 = __builtin_shufflevector(v19, v21, 1, 9, 3, 11, 5, 13, 7, 15);
			const f32x8 v30 = __builtin_shufflevector(v22, v24, 0, 8, 2, 10, 4, 12, 6, 14);
			const f32x8 v31 = __builtin_shufflevector(v22, v24, 1, 9, 3, 11, 5, 13, 7, 15);
			const f32x8 v32 = __builtin_shufflevector(v23, v25, 0, 8, 2, 10, 4, 12, 6, 14);
			const f32x8 v33 = __builtin_shufflevector(v23, v25, 1, 9, 3, 11, 5, 13, 7, 15);
			float *p1 = &y[v1 * 9 + v0];
			store_f32x8(&p1[0], v26);
			store_f32x8(&p1[9], v27);
			store_f32x8(&p1[18], v28);
			store_f32x8(&p1[27], v29);
			store_f32x8(&p1[36], v30);
			store_f32x8(&p1[45], v31);
			store_f32x8(&p1[54], v32);
			store_f32x8(&p1[63], v33);
		}
	}
}

void E_10_9_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_10_9((float *)bufs[0], (const float *)bufs[1], from, to);
}

