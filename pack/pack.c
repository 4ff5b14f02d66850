/* pack: a library in C that needs nothing of this project.
 *
 *     FILE … → functions of a module → NAME.h, NAME.c */
#include "emit/emit.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"
#include <stdlib.h>

static struct {
	const char *name, *to, *target;
	bool prepare;
} opt = {.to = ".", .target = "c"};

static const Option options[] = {
	{0, "name", "NAME", "the module's name, an identifier: of its files and its functions",
		&opt.name},
	{'o', "output", "DIR", "the folder for its files (.)", &opt.to},
	{'t', "target", "TARGET", "what to render for where that is still to be done (c)",
		&opt.target},
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
		g = stage_raise(g, LV_PROGRAM, opt.target, true);
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
	file_write(arena_printf("%s/%s.%s", opt.to, m->name, ending), buf_str(&b), b.n);
	buf_free(&b);
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
	files_hold();
	folder_new(opt.to);
	broker_start();
	secret_missing();
	confine_build(false, 1, &opt.to);
	for (int i = first; i < argc || i == first; i++) {
		Given o = i < argc ? operand_of(argv[i], argc - first == 1) : (Given){0};
		if (o.function && !identifier_ok(o.function))
			die(USAGE, "a function's name is an identifier of C, not '%.80s'",
				o.function);
		ModuleOptions as = {.align = 64, .prepare = opt.prepare};
		module_add(&m, document_read(o.file), o.function, &as);
	}
	write_file("h", emit_header, &m);
	write_file("c", emit_source, &m);
	files_release();
	return stage_end();
}
