/* Memory, growing arrays, string buffers, a hash map. */
#include "base/base.h"
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- malloc that does not fail */

_Noreturn void die_memory(const char *what, size_t n)
{
	size_t most = limits_memory(n);

	if (most)
		die(MALFORMED, "%s of %zu bytes: more than the limit of memory, %zu MB, allows "
			"(--limit mem=… or --no-limit raises it)", what, n, most >> 20);
	die(FAILED, "no memory for %s of %zu bytes", what, n);
}

static _Noreturn void no_memory(size_t n) { die_memory("a piece", n); }

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);
	if (!p)
		no_memory(n);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);
	if (!p)
		no_memory(n * size);
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		no_memory(n);
	return p;
}

void *xaligned(size_t align, size_t n)
{
	void *p = aligned_alloc(align, n / align * align + align);
	if (!p)
		die_memory("an array", n);
	return p;
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc((n = strnlen(s, n)) + 1);
	copy[n] = 0;
	return memcpy(copy, s, n);
}

char *xstrdup(const char *s) { return xstrndup(s, strlen(s)); }

/* Accesses to a large table are scattered: with large pages most of them hit the TLB. */
#ifdef __SANITIZE_ADDRESS__
#define LARGE SIZE_MAX          /* memory not from malloc is not watched */
#else
#define LARGE ((size_t)1 << 21)
#endif

void *pages_new(size_t n)
{
	if (n < LARGE)
		return xcalloc(1, n);
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		no_memory(n);
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}

void *pages_grow(void *p, size_t had, size_t n)
{
	if (n < LARGE)
		return xrealloc(p, n);
	void *grown = pages_new(n);
	memcpy(grown, p, had);
	pages_free(p, had);
	return grown;
}

void pages_free(void *p, size_t n)
{
	if (n < LARGE)
		free(p);
	else
		munmap(p, n);
}

static size_t number_in(const char *file)
{
	unsigned long long n = 0;
	FILE *f = fopen(file, "r");

	if (f && fscanf(f, "%llu", &n) != 1)
		n = 0;          /* "max" */
	if (f)
		fclose(f);
	return n ? n : SIZE_MAX;
}

size_t memory_most(void)
{
	size_t most = limits.machine;
	struct sysinfo s;

	if (most)
		return most;
	most = SIZE_MAX;
	if (!sysinfo(&s))
		most = ((size_t)s.totalram + s.totalswap) * s.mem_unit;
	size_t group = number_in("/sys/fs/cgroup/memory.max");
	size_t older = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
	most = group < most ? group : most;
	most = older < most ? older : most;
	return limits.machine = most;
}

/* ---- growing arrays and string buffers */

void vec_grow(void **at, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 8;
	*at = owned_grow(at, *at, *cap * size);
}

static void buf_room(Buf *b, size_t n)
{
	if (b->n + n + 1 <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : 64;
	while (cap < b->n + n + 1)
		cap *= 2;
	b->s = owned_grow(b, b->s, cap);
	b->cap = cap;
}

void buf_add(Buf *b, const void *bytes, size_t n)
{
	buf_room(b, n);
	if (n)
		memcpy(b->s + b->n, bytes, n);
	b->n += n;
	b->s[b->n] = 0;
}

void buf_vprintf(Buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	buf_room(b, 100);
	int n = vsnprintf(b->s + b->n, b->cap - b->n, fmt, ap);
	if ((size_t)n >= b->cap - b->n) {
		buf_room(b, n);
		vsnprintf(b->s + b->n, n + 1, fmt, again);
	}
	va_end(again);
	b->n += n;
}

void buf_printf(Buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

const char *buf_str(Buf *b)
{
	buf_room(b, 0);
	b->s[b->n] = 0;
	return b->s;
}

void buf_free(Buf *b)
{
	owned_free(b, b->s);
	*b = (Buf){0};
}

const char *buf_keep(Buf *b)
{
	const char *s = arena_strdup(buf_str(b));
	buf_free(b);
	return s;
}

/* ---- map: linear probing, a NULL value marks a free slot */

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}

static size_t map_slot(const Map *m, uint64_t key)
{
	size_t i = hash_mix(0, key) & (m->cap - 1);
	while (m->val[i] && m->key[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

void *map_get(const Map *m, uint64_t key)
{
	return m->cap ? m->val[map_slot(m, key)] : NULL;
}

/* Later entries of the run move up, or a search for them would end at the hole. */
static void map_remove(Map *m, uint64_t key)
{
	size_t mask = m->cap - 1, hole = m->cap ? map_slot(m, key) : 0;
	if (!m->cap || !m->val[hole])
		return;
	for (size_t i = (hole + 1) & mask; m->val[i]; i = (i + 1) & mask) {
		size_t home = hash_mix(0, m->key[i]) & mask;
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->key[hole] = m->key[i];
		m->val[hole] = m->val[i];
		hole = i;
	}
	m->val[hole] = NULL;
	m->n--;
}

void map_put(Map *m, uint64_t key, void *val)
{
	if (!val) {
		map_remove(m, key);
		return;
	}
	if (m->n * 2 >= m->cap) {
		Map old = *m;
		m->cap = old.cap ? old.cap * 2 : 16;
		m->key = owned_zeros(m, m->cap * sizeof *m->key);
		m->val = owned_zeros(m, m->cap * sizeof *m->val);
		for (size_t i = 0; i < old.cap; i++) {
			if (old.val[i]) {
				size_t k = map_slot(m, old.key[i]);
				m->key[k] = old.key[i];
				m->val[k] = old.val[i];
			}
		}
		owned_free(m, old.key);
		owned_free(m, old.val);
	}
	size_t i = map_slot(m, key);
	m->n += !m->val[i];
	m->key[i] = key;
	m->val[i] = val;
}

void map_free(Map *m)
{
	owned_free(m, m->key);
	owned_free(m, m->val);
	*m = (Map){0};
}

double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
