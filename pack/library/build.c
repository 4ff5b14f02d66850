/* A module compiled: a shared object or an archive, by the C compiler that the user names.
 *
 *     files  →  worker (process.h): a folder of its own, cc, ar  →  libNAME.so, libNAME.a
 *
 * The flags are those of the contract (common/README.md, level program), and what suits kernels
 * with explicit vectors, or plain loops, as `run` compiles them. */
#include "library/library.h"
#include "io/io.h"
#include "process/process.h"
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKER = 1, MOST_ARGS = 64 };
/* What a worker is to make; RECORD: what the test, which it runs, writes. */
typedef enum { SHARED = 's', STATIC = 'a', RECORD = 't' } Kind;

static const Compile *wanted;

static const char *const flags_all[] = {"-w", "-fPIC", "-fwrapv", "-fno-strict-aliasing",
	"-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-DPACKED_SHARED", "-O2",
	NULL};
/* gcc's loop vectorizer is off, as in run/build. Tiles of accumulators become vectors once their
 * loops are unrolled, which gcc does early enough with -O3 alone. */
static const char *const flags_plain[] = {"-O3", "-fno-tree-loop-vectorize", NULL};
static const char *const flags_vectors[] = {"-O2", "-fno-tree-vectorize", NULL};

#if defined __x86_64__ || defined __i386__
#define NATIVE "-march=native"
#else
#define NATIVE "-mcpu=native"
#endif

typedef struct { const char *at[MOST_ARGS]; int n; } Args;

static void add(Args *a, const char *s)
{
	if (a->n == MOST_ARGS - 1)
		die(FAILED, "too many arguments for the compiler");
	a->at[a->n++] = s;
}

static void add_all(Args *a, const char *const *s)
{
	while (*s)
		add(a, *s++);
}

/* ---- in the worker */

/* cc, or where that is NULL the machine's own. */
static const char *compiler(const char *cc)
{
	static const char *const usual[] = {"cc", "gcc", "clang"};
	const char *path = cc ? program_find(cc) : NULL;

	if (cc && !path)
		die(FAILED, "no compiler '%s'", cc);
	for (size_t i = 0; !path && i < sizeof usual / sizeof *usual; i++)
		path = program_find(usual[i]);
	if (!path)
		die(FAILED, "no C compiler: neither cc nor gcc nor clang is in PATH");
	return path;
}

/* arm-none-eabi-ar beside arm-none-eabi-gcc, else ar */
static const char *archiver(const char *cc)
{
	const char *base = strrchr(cc, '/'), *dash = strrchr(cc, '-'), *path = NULL;

	base = base ? base + 1 : cc;
	if (dash && dash > base)
		path = program_find(arena_printf("%.*sar", (int)(dash + 1 - base), base));
	if (!path && !(path = program_find("ar")))
		die(FAILED, "no archiver: ar is not in PATH");
	return path;
}

static bool is_clang(const char *cc)
{
	char *real = realpath(cc, NULL);
	const char *base = real ? strrchr(real, '/') : NULL;
	bool is = base && strstr(base, "clang");

	free(real);
	return is;
}

/* The first line of what it said that has "error", or else the first. */
static const char *first_error(const char *said)
{
	const char *at = strstr(said, "error");

	at = at ? at : said;
	while (at > said && at[-1] != '\n')
		at--;
	return arena_printf("%.*s", (int)strcspn(at, "\n"), at);
}

static void run(Args *a)
{
	static const char *const all[] = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
	const char *argv[MOST_ARGS + 4];
	Buf out = {0};

	a->at[a->n] = NULL;
	if (process.verbose)
		show_command((char *const *)a->at);
	memcpy(argv, all, sizeof all);
	memcpy(argv + 4, a->at, sizeof a->at);
	int status = spawn_filter((char *const *)argv, "", 0, &out);
	if (status)
		die(FAILED, "%s ended with %d: %.600s", a->at[0], status, out.n ?
			first_error(buf_str(&out)) : "it says nothing");
	buf_free(&out);
}

static void add_flags(Args *a, const char *cc, const char *march, bool vectors, const char *folder)
{
	add(a, cc);
	add_all(a, flags_all);
	if (!is_clang(cc))
		add_all(a, vectors ? flags_vectors : flags_plain);
	if (*march)
		add(a, march);
	add(a, arena_printf("-I%s", folder));
	add(a, arena_printf("-Wa,-I%s", folder));
}

static bool is_source(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".S"));
}

/* A shared object, or a program. */
static void make_whole(const char *cc, const char *march, bool vectors, const char *folder,
	const Files *files, bool shared)
{
	Args a = {0};

	add_flags(&a, cc, march, vectors, folder);
	if (shared)
		add(&a, "-shared");
	add(&a, "-o");
	add(&a, arena_printf("%s/made", folder));
	for (size_t i = 0; i < files->n; i++)
		if (is_source(files->at[i].name))
			add(&a, arena_printf("%s/%s", folder, files->at[i].name));
	add(&a, "-lm");
	add(&a, "-pthread");
	run(&a);
}

static void make_static(
	const char *cc, const char *march, bool vectors, const char *folder, const Files *files)
{
	Args all = {.at = {archiver(cc), "rcsD", arena_printf("%s/made", folder)}, .n = 3};

	for (size_t i = 0; i < files->n; i++) {
		const char *name = files->at[i].name;
		const char *object = arena_printf("%s/%.*s.o", folder, (int)strlen(name) - 2, name);
		Args a = {0};
		if (!is_source(name))
			continue;
		add_flags(&a, cc, march, vectors, folder);
		add(&a, "-UPACKED_SHARED");
		add(&a, "-c");
		add(&a, "-o");
		add(&a, object);
		add(&a, arena_printf("%s/%s", folder, name));
		run(&a);
		add(&all, object);
	}
	run(&all);
}

static void run_test(const char *folder, Buf *out)
{
	const char *const argv[] = {arena_printf("%s/made", folder), NULL};

	if (spawn_filter((char *const *)argv, "", 0, out))
		die_silent(FAILED);
}

/* What a worker is told: kind, whether kernels have vectors, the processor, and files, each a name
 * and its text, all behind their lengths. */
typedef struct { const char *at, *end; } Told;

static const char *take(Told *t, size_t *n)
{
	uint64_t k;

	if (t->end - t->at < (ptrdiff_t)sizeof k)
		die(FAILED, "the compiler's worker was told nothing");
	memcpy(&k, t->at, sizeof k);
	t->at += sizeof k;
	if (k > (uint64_t)(t->end - t->at))
		die(FAILED, "the compiler's worker was told too little");
	*n = k;
	t->at += k;
	return t->at - k;
}

static const char *take_text(Told *t)
{
	size_t n;
	const char *s = take(t, &n);

	return arena_printf("%.*s", (int)n, s);
}

/* -march=…, -mcpu=… or nothing */
static bool processor_ok(const char *s)
{
	static const char name[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

	return !*s || (!strncmp(s, "-march=", 7) && strspn(s + 7, name) == strlen(s + 7)) ||
		(!strncmp(s, "-mcpu=", 6) && strspn(s + 6, name) == strlen(s + 6));
}

static int compile(const void *in, size_t n, Buf *out)
{
	Told t = {in, (const char *)in + n};
	const char *tmp = getenv("TMPDIR"), *how = take_text(&t), *march = take_text(&t);
	char *folder = arena_strdup(arena_printf("%s/pack-XXXXXX", tmp && *tmp ? tmp : "/tmp"));
	Files files = {0};
	size_t bytes;

	if (!processor_ok(march))
		die(FAILED, "'%.80s' is no processor", march);
	if (!leftover_folder(folder))
		die_errno("cannot make a folder in %s", tmp && *tmp ? tmp : "/tmp");
	while (t.at < t.end) {
		const char *name = take_text(&t), *text = take(&t, &bytes);
		if (strchr(name, '/') || *name == '.')
			die(FAILED, "'%.80s' is no file of a module", name);
		file_write(arena_printf("%s/%s", folder, name), text, bytes);
		vec_push(&files, ((File){.name = name}));
	}
	const char *cc = compiler(how[0] == RECORD ? NULL : wanted->cc);
	if (how[0] == STATIC)
		make_static(cc, march, how[1] == 'v', folder, &files);
	else
		make_whole(cc, march, how[1] == 'v', folder, &files, how[0] == SHARED);
	if (how[0] == RECORD) {
		run_test(folder, out);
		return DONE;
	}
	const void *made = file_map(arena_printf("%s/made", folder), &bytes);
	buf_add(out, made, bytes);
	return DONE;
}

void build_offer(const Compile *how)
{
	wanted = how;
	worker_offer(WORKER, compile);
}

/* ---- in the tool */

static void tell(Buf *b, const void *p, size_t n)
{
	uint64_t k = n;

	buf_add(b, &k, sizeof k);
	buf_add(b, p, n);
}

static void tell_text(Buf *b, const char *s) { tell(b, s, strlen(s)); }

/* Whether a compiler's name says that it is for other machines: arm-none-eabi-gcc, but not gcc-12.
 */
static bool is_cross(const char *cc)
{
	const char *base = cc ? strrchr(cc, '/') : NULL, *dash;

	base = base ? base + 1 : cc;
	dash = base ? strrchr(base, '-') : NULL;
	return dash && !isdigit((unsigned char)dash[1]);
}

/* The processor: what --march says, else what the document was rendered for, else this one; none
 * for another machine's compiler, which has one of its own. */
const char *build_processor(const Module *m)
{
	for (size_t i = 0; i < m->kernel.n && !wanted->march; i++) {
		const Val *flags = val_get(m->kernel.at[i].program->arg, "flags");
		const char *at = flags && flags->kind == VAL_STR ? strstr(flags->s, "-march=") :
								   NULL;
		at = at || !flags || flags->kind != VAL_STR ? at : strstr(flags->s, "-mcpu=");
		if (at)
			return arena_printf("%.*s", (int)strcspn(at, " \t\n"), at);
	}
	if (wanted->march)
		return arena_printf("-march=%s", wanted->march);
	return is_cross(wanted->cc) ? "" : NATIVE;
}

const char *build_tuning(const Module *m)
{
	Buf b = {0};

	for (const char *const *f = module_vectors(m) ? flags_vectors : flags_plain; *f; f++)
		buf_printf(&b, "%s ", *f);
	const char *r = arena_strdup(buf_str(&b));
	buf_free(&b);
	return r;
}

static void build(Buf *out, const Module *m, const Files *files, Kind kind)
{
	Buf in = {0};
	const char *march = kind == RECORD ? NATIVE : build_processor(m);

	if (!processor_ok(march))
		die(USAGE, "'%.80s' is no processor that --march could name", march);
	tell_text(
		&in, arena_printf("%c%c", kind, module_vectors(m) ? 'v' : 'p'));
	tell_text(&in, march);
	for (size_t i = 0; i < files->n; i++) {
		tell_text(&in, files->at[i].name);
		tell(&in, files->at[i].text.s, files->at[i].text.n);
	}
	int status = worker_end(worker_start(WORKER, in.s, in.n), out);
	buf_free(&in);
	if (status)
		die_silent(FAILED);
}

void build_shared(Buf *out, const Module *m, const Files *files) { build(out, m, files, SHARED); }

void build_static(Buf *out, const Module *m, const Files *files) { build(out, m, files, STATIC); }

void build_record(Buf *out, const Module *m, const Files *files)
{
	build(out, m, files, RECORD);
}
