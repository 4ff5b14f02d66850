/* The text form of documents of any level, made for reading and for diffs (text_parse.c reads it
 * back).
 *
 *     sluice 1 graph
 *     vars {n: [1, 8]}
 *     %0 = BUFFER f32 {name: "x", shape: ["n", 4], role: "input"}  # [n,4]
 *     %1 = CONST f32 2.0
 *     %2 = MUL f32 %0 %1 @{name: "twice"}  # [n,4]
 *     %3 = SINK %2 {names: ["y"]}
 *
 * A node is a line: its number, op, dtype if any, sources, arg if any, and a note after @. A
 * comment goes from # to the end of the line. A string of several lines inside an arg is written as
 * lines that begin with |. */
#include "io/io.h"
#include <ctype.h>
#include <stdlib.h>

/* the largest tree of an index expression that is shown in a comment, in nodes */
enum { TREE_MAX = 60 };

static bool bare_word(const char *s, size_t n)
{
	bool ok = n > 0 && !isdigit((unsigned char)s[0]);
	for (size_t i = 0; i < n; i++)
		ok &= isalnum((unsigned char)s[i]) || s[i] == '_';
	return ok;
}

/* Whether a string is source code: several lines, without characters that need an escape. */
static bool is_block(const Val *v)
{
	if (v->kind != VAL_STR || !memchr(v->s, '\n', v->n))
		return false;
	for (size_t i = 0; i < v->n; i++) {
		unsigned char c = v->s[i];
		if ((c < 32 && c != '\n' && c != '\t') || c == 127)
			return false;
	}
	return true;
}

static void print_block(Buf *out, const Val *v)
{
	buf_add(out, "\n", 1);
	for (const char *p = v->s, *end = v->s + v->n;;) {
		const char *eol = memchr(p, '\n', end - p);
		buf_add(out, "\t|", 2);
		buf_add(out, p, (eol ? eol : end) - p);
		buf_add(out, "\n", 1);
		if (!eol)
			break;
		p = eol + 1;
	}
	buf_add(out, "\t", 1);
}

/* The readers limit the depth. Blocks appear only inside brackets, where a line end does not end
 * the node. */
static void print_value(Buf *out, const Val *v, int depth)
{
	bool map = v->kind == VAL_MAP;
	if (depth && is_block(v)) {
		print_block(out, v);
		return;
	}
	if (!map && v->kind != VAL_ARRAY) {
		val_print(out, v);
		return;
	}
	buf_add(out, map ? "{" : "[", 1);
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			buf_add(out, ", ", 2);
		if (map) {
			const Val *key = v->a[2 * i];
			if (bare_word(key->s, key->n))
				buf_add(out, key->s, key->n);
			else
				val_print(out, key);
			buf_add(out, ": ", is_block(v->a[2 * i + 1]) ? 1 : 2);
		}
		print_value(out, v->a[map ? 2 * i + 1 : i], depth + 1);
	}
	buf_add(out, map ? "}" : "]", 1);
}

static void print_number(Buf *out, const char *before, size_t n)
{
	char s[32];
	int at = sizeof s;
	do
		s[--at] = '0' + n % 10;
	while (n /= 10);
	buf_add(out, before, strlen(before));
	buf_add(out, s + at, sizeof s - at);
}

static void print_word(Buf *out, const char *s)
{
	buf_add(out, s, strlen(s));
}

void text_value(Buf *out, const Val *v) { print_value(out, v, 0); }

void text_node(Buf *out, const Graph *g, size_t i, const uint32_t *index)
{
	const UOp *u = g->all.at[i];
	const Val *arg = u->op == OP_SINK ? sink_plain_arg(u->arg) : u->arg;
	print_number(out, "%", i);
	print_word(out, " = ");
	if (u->op == OP_FUNC) {
		print_word(out, arg->a[0]->s);
		arg = arg->a[1];
	} else {
		print_word(out, op_name(u->op));
	}
	if (u->dtype != DT_NONE) {
		print_word(out, " ");
		print_word(out, dtype_name(u->dtype));
	}
	for (size_t s = 0, n = node_sources(u); s < n; s++)
		print_number(out, " %", index[u->src[s]->id]);
	if (arg != VNIL) {
		print_word(out, " ");
		print_value(out, arg, 0);
	}
	if (u->note != VNIL) {
		print_word(out, " @");
		print_value(out, u->note, 0);
	}
}

uint32_t *text_index(const Graph *g)
{
	uint32_t *index = xmalloc((node_limit() + 1) * sizeof *index);
	for (size_t i = 0; i < g->all.n; i++)
		index[g->all.at[i]->id] = i;
	return index;
}

/* The number of nodes in an expression as a tree, at most TREE_MAX + 1, from the sizes of its
 * sources. */
static uint8_t tree_size(const UOp *u, const uint8_t *size, const uint32_t *index)
{
	unsigned n = 1;
	for (uint32_t s = 0; s < u->nsrc; s++)
		if ((n += size[index[u->src[s]->id]]) > TREE_MAX)
			return TREE_MAX + 1;
	return n;
}

/* Prints a comment that helps to read a node: its shape, or the expression of an INDEX. */
static void print_comment(Buf *out, const UOp *u, const uint8_t *size, const uint32_t *index)
{
	if (u->op == OP_INDEX) {
		print_word(out, "  # ");
		for (uint32_t s = 1; s < u->nsrc; s++) {
			print_word(out, s > 1 ? ", " : "[");
			if (size[index[u->src[s]->id]] > TREE_MAX)
				print_word(out, "…");
			else
				ix_print(out, u->src[s], NULL, NULL);
		}
		print_word(out, u->nsrc > 1 ? "]" : "[]");
	} else if (u->shape && u->shape->rank) {
		print_word(out, "  # ");
		print_word(out, shape_text(u->shape));
	}
}

void text_print(Buf *out, const Graph *graph)
{
	Graph g = *graph;
	if (!g.raw)
		g.all = walk(g.sink);
	uint32_t *index = text_index(&g);
	uint8_t *size = xcalloc(g.all.n, 1);
	buf_printf(out, "sluice 1 %s\n", level_name[g.level]);
	if (g.vars && g.vars->kind == VAL_MAP) {
		print_word(out, "vars ");
		print_value(out, g.vars, 0);
		print_word(out, "\n");
	}
	if (g.meta && g.meta->kind == VAL_MAP) {
		print_word(out, "meta ");
		print_value(out, g.meta, 0);
		print_word(out, "\n");
	}
	for (size_t i = 0; i < g.all.n; i++) {
		size[i] = tree_size(g.all.at[i], size, index);
		text_node(out, &g, i, index);
		print_comment(out, g.all.at[i], size, index);
		print_word(out, "\n");
	}
	free(index);
	free(size);
}
