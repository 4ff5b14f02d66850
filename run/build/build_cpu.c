/* Compiles C to shared objects with the system's compiler.
 *
 * Starting a compiler process costs more than compiling most kernels, so the kernels that the cache
 * does not have are grouped into units, a few for each core, compiled in parallel, the largest
 * first. In a unit every kernel is named by its key:
 *
 *     #define E_4 k0f3c…             so that kernels of one name from anywhere share a process
 *     #define E_4_call c0f3c…
 *     #line 1 "E_4"
 *     void E_4(float *restrict p0, …
 *
 * and the unit's object goes into the cache under the key of each of its kernels. A unit that does
 * not compile is compiled again kernel by kernel: then the message names the kernel, and sources
 * that cannot share a file still work.
 *
 * This process may be between walls, so each unit is compiled by a worker (process.h): it gets the
 * target, flags and source, and gives the object, or what the compiler said. */
#include "base/progress.h"
#include "io/io.h"
#include "process/process.h"
#include "build/build.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

extern char **environ;

/* A compiler's start and a link take as long as compiling 1000 words, so a unit has 2000 at least;
 * with 33000 it takes 90 MB of memory. */
enum { UNIT_LEAST = 2000, UNIT_MOST = 33000, MAX_FLAGS = 64, MAX_JOBS = 256 };

/* What the contract requires of the arithmetic: integers wrap, and nothing is reassociated. Sources
 * say explicitly where a*b+c rounds once: if the compiler chose, the same value could be rounded in
 * two ways, and x - min(x) would not reach 0. */
static const char *const flags_all[] = {"-x", "c", "-std=c11", "-w", "-fPIC", "-shared",
	"-nostdlib", "-fvisibility=default", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno",
	"-fno-trapping-math", "-ffp-contract=off", NULL};
/* for a program whose flags name no processor */
#if defined __x86_64__ || defined __i386__
#define NATIVE "-march=native"
#else
#define NATIVE "-mcpu=native"
#endif

/* How gcc and clang optimise a class of kernels (LLVM's library: build_llvm.c).
 * Kernels with vectors have their invariants hoisted and their loops written out: beyond registers
 * well allocated a compiler finds nothing, so gcc is spared passes: it takes 0.6 of the time of
 * -O2. With -Og it takes 0.4, less than with -O0, and the code is at most 1.5 times slower (plain
 * loops: 2.5 times). -fschedule-insns2 takes 3 % more of it: exponentials of a softmax are 8 %
 * faster where instructions of several elements alternate.
 * Nor do they have dead stores, structures, branches to be made moves or bounds that only undefined
 * behaviour gives: without looking for these gcc 12 writes the same code in 0.9 of the time.
 * -fexpensive-optimizations has gcc end a function with vzeroupper, without which the next call
 * takes 40 ns longer. Loops begin with a line of the cache of decoded instructions: one of 33
 * instructions, 10 of them multiply-adds, takes 0.92 of the time that it takes across four lines.
 * The loop vectorizer of gcc 12 miscompiles `if (b[i]) y[i] = -x[i]` within another loop, so it is
 * off. */
typedef const char *const Flags[20];
static Flags flags_gcc[CLASSES] = {
	{"-O2", "-fno-tree-loop-vectorize", "-fpeel-loops", NULL},
	{"-O1", "-fno-tree-bit-ccp", "-fno-tree-dominator-opts", "-fno-tree-pta",
		"-fira-region=one", "-fexpensive-optimizations", "-fschedule-insns2",
		"-falign-loops=64", "-fno-aggressive-loop-optimizations", "-fno-dse",
		"-fno-tree-dse", "-fno-tree-sra", "-fno-if-conversion2", "-fno-toplevel-reorder",
		"--param=iv-consider-all-candidates-bound=20", NULL},
	{"-Og", "-fexpensive-optimizations", NULL}};
static Flags flags_clang[CLASSES] = {{"-O2", NULL}, {"-O2", NULL}, {"-O1", NULL}};
static Flags flags_fast[CLASSES] = {{"-O0", NULL}, {"-O0", NULL}, {"-O0", NULL}};

/* What is added for another attempt, when a compiler does not take a kernel by itself: compilers
 * have faults, with vectors above all (gcc 12 stops at some of them with -O0). The last attempt
 * goes without the processor's own instructions, so a*b + c may be rounded twice there. */
#if defined __x86_64__ || defined __i386__
#define PLAINEST "-march=x86-64"
#else
#define PLAINEST "-fno-tree-vectorize"
#endif
static Flags flags_again[] = {{NULL}, {"-O1", NULL}, {"-O1", PLAINEST, NULL}};
enum { ATTEMPTS = sizeof flags_again / sizeof *flags_again };

typedef struct { const char *path; Flags *tuning; Key key; } Compiler;
/* What a worker is told: this, and behind it target, flags and source, each with a NUL. */
typedef struct { int32_t ir, class, attempt; } Job;
/* What the command line says of the compiler, which no job does. */
static struct { const char *cc; bool fast; } wanted;
/* work: what a compiler has to do for it, in words of C */
typedef struct { Program *p; KernelClass class; Key key; size_t work; } KernelKey;
typedef struct {
	KernelKey *at;
	size_t n, work;
	int fd;                 /* of its worker; -1: none runs */
	int attempt;
	const char *failure;    /* of the first attempt */
} Unit;

/* ---- the compiler */

Key key_processor(Key k)
{
#if defined __x86_64__ || defined __i386__
	static const unsigned leaf[][2] = { { 0, 0 }, { 7, 0 }, { 7, 1 }, { 0x80000001, 0 } };
	unsigned r[4];

	for (size_t i = 0; i < sizeof leaf / sizeof *leaf; i++)
		if (__get_cpuid_count(leaf[i][0], leaf[i][1], &r[0], &r[1], &r[2], &r[3]))
			k = key_add(k, r, sizeof r);
	/* leaf 1, without the number of the core that executed CPUID */
	if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3])) {
		r[1] = 0;
		k = key_add(k, r, sizeof r);
	}
#else
	unsigned long caps[2] = { getauxval(AT_HWCAP), getauxval(AT_HWCAP2) };
	k = key_add(k, caps, sizeof caps);
#endif
	return k;
}

/* The compiler's file identifies its version: asking it would cost a process. */
static Compiler compiler_find(const char *wanted, bool fast)
{
	static const char *const usual[] = { "cc", "gcc", "clang", NULL };
	Compiler c = { NULL, NULL, key_start("cpu 4") };
	char *real, *base;
	struct stat st;

	if (wanted && !(c.path = program_find(wanted)))
		die(FAILED, "no compiler '%s'", wanted);
	for (int i = 0; !c.path && usual[i]; i++)
		c.path = program_find(usual[i]);
	if (!c.path)
		die(FAILED, "no C compiler: neither cc nor gcc nor clang is in PATH");
	real = realpath(c.path, NULL);
	if (!real || stat(real, &st))
		die_errno("cannot look at the compiler '%s'", c.path);
	base = strrchr(real, '/');
	c.tuning = fast ? flags_fast :
		strstr(base ? base : real, "clang") ? flags_clang :
						      flags_gcc;
	int64_t is[] = { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };
	c.key = key_add(key_adds(c.key, real), is, sizeof is);
	for (int i = 0; flags_all[i]; i++)
		c.key = key_adds(c.key, flags_all[i]);
	c.key = key_processor(c.key);
	free(real);
	return c;
}

static KernelClass class_of(const Program *p)
{
	if (p->brief)
		return BRIEF;
	/* each store past the cache asks whether its place is aligned: -O2 asks once for all */
	bool vectors = p->ir ? llvm_has_vectors(p->src) :
		strstr(p->src, "vector_size") && !strstr(p->src, "stream_end()");
	return vectors ? VECTORS : PLAIN;
}

static Key kernel_key(const Compiler *c, const Program *p, KernelClass class)
{
	Key k = p->ir ? llvm_key(class, wanted.fast) : c->key;

	for (int i = 0; !p->ir && c->tuning[class][i]; i++)
		k = key_adds(k, c->tuning[class][i]);
	k = key_adds(k, p->ir ? ir_canonical(p->name, p->src) : source_canonical(p->name, p->src));
	return key_adds(k, p->flags ? p->flags : "");
}

/* ---- units */

static void unit_source(const Unit *u, Buf *b)
{
	for (size_t i = 0; i < u->n; i++) {
		const Program *p = u->at[i].p;
		DigestText t = digest_text(&u->at[i].key);
		if (p->ir) {
			llvm_unit(b, p, t.s);
			continue;
		}
		buf_printf(b, "#define %s k%s\n#define %s_call c%s\n#line 1 \"%s\"\n", p->name,
			t.s, p->name, t.s, p->name);
		buf_add(b, p->src, strlen(p->src));
		buf_printf(b, "\n#undef %s\n#undef %s_call\n", p->name, p->name);
	}
}

static void add_text(Buf *b, const char *s) { buf_add(b, s, strlen(s) + 1); }

static void unit_start(Unit *u)
{
	const Program *p = u->at[0].p;
	Job j = {p->ir, u->at[0].class, u->attempt};
	Buf b = {0};

	buf_add(&b, &j, sizeof j);
	add_text(&b, p->target);
	add_text(&b, p->flags ? p->flags : "");
	unit_source(u, &b);
	u->fd = worker_start(BUILD_WORKER, b.s, b.n);
	buf_free(&b);
}

/* ---- in a worker */

/* Splits a program's own flags. */
static int split_flags(const char *text, const char **argv, int n)
{
	const char *at;
	size_t len;

	while (text && (at = flag_next(&text, &len)) && n < MAX_FLAGS - 12)
		argv[n++] = arena_printf("%.*s", (int)len, at);
	return n;
}

/* Adds flags for the processor, unless the program's flags name one. clang's vectorizer uses
 * 32-byte vectors even where there are 64-byte ones unless it is told to prefer them; on processors
 * without them that flag has no effect and is left out. */
static int add_processor(const Compiler *c, const char *flags, const char **argv, int n)
{
	const char *march = flags ? strstr(flags, "-march=") : NULL;

	if (!march && !(flags && strstr(flags, "-mcpu=")))
		argv[n++] = NATIVE;
#if defined __x86_64__ || defined __i386__
	bool narrow = march && !strncmp(march, "-march=x86-64", 13) &&
		strncmp(march + 13, "-v4", 3);
	if (c->tuning == flags_clang && !narrow)
		argv[n++] = "-mprefer-vector-width=512";
#endif
	return n;
}

/* Starts the compiler on stem.c. */
static pid_t compiler_start(const Compiler *c, const Job *j, const char *flags, const char *stem)
{
	const char *argv[MAX_FLAGS];
	posix_spawn_file_actions_t fa;
	int n = 0, err;
	pid_t pid;

	argv[n++] = c->path;
	for (int i = 0; c->tuning[j->class][i]; i++)
		argv[n++] = c->tuning[j->class][i];
	for (int i = 0; flags_all[i]; i++)
		argv[n++] = flags_all[i];
	n = add_processor(c, flags, argv, n);
	n = split_flags(flags, argv, n);
	for (int i = 0; flags_again[j->attempt][i]; i++)
		argv[n++] = flags_again[j->attempt][i];
	argv[n++] = "-o";
	argv[n++] = arena_printf("%s.so", stem);
	/* on standard input, since an object names its source's file */
	argv[n++] = "-xc";
	argv[n++] = "-";
	argv[n++] = "-lm";
	argv[n++] = "-lgcc";
	argv[n] = NULL;
	if (process.verbose) {
		for (int i = 0; i < n; i++)
			fprintf(stderr, "%s%s", i ? " " : "", argv[i]);
		fputc('\n', stderr);
	}
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(
		&fa, 0, arena_printf("%s.c", stem), O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(
		&fa, 2, arena_printf("%s.err", stem), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	err = posix_spawn(&pid, c->path, &fa, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (err)
		die(FAILED, "cannot start the compiler '%s': %s", c->path, strerror(err));
	leftover_child(pid, true);
	return pid;
}

/* Appends the first line that contains "error", or else the first line, or else the exit status. */
static void first_error(const char *path, int status, Buf *out)
{
	size_t n, len;
	const char *text = file_map(path, &n), *at = n ? memmem(text, n, "error", 5) : NULL, *end;

	if (!n) {
		buf_printf(out, WIFSIGNALED(status) ? "signal %d" : "status %d and no message",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		return;
	}
	if (!at)
		at = text;
	while (at > text && at[-1] != '\n')
		at--;
	end = memchr(at, '\n', text + n - at);
	len = (end ? end : text + n) - at;
	buf_printf(out, "%.*s", (int)(len > 600 ? 600 : len), at);
}

/* The worker: out gets the object, or the compiler's message (FAILED), or what is missing
 * (UNSUPPORTED). */
static int unit_compile(const void *in, size_t n, Buf *out)
{
	const char *target = (const char *)in + sizeof(Job), *end = (const char *)in + n;
	const char *flags = n > sizeof(Job) ? target + strlen(target) + 1 : end;
	const char *src = flags < end ? flags + strlen(flags) + 1 : end, *stem;
	size_t bytes;
	int status;
	Job j;

	if (src >= end)
		return FAILED;
	memcpy(&j, in, sizeof j);
	if (j.class < 0 || j.class >= CLASSES || j.attempt < 0 || j.attempt >= ATTEMPTS)
		return FAILED;
	flags_check(&(Program){.target = target, .flags = flags, .where = "a unit"});
	if (j.ir)
		return llvm_compile(flags, j.class, wanted.fast, j.attempt, src, end, out);
	Compiler c = compiler_find(wanted.cc, wanted.fast);
	stem = cache_new(arena_printf("unit-%d", (int)getpid()));
	file_write(arena_printf("%s.c", stem), src, end - src);
	pid_t pid = compiler_start(&c, &j, flags, stem);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("cannot wait for the compiler");
	leftover_child(pid, false);
	if (status)
		first_error(arena_printf("%s.err", stem), status, out);
	const void *object = status ? "" : file_map(arena_printf("%s.so", stem), &bytes);
	buf_add(out, object, status ? 0 : bytes);
	return status ? FAILED : DONE;
}

void build_offer(const char *cc, bool fast, const char *target)
{
	wanted.cc = cc;
	wanted.fast = fast;
	setenv("LC_ALL", "C", 1);       /* for first_error, which looks for "error" in messages */
	worker_offer(BUILD_WORKER, unit_compile);
	if (target && !strcmp(target, "llvm"))
		llvm_offer();
}

/* ---- running units */

/* Takes what the compiler wrote for its programs, and stores it in the cache. */
static void unit_take(Unit *u, const Buf *object, bool load)
{
	Key *keys = arena_alloc(u->n * sizeof *keys);
	const char **path = arena_alloc(u->n * sizeof *path);
	Object *file = object_new(object->s, object->n);

	for (size_t i = 0; i < u->n; i++)
		keys[i] = u->at[i].key;
	/* the last attempt may round otherwise: it is for this run alone, since it may be a lack of
	 * memory that asked for it */
	if (u->attempt + 1 < ATTEMPTS)
		cache_store(u->n, keys, program_suffix(u->at->p), object->s, object->n, path);
	for (size_t i = 0; i < u->n; i++) {
		Program *p = u->at[i].p;
		p->object = path[i];
		p->file = file;
		p->function = load ? object_function(file, p->entry) : NULL;
		if (load && !p->function)
			die(FAILED, "%s: its object cannot be loaded: %s", p->name, dlerror());
	}
}

/* Waits for any running unit to end; returns it and what its worker gave. */
static Unit *unit_wait(Unit *u, size_t n, int *status, Buf *out)
{
	struct pollfd *p = arena_alloc(n * sizeof *p);

	for (size_t i = 0; i < n; i++)
		p[i] = (struct pollfd){.fd = u[i].fd, .events = POLLIN};
	while (poll(p, n, -1) < 0)
		if (errno != EINTR)
			die_errno("cannot wait for the compiler");
	for (size_t i = 0;; i++)
		if (p[i].revents) {
			*status = worker_end(u[i].fd, out);
			u[i].fd = -1;
			if (*status < 0)
				die_silent(FAILED);
			return &u[i];
		}
}

/* Another attempt at a kernel by itself; dies with what the first one said after the last. */
static void unit_again(Unit *u, const char *said)
{
	const char *name = u->at->p->name;

	if (!u->failure)
		u->failure = arena_strdup(said);
	if (++u->attempt == ATTEMPTS)
		die(FAILED, "%s: the compiler failed: %s", name, u->failure);
	if (process.verbose)
		warn("%s: the compiler failed: %s; once more, with %s %s", name, said,
			flags_again[u->attempt][0],
			flags_again[u->attempt][1] ? flags_again[u->attempt][1] : "");
	unit_start(u);
}

/* Runs units, at most jobs at a time. Returns the number that failed and can be split, which are
 * put into failed. */
static size_t units_run(
	Unit *u, size_t n, size_t jobs, bool load, Unit **failed, Progress *progress)
{
	size_t started = 0, running = 0, done = 0, bad = 0;
	int status;

	while (done < n) {
		while (started < n && running < jobs) {
			unit_start(&u[started++]);
			running++;
		}
		Buf out = {0};
		Unit *w = unit_wait(u, started, &status, &out);
		if (status == UNSUPPORTED)
			die(UNSUPPORTED, "%s", buf_str(&out));
		if (status && w->n == 1) {
			unit_again(w, buf_str(&out));
			buf_free(&out);
			continue;
		}
		running--;
		progress_step(progress, ++done);
		if (!status)
			unit_take(w, &out, load);
		else
			failed[bad++] = w;
		buf_free(&out);
	}
	return bad;
}

static void build_alone(
	Unit **failed, size_t bad, size_t jobs, bool load, Progress *progress)
{
	for (size_t k = 0; k < bad; k++) {
		Unit *one = arena_alloc(failed[k]->n * sizeof *one);
		for (size_t i = 0; i < failed[k]->n; i++)
			one[i] = (Unit){ .at = &failed[k]->at[i], .n = 1 };
		units_run(one, failed[k]->n, jobs, load, NULL, progress);
	}
}

static int by_flags(const KernelKey *a, const KernelKey *b)
{
	const Program *p = a->p, *q = b->p;
	int d = (p->ir - q->ir) * CLASSES + (int)a->class - (int)b->class;

	return d ? d : strcmp(p->flags ? p->flags : "", q->flags ? q->flags : "");
}

/* Programs that must be compiled alone come first. */
static int by_flags_then_size(const void *a, const void *b)
{
	const Program *p = ((const KernelKey *)a)->p, *q = ((const KernelKey *)b)->p;
	int d = by_flags(a, b);
	size_t n = ((const KernelKey *)a)->work, m = ((const KernelKey *)b)->work;

	if (p->alone != q->alone)
		return q->alone - p->alone;
	return d ? d : n < m ? 1 : n > m ? -1 : strcmp(p->name, q->name);
}

static bool compiles_with(const KernelKey *a, const KernelKey *b)
{
	return !a->p->alone && !b->p->alone && !by_flags(a, b);
}

/* A compiler's time goes with the words of a source, its names, more than with its bytes: those of
 * a permutation are numbers. With BRIEF's flags it takes 0.8 of it. LLVM IR has ten for one of C.
 */
static size_t work_of(const Program *p, KernelClass class)
{
	size_t words = 0;
	bool in = false;

	for (const char *s = p->src; *s; s++) {
		char low = *s | 32;
		bool is = (low >= 'a' && low <= 'z') || *s == '_' ||
			(in && *s >= '0' && *s <= '9');
		words += is && !in;
		in = is;
	}
	return words * (class == BRIEF ? 4 : 5) / 5 / (p->ir ? 10 : 1);
}

static size_t work_in(const KernelKey *k, size_t n)
{
	size_t work = 0;

	for (size_t i = 0; i < n; i++)
		work += k[i].work;
	return work;
}

/* How many units so much work of equal flags is: one for each core, so that all have as much of
 * each class; fewer where they would be small, several where they would be large. */
static size_t units_of(size_t work, size_t jobs)
{
	size_t most = work / UNIT_LEAST, turns = work / jobs / UNIT_MOST + 1;

	return most < 1 ? 1 : most < jobs ? most : jobs * turns;
}

/* Spreads kernels of equal flags over units: largest first, each into the smallest unit. */
static size_t units_fill(KernelKey *k, size_t n, size_t jobs, Unit *u)
{
	size_t m = units_of(work_in(k, n), jobs);

	m = m > n ? n : m;
	for (size_t i = 0; i < m; i++)
		u[i] = (Unit){ .at = arena_alloc(n * sizeof *u[i].at) };
	for (size_t i = 0; i < n; i++) {
		size_t least = 0;
		for (size_t j = 1; j < m; j++)
			if (u[j].work < u[least].work)
				least = j;
		u[least].at[u[least].n++] = k[i];
		u[least].work += k[i].work;
	}
	return m;
}

static int largest_first(const void *a, const void *b)
{
	const Unit *u = a, *v = b;

	return u->work < v->work ? 1 : u->work > v->work ? -1 : 0;
}

/* Compiles kernels that are not in the cache; their keys are distinct. */
static void build_missing(KernelKey *k, size_t n, const BuildOptions *o)
{
	size_t units = 0, jobs = o->jobs > 0 ? o->jobs : cores();
	Unit *u, **failed;

	jobs = jobs > MAX_JOBS ? MAX_JOBS : jobs;
	qsort(k, n, sizeof *k, by_flags_then_size);
	u = arena_alloc((n + 1) * sizeof *u);
	failed = arena_alloc((n + 1) * sizeof *failed);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && compiles_with(&k[i], &k[j]); j++)
			;
		units += units_fill(k + i, j - i, jobs, u + units);
	}
	qsort(u, units, sizeof *u, largest_first);
	Progress progress = progress_start("compiling", units, o->progress);
	size_t bad = units_run(u, units, jobs, o->load, failed, &progress);
	build_alone(failed, bad, jobs, o->load, &progress);
	progress_end(&progress);
}

/* Looks for p's object in the cache. One that cannot be loaded is removed: it is built again. */
static bool find_cached(Program *p, Key key, bool load)
{
	p->file = cache_object(key, program_suffix(p), &p->object);
	p->function = p->file && load ? object_function(p->file, p->entry) : NULL;
	if (!p->file || !load || p->function)
		return p->file != NULL;
	cache_drop(key, program_suffix(p));
	p->file = NULL;
	return false;
}

void build_cpu(size_t n, Program *const *p, const BuildOptions *o)
{
	Compiler c = {NULL};
	KernelKey *k = arena_alloc(n * sizeof *k);
	size_t missing = 0;
	Map first = {0};        /* by key, as an interned text: the program that is compiled */

	for (size_t i = 0; i < n; i++) {
		if (!p[i]->ir && !c.path)
			c = compiler_find(wanted.cc, wanted.fast);
		KernelClass class = class_of(p[i]);
		Key key = kernel_key(&c, p[i], class);
		p[i]->made = arena_strdup(digest_text(&key).s);
		p[i]->entry = arena_printf("c%s", p[i]->made);
		uint64_t same = PKEY(val_str(p[i]->made));
		if (!find_cached(p[i], key, o->load) && !map_get(&first, same)) {
			map_put(&first, same, p[i]);
			k[missing++] = (KernelKey){p[i], class, key, work_of(p[i], class)};
		}
	}
	if (missing)
		build_missing(k, missing, o);
	for (size_t i = 0; i < n; i++) {
		const Program *same = map_get(&first, PKEY(val_str(p[i]->made)));
		if (p[i]->file || !same)
			continue;
		p[i]->file = same->file;
		p[i]->object = same->object;
		p[i]->function = same->function;
	}
	map_free(&first);
}
