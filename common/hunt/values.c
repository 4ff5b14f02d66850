/* Values that are known to be right. Whether an op is to blame is asked by value alone, so that it
 * does not matter how two levels name, merge and order what they compute. */
#include "hunt/hunt.h"
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64, ADDED = 1 << 20 };

static double value_at(DType dt, const void *at, size_t i)
{
	double v;

	interp_cast(DT_F64, &v, dt, (const char *)at + i * dtype_size(dt), 1);
	return v;
}

/* All of a small array, every so many of a large one. */
void values_add(Values *v, DType dt, const void *at, size_t n)
{
	for (size_t i = 0; i < n && v->at.n < 16 * (size_t)ADDED; i++) {
		double x = value_at(dt, at, i);
		v->nan |= isnan(x);
		v->plus |= x == INFINITY;
		v->minus |= x == -INFINITY;
		if (isfinite(x))
			vec_push(&v->at, x);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void values_sort(Values *v)
{
	if (v->at.n)
		qsort(v->at.at, v->at.n, sizeof *v->at.at, by_value);
}

bool values_has(const Values *v, double x, const Tolerance *t)
{
	double off = t->atol + t->rtol * fabs(x);
	size_t low = 0, high = v->at.n;

	if (!isfinite(x))
		return isnan(x) ? v->nan : x > 0 ? v->plus : v->minus;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (v->at.at[mid] < x - off)
			low = mid + 1;
		else
			high = mid;
	}
	return low < v->at.n && v->at.at[low] <= x + off;
}

bool values_have(const Values *v, DType dt, const void *at, size_t n, const Tolerance *t)
{
	size_t step = n > SAMPLES ? n / SAMPLES : 1;

	for (size_t i = 0; i < n; i += step)
		if (!values_has(v, value_at(dt, at, i), t))
			return false;
	return true;
}
