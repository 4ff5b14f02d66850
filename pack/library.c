/* A module as a library: a worker, which may start a compiler, writes the files to a folder of its
 * own, compiles them, and gives back the bytes.
 *
 *     NAME.c NAME_module.c NAME_pool.c NAME_weights.S   →   libNAME.so, or libNAME.a
 */
#include "library.h"
#include "io/io.h"
#include "process/process.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* As level program asks (common/README.md). The loop vectorizer of gcc 12 miscompiles
 * `if (b[i]) y[i] = -x[i]` within another loop. */
static const char *const flags[] = {"-std=gnu11", "-O2", "-w", "-fPIC", "-fwrapv",
	"-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"};

static struct { const char *cc, *march; } wanted;

enum { MOST = 32 };             /* files */

static const char *compiler(void)
{
	static const char *const names[] = {"cc", "gcc", "clang"};
	const char *path = NULL;

	if (wanted.cc) {
		path = strchr(wanted.cc, '/') ? wanted.cc : program_find(wanted.cc);
	} else {
		for (size_t i = 0; i < sizeof names / sizeof *names && !path; i++)
			path = program_find(names[i]);
	}
	if (!path)
		die(FAILED, "there is no compiler %s", wanted.cc ? wanted.cc : "cc, gcc or clang");
	return path;
}

/* argv has room for all. */
static void command(char **argv, size_t *n, const char *first)
{
	argv[(*n)++] = (char *)first;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		argv[(*n)++] = (char *)flags[i];
	if (strstr(compiler(), "clang") == NULL)
		argv[(*n)++] = "-fno-tree-loop-vectorize";
	argv[(*n)++] = arena_printf("-march=%s", wanted.march ? wanted.march : "native");
}

static void start(char *const argv[])
{
	Buf out = {0};
	int status = spawn_filter(argv, "", 0, &out);

	buf_free(&out);
	if (status)
		die(FAILED, "%s ended with %d", argv[0], status);
}

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

/* One command for all. */
static void make_shared(const char *folder, const char *name, size_t n, char *const *file)
{
	char *argv[MOST + 40];
	size_t k = 0;

	command(argv, &k, compiler());
	argv[k++] = "-shared";
	argv[k++] = arena_printf("-Wa,-I,%s", folder);
	argv[k++] = "-o";
	argv[k++] = arena_printf("%s/lib%s.so", folder, name);
	for (size_t i = 0; i < n; i++)
		if (ends(file[i], ".c") || ends(file[i], ".S"))
			argv[k++] = file[i];
	argv[k++] = "-lm";
	argv[k++] = "-lpthread";
	argv[k] = NULL;
	start(argv);
}

/* A command for each, and ar. */
static void make_static(const char *folder, const char *name, size_t n, char *const *file)
{
	const char *tool = program_find("ar");
	char *ar[MOST + 4] = {(char *)tool, "rcsD", arena_printf("%s/lib%s.a", folder, name)};
	size_t objects = 3;

	if (!tool)
		die(FAILED, "there is no ar");
	for (size_t i = 0; i < n; i++) {
		char *argv[40];
		size_t k = 0;
		if (!ends(file[i], ".c") && !ends(file[i], ".S"))
			continue;
		command(argv, &k, compiler());
		argv[k++] = arena_printf("-Wa,-I,%s", folder);
		argv[k++] = "-c";
		argv[k++] = "-o";
		argv[k++] = ar[objects++] = arena_printf("%s/%s%zu.o", folder, name, i);
		argv[k++] = file[i];
		argv[k] = NULL;
		start(argv);
	}
	ar[objects] = NULL;
	start(ar);
}

/* What the worker is told: NUL-terminated names and lengths, each before its bytes. */
static int make(const void *in, size_t n, Buf *out)
{
	char folder[] = "/tmp/sluice.XXXXXX", *file[MOST];
	const char *at = in, *end = at + n, *name = at;
	bool shared = at[strlen(name) + 1];
	size_t many = 0, size;

	if (!leftover_folder(folder))
		die_errno("cannot make a temporary folder");
	for (at += strlen(name) + 2; at < end && many < MOST; at += size) {
		file[many] = arena_printf("%s/%s", folder, at);
		at += strlen(at) + 1;
		memcpy(&size, at, sizeof size);
		at += sizeof size;
		file_write(file[many++], at, size);
	}
	(shared ? make_shared : make_static)(folder, name, many, file);
	const void *made = file_map(
		arena_printf("%s/lib%s.%s", folder, name, shared ? "so" : "a"), &size);
	buf_add(out, made, size);
	folder_remove(folder);
	leftover_drop(folder);
	return DONE;
}

void library_offer(const char *cc, const char *march)
{
	wanted.cc = cc;
	wanted.march = march;
	worker_offer(1, make);
}

void library_make(const char *name, bool shared, size_t n, const PackedFile *file, Buf *out)
{
	const char kind = shared;
	Buf in = {0};

	CHECK(n <= MOST);
	buf_add(&in, name, strlen(name) + 1);
	buf_add(&in, &kind, 1);
	for (size_t i = 0; i < n; i++) {
		buf_add(&in, file[i].name, strlen(file[i].name) + 1);
		buf_add(&in, &file[i].bytes.n, sizeof file[i].bytes.n);
		buf_add(&in, file[i].bytes.s, file[i].bytes.n);
	}
	int status = worker_end(worker_start(1, in.s, in.n), out);
	if (status)
		die_silent(status < 0 ? FAILED : status);
	buf_free(&in);
}
