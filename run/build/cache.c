/* A cache of objects, keyed by content.
 *
 * A key is the BLAKE2b-256 of everything that determines an entry's content. The entry is a file
 * <cache>/ab/cdef….so, whose name is the hash of its key with the user's secret, so that nobody
 * else can tell it. The content is followed by a trailer: its length, a seal, and a mark; ELF and
 * PTX readers ignore it. The seal is a hash with the secret too: what this user's processes did not
 * write is not loaded. A file gets its name by link() or rename() when it is already complete, so a
 * reader sees all of it or nothing. Kernels that were compiled in one unit are hard links to one
 * file.
 *
 * An entry is opened once and used by its descriptor. One that is not right (another file's kind,
 * owner or mode, a seal that does not fit) is removed if that is possible, and passed by if not;
 * what cannot be stored is not. */
#include "build/build.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

typedef struct { uint64_t bytes, hi, lo; Digest seal; char mark[8]; } Trailer;
static const char mark[8] = "sluice2";

/* ---- keys */

Key key_start(const char *kind)
{
	return digest_of("key", kind, strlen(kind));
}

Key key_add(Key k, const void *p, size_t n)
{
	uint64_t length = n;
	Hash h;

	hash_begin(&h, "key");
	hash_add(&h, k.b, sizeof k.b);
	hash_add(&h, &length, sizeof length);
	hash_add(&h, p, n);
	return hash_end(&h);
}

Key key_adds(Key k, const char *s)
{
	return key_add(k, s, strlen(s));
}

/* ---- entries */

/* The path of an entry, whose folder is made if `make`; NULL when there is no cache. */
static const char *entry_path(Key k, const char *suffix, bool make)
{
	const char *folder = cache_folder();
	Hash h;

	if (!folder || !hash_begin_secret(&h, "entry"))
		return NULL;
	hash_add(&h, k.b, sizeof k.b);
	hash_add(&h, suffix, strlen(suffix));
	Digest name = hash_end(&h);
	DigestText t = digest_text(&name);
	if (make) {
		mkdir(folder, 0700);
		mkdir(arena_printf("%s/%.2s", folder, t.s), 0700);
	}
	return arena_printf("%s/%.2s/%s%s", folder, t.s, t.s + 2, suffix);
}

/* What is executed is sealed itself. Data may be large: what is sealed is its XXH3-128, which finds
 * what a disk or a user did to it. */
static bool is_data(const char *suffix) { return !strcmp(suffix, ".data"); }

static Trailer trailer_of(const char *suffix, const void *p, size_t n)
{
	XXH128_hash_t x = is_data(suffix) ? XXH3_128bits(p, n) : (XXH128_hash_t){0};
	Trailer t = {n, x.high64, x.low64};
	Hash h;

	memcpy(t.mark, mark, sizeof mark);
	if (!hash_begin_secret(&h, suffix))
		return t;
	hash_add(&h, &t, offsetof(Trailer, seal));
	hash_add(&h, p, is_data(suffix) ? 0 : n);
	t.seal = hash_end(&h);
	return t;
}

static bool trailer_fits(const char *suffix, const char *p, size_t n)
{
	Trailer t, is;

	memcpy(&t, p + n - sizeof t, sizeof t);
	if (t.bytes != n - sizeof t)
		return false;
	is = trailer_of(suffix, p, t.bytes);
	return is.hi == t.hi && is.lo == t.lo && digest_same(&is.seal, &t.seal);
}

static void entry_remove(const char *path)
{
	if (unlink(path))
		rmdir(path);
}

/* An entry's modification time says when it was last used, to within an hour. */
static void entry_used(int fd, const struct stat *st)
{
	enum { HOUR = 3600 };

	if (time(NULL) - st->st_mtime > HOUR)
		futimens(fd, NULL);
}

/* Opens an entry of at least that many bytes; -1 when there is none that is right. */
static int entry_open(const char *path, size_t bytes, struct stat *st)
{
	int fd = path ? own_open(path) : -1;

	if (fd >= 0 && !fstat(fd, st) && st->st_size >= (off_t)(bytes + sizeof(Trailer))) {
		entry_used(fd, st);
		return fd;
	}
	if (path && (fd >= 0 || errno == EPERM || errno == EACCES || errno == ELOOP ||
		errno == ENXIO))
		entry_remove(path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The whole entry, mapped and checked; NULL when it is not what was stored. */
static const char *entry_check(int fd, const char *suffix, size_t n)
{
	const char *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (trailer_fits(suffix, p, n))
		return p;
	munmap((void *)p, n);
	return NULL;
}

/* The object of an open entry of n bytes; NULL, and fd is closed, when its seal does not fit. */
static Object *entry_object(int fd, const char *suffix, size_t n)
{
	Object *o = object_held(fd);
	const char *p = o ? NULL : entry_check(fd, suffix, n);

	if (o)
		return o;
	if (!p) {
		close(fd);
		return NULL;
	}
	munmap((void *)p, n);
	return object_hold(fd, n - sizeof(Trailer));
}

Object *cache_object(Key k, const char *suffix, const char **path)
{
	struct stat st;
	Object *o;
	int fd;

	*path = entry_path(k, suffix, false);
	if ((fd = entry_open(*path, 0, &st)) < 0)
		return NULL;
	if (!(o = entry_object(fd, suffix, st.st_size)))
		entry_remove(*path);
	return o;
}

Object *cache_object_at(const char *path, const char *suffix)
{
	int fd = own_open(path);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size >= (off_t)sizeof(Trailer))
		return entry_object(fd, suffix, st.st_size);
	if (fd >= 0)
		close(fd);
	return NULL;
}

void cache_drop(Key k, const char *suffix)
{
	const char *path = entry_path(k, suffix, false);

	if (path)
		entry_remove(path);
}

const void *cache_read(Key k, const char *suffix, size_t *n)
{
	const char *path = entry_path(k, suffix, false), *p;
	struct stat st;
	int fd = entry_open(path, 0, &st);

	if (fd < 0)
		return NULL;
	if (!(p = entry_check(fd, suffix, st.st_size)))
		entry_remove(path);
	close(fd);
	*n = st.st_size - sizeof(Trailer);
	return p;
}

size_t cache_content(int fd, size_t n)
{
	char end[sizeof mark] = "";

	if (n < sizeof(Trailer) ||
		pread(fd, end, sizeof end, n - sizeof end) != (ssize_t)sizeof end)
		return n;
	return memcmp(end, mark, sizeof end) ? n : n - sizeof(Trailer);
}

/* ---- data */

enum { BYTES_A_NANOSECOND = 8 };        /* hashing speed */

/* Maps an entry of that many bytes, without checking it; NULL when there is none. */
static void *entry_map(const char *path, size_t bytes)
{
	struct stat st;
	int fd = entry_open(path, bytes, &st);
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if ((size_t)st.st_size == bytes + sizeof(Trailer))
		p = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd,
			0);
	close(fd);
	if (p == MAP_FAILED)
		entry_remove(path);
	return p == MAP_FAILED ? NULL : p;
}

/* A launch of the thread pool, whose items are entries to check. */
static void entries_check(void *const *bufs, const int64_t *leave, int64_t from, int64_t to)
{
	void *const *at = bufs[0];
	const size_t *bytes = bufs[1];
	bool *good = bufs[2];

	for (int64_t i = from; i < to; i++) {
		good[i] = !at[i] || trailer_fits(bufs[3], at[i], bytes[i] + sizeof(Trailer));
		if (at[i] && *leave)
			pages_drop(at[i], bytes[i]);
	}
}

/* A launch whose items are n entries of `all` bytes. */
static void entries_share(
	Items items, void *const *bufs, bool leave, size_t n, size_t all, int threads)
{
	const int64_t vars[] = {leave};
	Share s = pool_share(n, all / (n ? n : 1) / BYTES_A_NANOSECOND, threads);

	s.chunk = 1;
	s.wake = true;
	bool started = s.threads > 1 && pool_start(s.threads);
	pool_run(items, bufs, vars, n, &s);
	if (started)
		pool_stop();
}

void cache_map(size_t n, const Key *key, const char *suffix, const size_t *bytes, void **at,
	bool leave, int threads)
{
	bool *good = arena_alloc(n + 1);
	void *bufs[] = {at, (void *)bytes, good, (void *)suffix};
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		at[i] = entry_map(entry_path(key[i], suffix, false), bytes[i]);
		all += at[i] ? bytes[i] : 0;
	}
	entries_share(entries_check, bufs, leave, n, all, threads);
	for (size_t i = 0; i < n; i++)
		if (!good[i]) {
			cache_unmap(at[i], bytes[i]);
			at[i] = NULL;
			cache_drop(key[i], suffix);
		}
}

void cache_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes + sizeof(Trailer));
}

/* ---- storing */

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

/* Writes the whole entry to a temporary file, or none: tmp may be NULL. */
static bool entry_write(const char *tmp, const void *p, size_t bytes, const Trailer *t)
{
	int fd = !tmp ? -1 : open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write_all(fd, p, bytes) && write_all(fd, t, sizeof *t);

	if (fd >= 0 && close(fd))
		good = false;
	if (!good && tmp)
		unlink(tmp);
	return good;
}

/* Another process was first, and its entry is as good. */
static bool is_entry(const char *path)
{
	int fd = own_open(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* An entry under its name, which a file system without links gives to a copy. */
static bool copy_name(const char *path, const void *p, size_t bytes, const Trailer *t)
{
	const char *tmp = cache_beside("new");

	if (!entry_write(tmp, p, bytes, t))
		return false;
	if (!rename(tmp, path))
		return true;
	unlink(tmp);
	return false;
}

void cache_store(size_t n, const Key *keys, const char *suffix, const void *p, size_t bytes,
	const char **path)
{
	Trailer t = trailer_of(suffix, p, bytes);
	const char *tmp = cache_folder() ? cache_beside("new") : NULL;
	bool written = entry_write(tmp, p, bytes, &t);

	for (size_t i = 0; i < n; i++) {
		path[i] = written ? entry_path(keys[i], suffix, true) : NULL;
		if (path[i] && link(tmp, path[i]) && (errno == EEXIST ? !is_entry(path[i]) :
			!copy_name(path[i], p, bytes, &t)))
			path[i] = NULL;
	}
	if (!written)
		return;
	unlink(tmp);
	cache_grown(cache_folder(), bytes, cache_limit());
}

/* A launch whose items are entries to write. */
static void entries_write(void *const *bufs, const int64_t *vars, int64_t from, int64_t to)
{
	const void *const *p = bufs[0];
	const size_t *bytes = bufs[1];
	const char *const *tmp = bufs[2];
	bool *good = bufs[3];

	(void)vars;
	for (int64_t i = from; i < to; i++) {
		Trailer t = trailer_of(bufs[4], p[i], bytes[i]);
		good[i] = entry_write(tmp[i], p[i], bytes[i], &t);
	}
}

void cache_keep(size_t n, const Key *key, const char *suffix, const void *const *p,
	const size_t *bytes, void **at, int threads)
{
	const char **path = arena_alloc((n + 1) * sizeof *path);
	const char **tmp = arena_alloc((n + 1) * sizeof *tmp);
	bool *good = arena_alloc(n + 1);
	void *bufs[] = {(void *)p, (void *)bytes, tmp, good, (void *)suffix};
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < n; i++) {
		path[i] = entry_path(key[i], suffix, true);
		tmp[i] = path[i] ? cache_beside("new") : NULL;
		all += bytes[i];
	}
	entries_share(entries_write, bufs, false, n, all, threads);
	for (size_t i = 0; i < n; i++) {
		at[i] = good[i] ? entry_map(tmp[i], bytes[i]) : NULL;
		kept += good[i] ? bytes[i] : 0;
		if (good[i] && rename(tmp[i], path[i]))
			unlink(tmp[i]);
	}
	if (kept)
		cache_grown(cache_folder(), kept, cache_limit());
}
