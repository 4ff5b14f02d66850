#ifndef HELPER_bits_f32_i32
#define HELPER_bits_f32_i32
static inline int bits_f32_i32(float x)
{
	union { float from; int to; } u;
	u.from = x;
	return u.to;
}
#endif

#ifndef HELPER_bits_f32_u32
#define HELPER_bits_f32_u32
static inline unsigned bits_f32_u32(float x)
{
	union { float from; unsigned to; } u;
	u.from = x;
	return u.to;
}
#endif

#ifndef HELPER_bits_i32_f32
#define HELPER_bits_i32_f32
static inline float bits_i32_f32(int x)
{
	union { int from; float to; } u;
	u.from = x;
	return u.to;
}
#endif

#ifndef HELPER_dotu8i8_i32x4
#define HELPER_dotu8i8_i32x4
static inline __attribute__((always_inline)) i32x4 dotu8i8_i32x4(i32x4 a, i32x4 b, i32x4 c)
{
#if ((defined __AVX512VNNI__ && defined __AVX512VL__) || defined __AVXVNNI__) && defined __clang__
	return __builtin_ia32_vpdpbusd128(c, a, b);
#elif (defined __AVX512VNNI__ && defined __AVX512VL__) || defined __AVXVNNI__
	return __builtin_ia32_vpdpbusd_v4si(c, a, b);
#elif defined __ARM_FEATURE_MATMUL_INT8
	__asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(c) : "w"(a), "w"(b));
	return c;
#else
	return c + (a >> 0 & 0xff) * (b << 24 >> 24)
		 + (a >> 8 & 0xff) * (b << 16 >> 24)
		 + (a >> 16 & 0xff) * (b << 8 >> 24)
		 + (a >> 24 & 0xff) * (b << 0 >> 24);
#endif
}
#endif

#ifndef HELPER_f32x2
#define HELPER_f32x2
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
#endif

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_f32x8
#define HELPER_f32x8
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#ifndef HELPER_i16x4
#define HELPER_i16x4
typedef short i16x4 __attribute__((vector_size(8)));
typedef short i16x4_at __attribute__((vector_size(8), aligned(2), may_alias));
#endif

#ifndef HELPER_i32x2
#define HELPER_i32x2
typedef int i32x2 __attribute__((vector_size(8)));
typedef int i32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
#endif

#ifndef HELPER_i32x4
#define HELPER_i32x4
typedef int i32x4 __attribute__((vector_size(16)));
typedef int i32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_i32x8
#define HELPER_i32x8
typedef int i32x8 __attribute__((vector_size(32)));
typedef int i32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#endif

#ifndef HELPER_i64x4
#define HELPER_i64x4
typedef long i64x4 __attribute__((vector_size(32)));
typedef long i64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#ifndef HELPER_i8_to_i32_x4
#define HELPER_i8_to_i32_x4
static inline __attribute__((always_inline)) i32x4 i8_to_i32_x4(i8x4 x)
{
	return __builtin_convertvector(__builtin_convertvector(x, i16x4), i32x4);
}
#endif

#ifndef HELPER_i8x4
#define HELPER_i8x4
typedef signed char i8x4 __attribute__((vector_size(4)));
typedef signed char i8x4_at __attribute__((vector_size(4), aligned(1), may_alias));
#endif

#ifndef HELPER_lane_i32x4
#define HELPER_lane_i32x4
static inline __attribute__((always_inline)) i32x4 lane_i32x4(void)
{
	const i32x4 r = {0, 1, 2, 3};
	return r;
}
#endif

#ifndef HELPER_lane_i32x8
#define HELPER_lane_i32x8
static inline __attribute__((always_inline)) i32x8 lane_i32x8(void)
{
	const i32x8 r = {0, 1, 2, 3, 4, 5, 6, 7};
	return r;
}
#endif

#ifndef HELPER_lane_i64x4
#define HELPER_lane_i64x4
static inline __attribute__((always_inline)) i64x4 lane_i64x4(void)
{
	const i64x4 r = {0, 1, 2, 3};
	return r;
}
#endif

#ifndef HELPER_load_f32x2
#define HELPER_load_f32x2
static inline __attribute__((always_inline)) f32x2 load_f32x2(const void *p)
{
	return *(const f32x2_at *)p;
}
#endif

#ifndef HELPER_load_f32x4
#define HELPER_load_f32x4
static inline __attribute__((always_inline)) f32x4 load_f32x4(const void *p)
{
	return *(const f32x4_at *)p;
}
#endif

#ifndef HELPER_load_f32x8
#define HELPER_load_f32x8
static inline __attribute__((always_inline)) f32x8 load_f32x8(const void *p)
{
	return *(const f32x8_at *)p;
}
#endif

#ifndef HELPER_load_i32x2
#define HELPER_load_i32x2
static inline __attribute__((always_inline)) i32x2 load_i32x2(const void *p)
{
	return *(const i32x2_at *)p;
}
#endif

#ifndef HELPER_load_i32x4
#define HELPER_load_i32x4
static inline __attribute__((always_inline)) i32x4 load_i32x4(const void *p)
{
	return *(const i32x4_at *)p;
}
#endif

#ifndef HELPER_load_i64x4
#define HELPER_load_i64x4
static inline __attribute__((always_inline)) i64x4 load_i64x4(const void *p)
{
	return *(const i64x4_at *)p;
}
#endif

#ifndef HELPER_load_i8x4
#define HELPER_load_i8x4
static inline __attribute__((always_inline)) i8x4 load_i8x4(const void *p)
{
	return *(const i8x4_at *)p;
}
#endif

#ifndef HELPER_load_if_f32x4
#define HELPER_load_if_f32x4
static inline __attribute__((always_inline)) f32x4 load_if_f32x4(const float *p, i32x4 m)
{
#ifdef __AVX__
	return (f32x4)__builtin_ia32_maskloadps((const float __attribute__((vector_size(16))) *)p, (int __attribute__((vector_size(16))))m);
#else
	f32x4 r = {0};
	for (int i = 0; i < 4; i++)
		if (m[i])
			r[i] = p[i];
	return r;
#endif
}
#endif

#ifndef HELPER_load_if_f32x8
#define HELPER_load_if_f32x8
static inline __attribute__((always_inline)) f32x8 load_if_f32x8(const float *p, i32x8 m)
{
#ifdef __AVX__
	return (f32x8)__builtin_ia32_maskloadps256((const float __attribute__((vector_size(32))) *)p, (int __attribute__((vector_size(32))))m);
#else
	f32x8 r = {0};
	for (int i = 0; i < 8; i++)
		if (m[i])
			r[i] = p[i];
	return r;
#endif
}
#endif

#ifndef HELPER_mask_i32x4
#define HELPER_mask_i32x4
static inline __attribute__((always_inline)) i32x4 mask_i32x4(int set)
{
	static const int of[] = {0, -1};
	const int x = of[set];
	const i32x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_max_f32
#define HELPER_max_f32
static inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
}
#endif

#ifndef HELPER_max_f32x2
#define HELPER_max_f32x2
static inline __attribute__((always_inline)) f32x2 max_f32x2(f32x2 a, f32x2 b)
{
	const i32x2 m = (i32x2)(b < a) | (i32x2)(a != a);
	return (f32x2)(((i32x2)a & m) | ((i32x2)b & ~m));
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

#ifndef HELPER_max_i64
#define HELPER_max_i64
static inline long max_i64(long a, long b)
{
	return a > b ? a : b;
}
#endif

#ifndef HELPER_max_with_f32x8
#define HELPER_max_with_f32x8
static inline __attribute__((always_inline)) f32x8 max_with_f32x8(f32x8 a, f32x8 b)
{
#ifdef __AVX__
	return __builtin_ia32_maxps256(b, a);
#else
	const i32x8 m = (i32x8)(a < b);
	return (f32x8)(((i32x8)b & m) | ((i32x8)a & ~m));
#endif
}
#endif

#ifndef HELPER_min_f32
#define HELPER_min_f32
static inline float min_f32(float a, float b)
{
	return ((a < b) | (a != a)) ? a : b;
}
#endif

#ifndef HELPER_min_f32x4
#define HELPER_min_f32x4
static inline __attribute__((always_inline)) f32x4 min_f32x4(f32x4 a, f32x4 b)
{
#ifdef __SSE4_1__
	return __builtin_ia32_blendvps(__builtin_ia32_minps(a, b), a, (f32x4)(a != a));
#else
	const i32x4 m = (i32x4)(b > a) | (i32x4)(a != a);
	return (f32x4)(((i32x4)a & m) | ((i32x4)b & ~m));
#endif
}
#endif

#ifndef HELPER_min_i64
#define HELPER_min_i64
static inline long min_i64(long a, long b)
{
	return a < b ? a : b;
}
#endif

#ifndef HELPER_mulacc_f32
#define HELPER_mulacc_f32
static inline float mulacc_f32(float a, float b, float c)
{
#if defined __FMA__ || defined __aarch64__
	return __builtin_fmaf(a, b, c);
#else
	return a * b + c;
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

#ifndef HELPER_splat_f32x2
#define HELPER_splat_f32x2
static inline __attribute__((always_inline)) f32x2 splat_f32x2(float x)
{
	const f32x2 r = {x, x};
	return r;
}
#endif

#ifndef HELPER_splat_f32x4
#define HELPER_splat_f32x4
static inline __attribute__((always_inline)) f32x4 splat_f32x4(float x)
{
	const f32x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_f32x8
#define HELPER_splat_f32x8
static inline __attribute__((always_inline)) f32x8 splat_f32x8(float x)
{
	const f32x8 r = {x, x, x, x, x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_i32x4
#define HELPER_splat_i32x4
static inline __attribute__((always_inline)) i32x4 splat_i32x4(int x)
{
	const i32x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_i32x8
#define HELPER_splat_i32x8
static inline __attribute__((always_inline)) i32x8 splat_i32x8(int x)
{
	const i32x8 r = {x, x, x, x, x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_i64x4
#define HELPER_splat_i64x4
static inline __attribute__((always_inline)) i64x4 splat_i64x4(long x)
{
	const i64x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_u32x4
#define HELPER_splat_u32x4
static inline __attribute__((always_inline)) u32x4 splat_u32x4(unsigned x)
{
	const u32x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_splat_u64x4
#define HELPER_splat_u64x4
static inline __attribute__((always_inline)) u64x4 splat_u64x4(unsigned long x)
{
	const u64x4 r = {x, x, x, x};
	return r;
}
#endif

#ifndef HELPER_sqrt_f32x4
#define HELPER_sqrt_f32x4
static inline __attribute__((always_inline)) f32x4 sqrt_f32x4(f32x4 x)
{
#ifdef __SSE2__
	return __builtin_ia32_sqrtps(x);
#else
	f32x4 r;
	for (int i = 0; i < 4; i++)
		r[i] = __builtin_sqrtf(x[i]);
	return r;
#endif
}
#endif

#ifndef HELPER_sqrt_f32x8
#define HELPER_sqrt_f32x8
static inline __attribute__((always_inline)) f32x8 sqrt_f32x8(f32x8 x)
{
#ifdef __AVX__
	return __builtin_ia32_sqrtps256(x);
#else
	f32x8 r;
	for (int i = 0; i < 8; i++)
		r[i] = __builtin_sqrtf(x[i]);
	return r;
#endif
}
#endif

#ifndef HELPER_store_f32x2
#define HELPER_store_f32x2
static inline __attribute__((always_inline)) void store_f32x2(void *p, f32x2 v)
{
	*(f32x2_at *)p = v;
}
#endif

#ifndef HELPER_store_f32x4
#define HELPER_store_f32x4
static inline __attribute__((always_inline)) void store_f32x4(void *p, f32x4 v)
{
	*(f32x4_at *)p = v;
}
#endif

#ifndef HELPER_store_f32x8
#define HELPER_store_f32x8
static inline __attribute__((always_inline)) void store_f32x8(void *p, f32x8 v)
{
	*(f32x8_at *)p = v;
}
#endif

#ifndef HELPER_store_i32x2
#define HELPER_store_i32x2
static inline __attribute__((always_inline)) void store_i32x2(void *p, i32x2 v)
{
	*(i32x2_at *)p = v;
}
#endif

#ifndef HELPER_store_i32x4
#define HELPER_store_i32x4
static inline __attribute__((always_inline)) void store_i32x4(void *p, i32x4 v)
{
	*(i32x4_at *)p = v;
}
#endif

#ifndef HELPER_store_i64x4
#define HELPER_store_i64x4
static inline __attribute__((always_inline)) void store_i64x4(void *p, i64x4 v)
{
	*(i64x4_at *)p = v;
}
#endif

#ifndef HELPER_store_if_f32x8
#define HELPER_store_if_f32x8
static inline __attribute__((always_inline)) void store_if_f32x8(float *p, f32x8 v, i32x8 m)
{
#ifdef __AVX__
	__builtin_ia32_maskstoreps256((float __attribute__((vector_size(32))) *)p, (int __attribute__((vector_size(32))))m, (float __attribute__((vector_size(32))))v);
#else
	for (int i = 0; i < 8; i++)
		if (m[i])
			p[i] = v[i];
#endif
}
#endif

#ifndef HELPER_stream_end
#define HELPER_stream_end
static inline __attribute__((always_inline)) void stream_end(void)
{
#ifdef __SSE__
	__builtin_ia32_sfence();
#endif
}
#endif

#ifndef HELPER_stream_f32x8
#define HELPER_stream_f32x8
static inline __attribute__((always_inline)) void stream_f32x8(void *p, f32x8 v)
{
#if defined __clang__ || defined __AVX__
	if ((unsigned long)p % 32 == 0) {
#ifdef __clang__
		__builtin_nontemporal_store(v, (f32x8 *)p);
#else
		__builtin_ia32_movntps256((float *)p, (float __attribute__((vector_size(32))))v);
#endif
		return;
	}
#endif
	*(f32x8_at *)p = v;
}
#endif

#ifndef HELPER_threefry_u64x4
#define HELPER_threefry_u64x4
static inline __attribute__((always_inline)) u64x4 threefry_u64x4(u64x4 a, u64x4 b)
{
	const u32x4 k0 = __builtin_convertvector(b, u32x4);
	const u32x4 k1 = __builtin_convertvector(b >> 32, u32x4), k2 = k0 ^ k1 ^ 0x1bd11bda;
	u32x4 x = __builtin_convertvector(a, u32x4) + k0;
	u32x4 y = __builtin_convertvector(a >> 32, u32x4) + k1;
	x += y;
	y = ((y << 13) | (y >> 19)) ^ x;
	x += y;
	y = ((y << 15) | (y >> 17)) ^ x;
	x += y;
	y = ((y << 26) | (y >> 6)) ^ x;
	x += y;
	y = ((y << 6) | (y >> 26)) ^ x;
	x += k1;
	y += k2 + 1;
	x += y;
	y = ((y << 17) | (y >> 15)) ^ x;
	x += y;
	y = ((y << 29) | (y >> 3)) ^ x;
	x += y;
	y = ((y << 16) | (y >> 16)) ^ x;
	x += y;
	y = ((y << 24) | (y >> 8)) ^ x;
	x += k2;
	y += k0 + 2;
	x += y;
	y = ((y << 13) | (y >> 19)) ^ x;
	x += y;
	y = ((y << 15) | (y >> 17)) ^ x;
	x += y;
	y = ((y << 26) | (y >> 6)) ^ x;
	x += y;
	y = ((y << 6) | (y >> 26)) ^ x;
	x += k0;
	y += k1 + 3;
	x += y;
	y = ((y << 17) | (y >> 15)) ^ x;
	x += y;
	y = ((y << 29) | (y >> 3)) ^ x;
	x += y;
	y = ((y << 16) | (y >> 16)) ^ x;
	x += y;
	y = ((y << 24) | (y >> 8)) ^ x;
	x += k1;
	y += k2 + 4;
	x += y;
	y = ((y << 13) | (y >> 19)) ^ x;
	x += y;
	y = ((y << 15) | (y >> 17)) ^ x;
	x += y;
	y = ((y << 26) | (y >> 6)) ^ x;
	x += y;
	y = ((y << 6) | (y >> 26)) ^ x;
	x += k2;
	y += k0 + 5;
	return (__builtin_convertvector(y, u64x4) << 32) | __builtin_convertvector(x, u64x4);
}
#endif

#ifndef HELPER_u32x4
#define HELPER_u32x4
typedef unsigned u32x4 __attribute__((vector_size(16)));
typedef unsigned u32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_u64_to_u32_x4
#define HELPER_u64_to_u32_x4
static inline __attribute__((always_inline)) u32x4 u64_to_u32_x4(u64x4 x)
{
	return __builtin_convertvector(x, u32x4);
}
#endif

#ifndef HELPER_u64x4
#define HELPER_u64x4
typedef unsigned long u64x4 __attribute__((vector_size(32)));
typedef unsigned long u64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#ifndef HELPER_vectors
#define HELPER_vectors
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

