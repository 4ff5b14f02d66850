/* show: prints a document of any level as text, counts, a picture, a page or chains of views; turns
 * text back into a document. */
#include "io/io.h"
#include "show/show.h"
#include "process/process.h"
#include <stdlib.h>

typedef struct { bool parse, count, dot, html, views, loops; } ShowForm;
typedef VEC(const char *) Names;

static void print_counts(Buf *out, const Graph *g)
{
	size_t kernels = 0, copies = 0;
	for (size_t i = 0; i < g->all.n; i++) {
		kernels += g->all.at[i]->op == OP_CALL;
		copies += g->all.at[i]->op == OP_MEMCPY;
	}
	buf_printf(out, "%s nodes=%zu kernels=%zu copies=%zu\n", level_name[g->level], g->all.n,
		kernels, copies);
}

static void print_document(const Graph *g, const ShowForm *form)
{
	Buf out = {0};
	if (form->count)
		print_counts(&out, g);
	else if (form->dot)
		dot_print(&out, g);
	else if (form->loops)
		loops_print(&out, g);
	else if (form->views)
		views_print(&out, g);
	else
		text_print(&out, g);
	stream_put(NULL, buf_str(&out), out.n);
	buf_free(&out);
}

static int parse_text(const char *file)
{
	bool standard = !file || !strcmp(file, "-");
	size_t n, at = 0;
	const char *s = file_map(standard ? "-" : file, &n);
	if (input_kind(s, n, NULL) == INPUT_DOCUMENT)
		die(MALFORMED, "%s: a document already, no text: show without -p prints it",
			standard ? "standard input" : file);
	process.folder = standard ? NULL : path_other_folder(file);
	for (Graph *g; (g = text_next(s, n, standard ? "standard input" : file, &at));
		arena_reset()) {
		verify(g);
		stream_write(NULL, g);
	}
	if (!at && standard && !n)
		die_silent(MALFORMED);
	if (!at)
		die(MALFORMED, "%s: there is no document", file);
	return stage_end();
}

/* ---- a page */

static void add_source(Page *page, const char *file)
{
	size_t n;
	const char *text = file_map(file, &n);

	if (!utf8_ok(text, n))
		die(MALFORMED, "%s: is no text (UTF-8)", file);
	page_source(page, file, text, n);
}

/* The programs that are read, and those that are named: the page shows their lines. */
static void add_sources(Page *page, const Names *files, const Names *sources)
{
	for (size_t i = 0; i < sources->n; i++)
		add_source(page, sources->at[i]);
	for (size_t i = 0; i < files->n; i++)
		if (files->at[i] && (name_ends(files->at[i], ".t") ||
			name_ends(files->at[i], ".c") || name_ends(files->at[i], ".cpp")))
			add_source(page, files->at[i]);
}

/* ---- documents */

static Graph *admit(Graph *g, const ShowForm *form)
{
	verify(g);
	/* at this level, functions have no shapes yet */
	return form->views && g->level == LV_TENSOR ? stage_raise(g, LV_GRAPH, NULL, false) : g;
}

/* Shows the documents of a stream, or adds them to the page. */
static void show_all(Stream *in, const char *file, const ShowForm *form, Page *page)
{
	for (Graph *g; (g = stream_next(in, READ_RAW)); arena_reset()) {
		g = admit(g, form);
		if (form->html)
			page_add(page, g, stream_name(in));
		else
			print_document(g, form);
	}
	if (!stream_count(in) && file && strcmp(file, "-") && !endpoint_is(file))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
}

static void print_page(Page *page)
{
	Buf out = {0};

	page_print(&out, page);
	stream_put(NULL, out.s, out.n);
	buf_free(&out);
}

static int show_files(
	const Names *files, const Names *sources, const ShowForm *form, const char *to)
{
	Stream **in = xcalloc(files->n, sizeof *in);
	Page page = {0};
	bool sockets = endpoint_is(to);

	for (size_t i = 0; i < files->n; i++)
		in[i] = source_open(files->at[i]);
	if (!endpoint_is(to))
		stream_out_open(to);
	broker_start();
	stream_out_open(to);
	for (size_t i = 0; i < files->n; i++) {
		in[i] = in[i] ? in[i] : stream_open(files->at[i]);
		sockets |= endpoint_is(files->at[i]);
	}
	if (form->html)
		add_sources(&page, files, sources);
	confine_stage(sockets);
	for (size_t i = 0; i < files->n; i++)
		show_all(in[i], files->at[i], form, &page);
	if (form->html)
		print_page(&page);
	free(in);
	return stage_end();
}

/* The operands; what -i names or standard input (NULL) when there are none. */
static Names files_of(int n, char *const *operand, bool page)
{
	Names files = {0};

	if (n > 1 && !page)
		die(USAGE, "one FILE is enough: '%.80s' is too much", operand[1]);
	for (int i = 0; i < n; i++)
		vec_push(&files, operand[i]);
	if (!n)
		vec_push(&files, process.input);
	return files;
}

int main(int argc, char **argv)
{
	ShowForm form = {0};
	Names sources = {0};
	const char *to = NULL;
	const Option options[] = {
		{'p', "parse", NULL, "turn text back into a document", &form.parse},
		{0, "count", NULL, "one line: LEVEL nodes=N kernels=K copies=C", &form.count},
		{'g', "graph", NULL, "a picture for Graphviz, as text", &form.dot},
		{0, "html", NULL, "one self-contained page of all FILEs", &form.html},
		{0, "source", "FILE", "with --html: the program that the documents came from",
			&sources, .many = true},
		{0, "views", NULL, "each chain of movement ops as its views and its index "
			"expression", &form.views},
		{0, "loops", NULL, "each kernel as its nest of loops", &form.loops},
		{'o', "output", "TO", "write to a file or a ZeroMQ endpoint instead of standard "
			"output", &to},
		{0},
	};
	const Stage tool = {.name = "show", .usage = "[FILE]", .options = options,
		.summary = "Prints a document of any level as text."};
	stage_begin(tool.name);
	stage_prints();
	int first = options_parse(&tool, argc, argv);
	if (form.parse + form.count + form.dot + form.html + form.views + form.loops > 1)
		die(USAGE, "one of -p, --count, -g, --html, --views and --loops at a time");
	if (sources.n && !form.html)
		die(USAGE, "--source needs --html");
	Names files = files_of(argc - first, argv + first, form.html);
	if (form.parse) {
		stream_out_open(to);
		return parse_text(files.at[0]);
	}
	return show_files(&files, &sources, &form, to);
}
