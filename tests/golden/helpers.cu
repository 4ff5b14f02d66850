#ifndef HELPER_f32x4
#define HELPER_f32x4
typedef struct __align__(16) { float at[4]; } f32x4;
#endif

#ifndef HELPER_max_f32
#define HELPER_max_f32
static __device__ inline float max_f32(float a, float b)
{
	return ((a > b) | (a != a)) ? a : b;
}
#endif

#ifndef HELPER_mulacc_f32
#define HELPER_mulacc_f32
static __device__ inline float mulacc_f32(float a, float b, float c)
{
	return fmaf(a, b, c);
}
#endif

