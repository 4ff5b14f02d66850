/* pack: a library in C that needs nothing of this project.
 *
 *     FILE … → functions of a module → NAME.h, NAME.c */
#include "emit/emit.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"
#include <stdlib.h>
#include <sys/stat.h>

static struct {
	const char *name, *to, *target, *threads, *weights;
	bool prepare, embedded;
} opt = {.to = "."};

static const Option options[] = {
	{0, "name", "NAME", "the module's name, an identifier: of its files and its functions",
		&opt.name},
	{'o', "output", "DIR", "the folder for its files (.)", &opt.to},
	{'t', "target", "TARGET", "what to render for where that is still to be done (c)",
		&opt.target},
	{0, "embedded", NULL, "for a microcontroller: as -t embedded, and aligned to 16 bytes",
		&opt.embedded},
	{0, "threads", "WHOSE",
		"none (as it is), caller: NAME_call takes a parallel_for; pool: that, "
		"and NAME_pool.c",
		&opt.threads},
	{0, "weights", "WHERE",
		"source; object: NAME_weights.S and .bin, from 1 MB on; file: .bin, which "
		"the program gives",
		&opt.weights},
	{0, "prepare", NULL,
		"compute what is prepared from constants in NAME_init_ws, "
		"instead of storing it",
		&opt.prepare},
	{0},
};

/* FUNCTION=FILE, or FILE, which is the only one or gives its name. */
typedef struct { const char *function, *file; } Given;

static Given operand_of(const char *text, bool only)
{
	const char *eq = strchr(text, '='), *stem = strrchr(text, '/');

	if (eq)
		return (Given){arena_printf("%.*s", (int)(eq - text), text), eq + 1};
	stem = stem ? stem + 1 : text;
	return (Given){only ? NULL : arena_printf("%.*s", (int)strcspn(stem, "."), stem), text};
}

/* --embedded is a row for target c. */
static const char *target(void)
{
	const char *t = opt.target ? opt.target : "c";

	return opt.embedded && !strcmp(t, "c") ? "embedded" : t;
}

static Graph *document_read(const char *file)
{
	Stream *in = stream_open(file);
	Graph *g = stream_next(in, 0);

	if (!g && file && strcmp(file, "-"))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!g)
		die_silent(MALFORMED);
	verify(g);
	if (g->level < LV_PROGRAM) {
		g = prove_admit(g);
		g = stage_raise(g, LV_PROGRAM, target(), true);
		verify(g);
	} else {
		code_check(g);
	}
	g->all = (Nodes){0};
	return g;
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
	return end == opt.to ? "." : arena_printf("%.*s", (int)(end - opt.to), opt.to);
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
	if (m->threads == THREADS_POOL)
		write_file("_pool.c", emit_pool, m);
	if (m->weights == WEIGHTS_OBJECT)
		write_file("_weights.S", emit_weights_object, m);
	if (m->weights == WEIGHTS_FILE)
		write_file("_open.c", emit_weights_open, m);
	files_release();
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
	if (!opt.name || !identifier_ok(opt.name))
		die(USAGE, "--name takes an identifier of C, not '%.80s'",
			opt.name ? opt.name : "");
	m.name = opt.name;
	m.threads = choice(
		"--threads", opt.threads, (const char *const[]){"none", "caller", "pool", NULL});
	m.weights = opt.weights ? WEIGHTS_SOURCE + choice("--weights", opt.weights,
		(const char *const[]){"source", "object", "file", NULL}) : WEIGHTS_ANY;
	const char *writes = writable();
	broker_start();
	secret_missing();
	confine_build(false, 1, &writes);
	for (int i = first; i < argc || i == first; i++) {
		Given o = i < argc ? operand_of(argv[i], argc - first == 1) : (Given){0};
		if (o.function && !identifier_ok(o.function))
			die(USAGE, "a function's name is an identifier of C, not '%.80s'",
				o.function);
		ModuleOptions as = {.align = opt.embedded ? 16 : 64, .prepare = opt.prepare};
		module_add(&m, document_read(o.file), o.function, &as);
	}
	write_module(&m);
	return stage_end();
}
