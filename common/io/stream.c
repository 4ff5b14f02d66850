/* Documents in and out: standard input and output, files, endpoints.
 *
 * A regular file is mapped. Input from a pipe or an endpoint is returned document by document, each
 * as soon as it is complete, however the bytes are divided into reads. Output is written only when
 * a document is complete, so a stage writes nothing but whole documents. */
#include "io/io.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 1 << 16, PIPE_SIZE = 1 << 20 };

struct Stream {
	const char *name;
	int fd;
	void *endpoint;
	bool mapped, ended;
	uint8_t *p;                     /* bytes start … n-1 are not used yet */
	size_t start, n, cap;
	uint64_t before;                /* bytes of the stream before p */
	WireScan scan;                  /* of the document at start */
	size_t count;
};

/* ---- reading */

static void wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	poll(&p, 1, -1);
}

static size_t read_some(int fd, void *to, size_t n)
{
	for (;;) {
		ssize_t got = read(fd, to, n);
		if (got >= 0)
			return got;
		if (errno == EAGAIN)
			wait_for(fd, POLLIN);
		else if (errno != EINTR)
			die_errno("cannot read");
	}
}

/* Maps the rest of a regular file from the offset of fd; false when it cannot be mapped. */
static bool map_fd(Stream *s)
{
	struct stat st;
	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	off_t at = lseek(s->fd, 0, SEEK_CUR);
	if (at < 0 || at >= st.st_size)
		return false;
	void *p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return false;
	s->p = p;
	s->start = at;
	s->n = s->cap = st.st_size;
	s->mapped = s->ended = true;
	return true;
}

Stream *stream_open(const char *name)
{
	Stream *s = xcalloc(1, sizeof *s);
	bool standard = !name || !strcmp(name, "-");
	s->name = standard ? "standard input" : xstrdup(name);
	if (endpoint_is(name)) {
		s->fd = -1;
		s->endpoint = endpoint_in(name);
		return s;
	}
	s->fd = standard ? 0 : open(name, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		die_errno("%s: cannot open", name);
	if (!map_fd(s))
		fcntl(s->fd, F_SETPIPE_SZ, PIPE_SIZE);
	return s;
}

/* Makes space for at least n more bytes at the end. */
static void make_space(Stream *s, size_t n)
{
	if (s->cap - s->n >= n)
		return;
	if (s->start > s->cap / 2) {
		memmove(s->p, s->p + s->start, s->n - s->start);
		s->before += s->start;
		s->n -= s->start;
		s->start = 0;
	}
	while (s->cap - s->n < n)
		s->cap = s->cap ? 2 * s->cap : FIRST_READ;
	s->p = xrealloc(s->p, s->cap);
}

static void read_more(Stream *s)
{
	const void *p;
	size_t n;
	if (!s->endpoint) {
		make_space(s, FIRST_READ);
		n = read_some(s->fd, s->p + s->n, s->cap - s->n);
		s->n += n;
		s->ended = n == 0;
	} else if (endpoint_get(s->endpoint, &p, &n)) {
		make_space(s, n);
		memcpy(s->p + s->n, p, n);
		s->n += n;
	} else {
		s->ended = true;
	}
}

/* Reads until a document is complete; false at the end of the stream. */
static bool find_whole(Stream *s)
{
	for (;;) {
		if (s->n > s->start) {
			int r = wire_scan(&s->scan, s->p + s->start, s->n - s->start);
			if (r == WIRE_WHOLE)
				return true;
			if (r == WIRE_BAD)
				die(MALFORMED, "%s at byte %llu", s->scan.err,
					(unsigned long long)(s->before + s->start + s->scan.at));
		}
		if (s->ended && s->n == s->start)
			return false;
		if (s->ended)
			die(MALFORMED, "ends early at byte %llu",
				(unsigned long long)(s->before + s->n));
		read_more(s);
	}
}

Graph *stream_next(Stream *s, int flags)
{
	const char *where = process.where;
	Graph *g = NULL;
	process.where = s->name;
	s->scan = (WireScan){0};
	if (find_whole(s)) {
		g = wire_build(s->p + s->start, s->scan.at, flags);
		g->remote = s->endpoint != NULL;
		s->start += s->scan.at;
		s->count++;
	}
	process.where = where;
	return g;
}

void stream_rest(const Stream *s)
{
	if (s->mapped)
		madvise(s->p, s->n, MADV_DONTNEED);
}

size_t stream_count(const Stream *s) { return s->count; }
const char *stream_name(const Stream *s) { return s->name; }

/* ---- writing */

static void write_all(int fd, const char *name, const void *p, size_t n)
{
	const char *at = p;
	while (n) {
		ssize_t put = write(fd, at, n);
		if (put >= 0) {
			at += put;
			n -= put;
		} else if (errno == EAGAIN) {
			wait_for(fd, POLLOUT);
		} else if (errno == EPIPE) {
			die(FAILED, "%s: its reader has closed it", name);
		} else if (errno != EINTR) {
			die_errno("%s: cannot write", name);
		}
	}
}

/* Current output: the endpoint, or NULL, and the temporary files being written, which are removed
 * when the process dies. */
static struct {
	void *endpoint;
	pthread_mutex_t lock;   /* protects the fields below */
	bool registered;
	VEC(char *) files;
} writing = {.lock = PTHREAD_MUTEX_INITIALIZER};

void stream_out_open(const char *endpoint)
{
	if (endpoint && !endpoint_is(endpoint))
		die(USAGE, "'%s' is not an endpoint (tcp://… or ipc://…)", endpoint);
	if (endpoint && !writing.endpoint)
		writing.endpoint = endpoint_out(endpoint);
}

void stream_put(const char *endpoint, const void *p, size_t n)
{
	stream_out_open(endpoint);
	if (endpoint)
		endpoint_put(writing.endpoint, p, n);
	else
		write_all(1, "standard output", p, n);
}

void stream_write(const char *endpoint, const Graph *g)
{
	Buf b = {0};
	wire_write(&b, g);
	stream_put(endpoint, b.s, b.n);
	buf_free(&b);
}

void stream_out_close(void)
{
	if (writing.endpoint)
		endpoint_close(writing.endpoint);
	writing.endpoint = NULL;
	/* some file systems report a full disk only here */
	if (close(1) && errno != EBADF)
		die_errno("standard output: cannot write");
}

/* ---- whole files */

static void *read_whole(int fd, size_t *n)
{
	Buf b = {0};
	char piece[FIRST_READ];
	for (size_t got; (got = read_some(fd, piece, sizeof piece)) > 0;)
		buf_add(&b, piece, got);
	*n = b.n;
	/* never freed, like a mapping */
	return (void *)buf_str(&b);
}

const void *file_map(const char *path, size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die_errno("%s: cannot open", path);
	if (S_ISDIR(st.st_mode))
		die(FAILED, "%s: cannot read: it is a folder", path);
	void *p = "";
	*n = st.st_size;
	if (!S_ISREG(st.st_mode)) {
		p = read_whole(fd, n);
	} else if (*n) {
		p = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			die_errno("%s: cannot map", path);
	}
	close(fd);
	return p;
}

static void remove_partial(void *unused)
{
	for (size_t i = 0; i < writing.files.n; i++)
		unlink(writing.files.at[i]);
}

static void partial_add(char *path)
{
	pthread_mutex_lock(&writing.lock);
	if (!writing.registered)
		die_cleanup(remove_partial, NULL);
	writing.registered = true;
	vec_push(&writing.files, path);
	pthread_mutex_unlock(&writing.lock);
}

static void partial_drop(char *path)
{
	pthread_mutex_lock(&writing.lock);
	for (size_t i = 0; i < writing.files.n; i++)
		if (writing.files.at[i] == path)
			writing.files.at[i] = writing.files.at[--writing.files.n];
	pthread_mutex_unlock(&writing.lock);
}

/* Writes to a device or a pipe in place: a rename would replace it with a file. */
static bool write_in_place(const char *path, const void *p, size_t n)
{
	struct stat st;
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die_errno("%s: cannot open", path);
	write_all(fd, path, p, n);
	if (close(fd))
		die_errno("%s: cannot write", path);
	return true;
}

void file_write(const char *path, const void *p, size_t n)
{
	static const char tail[] = ".XXXXXX";
	if (write_in_place(path, p, n))
		return;
	char *temp = xmalloc(strlen(path) + sizeof tail);
	strcat(strcpy(temp, path), tail);
	int fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		die_errno("%s: cannot write", path);
	partial_add(temp);
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	write_all(fd, path, p, n);
	if (close(fd) || rename(temp, path))
		die_errno("%s: cannot write", path);
	partial_drop(temp);
	free(temp);
}
