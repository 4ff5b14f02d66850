/* What goes when the process ends before its time: files half written, temporary folders. die() and
 * the signals that end a process from outside remove it; so does a normal exit.
 *
 * The list only grows, and a place is filled before it is shown, so that a signal that comes at any
 * moment finds whole entries. The handlers use nothing but system calls. */
#include "base/base.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHILDREN = 64 };
typedef struct Leftover Leftover;
struct Leftover { char *path; bool whole; Leftover *next; };    /* path NULL: free for another */

static struct {
	pthread_mutex_t lock;
	Leftover *top;
	pid_t owner;            /* a child that was forked must not remove what is its parent's */
	pid_t child[CHILDREN];  /* that run, 0: a free place */
} left = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The records of getdents64. */
typedef struct { uint64_t ino, off; uint16_t len; uint8_t type; char name[]; } Entry;

void folder_remove(const char *path)
{
	_Alignas(Entry) char bytes[4096];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (long n; fd >= 0 && (n = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;)
		for (long at = 0; at < n; at += ((Entry *)(bytes + at))->len)
			unlinkat(fd, ((Entry *)(bytes + at))->name, 0);
	if (fd >= 0)
		close(fd);
	rmdir(path);
}

/* No signal may end the process between a file's making and its note, nor in the midst of removing
 * what is no longer noted. */
static sigset_t hold_signals(void)
{
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	return before;
}

void leftovers_remove(void)
{
	if (!left.owner || getpid() != left.owner)
		return;
	sigset_t before = hold_signals();
	for (Leftover *s = left.top; s; s = s->next) {
		char *path = s->path;
		s->path = NULL;
		if (path && s->whole)
			folder_remove(path);
		else if (path && unlink(path))
			rmdir(path);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void leftovers_forget(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; left.owner && i < sizeof ends / sizeof *ends; i++)
		if (signal(ends[i], SIG_DFL) == SIG_IGN)
			signal(ends[i], SIG_IGN);
	left.owner = 0;
	left.top = NULL;
	memset(left.child, 0, sizeof left.child);
}

static void stop_children(void)
{
	for (int i = 0; i < CHILDREN; i++)
		if (left.child[i] > 0)
			kill(left.child[i], SIGTERM);
}

void leftovers_leave(void)
{
	if (left.owner && getpid() == left.owner)
		stop_children();
	leftovers_remove();
}

static void on_signal(int sig)
{
	leftovers_leave();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* A signal that is ignored (nohup) stays so. */
static void watch(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

	left.owner = getpid();
	atexit(leftovers_remove);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (signal(ends[i], on_signal) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

/* A free place, which is the caller's until place_fill. */
static Leftover *place_take(void)
{
	Leftover *s;

	pthread_mutex_lock(&left.lock);
	if (!left.owner)
		watch();
	for (s = left.top; s && s->path; s = s->next)
		;
	if (!s) {
		s = xcalloc(1, sizeof *s);
		s->next = left.top;
		__atomic_store_n(&left.top, s, __ATOMIC_RELEASE);
	}
	return s;
}

/* path NULL: it stays free. */
static void place_fill(Leftover *s, char *path, bool whole)
{
	s->whole = whole;
	__atomic_store_n(&s->path, path, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&left.lock);
}

void leftover_add(const char *path, bool whole)
{
	char *copy = xstrdup(path);

	place_fill(place_take(), copy, whole);
}

static int make(char *template, bool folder)
{
	char *copy = xstrdup(template);
	Leftover *s = place_take();
	sigset_t before = hold_signals();
	int fd = !folder ? mkostemp(template, O_CLOEXEC) : mkdtemp(template) ? 0 : -1, err = errno;

	strcpy(copy, template);
	place_fill(s, fd >= 0 ? copy : NULL, folder);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		free(copy);
	errno = err;
	return fd;
}

int leftover_make(char *template) { return make(template, false); }

bool leftover_folder(char *template) { return make(template, true) >= 0; }

void leftover_drop(const char *path)
{
	pthread_mutex_lock(&left.lock);
	for (Leftover *s = left.top; s; s = s->next)
		if (s->path && !strcmp(s->path, path)) {
			char *gone = s->path;
			s->path = NULL;
			free(gone);
			break;
		}
	pthread_mutex_unlock(&left.lock);
}

void leftover_child(pid_t pid, bool runs)
{
	pthread_mutex_lock(&left.lock);
	if (!left.owner)
		watch();
	for (int i = 0; i < CHILDREN; i++)
		if (left.child[i] == (runs ? 0 : pid)) {
			left.child[i] = runs ? pid : 0;
			break;
		}
	pthread_mutex_unlock(&left.lock);
}
