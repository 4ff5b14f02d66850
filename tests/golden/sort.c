// helpers: bits_f32_u32 max_i64 min_i64
/* sort.t:2 */
void sort_2_6(long *__restrict t0_, long *__restrict t1_, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		for (long r3 = 0; r3 < 6; r3++) {
			const float v0 = x[gidx0 * 6 + r3];
			const unsigned long v1 = (unsigned long)bits_f32_u32(v0);
			const unsigned long v2 = v0 != v0 ? 4294967295uL : v0 == 0.0f ? 2147483648uL : v1 < 2147483648uL ? v1 | 2147483648uL : v1 ^ 4294967295uL;
			const long v3 = (long)((unsigned long)((unsigned long)v2 << 32) | (unsigned long)r3);
			t1_[gidx0 * 6 + r3] = v3;
		}
		for (long r3 = 0; r3 < 6; r3++) {
			const long v4 = t1_[gidx0 * 6 + r3];
			long acc0 = 0;
			for (long r4 = 0; r4 < 6; r4++) {
				acc0 += (unsigned long)t1_[gidx0 * 6 + r4] < (unsigned long)v4 ? 1 : 0;
			}
			const long v5 = min_i64(max_i64(acc0, 0), 5);
			t0_[gidx0 * 6 + v5] = r3;
		}
	}
}

void sort_2_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	sort_2_6((long *)bufs[0], (long *)bufs[1], (const float *)bufs[2], from, to);
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

// helpers: bits_f32_u32 max_i64 min_i64
/* order */
/* sort.t:2 */
void sort_2_6n1(long *__restrict order, long *__restrict t2_, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		for (long r3 = 0; r3 < 6; r3++) {
			const float v0 = x[gidx0 * 6 + r3];
			const unsigned long v1 = (unsigned long)bits_f32_u32(v0);
			const unsigned long v2 = (v0 != v0 ? 4294967295uL : v0 == 0.0f ? 2147483648uL : v1 < 2147483648uL ? v1 | 2147483648uL : v1 ^ 4294967295uL) ^ 4294967295uL;
			const long v3 = (long)((unsigned long)((unsigned long)v2 << 32) | (unsigned long)r3);
			t2_[gidx0 * 6 + r3] = v3;
		}
		for (long r3 = 0; r3 < 6; r3++) {
			const long v4 = t2_[gidx0 * 6 + r3];
			long acc0 = 0;
			for (long r4 = 0; r4 < 6; r4++) {
				acc0 += (unsigned long)t2_[gidx0 * 6 + r4] < (unsigned long)v4 ? 1 : 0;
			}
			const long v5 = min_i64(max_i64(acc0, 0), 5);
			order[gidx0 * 6 + v5] = r3;
		}
	}
}

void sort_2_6n1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	sort_2_6n1((long *)bufs[0], (long *)bufs[1], (const float *)bufs[2], from, to);
}

