/* Child processes: finds them on the stage path, writes their input, reads their output, reaps
 * them, and names those that fail.
 *
 * The parent is at one end of every pipe. Both ends are close-on-exec and the parent closes the
 * child's end at once, so it notices when the other end closes. It writes and reads at the same
 * time, so parent and child cannot deadlock. The filters of a pipeline start together, so that
 * loading overlaps, and get their input one after another: each needs the whole document anyway,
 * and this way it is certain which one failed first. */
#include "base/progress.h"
#include "process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { PIECE = 1 << 16 };

/* ---- the stage path */

/* Found once: the folder of this program, the folder of the project's tools, the stage path. */
static struct { char own[4096]; char *tools; Buf path; } folders;

/* The folder of this program, without a final slash. */
static const char *own_folder(void)
{
	char *path = folders.own;
	if (!path[0]) {
		ssize_t n = readlink("/proc/self/exe", path, sizeof folders.own - 1);
		path[n > 0 ? n : 0] = 0;
		char *slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
		else
			strcpy(path, ".");
	}
	return path;
}

/* The folder of the project's own tools: libexec beside the folder of an installed `sluice`, else
 * the folder of this program. */
static const char *tools_folder(void)
{
	const char *own = own_folder(), *slash = strrchr(own, '/');
	struct stat st;
	if (!folders.tools) {
		Buf installed = {0};
		buf_printf(&installed, "%.*s/libexec/sluice", slash ? (int)(slash - own) : 0, own);
		bool there = slash && !stat(installed.s, &st) && S_ISDIR(st.st_mode);
		folders.tools = there ? installed.s : xstrdup(own);
	}
	return folders.tools;
}

const char *stage_path(void)
{
	Buf *path = &folders.path;
	const char *given = getenv("SLUICE_PATH");
	if (!path->n)
		buf_printf(path, "%s%s%s", given ? given : "", given && *given ? ":" : "",
			tools_folder());
	return path->s;
}

static bool executable(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

const char *tool_find(const char *name)
{
	if (!*name || strchr(name, '/'))
		return NULL;
	for (const char *p = stage_path(), *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		Buf full = {0};
		buf_printf(&full, "%.*s/%s", (int)(end - p), p, name);
		if (end > p && executable(full.s))
			return full.s;
		buf_free(&full);
	}
	return NULL;
}

const char *own_file(const char *path)
{
	static const char *const above[] = {"", "/..", "/../.."};
	for (size_t i = 0; i < 3; i++) {
		Buf full = {0};
		buf_printf(&full, "%s%s/%s", tools_folder(), above[i], path);
		if (!access(full.s, R_OK))
			return full.s;
		buf_free(&full);
	}
	return NULL;
}

const char *program_find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : arena_strdup(name);
	for (path = path ? path : "/usr/bin:/bin"; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		char *full = arena_printf("%.*s/%s", (int)(end - path), path, name);
		if (end > path && executable(full))
			return full;
	}
	return NULL;
}

/* ---- child processes */

/* said: what it prints on standard error, in memory, until it has ended; -1: goes there directly */
typedef struct { pid_t pid; int in, out, said; } Child;

void command_print(Buf *b, char *const argv[])
{
	for (bool first = true; *argv; argv++, first = false) {
		static const char plain[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
		buf_printf(b, first ? "" : " ");
		if (**argv && !(*argv)[strspn(*argv, plain)]) {
			buf_printf(b, "%s", *argv);
			continue;
		}
		buf_printf(b, "'");
		for (const char *c = *argv; *c; c++)
			buf_printf(b, *c == '\'' ? "'\\''" : "%c", *c);
		buf_printf(b, "'");
	}
}

void show_command(char *const argv[])
{
	Buf b = {0};
	command_print(&b, argv);
	fprintf(stderr, "%s\n", b.s);
	buf_free(&b);
}

static void make_pipe(int end[2])
{
	if (pipe2(end, O_CLOEXEC))
		die_errno("cannot make a pipe");
	fcntl(end[1], F_SETPIPE_SZ, 1 << 20);
}

static Child start(char *const argv[], bool held)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t usual;
	int in[2], out[2];
	Child c;
	if (process.verbose)
		show_command(argv);
	make_pipe(in);
	make_pipe(out);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	c.said = held ? memfd_create("said", MFD_CLOEXEC) : -1;
	if (c.said >= 0)
		posix_spawn_file_actions_adddup2(&files, c.said, 2);
	int err = posix_spawnp(&c.pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(in[0]);
	close(out[1]);
	if (err)
		die(FAILED, "cannot run %s: %s", argv[0], strerror(err));
	leftover_child(c.pid, true);
	c.in = in[1];
	c.out = out[0];
	fcntl(c.in, F_SETFL, O_NONBLOCK);
	return c;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Writes as much as the pipe accepts; closes it when all is written or its reader has closed. */
static void push(Child *c, const char **p, size_t *n)
{
	ssize_t put = *n ? write(c->in, *p, *n) : 0;
	if (put < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (put < 0 && errno != EPIPE)
		die_errno("cannot write to a child process");
	if (put > 0) {
		*p += put;
		*n -= put;
	}
	if (put < 0 || !*n)
		shut(&c->in);
}

static void pull(Child *c, Buf *out)
{
	char piece[PIECE];
	ssize_t got = read(c->out, piece, sizeof piece);
	if (got > 0 && out)
		buf_add(out, piece, got);
	else if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
		shut(&c->out);
}

static void feed(Child *c, const void *in, size_t n, Buf *out, Progress *progress)
{
	enum { MOMENT = 200 };
	const char *p = in;
	if (!n)
		shut(&c->in);
	while (c->in >= 0 || c->out >= 0) {
		/* poll ignores negative descriptors */
		struct pollfd fd[] = {
			{.fd = c->in, .events = POLLOUT}, {.fd = c->out, .events = POLLIN}};
		progress_step(progress, 0);
		if (poll(fd, 2, progress->wanted ? MOMENT : -1) < 0 && errno != EINTR)
			die_errno("cannot wait for a child");
		if (fd[0].revents)
			push(c, &p, &n);
		if (fd[1].revents)
			pull(c, out);
	}
}

/* The exit status of a child: 128 + the signal's number if a signal ended it, as in a shell. */
static int reap(Child *c)
{
	int status;
	shut(&c->in);
	shut(&c->out);
	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("cannot wait for a child");
	leftover_child(c->pid, false);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Prints what a child has said. With a script, which runs it again, its last line says so. */
static void relay(Child *c, const char *writer, const char *script)
{
	enum { LINE_MOST = 999 };
	Buf all = {0}, more = {0};
	char piece[PIECE];
	off_t at = 0;

	for (ssize_t n; c->said >= 0 && (n = pread(c->said, piece, sizeof piece, at)) > 0; at += n)
		buf_add(&all, piece, n);
	shut(&c->said);
	if (script && all.n && all.s[all.n - 1] == '\n') {
		buf_printf(&more, " (written by %s; %s runs it again)", writer, script);
		const char *line = memrchr(all.s, '\n', --all.n);
		size_t begin = line ? line + 1 - all.s : 0;
		size_t most = more.n < LINE_MOST ? LINE_MOST - more.n : 0;
		while (all.n - begin > most)    /* not within a character */
			while (all.n > begin && ((unsigned char)all.s[--all.n] & 0xc0) == 0x80)
				;
		buf_add(&all, more.s, more.n < LINE_MOST ? more.n : 0);
		buf_add(&all, "\n", 1);
	}
	(void)!write(2, buf_str(&all), all.n);
	buf_free(&all);
	buf_free(&more);
}

/* A script for a document that filter number `failed` refuses, though the one before wrote it. */
static const char *script_for(
	char *const *const *argvs, int status, size_t failed, const void *in, size_t n)
{
	if (status != MALFORMED || !failed)
		return NULL;
	char *const **some = arena_alloc((failed + 2) * sizeof *some);
	memcpy(some, argvs, (failed + 1) * sizeof *some);
	return reproducer_save(some, in, n);
}

int spawn_filter(char *const argv[], const void *in, size_t n, Buf *out)
{
	int failed;
	return spawn_pipeline((char *const *const[]){argv, NULL}, in, n, out, &failed);
}

int spawn_pipeline(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed)
{
	VEC(Child) child = {0};
	Buf prev = {0};
	int status = 0;
	if (broker_has())
		return broker_run(argvs, in, n, out, failed);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argvs[i]; i++)
		vec_push(&child, start((char *const *)argvs[i], i > 0));
	*failed = -1;
	for (size_t i = 0; i < child.n; i++) {
		Buf next = {0};
		if (!status) {
			bool last = i + 1 == child.n;
			/* one that prints on the terminal itself says there what it does */
			const char *slash = strrchr(argvs[i][0], '/');
			Progress progress = progress_start(
				slash ? slash + 1 : argvs[i][0], 0, child.at[i].said >= 0);
			feed(&child.at[i], i ? prev.s : in, i ? prev.n : n, last ? out : &next,
				&progress);
			progress_end(&progress);
		}
		int s = reap(&child.at[i]);
		const char *script = s && !status ? script_for(argvs, s, i, in, n) : NULL;
		relay(&child.at[i], i ? argvs[i - 1][0] : "", script);
		if (s && !status) {
			status = s;
			*failed = i;
		}
		buf_free(&prev);
		prev = next;
	}
	buf_free(&prev);
	vec_free(&child);
	return status;
}
