// helpers: min_i64 vectors i32x4 load_i32x4 swap2_i32x4 swap1_i32x4 transpose_i32x4 store_i32x4
/* y */
/* act_transpose.t:2 */
void E_5_8(int *__restrict y, const int *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		for (long r3 = 0; r3 < 2; r3++) {
			const long v0 = min_i64(r3 * 4, 1);
			i32x4 acc0_0, acc0_1, acc0_2, acc0_3;
			acc0_0 = load_i32x4(&x[r2 * 20 + v0]);
			acc0_1 = load_i32x4(&x[r2 * 20 + v0 + 5]);
			acc0_2 = load_i32x4(&x[r2 * 20 + v0 + 10]);
			acc0_3 = load_i32x4(&x[r2 * 20 + v0 + 15]);
			i32x4 t0[4] = {acc0_0, acc0_1, acc0_2, acc0_3};
			transpose_i32x4(t0);
			store_i32x4(&y[v0 * 8 + r2 * 4], t0[0]);
			store_i32x4(&y[v0 * 8 + r2 * 4 + 8], t0[1]);
			store_i32x4(&y[v0 * 8 + r2 * 4 + 16], t0[2]);
			store_i32x4(&y[v0 * 8 + r2 * 4 + 24], t0[3]);
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

