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

#ifndef HELPER_mulacc_f32x4
#define HELPER_mulacc_f32x4
static inline __attribute__((always_inline)) f32x4 mulacc_f32x4(f32x4 a, f32x4 b, f32x4 c)
{
#ifdef __FMA__
	return __builtin_ia32_vfmaddps(a, b, c);
#else
#if defined __FMA__ || defined __aarch64__
	f32x4 r;
	for (int i = 0; i < 4; i++)
		r[i] = __builtin_fmaf(a[i], b[i], c[i]);
	return r;
#else
	return a * b + c;
#endif
#endif
}
#endif

#ifndef HELPER_i32x4
#define HELPER_i32x4
typedef int i32x4 __attribute__((vector_size(16)));
typedef int i32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_max_f32x4
#define HELPER_max_f32x4
static inline __attribute__((always_inline)) f32x4 max_f32x4(f32x4 a, f32x4 b)
{
#ifdef __SSE4_1__
	return __builtin_ia32_blendvps(__builtin_ia32_maxps(a, b), a, (f32x4)(a != a));
#else
	const i32x4 m = (i32x4)(b < a) | (i32x4)(a != a);
	return (f32x4)(((i32x4)a & m) | ((i32x4)b & ~m));
#endif
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
/* linear_relu.t:5 */
void r_4_6_8(float *restrict y, const float *restrict a, const float *restrict b, const float *restrict bias, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 2);
		f32x4 acc0_0, acc0_1, acc0_2, acc0_3;
		acc0_0 = splat_f32x4(0.0f);
		acc0_1 = splat_f32x4(0.0f);
		acc0_2 = splat_f32x4(0.0f);
		acc0_3 = splat_f32x4(0.0f);
		for (long r2 = 0; r2 < 8; r2++) {
			const float v1 = a[r2];
			acc0_0 = mulacc_f32x4(splat_f32x4(v1), load_f32x4(&b[r2 * 6 + v0]), acc0_0);
			const float v2 = a[r2 + 8];
			acc0_1 = mulacc_f32x4(splat_f32x4(v2), load_f32x4(&b[r2 * 6 + v0]), acc0_1);
			const float v3 = a[r2 + 16];
			acc0_2 = mulacc_f32x4(splat_f32x4(v3), load_f32x4(&b[r2 * 6 + v0]), acc0_2);
			const float v4 = a[r2 + 24];
			acc0_3 = mulacc_f32x4(splat_f32x4(v4), load_f32x4(&b[r2 * 6 + v0]), acc0_3);
		}
		store_f32x4(&y[v0], max_f32x4(acc0_0 + load_f32x4(&bias[v0]), splat_f32x4(0.0f)));
		store_f32x4(&y[v0 + 6], max_f32x4(acc0_1 + load_f32x4(&bias[v0]), splat_f32x4(0.0f)));
		store_f32x4(&y[v0 + 12], max_f32x4(acc0_2 + load_f32x4(&bias[v0]), splat_f32x4(0.0f)));
		store_f32x4(&y[v0 + 18], max_f32x4(acc0_3 + load_f32x4(&bias[v0]), splat_f32x4(0.0f)));
	}
}

void r_4_6_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_4_6_8(bufs[0], bufs[1], bufs[2], bufs[3], from, to);
}

