/* What is left of a crash: the input and the command, so that it can be tried again.
 *
 *     fuse: killed by SIGSEGV: run ~/.local/state/sluice/crash/fuse-5b1c….sh to see it again */
#include "process/process.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* how many are kept, and how large an input may be */
enum { MOST = 16, INPUT_MOST = 64 << 20 };

/* $XDG_STATE_HOME/sluice/crash; NULL when it cannot be made. */
static const char *folder_of(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = state && *state == '/' ? arena_printf("%s/sluice/crash", state) :
		home && *home == '/' ? arena_printf("%s/.local/state/sluice/crash", home) : NULL;

	for (char *p = path ? strchr(path + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	return path && (!mkdir(path, 0700) || errno == EEXIST) ? path : NULL;
}

/* Removes the oldest ones, until there is room for one more; each is two files. */
static void make_room(const char *folder)
{
	for (;;) {
		DIR *d = opendir(folder);
		char *oldest = NULL;
		struct stat st, first = {0};
		size_t n = 0;
		for (struct dirent *e; d && (e = readdir(d));) {
			char *path = arena_printf("%s/%s", folder, e->d_name);
			if (e->d_name[0] == '.' || stat(path, &st))
				continue;
			if (!n++ || st.st_mtime < first.st_mtime) {
				oldest = path;
				first = st;
			}
		}
		if (d)
			closedir(d);
		if (n + 2 <= 2 * MOST || unlink(oldest))
			return;
	}
}

static bool write_all(const char *path, mode_t mode, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	ssize_t put = 0;

	for (size_t at = 0; fd >= 0 && at < n; at += put)
		if ((put = write(fd, (const char *)p + at, n - at)) <= 0)
			break;
	if (fd >= 0)
		close(fd);
	return fd >= 0 && put >= 0;
}

const char *reproducer_save(char *const *const *argvs, const void *in, size_t n)
{
	if (broker_has())
		return broker_keep(argvs, in, n);
	const char *folder = n <= INPUT_MOST ? folder_of() : NULL, *slash, *base;
	Buf script = {0};
	bool ok;

	if (!folder)
		return NULL;
	make_room(folder);
	slash = strrchr(argvs[0][0], '/');
	base = arena_printf("%s/%s-%016llx", folder, slash ? slash + 1 : argvs[0][0],
		(unsigned long long)hash_bytes(in, n, 0));
	buf_printf(&script, "#!/bin/sh\n");
	for (size_t i = 0; argvs[i]; i++) {
		buf_printf(&script, i ? " | " : "");
		command_print(&script, argvs[i]);
		if (!i) {
			buf_printf(&script, " < ");
			command_print(&script, (char *[]){arena_printf("%s.in", base), NULL});
		}
	}
	buf_printf(&script, "\n");
	ok = write_all(arena_printf("%s.in", base), 0600, in, n) &&
		write_all(arena_printf("%s.sh", base), 0700, script.s, script.n);
	buf_free(&script);
	return ok ? arena_printf("%s.sh", base) : NULL;
}

_Noreturn void pipeline_failed(
	char *const *const *argvs, int status, int failed, const void *in, size_t n)
{
	bool ours = status >= FAILED && status <= MALFORMED;
	const char *signal = status > 128 ? sigabbrev_np(status - 128) : NULL, *script = NULL;
	const char *how = signal ? arena_printf("was killed by SIG%s", signal) :
				   arena_printf("failed with status %d", status);

	if (ours)
		die_silent(status);
	char *const **some = arena_alloc((failed + 2) * sizeof *some);
	memcpy(some, argvs, (failed + 1) * sizeof *some);
	script = reproducer_save(some, in, n);
	die(FAILED, "%s %s%s%s%s", argvs[failed][0], how, script ? ": " : "", script ? script : "",
		script ? " runs it again" : "");
}
