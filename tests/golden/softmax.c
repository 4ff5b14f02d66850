#ifndef HELPER_vectors
#define HELPER_vectors
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#ifndef HELPER_f32x8
#define HELPER_f32x8
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#ifndef HELPER_splat_f32x8
#define HELPER_splat_f32x8
static inline __attribute__((always_inline)) f32x8 splat_f32x8(float x)
{
	return (f32x8){x, x, x, x, x, x, x, x};
}
#endif

#ifndef HELPER_load_f32x8
#define HELPER_load_f32x8
static inline __attribute__((always_inline)) f32x8 load_f32x8(const void *p)
{
	return *(const f32x8_at *)p;
}
#endif

#ifndef HELPER_i32x8
#define HELPER_i32x8
typedef int i32x8 __attribute__((vector_size(32)));
typedef int i32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#ifndef HELPER_max_f32x8
#define HELPER_max_f32x8
static inline __attribute__((always_inline)) f32x8 max_f32x8(f32x8 a, f32x8 b)
{
#ifdef __AVX__
	return __builtin_ia32_blendvps256(__builtin_ia32_maxps256(a, b), a, (f32x8)(a != a));
#else
	const i32x8 m = (i32x8)(b < a) | (i32x8)(a != a);
	return (f32x8)(((i32x8)a & m) | ((i32x8)b & ~m));
#endif
}
#endif

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
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

#ifndef HELPER_f32x2
#define HELPER_f32x2
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
#endif

#ifndef HELPER_i32x2
#define HELPER_i32x2
typedef int i32x2 __attribute__((vector_size(8)));
typedef int i32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
#endif

#ifndef HELPER_max_f32x2
#define HELPER_max_f32x2
static inline __attribute__((always_inline)) f32x2 max_f32x2(f32x2 a, f32x2 b)
{
	const i32x2 m = (i32x2)(b < a) | (i32x2)(a != a);
	return (f32x2)(((i32x2)a & m) | ((i32x2)b & ~m));
}
#endif

#ifndef HELPER_max_f32
#define HELPER_max_f32
static inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
}
#endif

#ifndef HELPER_min_f32x8
#define HELPER_min_f32x8
static inline __attribute__((always_inline)) f32x8 min_f32x8(f32x8 a, f32x8 b)
{
#ifdef __AVX__
	return __builtin_ia32_blendvps256(__builtin_ia32_minps256(a, b), a, (f32x8)(a != a));
#else
	const i32x8 m = (i32x8)(b > a) | (i32x8)(a != a);
	return (f32x8)(((i32x8)a & m) | ((i32x8)b & ~m));
#endif
}
#endif

#ifndef HELPER_splat_i32x8
#define HELPER_splat_i32x8
static inline __attribute__((always_inline)) i32x8 splat_i32x8(int x)
{
	return (i32x8){x, x, x, x, x, x, x, x};
}
#endif

#ifndef HELPER_mulacc_f32x8
#define HELPER_mulacc_f32x8
static inline __attribute__((always_inline)) f32x8 mulacc_f32x8(f32x8 a, f32x8 b, f32x8 c)
{
#ifdef __FMA__
	return __builtin_ia32_vfmaddps256(a, b, c);
#else
#if defined __FMA__ || defined __aarch64__
	f32x8 r;
	for (int i = 0; i < 8; i++)
		r[i] = __builtin_fmaf(a[i], b[i], c[i]);
	return r;
#else
	return a * b + c;
#endif
#endif
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
/* softmax.t:3 */
void r_3_16(float *restrict y, const float *restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0_0;
		acc0_0 = splat_f32x8(-__builtin_inff());
		for (long r3 = 0; r3 < 2; r3++) {
			acc0_0 = max_f32x8(acc0_0, load_f32x8(&x[gidx0 * 16 + r3 * 8]));
		}
		f32x4 acc1_0;
		acc1_0 = max_f32x4(__builtin_shufflevector(acc0_0, acc0_0, 0, 1, 2, 3), __builtin_shufflevector(acc0_0, acc0_0, 4, 5, 6, 7));
		f32x2 acc2_0;
		acc2_0 = max_f32x2(__builtin_shufflevector(acc1_0, acc1_0, 0, 1), __builtin_shufflevector(acc1_0, acc1_0, 2, 3));
		float acc3;
		acc3 = max_f32(acc2_0[0], acc2_0[1]);
		_Alignas(64) float buf0[16];
		for (long r3 = 0; r3 < 2; r3++) {
			const f32x8 v0 = min_f32x8(max_f32x8((load_f32x8(&x[gidx0 * 16 + r3 * 8]) - acc3) * 1.442695f, splat_f32x8(-152.0f)), splat_f32x8(1.3e+02f));
			const f32x8 v1 = v0 + 25165824.0f;
			const f32x8 v2 = v0 - (v1 - 25165824.0f);
			const f32x8 v3 = (f32x8)(((i32x8)v1 + splat_i32x8(127)) << 23);
			store_f32x8(&buf0[r3 * 8], mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(splat_f32x8(1.5030574e-05f), v2, splat_f32x8(0.00015653664f)), v2, splat_f32x8(0.001333949f)), v2, splat_f32x8(0.00961672f)), v2, splat_f32x8(0.055503797f)), v2, splat_f32x8(0.24022673f)), v2, splat_f32x8(0.69314724f)), v2, splat_f32x8(1.0f)) * v3 * v3);
		}
		f32x8 acc4_0;
		acc4_0 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			acc4_0 = acc4_0 + load_f32x8(&buf0[r3 * 8]);
		}
		f32x4 acc5_0;
		acc5_0 = __builtin_shufflevector(acc4_0, acc4_0, 0, 1, 2, 3) + __builtin_shufflevector(acc4_0, acc4_0, 4, 5, 6, 7);
		f32x2 acc6_0;
		acc6_0 = __builtin_shufflevector(acc5_0, acc5_0, 0, 1) + __builtin_shufflevector(acc5_0, acc5_0, 2, 3);
		float acc7;
		acc7 = acc6_0[0] + acc6_0[1];
		const float v4 = 1.0f / acc7;
		for (long r3 = 0; r3 < 2; r3++) {
			store_f32x8(&y[gidx0 * 16 + r3 * 8], load_f32x8(&buf0[r3 * 8]) * v4);
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_16(bufs[0], bufs[1], from, to);
}

