/* Documents in and out: standard input and output, files, endpoints.
 *
 * A regular file is mapped. Input from a pipe or an endpoint is returned document by document, each
 * as soon as it is complete, however the bytes are divided into reads. Output is written only when
 * a document is complete, so a stage writes nothing but whole documents. */
#include "io/io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 1 << 16, PIPE_SIZE = 1 << 20 };

struct Stream {
	const char *name;
	const char *folder;             /* of a file; NULL: of what has none */
	int fd;
	void *endpoint;
	bool mapped, ended;
	uint8_t *p;                     /* bytes start … n-1 are not used yet */
	size_t start, n, cap;
	uint64_t before;                /* bytes of the stream before p */
	WireScan scan;                  /* of the document at start */
	size_t count;
	bool looked;                    /* at its first bytes: documents */
};

/* ---- reading */

/* Maps the rest of a regular file from the offset of fd; false when it cannot be mapped. */
static bool map_fd(Stream *s)
{
	struct stat st;
	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	off_t at = lseek(s->fd, 0, SEEK_CUR);
	if (at < 0 || at >= st.st_size)
		return false;
	void *p = file_part(s->fd, s->name, 0, st.st_size);
	if (!p)
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
	struct stat st = {0};
	if (!standard && !fstat(s->fd, &st) && S_ISDIR(st.st_mode))
		die(FAILED, "%s: cannot read: it is a folder", name);
	if (S_ISREG(st.st_mode))
		s->folder = path_other_folder(name);
	if (!map_fd(s))
		fcntl(s->fd, F_SETPIPE_SZ, PIPE_SIZE);
	return s;
}

Stream *stream_of(const void *p, size_t n, const char *name)
{
	Stream *s = xcalloc(1, sizeof *s);
	*s = (Stream){.name = xstrdup(name), .fd = -1, .p = (uint8_t *)p, .n = n, .cap = n,
		.ended = true, .looked = true};
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
		n = file_get(s->fd, s->p + s->n, s->cap - s->n);
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

/* ---- what is no document */

enum { FIRST_BYTES = 16 };

const void *stream_source(Stream *s, InputKind *kind, size_t *n)
{
	while (!s->looked && !s->ended && s->n - s->start < FIRST_BYTES)
		read_more(s);
	const void *at = s->p ? s->p + s->start : NULL;     /* nothing came */
	*kind = s->looked ? INPUT_DOCUMENT : input_kind(at, s->n - s->start, NULL);
	s->looked = true;
	if (*kind == INPUT_SHOWN || *kind == INPUT_OTHER) {
		process.where = s->name;
		input_refuse(at, s->n - s->start);
	}
	if (*kind == INPUT_DOCUMENT || *kind == INPUT_EMPTY)
		return NULL;
	while (!s->ended)
		read_more(s);
	*n = s->n - s->start;
	return s->p + s->start;
}

/* A program or a model becomes what `trace` makes of it. */
static void trace_source(Stream *s)
{
	InputKind kind;
	Buf out = {0};
	size_t n;
	const void *p = stream_source(s, &kind, &n);

	if (!p)
		return;
	if (!process.trace)
		input_refuse(p, n);
	process.trace(p, n, &out);
	*s = (Stream){.name = s->name, .fd = -1, .p = (uint8_t *)out.s, .n = out.n, .cap = out.n,
		.endpoint = s->endpoint, .ended = true, .looked = true};
}

Graph *stream_next(Stream *s, int flags)
{
	const char *where = process.where;
	Graph *g = NULL;
	process.where = s->name;
	process.from_socket = s->endpoint != NULL;
	s->scan = (WireScan){0};
	limits_time(false);
	trace_source(s);
	process.folder = s->folder;
	if (find_whole(s)) {
		limits_time(true);
		g = wire_build(s->p + s->start, s->scan.at, flags);
		s->start += s->scan.at;
		s->count++;
	}
	process.where = where;
	process.folder = NULL;
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

/* the endpoint or the file that is written to; NULL, 0: standard output */
static struct { void *endpoint; int file; const char *name, *folder; } writing;

void stream_out_open(const char *to)
{
	if (!to || !strcmp(to, "-") || writing.name)
		return;
	writing.name = to;
	if (endpoint_is(to))
		writing.endpoint = endpoint_out(to);
	else
		writing.file = output_open(to);
	struct stat st;
	if (writing.file && !fstat(writing.file, &st) && S_ISREG(st.st_mode))
		writing.folder = path_folder(to);
}

bool stream_writes(void) { return writing.endpoint; }

void stream_put(const char *to, const void *p, size_t n)
{
	stream_out_open(to);
	if (writing.endpoint)
		endpoint_put(writing.endpoint, p, n);
	else
		file_put(writing.file ? writing.file : 1,
			writing.file ? writing.name : "standard output", p, n);
}

void stream_write(const char *to, const Graph *g)
{
	Buf b = {0};
	stream_out_open(to);
	wire_write_in(&b, g, writing.folder);
	stream_put(to, b.s, b.n);
	buf_free(&b);
}

void stream_out_close(void)
{
	if (writing.endpoint)
		endpoint_close(writing.endpoint);
	if (writing.file && close(writing.file))
		die_errno("%s: cannot write", writing.name);
	if (writing.file)
		output_end(true);
	writing.endpoint = NULL;
	writing.file = 0;
	writing.name = writing.folder = NULL;
	/* some file systems report a full disk only here */
	if (close(1) && errno != EBADF)
		die_errno("standard output: cannot write");
}
