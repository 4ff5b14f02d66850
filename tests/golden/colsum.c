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

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_splat_f32x4
#define HELPER_splat_f32x4
static inline __attribute__((always_inline)) f32x4 splat_f32x4(float x)
{
	return (f32x4){x, x, x, x};
}
#endif

#ifndef HELPER_load_f32x4
#define HELPER_load_f32x4
static inline __attribute__((always_inline)) f32x4 load_f32x4(const void *p)
{
	return *(const f32x4_at *)p;
}
#endif

#ifndef HELPER_store_f32x4
#define HELPER_store_f32x4
static inline __attribute__((always_inline)) void store_f32x4(void *p, f32x4 v)
{
	*(f32x4_at *)p = v;
}
#endif

/* y */
/* colsum.t:2 */
void r_5_40(float *restrict y, const float *restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
		f32x4 acc0_0;
		acc0_0 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < 10; r3++) {
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 20 + v0]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 20 + v0 + 5]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 20 + v0 + 10]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 20 + v0 + 15]);
		}
		store_f32x4(&y[v0], acc0_0);
	}
}

void r_5_40_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_5_40(bufs[0], bufs[1], from, to);
}

