/* A program in C or C++: compiled to a shared object in a temporary folder, then traced by a child
 * process (trace_c.c), whose document is read here.
 *
 *     trace arm.c    =    cc -shared -fPIC -I…/include -o T/arm.c.so arm.c && trace T/arm.c.so
 *
 * So whatever the program does to its process, this one reports how it ended and leaves nothing
 * behind: a signal that ends it removes the folder and ends the children too. */
#include "io/io.h"
#include "process/process.h"
#include "c/c_program.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGV = 64, PIECE = 1 << 16, MAX_SHOWN = 8000 };
typedef struct { const char *suffix, *language, *standard, *compilers[4], *say; } Language;

COptions c_opt;

static const Language languages[] = {
	{".c", "c", "-std=gnu11", {"cc", "gcc", "clang"},
		"no C compiler: neither cc nor gcc nor clang is in PATH"},
#define CXX(suffix) {suffix, "c++", "-std=gnu++17", {"c++", "g++", "clang++"}, \
	"no C++ compiler: neither c++ nor g++ nor clang++ is in PATH"}
	CXX(".cpp"), CXX(".cc"), CXX(".cxx"),
#undef CXX
};

static const Language *language_of(const char *file)
{
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
		size_t n = strlen(file), k = strlen(languages[i].suffix);
		if (n > k && !strcmp(file + n - k, languages[i].suffix))
			return &languages[i];
	}
	return NULL;
}

bool file_is_c(const char *file) { return language_of(file); }

/* ---- the temporary folder */

/* The folder and file that this process has made and must remove; "": none. */
static struct { char folder[PATH_MAX], object[PATH_MAX]; } made;

static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(
		made.folder, sizeof made.folder, "%s/sluice-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (n >= (int)sizeof made.folder - 20 || !mkdtemp(made.folder)) {
		int why = errno;
		*made.folder = 0;
		errno = why;
		die_errno("cannot make a folder in %.200s", tmp && *tmp ? tmp : "/tmp");
	}
	snprintf(made.object, sizeof made.object, "%.*s/program.so", (int)sizeof made.object - 20,
		made.folder);
	leftover_add(made.folder, true);
}

/* ---- children */

static _Noreturn void become(const char *path, char *const argv[], int taken, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(out, taken);
	if (taken == 2)
		dup2(out, 1);
	signal(SIGPIPE, SIG_DFL);
	/* the child ends with this process, however that ends */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent)
		execv(path, argv);
	_exit(127);
}

/* Runs argv; its output on descriptor `taken` goes to out. Returns the status, or 128 plus the
 * number of the signal that ended it. */
static int child_run(char *const argv[], int taken, Buf *out)
{
	int end[2], status;
	char piece[PIECE];
	ssize_t n;
	pid_t self = getpid();
	if (process.verbose)
		show_command(argv);
	if (pipe2(end, O_CLOEXEC))
		die_errno("cannot make a pipe");
	pid_t pid = fork();
	if (pid < 0)
		die_errno("cannot start %s", argv[0]);
	if (!pid)
		become(argv[0], argv, taken, end[1], self);
	close(end[1]);
	while ((n = read(end[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			buf_add(out, piece, n);
	close(end[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("cannot wait for %s", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the compiler */

static const char *find_compiler(const Language *l)
{
	const char *path = NULL;
	if (c_opt.cc && !(path = program_find(c_opt.cc)))
		die(FAILED, "no compiler '%.200s'", c_opt.cc);
	for (int i = 0; !path && i < 3; i++)
		path = program_find(l->compilers[i]);
	if (!path)
		die(FAILED, "%s", l->say);
	return path;
}

/* gcc and clang need different flags to report errors at the program's line, not inside the
 * header's macros. */
static bool is_clang(const char *path)
{
	char real[PATH_MAX];
	const char *to = realpath(path, real) ? real : path, *slash = strrchr(to, '/');
	return strstr(slash ? slash : to, "clang");
}

static int split_flags(const char *text, char **argv, int n)
{
	char *at, *rest = text ? arena_strdup(text) : NULL;
	while (rest && (at = strtok_r(rest, " \t\n", &rest))) {
		if (n == MAX_ARGV - 10)
			die(USAGE, "too many --cflags");
		argv[n++] = at;
	}
	return n;
}

/* The compiler's output without the control characters that a terminal would obey. */
static char *clean(const Buf *b)
{
	size_t n = b->n < MAX_SHOWN ? b->n : MAX_SHOWN;
	char *s = arena_printf("%.*s", (int)n, b->n ? b->s : "");
	for (char *c = s; *c; c++)
		*c = ((unsigned char)*c < 32 && *c != '\n' && *c != '\t') || *c == 127 ? '?' : *c;
	for (size_t k = strlen(s); k && s[k - 1] == '\n'; k--)
		s[k - 1] = 0;
	return s;
}

/* the first line with an error, or else the first line */
static const char *first_error(const char *text)
{
	const char *at = strstr(text, "error:");
	at = at ? at : strstr(text, "undefined reference");
	at = at ? at : text;
	while (at > text && at[-1] != '\n')
		at--;
	return arena_printf("%.*s", (int)strcspn(at, "\n"), at);
}

/* A name that starts with - would be taken for a flag. */
static char *as_operand(const char *file)
{
	return *file == '-' ? arena_printf("./%s", file) : arena_strdup(file);
}

static void compile(const Language *l, const char *file)
{
	char *argv[MAX_ARGV];
	Buf said = {0};
	int n = 0;
	char *header = (char *)own_file("include/sluice/tensor.h");
	if (!header)
		die(FAILED, "include/sluice/tensor.h is not beside the tools");
	header = arena_printf("%.*s", (int)(strlen(header) - strlen("/sluice/tensor.h")), header);
	char *fixed[] = {(char *)find_compiler(l), (char *)l->standard, "-O0", "-fwrapv",
		"-fno-strict-aliasing", "-fPIC", "-shared", "-Wl,-z,defs", "-Wall", "-Wno-unused",
		"-Werror=implicit-function-declaration", "-Werror=int-conversion",
		"-fdiagnostics-color=never", "-isystem", header};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (strncmp(fixed[i], "-Werror", 7) || !strcmp(l->language, "c"))
			argv[n++] = fixed[i];
	argv[n++] = is_clang(argv[0]) ? "-fmacro-backtrace-limit=1" : "-ftrack-macro-expansion=0";
	n = split_flags(c_opt.cflags, argv, n);
	char *last[] = {
		"-o", made.object, "-x", (char *)l->language, as_operand(file), "-x", "none", "-lm",
		NULL};
	memcpy(argv + n, last, sizeof last);
	int status = child_run(argv, 2, &said);
	char *text = clean(&said);
	if (status >= 127)
		die(FAILED, "%s failed with status %d", argv[0], status);
	if (status) {
		process.context = text;
		die(MALFORMED, "it does not compile: %s",
			*text ? first_error(text) : "the compiler does not say why");
	}
	if (*text)
		fprintf(stderr, "%s\n", text);
}

/* ---- the graph */

/* The document that tracing the program gives, in the arena, of *size bytes. */
static const void *traced(size_t *size)
{
	char *argv[8];
	Buf out = {0};
	int n = 0;
	if (!(argv[n++] = (char *)tool_find("trace")))
		die(FAILED, "trace is not on the stage path %s", stage_path());
	argv[n++] = made.object;
	if (process.open)
		argv[n++] = "--no-walls";
	if (c_opt.function)
		argv[n++] = arena_printf("--function=%s", c_opt.function);
	argv[n] = NULL;
	int status = child_run(argv, 1, &out);
	/* the child has reported the error */
	if (status >= FAILED && status <= MALFORMED)
		die_silent(status);
	if (status > 128)
		die(FAILED, "the program was ended by signal %d (%s)", status - 128,
			strsignal(status - 128));
	if (status || !out.n)
		die(FAILED, "the program ended with status %d before it was traced", status);
	/* the arena keeps the bytes for as long as bins refer to them */
	void *bytes = arena_alloc(out.n);
	memcpy(bytes, out.s, out.n);
	*size = out.n;
	buf_free(&out);
	return bytes;
}

Graph *read_c(const char *file)
{
	const Language *l = language_of(file);
	size_t n;
	process.where = file;
	if (access(file, R_OK))
		die_errno("cannot open");
	make_folder();
	compile(l, file);
	const void *document = traced(&n);
	folder_remove(made.folder);
	leftover_drop(made.folder);
	process.where = NULL;
	/* the program may have written anything */
	confine_stage(stream_writes());
	return wire_read(document, n, NULL, 0);
}
