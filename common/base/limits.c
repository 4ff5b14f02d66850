/* Limits on what a document may take: --limit mem=2G,time=60,work=1e15, and --no-limit.
 *
 * mem is a limit of the kernel's on memory of the process's own (RLIMIT_DATA: files that are mapped
 * are not counted), so that what would not end ends by it; children have it too. time is a timer
 * over one document, from when it is there until the next is asked for. work is compared with an
 * estimate before a document is run. */
#include "base/base.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

Limits limits = {.work = 1e15, .socket_time = 600, .wait = 300};

/* ---- the option */

/* A number with a suffix K, M, G or T, which count by 1024 for bytes. */
static bool number_of(const char *s, size_t n, double unit, double *out)
{
	static const char suffix[] = "KMGT";
	char text[40], *end;

	if (!n || n >= sizeof text)
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	*out = strtod(text, &end);
	for (const char *at = *end ? strchr(suffix, *end) : NULL; at && at >= suffix; at--)
		*out *= unit;
	return end != text && (!*end || (strchr(suffix, *end) && !end[1])) && *out > 0 &&
		*out <= 1e30;
}

static bool limit_one(const char *s, size_t n)
{
	const struct { const char *name; double unit, *to; } rows[] = {
		{"mem=", 1024, &limits.memory},
		{"time=", 1000, &limits.time},
		{"work=", 1000, &limits.work},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t k = strlen(rows[i].name);
		if (n > k && !memcmp(s, rows[i].name, k))
			return number_of(s + k, n - k, rows[i].unit, rows[i].to);
	}
	return false;
}

void limits_read(const char *list)
{
	for (const char *s = list; s; s = *s ? s + 1 : NULL) {
		size_t n = strcspn(s, ",");
		if (!limit_one(s, n))
			die(USAGE, "--limit takes mem=BYTES, time=SECONDS, work=STEPS, not '%.80s'",
				list);
		s += n;
	}
}

/* ---- memory */

void limits_apply(void)
{
	struct rlimit r;
	double most = limits.memory;

	if (limits.none)
		limits.memory = limits.time = limits.socket_time = limits.work = 0;
	else if (!most)
		most = memory_most() / 8.0 * 7;
#ifdef __SANITIZE_ADDRESS__
	most = 0;               /* its shadow memory is larger than any limit */
#endif
	process.memory_limit = limits.memory < (double)SIZE_MAX ? (size_t)limits.memory : 0;
	if (process.memory_limit && process.memory_limit < memory_most())
		limits.machine = process.memory_limit;
	if (!limits.none && most && most < (double)INT64_MAX && !getrlimit(RLIMIT_DATA, &r) &&
		(r.rlim_cur == RLIM_INFINITY || (double)r.rlim_cur > most)) {
		r.rlim_cur = (rlim_t)most;
		setrlimit(RLIMIT_DATA, &r);
	}
	limits_time(true);
}

/* Whether the kernel gives n bytes, and what malloc asks for at once. */
static bool bytes_there(size_t n)
{
	enum { PIECE = 2 << 20 };
	void *p = mmap(NULL, n + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		munmap(p, n + PIECE);
	return p != MAP_FAILED;
}

/* Whether they are there once the kernel's limit is away. */
static bool without_limit(size_t n, struct rlimit r)
{
	r.rlim_cur = r.rlim_max;
	return !setrlimit(RLIMIT_DATA, &r) && bytes_there(n);
}

size_t limits_memory(size_t n)
{
	struct rlimit r;

	/* checked against a table of the tool's own, or where the kernel knows of no limit */
	if (process.memory_limit && n > process.memory_limit)
		return process.memory_limit;
	if (getrlimit(RLIMIT_DATA, &r) || r.rlim_cur == RLIM_INFINITY)
		return 0;
	return n > r.rlim_cur || (!bytes_there(n) && without_limit(n, r)) ? r.rlim_cur : 0;
}

/* ---- time */

/* Made before it is needed: nothing that the handler uses may allocate. */
static struct { char text[200]; int n; } late;

static void on_alarm(int sig)
{
	(void)!write(2, late.text, late.n);
	leftovers_leave();
	_exit(MALFORMED);
}

void limits_time(bool begins)
{
	double s = limits.time ? limits.time : process.from_socket ? limits.socket_time : 0;
	struct itimerval t = {{0, 0}, {0, 0}};

	if (!s)
		return;
	if (begins) {
		late.n = snprintf(late.text, sizeof late.text, "%.20s: it takes longer than the "
			"limit of time, %g s, allows (--limit time=… or --no-limit raises it)\n",
			process.stage, s);
		signal(SIGALRM, on_alarm);
		s = s < 1e-3 ? 1e-3 : s > 1e9 ? 1e9 : s;
		t.it_value.tv_sec = (time_t)s;
		t.it_value.tv_usec = (suseconds_t)((s - (double)t.it_value.tv_sec) * 1e6);
	}
	setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- work */

void limits_work(double steps)
{
	if (limits.work && steps > limits.work)
		die(MALFORMED, "a call of %.3g steps: more than the limit of work, %.3g, allows "
			"(--limit work=… or --no-limit raises it)", steps, limits.work);
}
