/* What this machine's processor is like, measured: caches by what the system says (of the last one,
 * as much as is read faster than memory), times by loops that do one thing. Each is the best of a
 * few runs, since other work only makes them longer. */
#include "target/target.h"
#include "machine/loops.h"
#include <sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { TURNS = 8, TIMES = 6, STEPS = 8, FAR_TURNS = 2 };

/* ---- loops */

/* Additions each of which waits for the one before: one cycle each. */
static void count(const Memory *m)
{
	int64_t x = (int64_t)m->n;
	for (int i = 0; i < ROUNDS / STEPS; i++)
#pragma GCC unroll 8
		for (int k = 0; k < STEPS; k++) {
			x += i;
			__asm__ volatile("" : "+r"(x)); /* or it would be a product */
		}
	m->at[0] = (char)x;
}

static void copy_half(const Memory *m) { memcpy(m->at, m->at + m->n / 2, m->n / 2); }

static void *nothing(void *of) { return of; }

static void start_thread(const Memory *m)
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
}

/* The least time of a call, in nanoseconds, among some runs of `again` calls, and *least. */
static double run_again(double *least, void (*fn)(const Memory *), const Memory *m, int again)
{
	for (int i = 0; i < TIMES; i++) {
		double begin = now_ms();
		for (int k = 0; k < again; k++)
			fn(m);
		double spent = (now_ms() - begin) * 1e6 / again;
		if (*least <= 0 || spent < *least)
			*least = spent;
	}
	return *least;
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
	long ways = sysconf(_SC_LEVEL2_CACHE_ASSOC);
	m->line = line > 0 ? (int)line : m->line;
	m->page = page > 0 ? (int)page : m->page;
	m->ways = ways > 0 && ways <= 1024 ? (int)ways : m->ways;
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

/* How long a read of all of it takes, and how often that is done. */
static double run_read(double *least, const Loops *l, const Memory *m)
{
	return run_again(least, l->read_all, m, (int)(4e6 / (double)m->n) + 1);
}

/* Other machines may have most of the last cache that the system names: as much of it counts as is
 * read in three quarters of the time that memory takes. */
static void find_share(Machine *m, const Loops *l, const Memory *all)
{
	double whole = 0;
	run_read(&whole, l, all);
	for (; m->cache[2] > 4 * m->cache[1]; m->cache[2] /= 2) {
		Memory part = {all->at, bytes_for(m, 2)};
		double spent = 0;
		if (part.n < all->n && run_read(&spent, l, &part) / (double)part.n <
				0.75 * whole / (double)all->n)
			break;
	}
}

/* Each loop in its turn, again and again: what else the machine does comes and goes. */
void machine_measure(Machine *m)
{
	const Loops *l = loops_native();
	double cycle = 0, apart = 0, in_turn = 0, copied = 0, started = 0, read[4] = {0}, runs = 0;
	Memory all, part[4];
	system_says(m);
	all.n = bytes_for(m, 3);
	all.at = xaligned(4096, all.n);
	memset(all.at, 1, all.n);
	find_share(m, l, &all);
	for (int turn = 0; turn < TURNS; turn++) {
		run_again(&cycle, count, &all, 20);
		run_again(&apart, l->mulacc_apart, &all, 5);
		run_again(&in_turn, l->mulacc_in_turn, &all, 5);
		run_again(&started, start_thread, &all, 20);
		for (int level = 0; level < 3; level++) {
			part[level] = (Memory){all.at, bytes_for(m, level)};
			run_read(&read[level], l, &part[level]);
		}
	}
	part[3] = all;
	for (int turn = 0; turn < FAR_TURNS; turn++) {
		run_read(&read[3], l, &all);
		run_again(&runs, l->read_runs, &all, 1);
	}
	run_again(&copied, copy_half, &all, 1);
	cycle /= ROUNDS;
	set(&m->clock, 1000 / cycle);
	set(&m->ops, ROUNDS * CHAINS * cycle / apart);
	set(&m->latency, in_turn / ROUNDS / cycle);
	for (int level = 0; level < 4; level++)
		set(&m->read[level], (double)part[level].n / read[level]);
	set(&m->runs, (double)all.n / runs);
	/* a whole number of them: what else there is only takes away from it */
	set(&m->loads, (double)part[0].n / read[0] * cycle / l->bytes + 0.4);
	double element = copied / ((double)all.n / 2 / sizeof(float));
	double products = m->ops * (l->bytes / sizeof(float)) / cycle;  /* in a nanosecond */
	set(&m->copy, element * products);
	/* those of the time in which a constant comes from memory, and half as many for what waits
	 * for it: 3×3 at 14×14 spares 44, 0.55 ms instead of 0.80 where this is 41 */
	set(&m->spared, 1.5 * products * sizeof(float) / m->read[3]);
	/* threads that wait are there within a tenth of what a new one takes */
	set(&m->start, started / 10);
	free(all.at);
}
