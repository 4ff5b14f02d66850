/* Starts stages for a stage that may start none itself, because it is confined.
 *
 *     stage  ──  argv…, document  →  broker  ──  pipes  →  schedule | fuse | …
 *            ←  status, document  ──
 *            ──  path             →          →  open
 *            ←  descriptor        ──
 *            ──  number           →          →  a worker: a function of the tool's own, such as
 *            ←  descriptor        ──             one unit of C compiled, in a process of its own
 *
 * The broker is forked before the walls go up and before anything is read. It takes no orders but
 * to run tools of the stage path as filters, with options that name no files and give no leave that
 * the user has not given, and to open files for reading, but for those of private.c: whoever has
 * taken over the stage gains only what it does anyway. */
#include "io/io.h"
#include "process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_STAGES = 16, MOST_ARGS = 64, MOST_TEXT = 1 << 16 };
/* A request's head: bytes of its arguments (each with a NUL; an empty one ends a stage's) and of
 * its input. A reply's: status, the stage that failed, bytes of its output. */
/* KEEP: only a reproducer; OPEN: a letter for OPEN_WAIT …, then the path; OUTPUT: the file that
 * output_open has made is kept ("k") or removed */
typedef enum { RUN, KEEP, OPEN, WORK, OUTPUT } Task;
typedef struct { uint64_t task, args, input; } Request;
typedef struct { int32_t status, failed; uint64_t output; } Reply;
/* what a message carries beside its bytes: a descriptor */
typedef union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } Extra;

/* workers: what the tool offers; output: its standard output, for them; told: process.told of all
 * of them, in memory that they share */
static struct { int fd, output, *told; Worker worker[WORKERS]; } broker = {-1, -1};

static bool put(int fd, const void *p, size_t n)
{
	for (const char *at = p; n;) {
		ssize_t k = write(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= k;
	}
	return true;
}

static bool get(int fd, void *p, size_t n)
{
	for (char *at = p; n;) {
		ssize_t k = read(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= k;
	}
	return true;
}

/* ---- the broker's side */

static bool is_tool(const char *path)
{
	const char *slash = strrchr(path, '/'), *found = slash ? tool_find(slash + 1) : NULL;

	return found && !strcmp(found, path);
}

/* A word of an option, or its value: no file, no leave but what the user has given. */
static bool is_harmless(const char *arg)
{
	bool leave = !strncmp(arg, "--allow", 7) && !process.custom_allowed;

	return !leave && !strchr(arg, '/') && strncmp(arg, "-o", 2) && strncmp(arg, "-i", 2) &&
		strncmp(arg, "--output", 8) && strncmp(arg, "--input", 7);
}

/* Reads a request's arguments into argvs; false when it asks for what it may not have. */
static bool arguments(char *text, size_t n, char **argv, char ***argvs)
{
	size_t stages = 0, args = 0;
	bool first = true;

	for (char *s = text; s < text + n; s += strlen(s) + 1) {
		if (args + 2 > MOST_ARGS || stages + 2 > MOST_STAGES)
			return false;
		if (!*s) {
			argv[args++] = NULL;
			first = true;
			continue;
		}
		if (first ? !is_tool(s) : !is_harmless(s))
			return false;
		if (first)
			argvs[stages++] = &argv[args];
		first = false;
		argv[args++] = s;
	}
	argvs[stages] = NULL;
	return stages && first;
}

/* ---- workers */

typedef struct { int32_t status; uint64_t n; } Result;

/* The worker's whole life: its input comes by fd, and so goes what it has made. */
static _Noreturn void work(Worker fn, int fd)
{
	uint64_t n;
	Buf out = {0};

	leftovers_forget();
	process.opener = NULL;
	process.confined = false;
	process.told = broker.told;
	timeline_forked();
	if (!get(fd, &n, sizeof n))
		_exit(FAILED);
	char *in = xmalloc(n + 1);
	if (!get(fd, in, n))
		_exit(FAILED);
	in[n] = 0;
	Result r = {.status = fn(in, n, &out)};
	r.n = out.n;
	bool sent = put(fd, &r, sizeof r) && put(fd, buf_str(&out), out.n);
	if (!sent && errno != EPIPE)
		die_errno("cannot tell what was made");
	leftovers_remove();
	timeline_end();
	_exit(sent ? DONE : FAILED);
}

/* Starts worker k and returns the other end of its socket; -1 and errno. It ends with its parent.
 */
static int work_start(int k)
{
	int fd[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		close(fd[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(FAILED);
		if (broker.output >= 0)
			dup2(broker.output, 1);
		work(broker.worker[k], fd[1]);
	}
	close(fd[1]);
	if (pid > 0)
		return fd[0];
	close(fd[0]);
	return -1;
}

/* The reply to OPEN and WORK has errno for its status, and the descriptor beside it. */
static bool serve_descriptor(int fd, int file)
{
	Reply reply = {.status = file < 0 ? errno : 0};
	struct iovec bytes = {&reply, sizeof reply};
	Extra extra = {.head = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};

	if (file >= 0) {
		memcpy(CMSG_DATA(&extra.head), &file, sizeof file);
		m.msg_control = &extra;
		m.msg_controllen = sizeof extra.room;
	}
	bool sent = sendmsg(fd, &m, MSG_NOSIGNAL) == sizeof reply;
	if (file >= 0)
		close(file);
	return sent;
}

static bool serve_run(int fd, const Request *r, char *text, const char *input)
{
	char *argv[MOST_ARGS], **argvs[MOST_STAGES];
	char *const *const *all = (char *const *const *)argvs;
	Reply reply = {.status = FAILED, .failed = 0};
	Buf out = {0};
	int failed = -1;

	if (arguments(text, r->args, argv, argvs)) {
		bool keep = r->task == KEEP;
		const char *kept = keep ? reproducer_save(all, input, r->input) : NULL;
		reply.status = keep ? DONE : spawn_pipeline(all, input, r->input, &out, &failed);
		reply.failed = failed;
		if (kept)
			buf_add(&out, kept, strlen(kept));
	}
	reply.output = out.n;
	bool sent = put(fd, &reply, sizeof reply) && put(fd, buf_str(&out), out.n);
	buf_free(&out);
	return sent;
}

/* A name that cannot be given ends the broker, with the message. */
static bool serve_output(int fd, bool keep)
{
	Reply reply = {.status = DONE};

	output_end(keep);
	return put(fd, &reply, sizeof reply);
}

static bool serve_one(int fd)
{
	Request r;

	if (!get(fd, &r, sizeof r) || r.args > MOST_TEXT)
		return false;
	char *text = xcalloc(r.args + 1, 1), *input = xmalloc(r.input + 1);
	bool good = get(fd, text, r.args) && get(fd, input, r.input);
	switch (good ? r.task : ~0u) {
	case RUN:
	case KEEP: good = serve_run(fd, &r, text, input); break;
	case OPEN: good = serve_descriptor(fd, file_open_public(text + !!*text, *text - 1)); break;
	case WORK:
		errno = ENOSYS;
		good = serve_descriptor(fd, (unsigned char)*text < WORKERS &&
			broker.worker[(unsigned char)*text] ? work_start(*text) : -1);
		break;
	case OUTPUT: good = serve_output(fd, *text == 'k'); break;
	default: good = false;
	}
	/* workers that have ended: nothing else runs between two requests */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	free(text);
	free(input);
	return good;
}

static _Noreturn void serve(int fd, pid_t stage)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < WORKERS && broker.output < 0; i++)
		broker.output = broker.worker[i] ? fcntl(1, F_DUPFD_CLOEXEC, 3) : -1;
	/* whoever reads the stage's output must not wait for the broker */
	dup2(null, 0);
	dup2(null, 1);
	leftovers_forget();
	output_inherit();
	/* it ends with the stage, however that ends */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* a stage that ended before this has asked for all that it wanted */
	while (getppid() == stage && serve_one(fd))
		;
	leftovers_remove();
	_exit(DONE);
}

/* ---- the stage's side */

static void ask_output_end(bool keep)
{
	Request q = {OUTPUT, 1, 0};
	Reply r;

	/* one that could not do it has said why */
	if (!put(broker.fd, &q, sizeof q) || !put(broker.fd, keep ? "k" : "r", 1) ||
		!get(broker.fd, &r, sizeof r))
		die_silent(FAILED);
}

void broker_start(void)
{
	int fd[2];

	if (process.open || broker.fd >= 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return;
	pid_t parent = getpid(), pid = fork();
	if (!pid) {
		close(fd[0]);
		serve(fd[1], parent);
	}
	close(fd[1]);
	if (pid > 0) {
		broker.fd = fd[0];
		process.output_end = ask_output_end;
	} else {
		close(fd[0]);
	}
}

bool broker_has(void) { return broker.fd >= 0; }

static void add_argument(Buf *b, const char *s) { buf_add(b, s, strlen(s) + 1); }

static _Noreturn void ended(void)
{
	die(FAILED, "the process that starts stages and opens files for it has ended");
}

static Reply ask(Task task, char *const *const *argvs, const void *in, size_t n, Buf *out)
{
	Buf args = {0};
	Reply r;

	for (size_t i = 0; argvs[i]; i++) {
		for (char *const *a = argvs[i]; *a; a++)
			add_argument(&args, *a);
		add_argument(&args, "");
	}
	Request q = {task, args.n, n};
	bool good = put(broker.fd, &q, sizeof q) && put(broker.fd, args.s, args.n) &&
		put(broker.fd, in, n) && get(broker.fd, &r, sizeof r);
	buf_free(&args);
	if (!good)
		ended();
	char piece[1 << 16];
	for (uint64_t left = r.output; left;) {
		size_t k = left < sizeof piece ? left : sizeof piece;
		if (!get(broker.fd, piece, k))
			ended();
		if (out)
			buf_add(out, piece, k);
		left -= k;
	}
	return r;
}

int broker_run(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed)
{
	Reply r = ask(RUN, argvs, in, n, out);

	*failed = r.failed;
	return r.status;
}

/* Asks for a descriptor; -1 and errno. */
static int ask_descriptor(Task task, const char *args, size_t n)
{
	Request q = {task, n, 0};
	Reply r = {0};
	struct iovec bytes = {&r, sizeof r};
	Extra extra = {0};
	struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &extra,
		.msg_controllen = sizeof extra.room};
	int fd = -1;

	if (n > MOST_TEXT) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (!put(broker.fd, &q, sizeof q) || !put(broker.fd, args, n) ||
		recvmsg(broker.fd, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL) != sizeof r)
		ended();
	if (!r.status && m.msg_controllen >= sizeof extra.head)
		memcpy(&fd, CMSG_DATA(&extra.head), sizeof fd);
	errno = r.status;
	return fd;
}

/* process.opener */
static int broker_open(const char *path, int how)
{
	const char *asked = arena_printf("%c%s", how + 1, path);

	return ask_descriptor(OPEN, asked, strlen(asked) + 1);
}

void worker_offer(int k, Worker fn)
{
	broker.worker[k] = fn;
	if (broker.told)
		return;
	broker.told = mmap(NULL, sizeof *broker.told, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (broker.told == MAP_FAILED)
		die_memory("workers", sizeof *broker.told);
}

int worker_start(int k, const void *in, size_t n)
{
	uint64_t bytes = n;
	int fd = broker_has() ? ask_descriptor(WORK, &(char){k}, 1) : work_start(k);

	if (fd < 0)
		die_errno("cannot start a process");
	/* one that dies says why itself, and worker_end sees it; another would wait for more */
	if (!(put(fd, &bytes, sizeof bytes) && put(fd, in, n)) && errno != EPIPE)
		die_errno("cannot tell a process what to do");
	return fd;
}

int worker_end(int fd, Buf *out)
{
	char piece[1 << 14];
	Result r = {FAILED, 0};
	bool whole = get(fd, &r, sizeof r);

	if (!whole)
		r = (Result){-1, 0};
	for (uint64_t left = r.n, k; left; left -= k) {
		k = left < sizeof piece ? left : sizeof piece;
		if (!get(fd, piece, k))
			ended();
		buf_add(out, piece, k);
	}
	close(fd);
	return r.status;
}

const char *broker_keep(char *const *const *argvs, const void *in, size_t n)
{
	Buf path = {0};

	ask(KEEP, argvs, in, n, &path);
	return path.n ? buf_str(&path) : NULL;
}

void broker_opens(void)
{
	if (broker_has())
		process.opener = broker_open;
}
