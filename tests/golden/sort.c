// helpers: shl_i64 min_i64
/* sort.t:2 */
void sort_2_6(long *__restrict t0_, long *__restrict t1_, const float *__restrict x)
{
	for (long r0 = 0; r0 < 2; r0++) {
		for (long r3 = 0; r3 < 6; r3++) {
			t0_[r0 * 6 + r3] = r3;
		}
		for (long r3 = 0; r3 < 3; r3++) {
			const long v0 = shl_i64(1, r3);
			if (v0 < 6) {
				long acc0;
				long acc1;
				acc0 = 0;
				acc1 = 0;
				for (long r4 = 0; r4 < 6; r4++) {
					const long v1 = r4 & -(v0 * 2);
					const long v2 = min_i64(v1 + v0, 6);
					const long v3 = min_i64(v1 + v0 * 2, 6);
					if (r4 == v1) {
						acc0 = v1;
						acc1 = v2;
					}
					const long v4 = acc0;
					const long v5 = acc1;
					const unsigned char v6 = v4 < v2;
					const unsigned char v7 = v5 < v3;
					const long v8 = v6 ? t0_[r0 * 6 + v4] : 0;
					const long v9 = v7 ? t0_[r0 * 6 + v5] : 0;
					const float v10 = v6 ? x[r0 * 6 + v8] : 0.0f;
					const float v11 = v7 ? x[r0 * 6 + v9] : 0.0f;
					const unsigned char v12 = v7 & ((v6 == 0) | ((v11 < v10) | ((v10 != v10) & (v11 == v11))));
					t1_[r0 * 6 + r4] = v12 ? v9 : v8;
					acc0 = v4 + (v12 ? 0 : 1);
					acc1 = v5 + (v12 ? 1 : 0);
				}
				for (long r4 = 0; r4 < 6; r4++) {
					t0_[r0 * 6 + r4] = t1_[r0 * 6 + r4];
				}
			}
		}
	}
}

void sort_2_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	sort_2_6((long *)bufs[0], (long *)bufs[1], (const float *)bufs[2]);
}

// helpers: min_i64 vectors i64x4 load_i64x4 splat_i64x4 f32x4 store_f32x4
/* up */
/* sort.t:2 */
void E_2_6(float *__restrict up, const float *__restrict x, const long *__restrict t0_, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		for (long r3 = 0; r3 < 2; r3++) {
			const long v0 = min_i64(r3 * 4, 2);
			const i64x4 v1 = load_i64x4(&t0_[gidx0 * 6 + v0]);
			const i64x4 t0 = ((i64x4)(splat_i64x4(-1) < v1)) & ((i64x4)(v1 < splat_i64x4(6)));
			store_f32x4(&up[gidx0 * 6 + v0], __extension__ (f32x4){t0[0] ? x[gidx0 * 6 + v1[0]] : 0.0f, t0[1] ? x[gidx0 * 6 + v1[1]] : 0.0f, t0[2] ? x[gidx0 * 6 + v1[2]] : 0.0f, t0[3] ? x[gidx0 * 6 + v1[3]] : 0.0f});
		}
	}
}

void E_2_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_2_6((float *)bufs[0], (const float *)bufs[1], (const long *)bufs[2], from, to);
}

// helpers: shl_i64 min_i64
/* order */
/* sort.t:2 */
void sort_2_6n1(long *__restrict order, long *__restrict t2_, const float *__restrict x)
{
	for (long r0 = 0; r0 < 2; r0++) {
		for (long r3 = 0; r3 < 6; r3++) {
			order[r0 * 6 + r3] = r3;
		}
		for (long r3 = 0; r3 < 3; r3++) {
			const long v0 = shl_i64(1, r3);
			if (v0 < 6) {
				long acc0;
				long acc1;
				acc0 = 0;
				acc1 = 0;
				for (long r4 = 0; r4 < 6; r4++) {
					const long v1 = r4 & -(v0 * 2);
					const long v2 = min_i64(v1 + v0, 6);
					const long v3 = min_i64(v1 + v0 * 2, 6);
					if (r4 == v1) {
						acc0 = v1;
						acc1 = v2;
					}
					const long v4 = acc0;
					const long v5 = acc1;
					const unsigned char v6 = v4 < v2;
					const unsigned char v7 = v5 < v3;
					const long v8 = v6 ? order[r0 * 6 + v4] : 0;
					const long v9 = v7 ? order[r0 * 6 + v5] : 0;
					const float v10 = v6 ? x[r0 * 6 + v8] : 0.0f;
					const float v11 = v7 ? x[r0 * 6 + v9] : 0.0f;
					const unsigned char v12 = v7 & ((v6 == 0) | ((v10 < v11) | ((v11 != v11) & (v10 == v10))));
					t2_[r0 * 6 + r4] = v12 ? v9 : v8;
					acc0 = v4 + (v12 ? 0 : 1);
					acc1 = v5 + (v12 ? 1 : 0);
				}
				for (long r4 = 0; r4 < 6; r4++) {
					order[r0 * 6 + r4] = t2_[r0 * 6 + r4];
				}
			}
		}
	}
}

void sort_2_6n1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	sort_2_6n1((long *)bufs[0], (long *)bufs[1], (const float *)bufs[2]);
}

