/* A compiled program in C: loads it into this process and runs its function once with symbolic
 * arguments.
 *
 *     arm.so  →  dlopen, sluice_api = the table, arm's trace()  →  the graph of what it called
 *
 * The program is native code, and may compute and read what this user can read. Walls keep it, from
 * before it is loaded, from writing files, starting processes and reaching a network. Its output
 * goes to standard error; if it crashes, exits or takes too long, one line reports it with the
 * place of its last call into the library. */
#include "io/io.h"
#include "process/process.h"
#include "library/library.h"
#include "c/c_program.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { SECONDS = 60, SIGNAL_STACK = 1 << 16, MAX_LINE = 4096 };

static ARENA const char *source;        /* the program's name in messages */
static ARENA volatile sig_atomic_t tracing;

/* ---- the source line below a message */

/* Runs when a message is printed, since only then is the line needed. */
static void show_line(void *unused)
{
	SluicePlace at = c_place();
	char text[MAX_LINE];
	FILE *f = tracing && at.file && at.line > 0 ? fopen(at.file, "r") : NULL;
	int line = 0;
	while (f && line < at.line && fgets(text, sizeof text, f))
		line += strchr(text, '\n') != NULL;
	if (!f || line < at.line)
		return;
	text[strcspn(text, "\n")] = 0;
	for (char *s = text; *s; s++)
		*s = (unsigned char)*s < 32 || *s == 127 ? ' ' : *s;
	process.context = arena_printf("\t%.200s", text + strspn(text, " "));
}

/* ---- crashes, exits and time limits */

static const char *signal_text(int sig)
{
	switch (sig) {
	case SIGSEGV:
	case SIGBUS: return "it reached for memory that is not its own";
	case SIGFPE: return "a division by 0, or another wrong step of arithmetic";
	case SIGILL: return "an illegal instruction";
	case SIGABRT: return "it called abort, or an assertion failed";
	default: return "it took more processor time than a minute";
	}
}

/* Does not call die: that allocates memory, and the heap may be corrupt. */
static void ended_by(int sig)
{
	SluicePlace at = c_place();
	char line[1000];
	char place[16] = "";
	if (at.file)
		snprintf(place, sizeof place, ":%d", at.line);
	int n = snprintf(line, sizeof line - 1, "%s: %.600s%s: the program ended%s: %s",
		process.stage, at.file ? at.file : source, place,
		at.file ? " here or behind it" : "", signal_text(sig));
	for (int i = 0; i < n; i++)
		line[i] = (unsigned char)line[i] < 32 || line[i] == 127 ? '?' : line[i];
	line[n++] = '\n';
	_exit(write(2, line, n) < 0 ? FAILED : FAILED);
}

static void ended_by_exit(void)
{
	if (!tracing)
		return;
	tracing = false;
	process.where = c_place().file ? c_place_text(c_place()) : source;
	process.context = NULL;
	die(FAILED, "the program called exit before it was traced");
}

static void guard(void)
{
	static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
	struct sigaction how = {.sa_handler = ended_by, .sa_flags = SA_ONSTACK};
	/* an endless recursion leaves no space on its own stack */
	sigaltstack(&(stack_t){.ss_sp = xmalloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK}, NULL);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaction(ends[i], &how, NULL);
	atexit(ended_by_exit);
	die_cleanup(show_line, NULL);
}

static void unguard(void)
{
	static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		signal(ends[i], SIG_DFL);
}

/* ---- processor time */

static void limit_time(void)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
}

/* ---- the program's functions */

static const char *function_names(const SluiceFunction *f)
{
	Buf b = {0};
	for (int n = 0; f && n < 20; f = f->next, n++)
		buf_printf(&b, "%s%.60s", n ? ", " : "", f->name);
	if (f)
		buf_printf(&b, ", …");
	return arena_strdup(buf_str(&b));
}

static const SluiceFunction *choose_function(const SluiceFunction *first)
{
	const SluiceFunction *f = first;
	if (!first)
		die(MALFORMED, "it declares no function: SLUICE_FUNCTION(name, ARG(…)) { … }");
	if (!c_opt.function && first->next)
		die(USAGE, "it has several functions: choose by --function one of %s",
			function_names(first));
	while (f && c_opt.function && strcmp(f->name, c_opt.function))
		f = f->next;
	if (!f)
		die(USAGE, "it has no function '%.60s'; it has %s", c_opt.function,
			function_names(first));
	return f;
}

static const SluiceFunction *load_program(const char *file)
{
	/* without a slash, dlopen would search the library path */
	void *lib = dlopen(
		strchr(file, '/') ? file : arena_printf("./%s", file), RTLD_NOW | RTLD_LOCAL);
	const char *why = lib ? NULL : dlerror();
	if (!lib)
		die(MALFORMED, "cannot load it: %s", why);
	const SluiceApi **api = dlsym(lib, "sluice_api");
	const int *version = dlsym(lib, "sluice_api_version");
	SluiceFunction *const *functions = dlsym(lib, "sluice_functions");
	const char *const *from = dlsym(lib, "sluice_source");
	if (!api || !version || !functions || !from)
		die(MALFORMED, "it includes no <sluice/tensor.h>");
	if (*version != SLUICE_API)
		die(UNSUPPORTED,
			"it was compiled against version %d of <sluice/tensor.h>; this is %d",
			*version, SLUICE_API);
	process.where = source = *from;
	*api = &c_api;
	return choose_function(*functions);
}

/* Moves standard output away from the program: the document is written there. */
static int move_output(void)
{
	int saved = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (saved < 0 || dup2(2, 1) < 0)
		die_errno("standard output");
	return saved;
}

static void restore_output(int saved)
{
	fflush(stdout);
	if (dup2(saved, 1) < 0)
		die_errno("standard output");
	close(saved);
}

Graph *read_compiled(const char *file)
{
	process.where = source = file;
	confine_build(stream_writes(), 0, NULL);
	buffers_reset();
	program_start();
	reading.wide = true;
	int saved = move_output();
	limit_time();
	guard();
	tracing = true;
	const SluiceFunction *f = load_program(file);
	f->trace();
	steps_closed();
	tracing = false;
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
	unguard();
	restore_output(saved);
	process.where = arena_printf("%s: %s", c_place_text(f->at), f->name);
	process.context = NULL;
	Graph *g = program_graph();
	process.where = NULL;
	return g;
}
