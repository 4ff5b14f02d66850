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

#ifndef HELPER_i64x4
#define HELPER_i64x4
typedef long i64x4 __attribute__((vector_size(32)));
typedef long i64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#ifndef HELPER_lane_i64x4
#define HELPER_lane_i64x4
static inline __attribute__((always_inline)) i64x4 lane_i64x4(void)
{
	return (i64x4){0, 1, 2, 3};
}
#endif

#ifndef HELPER_splat_i64x4
#define HELPER_splat_i64x4
static inline __attribute__((always_inline)) i64x4 splat_i64x4(long x)
{
	return (i64x4){x, x, x, x};
}
#endif

#ifndef HELPER_i32x4
#define HELPER_i32x4
typedef int i32x4 __attribute__((vector_size(16)));
typedef int i32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_splat_i32x4
#define HELPER_splat_i32x4
static inline __attribute__((always_inline)) i32x4 splat_i32x4(int x)
{
	return (i32x4){x, x, x, x};
}
#endif

#ifndef HELPER_lane_i32x4
#define HELPER_lane_i32x4
static inline __attribute__((always_inline)) i32x4 lane_i32x4(void)
{
	return (i32x4){0, 1, 2, 3};
}
#endif

#ifndef HELPER_load_if_f32x4
#define HELPER_load_if_f32x4
static inline __attribute__((always_inline)) f32x4 load_if_f32x4(const float *p, i32x4 m)
{
#ifdef __AVX__
	return (f32x4)__builtin_ia32_maskloadps((const void *)p, (int __attribute__((vector_size(16))))m);
#else
	f32x4 r = {0};
	for (int i = 0; i < 4; i++)
		if (m[i])
			r[i] = p[i];
	return r;
#endif
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
/* conv2d.t:3 */
void r_3_5_5_2_3_3(float *restrict y, const float *restrict x, const float *restrict w, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 2;
		const long v1 = gidx0 / 2;
		const long v2 = min_i64(v1 * 3, 2);
		const long v3 = min_i64(v0 * 4, 1);
		f32x4 acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7, acc0_8;
		acc0_0 = splat_f32x4(0.0f);
		acc0_1 = splat_f32x4(0.0f);
		acc0_2 = splat_f32x4(0.0f);
		acc0_3 = splat_f32x4(0.0f);
		acc0_4 = splat_f32x4(0.0f);
		acc0_5 = splat_f32x4(0.0f);
		acc0_6 = splat_f32x4(0.0f);
		acc0_7 = splat_f32x4(0.0f);
		acc0_8 = splat_f32x4(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			for (long r4 = 0; r4 < 3; r4++) {
				for (long r5 = 0; r5 < 3; r5++) {
					const float v4 = w[r3 * 9 + r4 * 3 + r5];
					const _Bool v5 = 0 < r4 + v2;
					const i32x4 t0 = ((splat_i32x4(-v5)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_0 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 6], t0), splat_f32x4(v4), acc0_0);
					const _Bool v6 = r4 + v2 < 5;
					const i32x4 t1 = ((splat_i32x4(-v6)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_1 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 1], t1), splat_f32x4(v4), acc0_1);
					const _Bool v7 = r4 + v2 < 4;
					const i32x4 t2 = ((splat_i32x4(-v7)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_2 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 + 4], t2), splat_f32x4(v4), acc0_2);
					const float v8 = w[r3 * 9 + r4 * 3 + r5 + 18];
					const i32x4 t3 = ((splat_i32x4(-v5)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_3 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 6], t3), splat_f32x4(v8), acc0_3);
					const i32x4 t4 = ((splat_i32x4(-v6)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_4 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 1], t4), splat_f32x4(v8), acc0_4);
					const i32x4 t5 = ((splat_i32x4(-v7)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_5 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 + 4], t5), splat_f32x4(v8), acc0_5);
					const float v9 = w[r3 * 9 + r4 * 3 + r5 + 36];
					const i32x4 t6 = ((splat_i32x4(-v5)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_6 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 6], t6), splat_f32x4(v9), acc0_6);
					const i32x4 t7 = ((splat_i32x4(-v6)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_7 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 - 1], t7), splat_f32x4(v9), acc0_7);
					const i32x4 t8 = ((splat_i32x4(-v7)) & ((i32x4)(lane_i32x4() > splat_i32x4(r5 * -1 + v3 * -1)))) & ((i32x4)(lane_i32x4() < splat_i32x4(r5 * -1 + v3 * -1 + 6)));
					acc0_8 = mulacc_f32x4(load_if_f32x4(&x[r3 * 25 + r4 * 5 + v2 * 5 + r5 + v3 + 4], t8), splat_f32x4(v9), acc0_8);
				}
			}
		}
		store_f32x4(&y[v2 * 5 + v3], max_f32x4(acc0_0, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 5], max_f32x4(acc0_1, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 10], max_f32x4(acc0_2, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 25], max_f32x4(acc0_3, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 30], max_f32x4(acc0_4, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 35], max_f32x4(acc0_5, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 50], max_f32x4(acc0_6, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 55], max_f32x4(acc0_7, splat_f32x4(0.0f)));
		store_f32x4(&y[v2 * 5 + v3 + 60], max_f32x4(acc0_8, splat_f32x4(0.0f)));
	}
}

void r_3_5_5_2_3_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_5_5_2_3_3(bufs[0], bufs[1], bufs[2], from, to);
}

