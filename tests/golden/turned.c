#ifndef HELPER_min_i64
#define HELPER_min_i64
static inline long min_i64(long a, long b)
{
	return a < b ? a : b;
}
#endif

#ifndef HELPER_vectors
#define HELPER_vectors
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#ifndef HELPER_f32x8
#define HELPER_f32x8
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#ifndef HELPER_load_f32x8
#define HELPER_load_f32x8
static inline __attribute__((always_inline)) f32x8 load_f32x8(const void *p)
{
	return *(const f32x8_at *)p;
}
#endif

#ifndef HELPER_swap4_f32x8
#define HELPER_swap4_f32x8
static inline __attribute__((always_inline)) void swap4_f32x8(f32x8 *a, f32x8 *b)
{
	const f32x8 x = *a, y = *b;
	*a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
	*b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
}
#endif

#ifndef HELPER_swap2_f32x8
#define HELPER_swap2_f32x8
static inline __attribute__((always_inline)) void swap2_f32x8(f32x8 *a, f32x8 *b)
{
	const f32x8 x = *a, y = *b;
	*a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
	*b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
}
#endif

#ifndef HELPER_swap1_f32x8
#define HELPER_swap1_f32x8
static inline __attribute__((always_inline)) void swap1_f32x8(f32x8 *a, f32x8 *b)
{
	const f32x8 x = *a, y = *b;
	*a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
	*b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
}
#endif

#ifndef HELPER_transpose_f32x8
#define HELPER_transpose_f32x8
static inline __attribute__((always_inline)) void transpose_f32x8(f32x8 *r)
{
	swap4_f32x8(&r[0], &r[4]);
	swap4_f32x8(&r[1], &r[5]);
	swap4_f32x8(&r[2], &r[6]);
	swap4_f32x8(&r[3], &r[7]);
	swap2_f32x8(&r[0], &r[2]);
	swap2_f32x8(&r[1], &r[3]);
	swap2_f32x8(&r[4], &r[6]);
	swap2_f32x8(&r[5], &r[7]);
	swap1_f32x8(&r[0], &r[1]);
	swap1_f32x8(&r[2], &r[3]);
	swap1_f32x8(&r[4], &r[5]);
	swap1_f32x8(&r[6], &r[7]);
}
#endif

#ifndef HELPER_store_f32x8
#define HELPER_store_f32x8
static inline __attribute__((always_inline)) void store_f32x8(void *p, f32x8 v)
{
	*(f32x8_at *)p = v;
}
#endif

/* y */
/* turned.t:2 */
void E_10_9(float *restrict y, const float *restrict x, const long from, const long to)
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
	E_10_9(bufs[0], bufs[1], from, to);
}

