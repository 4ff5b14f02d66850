// helpers: min_i64 vectors i32x4 load_i32x4 store_i32x4
/* y */
/* act_transpose.t:2 */
void E_5_8(int *__restrict y, const int *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		for (long r3 = 0; r3 < 2; r3++) {
			const long v0 = min_i64(r3 * 4, 1);
			i32x4 acc0;
			i32x4 acc1;
			i32x4 acc2;
			i32x4 acc3;
			const int *p0 = &x[r2 * 20 + v0];
			acc0 = load_i32x4(&p0[0]);
			acc1 = load_i32x4(&p0[5]);
			acc2 = load_i32x4(&p0[10]);
			acc3 = load_i32x4(&p0[15]);
			const i32x4 v1 = acc0;
			const i32x4 v2 = acc1;
			const i32x4 v3 = acc2;
			const i32x4 v4 = acc3;
			const i32x4 v5 = __builtin_shufflevector(v1, v3, 0, 1, 4, 5);
			const i32x4 v6 = __builtin_shufflevector(v1, v3, 2, 3, 6, 7);
			const i32x4 v7 = __builtin_shufflevector(v2, v4, 0, 1, 4, 5);
			const i32x4 v8 = __builtin_shufflevector(v2, v4, 2, 3, 6, 7);
			const i32x4 v9 = __builtin_shufflevector(v5, v7, 0, 4, 2, 6);
			const i32x4 v10 = __builtin_shufflevector(v5, v7, 1, 5, 3, 7);
			const i32x4 v11 = __builtin_shufflevector(v6, v8, 0, 4, 2, 6);
			const i32x4 v12 = __builtin_shufflevector(v6, v8, 1, 5, 3, 7);
			int *p1 = &y[v0 * 8 + r2 * 4];
			store_i32x4(&p1[0], v9);
			store_i32x4(&p1[8], v10);
			store_i32x4(&p1[16], v11);
			store_i32x4(&p1[24], v12);
		}
	}
}

void E_5_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_5_8((int *)bufs[0], (const int *)bufs[1]);
}

