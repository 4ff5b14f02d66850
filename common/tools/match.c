/* match: finds the nodes of a document that match a pattern; grep for tensor programs. Exit status
 * 0 if any match, 1 if none, 5 if it failed. */
#include "io/io.h"
#include "process/process.h"
#include "rules/rule.h"
#include <stdlib.h>

/* The pattern as a rule, so that it can have conditions. */
static const Rule *pattern(const char *text, const char *condition)
{
	char *rule = arena_printf(
		"%s -> self%s%s", text, condition ? " if " : "", condition ? condition : "");
	const Rules *r = rules_parse(rule, strlen(rule), "PATTERN");
	if (r->n != 1)
		die(USAGE, "'%s' is not one pattern", text);
	return r->at;
}

static void print_value(const char *name, const Val *v)
{
	Buf b = {0};
	val_print(&b, v);
	printf(" %s=%s", name, buf_str(&b));
	buf_free(&b);
}

static void print_bound(const char *name, const Bound *b)
{
	if (b->node)
		printf(" %s=%s%s%s", name, op_name(b->node->op), b->node->shape ? " " : "",
			b->node->shape ? shape_text(b->node->shape) : "");
	else
		print_value(name, b->value);
}

static void print_node(size_t at, const UOp *u, const Rule *r, const Bound *env)
{
	const Val *name = val_get(u->op == OP_BUFFER ? u->arg : u->note, "name"),
		  *loc = val_get(u->note, "loc");
	printf("%%%zu %s %s", at, op_name(u->op), dtype_name(u->dtype));
	if (u->shape)
		printf(" %s", shape_text(u->shape));
	for (int i = 0; i < r->nvars; i++)
		print_bound(r->var[i], &env[i]);
	if (name && name->kind == VAL_STR)
		print_value("name", name);
	if (loc && loc->kind == VAL_STR)
		print_value("loc", loc);
	putchar('\n');
}

static size_t match_graph(const Graph *g, const Rule *r, bool print)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	Bound env[MAX_VARS];
	size_t found = 0;
	for (size_t i = 0; i < all.n; i++) {
		if (!rule_match(r, all.at[i], env))
			continue;
		found++;
		if (print)
			print_node(i, all.at[i], r, env);
	}
	return found;
}

int main(int argc, char **argv)
{
	bool count = false;
	const char *condition = NULL;
	const Option options[] = {
		{'c', "count", NULL, "print only the number of matches", &count},
		{0, "if", "CONDITION", "as in a rule: 'float(x)', '!const(x), int(y)'", &condition},
		{0}
	};
	const Stage form = {.name = "match", .summary = "find a pattern in a document",
		.usage = "PATTERN [FILE]", .options = options};
	stage_begin(form.name);
	process.failed = FAILED_APART;
	stage_prints();
	int first = options_parse(&form, argc, argv);
	if (argc - first < 1 || argc - first > 2)
		die(USAGE, "one PATTERN and at most one FILE (see --help)");
	const char *file = first + 1 < argc ? argv[first + 1] : process.input;
	Stream *in = source_open(file);
	size_t found = 0;
	if (!in) {
		broker_start();
		in = stream_open(file);
	}
	confine_stage(endpoint_is(stream_name(in)));
	for (Graph *g; (g = stream_next(in, READ_RAW)); arena_reset())
		found += match_graph(g, pattern(argv[first], condition), !count);
	if (!stream_count(in))
		die(MALFORMED, "%s: ends early at byte 0", stream_name(in));
	if (count)
		printf("%zu\n", found);
	stage_end();
	return found ? DONE : FAILED;
}
