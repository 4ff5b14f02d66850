/* Preloaded into a tool: the K-th allocation of its process fails, FAIL_ALLOC=K; or the K-th write
 * stores half of its bytes, SHORT_WRITE=K; or it fails as on a full disk, FULL_WRITE=K. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static long left(const char *name)
{
	const char *s = getenv(name);
	return s ? atol(s) : -1;
}

/* Counts a call; true for the one that is to fail. */
static int due(long *n, const char *name)
{
	if (*n == -2)
		*n = left(name);
	return *n > 0 && --*n == 0;
}

static long allocations = -2, half = -2, full = -2;

void *malloc(size_t n)
{
	static void *(*next)(size_t);
	if (!next)
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	if (due(&allocations, "FAIL_ALLOC")) {
		errno = ENOMEM;
		return NULL;
	}
	return next(n);
}

void *realloc(void *p, size_t n)
{
	static void *(*next)(void *, size_t);
	if (!next)
		next = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	if (due(&allocations, "FAIL_ALLOC")) {
		errno = ENOMEM;
		return NULL;
	}
	return next(p, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	if (!next)
		next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	if (due(&allocations, "FAIL_ALLOC")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return next(at, n, prot, flags, fd, offset);
}

ssize_t write(int fd, const void *p, size_t n)
{
	static ssize_t (*next)(int, const void *, size_t);
	if (!next)
		next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (fd != 2 && due(&full, "FULL_WRITE")) {
		errno = ENOSPC;
		return -1;
	}
	return next(fd, p, fd != 2 && n > 1 && due(&half, "SHORT_WRITE") ? n / 2 : n);
}
