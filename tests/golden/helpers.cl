#ifndef HELPER_f32x2
#define HELPER_f32x2
typedef struct __attribute__((aligned(8))) { float at[2]; } f32x2;
#endif

#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef struct __attribute__((aligned(16))) { float at[4]; } f32x4;
#endif

#ifndef HELPER_max_f32
#define HELPER_max_f32
static inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
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
#ifdef FP_FAST_FMAF
	return fma(a, b, c);
#else
	return a * b + c;
#endif
}
#endif

#ifndef HELPER_shl_i64
#define HELPER_shl_i64
static inline long shl_i64(long a, long b)
{
	return b < 0 || b >= 64 ? 0 : (long)((ulong)a << b);
}
#endif

