/* The greatest error of a kernel y = FN(x), or y = FN(x, z), in units in the last place. Compiled
 * with the source that `render -t clang` writes for it:
 *
 *     cc -DFN=sin -DT=float -DARGS=1 -DCALL=E_call -DN=65536 -DITEMS=2048 accuracy.c kernel.c -lm
 *     ./a.out all            each value of T (one argument, f32)
 *     ./a.out 4000        so many of each exponent, or pairs, and the neighbours of special values
 *
 * References come from the library one precision up. A NaN, an infinity or a zero's sign that is
 * not the reference's is an error without bounds. One line; status 1 beyond 4 units. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define SINGLE (sizeof(T) == 4)

void CALL(void *const *bufs, const int64_t *vars, int64_t from, int64_t to);

static T x[N], z[N], y[N], worst_x, worst_z, worst_y;
static double worst;
static int filled;

static T value(uint64_t bits)
{
	uint32_t b = (uint32_t)bits;
	T v;
	memcpy(&v, SINGLE ? (void *)&b : (void *)&bits, sizeof v);
	return v;
}

static uint64_t bits_of(T v)
{
	uint64_t b = 0;
	memcpy(&b, &v, sizeof v);
	return b;
}

/* xorshift64* (S. Vigna) */
static uint64_t rnd(void)
{
	static uint64_t s = 88172645463325252u;
	s ^= s >> 12;
	s ^= s << 25;
	s ^= s >> 27;
	return s * 2685821657736338717u;
}

static double uniform(double a, double b) { return a + (b - a) * (double)(rnd() >> 11) * 0x1p-53; }

/* 2^-|x|, which is known to be no more than 1 */
static inline double exp2_below(double a) { return exp2(-fabs(a)); }
static inline long double exp2_belowl(long double a) { return exp2l(-fabsl(a)); }

/* ---- the error of one value; infinity stands where the next power of two would */

static long double exact(T a, T b)
{
	(void)b;
#if ARGS == 2
	/* glibc's powl(-inf, -2^63) is inf */
	if (SINGLE || isinf(a) || fabs(b) >= 0x1p62)
		return JOIN(FN, )(a, b);
	return JOIN(FN, l)(a, b);
#else
	return SINGLE ? (long double)JOIN(FN, )(a) : JOIN(FN, l)(a);
#endif
}

static double error(T got, long double want)
{
	const int mantissa = SINGLE ? 24 : 53, least = SINGLE ? -149 : -1074,
		  most = SINGLE ? 128 : 1024;
	const T rounded = (T)want;
	long double g = got;
	if (isnan(want) || isnan(g))
		return isnan(want) && isnan(g) ? 0 : INFINITY;
	if (got == 0 && rounded == 0 && !signbit(got) != !signbit(want))
		return INFINITY;
	if (isinf(got) && rounded == got)
		return 0;
	if (isinf(want) || want == 0)
		return rounded == got ? 0 : INFINITY;
	g = isinf(got) ? copysignl(ldexpl(1, most), g) : g;
	int e = ilogbl(want) < most ? ilogbl(want) : most - 1;
	return (double)(fabsl(g - want) / ldexpl(1, fmax(e - mantissa + 1, least)));
}

static void flush(void)
{
	void *bufs[] = {y, x, z};
	CALL(bufs, NULL, 0, ITEMS);
	for (int i = 0; i < filled; i++) {
		double e = error(y[i], exact(x[i], z[i]));
		if (e > worst) {
			worst = e;
			worst_x = x[i];
			worst_z = z[i];
			worst_y = y[i];
		}
	}
	filled = 0;
}

static void put(T a, T b)
{
	x[filled] = a;
	z[filled++] = b;
	if (filled == N)
		flush();
}

/* ---- what to try */

/* v and a few on both sides of it, with both signs */
static void around(double v, T b)
{
	uint64_t at = bits_of((T)v);
	for (int d = -3; d <= 3; d++) {
		put(value(at + d), b);
		put(-value(at + d), b);
	}
}

static void one_argument(int count)
{
	const int exponents = SINGLE ? 256 : 2048, mantissa = SINGLE ? 23 : 52;
	for (int e = 0; e < exponents; e++) {
		around((double)value((uint64_t)e << mantissa), 0);
		for (int i = 0; i < count; i++) {
			uint64_t m = rnd() >> (64 - mantissa);
			put(value((uint64_t)e << mantissa | m), 0);
			put(-value((uint64_t)e << mantissa | m), 0);
		}
	}
	for (int i = 0; i < 100 * count; i++)
		around(i * 0.5 * (i & 1 ? 1 : M_PI), 0);
	for (int i = 0; i < 4000; i++)
		around(ldexp(M_PI, i % 128) * (i / 128 + 1), 0);
}

static const double special[] = {0, 1, 2, 3, 4, 0.5, 0.25, 1.5, 1e-3, 10, 1e10, 1e30, 1e-30,
	0x1p-149, 0x1p-126, 0x1.fffffep127, 0x1p22, 0x1p23, 0x1p24, 0x1p25, 8388607, 16777215,
	0x1p51, 0x1p52, 0x1p53, 4503599627370497, 9007199254740991, 0x1p63, 0x1p64, 0x1p100,
	0x1p-1074, 0x1p-1022, DBL_MAX, INFINITY, NAN};
enum { SPECIAL = sizeof special / sizeof *special };

static void two_arguments(int count)
{
	const double most = SINGLE ? 155 : 1080;
	for (int i = 0; i < SPECIAL; i++)
		for (int k = 0; k < SPECIAL; k++) {
			around(special[i], (T)special[k]);
			around(special[i], (T)-special[k]);
		}
	for (int i = 0; i < count; i++) {
		T a = i & 1 ? value(rnd()) : (T)exp2(uniform(-3, 3)), b = (T)uniform(-40, 40);
		if (i % 8 == 3)
			a = (T)(1 + uniform(-1, 1) * exp2(uniform(-50, -1)));
		put(a, value(rnd()));
		put(a, b);
		put(a, (T)rint(b));
		put((T)fabs(a), (T)(uniform(-most, most) / log2(fabs(a))));
		put((T)(rint(b) * ldexp(1, (int)(rnd() % 60))), (T)rint(uniform(-300, 300)));
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	if (ARGS == 2)
		two_arguments(count);
	else if (count)
		one_argument(count);
	else
		for (uint64_t b = 0; b <= UINT32_MAX; b++)
			put(value(b), 0);
	flush();
	printf("%s %s: %.3f ulp at %a", TEXT(FN), SINGLE ? "f32" : "f64", worst, (double)worst_x);
	if (ARGS == 2)
		printf(" ** %a", (double)worst_z);
	printf(": %a\n", (double)worst_y);
	return !(worst <= 4);
}
