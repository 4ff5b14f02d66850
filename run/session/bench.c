/* --bench: repeats the call for some seconds, at least seven times, and prints minimum and median
 * without the first call.
 *
 *     run: 212 calls  min 4.62 ms  median 4.71 ms  (build 61.0 ms, first call 5.02 ms)
 */
#include "io/io.h"
#include "session/session.h"
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void write_json(
	const char *file, size_t n, const double *ms, double build_ms, double first_ms)
{
	Buf b = {0};

	buf_printf(
		&b, "{\"build_ms\": %.4f, \"first_ms\": %.4f, \"times_ms\": [", build_ms, first_ms);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%.6f", i ? ", " : "", ms[i]);
	buf_printf(&b, "], \"rss_mb\": %.2f}\n", memory_peak() / 1024.0 / 1024.0);
	file_write(file, b.s, b.n);
	buf_free(&b);
}

void bench(void (*call)(void *of), void *of, double seconds, double build_ms, double first_ms,
	const char *file)
{
	enum { LEAST = 7, MOST = 10000000 };
	VEC(double) ms = {0};
	double begin = now_ms(), *sorted, median;

	while (ms.n < LEAST || (now_ms() - begin < seconds * 1000 && ms.n < MOST)) {
		double t = now_ms();
		call(of);
		vec_push(&ms, now_ms() - t);
	}
	if (file)
		write_json(file, ms.n, ms.at, build_ms, first_ms);
	sorted = xmalloc(ms.n * sizeof *sorted);
	memcpy(sorted, ms.at, ms.n * sizeof *sorted);
	qsort(sorted, ms.n, sizeof *sorted, by_value);
	median = ms.n % 2 ? sorted[ms.n / 2] : (sorted[ms.n / 2 - 1] + sorted[ms.n / 2]) / 2;
	fprintf(stderr,
		"%s: %zu calls  min %.4f ms  median %.4f ms  (build %.1f ms, first call %.4f ms)\n",
		process.stage, ms.n, sorted[0], median, build_ms, first_ms);
	free(sorted);
	vec_free(&ms);
}
