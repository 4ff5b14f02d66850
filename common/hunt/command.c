/* A command that may crash, hang or start others: it runs in a process group of its own, which is
 * killed as a whole when its time is over. */
#include "hunt/hunt.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TAIL = 4000, NOT_STARTED = 127 };

void words_add(Words *w, const char *word) { vec_push(w, (char *)word); }

char **words_end(Words *w)
{
	vec_push(w, NULL);
	w->n--;
	return w->at;
}

/* ---- a folder */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

void work_remove(void *work)
{
	const Work *w = work;

	if (w->owner == getpid())
		nftw(w->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

Work *work_new(void)
{
	Work *w = xmalloc(sizeof *w);

	const char *tmp = getenv("TMPDIR");
	Buf b = {0};

	buf_printf(&b, "%s/sluice.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(b.s))
		die_errno("%s: cannot make a folder", b.s);
	*w = (Work){b.s, getpid()};
	die_cleanup(work_remove, w);
	return w;
}

/* ---- a command */

static void redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0666);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(NOT_STARTED);
	close(fd);
}

void child_begin(int out, int err)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	redirect("/dev/null", O_RDONLY, 0);
	dup2(out, 1);
	dup2(err, 2);
	signal(SIGPIPE, SIG_DFL);
}

static _Noreturn void become(char *const argv[], const char *in, const char *out, int err)
{
	child_begin(1, err);
	if (in)
		redirect(in, O_RDONLY, 0);
	redirect(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 1);
	execvp(argv[0], argv);
	_exit(NOT_STARTED);
}

bool child_wait(pid_t pid, double seconds, int *status)
{
	double begin = now_ms(), pause = 0.2;
	pid_t got;

	while (!(got = waitpid(pid, status, WNOHANG)) || (got < 0 && errno == EINTR)) {
		if (now_ms() - begin > 1000 * seconds) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return true;
		}
		nanosleep(&(struct timespec){0, (long)(1e6 * pause)}, NULL);
		pause = pause < 10 ? pause * 1.5 : pause;
	}
	kill(-pid, SIGKILL);            /* what it has left behind */
	return false;
}

/* The last line of what is in a file, without sanitizers' noise after their summary. */
static const char *last_line(int fd)
{
	char text[TAIL + 1];
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n = pread(fd, text, TAIL, size > TAIL ? size - TAIL : 0);
	char *line;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	if ((line = strstr(text, "SUMMARY: ")))
		line[strcspn(line, "\n")] = 0;
	else if ((line = strrchr(text, '\n')))
		line++;
	return arena_strdup(line ? line : text);
}

Outcome command_run(char *const argv[], const char *in, const char *out, double seconds)
{
	int err = memfd_create("stderr", MFD_CLOEXEC), status = 0;
	pid_t pid = err < 0 ? -1 : fork();
	Outcome o = {0};

	if (pid < 0)
		die_errno("cannot run %s", argv[0]);
	if (!pid)
		become(argv, in, out, err);
	setpgid(pid, pid);
	o.late = child_wait(pid, seconds, &status);
	o.signal = WIFSIGNALED(status) && !o.late ? WTERMSIG(status) : 0;
	o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	o.says = last_line(err);
	close(err);
	if (o.status == NOT_STARTED && !*o.says)
		die(FAILED, "cannot run %s", argv[0]);
	return o;
}

/* A shell tells of a signal with 128 and its number. */
static int signal_of(const Outcome *o)
{
	return o->signal ? o->signal : o->status > 128 && o->status < 128 + 65 ? o->status - 128 :
										  0;
}

bool outcome_crash(const Outcome *o)
{
	return o->late || o->signal || o->status > MALFORMED;
}

const char *outcome_text(const Outcome *o, double seconds)
{
	const char *name = signal_of(o) ? sigabbrev_np(signal_of(o)) : NULL;

	if (o->late)
		return arena_printf("did not end within %g s", seconds);
	if (signal_of(o))
		return arena_printf("killed by SIG%s", name ? name : "?");
	return arena_printf("ended with status %d%s%s", o->status, *o->says ? ": " : "", o->says);
}
