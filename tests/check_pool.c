/* Every item of a launch is run once and by one call, however it is split, and is done when the
 * launch returns: run/host/pool.c with launches of random sizes, thread counts and chunks.
 *
 *     check_pool LAUNCHES
 */
#include <stdio.h>
#include <stdlib.h>
#include "host/host.h"

enum { MOST = 3000 };
static int times[MOST];

static void add(void *const *bufs, const int64_t *vars, int64_t from, int64_t to)
{
	int *seen = bufs[0];

	for (int64_t i = from; i < to; i++) {
		seen[i]++;
		for (int64_t k = 0; k < vars[0]; k++)
			__asm__ volatile("" : : "r"(k));
	}
}

static long launches(int threads, int n)
{
	void *bufs[] = {times};
	long bad = 0;

	pool_start(threads);
	for (int r = 0; r < n; r++) {
		int64_t items = 1 + rand() % MOST, vars[] = {rand() % 30};
		Share s = pool_share(items, 1 + rand() % 3000, threads);
		s.wake = rand() % 2;
		s.alternate = rand() % 2;
		if (rand() % 2)
			s.chunk = 1 + rand() % 50;
		memset(times, 0, sizeof times);
		pool_run(add, bufs, vars, items, &s);
		for (int i = 0; i < MOST; i++)
			bad += times[i] != (i < items);
	}
	pool_stop();
	return bad;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	long bad = 0;

	for (int threads = 1; threads <= 9; threads += threads < 3 ? 1 : 3)
		bad += launches(threads, n);
	printf("%ld items were not run once\n", bad);
	return bad != 0;
}
