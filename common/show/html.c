/* A document as one self-contained page: counts, a picture, the calls in order, each kernel's
 * source, launch data and nodes, and the buffers with their sizes. Graphviz draws the picture if it
 * is installed and the graph is small enough to look at. The links between nodes do not need it. */
#include "io/io.h"
#include "process/process.h"
#include "show/show.h"
#include <stdlib.h>

enum { DRAWN_MAX = 1500 };

static const char style[] =
	"body{font:15px/1.5 sans-serif;margin:2em auto;max-width:72em;"
	"padding:0 1em;color:#111;background:#fff}"
	"h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}h3{font-size:1em;margin-bottom:.3em}"
	"table{border-collapse:collapse}td,th{"
	"padding:.15em .8em .15em 0;text-align:left;vertical-align:top}"
	"td.n{text-align:right}tr:nth-child(even){background:#f6f7f9}"
	"pre{background:#f6f7f9;padding:.8em;overflow:auto;font-size:13px}"
	".picture{overflow:auto;border:1px solid #ddd}"
	"a{color:#1d4ed8;text-decoration:none}:target{background:#fef3c7}code{font-size:13px}";

static void print_text(Buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (s[i]) {
		case '&': buf_printf(out, "&amp;"); break;
		case '<': buf_printf(out, "&lt;"); break;
		case '>': buf_printf(out, "&gt;"); break;
		case '"': buf_printf(out, "&quot;"); break;
		case '\'': buf_printf(out, "&#39;"); break;
		case 0: buf_printf(out, "�"); break;
		default: buf_add(out, &s[i], 1);
		}
	}
}

static void print_string(Buf *out, const char *s) { print_text(out, s, strlen(s)); }

static void print_value(Buf *out, const Val *v)
{
	Buf b = {0};
	text_value(&b, v);
	print_text(out, b.s, b.n);
	buf_free(&b);
}

static void print_bytes(Buf *out, double n)
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
	int u = 0;
	for (; n >= 1000 && u < 4; u++)
		n /= 1000;
	buf_printf(out, "%.3g %s", n, unit[u]);
}

/* ---- the parts of the page */

/* Prints Graphviz's drawing without its XML heading; false when there is none. */
static bool print_picture(Buf *out, const Graph *g)
{
	Buf dot = {0}, svg = {0};
	char *const argv[] = {
		"/bin/sh", "-c", "command -v dot >/dev/null && exec dot -Tsvg 2>/dev/null", NULL};
	size_t drawn = 0;
	for (size_t i = 0; i < g->all.n; i++)
		drawn += g->level <= LV_GRAPH || op_info[g->all.at[i]->op].cls == CLASS_CALLS;
	if (drawn > DRAWN_MAX)
		return false;
	dot_print(&dot, g);
	int status = spawn_filter(argv, dot.s, dot.n, &svg);
	const char *from = status ? NULL : strstr(buf_str(&svg), "<svg");
	if (from)
		buf_printf(out, "<div class=\"picture\">%s</div>\n", from);
	buf_free(&dot);
	buf_free(&svg);
	return from;
}

static void print_buffers(Buf *out, const Graph *g)
{
	buf_printf(out,
		"<h2>Buffers</h2>\n<table><tr><th></th><th>name</th><th>role</th>"
		"<th>dtype</th><th>shape</th>"
		"<th>size</th></tr>\n");
	for (size_t i = 0; i < g->all.n; i++) {
		const UOp *u = g->all.at[i];
		int64_t n;
		if (u->op != OP_BUFFER)
			continue;
		buf_printf(out, "<tr id=\"b%zu\"><td>%%%zu</td><td>", i, i);
		print_string(out, buffer_name(u));
		buf_printf(out, "</td><td>");
		print_string(out, buffer_role(u));
		buf_printf(out, "</td><td>%s</td><td>", dtype_name(u->dtype));
		print_string(out, u->shape ? shape_text(u->shape) : "");
		buf_printf(out, "</td><td class=\"n\">");
		if (u->shape && shape_static(u->shape, &n))
			print_bytes(out, (double)n * dtype_size(u->dtype));
		buf_printf(out, "</td></tr>\n");
	}
	buf_printf(out, "</table>\n");
}

static void print_link(Buf *out, const UOp *buffer, uint32_t place)
{
	buf_printf(out, "<a href=\"#b%u\">", place);
	print_string(out, buffer_name(buffer));
	buf_printf(out, "</a> ");
}

/* Prints the time of call number k from meta.timings ([[call, name, ms] …] in the order of the
 * calls, by `run --profile=FILE`), with a bar for its share of the total. */
static void print_time(Buf *out, const Graph *g, size_t k)
{
	const Val *all = val_get(g->meta, "timings");
	double sum = 0, ms = -1;
	for (size_t i = 0; all && all->kind == VAL_ARRAY && i < all->n; i++) {
		const Val *row = all->a[i];
		if (row->kind != VAL_ARRAY || row->n != 3 || row->a[2]->kind != VAL_FLOAT ||
			!(row->a[2]->f >= 0))
			return;
		sum += row->a[2]->f;
		if (i == k)
			ms = row->a[2]->f;
	}
	if (ms >= 0)
		buf_printf(
			out, "%.4f ms <meter value=\"%.4f\"></meter>", ms, sum > 0 ? ms / sum : 0);
}

/* The K-th call of a list. */
static void print_call_row(Buf *out, const Graph *g, size_t k, const UOp *u, const uint32_t *index)
{
	size_t i = index[u->id];
	uint64_t writes = u->op == OP_CALL ? call_writes(u) << 1 : 1;
	uint32_t first = u->op == OP_CALL ? 1 : 0;
	buf_printf(out, "<tr id=\"c%zu\"><td>%%%zu</td><td>", i, i);
	if (u->op == OP_CALL) {
		buf_printf(out, "<a href=\"#k%u\">", index[u->src[0]->id]);
		print_string(out, call_name(u));
		buf_printf(out, "</a>");
	} else {
		buf_printf(out, "copy");
	}
	for (int reads = 0; reads < 2; reads++) {
		buf_printf(out, "</td><td>");
		for (uint32_t s = first; s < u->nsrc; s++)
			if ((s < 64 && writes >> s & 1) != reads)
				print_link(out, u->src[s], index[u->src[s]->id]);
	}
	buf_printf(out, "</td><td class=\"n\">");
	print_time(out, g, k);
	buf_printf(out, "</td></tr>\n");
}

/* The calls of a list, and of the regions in it after the step that they belong to. */
static void print_list(Buf *out, const Graph *g, const UOp *list, const uint32_t *index)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		if (!list_step(u)) {
			print_call_row(out, g, i, u, index);
			continue;
		}
		buf_printf(out, "<tr><td>%%%u</td><td>%s ", index[u->id], op_name(u->op));
		print_value(out, u->arg);
		buf_printf(out, "</td><td></td><td>");
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (u->src[k]->op == OP_BUFFER)
				print_link(out, u->src[k], index[u->src[k]->id]);
		buf_printf(out, "</td><td></td></tr>\n");
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				print_list(out, g, u->src[k], index);
	}
}

static void print_calls(Buf *out, const Graph *g, const uint32_t *index)
{
	buf_printf(out,
		"<h2>Calls, in order</h2>\n"
		"<table><tr><th></th><th>kernel</th><th>writes</th><th>reads</th>"
		"<th>time</th></tr>\n");
	print_list(out, g, g->sink, index);
	buf_printf(out, "</table>\n");
}

/* Prints launch data and everything else in the arg, except the source. */
static void print_facts(Buf *out, const Val *arg)
{
	buf_printf(out, "<table>\n");
	for (size_t i = 0; arg->kind == VAL_MAP && i < arg->n; i++) {
		const Val *key = arg->a[2 * i];
		if (val_is_str(key, "src"))
			continue;
		buf_printf(out, "<tr><td>");
		print_text(out, key->s, key->n);
		buf_printf(out, "</td><td><code>");
		print_value(out, arg->a[2 * i + 1]);
		buf_printf(out, "</code></td></tr>\n");
	}
	buf_printf(out, "</table>\n");
}

static void print_nodes(Buf *out, const Graph *g, Nodes part, const uint32_t *index)
{
	Buf line = {0};
	buf_printf(out, "<pre>");
	for (size_t i = 0; i < part.n; i++) {
		const UOp *u = part.at[i];
		line.n = 0;
		text_node(&line, g, index[u->id], index);
		print_text(out, line.s, line.n);
		if (u->shape && u->shape->rank) {
			buf_printf(out, "  # ");
			print_string(out, shape_text(u->shape));
		}
		buf_printf(out, "\n");
	}
	buf_printf(out, "</pre>\n");
	buf_free(&line);
}

static void print_kernel(Buf *out, const Graph *g, UOp *u, const uint32_t *index)
{
	const Val *name = val_get(u->arg, "name"), *src = val_get(u->arg, "src");
	buf_printf(out, "<h3 id=\"k%u\">", index[u->id]);
	print_string(out, name && name->kind == VAL_STR ? name->s : "kernel");
	buf_printf(out, "</h3>\n");
	print_facts(out, u->arg);
	if (src && src->kind == VAL_STR) {
		buf_printf(out, "<pre>");
		print_text(out, src->s, src->n);
		buf_printf(out, "</pre>\n");
	}
	buf_printf(out, "<details><summary>nodes</summary>\n");
	print_nodes(out, g, walk(u), index);
	buf_printf(out, "</details>\n");
}

static void print_kernels(
	Buf *out, const Graph *g, const UOp *list, Map *shown, const uint32_t *index)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		UOp *u = list->src[i];
		for (uint32_t k = 0; list_step(u) && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				print_kernels(out, g, u->src[k], shown, index);
		if (u->op != OP_CALL || map_get(shown, PKEY(u->src[0])))
			continue;
		map_put(shown, PKEY(u->src[0]), u);
		print_kernel(out, g, u->src[0], index);
	}
}

void html_print(Buf *out, const Graph *g)
{
	uint32_t *index = text_index(g);
	const Val *name = val_get(g->meta, "name");
	buf_printf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	print_string(out, name && name->kind == VAL_STR ? name->s : "Sluice");
	buf_printf(out, "</title><style>%s</style></head><body>\n<h1>", style);
	print_string(out, name && name->kind == VAL_STR ? name->s : "Sluice");
	buf_printf(out, ": level %s, %zu nodes</h1>\n", level_name[g->level], g->all.n);
	if (g->vars && g->vars->kind == VAL_MAP) {
		buf_printf(out, "<h2>Sizes</h2>\n");
		print_facts(out, g->vars);
	}
	if (g->meta && g->meta->kind == VAL_MAP) {
		buf_printf(out, "<h2>Meta</h2>\n");
		print_facts(out, g->meta);
	}
	bool drawn = print_picture(out, g);
	if (g->level > LV_GRAPH) {
		print_calls(out, g, index);
		Map shown = {0};
		buf_printf(out, "<h2>Kernels</h2>\n");
		print_kernels(out, g, g->sink, &shown, index);
		map_free(&shown);
	} else {
		buf_printf(out, "<h2>Nodes</h2>\n%s",
			drawn ? "<details><summary>as text</summary>\n" : "");
		print_nodes(out, g, g->all, index);
		buf_printf(out, "%s", drawn ? "</details>\n" : "");
	}
	print_buffers(out, g);
	buf_printf(out, "</body></html>\n");
	free(index);
}
