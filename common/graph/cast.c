/* CAST: to the widest type of the source's kind and from there to the target, so that one loop for
 * each dtype and direction is enough. Integers are widened to 64 bits with their low bits kept;
 * floats to f64, exactly; the only rounding is the last step.
 *
 *     i64 → bf16   2^54+1   (2^53, rounded to odd) → nearest of 8 bits
 */
#include <math.h>
#include "graph/graph.h"

enum { CHUNK = 512 };

/* 64 bits to a double that rounds to any shorter float as the integer itself would: the lost bits
 * set the last bit (round to odd) */
static double u_sticky(uint64_t x)
{
	if (x < 1ULL << 53)
		return (double)x;
	return (double)(x >> 11 | ((x & 2047) != 0)) * 2048.0;
}

static double s_sticky(int64_t x)
{
	return x < 0 ? -u_sticky(0 - (uint64_t)x) : u_sticky((uint64_t)x);
}

/* truncates; saturates at lo and hi; NaN gives 0 */
static int64_t s_saturate(double x, int64_t lo, int64_t hi)
{
	if (!(x > (double)lo))
		return x != x ? 0 : lo;
	return x >= (double)hi ? hi : (int64_t)x;
}

static uint64_t u_saturate(double x, uint64_t hi)
{
	if (!(x > 0))
		return 0;
	return x >= (double)hi ? hi : (uint64_t)x;
}

/* to the widest type: integers into uint64_t (sign extended), floats into double */
static void widen(DType dt, size_t n, const void *in, void *out)
{
	uint64_t *u = out;
	double *d = out;
#define FROM(D, C, TO, GET) \
	case DT_##D: \
		for (size_t i = 0; i < n; i++) \
			TO[i] = GET(((const C *)in)[i]); \
		return;
	switch (dt) {
	FROM(BOOL, uint8_t, u, !!)
	FROM(I8, int8_t, u, (uint64_t))
	FROM(I16, int16_t, u, (uint64_t))
	FROM(I32, int32_t, u, (uint64_t))
	FROM(I64, int64_t, u, (uint64_t))
	FROM(U8, uint8_t, u, (uint64_t))
	FROM(U16, uint16_t, u, (uint64_t))
	FROM(U32, uint32_t, u, (uint64_t))
	FROM(U64, uint64_t, u, (uint64_t))
	FROM(F16, uint16_t, d, f16_value)
	FROM(BF16, uint16_t, d, bf16_value)
	FROM(F32, float, d, (double))
	FROM(F64, double, d, (double))
	default: CHECK(!"a dtype");
	}
}

#define TO(D, C, EXPR) \
	case DT_##D: \
		for (size_t i = 0; i < n; i++) \
			((C *)out)[i] = (C)(EXPR); \
		return;

static void from_int(DType dt, size_t n, const uint64_t *x, bool is_signed, void *out)
{
	switch (dt) {
	TO(BOOL, uint8_t, x[i] != 0)
	TO(I8, int8_t, x[i])
	TO(I16, int16_t, x[i])
	TO(I32, int32_t, x[i])
	TO(I64, int64_t, x[i])
	TO(U8, uint8_t, x[i])
	TO(U16, uint16_t, x[i])
	TO(U32, uint32_t, x[i])
	TO(U64, uint64_t, x[i])
	TO(F16, uint16_t, f16_bits(is_signed ? s_sticky((int64_t)x[i]) : u_sticky(x[i])))
	TO(BF16, uint16_t, bf16_bits(is_signed ? s_sticky((int64_t)x[i]) : u_sticky(x[i])))
	TO(F32, float, is_signed ? (float)(int64_t)x[i] : (float)x[i])
	TO(F64, double, is_signed ? (double)(int64_t)x[i] : (double)x[i])
	default: CHECK(!"a dtype");
	}
}

static void from_float(DType dt, size_t n, const double *x, void *out)
{
	switch (dt) {
	TO(BOOL, uint8_t, x[i] != 0)
	TO(I8, int8_t, s_saturate(x[i], INT8_MIN, INT8_MAX))
	TO(I16, int16_t, s_saturate(x[i], INT16_MIN, INT16_MAX))
	TO(I32, int32_t, s_saturate(x[i], INT32_MIN, INT32_MAX))
	TO(I64, int64_t, s_saturate(x[i], INT64_MIN, INT64_MAX))
	TO(U8, uint8_t, u_saturate(x[i], UINT8_MAX))
	TO(U16, uint16_t, u_saturate(x[i], UINT16_MAX))
	TO(U32, uint32_t, u_saturate(x[i], UINT32_MAX))
	TO(U64, uint64_t, u_saturate(x[i], UINT64_MAX))
	TO(F16, uint16_t, f16_bits(x[i]))
	TO(BF16, uint16_t, bf16_bits(x[i]))
	TO(F32, float, x[i])
	TO(F64, double, x[i])
	default: CHECK(!"a dtype");
	}
}

void interp_cast(DType to, void *out, DType from, const void *in, size_t n)
{
	uint64_t wide[CHUNK];
	double real[CHUNK];

	if (to == from && to != DT_BOOL) {
		if (n)
			memmove(out, in, n * dtype_size(to));
		return;
	}
	for (size_t i = 0; i < n; i += CHUNK) {
		size_t m = n - i < CHUNK ? n - i : CHUNK;
		const char *x = (const char *)in + i * dtype_size(from);
		char *o = (char *)out + i * dtype_size(to);

		if (dtype_float(from)) {
			widen(from, m, x, real);
			from_float(to, m, real, o);
		} else {
			widen(from, m, x, wide);
			from_int(to, m, wide, dtype_signed(from), o);
		}
	}
}
