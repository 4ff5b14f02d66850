/* pack: a library in C that needs nothing of this project.
 *
 *     FILE … → functions of a module → NAME.h, NAME.c */
#include "emit/emit.h"
#include "footprint/footprint.h"
#include "io/io.h"
#include "library/library.h"
#include "loss.h"
#include "process/process.h"
#include "prove/prove.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct {
	const char *name, *to, *target, *threads, *weights;
	VEC(const char *) with, max;
	Compile compile;
	bool prepare, hpp, module, so, archive, tar, embedded;
} opt = {.to = "."};

static const Option options[] = {
	{0, "name", "NAME", "the module's name, an identifier: of its files and its functions",
		&opt.name},
	{'o', "output", "DIR", "the folder for its files (.)", &opt.to},
	{'t', "target", "TARGET,…",
		"what to render for where that is still to be done (clang): one for a CPU, and "
		"opencl, cuda", &opt.target},
	{0, "embedded", NULL, "for a microcontroller: target c with no more memory than needed",
		&opt.embedded},
	{0, "threads", "WHOSE",
		"none (as it is), caller: NAME_call takes a parallel_for; pool: that, "
		"and NAME_pool.c",
		&opt.threads},
	{0, "weights", "HOW,…",
		"source; object: NAME_weights.S and .bin, from 1 MB on; file: .bin, which "
		"the program gives; f16, bf16: stored so, which is compared by running both",
		&opt.weights},
	{0, "max", "SIZE=N",
		"a size variable, or one that data gives, is at most N: memory is for that",
		&opt.max, .many = true},
	{0, "with", "NAME=FILE", "for that comparison, an operand of run (NAME=rand)", &opt.with,
		.many = true},
	{0, "module", NULL, "also NAME_module.c: functions by name, called by arrays",
		&opt.module},
	{0, "so", NULL, "libNAME.so instead of sources, NAME.py and NAME.pc", &opt.so},
	{0, "static", NULL, "libNAME.a instead of sources, and NAME.pc", &opt.archive},
	{0, "tar", NULL,
		"NAME.tar instead of sources: them, a Makefile and a test with recorded inputs "
		"and outputs", &opt.tar},
	{0, "cc", "CC", "the compiler of --so and --static (cc, gcc or clang); with --embedded one "
		"with options, of which it states what it makes", &opt.compile.cc},
	{0, "march", "CPU",
		"the processor they are for (what kernels were rendered for, or native)",
		&opt.compile.march},
	{0, "hpp", NULL, "also NAME.hpp, for C++17", &opt.hpp},
	{0, "prepare", NULL,
		"compute what is prepared from constants in NAME_init_ws, "
		"instead of storing it",
		&opt.prepare},
	{0},
};

/* FUNCTION=FILE, or FILE, which is the only one or gives its name. It outlives the arena. */
typedef struct { const char *function, *file; } Given;

static Given given_of(const char *text, bool only)
{
	const char *eq = strchr(text, '='), *stem = strrchr(text, '/');

	if (eq)
		return (Given){xstrndup(text, eq - text), eq + 1};
	stem = stem ? stem + 1 : text;
	return (Given){only ? NULL : xstrndup(stem, strcspn(stem, ".")), text};
}

/* One as bytes, which of the given it is, and whether it is for a GPU. */
typedef struct { Buf bytes; size_t number; bool gpu; } Document;
typedef VEC(Document) Documents;

/* --embedded is a row for target c. */
static const char *target(void)
{
	return opt.embedded ? "embedded" : opt.target ? opt.target : "clang";
}

/* A document that may be packed, at level program for that target, as bytes. */
static void document_raise(Graph *g, const char *target, Document *to)
{
	if (g->level < LV_PROGRAM) {
		g = stage_raise(prove_admit(g), LV_PROGRAM, target, true);
		verify(g);
	} else {
		code_check(g);
	}
	wire_write(&to->bytes, mark_put(g));
	to->gpu = document_target(g);
	arena_reset();
}

/* A document for each target, or where it is rendered for the one that it has. Each is checked by
 * itself, since a mark is over the nodes in an order that those of another document change. */
static void document_read(const char *file, Documents *to, size_t number)
{
	Buf raw = {0};
	Stream *in = stream_open(file);
	Graph *g = stream_next(in, 0);

	if (!g && file && strcmp(file, "-"))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!g)
		die_silent(MALFORMED);
	verify(g);
	bool rendered = g->level >= LV_PROGRAM;
	wire_write(&raw, g);
	arena_reset();
	for (const char *at = target(); at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *one = xstrndup(at, strcspn(at, ","));
		vec_push(to, ((Document){.number = number}));
		document_raise(wire_read(raw.s, raw.n, NULL, 0), one, &to->at[to->n - 1]);
		free(one);
		if (rendered)
			break;
	}
	buf_free(&raw);
}

static void add_file(
	Files *to, const char *ending, void (*emit)(Buf *, const Module *), const Module *m)
{
	vec_push(to, ((File){.name = arena_printf("%s%s", m->name, ending)}));
	emit(&to->at[to->n - 1].text, m);
}

/* The number of the word that an option was given; NULL: the first. */
static int choice(const char *option, const char *word, const char *const *words)
{
	Buf all = {0};

	for (int i = 0; words[i]; i++) {
		if (!word || !strcmp(word, words[i]))
			return i;
		buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	die(USAGE, "%s takes one of %s, not '%.80s'", option, buf_str(&all), word);
}

/* The folder of the files, or the one in which it will be. */
static const char *writable(void)
{
	struct stat st;
	const char *end = opt.to + strlen(opt.to);

	if (!stat(opt.to, &st))
		return opt.to;
	while (end > opt.to && end[-1] == '/')
		end--;
	while (end > opt.to && end[-1] != '/')
		end--;
	return end == opt.to ? "." : xstrndup(opt.to, end - opt.to);
}

/* The files that a compiler reads. */
static void add_sources(Files *to, Module *m)
{
	weights_place(m);
	if (m->weights != WEIGHTS_SOURCE) {
		vec_push(to, ((File){.name = arena_printf("%s_weights.bin", m->name)}));
		emit_weights_file(&to->at[0].text, m);
	}
	add_file(to, ".h", emit_header, m);
	add_file(to, ".c", emit_source, m);
	if (m->threads == THREADS_POOL)
		add_file(to, "_pool.c", emit_pool, m);
	if (m->code.n) {
		add_file(to, "_device.h", emit_device_header, m);
		add_file(to, "_device.c", emit_device_source, m);
	}
	if (m->weights == WEIGHTS_OBJECT)
		add_file(to, "_weights.S", emit_weights_object, m);
	if (m->weights == WEIGHTS_FILE)
		add_file(to, "_open.c", emit_weights_open, m);
	if (opt.module) {
		add_file(to, "_module.h", emit_module_header, m);
		add_file(to, "_module.c", emit_module_source, m);
	}
	if (opt.hpp)
		add_file(to, ".hpp", emit_hpp, m);
}

/* Libraries, and of the sources what includes them, or opens the weights, needs. */
static void add_libraries(Files *to, const Files *sources, const Module *m)
{
	for (size_t i = 0; i < sources->n; i++)
		if (strstr(sources->at[i].name, ".h") ||
			(m->weights == WEIGHTS_FILE && strstr(sources->at[i].name, ".bin")))
			vec_push(to, sources->at[i]);
	if (opt.so) {
		vec_push(to, ((File){.name = arena_printf("lib%s.so", m->name)}));
		build_shared(&to->at[to->n - 1].text, m, sources);
		add_file(to, ".py", emit_python, m);
	}
	if (opt.archive) {
		vec_push(to, ((File){.name = arena_printf("lib%s.a", m->name)}));
		build_static(&to->at[to->n - 1].text, m, sources);
	}
	add_file(to, ".pc", emit_pc, m);
}

/* NAME.tar; what the test records is made of the sources before it. */
static void add_tar(Files *to, const Files *sources, const Module *m)
{
	Files all = {0};
	File record = {.name = arena_printf("%s_test.bin", m->name)};

	for (size_t i = 0; i < sources->n; i++)
		vec_push(&all, sources->at[i]);
	add_file(&all, "_test.c", emit_test, m);
	build_record(&record.text, m, &all);
	vec_push(&all, record);
	add_file(&all, ".py", emit_python, m);
	add_file(&all, ".pc", emit_pc, m);
	vec_push(&all, ((File){.name = "Makefile"}));
	emit_makefile(&all.at[all.n - 1].text, m);
	vec_push(to, ((File){.name = arena_printf("%s.tar", m->name)}));
	tar_write(&to->at[to->n - 1].text, m, &all);
}

/* All files of a module, or none. */
static void write_module(Module *m)
{
	bool library = opt.so || opt.archive || opt.tar;
	Files sources = {0}, made = {0}, *out = library ? &made : &sources;

	add_sources(&sources, m);
	if (opt.so || opt.archive)
		add_libraries(&made, &sources, m);
	if (opt.tar)
		add_tar(&made, &sources, m);
	files_hold();
	folder_new(opt.to);
	for (size_t i = 0; i < out->n; i++)
		file_write(arena_printf("%s/%s", opt.to, out->at[i].name),
			buf_str(&out->at[i].text), out->at[i].text.n);
	files_release();
}

/* What it takes where it will run. */
static void state_footprint(const Module *m)
{
	Buf out = {0};
	Image image;

	if (opt.compile.cc)
		image = image_make(m, m->function.n, footprint_functions(m));
	footprint_print(&out, m, opt.compile.cc ? &image : NULL);
	stream_put(NULL, buf_str(&out), out.n);
	buf_free(&out);
}

/* --weights: where constants are, and how f32 is stored. */
static void weights_read(Module *m, ModuleOptions *as)
{
	static const char *const words[] = {"source", "object", "file", "f16", "bf16", NULL};
	const char *at = opt.weights;

	while (at) {
		const char *end = strchr(at, ',');
		const char *word = end ? arena_printf("%.*s", (int)(end - at), at) : at;
		int k = choice("--weights", word, words);
		if (k < 3)
			m->weights = WEIGHTS_SOURCE + k;
		else
			as->narrow = k == 3 ? DT_F16 : DT_BF16;
		at = end ? end + 1 : NULL;
	}
}

/* --max: SIZE=N, several. They outlive the arena. */
static void max_read(ModuleOptions *as)
{
	for (size_t i = 0; i < opt.max.n; i++) {
		const char *text = opt.max.at[i], *eq = strchr(text, '=');
		char *end = NULL;
		errno = 0;
		long long n = eq ? strtoll(eq + 1, &end, 10) : -1;
		if (!eq || eq == text || end == eq + 1 || *end || n < 0 || errno)
			die(USAGE, "--max takes SIZE=N, not '%.80s'", text);
		vec_push(&as->limit, ((Limit){xstrndup(text, eq - text), n}));
	}
}

/* Those for the CPU first: others are their variants. */
static void add_function(Module *m, const Document *d, const char *name, const ModuleOptions *as)
{
	Graph *g = wire_read(d->bytes.s, d->bytes.n, NULL, 0);

	g->all = (Nodes){0};
	if (d->gpu) {
		module_add_variant(m, g, name, as);
		return;
	}
	if (as->narrow)
		loss_print(g, constants_rounded(as->prepare ? g : prepare_now(g), as->narrow));
	module_add(m, g, name, as);
}

static void add_functions(Module *m, size_t n, const Given *given, const ModuleOptions *as)
{
	Documents in = {0};

	for (size_t i = 0; i < n; i++) {
		if (given[i].function && !identifier_ok(given[i].function))
			die(USAGE, "a function's name is an identifier of C, not '%.80s'",
				given[i].function);
		document_read(given[i].file, &in, i);
	}
	for (size_t i = 0; i < in.n; i++)
		if (in.at[i].gpu && as->narrow)
			die(UNSUPPORTED, "--weights %s: for the CPU alone", dtype_name(as->narrow));
	for (size_t i = 0; i < 2 * in.n; i++) {
		const Document *d = &in.at[i % in.n];
		if (d->gpu == (i >= in.n))
			add_function(m, d, given[d->number].function, as);
	}
	limits_check(m, as);
}

/* Several documents of the module's name alone are one function, the module's own. */
static void name_own(size_t n, Given *given)
{
	bool own = true;

	for (size_t i = 0; i < n; i++)
		own &= given[i].function && !strcmp(given[i].function, opt.name);
	for (size_t i = 0; i < n && own; i++)
		given[i].function = NULL;
}

int main(int argc, char **argv)
{
	static const Stage tool = {
		.name = "pack",
		.usage = "--name NAME [-o DIR] [[FUNCTION=]FILE]…",
		.options = options,
		.summary = "Writes a library in C: a header and a source that need nothing else.",
	};
	Module m = {0};

	stage_begin("pack");
	int first = options_parse(&tool, argc, argv);
	ModuleOptions as = {.prepare = opt.prepare};
	if (opt.embedded && opt.target && strcmp(opt.target, "c"))
		die(USAGE, "--embedded is for target c, not '%.80s'", opt.target);
	if (opt.embedded && (opt.so || opt.archive))
		die(USAGE, "--embedded writes sources: not with --so and --static");
	if (!opt.name || !identifier_ok(opt.name))
		die(USAGE, "--name takes an identifier of C, not '%.80s'",
			opt.name ? opt.name : "");
	m.name = opt.name;
	m.threads = !opt.threads && opt.so ?
		THREADS_POOL :
		choice("--threads", opt.threads,
			(const char *const[]){"none", "caller", "pool", NULL});
	weights_read(&m, &as);
	max_read(&as);
	size_t n = argc > first ? argc - first : 1;
	Given *given = xcalloc(n, sizeof *given);
	for (int i = first; i < argc; i++)
		given[i - first] = given_of(argv[i], n == 1);
	name_own(n, given);
	opt.module |= opt.so || opt.archive || opt.tar;
	const char *writes = writable();
	build_offer(&opt.compile);
	loss_offer(opt.with.n, opt.with.at);
	if (opt.embedded && opt.compile.cc)
		image_offer(opt.compile.cc, opt.to, opt.name);
	broker_start();
	secret_missing();
	confine_build(false, 1, &writes);
	add_functions(&m, n, given, &as);
	write_module(&m);
	if (opt.embedded)
		state_footprint(&m);
	return stage_end();
}
