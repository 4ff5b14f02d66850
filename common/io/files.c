/* Whole files: opened, mapped, written.
 *
 * What a document names is opened without waiting and has to be a regular file. Every mapping is
 * listed with its file's name, so that a file which is cut while it is read (SIGBUS) is told as the
 * error that it is. What is written goes to a temporary name and gets its own when it is whole; of
 * several files that belong together, all get their names or none does. */
#include "io/io.h"
#include <xxhash.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* ---- bytes */

static void wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	poll(&p, 1, -1);
}

size_t file_get(int fd, void *to, size_t n)
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

void file_put(int fd, const char *name, const void *p, size_t n)
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

/* ---- mappings */

typedef struct Mapping Mapping;
struct Mapping { const char *p; size_t n; const char *name; Mapping *next; };

/* A mapping is never taken off the list: most last as long as the process. */
static struct { Mapping *top; } mapped;

/* The handler may not allocate or use stdio: the line is put together from constant pieces. */
static void say(const char *s) { (void)!write(2, s, strlen(s)); }

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;
	Mapping *m = mapped.top;

	while (m && (at < m->p || at >= m->p + m->n))
		m = m->next;
	say(process.stage);
	say(": ");
	say(m ? m->name : "a file");
	say(": it became shorter while it was read\n");
	leftovers_leave();
	_exit(m ? MALFORMED : FAILED);
}

/* A name for messages, whose control characters would break the line. */
static const char *plain(const char *name)
{
	char *s = xstrdup(name);
	for (char *c = s; *c; c++)
		*c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c;
	if (strlen(s) > 900)
		s[900] = 0;
	return s;
}

static void list_mapping(const char *p, size_t n, const char *name)
{
	struct sigaction how = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
	Mapping *m = xmalloc(sizeof *m);

	if (!mapped.top)
		sigaction(SIGBUS, &how, NULL);
	*m = (Mapping){p, n, plain(name), mapped.top};
	while (!__atomic_compare_exchange_n(&mapped.top, &m->next, m, false, __ATOMIC_RELEASE,
		__ATOMIC_RELAXED))
		;
}

void *file_part(int fd, const char *name, int64_t at, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, at);

	if (p == MAP_FAILED)
		return NULL;
	list_mapping(p, n, name);
	return p;
}

/* ---- reading */

static void *read_whole(int fd, size_t *n)
{
	Buf b = {0};
	char piece[PIECE];
	for (size_t got; (got = file_get(fd, piece, sizeof piece)) > 0;)
		buf_add(&b, piece, got);
	*n = b.n;
	/* never freed, like a mapping */
	return (void *)buf_str(&b);
}

/* All of the open file, which is closed. */
static const void *content(int fd, const char *path, const struct stat *st, size_t *n)
{
	void *p = "";

	*n = st->st_size;
	if (!S_ISREG(st->st_mode))
		p = read_whole(fd, n);
	else if (*n && !(p = file_part(fd, path, 0, *n)))
		die_errno("%s: cannot map", path);
	close(fd);
	return p;
}

static _Noreturn void cannot_open(const char *path)
{
	if (errno == EKEYREJECTED)
		die(UNSUPPORTED, "%s: it is in a folder of your secret, keys or cache, from which "
			"documents get nothing", path);
	die_errno("%s: cannot open", path);
}

/* What can be read only once, kept by its name: standard input ("-") and endpoints. */
typedef struct { const char *name; const void *p; size_t n; } Once;

static Once read_once(const char *name)
{
	Once o = {.name = xstrdup(name)};
	struct stat st;
	Buf b = {0};

	if (!endpoint_is(name)) {
		if (fstat(0, &st))
			die_errno("standard input: cannot read");
		bool whole = S_ISREG(st.st_mode) && lseek(0, 0, SEEK_CUR) == 0;
		o.p = whole ? content(dup(0), "standard input", &st, &o.n) : read_whole(0, &o.n);
		return o;
	}
	void *e = endpoint_in(name);
	const void *p;
	for (size_t n; endpoint_get(e, &p, &n);)
		buf_add(&b, p, n);
	o.p = buf_str(&b);
	o.n = b.n;
	return o;
}

static const void *once(const char *name, size_t *n)
{
	static VEC(Once) read;
	size_t i = 0;

	while (i < read.n && strcmp(read.at[i].name, name))
		i++;
	if (i == read.n)
		vec_push(&read, read_once(name));
	*n = read.at[i].n;
	return read.at[i].p;
}

const void *file_map(const char *path, size_t *n)
{
	struct stat st;
	if (!strcmp(path, "-") || endpoint_is(path))
		return once(path, n);
	int fd = process.opener ? process.opener(path, OPEN_WAIT) :
				  open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		cannot_open(path);
	if (S_ISDIR(st.st_mode))
		die(FAILED, "%s: cannot read: it is a folder", path);
	return content(fd, path, &st, n);
}

int data_open(const char *path, int64_t *n)
{
	struct stat st;
	int fd = process.opener ? process.opener(path, OPEN_NOW) : file_open_public(path, OPEN_NOW);

	/* what a driver says of its device */
	if (fd < 0 && (errno == ENXIO || errno == ENODEV))
		die(MALFORMED, "%s: it is no regular file", path);
	if (fd < 0 || fstat(fd, &st))
		cannot_open(path);
	if (!S_ISREG(st.st_mode))
		die(MALFORMED, "%s: it is no regular file", path);
	*n = st.st_size;
	return fd;
}

static ARENA struct { const char *name; const void *p; size_t n; } given;

void data_give(const char *name, const void *p, size_t n)
{
	given.name = name;
	given.p = p;
	given.n = n;
}

int64_t data_given(const char *name)
{
	return given.name && !strcmp(given.name, name) ? (int64_t)given.n : -1;
}

const void *data_map(const char *path, size_t *n)
{
	if (data_given(path) >= 0) {
		*n = given.n;
		return given.p;
	}
	int64_t bytes;
	int fd = data_open(path, &bytes);
	struct stat st = {.st_mode = S_IFREG, .st_size = bytes};

	return content(fd, path, &st, n);
}

const Val *data_hash_text(uint64_t hash)
{
	return val_str(arena_printf("%016llx", (unsigned long long)hash));
}

void data_check(const Val *file, const void *p, size_t n)
{
	if (file->n > 3 && data_hash_text(hash_bytes(p, n, 0)) != file->a[3])
		die(MALFORMED, "%s has changed since it was traced", file->a[0]->s);
}

/* ---- writing */

typedef struct { char *temp, *path; } Written;

/* Files that are whole but have to wait for others, and folders made for them. */
static struct { bool held; VEC(Written) file; VEC(char *) folder; } writing;

/* Writes to a device or a pipe in place: a rename would replace it with a file. */
static bool write_in_place(const char *path, const void *p, size_t n)
{
	struct stat st;
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die_errno("%s: cannot open", path);
	file_put(fd, path, p, n);
	if (close(fd))
		die_errno("%s: cannot write", path);
	return true;
}

/* A new file beside path, open; *name gets its name. */
static int open_beside(const char *path, char **name)
{
	static const char tail[] = ".XXXXXX";
	char *temp = xmalloc(strlen(path) + sizeof tail);
	strcat(strcpy(temp, path), tail);
	int fd = leftover_make(temp);
	if (fd < 0)
		die_errno("%s: cannot write", path);
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	*name = temp;
	return fd;
}

/* The name of a new file beside path that has the bytes. */
static char *write_beside(const char *path, const void *p, size_t n)
{
	char *temp;
	int fd = open_beside(path, &temp);
	file_put(fd, path, p, n);
	if (close(fd))
		die_errno("%s: cannot write", path);
	return temp;
}

static void give_name(Written *w)
{
	if (rename(w->temp, w->path))
		die_errno("%s: cannot write", w->path);
	leftover_drop(w->temp);
	free(w->temp);
}

void file_write(const char *path, const void *p, size_t n)
{
	if (write_in_place(path, p, n))
		return;
	Written w = {write_beside(path, p, n), (char *)path};
	if (!writing.held) {
		give_name(&w);
		return;
	}
	w.path = xstrdup(path);
	vec_push(&writing.file, w);
}

/* ---- a document, from the first bytes to the end of the process */

static struct { Written file; } output;

static void abandon(void *none) { output_end(false); }

int output_open(const char *path)
{
	struct stat st;
	int fd;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			die_errno("%s: cannot write", path);
		return fd;
	}
	output.file.path = xstrdup(path);
	fd = open_beside(path, &output.file.temp);
	die_cleanup(abandon, NULL);
	return fd;
}

void output_inherit(void)
{
	if (output.file.temp)
		leftover_add(output.file.temp, false);
}

void output_end(bool keep)
{
	Written w = output.file;

	if (!w.temp)
		return;
	output.file = (Written){0};
	if (process.output_end)
		process.output_end(keep);
	else if (keep)
		give_name(&w);
	else
		unlink(w.temp);
}

void folder_new(const char *path)
{
	bool made = mkdir(path, 0777) == 0;

	if (!made && errno != EEXIST)
		die_errno("cannot make the folder '%s'", path);
	if (!made || !writing.held)
		return;
	leftover_add(path, false);
	vec_push(&writing.folder, xstrdup(path));
}

void files_hold(void) { writing.held = true; }

/* What can be known to stop one of the renames is looked at before the first. */
static void check_name(const char *path)
{
	struct stat st;
	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		die(FAILED, "%s: cannot write: it is a folder", path);
}

void files_release(void)
{
	for (size_t i = 0; i < writing.file.n; i++)
		check_name(writing.file.at[i].path);
	for (size_t i = 0; i < writing.folder.n; i++) {
		leftover_drop(writing.folder.at[i]);
		free(writing.folder.at[i]);
	}
	for (size_t i = 0; i < writing.file.n; i++) {
		give_name(&writing.file.at[i]);
		free(writing.file.at[i].path);
	}
	vec_free(&writing.file);
	vec_free(&writing.folder);
	writing.held = false;
}
