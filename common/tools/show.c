/* show: prints a document of any level as text, counts, a picture, a page or chains of views; turns
 * text back into a document. */
#include "io/io.h"
#include "show/show.h"
#include "process/process.h"
#include <stdlib.h>

typedef struct { bool parse, count, dot, html, views; } ShowForm;

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
	else if (form->html)
		html_print(&out, g);
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

int main(int argc, char **argv)
{
	ShowForm form = {0};
	const char *to = NULL;
	const Option options[] = {
		{'p', "parse", NULL, "turn text back into a document", &form.parse},
		{0, "count", NULL, "one line: LEVEL nodes=N kernels=K copies=C", &form.count},
		{'g', "graph", NULL, "a picture for Graphviz, as text", &form.dot},
		{0, "html", NULL, "one self-contained page", &form.html},
		{0, "views", NULL, "each chain of movement ops as its views and its index "
			"expression", &form.views},
		{'o', "output", "TO", "write to a file or a ZeroMQ endpoint instead of standard "
			"output", &to},
		{0},
	};
	const Stage tool = {.name = "show", .usage = "[FILE]", .options = options,
		.summary = "Prints a document of any level as text."};
	stage_begin(tool.name);
	stage_prints();
	int first = options_parse(&tool, argc, argv);
	if (argc - first > 1)
		die(USAGE, "one FILE is enough: '%.80s' is too much", argv[first + 1]);
	if (form.parse + form.count + form.dot + form.html + form.views > 1)
		die(USAGE, "one of -p, --count, -g, --html and --views at a time");
	const char *file = first < argc ? argv[first] : process.input;
	if (form.parse) {
		stream_out_open(to);
		return parse_text(file);
	}
	Stream *in = source_open(file);
	if (!endpoint_is(to))
		stream_out_open(to);
	/* a page has pictures that another program draws */
	if (!form.html)
		broker_start();
	stream_out_open(to);
	in = in ? in : stream_open(file);
	if (!form.html)
		confine_stage(endpoint_is(file) || endpoint_is(to));
	for (Graph *g; (g = stream_next(in, READ_RAW)); arena_reset()) {
		verify(g);
		/* at this level, functions have no shapes yet */
		if (form.views && g->level == LV_TENSOR)
			g = stage_raise(g, LV_GRAPH, NULL, false);
		print_document(g, &form);
	}
	if (!stream_count(in) && file && strcmp(file, "-") && !endpoint_is(file))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
	return stage_end();
}
