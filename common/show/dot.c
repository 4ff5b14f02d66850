/* A document as a Graphviz graph: every node at levels tensor and graph, the calls at later levels.
 *
 *     digraph sluice { n0 [label="%0 BUFFER x\nf32 [3,4]", …]; n0 -> n2; … }
 */
#include "io/io.h"
#include "show/show.h"
#include <stdlib.h>

enum { LABEL_MAX = 60 };

static const char *const fill[] = {
	[CLASS_LEAF] = "#dbeafe",
	[CLASS_AXES] = "#fde68a",
	[CLASS_MOVEMENT] = "#f3f4f6",
	[CLASS_INDEXING] = "#fbcfe8",
	[CLASS_EFFECT] = "#fecaca",
	[CLASS_ROOT] = "#e5e7eb",
	[CLASS_CALLS] = "#bbf7d0",
	[CLASS_LOOPS] = "#ffffff",
	[CLASS_FLOW] = "#ddd6fe",
};

/* Escapes text for a double-quoted string of the dot language; \n stays a line break in the label.
 */
static void print_escaped(Buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (c == '"' || c == '\\')
			buf_add(out, "\\", 1);
		if (c == '\n')
			buf_add(out, "\\n", 2);
		else
			buf_add(out, c < 32 || c == 127 ? " " : &s[i], 1);
	}
}

/* Prints at most LABEL_MAX bytes, not cut inside a character. */
static void print_short(Buf *out, const char *s, size_t n)
{
	size_t keep = n;
	if (n > LABEL_MAX)
		for (keep = LABEL_MAX; keep && ((unsigned char)s[keep] & 0xc0) == 0x80;)
			keep--;
	print_escaped(out, s, keep);
	if (keep < n)
		buf_printf(out, "…");
}

static void print_arg(Buf *out, const UOp *u)
{
	Buf b = {0};
	if (u->arg == VNIL || u->op == OP_BUFFER)
		return;
	val_print(&b, u->op == OP_FUNC ? u->arg->a[1] : u->arg);
	buf_printf(out, "\\n");
	print_short(out, b.s, b.n);
	buf_free(&b);
}

static void print_box(Buf *out, const UOp *u, uint32_t place, bool with_arg)
{
	const char *color = fill[op_info[u->op].cls];
	const Val *name = val_get(u->note, "name");
	buf_printf(out, "\tn%u [label=\"%%%u ", place, place);
	print_escaped(out, u->op == OP_FUNC ? u->arg->a[0]->s : op_name(u->op),
		strlen(u->op == OP_FUNC ? u->arg->a[0]->s : op_name(u->op)));
	if (u->op == OP_BUFFER) {
		buf_printf(out, " ");
		print_short(out, buffer_name(u), strlen(buffer_name(u)));
	}
	if (u->dtype != DT_NONE)
		buf_printf(out, "\\n%s %s", dtype_name(u->dtype),
			u->shape ? shape_text(u->shape) : "");
	if (with_arg)
		print_arg(out, u);
	if (name && name->kind == VAL_STR) {
		buf_printf(out, "\\n");
		print_short(out, name->s, name->n);
	}
	buf_printf(out, "\", fillcolor=\"%s\"%s];\n", color ? color : "#ffffff",
		u->op == OP_BUFFER ? ", shape=cylinder" : "");
}

static void print_node(Buf *out, const UOp *u, size_t place, const uint32_t *index)
{
	print_box(out, u, place, true);
	for (uint32_t s = 0; s < u->nsrc; s++)
		buf_printf(out, "\tn%u -> n%zu;\n", index[u->src[s]->id], place);
}

static void print_all(Buf *out, const Graph *g, const uint32_t *index)
{
	for (size_t i = 0; i < g->all.n; i++)
		print_node(out, g->all.at[i], i, index);
}

/* ---- calls and buffers */

static void print_call(Buf *out, const UOp *u, size_t place, const uint32_t *index)
{
	uint64_t writes = call_writes(u);
	buf_printf(out, "\tn%zu [label=\"", place);
	print_short(out, call_name(u), strlen(call_name(u)));
	buf_printf(out, "\", fillcolor=\"%s\", URL=\"#c%zu\"];\n", fill[CLASS_CALLS], place);
	for (uint32_t s = 1; s < u->nsrc; s++) {
		uint32_t buffer = index[u->src[s]->id];
		if (s <= 64 && writes >> (s - 1) & 1)
			buf_printf(out, "\tn%zu -> n%u;\n", place, buffer);
		else
			buf_printf(out, "\tn%u -> n%zu;\n", buffer, place);
	}
}

static void print_calls(Buf *out, const Graph *g, const uint32_t *index)
{
	for (size_t i = 0; i < g->all.n; i++) {
		const UOp *u = g->all.at[i];
		if (u->op == OP_BUFFER)
			print_box(out, u, i, false);
		else if (u->op == OP_CALL)
			print_call(out, u, i, index);
		else if (u->op == OP_REGION || list_step(u))
			print_node(out, u, i, index);
		else if (u->op == OP_MEMCPY)
			buf_printf(out,
				"\tn%zu [label=\"copy\"];\n\tn%u -> n%zu;\n\tn%zu -> n%u;\n", i,
				index[u->src[1]->id], i, i, index[u->src[0]->id]);
	}
}

void dot_print(Buf *out, const Graph *g)
{
	uint32_t *index = text_index(g);
	buf_printf(out,
		"digraph sluice {\n"
		"\tnode [shape=box, style=filled, fillcolor=\"#ffffff\", fontsize=10];\n"
		"\tedge [color=\"#6b7280\", arrowsize=0.6];\n");
	if (g->level <= LV_GRAPH)
		print_all(out, g, index);
	else
		print_calls(out, g, index);
	buf_printf(out, "}\n");
	free(index);
}
