/* The stack that a function takes, from the graph of calls that gcc writes:
 *
 *     node: { title: "f" label: "f\nmodule.c:7:5\n24 bytes (static)" }
 *     node: { title: "fmaf" label: "fmaf\n<built-in>" shape : ellipse }
 *     edge: { sourcename: "f" targetname: "fmaf" } */
#include "footprint/footprint.h"
#include <stdlib.h>

typedef struct { char *title; int64_t own, deepest; bool open; } Called;
typedef struct { size_t from, to; } Edge;
typedef struct { VEC(Called) at; VEC(Edge) edge; } Calls;

/* What stands in quotes after `key` in the line at p, or NULL. */
static char *quoted(const char *p, const char *key)
{
	const char *end = p + strcspn(p, "\n"), *at = strstr(p, key);

	if (!at || at > end)
		return NULL;
	at += strlen(key);
	return arena_printf("%.*s", (int)strcspn(at, "\"\n"), at);
}

static size_t called(const Calls *c, const char *title)
{
	size_t i = 0;

	while (i < c->at.n && strcmp(c->at.at[i].title, title))
		i++;
	return i;
}

static int64_t own_stack(const char *label)
{
	const char *end = label ? strstr(label, " bytes (") : NULL, *digits = end;

	while (digits && digits > label && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	return digits == end ? LIBRARY_STACK : strtoll(digits, NULL, 10);
}

static void read_line(Calls *c, const char *line)
{
	char *title = quoted(line, "title: \""), *label = quoted(line, "label: \"");
	char *from = quoted(line, "sourcename: \""), *to = quoted(line, "targetname: \"");

	if (!strncmp(line, "node:", 5) && title)
		vec_push(&c->at, ((Called){title, own_stack(label), -1, false}));
	if (!strncmp(line, "edge:", 5) && from && to)
		vec_push(&c->edge, ((Edge){called(c, from), called(c, to)}));
}

/* -1: it calls itself, or what is not known. */
static int64_t deepest(Calls *c, size_t k)
{
	Called *f = &c->at.at[k];
	int64_t below = 0;

	if (k >= c->at.n || f->open)
		return -1;
	if (f->deepest >= 0)
		return f->deepest;
	f->open = true;
	for (size_t i = 0; i < c->edge.n; i++) {
		int64_t n = c->edge.at[i].from == k ? deepest(c, c->edge.at[i].to) : 0;
		if (n < 0)
			return -1;
		below = n > below ? n : below;
	}
	f->open = false;
	f->deepest = f->own + below;
	return f->deepest;
}

int64_t stack_of(const char *graph, const char *function)
{
	Calls c = {0};

	for (const char *p = graph; *p; p += *p == '\n') {
		read_line(&c, p);
		p += strcspn(p, "\n");
	}
	size_t k = called(&c, function);
	int64_t r = k < c.at.n ? deepest(&c, k) : -1;
	vec_free(&c.at);
	vec_free(&c.edge);
	return r;
}
