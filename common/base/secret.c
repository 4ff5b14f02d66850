/* BLAKE2b, and the user's secret: 32 random bytes in a file of the user's own, made at first use.
 *
 *     $XDG_CONFIG_HOME/sluice/secret, or ~/.config/sluice/secret      -rw-------
 *
 * What is hashed with the secret can be made by this user's processes alone: the mark of a document
 * (common/io/mark.c), and the names and seals of the cache (run/build/cache.c). */
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(Hash) >= sizeof(crypto_generichash_state), "the state fits");
_Static_assert(sizeof(Digest) == crypto_generichash_BYTES, "BLAKE2b-256");

enum { FOLDER_MOST = 480 };
static struct {
	uint8_t bytes[32];
	bool looked, there;
	char why[640];          /* when it is not there */
} secret;

static void hash_start(Hash *h, const char *purpose, const uint8_t *key, size_t n)
{
	/* sodium_init would choose a way to hash, which takes longer than to hash a program */
	crypto_generichash_init((void *)h, key, n, sizeof(Digest));
	hash_add(h, purpose, strlen(purpose) + 1);
}

void hash_begin(Hash *h, const char *purpose) { hash_start(h, purpose, NULL, 0); }

bool hash_begin_secret(Hash *h, const char *purpose)
{
	if (secret_missing())
		return false;
	hash_start(h, purpose, secret.bytes, sizeof secret.bytes);
	return true;
}

void hash_add(Hash *h, const void *p, size_t n)
{
	crypto_generichash_update((void *)h, p, n);
}

Digest hash_end(Hash *h)
{
	Digest d;
	crypto_generichash_final((void *)h, d.b, sizeof d.b);
	return d;
}

Digest digest_of(const char *purpose, const void *p, size_t n)
{
	Hash h;
	hash_begin(&h, purpose);
	hash_add(&h, p, n);
	return hash_end(&h);
}

bool digest_same(const Digest *a, const Digest *b)
{
	return !sodium_memcmp(a->b, b->b, sizeof a->b);
}

DigestText digest_text(const Digest *d)
{
	DigestText t;
	sodium_bin2hex(t.s, sizeof t.s, d->b, sizeof d->b);
	return t;
}

/* ---- the user's own files */

int own_open(const char *path)
{
	struct stat st;

	if (process.opener)
		return process.opener(path, OPEN_OWN);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & 022) &&
		(st.st_uid == geteuid() || !st.st_uid))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

bool file_digest(int fd, const char *purpose, Digest *d)
{
	uint8_t piece[1 << 14];
	off_t at = 0;
	ssize_t n;
	Hash h;

	hash_begin(&h, purpose);
	for (; (n = pread(fd, piece, sizeof piece, at)) > 0; at += n)
		hash_add(&h, piece, n);
	*d = hash_end(&h);
	return n == 0;
}

/* ---- the file */

static bool missing(const char *path, const char *why)
{
	snprintf(secret.why, sizeof secret.why, "'%s': %s", path, why);
	return false;
}

static bool folder_make(const char *path)
{
	return !mkdir(path, 0700) || errno == EEXIST || missing(path, strerror(errno));
}

/* The folder of the user's settings, made when it is not there yet. */
static bool folder_find(char *path)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && xdg[0] == '/')
		n = snprintf(path, FOLDER_MOST, "%s", xdg);
	else if (home && home[0] == '/')
		n = snprintf(path, FOLDER_MOST, "%s/.config", home);
	else
		return missing("HOME", "names no folder");
	if (n >= FOLDER_MOST - 32)
		return missing(path, strerror(ENAMETOOLONG));
	if (!folder_make(path))
		return false;
	strcat(path, "/sluice");
	return folder_make(path);
}

/* A file that is complete before it gets its name, which link() gives to one process alone: two
 * that start at once agree. */
static bool file_make(const char *path)
{
	char temp[FOLDER_MOST + 32];
	uint8_t bytes[sizeof secret.bytes];
	int fd, why = 0;

	if (sodium_init() < 0)
		return missing(path, "libsodium does not start");
	snprintf(temp, sizeof temp, "%s.XXXXXX", path);
	randombytes_buf(bytes, sizeof bytes);
	if ((fd = mkostemp(temp, O_CLOEXEC)) < 0)
		return missing(path, strerror(errno));
	errno = ENOSPC;
	if (write(fd, bytes, sizeof bytes) != sizeof bytes || fsync(fd) ||
		(link(temp, path) && errno != EEXIST))
		why = errno;
	close(fd);
	unlink(temp);
	return !why || missing(path, strerror(why));
}

static bool file_read(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return missing(path, "is not a regular file");
	if (st.st_uid != geteuid())
		return missing(path, "belongs to another user");
	if (st.st_mode & 077)
		return missing(path, "others may read or write it (it has to have mode 600)");
	if (st.st_size != sizeof secret.bytes ||
		read(fd, secret.bytes, sizeof secret.bytes) != sizeof secret.bytes)
		return missing(path, "does not hold 32 bytes");
	return true;
}

static bool secret_find(void)
{
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	char path[FOLDER_MOST + 16];
	bool good;
	int fd;

	if (!folder_find(path))
		return false;
	strcat(path, "/secret");
	fd = open(path, FLAGS);
	if (fd < 0 && errno == ENOENT) {
		if (!file_make(path))
			return false;
		fd = open(path, FLAGS);
	}
	if (fd < 0)
		return missing(path, strerror(errno));
	good = file_read(fd, path);
	close(fd);
	return good;
}

const char *secret_missing(void)
{
	if (!secret.looked)
		secret.there = secret_find();
	secret.looked = true;
	return secret.there ? NULL : secret.why;
}
