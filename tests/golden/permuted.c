#ifndef HELPER_vectors
#define HELPER_vectors
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#ifndef HELPER_f32x2
#define HELPER_f32x2
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x2_at __attribute__((vector_size(8), aligned(4), may_alias));
#endif

#ifndef HELPER_store_f32x2
#define HELPER_store_f32x2
static inline __attribute__((always_inline)) void store_f32x2(void *p, f32x2 v)
{
	*(f32x2_at *)p = v;
}
#endif

/* y */
/* permuted.t:3 */
void E_3_2(float *restrict y, float *restrict z, const float *restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const f32x2 v0 = (f32x2){x[gidx0], x[gidx0 + 3]};
		store_f32x2(&y[gidx0 * 2], v0 * 2.0f);
		store_f32x2(&z[gidx0 * 2], v0);
	}
}

void E_3_2_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_3_2(bufs[0], bufs[1], bufs[2], from, to);
}

