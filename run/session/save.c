/* Saves states to a .safetensors file and loads them.
 *
 *     {"__metadata__":{"sluice.calls":"500"},"w1":{"dtype":"F32","shape":[64,10], …}, …} …
 *
 * The new file is written beside the old one, flushed to disk, and renamed over it. If the program
 * is killed at any time, either the old file or the new one is left. */
#include "arrays/arrays.h"
#include "io/io.h"
#include "session/session.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key[] = "sluice.calls";

static void put(int fd, const char *path, const void *p, size_t n)
{
	for (ssize_t k; n; p = (const char *)p + k, n -= k) {
		k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			k = 0;
		else if (k < 0)
			die_errno("%s: cannot write", path);
	}
}

/* Opens a file without a name, which vanishes if the program is killed; it gets its name when it is
 * complete. */
static int nameless(const char *path)
{
	return open(folder_of(path), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

static void give_name(int fd, const char *path)
{
	char *temp = (char *)arena_printf("%s.%lld", path, (long long)getpid());

	unlink(temp);
	leftover_add(temp, false);
	if (linkat(AT_FDCWD, arena_printf("/proc/self/fd/%d", fd), AT_FDCWD, temp,
		    AT_SYMLINK_FOLLOW) ||
		rename(temp, path))
		die_errno("%s: cannot write", path);
	leftover_drop(temp);
}

/* Flushes the folder, so that the new name is on disk too. */
static void folder_sync(const char *path)
{
	int fd = open(folder_of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static void write_all(int fd, const char *path, const Buf *head, size_t n, const Array *at)
{
	put(fd, path, head->s, head->n);
	for (size_t i = 0; i < n; i++)
		put(fd, path, at[i].data, at[i].bytes);
	if (fsync(fd))
		die_errno("%s: cannot write", path);
}

void states_write(
	size_t n, const char *const *names, const Array *at, const char *path, int64_t calls)
{
	Buf head = {0};
	int fd = nameless(path);

	safetensors_head(&head, n, names, at, key, arena_printf("%lld", (long long)calls));
	if (fd >= 0) {
		write_all(fd, path, &head, n, at);
		give_name(fd, path);
		close(fd);
		folder_sync(path);
	} else {
		/* the file system has no nameless files */
		for (size_t i = 0; i < n; i++)
			buf_add(&head, at[i].data, at[i].bytes);
		file_write(path, head.s, head.n);
	}
	buf_free(&head);
}

void states_save(Session *s, const char *path, int64_t calls)
{
	const char *const *names;
	const Array *at;
	size_t n = session_states(s, &names, &at);

	states_write(n, names, at, path, calls);
}

int64_t states_read(size_t n, const char *const *names, const Array *at, const char *path)
{
	const char *note = safetensors_note(path, key);
	char *end;

	for (size_t i = 0; i < n; i++) {
		if (!safetensors_has(path, names[i]))
			die(MALFORMED, "%s: there is no state '%s'", path, names[i]);
		Array a = safetensors_read(path, names[i]);
		if (a.dtype != at[i].dtype || a.rank != at[i].rank ||
			memcmp(a.dim, at[i].dim, a.rank * sizeof *a.dim))
			die(MALFORMED, "%s: state '%s' is not %s of the program's shape", path,
				names[i], dtype_name(at[i].dtype));
		if (a.bytes)
			memcpy(at[i].data, a.data, a.bytes);
		array_free(&a);
	}
	errno = 0;
	long long calls = note ? strtoll(note, &end, 10) : 0;
	if (note && (errno || *end || end == note || calls < 0))
		die(MALFORMED, "%s: '%.80s' is not a number of calls", path, note);
	return calls;
}

int64_t states_load(Session *s, const char *path)
{
	const char *const *names;
	const Array *at;
	size_t n = session_states(s, &names, &at);
	int64_t calls = states_read(n, names, at, path);

	session_states_put(s);
	return calls;
}
