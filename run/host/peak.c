/* What this machine can do, measured with the threads that a run has: multiply-adds of f32 in
 * registers, and bytes read from memory. Profiles are compared with it. */
#include "host/host.h"
#include <stdlib.h>

enum { LANES = 16, CHAINS = 12, ROUNDS = 20000, TIMES = 3 };
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));

/* the best that the processor has; this file alone is compiled to contract a·b + c */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define BEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define BEST
#endif

BEST static void multiply_add(void *const *buf, const int64_t *vars, int64_t from, int64_t to)
{
	for (int64_t item = from; item < to; item++) {
		float *out = (float *)buf[0] + item * LANES;
		Lanes at[CHAINS], a, b, sum = {0};
		for (int k = 0; k < LANES; k++) {
			a[k] = 0.5f + out[k];
			b[k] = 0.25f;
		}
		for (int c = 0; c < CHAINS; c++)
			at[c] = a * (float)c;
		for (int r = 0; r < ROUNDS; r++)
			for (int c = 0; c < CHAINS; c++)
				at[c] = at[c] * a + b;
		for (int c = 0; c < CHAINS; c++)
			sum += at[c];
		memcpy(out, &sum, sizeof sum);
	}
}

/* An item is a part of a large array. */
enum { PART = 1 << 20 };
BEST static void read_memory(void *const *buf, const int64_t *vars, int64_t from, int64_t to)
{
	typedef uint64_t Words __attribute__((vector_size(64)));
	for (int64_t item = from; item < to; item++) {
		const Words *at = (const Words *)((char *)buf[1] + item * PART);
		Words sum[4] = {{0}}, all;
		for (size_t i = 0; i < PART / sizeof *at; i += 4)
			for (int c = 0; c < 4; c++)
				sum[c] += at[i + c];
		all = sum[0] + sum[1] + sum[2] + sum[3];
		memcpy((char *)buf[0] + item * sizeof all, &all, sizeof all);
	}
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
	size_t out = (items + PARTS) * 64;
	void *buf[] = {memory_alloc(out), memory_alloc((size_t)PARTS * PART)};
	Peak p;

	/* pages that were never written would all be one */
	memset(buf[1], 1, (size_t)PARTS * PART);
	p.operations = 2.0 * LANES * CHAINS * ROUNDS * items /
		least_time(multiply_add, buf, items, threads);
	p.bytes = (double)PARTS * PART / least_time(read_memory, buf, PARTS, threads);
	memory_free(buf[0]);
	memory_free(buf[1]);
	return p;
}
