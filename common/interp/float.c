/* Elementwise ops on floats. f16 and bf16 are computed in f32 and rounded once; NEG and the
 * comparisons are exact, and a NaN stays a NaN.
 *
 *     MUL  f16  0x3c01 * 0x3c01   1.0009765625² = 1.00195407…, kept as 0x3c02
 */
#include <math.h>
#include "graph/graph.h"
#include "interp/elements.h"

#define ID(x) (x)
/* The loop of one op. C is the stored type, V the type of the arithmetic, GET and PUT convert
 * between them, and R is the result's stored type. */
#define LOOP(OP, D, C, V, GET, R, PUT, EXPR) \
	static void OP##_##D(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		const int nsrc = op_info[OP_##OP].max_src; \
		const C *a = in[0], *b = in[nsrc > 1], *c = in[nsrc > 2 ? 2 : 0]; \
		const size_t sa = step[0], sb = step[nsrc > 1], sc = step[nsrc > 2 ? 2 : 0]; \
		R *o = out; \
		for (size_t i = 0; i < n; i++) { \
			V x = GET(a[i * sa]), y = GET(b[i * sb]), z = GET(c[i * sc]); \
			(void)y, (void)z; \
			o[i] = PUT(EXPR); \
		} \
	}
#define BY_DTYPE(OP) \
	const InterpFn floats_##OP[DT_COUNT] = { \
		[DT_F16] = OP##_F16, [DT_BF16] = OP##_BF16, \
		[DT_F32] = OP##_F32, [DT_F64] = OP##_F64, \
	};
/* An op on each float dtype: the expression in f32 and in f64. */
#define FLOATS(OP, E32, E64) \
	LOOP(OP, F16, uint16_t, float, f16_value, uint16_t, f16_bits, E32) \
	LOOP(OP, BF16, uint16_t, float, bf16_value, uint16_t, bf16_bits, E32) \
	LOOP(OP, F32, float, float, ID, float, ID, E32) \
	LOOP(OP, F64, double, double, ID, double, ID, E64) \
	BY_DTYPE(OP)
#define COMPARE(OP, EXPR) \
	LOOP(OP, F16, uint16_t, float, f16_value, uint8_t, ID, EXPR) \
	LOOP(OP, BF16, uint16_t, float, bf16_value, uint8_t, ID, EXPR) \
	LOOP(OP, F32, float, float, ID, uint8_t, ID, EXPR) \
	LOOP(OP, F64, double, double, ID, uint8_t, ID, EXPR) \
	BY_DTYPE(OP)

FLOATS(NEG, -x, -x)
FLOATS(RECIP, 1 / x, 1 / x)
FLOATS(SQRT, sqrtf(x), sqrt(x))
FLOATS(EXP2, exp2f(x), exp2(x))
FLOATS(LOG2, log2f(x), log2(x))
FLOATS(SIN, sinf(x), sin(x))
FLOATS(TRUNC, truncf(x), trunc(x))
FLOATS(ADD, x + y, x + y)
FLOATS(SUB, x - y, x - y)
FLOATS(MUL, x * y, x * y)
FLOATS(FDIV, x / y, x / y)
FLOATS(POW, powf(x, y), pow(x, y))
FLOATS(MAX, x > y || x != x ? x : y, x > y || x != x ? x : y)
FLOATS(MIN, x < y || x != x ? x : y, x < y || x != x ? x : y)
FLOATS(MULACC, fmaf(x, y, z), fma(x, y, z))
COMPARE(CMPLT, x < y)
COMPARE(CMPEQ, x == y)
COMPARE(CMPNE, x != y)
