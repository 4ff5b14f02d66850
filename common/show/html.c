/* One self-contained page of documents: page.html with its style, its scripts and one JSON object
 * that holds all of the documents. The scripts draw it; nothing is loaded from anywhere. */
#include "page.h"
#include "show/show.h"

/* page.html has a line of its own for each of these */
static const struct { const char *name, *text; } parts[] = {
#include "page.inc"
};

static const char *part(const char *name)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strcmp(parts[i].name, name))
			return parts[i].text;
	die_bug(__FILE__, __LINE__, name);
}

void page_add(Page *p, const Graph *g, const char *name)
{
	buf_printf(&p->documents, p->documents.n ? ",\n" : "");
	page_document(&p->documents, g, name);
}

void page_source(Page *p, const char *name, const char *text, size_t n)
{
	buf_printf(&p->sources, p->sources.n ? ",\n[" : "[");
	json_string(&p->sources, name);
	buf_printf(&p->sources, ",");
	json_text(&p->sources, text, n, SIZE_MAX);
	buf_printf(&p->sources, "]");
}

/* What stands in the place of @style, @data or @scripts. */
static void put_part(Buf *out, const char *name, size_t n, Page *p)
{
	static const char *const scripts[] = {
		"model", "tree", "chart", "rows", "details", "main"};

	if (!strncmp(name, "style", n)) {
		buf_printf(out, "%s", part("style"));
	} else if (!strncmp(name, "data", n)) {
		buf_printf(out, "{\"documents\":[%s],\n\"sources\":[%s]}\n", buf_str(&p->documents),
			buf_str(&p->sources));
	} else {
		for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
			buf_printf(out, "%s", part(scripts[i]));
	}
}

void page_print(Buf *out, Page *p)
{
	const char *at = part("page"), *mark;

	for (; (mark = strstr(at, "\n@")); at = strchr(mark + 1, '\n') + 1) {
		buf_printf(out, "%.*s\n", (int)(mark - at), at);
		put_part(out, mark + 2, strcspn(mark + 2, "\n"), p);
	}
	buf_printf(out, "%s", at);
	buf_free(&p->documents);
	buf_free(&p->sources);
}
