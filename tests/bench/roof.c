/* The limits of this machine with a number of threads: multiply-adds a second in f32, and bytes a
 * second read, copied and written, by the size of what is touched.
 *
 *     roof 2
 *     2 threads: 412 GFLOP/s
 *      256 MiB: read 62.1  copy 54.3  write 40.0 GB/s
 *
 * --json gives the same for a program.  Only vector types are used, of the widest registers that
 * the compiler was told of (-march=native), and stores past the caches where the compiler or the
 * assembler has them.  Each figure is the best of several. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined __clang__ && defined __AVX512F__
#define WIDEST __attribute__((min_vector_width(512)))    /* it prefers halves */
#else
#define WIDEST
#endif
#if defined __AVX512F__
enum { WIDTH = 64 };
#elif defined __AVX__
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef float vec __attribute__((vector_size(WIDTH), aligned(WIDTH), may_alias));
enum { LANES = WIDTH / 4, SUMS = 12, MOST = 256, LEAST_MS = 20 };

typedef struct {
	int id, of;
	char *from, *to;
	size_t bytes, repeat;      /* of the whole; each thread takes its part */
	double begin, end;
	void (*work)(char *to, const char *from, size_t n);
} Part;

static pthread_barrier_t together;
static volatile float used;        /* what is computed ends here */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double lesser(double a, double b) { return a < b ? a : b; }

WIDEST static inline void past_caches(vec *to, vec v)
{
#if defined __clang__
	__builtin_nontemporal_store(v, to);
#elif defined __AVX__
	__asm__ volatile("vmovntps %1, %0" : "=m"(*to) : "v"(v));
#elif defined __SSE__
	__asm__ volatile("movntps %1, %0" : "=m"(*to) : "x"(v));
#else
	*to = v;
#endif
}

/* ---- what is timed; n bytes each, except the first, where n counts rounds */

WIDEST static void multiply_add(char *to, const char *from, size_t n)
{
	const vec x = *(const vec *)from, y = x * 1e-6f;
	vec s[SUMS];

#pragma GCC unroll 12
	for (int k = 0; k < SUMS; k++)
		s[k] = x * (float)k;
	for (size_t i = 0; i < n; i++)
#pragma GCC unroll 12
		for (int k = 0; k < SUMS; k++)
			s[k] = s[k] * x + y;
	for (int k = 1; k < SUMS; k++)
		s[0] += s[k];
	used = s[0][0];
}

WIDEST static void read_all(char *to, const char *from, size_t n)
{
	const vec *v = (const vec *)from;
	vec s[8] = {0};

	for (size_t i = 0; i + 8 <= n / sizeof *v; i += 8)
#pragma GCC unroll 8
		for (int k = 0; k < 8; k++)
			s[k] += v[i + k];
	for (int k = 1; k < 8; k++)
		s[0] += s[k];
	used = s[0][0];
}

WIDEST static void copy_cached(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n / sizeof(vec); i++)
		((vec *)to)[i] = ((const vec *)from)[i];
}

WIDEST static void copy_past(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n / sizeof(vec); i++)
		past_caches((vec *)to + i, ((const vec *)from)[i]);
}

WIDEST static void write_cached(char *to, const char *from, size_t n)
{
	vec v = *(const vec *)from;
	for (size_t i = 0; i < n / sizeof v; i++)
		((vec *)to)[i] = v;
}

WIDEST static void write_past(char *to, const char *from, size_t n)
{
	vec v = *(const vec *)from;
	for (size_t i = 0; i < n / sizeof v; i++)
		past_caches((vec *)to + i, v);
}

/* ---- threads */

static void pin(int k)
{
	cpu_set_t all, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof all, &all))
		return;
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &all) && !k--)
			CPU_SET(c, &one);
	if (CPU_COUNT(&one))
		sched_setaffinity(0, sizeof one, &one);
}

static void *part_run(void *arg)
{
	Part *p = arg;
	size_t share = p->bytes / p->of / 4096 * 4096, at = share * p->id;

	pin(p->id);
	pthread_barrier_wait(&together);
	p->begin = now();
	for (size_t r = 0; r < p->repeat; r++)
		p->work(p->to + at, p->from + at, p->work == multiply_add ? p->bytes : share);
	p->end = now();
	return NULL;
}

/* Seconds for `repeat` times all the bytes, from the first thread's begin to the last one's end. */
static double elapsed(Part all, int threads)
{
	pthread_t id[MOST];
	Part part[MOST];
	double begin = 1e300, end = 0;

	pthread_barrier_init(&together, NULL, threads);
	for (int k = 0; k < threads; k++) {
		part[k] = all;
		part[k].id = k;
		part[k].of = threads;
		if (pthread_create(&id[k], NULL, part_run, &part[k]))
			exit(1);
	}
	for (int k = 0; k < threads; k++) {
		pthread_join(id[k], NULL);
		begin = lesser(part[k].begin, begin);
		end = -lesser(-part[k].end, -end);
	}
	pthread_barrier_destroy(&together);
	return end - begin;
}

/* The least seconds of once all the bytes: repeated until it can be timed, best of five. */
static double least(Part all, int threads)
{
	double best = 1e9, t;

	for (all.repeat = 1; elapsed(all, threads) < LEAST_MS / 1e3; all.repeat *= 2)
		;
	for (int k = 0; k < 5; k++)
		if ((t = elapsed(all, threads) / all.repeat) < best)
			best = t;
	return best;
}

static char *memory(size_t bytes, int value)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		perror("roof");
		exit(1);
	}
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, value, bytes);
	return p;
}

static void multiply_adds(int json, int threads, char *from, char *to)
{
	enum { ROUNDS = 1 << 20 };
	Part all = {.from = from, .to = to, .bytes = ROUNDS, .work = multiply_add};
	double flops = 2.0 * threads * ROUNDS * SUMS * LANES / least(all, threads);

	printf(json ? "{\"threads\": %d, \"gflops\": %.1f, \"memory\": [" :
		      "%d threads: %.0f GFLOP/s\n",
		threads, 1e-9 * flops);
}

static void bytes(int json, int threads, char *from, char *to, size_t mib, const char *before)
{
	Part all = {.from = from, .to = to, .bytes = mib << 20};
	double once[5];
	void (*const work[5])(char *, const char *, size_t) = {
		read_all, copy_cached, copy_past, write_cached, write_past};

	for (int w = 0; w < 5; w++) {
		all.work = work[w];
		once[w] = least(all, threads);
	}
	printf(json ? "%s{\"mib\": %zu, \"read\": %.1f, \"copy\": %.1f, \"write\": %.1f}"
		: "%s%5zu MiB: read %.1f  copy %.1f  write %.1f GB/s\n", before, mib,
		1e-9 * all.bytes / once[0], 2e-9 * all.bytes / lesser(once[1], once[2]),
		1e-9 * all.bytes / lesser(once[3], once[4]));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const size_t mib[] = {1, 4, 16, 64, 256};
	enum { SIZES = sizeof mib / sizeof *mib };
	int json = argc > 1 && !strcmp(argv[1], "--json");
	int threads = argc > 1 + json ? atoi(argv[1 + json]) : 1;
	char *from, *to;

	if (threads < 1 || threads > MOST) {
		fputs("usage: roof [--json] THREADS\n", stderr);
		return 2;
	}
	from = memory(mib[SIZES - 1] << 20, 0x3f);          /* a number near 0.75 in each place */
	to = memory(mib[SIZES - 1] << 20, 0);
	multiply_adds(json, threads, from, to);
	for (size_t k = 0; k < SIZES; k++)
		bytes(json, threads, from, to, mib[k], json && k ? ", " : "");
	if (json)
		puts("]}");
	return 0;
}
