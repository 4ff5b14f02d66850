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
/* symbolic.t:2 */
void r_n_4(float *restrict y, float *restrict last, const float *restrict x, const long n, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x4 acc0_0;
		acc0_0 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < n / 4; r3++) {
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 16]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 16 + 4]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 16 + 8]);
			acc0_0 = acc0_0 + load_f32x4(&x[r3 * 16 + 12]);
		}
		for (long r3 = 0; r3 < n % 4; r3++) {
			acc0_0 = acc0_0 + load_f32x4(&x[n / 4 * 16 + r3 * 4]);
		}
		store_f32x4(&y[gidx0 * 4], load_f32x4(&x[gidx0 * 4]) / acc0_0);
		store_f32x4(&last[gidx0 * 4], load_f32x4(&x[n * 4 + gidx0 * -4 - 4]));
	}
}

void r_n_4_call(void *const *bufs, const long *vars, long from, long to)
{
	r_n_4(bufs[0], bufs[1], bufs[2], vars[0], from, to);
}

