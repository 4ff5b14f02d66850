// helpers: min_i64 vectors f32x8 load_f32x8 swap4_f32x8 swap2_f32x8 swap1_f32x8 transpose_f32x8 store_f32x8
/* y */
/* turned.t:2 */
void E_10_9(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 8, 1);
		for (long r3 = 0; r3 < 2; r3++) {
			const long v1 = min_i64(r3 * 8, 2);
			f32x8 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7;
			acc0_0 = load_f32x8(&x[v0 * 10 + v1]);
			acc0_1 = load_f32x8(&x[v0 * 10 + v1 + 10]);
			acc0_2 = load_f32x8(&x[v0 * 10 + v1 + 20]);
			acc0_3 = load_f32x8(&x[v0 * 10 + v1 + 30]);
			acc0_4 = load_f32x8(&x[v0 * 10 + v1 + 40]);
			acc0_5 = load_f32x8(&x[v0 * 10 + v1 + 50]);
			acc0_6 = load_f32x8(&x[v0 * 10 + v1 + 60]);
			acc0_7 = load_f32x8(&x[v0 * 10 + v1 + 70]);
			f32x8 t0[8] = {acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7};
			transpose_f32x8(t0);
			store_f32x8(&y[v1 * 9 + v0], t0[0]);
			store_f32x8(&y[v1 * 9 + v0 + 9], t0[1]);
			store_f32x8(&y[v1 * 9 + v0 + 18], t0[2]);
			store_f32x8(&y[v1 * 9 + v0 + 27], t0[3]);
			store_f32x8(&y[v1 * 9 + v0 + 36], t0[4]);
			store_f32x8(&y[v1 * 9 + v0 + 45], t0[5]);
			store_f32x8(&y[v1 * 9 + v0 + 54], t0[6]);
			store_f32x8(&y[v1 * 9 + v0 + 63], t0[7]);
		}
	}
}

void E_10_9_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_10_9((float *)bufs[0], (const float *)bufs[1], from, to);
}

