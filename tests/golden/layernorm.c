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

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_f32x2
#define HELPER_f32x2
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
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
/* layernorm.t:4 */
void r_3_16(float *restrict y, const float *restrict x, const float *restrict scale, const float *restrict shift, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		f32x8 acc0_0;
		acc0_0 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			acc0_0 = acc0_0 + load_f32x8(&x[gidx0 * 16 + r3 * 8]);
		}
		f32x4 acc1_0;
		acc1_0 = __builtin_shufflevector(acc0_0, acc0_0, 0, 1, 2, 3) + __builtin_shufflevector(acc0_0, acc0_0, 4, 5, 6, 7);
		f32x2 acc2_0;
		acc2_0 = __builtin_shufflevector(acc1_0, acc1_0, 0, 1) + __builtin_shufflevector(acc1_0, acc1_0, 2, 3);
		float acc3;
		acc3 = acc2_0[0] + acc2_0[1];
		const float v0 = acc3 / 16.0f;
		f32x8 acc4_0;
		acc4_0 = splat_f32x8(0.0f);
		for (long r3 = 0; r3 < 2; r3++) {
			const f32x8 v1 = load_f32x8(&x[gidx0 * 16 + r3 * 8]) - v0;
			acc4_0 = mulacc_f32x8(v1, v1, acc4_0);
		}
		f32x4 acc5_0;
		acc5_0 = __builtin_shufflevector(acc4_0, acc4_0, 0, 1, 2, 3) + __builtin_shufflevector(acc4_0, acc4_0, 4, 5, 6, 7);
		f32x2 acc6_0;
		acc6_0 = __builtin_shufflevector(acc5_0, acc5_0, 0, 1) + __builtin_shufflevector(acc5_0, acc5_0, 2, 3);
		float acc7;
		acc7 = acc6_0[0] + acc6_0[1];
		const float v2 = 1.0f / __builtin_sqrtf(acc7 / 16.0f + 1e-05f);
		for (long r3 = 0; r3 < 2; r3++) {
			store_f32x8(&y[gidx0 * 16 + r3 * 8], (load_f32x8(&x[gidx0 * 16 + r3 * 8]) - v0) * v2 * load_f32x8(&scale[r3 * 8]) + load_f32x8(&shift[r3 * 8]));
		}
	}
}

void r_3_16_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_3_16(bufs[0], bufs[1], bufs[2], bufs[3], from, to);
}

