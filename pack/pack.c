/* pack: a library in C that needs nothing of this project.
 *
 *     FILE … → functions of a module → NAME.h, NAME.c */
#include "emit/emit.h"
#include "io/io.h"
#include "loss.h"
#include "process/process.h"
#include "prove/prove.h"
#include <stdlib.h>
#include <sys/stat.h>

static struct {
	const char *name, *to, *target, *threads, *weights;
	VEC(const char *) with;
	bool prepare, hpp;
} opt = {.to = ".", .target = "clang"};

static const Option options[] = {
	{0, "name", "NAME", "the module's name, an identifier: of its files and its functions",
		&opt.name},
	{'o', "output", "DIR", "the folder for its files (.)", &opt.to},
	{'t', "target", "TARGET", "what to render for where that is still to be done (clang)",
		&opt.target},
	{0, "threads", "WHOSE",
		"none (as it is), caller: NAME_call takes a parallel_for; pool: that, "
		"and NAME_pool.c",
		&opt.threads},
	{0, "weights", "HOW,…",
		"source; object: NAME_weights.S and .bin, from 1 MB on; file: .bin, which "
		"the program gives; f16, bf16: stored so, which is compared by running both",
		&opt.weights},
	{0, "with", "NAME=FILE", "for that comparison, an operand of run (NAME=rand)", &opt.with,
		.many = true},
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

/* A document that may be packed, at level program, as bytes: each is checked by itself, since a
 * mark is over the nodes in an order that those of another document change. */
static void document_read(const char *file, Buf *out)
{
	Stream *in = stream_open(file);
	Graph *g = stream_next(in, 0);

	if (!g && file && strcmp(file, "-"))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!g)
		die_silent(MALFORMED);
	verify(g);
	if (g->level < LV_PROGRAM) {
		g = stage_raise(prove_admit(g), LV_PROGRAM, opt.target, true);
		verify(g);
	} else {
		code_check(g);
	}
	wire_write(out, mark_put(g));
	arena_reset();
}

static void write_file(const char *ending, void (*emit)(Buf *, const Module *), const Module *m)
{
	Buf b = {0};

	emit(&b, m);
	file_write(arena_printf("%s/%s%s", opt.to, m->name, ending), buf_str(&b), b.n);
	buf_free(&b);
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

/* All files of a module, or none. */
static void write_module(Module *m)
{
	Buf weights = {0};

	files_hold();
	folder_new(opt.to);
	weights_place(m);
	if (m->weights != WEIGHTS_SOURCE) {
		emit_weights_file(&weights, m);
		file_write(
			arena_printf("%s/%s_weights.bin", opt.to, m->name), weights.s, weights.n);
		buf_free(&weights);
	}
	write_file(".h", emit_header, m);
	write_file(".c", emit_source, m);
	if (opt.hpp)
		write_file(".hpp", emit_hpp, m);
	if (m->threads == THREADS_POOL)
		write_file("_pool.c", emit_pool, m);
	if (m->weights == WEIGHTS_OBJECT)
		write_file("_weights.S", emit_weights_object, m);
	if (m->weights == WEIGHTS_FILE)
		write_file("_open.c", emit_weights_open, m);
	files_release();
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

static void add_functions(Module *m, size_t n, const Given *given, const ModuleOptions *as)
{
	Buf *in = xcalloc(n, sizeof *in);

	for (size_t i = 0; i < n; i++) {
		if (given[i].function && !identifier_ok(given[i].function))
			die(USAGE, "a function's name is an identifier of C, not '%.80s'",
				given[i].function);
		document_read(given[i].file, &in[i]);
	}
	for (size_t i = 0; i < n; i++) {
		Graph *g = wire_read(in[i].s, in[i].n, NULL, 0);
		g->all = (Nodes){0};
		if (as->narrow)
			loss_print(
				g, constants_rounded(as->prepare ? g : prepare_now(g), as->narrow));
		module_add(m, g, given[i].function, as);
	}
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
	if (!opt.name || !identifier_ok(opt.name))
		die(USAGE, "--name takes an identifier of C, not '%.80s'",
			opt.name ? opt.name : "");
	m.name = opt.name;
	m.threads = choice(
		"--threads", opt.threads, (const char *const[]){"none", "caller", "pool", NULL});
	weights_read(&m, &as);
	size_t n = argc > first ? argc - first : 1;
	Given *given = xcalloc(n, sizeof *given);
	for (int i = first; i < argc; i++)
		given[i - first] = given_of(argv[i], n == 1);
	const char *writes = writable();
	loss_offer(opt.with.n, opt.with.at);
	broker_start();
	secret_missing();
	confine_build(false, 1, &writes);
	add_functions(&m, n, given, &as);
	write_module(&m);
	return stage_end();
}
