/* Keeps the cache folder within its size limit by removing the least recently used entries.
 *
 * The length of the file <cache>/grown counts what was stored since the last pruning, a byte for
 * each 64 KiB, because processes can append to it concurrently. When that reaches a sixteenth of
 * the limit, one process scans the whole folder. An entry used within the last ten minutes always
 * stays: another process may be about to load it. */
#include "build/build.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 64 << 10, RECENT = 600 };

typedef struct { char dir[3]; char *name; time_t used; ino_t ino; int64_t bytes; } CacheEntry;
typedef VEC(CacheEntry) Entries;

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

static void entries_read(int folder, const char *dir, Entries *all)
{
	int fd = openat(folder, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		CacheEntry new = {.used = st.st_mtime, .ino = st.st_ino, .bytes = st.st_size};
		new.name = xstrdup(e->d_name);
		memcpy(new.dir, dir, 3);
		vec_push(all, new);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* By time of last use; the names of one file are adjacent. */
static int by_use(const void *a, const void *b)
{
	const CacheEntry *x = a, *y = b;

	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static bool starts_file(const Entries *all, size_t i)
{
	return !i || all->at[i].ino != all->at[i - 1].ino;
}

static void remove_oldest(int folder, Entries *all, int64_t limit)
{
	time_t now = time(NULL);
	int64_t total = 0;

	qsort(all->at, all->n, sizeof *all->at, by_use);
	for (size_t i = 0; i < all->n; i++)
		total += starts_file(all, i) ? all->at[i].bytes : 0;
	if (total <= limit)
		return;
	for (size_t i = 0; i < all->n && now - all->at[i].used > RECENT; i++) {
		/* go down to three quarters of the limit, so that pruning is rare */
		if (starts_file(all, i) && total <= limit - limit / 4)
			break;
		total -= starts_file(all, i) ? all->at[i].bytes : 0;
		unlinkat(folder, arena_printf("%s/%s", all->at[i].dir, all->at[i].name), 0);
	}
}

static void prune(const char *path, int64_t limit)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = folder < 0 ? NULL : fdopendir(folder);
	struct dirent *e;
	Entries all = {0};

	while (d && (e = readdir(d)))
		if (is_hex(e->d_name[0]) && is_hex(e->d_name[1]) && !e->d_name[2])
			entries_read(folder, e->d_name, &all);
	if (d)
		remove_oldest(folder, &all, limit);
	for (size_t i = 0; i < all.n; i++)
		free(all.at[i].name);
	vec_free(&all);
	if (d)
		closedir(d);
	else if (folder >= 0)
		close(folder);
}

void cache_grown(const char *folder, size_t bytes, int64_t limit)
{
	static const char units[4096];
	const char *path = arena_printf("%s/grown", folder);
	size_t n = bytes / UNIT + 1;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		0600);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		unlink(path);
		close(fd);
		return;
	}
	for (size_t put; n; n -= put) {
		put = n < sizeof units ? n : sizeof units;
		if (write(fd, units, put) != (ssize_t)put)
			break;
	}
	if (!fstat(fd, &st) && st.st_size > limit / 16 / UNIT && !flock(fd, LOCK_EX | LOCK_NB)) {
		prune(folder, limit);
		if (ftruncate(fd, 0))
			unlink(path);
	}
	close(fd);
}
