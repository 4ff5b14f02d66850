/* What this machine can do, measured with the threads that a run has: multiply-adds of f32 in
 * registers, and bytes read from memory. Profiles are compared with it. */
#include "host/host.h"
#include "machine/loops.h"
#include <stdlib.h>

enum { TIMES = 3, OUT = 64, PART = 1 << 20 };

/* An item is as many multiply-adds as one call of the loop makes; */
static void multiply_add(void *const *buf, const int64_t *vars, int64_t from, int64_t to)
{
	for (int64_t item = from; item < to; item++)
		loops_native()->mulacc_apart(&(Memory){(char *)buf[0] + item * OUT, OUT});
}

/* or a part of a large array. */
static void read_memory(void *const *buf, const int64_t *vars, int64_t from, int64_t to)
{
	for (int64_t item = from; item < to; item++)
		loops_native()->read_all(&(Memory){(char *)buf[1] + item * PART, PART});
}

/* The least time of some runs, in seconds. */
static double least_time(Items fn, void *const *buf, int64_t items, int threads)
{
	Share s = {.threads = threads, .wake = true, .chunk = 1, .work = 1000000000};
	double least = 1e30;

	for (int i = 0; i <= TIMES; i++) {
		double begin = now_ms(), spent;
		if (threads > 1)
			pool_run(fn, buf, NULL, items, &s);
		else
			fn(buf, NULL, 0, items);
		spent = (now_ms() - begin) / 1000;
		least = i && spent < least ? spent : least;
	}
	return least;
}

Peak peak_measure(int threads)
{
	enum { PARTS = 128 };
	int64_t items = threads * 4;
	void *buf[] = {memory_alloc(items * OUT), memory_alloc((size_t)PARTS * PART)};
	Peak p;

	/* pages that were never written would all be one */
	memset(buf[1], 1, (size_t)PARTS * PART);
	double lanes = loops_native()->bytes / sizeof(float);
	p.operations = 2 * lanes * CHAINS * ROUNDS * (double)items /
		least_time(multiply_add, buf, items, threads);
	p.bytes = (double)PARTS * PART / least_time(read_memory, buf, PARTS, threads);
	memory_free(buf[0]);
	memory_free(buf[1]);
	return p;
}
