/* Degrees in place of values: each float is the degree, as a polynomial, of what it is computed to
 * be. An input is of degree 1, and so is a value drawn by a function or taken as a quotient's
 * reciprocal; a constant is of degree 0.
 *
 *     a·b + c     max(a + b, c)
 *     EXP2(a)     1 */
#include <math.h>
#include "equal/parts.h"

static double most;

double degree_most(void)
{
	double m = most;

	most = 0;
	return m;
}

uint64_t degree_word(double degree)
{
	uint64_t word;

	memcpy(&word, &degree, sizeof word);
	return word;
}

#define LOOP(OP, EXPR) \
	static void degree_##OP(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		const int nsrc = op_info[OP_##OP].max_src; \
		const double *a = in[0], *b = in[nsrc > 1], *c = in[nsrc > 2 ? 2 : 0]; \
		const size_t sa = step[0], sb = step[nsrc > 1], sc = step[nsrc > 2 ? 2 : 0]; \
		double *o = out; \
		for (size_t i = 0; i < n; i++) { \
			double x = a[i * sa], y = b[i * sb], z = c[i * sc]; \
			(void)x, (void)y, (void)z; \
			o[i] = EXPR; \
			most = fmax(most, o[i]); \
		} \
	}
#define DRAWN(OP) LOOP(OP, 1)
#define COMPARE(OP) \
	static void degree_##OP(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		memset(out, 0, n); \
	}
/* A POW may be a product of so many (field.c). */
enum { MOST_POWER = 64 };
LOOP(NEG, x)
LOOP(ADD, fmax(x, y))
LOOP(SUB, fmax(x, y))
LOOP(MUL, x + y)
LOOP(MULACC, fmax(x + y, z))
LOOP(FDIV, x + 1)
LOOP(POW, fmax(1, MOST_POWER * x))
LOOP(MAX, fmax(x, y))
LOOP(MIN, fmax(x, y))
DRAWN(RECIP)
DRAWN(SQRT)
DRAWN(EXP2)
DRAWN(LOG2)
DRAWN(SIN)
DRAWN(TRUNC)
COMPARE(CMPLT)
COMPARE(CMPEQ)
COMPARE(CMPNE)

static void degree_WHERE(size_t n, void *out, const void *const *in, const int *step)
{
	const double *a = in[1], *b = in[2];
	double *o = out;

	for (size_t i = 0; i < n; i++)
		o[i] = fmax(a[i * step[1]], b[i * step[2]]);
}

static void cast(DType to, void *out, DType from, const void *in, size_t n)
{
	if (dtype_float(to) && dtype_float(from))
		memmove(out, in, n * sizeof(double));
	else
		memset(out, 0, n * (size_t)element_size(to));
}

static void constant(DType dt, void *bits) { memset(bits, 0, sizeof(double)); }
static uint64_t key(uint64_t word) { return word; }

#define ROW(OP) [OP_##OP] = degree_##OP
const Arithmetic degree_arithmetic = {
	.fn = {ROW(NEG), ROW(RECIP), ROW(SQRT), ROW(EXP2), ROW(LOG2), ROW(SIN), ROW(TRUNC),
		ROW(ADD), ROW(SUB), ROW(MUL), ROW(FDIV), ROW(POW), ROW(MAX), ROW(MIN), ROW(CMPLT),
		ROW(CMPEQ), ROW(CMPNE), ROW(WHERE), ROW(MULACC)},
	.cast = cast, .bitcast = cast, .constant = constant, .key = key,
};
