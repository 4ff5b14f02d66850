/* When each stage of a pipeline ran, on one timeline with the kernels: the events of all processes
 * in the file that SLUICE_PROFILE names, in the format that Perfetto and chrome://tracing open.
 *
 *     {"displayTimeUnit": "ms", "traceEvents": [
 *     {"ph": "X", "pid": 71, "tid": 0, "ts": 8.5, "dur": 2100, "name": "fuse", "args": {…}},
 *     …
 *     ]}
 *
 * The file is opened before the walls. A process adds what it has when it ends, in the place of the
 * last line, so the file is whole between any two. Times are of the clock that all processes share;
 * documents say nothing of them, and stay the same. */
#include "process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n",
	foot[] = "\n]}\n", variable[] = "SLUICE_PROFILE";
enum { HEAD = sizeof head - 1, FOOT = sizeof foot - 1, MAIN_LANE = 0, KERNELS_LANE = 1 };

static struct { int fd; pid_t pid; double begin; Buf events; bool lanes; } timeline = {.fd = -1};

static void put_text(Buf *b, const char *text)
{
	buf_printf(b, "\"");
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			buf_printf(b, "\\%c", *text);
		else if ((unsigned char)*text >= ' ')
			buf_add(b, text, 1);
	buf_printf(b, "\"");
}

/* The name of the process, or of a lane in it. */
static void put_name(const char *what, int lane, const char *name)
{
	buf_printf(&timeline.events, "%s{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": "
		"\"%s_name\", \"args\": {\"name\": ", timeline.events.n ? ",\n" : "",
		(int)timeline.pid, lane, what);
	put_text(&timeline.events, name);
	buf_printf(&timeline.events, "}}");
}

static void put_span(int lane, const char *name, const char *args, double begin, double ms)
{
	buf_printf(&timeline.events, ",\n{\"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, "
		"\"dur\": %.3f, \"name\": ", (int)timeline.pid, lane, begin * 1000, ms * 1000);
	put_text(&timeline.events, name);
	buf_printf(&timeline.events, "%s}", args);
}

void timeline_span(const char *name, double begin, double ms)
{
	if (timeline.fd >= 0)
		put_span(MAIN_LANE, name, "", begin, ms);
}

void timeline_kernel(const char *name, const char *layer, double begin, double ms)
{
	Buf args = {0};

	if (timeline.fd < 0)
		return;
	if (!timeline.lanes)
		put_name("thread", KERNELS_LANE, "kernels");
	timeline.lanes = true;
	if (*layer) {
		buf_printf(&args, ", \"args\": {\"layer\": ");
		put_text(&args, layer);
		buf_printf(&args, "}");
	}
	put_span(KERNELS_LANE, name, buf_str(&args), begin, ms);
	buf_free(&args);
}

/* ---- the file */

static void lock(short type)
{
	struct flock all = {.l_type = type, .l_whence = SEEK_SET};

	while (fcntl(timeline.fd, F_SETLKW, &all) < 0 && errno == EINTR)
		;
}

/* Whether the file is one of ours, or empty. Asked under the lock: another process may be between
 * taking the last line away and writing it anew. */
static bool is_timeline(off_t size)
{
	char first[HEAD], last[FOOT];

	return !size || (size >= HEAD + FOOT &&
		pread(timeline.fd, first, HEAD, 0) == HEAD && !memcmp(first, head, HEAD) &&
		pread(timeline.fd, last, FOOT, size - FOOT) == FOOT && !memcmp(last, foot, FOOT));
}

/* When the process ends, by whichever way. */
static void add_events(void *unused)
{
	struct rusage used;
	struct stat st;
	Buf b = {0};

	if (timeline.fd < 0 || timeline.pid != getpid())
		return;
	getrusage(RUSAGE_SELF, &used);
	put_span(MAIN_LANE, process.stage, arena_printf(", \"args\": {\"peak MB\": %.1f, "
		"\"processor ms\": %.3f}", used.ru_maxrss / 1024.0,
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3),
		timeline.begin, now_ms() - timeline.begin);
	lock(F_WRLCK);
	off_t size = fstat(timeline.fd, &st) ? 0 : st.st_size;
	buf_printf(&b, "%s", size ? ",\n" : head);
	buf_add(&b, timeline.events.s, timeline.events.n);
	buf_printf(&b, "%s", foot);
	if (!is_timeline(size) ||
		pwrite(timeline.fd, b.s, b.n, size ? size - FOOT : 0) != (ssize_t)b.n)
		warn("the timeline cannot be written");
	lock(F_UNLCK);
	buf_free(&b);
	close(timeline.fd);
	timeline.fd = -1;
}

void timeline_end(void) { add_events(NULL); }

static void begin_process(void)
{
	timeline.pid = getpid();
	put_name("process", MAIN_LANE, process.stage);
}

void timeline_forked(void)
{
	if (timeline.fd < 0)
		return;
	timeline.events.n = 0;
	timeline.lanes = false;
	timeline.begin = now_ms();
	begin_process();
}

static void open_file(const char *file, bool anew)
{
	struct stat st;

	timeline.fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
	if (timeline.fd < 0)
		die_errno("%s: cannot open", file);
	lock(F_WRLCK);
	bool ours = !fstat(timeline.fd, &st) && S_ISREG(st.st_mode) &&
		(anew ? !ftruncate(timeline.fd, 0) : is_timeline(st.st_size));
	lock(F_UNLCK);
	if (!ours) {
		close(timeline.fd);
		timeline.fd = -1;
		die(FAILED, "%s=%s: this file is no timeline: remove it, or name another one",
			variable, file);
	}
	begin_process();
	atexit(timeline_end);
	die_cleanup(add_events, NULL);
}

void timeline_begin(void)
{
	const char *file = getenv(variable);

	timeline.begin = now_ms();
	if (file && *file)
		open_file(file, false);
}

void timeline_to(const char *file)
{
	const char *given = getenv(variable);

	if (given && !strcmp(given, file))
		return;
	if (timeline.fd >= 0)
		die(USAGE, "%s names another file than --profile=%s", variable, file);
	open_file(file, true);
	setenv(variable, file, true);
}
