/* What this machine's processor is like, measured: caches by what the system says (of the last one,
 * as much as is read faster than memory), times by loops that do one thing. Each is the best of a
 * few runs, since other work only makes them longer. */
#include "target/target.h"
#include <sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 15, ROUNDS = 20000, CHAINS = 12 };
typedef float Lanes __attribute__((vector_size(64)));
typedef int64_t Words __attribute__((vector_size(64)));

/* the best that the processor has */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define BEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define BEST
#endif

/* ---- loops */

typedef struct { char *at; size_t n; } Memory;

/* Additions each of which waits for the one before: one cycle each. */
static void count(const Memory *m)
{
	int64_t x = (int64_t)m->n;
	for (int i = 0; i < ROUNDS; i++) {
		x += i;
		__asm__ volatile("" : "+r"(x));         /* or it would be a product */
	}
	m->at[0] = (char)x;
}

BEST static void add_apart(const Memory *m)
{
	Lanes sum[CHAINS], one = {1};
	for (int c = 0; c < CHAINS; c++)
		sum[c] = one * (float)c;
	/* written out, or the chains would be in memory */
	for (int i = 0; i < ROUNDS; i++)
#pragma GCC unroll 12
		for (int c = 0; c < CHAINS; c++)
			sum[c] += one;
	for (int c = 1; c < CHAINS; c++)
		sum[0] += sum[c];
	memcpy(m->at, &sum[0], sizeof sum[0]);
}

BEST static void add_in_turn(const Memory *m)
{
	Lanes sum = {1}, one = {1};
	for (int i = 0; i < ROUNDS; i++)
		sum += one;
	memcpy(m->at, &sum, sizeof sum);
}

BEST static void read_all(const Memory *m)
{
	const Words *at = (const Words *)m->at;
	Words sum[4] = {{0}};
	for (size_t i = 0; i + 4 <= m->n / sizeof *at; i += 4)
#pragma GCC unroll 4
		for (int c = 0; c < 4; c++)
			sum[c] |= at[i + c];
	sum[0] |= sum[1] | sum[2] | sum[3];
	/* never so, which the compiler does not know */
	if (sum[0][0] == 12345)
		m->at[0] = 0;
}

static void copy_half(const Memory *m) { memcpy(m->at, m->at + m->n / 2, m->n / 2); }

static void *nothing(void *of) { return of; }

static void start_thread(const Memory *m)
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
}

/* The least time of some runs of `again` calls, in nanoseconds of one. */
static double least_time(void (*fn)(const Memory *), const Memory *m, int again)
{
	double least = 1e30;
	for (int i = 0; i < TIMES; i++) {
		double begin = now_ms();
		for (int k = 0; k < again; k++)
			fn(m);
		double spent = (now_ms() - begin) * 1e6 / again;
		least = spent < least ? spent : least;
	}
	return least > 1 ? least : 1;
}

/* ---- figures */

static void set(int *to, double v)
{
	*to = v < 1 ? 1 : v > 1 << 20 ? 1 << 20 : (int)(v + 0.5);
}

static void system_says(Machine *m)
{
	const int name[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
	cpu_set_t cpus;
	for (int i = 0; i < 3; i++) {
		long n = sysconf(name[i]);
		m->cache[i] = n > 0 ? n : m->cache[i];
	}
	long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE), page = sysconf(_SC_PAGESIZE);
	m->line = line > 0 ? (int)line : m->line;
	m->page = page > 0 ? (int)page : m->page;
	if (!sched_getaffinity(0, sizeof cpus, &cpus))
		m->cores = CPU_COUNT(&cpus);
}

/* A part of a level that fits it with room, and none nearer. */
static size_t bytes_for(const Machine *m, int level)
{
	enum { MOST = 128 << 20 };
	int64_t n = level < 3 ? m->cache[level] / 2 : 3 * m->cache[2];
	n = level && level < 3 && n < 2 * m->cache[level - 1] ? m->cache[level] : n;
	return (size_t)(n < MOST ? n : MOST) & ~(size_t)255;
}

static double bytes_a_ns(const Memory *m)
{
	int again = (int)(4e6 / (double)m->n) + 1;
	return (double)m->n / least_time(read_all, m, again);
}

/* Other machines may have most of the last cache that the system names: as much of it counts as is
 * read in two thirds of the time that memory takes. */
static void find_share(Machine *m, const Memory *all)
{
	const double memory = bytes_a_ns(all);
	for (; m->cache[2] > 4 * m->cache[1]; m->cache[2] /= 2) {
		Memory part = {all->at, bytes_for(m, 2)};
		if (part.n < all->n && bytes_a_ns(&part) > 1.5 * memory)
			break;
	}
}

void machine_measure(Machine *m)
{
	Memory all;
	system_says(m);
	all.n = bytes_for(m, 3);
	all.at = xaligned(4096, all.n);
	memset(all.at, 1, all.n);
	find_share(m, &all);
	double cycle = least_time(count, &all, 20) / ROUNDS;
	set(&m->clock, 1000 / cycle);
	set(&m->ops, ROUNDS * CHAINS * cycle / least_time(add_apart, &all, 5));
	set(&m->latency, least_time(add_in_turn, &all, 5) / ROUNDS / cycle);
	for (int level = 0; level < 4; level++) {
		Memory part = {all.at, bytes_for(m, level)};
		set(&m->read[level], bytes_a_ns(&part));
	}
	set(&m->loads, m->read[0] * cycle / sizeof(Lanes));
	/* a multiply-add of a vector takes as long as an addition of one */
	double element = least_time(copy_half, &all, 1) / ((double)all.n / 2 / sizeof(float));
	set(&m->copy, element / cycle * m->ops * (sizeof(Lanes) / sizeof(float)));
	set(&m->spared, 1.25 * m->copy);
	/* threads that wait are there within a tenth of what a new one takes */
	set(&m->start, least_time(start_thread, &all, 20) / 10);
	free(all.at);
}
