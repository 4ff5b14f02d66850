#ifndef HELPER_vectors
#define HELPER_vectors
#pragma GCC diagnostic ignored "-Wpsabi"
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

#ifndef HELPER_u64x4
#define HELPER_u64x4
typedef unsigned long u64x4 __attribute__((vector_size(32)));
typedef unsigned long u64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#ifndef HELPER_u32x4
#define HELPER_u32x4
typedef unsigned u32x4 __attribute__((vector_size(16)));
typedef unsigned u32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
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

#ifndef HELPER_splat_u64x4
#define HELPER_splat_u64x4
static inline __attribute__((always_inline)) u64x4 splat_u64x4(unsigned long x)
{
	return (u64x4){x, x, x, x};
}
#endif

#ifndef HELPER_u64_to_u32_x4
#define HELPER_u64_to_u32_x4
static inline __attribute__((always_inline)) u32x4 u64_to_u32_x4(u64x4 x)
{
	return __builtin_convertvector(x, u32x4);
}
#endif

#ifndef HELPER_splat_u32x4
#define HELPER_splat_u32x4
static inline __attribute__((always_inline)) u32x4 splat_u32x4(unsigned x)
{
	return (u32x4){x, x, x, x};
}
#endif

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
#endif

#ifndef HELPER_store_f32x4
#define HELPER_store_f32x4
static inline __attribute__((always_inline)) void store_f32x4(void *p, f32x4 v)
{
	*(f32x4_at *)p = v;
}
#endif

/* u */
/* rand.t:1 */
void E_4(float *restrict u, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		store_f32x4(&u[gidx0 * 4], (f32x4)((u64_to_u32_x4(threefry_u64x4((u64x4)(splat_i64x4(gidx0 * 4) + lane_i64x4()), splat_u64x4(7)) & splat_u64x4(4294967295uL)) >> 9) | splat_u32x4(1065353216)) + -1.0f);
	}
}

void E_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_4(bufs[0], from, to);
}

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

#ifndef HELPER_u64x4
#define HELPER_u64x4
typedef unsigned long u64x4 __attribute__((vector_size(32)));
typedef unsigned long u64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#ifndef HELPER_u32x4
#define HELPER_u32x4
typedef unsigned u32x4 __attribute__((vector_size(16)));
typedef unsigned u32x4_at __attribute__((vector_size(16), aligned(4), may_alias));
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

#ifndef HELPER_splat_u64x4
#define HELPER_splat_u64x4
static inline __attribute__((always_inline)) u64x4 splat_u64x4(unsigned long x)
{
	return (u64x4){x, x, x, x};
}
#endif

#ifndef HELPER_store_i64x4
#define HELPER_store_i64x4
static inline __attribute__((always_inline)) void store_i64x4(void *p, i64x4 v)
{
	*(i64x4_at *)p = v;
}
#endif

/* n */
/* rand.t:1 */
void E_6(long *restrict n, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 2);
		store_i64x4(&n[v0], (i64x4)(((threefry_u64x4((u64x4)(lane_i64x4() + splat_i64x4(v0)), splat_u64x4(7)) & splat_u64x4(4294967295uL)) * splat_u64x4(100)) >> 32));
	}
}

void E_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_6(bufs[0], from, to);
}

