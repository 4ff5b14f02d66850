// helpers: vectors i32x2 load_i32x2 store_i32x2
/* y */
/* act_prefetch_stores.t:2 */
void E_4_4(int *__restrict y, const int *__restrict x)
{
	for (long r2 = 0; r2 < 2; r2++) {
		for (long r3 = 0; r3 < 2; r3++) {
			i32x2 acc0;
			i32x2 acc1;
			int *p0 = &y[r2 * 8 + r3 * 2];
			__builtin_prefetch(&p0[0], 1);
			__builtin_prefetch(&p0[1], 1);
			__builtin_prefetch(&p0[4], 1);
			__builtin_prefetch(&p0[5], 1);
			acc0 = load_i32x2(&x[r3 * 8 + r2 * 2]);
			acc1 = load_i32x2(&x[r3 * 8 + r2 * 2 + 4]);
			const i32x2 v0 = acc0;
			const i32x2 v1 = acc1;
			const i32x2 v2 = __builtin_shufflevector(v0, v1, 0, 2);
			const i32x2 v3 = __builtin_shufflevector(v0, v1, 1, 3);
			store_i32x2(&p0[0], v2);
			store_i32x2(&p0[4], v3);
		}
	}
}

void E_4_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_4_4((int *)bufs[0], (const int *)bufs[1]);
}

