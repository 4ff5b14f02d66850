/* A cache of objects, keyed by content.
 *
 * An entry is a file <cache>/ab/cdef….so whose name is the XXH3-128 of everything that determines
 * its content. The content is followed by a trailer of 32 bytes: the content's length, its
 * XXH3-128, and a mark; ELF and PTX readers ignore it. A file gets its name by link() or rename()
 * when it is already complete, so a reader sees all of it or nothing. A file whose trailer does not
 * match its content is removed and built again. Kernels that were compiled in one unit are hard
 * links to one file.
 *
 * The folder is $XDG_CACHE_HOME/sluice or ~/.cache/sluice. If neither can be written, a folder that
 * is removed when the process exits takes its place. */
#include "io/io.h"
#include "build/build.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

typedef struct { uint64_t bytes, hi, lo; char mark[8]; } Trailer;
static const char mark[8] = "sluice1";

Key key_start(const char *kind)
{
	return key_adds((Key){ 0, 1 }, kind);
}

Key key_add(Key k, const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);
	uint64_t all[5] = { k.hi, k.lo, h.high64, h.low64, n };
	h = XXH3_128bits(all, sizeof all);
	return (Key){ h.high64, h.low64 };
}

Key key_adds(Key k, const char *s)
{
	return key_add(k, s, strlen(s));
}

KeyText key_text(Key k)
{
	KeyText t;
	snprintf(t.s, sizeof t.s, "%016llx%016llx", (unsigned long long)k.hi,
		(unsigned long long)k.lo);
	return t;
}

/* ---- folders */

/* The folders ("" while there is none) and their content. */
static struct {
	char folder[512];
	bool looked;            /* the folder has been looked for */
	char scratch[512];      /* the temporary folder of this process */
	int made;               /* how many files it has had */
	Map whole;              /* inodes of checked entries: those of one unit are checked once */
} cache;

/* Removes what processes left that were killed while compiling. */
static void scratch_sweep(const char *folder)
{
	enum { HOUR = 3600 };
	DIR *d = opendir(folder);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "tmp.", 4) &&
			!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISDIR(st.st_mode) && time(NULL) - st.st_mtime > HOUR)
			folder_remove(arena_printf("%s/%s", folder, e->d_name));
	if (d)
		closedir(d);
}

static bool scratch_make(const char *under)
{
	size_t most = sizeof cache.scratch;
	if ((size_t)snprintf(cache.scratch, most, "%s/tmp.XXXXXX", under) < most &&
		mkdtemp(cache.scratch)) {
		leftover_add(cache.scratch, true);
		return true;
	}
	cache.scratch[0] = 0;
	return false;
}

static bool folder_make(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The cache folder, or NULL when none can be written. Found once. */
static const char *cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = cache.folder;
	int n;

	if (cache.looked)
		return path[0] ? path : NULL;
	cache.looked = true;
	if (xdg && xdg[0] == '/')
		n = snprintf(path, sizeof cache.folder, "%s", xdg);
	else
		n = snprintf(
			path, sizeof cache.folder, "%s/.cache", home && home[0] == '/' ? home : "");
	if (n <= 0 || (size_t)n + 64 > sizeof cache.folder || (!xdg && !home) || !folder_make(path))
		return path[0] = 0, NULL;
	strcpy(path + n, "/sluice");
	if (!folder_make(path) || access(path, W_OK | X_OK))
		path[0] = 0;
	return path[0] ? path : NULL;
}

const char *cache_scratch(void)
{
	const char *folder = cache_folder(), *tmp = getenv("TMPDIR");

	if (cache.scratch[0])
		return cache.scratch;
	if (folder)
		scratch_sweep(folder);
	if (folder && scratch_make(folder))
		return cache.scratch;
	if (!scratch_make(tmp && tmp[0] == '/' ? tmp : "/tmp"))
		die_errno("cannot make a folder for objects in '%s'", tmp ? tmp : "/tmp");
	return cache.scratch;
}

const char *cache_new(const char *stem)
{
	return arena_printf("%s/%s-%d", cache_scratch(), stem, cache.made++);
}

static const char *entry_path(Key k, const char *suffix, bool make)
{
	const char *folder = cache_folder();
	KeyText t = key_text(k);
	char *path;

	if (!folder)
		return cache.scratch[0] || make ?
			arena_printf("%s/%s%s", cache_scratch(), t.s, suffix) : NULL;
	path = arena_printf("%s/%.2s", folder, t.s);
	if (make)
		mkdir(path, 0700);
	return arena_printf("%s/%s%s", path, t.s + 2, suffix);
}

const char *cache_where(void) { return cache_folder(); }

bool cache_owns(const char *path)
{
	const char *folder = cache_folder();
	size_t n = folder ? strlen(folder) : 0;

	return n && !strncmp(path, folder, n) && path[n] == '/';
}

/* SLUICE_CACHE_SIZE is "4G", "500M" or "1000000"; 4 GiB when it is not set. */
int64_t cache_limit(void)
{
	static const char units[] = "KMGT";
	const char *text = getenv("SLUICE_CACHE_SIZE"), *unit;
	char *end;
	int64_t bytes = 4;
	int shift = 30;

	if (!cache_folder())
		return 0;
	if (text && *text) {
		errno = 0;
		bytes = strtoll(text, &end, 10);
		unit = *end ? strchr(units, *end) : NULL;
		shift = unit ? 10 * (int)(unit - units + 1) : 0;
		if (errno || end == text || bytes < 0 || (*end && (!unit || end[1])))
			die(USAGE,
				"SLUICE_CACHE_SIZE takes a number of bytes, 500M or 4G, not "
				"'%.40s'",
				text);
	}
	return mul_ok(bytes, (int64_t)1 << shift, &bytes) ? bytes : INT64_MAX;
}

/* ---- entries */

static Trailer trailer_of(const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);
	Trailer t = { n, h.high64, h.low64, "" };

	memcpy(t.mark, mark, sizeof mark);
	return t;
}


static bool trailer_fits(const char *p, size_t n)
{
	Trailer t, is;

	memcpy(&t, p + n - sizeof t, sizeof t);
	if (t.bytes != n - sizeof t)
		return false;
	is = trailer_of(p, t.bytes);
	return !memcmp(&is, &t, sizeof t);
}

static bool entry_stat(int fd, struct stat *st)
{
	return !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size >= (off_t)sizeof(Trailer) &&
		st->st_uid == geteuid();
}

/* An entry's modification time says when it was last used, to within an hour. */
static void entry_used(int fd, const struct stat *st)
{
	enum { HOUR = 3600 };

	if (time(NULL) - st->st_mtime > HOUR)
		futimens(fd, NULL);
}

static bool entry_whole(int fd)
{
	struct stat st;
	const char *p;
	bool good;

	if (!entry_stat(fd, &st))
		return false;
	entry_used(fd, &st);
	if (map_get(&cache.whole, hash_mix(st.st_ino, st.st_dev)))
		return true;
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	good = trailer_fits(p, st.st_size);
	munmap((void *)p, st.st_size);
	if (good)
		map_put(&cache.whole, hash_mix(st.st_ino, st.st_dev), (void *)mark);
	return good;
}

const char *cache_find(Key k, const char *suffix)
{
	const char *path = entry_path(k, suffix, false);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	bool good;

	if (fd < 0)
		return NULL;
	good = entry_whole(fd);
	close(fd);
	if (!good)
		unlink(path);
	return good ? path : NULL;
}

enum { BYTES_A_NANOSECOND = 8 };        /* hashing speed */

/* Maps an entry of that many bytes, without checking it; NULL when there is none. */
static void *entry_map(const char *path, size_t bytes)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (entry_stat(fd, &st) && (size_t)st.st_size == bytes + sizeof(Trailer))
		p = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd,
			0);
	if (p != MAP_FAILED)
		entry_used(fd, &st);
	close(fd);
	if (p == MAP_FAILED)
		unlink(path);
	return p == MAP_FAILED ? NULL : p;
}

/* A launch of the thread pool, whose items are entries to check. */
static void entries_check(void *const *bufs, const int64_t *leave, int64_t from, int64_t to)
{
	void *const *at = bufs[0];
	const size_t *bytes = bufs[1];
	bool *good = bufs[2];

	for (int64_t i = from; i < to; i++) {
		good[i] = !at[i] || trailer_fits(at[i], bytes[i] + sizeof(Trailer));
		if (at[i] && *leave)
			pages_drop(at[i], bytes[i]);
	}
}

void cache_map(size_t n, const Key *key, const char *suffix, const size_t *bytes, void **at,
	bool leave, int threads)
{
	bool *good = arena_alloc(n + 1);
	void *bufs[] = {at, (void *)bytes, good};
	const int64_t vars[] = {leave};
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		at[i] = entry_map(entry_path(key[i], suffix, false), bytes[i]);
		all += at[i] ? bytes[i] : 0;
	}
	Share s = pool_share(n, all / (n ? n : 1) / BYTES_A_NANOSECOND, threads);
	s.chunk = 1;
	s.wake = true;
	if (s.threads > 1)
		pool_start(s.threads);
	pool_run(entries_check, bufs, vars, n, &s);
	if (s.threads > 1)
		pool_stop();
	for (size_t i = 0; i < n; i++)
		if (!good[i]) {
			cache_unmap(at[i], bytes[i]);
			at[i] = NULL;
			unlink(entry_path(key[i], suffix, false));
		}
}

void cache_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes + sizeof(Trailer));
}

static bool write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= k;
	}
	return true;
}

/* Writes the whole entry under a temporary name; returns false and sets errno when it cannot be
 * written. */
static bool entry_try(const void *p, size_t bytes, const Trailer *t, const char **tmp)
{
	*tmp = cache_new("new");
	int fd = open(*tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), why;
	bool good = fd >= 0 && write_all(fd, p, bytes) && write_all(fd, t, sizeof *t);

	if (fd >= 0 && close(fd))
		good = false;
	if (!good && fd >= 0) {
		why = errno;
		unlink(*tmp);
		errno = why;
	}
	return good;
}

static const char *entry_write(const void *p, size_t bytes, const Trailer *t)
{
	const char *tmp;

	if (!entry_try(p, bytes, t, &tmp))
		die_errno("cannot write '%s'", tmp);
	return tmp;
}

const char *cache_store(size_t n, const Key *keys, const char *suffix, const void *p, size_t bytes)
{
	Trailer t = trailer_of(p, bytes);
	const char *tmp = entry_write(p, bytes, &t), *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *path = entry_path(keys[i], suffix, true);
		/* EEXIST: another process was first, and its entry is as good. Other errors: a file
		 * system without links. */
		if (link(tmp, path) && errno != EEXIST && rename(entry_write(p, bytes, &t), path))
			die_errno("cannot write '%s'", path);
		if (i == 0)
			first = path;
	}
	unlink(tmp);
	if (cache_folder())
		cache_grown(cache_folder(), bytes, cache_limit());
	return first;
}

void *cache_keep(Key k, const char *suffix, const void *p, size_t bytes)
{
	Trailer t = trailer_of(p, bytes);
	const char *tmp, *path = entry_path(k, suffix, true);
	void *at;

	if (!cache_folder() || !entry_try(p, bytes, &t, &tmp))
		return NULL;
	at = entry_map(tmp, bytes);
	if (rename(tmp, path))
		unlink(tmp);
	cache_grown(cache_folder(), bytes, cache_limit());
	return at;
}

const void *cache_read(const char *path, size_t *n)
{
	const char *p = file_map(path, n);

	if (*n >= sizeof(Trailer) && !memcmp(p + *n - sizeof mark, mark, sizeof mark))
		*n -= sizeof(Trailer);
	return p;
}
